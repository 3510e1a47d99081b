"""Values and strategies of perfect play in many packed positions."""

from __future__ import annotations

from duels.algorithms import solve
from duels.algorithms.compiled import Array, np
from duels.algorithms.compiled.mixed_strategies import mixed_strategies
from duels.core.game import AnyGame
from duels.kernels import kernel_of
from duels.measure.compiled_enumeration import loops, unpacked

SOME = 512  # positions solved at a time, to fit in the processor's cache
ILLEGAL, OPEN = -1.0, -2.0  # instead of a payoff: an illegal move, a game that continues


def optimal(game: AnyGame, rows: Array) -> Array:
    """Player 1's expected score in packed positions where a player chooses."""
    found = kernel_of(game).values(game, rows)
    if found is not None:
        return found
    solution = solve(game)
    return np.array([float(solution.value(unpacked(game, row))) for row in rows])


def simultaneous_strategies(game: AnyGame, rows: Array, seat: int) -> Array:
    """The perfect player's mixed strategies in positions where choices are simultaneous."""
    kernel = kernel_of(game)
    rules, moves = kernel.rules(game), len(game.moves())
    expand = loops(kernel, sealed=True).leads
    out = np.zeros((len(rows), moves))
    for begin in range(0, len(rows), SOME):
        some = np.ascontiguousarray(rows[begin : begin + SOME])
        after = np.zeros((len(some) * moves * moves, rows.shape[1]), rows.dtype)
        payoffs = np.empty((len(some), moves, moves))
        movers = np.zeros(len(some), np.int64)
        expand(rules, some, moves, after, payoffs, movers)
        on = payoffs == OPEN
        payoffs[on] = optimal(game, after[on.reshape(-1)])
        out[begin : begin + len(some)] = mixed_strategies(payoffs, seat)
    return out
