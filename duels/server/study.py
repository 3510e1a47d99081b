"""Lessons and puzzles as JSON, computed in a worker process; only of games solved at once."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from functools import cache
from typing import Any

import msgspec

from duels.algorithms.solution import Unsolved
from duels.algorithms.solutions import ready
from duels.analysis import puzzles
from duels.analysis.lessons import learn
from duels.analysis.position import match_after
from duels.core.errors import DuelsError
from duels.core.game import AnyGame
from duels.core.wire import dump_table
from duels.games import catalogue, load

FIRST_DAY = date(2026, 1, 1)  # with puzzles
LAST_PAGE = 99_999  # of practice


def lesson(slug: str) -> bytes:
    """What Learn shows of a game, with what the learner sees: tables, and options of each move."""
    game = load(slug)
    if not ready(game):
        raise Unsolved(
            f"{game.title} takes too long to solve on a server, so it has no lesson here"
        )
    found = learn(game)
    moves = found["lesson"]["moves"]
    for move in moves:
        move["table"] = _table(game, move["after"], move["player"])
        move["options"] = match_after(game, move["after"]).view(move["player"] - 1).options
    found["lesson"]["table"] = _table(game, found["lesson"]["after"], moves[0]["player"])
    return msgspec.json.encode(found)


def puzzles_of_day(day: date) -> bytes:
    """The puzzles of a day."""
    found = puzzles.puzzles_of_day(day, _games())
    return _encoded(found, date=day.isoformat())


def practice(page: int, slug: str | None) -> bytes:
    """A page of puzzles for practice, of all games or of one."""
    if slug is not None and not puzzles.has_puzzles(load(slug)):
        raise Unsolved(
            f"{load(slug).title} has no puzzles: they need exact values that are known at once, "
            "and no hidden hands"
        )
    found = puzzles.practice(page, _games() if slug is None else [load(slug)])
    return _encoded(found, page=page)


@cache
def _games() -> list[AnyGame]:
    """The games that have puzzles."""
    found = []
    for slug in catalogue():
        with suppress(DuelsError, ImportError, AttributeError):  # a plugin that does not load
            if puzzles.has_puzzles(game := load(slug)):
                found.append(game)
    return found


def _encoded(found: list[puzzles.Puzzle], **about: Any) -> bytes:
    listed = [
        {
            **puzzles.to_json(one),
            "title": one.game.title,
            "table": _table(one.game, list(one.after), one.player + 1),
        }
        for one in found
    ]
    return msgspec.json.encode({**about, "puzzles": listed})


def _table(game: AnyGame, after: list[str], player: int) -> Any:
    """The table as a player sees it."""
    return dump_table(match_after(game, after).view(player - 1))
