"""Mixed strategies of many matrix games, bit for bit those of `duels.algorithms.matrix_game`.

`duels.algorithms.compiled.matrix_game` is faster and may find another of several optimal mixed
strategies. A measurement against the perfect player must use the strategy which that player has, so
this takes the same steps in the same order. The few matrices that need exact rationals are left to
Python.
"""

from __future__ import annotations

from duels.algorithms.compiled import Array, compiled, np
from duels.algorithms.compiled.matrix_game import try_canonically
from duels.algorithms.matrix_game import solve_matrix


def mixed_strategies(payoffs: Array, seat: int) -> Array:
    """One seat's mixed strategies in many matrices; payoffs below 0 are illegal moves."""
    count, moves = payoffs.shape[:2]
    out = np.zeros((count, moves))
    again = np.zeros(count, np.bool_)
    _mixed_strategies(payoffs, seat, out, again)
    for i in np.flatnonzero(again).tolist():
        rows, columns = ((payoffs[i] >= 0).any(axis=1 - side).nonzero()[0] for side in (0, 1))
        found = solve_matrix(payoffs[i][np.ix_(rows, columns)].tolist())
        out[i] = 0.0
        out[i, (rows, columns)[seat]] = (found.row_strategy, found.column_strategy)[seat]
    return out


@compiled
def _mixed_strategies(payoffs: Array, seat: int, out: Array, again: Array) -> None:
    moves = payoffs.shape[1]
    rows, columns = np.empty(moves, np.int64), np.empty(moves, np.int64)
    game = np.zeros((moves, moves))
    table = np.zeros((moves + 1, moves + 1))
    shares, label = np.zeros((2, moves)), np.zeros((2, moves), np.int64)
    for i in range(payoffs.shape[0]):
        high = wide = 0
        for a in range(moves):
            some_row = some_column = False
            for b in range(moves):
                some_row = some_row or payoffs[i, a, b] >= 0
                some_column = some_column or payoffs[i, b, a] >= 0
            if some_row:
                rows[high] = a
                high += 1
            if some_column:
                columns[wide] = a
                wide += 1
        for a in range(high):
            for b in range(wide):
                game[a, b] = payoffs[i, rows[a], columns[b]]
        again[i] = not try_canonically(game, high, wide, table, shares, label)
        for k in range(high if seat == 0 else wide):
            out[i, rows[k] if seat == 0 else columns[k]] = shares[seat, k]
