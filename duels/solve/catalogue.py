"""Which way a game is solved: by a method of its own where there is one, else from its rules."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from duels.core.game import AnyGame
from duels.games import game_of
from duels.solve.solution import Progress, Solution

METHODS = {
    "firewall-breach": "duels.solve.firewall_breach:FirewallBreachSolution",
    "number-clash": "duels.solve.number_clash:NumberClashSolution",
    "cipher-siege": "duels.solve.cipher_siege:CipherSiegeSolution",
    "digit-duel": "duels.solve.digit_duel:DigitDuelSolution",
    "number-wars": "duels.solve.number_wars:NumberWarsSolution",
}
_solved: dict[AnyGame, Solution] = {}


def method(game: AnyGame) -> type[Solution]:
    module, _, kind = METHODS.get(game.slug, "duels.solve.generic:Generic").partition(":")
    found: type[Solution] = getattr(import_module(module), kind)
    return found


def solve(game: str | AnyGame, progress: Progress | None = None) -> Solution:
    """The solution of a game with its options, made once; `progress` is told of long work."""
    game = game_of(game)
    if game not in _solved:
        _solved[game] = method(game)(game, progress)
    return _solved[game]


def ready(game: AnyGame) -> bool:
    """Whether `solve` would answer at once."""
    return game in _solved or method(game).quick(game)


def rebuild(
    game: AnyGame,
    progress: Progress,
    path: str | None = None,
    minutes: float | None = None,
    jobs: int | None = None,
) -> dict[str, Any]:
    """Solve anew, write the table if the game has one, and say what came out."""
    return method(game).rebuild(game, progress, path, minutes, jobs)
