"""`duels games` and `duels rules`: the list of games, and the rules of a game."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from duels.cli.pager import columns, page, row
from duels.cli.terminal import Terminal
from duels.core.game import AnyGame
from duels.core.match import TURN_LIMIT
from duels.core.presentation import Lines
from duels.core.rules_text import rules as rules_of
from duels.games import catalogue, find

UNLIMITED = 10_000  # columns: through a pipe, a line for each game


def show_rules(terminal: Terminal, game: AnyGame, turn_limit: int = TURN_LIMIT) -> None:
    """Show the rules with the values of the options."""
    page(rules_of(game, turn_limit), terminal)


def rules(terminal: Terminal, given: Namespace) -> int:
    options: dict[str, object] = dict(getattr(given, "set", []))
    show_rules(terminal, find(given.game)(**options))
    return 0


def games(terminal: Terminal, given: Namespace) -> int:
    there = [find(slug) for slug in catalogue()]
    if given.json:
        import json

        terminal.say([json.dumps([_described(game) for game in there], indent=1)])
    else:
        width = columns(terminal) if os.isatty(1) else UNLIMITED
        terminal.say(listing([(game.slug, game.summary) for game in there], width))
    return 0


def listing(entries: list[tuple[str, str]], width: int) -> Lines:
    """Names in a column, with a description after each, or below it on a narrow screen.

    >>> listing([("one", "The first."), ("three", "The third.")], 40)
    ['one    The first.', 'three  The third.']
    """
    widest = max((len(name) for name, _ in entries), default=0)
    return [line for name, about in entries for line in row(f"{name:<{widest}}  ", about, width)]


def _described(game: type[AnyGame]) -> dict[str, Any]:
    options = {
        name: {
            "default": option.show(option.default),
            "takes": option.expects,
            "about": option.about,
        }
        for name, option in game.options().items()
    }
    return {
        "slug": game.slug,
        "title": game.title,
        "summary": game.summary,
        "private": game.private,
        "options": options,
    }
