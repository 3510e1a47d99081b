"""Matrix games in pure Python: the value and one optimal mixed strategy for each player.

A perfect opponent solves one position at a time, from the table's values, so this favours certainty
over speed: each solution is checked by both best responses, and one that fails the check is
computed again, finally in exact rationals.

>>> rock_paper_scissors = [[0.5, 0, 1], [1, 0.5, 0], [0, 1, 0.5]]
>>> solution = solve_matrix(rock_paper_scissors)
>>> round(solution.value, 12), [round(part, 12) for part in solution.row_strategy]
(0.5, [0.333333333333, 0.333333333333, 0.333333333333])
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

CERTAIN = 1e-9  # the largest duality gap accepted, as a part of the spread of the payoffs
WANTED = 1e-12  # what the first, fastest attempt must reach
ENTER = 1e-13  # a column enters only when it gains more than rounding could
DUST = 1e-14  # a smaller share is what rounding left of a move that is not played


class MatrixSolution(NamedTuple):
    """The solution of a matrix game: value and strategies; the row player maximises.

    `gap` is what the column strategy yields at most less what the row strategy earns at least: the
    true value lies between the two, and so does `value`.
    """

    value: float
    row_strategy: tuple[float, ...]
    column_strategy: tuple[float, ...]
    gap: float


def solve_matrix(rows: Sequence[Sequence[float]]) -> MatrixSolution:
    """Solve a zero-sum game given by the row player's payoffs; deterministic."""
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("a matrix game needs rows of one length, and at least one payoff")
    low = min(map(min, rows))
    spread = max(map(max, rows)) - low
    if not isfinite(spread) or any(payoff != payoff for row in rows for payoff in row):
        raise ValueError("the payoffs of a matrix game must be finite numbers")
    saddle = _saddle(rows)
    if saddle is not None:
        return saddle
    rounding = 1e-14 * max(abs(low), abs(low + spread))  # of payoffs large against their spread
    # Into [1, 2]: a positive value is what makes the simplex below start without a first phase.
    moved = [[(payoff - low) / spread + 1.0 for payoff in row] for row in rows]
    for bland, accepted in ((False, WANTED), (True, CERTAIN)):
        strategies = _simplex(moved, bland)
        if strategies is not None:
            found = _checked(rows, *strategies)
            if found.gap <= accepted * spread + rounding:
                return found
    found = _checked(rows, *_exactly(rows))
    assert found.gap <= CERTAIN * spread + rounding, "exact strategies must leave no gap"
    return found


def _saddle(rows: Sequence[Sequence[float]]) -> MatrixSolution | None:
    """The saddle point in pure strategies, if there is one."""
    earned = [min(row) for row in rows]
    yielded = [max(column) for column in zip(*rows, strict=True)]
    value, least = max(earned), min(yielded)
    if value < least:
        return None
    one, two = earned.index(value), yielded.index(least)
    row_strategy = tuple(float(index == one) for index in range(len(earned)))
    return MatrixSolution(
        float(value), row_strategy, tuple(float(index == two) for index in range(len(yielded))), 0.0
    )


def _checked(
    rows: Sequence[Sequence[float]], row_strategy: list[float], column_strategy: list[float]
) -> MatrixSolution:
    """The value and the gap by the best responses against both strategies."""
    earned = min(
        sum(share * payoff for share, payoff in zip(row_strategy, column, strict=True))
        for column in zip(*rows, strict=True)
    )
    yielded = max(
        sum(share * payoff for share, payoff in zip(column_strategy, row, strict=True))
        for row in rows
    )
    gap = max(0.0, yielded - earned)  # rounding can make it negative
    return MatrixSolution((earned + yielded) / 2, tuple(row_strategy), tuple(column_strategy), gap)


def _exactly(rows: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """The solution in exact rationals: slow, and needed only for ill-conditioned matrices."""
    from fractions import Fraction

    exact = [[Fraction(payoff) for payoff in row] for row in rows]
    low = min(map(min, exact))
    spread = max(map(max, exact)) - low
    strategies = _simplex(
        [[(payoff - low) / spread + 1 for payoff in row] for row in exact], True, 0
    )
    assert strategies is not None, "Bland's rule ends"
    return strategies


def _simplex(
    payoffs: list[list[Any]], bland: bool, enter_at: float = ENTER
) -> tuple[list[float], list[float]] | None:
    """Maximise sum(y) with payoffs y <= 1, y >= 0, in a condensed tableau: two strategies or None.

    The column strategy is y scaled to one and the row strategy is its dual. Labels below `height`
    are rows (slacks), the others columns. Bland's rule, always the lowest label, is slow and cannot
    cycle.
    """
    height, width = len(payoffs), len(payoffs[0])
    one = payoffs[0][0] ** 0  # a float or a Fraction, as the payoffs are
    table = [[*row, one] for row in payoffs]
    prices = [-one] * width + [one - one]
    basic, free = list(range(height)), list(range(height, height + width))
    most = [max(column) for column in zip(*payoffs, strict=True)]
    enter = most.index(min(most))  # the best single column: a better start than the first one
    for turn in range((100 if bland else 4) * (height + width) if enter_at else 10**9):
        if turn:
            wanted = [j for j in range(width) if prices[j] < -enter_at]
            if not wanted:
                break
            enter = min(wanted, key=lambda j: free[j] if bland else prices[j])
        leaves = [
            (row[width] / row[enter], basic[i], i)
            for i, row in enumerate(table)
            if row[enter] > 100 * enter_at
        ]
        if not leaves:
            return None  # only possible by rounding
        leave = min(leaves)[2]
        _pivot(table, prices, leave, enter)
        basic[leave], free[enter] = free[enter], basic[leave]
    row_strategy, column_strategy = [one - one] * height, [one - one] * width
    for j, name in enumerate(free):
        if name < height:
            row_strategy[name] = max(prices[j], row_strategy[name])
    for i, name in enumerate(basic):
        if name >= height:
            column_strategy[name - height] = max(table[i][width], column_strategy[name - height])
    if not any(row_strategy) or not any(column_strategy):
        return None
    return _shares(row_strategy), _shares(column_strategy)


def _shares(weights: list[Any]) -> list[float]:
    whole = sum(weights)
    kept = [weight if weight > DUST * whole else weight * 0 for weight in weights]
    whole = sum(kept)
    return [float(weight / whole) for weight in kept]


def _pivot(table: list[list[Any]], prices: list[Any], leave: int, enter: int) -> None:
    """Swap a free and a basic label; the pivot's own column holds what the basic one's would."""
    pivot = table[leave][enter]
    pivot_row = [entry / pivot for entry in table[leave]]
    pivot_row[enter] = 1 / pivot
    for row in (*table[:leave], *table[leave + 1 :], prices):
        factor = row[enter]
        if factor:
            row[enter] = factor * 0
            row[:] = [a - factor * b for a, b in zip(row, pivot_row, strict=True)]
    table[leave] = pivot_row
