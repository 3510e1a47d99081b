"""Backward induction over all reachable states of Number Clash, round by round.

A layer contains the states in which each player has `size` numbers left. Within a layer a player's
side of the state is one index: the rank of the set (sets ascending as bit masks) times `points`,
plus the score. So a layer is a square array, and its transpose is the game from the view of the
other player: only the half below the diagonal is solved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from duels.algorithms.compiled import Array, compiled, need_numba, np
from duels.algorithms.compiled.matrix_game import scratch, solve
from duels.algorithms.compiled.subsets import Sets, subsets


class Layers(NamedTuple):
    """By layer, from one number left to all: which states are reachable, and their values."""

    reachable: list[Array]
    values: list[Array]  # of the reachable states below the diagonal, row by row
    states: int  # reachable decision states, the mirrored ones included
    gap: float  # the largest duality gap of all of them


def solve_layers(
    numbers: int, points: int, progress: Callable[[float, str], None] | None = None
) -> Layers:
    """Solve the game; `progress` is called after each layer, with the part of states done."""
    need_numba()
    sets = [subsets(numbers, size) for size in range(numbers + 1)]
    reachable = _reachable_layers(sets, points)
    states = [int(np.count_nonzero(layer)) for layer in reachable]
    scores = np.arange(points)
    below = 0.5 + 0.5 * np.sign(scores[:, None] - scores[None, :])
    kept, worst = [], 0.0
    for size in range(1, numbers + 1):
        layer = np.full(reachable[size].shape, 0.5)
        gap = _solve_layer(*sets[size], below, points, reachable[size], layer, *scratch())
        kept.append(layer[lower_half(reachable[size])])
        below, worst = layer, max(worst, float(gap))
        if progress is not None:
            progress(sum(states[1 : size + 1]) / sum(states[1:]), f"{size} numbers left")
    return Layers(reachable[1:], kept, sum(states[1:]), worst)


def lower_half(reachable: Array) -> Array:
    """The reachable states below the diagonal: those that are solved and stored."""
    return np.tri(len(reachable), k=-1, dtype=np.bool_) & (reachable != 0)


def _reachable_layers(sets: list[Sets], points: int) -> list[Array]:
    """The reachable states of each layer, found forward from the start.

    Scores only grow, so the order of rounds does not matter: it is sufficient to follow the games
    in which Player 1 uses numbers in ascending order.
    """
    layer = np.zeros((points, points), np.uint8)
    layer[0, 0] = 1
    layers = [layer]
    for size in range(len(sets) - 1, 0, -1):
        wide = points if size == 1 else points * len(sets[size - 1].numbers)
        smaller = np.zeros((wide, wide), np.uint8)
        _reach(*sets[size], len(sets) - 1, points, layers[-1], smaller)
        layers.append(smaller)
    return layers[::-1]


@compiled
def round_result(mine: int, theirs: int) -> int:
    """1 if the first number wins the round, -1 if the second does: higher, but not by one."""
    if mine == theirs:
        return 0
    if mine == theirs + 1:
        return -1
    if mine == theirs - 1:
        return 1
    return 1 if mine > theirs else -1


@compiled
def _reach(
    numbers: Array, without: Array, highest: int, points: int, layer: Array, smaller: Array
) -> None:
    count, size = numbers.shape
    for one in range(count):
        above_used = size  # index from which the numbers left are above all used ones
        while above_used > 0 and numbers[one, above_used - 1] == highest - size + above_used - 1:
            above_used -= 1
        for two in range(count):
            for a in range(points):
                for b in range(points):
                    if not layer[one * points + a, two * points + b]:
                        continue
                    for i in range(above_used, size):
                        for j in range(size):
                            result = round_result(numbers[one, i], numbers[two, j])
                            after_a = a + (result > 0)
                            after_b = b + (result < 0)
                            if after_a < points and after_b < points:
                                row = without[one, i] * points + after_a
                                smaller[row, without[two, j] * points + after_b] = 1


@compiled
def _solve_layer(
    numbers: Array, without: Array, below: Array, points: int, reachable: Array, layer: Array,
    game: Array, table: Array, strategy: Array, label: Array,
) -> float:  # fmt: skip
    """Fill `layer` from the one below it; returns the largest duality gap."""
    count, size = numbers.shape
    worst = 0.0
    for one in range(count):
        for two in range(one + 1):
            for a in range(points):
                for b in range(a + 1 if one == two else points):
                    row, column = one * points + a, two * points + b
                    if not reachable[row, column]:
                        continue
                    for i in range(size):
                        mine, down = numbers[one, i], without[one, i] * points + a
                        for j in range(size):
                            across = without[two, j] * points + b
                            result = round_result(mine, numbers[two, j])
                            if result == 0:
                                game[i, j] = below[down, across]
                            elif result > 0:
                                game[i, j] = 1.0 if a + 1 == points else below[down + 1, across]
                            else:
                                game[i, j] = 0.0 if b + 1 == points else below[down, across + 1]
                    value, gap = solve(game, size, size, table, strategy, label)
                    worst = max(worst, gap)
                    if row != column:  # on the diagonal the value is exactly 1/2, by symmetry
                        layer[row, column] = value
                        layer[column, row] = 1.0 - value
    return worst
