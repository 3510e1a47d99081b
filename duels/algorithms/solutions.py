"""Solutions of games: by the game's own solver where it has one, else from its rules."""

from __future__ import annotations

from typing import Any

from duels.algorithms.solution import Progress, Solution, SolveArguments
from duels.core.game import AnyGame
from duels.core.spec import located, spec_of

OPEN_GAME = "duels.algorithms.backward_induction:BackwardInduction"
HIDDEN_GAME = "duels.algorithms.equilibrium:Equilibrium"
_solved: dict[AnyGame, Solution] = {}


def solver_of(game: AnyGame) -> type[Solution]:
    """The class of a game's solution."""
    from_rules = HIDDEN_GAME if game.private else OPEN_GAME
    found: type[Solution] = located(spec_of(game).solver or from_rules)
    return found


def solve(game: AnyGame, progress: Progress | None = None) -> Solution:
    """The solution of a game with its options, made once; `progress` is called during long work."""
    if game not in _solved:
        _solved[game] = solver_of(game)(game, progress)
    return _solved[game]


def ready(game: AnyGame) -> bool:
    """Whether `solve` returns without a long computation."""
    return game in _solved or solver_of(game).quick(game)


def forget_all_but(most: int) -> None:
    """Forget the solutions made first, for a process that solves what clients name."""
    for game in list(_solved)[: max(0, len(_solved) - most)]:
        del _solved[game]


def measured_gain(game: AnyGame) -> str:
    """What best responses gain against perfect play, in words; empty if not solved yet."""
    return _solved[game].measured_gain if game in _solved else ""


def rebuild(game: AnyGame, progress: Progress, given: SolveArguments) -> dict[str, Any]:
    """Solve again, write the table if the game has one, and return the figures of the result."""
    return solver_of(game).rebuild(game, progress, given)
