"""Compiled opponents of Number Clash that know its solution, from the values of its table."""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import NamedTuple

from duels.algorithms import solve, tables
from duels.algorithms.backward_induction import enumerate_states
from duels.core.game import Decide
from duels.games.number_clash import solver as number_clash
from duels.games.number_clash.kernel import GREEDY, LEFT, SCORE, Rules, options
from duels.games.number_clash.rules import NumberClash
from duels.kernels import Array, CompiledPolicy, Scalar, bits, compiled, np
from duels.kernels.policies import share_of
from duels.kernels.simultaneous import chooser_tables, simultaneous_policy

LARGEST = 10_000_000  # combinations of numbers and scores: 80 MB


class LayerValues(NamedTuple):
    """The table's values as full arrays: unreachable states and both halves included."""

    rank: Array  # of a set among those of its size
    starts: Array  # of the square of a layer, by how many numbers are left
    wide: Array  # of such a square
    values: Array


@compiled
def value(rules: Rules, table: LayerValues, one: int, two: int, a: int, b: int) -> Scalar:
    """Player 1's expected score with these numbers left and these scores."""
    if max(a, b) >= rules.points or one == 0:
        return 0.5 if a == b else 1.0 if a > b else 0.0
    size = bits.count(one)
    mine, theirs = table.rank[one] * rules.points + a, table.rank[two] * rules.points + b
    return table.values[table.starts[size] + mine * table.wide[size] + theirs]


@compiled
def payoff(
    rules: Rules, table: LayerValues, state: Array, i: int, mine: int, theirs: int
) -> Scalar:
    gap = mine - theirs
    a = state[i, SCORE] + (int(gap > 1) | int(gap == -1))
    b = state[i, SCORE + 1] + (int(gap < -1) | int(gap == 1))
    one, two = state[i, LEFT] ^ (1 << mine), state[i, LEFT + 1] ^ (1 << theirs)
    return value(rules, table, one, two, a, b)


@compiled
def key(rules: Rules, state: Array, i: int) -> Scalar:
    numbers = np.int64(state[i, LEFT]) << 20 | np.int64(state[i, LEFT + 1])
    return (numbers << 5 | np.int64(state[i, SCORE])) << 5 | np.int64(state[i, SCORE + 1])


MIXED = simultaneous_policy(options, payoff, key)


@lru_cache(maxsize=4)
def table(game: NumberClash) -> LayerValues:
    sizes = range(game.numbers + 1)
    wide = np.array([comb(game.numbers, size) * game.points for size in sizes])
    starts = np.concatenate([[0], np.cumsum(wide**2)[:-1]])
    ranks, values = bits.ranks(game.numbers), np.full(combinations(game), np.nan)
    layers = [
        values[begin : begin + width**2].reshape(width, width)
        for begin, width in zip(starts.tolist(), wide.tolist(), strict=True)
    ]
    if (found := tables.find_table(game, number_clash.KIND)) is not None:
        fill(layers, found.payload)
    else:
        known = solve(game)
        for state in enumerate_states(game)[0]:  # a small variant, solved from its rules
            if isinstance(game.turn(state), Decide):
                mine, theirs = (
                    int(ranks[bits.word_of(numbers)]) * game.points + score
                    for numbers, score in zip(state.numbers, state.scores, strict=True)
                )
                layers[len(state.numbers[0])][mine, theirs] = known.value(state)
    return LayerValues(ranks, starts, wide, values)


def fill(layers: list[Array], payload: memoryview) -> None:
    """Fill whole layers from the lower halves that `duels.games.number_clash.solver` stores."""
    size = sum(len(layer) * (len(layer) - 1) // 2 for layer in layers[1:])
    blocks = -(-size // number_clash.BLOCK)
    at = blocks * number_clash.BLOCK // 8
    marks = np.frombuffer(payload, np.uint8, at)
    there = np.unpackbits(marks, bitorder="little", count=size).astype(np.bool_)
    lower = np.full(size, np.nan)
    lower[there] = np.frombuffer(payload, "<f8", int(there.sum()), at + (4 * blocks + 7) // 8 * 8)
    begin = 0
    for layer in layers[1:]:
        rows, columns = np.tril_indices(len(layer), -1)
        found = lower[begin : begin + len(rows)]
        layer[rows, columns], layer[columns, rows] = found, 1.0 - found
        np.fill_diagonal(layer, 0.5)
        begin += len(rows)


def combinations(game: NumberClash) -> int:
    """The number of combinations of numbers left and scores."""
    return comb(2 * game.numbers, game.numbers) * game.points**2


def chooser(game: NumberClash, opponent: str) -> CompiledPolicy | None:
    if opponent == "greedy":
        return GREEDY
    if combinations(game) > LARGEST:
        return None
    share = share_of(opponent)
    return MIXED._replace(
        tables=chooser_tables(table(game), share, game.numbers, combinations(game))
    )
