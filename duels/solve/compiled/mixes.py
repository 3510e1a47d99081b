"""The mixes of many sealed choices, to the bit those that `duels.solve.matrix` gives for each.

`duels.solve.compiled.matrix` is faster and may find another of several best mixes. What is measured
against the perfect player must be measured against what that player does, so this takes the same
steps in the same order. The few matrices that need more than the first attempt are left to Python.
"""

from __future__ import annotations

from typing import Any

from duels.solve.compiled import Array, compiled, np
from duels.solve.matrix import DUST, ENTER, WANTED, solve_matrix

NARROW = 100 * ENTER


def mixes(payoffs: Array, seat: int) -> Array:
    """One seat's mix in each of many matrices; what is not legal is below 0 in `payoffs`."""
    count, moves = payoffs.shape[:2]
    out = np.zeros((count, moves))
    again = np.zeros(count, np.bool_)
    _mixes(payoffs, seat, out, again)
    for i in np.flatnonzero(again).tolist():
        rows, columns = ((payoffs[i] >= 0).any(axis=1 - side).nonzero()[0] for side in (0, 1))
        found = solve_matrix(payoffs[i][np.ix_(rows, columns)].tolist())
        out[i] = 0.0
        out[i, (rows, columns)[seat]] = (found.row_mix, found.column_mix)[seat]
    return out


@compiled
def _mixes(payoffs: Array, seat: int, out: Array, again: Array) -> None:
    moves = payoffs.shape[1]
    rows, columns = np.empty(moves, np.int64), np.empty(moves, np.int64)
    game = np.zeros((moves, moves))
    table = np.zeros((moves + 1, moves + 1))
    basic, free = np.empty(moves, np.int64), np.empty(moves, np.int64)
    shares = np.zeros((2, moves))
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
        again[i] = not _solve(game, high, wide, table, basic, free, shares)
        for k in range(high if seat == 0 else wide):
            out[i, rows[k] if seat == 0 else columns[k]] = shares[seat, k]


@compiled
def _solve(
    game: Array, high: int, wide: int, table: Array, basic: Array, free: Array, shares: Array
) -> bool:
    for k in range(shares.shape[1]):
        shares[0, k] = shares[1, k] = 0.0
    low = top = game[0, 0]
    value, least = -np.inf, np.inf
    row = column = 0
    for i in range(high):
        worst = np.inf
        for j in range(wide):
            worst = min(worst, game[i, j])
            top = max(top, game[i, j])
        low = min(low, worst)
        if worst > value:
            value, row = worst, i
    for j in range(wide):
        most = -np.inf
        for i in range(high):
            most = max(most, game[i, j])
        if most < least:
            least, column = most, j
    if value >= least:
        shares[0, row] = shares[1, column] = 1.0
        return True
    spread = top - low
    for i in range(high):
        for j in range(wide):
            table[i, j] = (game[i, j] - low) / spread + 1.0
        table[i, wide] = 1.0
        basic[i] = i
    enter, most = 0, np.inf
    for j in range(wide):
        table[high, j] = -1.0
        free[j] = high + j
        highest = 0.0
        for i in range(high):
            highest = max(highest, table[i, j])
        if highest < most:
            enter, most = j, highest
    table[high, wide] = 0.0
    for turn in range(4 * (high + wide)):
        if turn > 0:
            enter = -1
            for j in range(wide):
                if table[high, j] < -ENTER and (enter < 0 or table[high, j] < table[high, enter]):
                    enter = j
            if enter < 0:
                break
        leave, ratio = -1, np.inf
        for i in range(high):
            if table[i, enter] > NARROW:
                own = table[i, wide] / table[i, enter]
                if leave < 0 or own < ratio or (own == ratio and basic[i] < basic[leave]):
                    leave, ratio = i, own
        if leave < 0:
            return False
        _pivot(table, high, wide, leave, enter)
        basic[leave], free[enter] = free[enter], basic[leave]
    for j in range(wide):
        if free[j] < high:
            shares[0, free[j]] = max(table[high, j], 0.0)
    for i in range(high):
        if basic[i] >= high:
            shares[1, basic[i] - high] = max(table[i, wide], 0.0)
    return (
        _to_shares(shares, 0, high)
        and _to_shares(shares, 1, wide)
        and _gap(game, high, wide, shares) <= WANTED * spread + 1e-14 * max(abs(low), abs(top))
    )


@compiled
def _pivot(table: Array, high: int, wide: int, leave: int, enter: int) -> None:
    pivot = table[leave, enter]
    for j in range(wide + 1):
        table[leave, j] = table[leave, j] / pivot
    table[leave, enter] = 1 / pivot
    for i in range(high + 1):
        factor = table[i, enter]
        if i != leave and factor != 0.0:
            table[i, enter] = 0.0
            for j in range(wide + 1):
                table[i, j] = table[i, j] - factor * table[leave, j]


@compiled
def _to_shares(weights: Array, side: int, count: int) -> bool:
    whole = kept = 0.0
    for i in range(count):
        whole += weights[side, i]
    for i in range(count):
        if not weights[side, i] > DUST * whole:
            weights[side, i] = 0.0
        kept += weights[side, i]
    if whole == 0.0:
        return False
    for i in range(count):
        weights[side, i] = weights[side, i] / kept
    return True


@compiled
def _gap(game: Array, high: int, wide: int, shares: Array) -> Any:
    earned, yielded = np.inf, -np.inf
    for j in range(wide):
        total = 0.0
        for i in range(high):
            total += shares[0, i] * game[i, j]
        earned = min(earned, total)
    for i in range(high):
        total = 0.0
        for j in range(wide):
            total += shares[1, j] * game[i, j]
        yielded = max(yielded, total)
    return max(0.0, yielded - earned)
