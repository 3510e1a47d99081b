"""Backward induction over all attacker states of Digit Duel, by the number of turns left.

A state in which the attacker chooses is two sets of `size` digits and two life totals, each from 1
to `life`. A layer contains the states of one size, by the ranks of both sets (attacker's first) and
then by life, always the same player's life first: the players swap roles each turn, and with this
order the successors of one digit are contiguous in the layer below.

Open game. Play ends with a knock-out by the attacker of that turn or after the last turn, so for a
given size there are few results (outcome and distance). `solver.ladder` lists them in order, from
the attacker's worst (beaten next turn) to the best (wins this turn); a rung is an index into it.
One turn earlier the roles are swapped, so the order is reversed, with "wins this turn" as the new
best. With rungs counted from 1, and 0 for "knocked out", the recursion is
`top - (minimum over the attacker's digits of the maximum over the defender's digits)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

from duels.algorithms.compiled import Array, compiled, need_numba, np
from duels.algorithms.compiled.matrix_game import scratch, solve
from duels.algorithms.compiled.subsets import subsets


def open_layers(digits: int, life: int) -> Iterator[Array]:
    """Yield each layer, from one digit left to all, as rungs counted from 1.

    Indices are [pair of sets, attacker's life - 1, defender's life - 1].
    """
    need_numba()
    lives = np.arange(life)
    # After the last turn the next attacker wins only with more life; ties go to the last attacker.
    below = (1 + (lives[:, None] > lives[None, :])).astype(np.uint8).reshape(1, -1)
    for size in range(1, digits + 1):
        sets = subsets(digits, size)
        layer = np.empty((len(sets.numbers) ** 2, life * life), np.uint8)
        _open_layer(*sets, comb(digits, size - 1), life, 1 + max(2, size), below, layer)
        if size == 1:
            np.minimum(layer, 2, out=layer)  # a win this turn, by a knock-out or by the count
        # A layer is computed defender first; the one above it needs its own defender first.
        by_role = np.ascontiguousarray(layer.reshape(-1, life, life).transpose(0, 2, 1))
        yield by_role
        below = by_role.reshape(layer.shape)


def hidden_layers(digits: int, life: int) -> Iterator[tuple[Array, float]]:
    """Yield the attacker's probabilities to win in the same layout, and the largest duality gap."""
    need_numba()
    lives = np.arange(life)
    below = (lives[:, None] > lives[None, :]).astype(np.float64).reshape(1, life, life)
    for size in range(1, digits + 1):
        sets = subsets(digits, size)
        layer = np.empty((len(sets.numbers) ** 2, life, life))
        gap = _hidden_layer(*sets, comb(digits, size - 1), life, below, layer, *scratch())
        yield layer, float(gap)
        below = layer


@compiled
def _open_layer(
    numbers: Array, without: Array, smaller: int, life: int, top: int, below: Array, layer: Array
) -> None:
    """Rungs from 1, defender's life first; `smaller` sets have one digit fewer."""
    count, size = numbers.shape
    cells = life * life
    answered = np.empty(cells, np.uint8)
    for one in range(count):
        for two in range(count):
            best = layer[one * count + two]
            best[:] = 255
            for i in range(size):
                answered[:] = 0
                for j in range(size):
                    child = below[without[two, j] * smaller + without[one, i]]
                    damage = max(0, numbers[one, i] - numbers[two, j])
                    shift = damage * life
                    for cell in range(cells - shift):
                        answered[cell + shift] = max(answered[cell + shift], child[cell])
                for cell in range(cells):
                    best[cell] = min(best[cell], answered[cell])
            for cell in range(cells):
                best[cell] = top - best[cell]


@compiled
def _hidden_layer(
    numbers: Array, without: Array, smaller: int, life: int, below: Array, layer: Array,
    game: Array, table: Array, strategy: Array, label: Array,
) -> float:  # fmt: skip
    count, size = numbers.shape
    worst = 0.0
    for one in range(count):
        for two in range(count):
            for mine in range(life):
                for theirs in range(life):
                    for i in range(size):
                        for j in range(size):
                            left = theirs - max(0, numbers[one, i] - numbers[two, j])
                            pair = without[two, j] * smaller + without[one, i]
                            game[i, j] = 1.0 if left < 0 else 1.0 - below[pair, left, mine]
                    value, gap = solve(game, size, size, table, strategy, label)
                    layer[one * count + two, mine, theirs] = value
                    worst = max(worst, gap)
    return worst
