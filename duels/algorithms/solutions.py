"""Solutions of games: by the game's own solver where it has one, else from its rules."""

from __future__ import annotations

from typing import Any

from duels.algorithms.solution import Progress, Solution
from duels.core.game import AnyGame
from duels.core.spec import located, spec_of

OPEN_GAME = "duels.algorithms.backward_induction:Generic"
HIDDEN_GAME = "duels.algorithms.equilibrium:Equilibrium"
_solved: dict[AnyGame, Solution] = {}


def solver_of(game: AnyGame) -> type[Solution]:
    """The kind of solution that serves a game."""
    from_rules = HIDDEN_GAME if game.private else OPEN_GAME
    found: type[Solution] = located(spec_of(game).solver or from_rules)
    return found


def solve(game: AnyGame, progress: Progress | None = None) -> Solution:
    """The solution of a game with its options, made once; `progress` is told of long work."""
    if game not in _solved:
        _solved[game] = solver_of(game)(game, progress)
    return _solved[game]


def ready(game: AnyGame) -> bool:
    """Whether `solve` would answer at once."""
    return game in _solved or solver_of(game).quick(game)


def rebuild(
    game: AnyGame,
    progress: Progress,
    path: str | None = None,
    minutes: float | None = None,
    jobs: int | None = None,
) -> dict[str, Any]:
    """Solve anew, write the table if the game has one, and return the figures of the result."""
    return solver_of(game).rebuild(game, progress, path, minutes, jobs)
