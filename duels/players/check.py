"""Checks of a player over every game, option, seat and clock: `duels bot check`.

>>> from duels.games import find
>>> from duels.players import make_player
>>> found = check(make_player("greedy", ""), [find("number-clash")], ProcessLimits())
>>> [(game.slug, game.failure) for game in found.games], found.repeatable
([('number-clash', None)], True)
>>> [game.differing() for game in variants(find("digit-duel"))]  # the last: Player 2 starts
[{}, {'life': '9/10'}, {'digits': '8'}, {'hidden': 'yes'}, {}]
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from duels.algorithms.solution import Progress
from duels.core.chance import stream
from duels.core.clock import TimeControl
from duels.core.errors import Misbehaved, OptionError
from duels.core.game import AnyGame, Move
from duels.core.match import Match, inform
from duels.core.options import Choice, First, Flag, Number, Option, Pair
from duels.core.player import Player, View
from duels.core.presentation import listed, player_name
from duels.players.external import External, request
from duels.players.isolated import Isolated
from duels.players.process import ProcessLimits
from duels.players.runner import choice, guarded, listens
from duels.players.uniform import Uniform

MATCHES = 4  # with default options, in each seat; one with each other option, and one with a clock
REPEATED = 20  # views of each game that are queried again


class Failure:
    """A failure of a player: the match, which can be replayed, and the last request."""

    def __init__(self, match: Match, view: View, why: str, during: str = "") -> None:
        self.match, self.view, self.why, self.during = match, view, why, during

    def where(self) -> str:
        assert self.view.player is not None
        words = [f"as {player_name(self.view.player)}"]
        options = self.match.game.options()
        words += [
            f"with {name}={value}"
            for name, value in self.match.game.settings().items()
            if value != options[name].show(options[name].default)
        ]
        if self.match.time_control:
            words.append(f"with {self.match.time_control.limit:g} s a choice")
        words += [f"seed {self.match.seed}", f"moment {self.view.version}"]
        return ", ".join(words + [self.during] * bool(self.during))

    def to_json(self) -> dict[str, Any]:
        return {"where": self.where(), "why": self.why, "request": _request(self.view)}


class GameCheck:
    """The result of a player in one game."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        self.played = True  # False if the player declares that it does not play this game
        self.matches = self.choices = self.mixed = 0
        self.slowest = 0.0  # seconds
        self.failure: Failure | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "game": self.slug,
            "played": self.played,
            "matches": self.matches,
            "choices": self.choices,
            "mixed": self.mixed,
            "slowest": round(self.slowest, 6),
            "failure": None if self.failure is None else self.failure.to_json(),
        }


class CheckReport:
    """The result of a check. `start` is the reason why the player did not start, else None."""

    def __init__(self) -> None:
        self.start: str | None = None
        self.plays_none: str | None = None  # if it plays none of the games: what it plays instead
        self.games: list[GameCheck] = []
        self.repeatable: bool | None = None  # equal requests got equal answers; None: not checked

    @property
    def fine(self) -> bool:
        return (
            self.start is None
            and self.plays_none is None
            and all(game.failure is None for game in self.games)
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "fine": self.fine,
            "start": self.start,
            "plays_none": self.plays_none,
            "games": [game.to_json() for game in self.games],
            "repeatable": self.repeatable,
        }


def variants(kind: type[AnyGame]) -> Iterator[AnyGame]:
    """The game with default options, and with each option changed once, if that is valid."""
    yield kind()
    for name, option in kind.options().items():
        for text in _other_values(option):
            try:
                yield kind(**{name: text})
            except OptionError:
                continue
            break


def _other_values(option: Option[Any]) -> list[str]:
    match option:
        case Flag():
            return [option.show(not option.default)]
        case Choice():
            return [word for word in option.words if word != option.default]
        case First():
            return ["2"]
        case Number():
            return [str(option.default - 1), str(option.default + 1)]
        case Pair():
            return [f"{option.default[0] - 1}/{option.default[0]}"]
    return []


def check(
    player: Player, games: list[type[AnyGame]], limits: ProcessLimits, *, seed: int = 1,
    progress: Progress | None = None,
) -> CheckReport:  # fmt: skip
    """Play games of a player against `random`, then repeat some of the requests.

    The check of a game ends at its first failure.
    """
    report = CheckReport()
    try:
        guarded(player, player.prepare)
    except Misbehaved as error:
        report.start = str(error)
        return report
    asked: list[tuple[GameCheck, Match, View, Any]] = []
    for number, kind in enumerate(games):
        checked = GameCheck(kind.slug)
        report.games.append(checked)
        if isinstance(player, External) and kind.slug not in (player.games or [kind.slug]):
            checked.played = False
            continue
        for match, seat in _matches(kind, seed, limits):
            if progress is not None:
                progress(number / len(games), kind.slug)
            asked += _play(player, match, seat, checked)
            if checked.failure is not None:
                break
    if games and not any(game.played for game in report.games):
        own = listed(getattr(player, "games", None) or ["no game at all"])
        slugs = listed(game.slug for game in report.games)
        report.plays_none = f"it plays {own}, and none of {slugs}"
    if not listens(player):  # the answers of a listener depend on the events it received
        _ask_again(player, asked, report)
    return report


def _matches(kind: type[AnyGame], seed: int, limits: ProcessLimits) -> Iterator[tuple[Match, int]]:
    for seat in (0, 1):
        for number, game in enumerate(variants(kind)):
            for more in range(1 if number else MATCHES):
                yield Match(game, seed + more), seat
        yield Match(kind(), seed, time_control=TimeControl(limits.seconds)), seat


def _play(
    player: Player, match: Match, seat: int, checked: GameCheck
) -> list[tuple[GameCheck, Match, View, Any]]:
    """Play one match; returns some of its choices, with the answers."""
    other, heard = Uniform(stream(match.seed or 0, 1 - seat)), 0
    _begin(player, match, seat)
    found: list[tuple[GameCheck, Match, View, Any]] = []
    checked.matches += 1
    while match.result is None:
        for one in match.deciders:
            if one != seat:
                match.submit(one, other.choose(match.view(one)))
                continue
            view = match.view(seat)
            try:
                guarded(player, player.prepare)
                if listens(player):
                    heard = _told(player, match, seat, heard)
                match.start_clock(seat)
                view, began = match.view(seat), time.monotonic()
                move = _choice(player, view)
            except Misbehaved as error:
                checked.failure = Failure(match, view, str(error))
                return found
            checked.slowest = max(checked.slowest, time.monotonic() - began)
            checked.choices += 1
            strategy = player.last_strategy if isinstance(player, External) else None
            checked.mixed += strategy is not None
            if len(found) < REPEATED:
                found.append((checked, match, view, move if strategy is None else strategy))
            match.submit(seat, move)
    try:
        if listens(player):
            _told(player, match, seat, heard)
        else:
            guarded(player, lambda: player.on_end(match.result))  # type: ignore[arg-type]
    except Misbehaved as error:
        checked.failure = Failure(match, match.view(seat), str(error), "told of the end")
    return found


def _begin(player: Player, match: Match, seat: int) -> None:
    """Set a player's random stream for a match; an isolated class is created again for it."""
    player.stream = stream(match.seed or 0, seat)
    if isinstance(player, Isolated):
        player.renew(player.stream, match.game)


def _told(player: Player, match: Match, seat: int, since: int) -> int:
    """Inform a player that listens of new events and the end."""
    return guarded(player, lambda: inform(player, match, seat, since))


def _ask_again(
    player: Player, asked: list[tuple[GameCheck, Match, View, Any]], report: CheckReport
) -> None:
    """Repeat requests in another order, with and without the history.

    Answers must not depend on earlier requests. A random answer may differ, but must be valid.
    """
    some = Random(1).sample(asked, min(len(asked), REPEATED * len(report.games)))
    for checked, match, view, before in some:
        if checked.failure is not None:
            continue
        _begin(player, match, view.player or 0)
        view = view._replace(clock=None, clocks=(None, None))
        during = "asked again without a history"
        try:
            _choice(player, view._replace(history=()))
            during = "asked again in another order"
            move: Any = _choice(player, view)
        except Misbehaved as error:
            checked.failure = Failure(match, view, str(error), during)
            continue
        if isinstance(player, External) and player.last_strategy is not None:
            move = player.last_strategy
        report.repeatable = move == before and report.repeatable is not False


def _choice(player: Player, view: View) -> Move:
    move = choice(player, view)
    if move not in view.options:
        raise Misbehaved(f"{move!r} is not an option")
    return move


def _request(view: View) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(request(view, ProcessLimits().seconds, "a seed"))
    return found
