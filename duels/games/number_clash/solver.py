"""Solution of Number Clash: the table of all reachable states, read by pure Python.

The game is symmetric, so v(A, B, a, b) = 1 - v(B, A, b, a), and half of the states are sufficient.
A player's side of a state (numbers left, score) is one index among those with as many numbers left.
States whose first index is the higher are stored; states with equal indices have the value 1/2.
Many combinations of numbers and scores are not reachable, so the payload is, in this order:

- one bit per combination, set if it is reachable, in blocks of 512 bits;
- for each block, how many bits are set before it (4 bytes), zeros up to a multiple of eight;
- the values, Player 1's expected score, 8-byte floats, little-endian.

>>> from duels.games import load
>>> game = load("number-clash")
>>> round(stored_values(game).value(game.play(game.start(), "7", "8")), 6)
0.877595
"""

from __future__ import annotations

import struct
from functools import cached_property
from math import comb
from typing import Any

from duels.algorithms import tables
from duels.algorithms.solution import Progress
from duels.algorithms.subsets import subset_rank
from duels.algorithms.table_solution import Reader, TableSolution
from duels.algorithms.tables import Solved, TableError
from duels.core.game import AnyGame
from duels.games.number_clash.rules import NumberClash, State

KIND = "number-clash values 1"
BLOCK = 512  # bits
LARGEST = 100_000_000  # combinations: half a minute and just under a gigabyte of memory


class NumberClashTable:
    """The values of one variant, from the payload of its table."""

    def __init__(self, game: AnyGame, payload: memoryview | bytes) -> None:
        assert isinstance(game, NumberClash)
        self._points = game.points
        self._payload = memoryview(payload)
        self._starts, combinations = layer_starts(game.numbers, game.points)
        blocks = -(-combinations // BLOCK)
        self._ranks_at = blocks * BLOCK // 8
        self._values_at = self._ranks_at + (4 * blocks + 7) // 8 * 8

    def value(self, state: State) -> float:
        """Player 1's expected score in a state in which both players choose."""
        mine, theirs = (
            subset_rank(state.numbers[player]) * self._points + state.scores[player]
            for player in (0, 1)
        )
        if mine == theirs:
            return 0.5
        value = self._stored(len(state.numbers[0]), max(mine, theirs), min(mine, theirs))
        return value if mine > theirs else 1.0 - value

    @cached_property
    def _arrays(self) -> tuple[Any, Any, Any]:
        """Arrays: which combinations are reachable, their cumulative count, and the values."""
        from duels.algorithms.compiled import np

        packed = np.frombuffer(self._payload[: self._ranks_at], np.uint8)
        reachable = np.unpackbits(packed, bitorder="little").astype(np.bool_)
        values = np.frombuffer(self._payload[self._values_at :], "<f8")
        return reachable, np.cumsum(reachable, dtype=np.int64), values

    def values(self, one: Any, two: Any, a: Any, b: Any) -> Any:
        """As `value`, for arrays of positions: sets of numbers as bits, and scores. Needs numpy."""
        from duels.algorithms.compiled import np
        from duels.algorithms.subsets import ranks

        rank, size = ranks(int(max(one.max(initial=0), two.max(initial=0))).bit_length())
        mine, theirs = rank[one] * self._points + a, rank[two] * self._points + b
        high, low = np.maximum(mine, theirs), np.minimum(mine, theirs)
        at = np.array(self._starts)[size[one]] + high * (high - 1) // 2 + low
        at[mine == theirs] = 0  # their value is 1/2, and they are not stored
        reachable, before, stored = self._arrays
        if not reachable[at[mine != theirs]].all():
            raise TableError("one of these positions is not reachable in Number Clash")
        value = stored[np.maximum(0, before[at] - 1)]
        return np.where(mine == theirs, 0.5, np.where(mine > theirs, value, 1.0 - value))

    def _stored(self, size: int, high: int, low: int) -> float:
        at = self._starts[size] + high * (high - 1) // 2 + low
        block, bit = divmod(at, BLOCK)
        start = block * BLOCK // 8
        bits = int.from_bytes(self._payload[start : start + BLOCK // 8], "little")
        if not bits >> bit & 1:
            raise TableError("this position is not reachable in Number Clash")
        (before,) = struct.unpack_from("<I", self._payload, self._ranks_at + 4 * block)
        rank = before + (bits & (1 << bit) - 1).bit_count()
        (value,) = struct.unpack_from("<d", self._payload, self._values_at + 8 * rank)
        return float(value)


def layer_starts(numbers: int, points: int) -> tuple[list[int], int]:
    """The index of the first bit for each count of numbers left, and the number of bits."""
    starts = [0, 0]
    for size in range(1, numbers + 1):
        wide = comb(numbers, size) * points
        starts.append(starts[-1] + wide * (wide - 1) // 2)
    return starts[:-1], starts[-1]


def stored_values(game: AnyGame) -> NumberClashTable | None:
    """The game's table, shipped or computed by the user; None if there is none."""
    table = tables.find_table(game, KIND)
    return None if table is None else NumberClashTable(game, table.payload)


def check_size(game: AnyGame) -> None:
    """Raise `Unsolved` if the variant is too large."""
    assert isinstance(game, NumberClash)
    combinations = comb(2 * game.numbers, game.numbers) * game.points**2
    if combinations > LARGEST:
        raise TableError(
            f"numbers={game.numbers} with points={game.points} has {combinations:,} combinations "
            f"of numbers and scores; at most {LARGEST:,} can be solved here: numbers up to 11, "
            f"numbers=12 with points up to 6, numbers=13 with points up to 3"
        )


def solve(game: AnyGame, progress: Progress | None = None) -> Solved:
    """Solve a variant in compiled code: the payload of its table, and the accuracy."""
    check_size(game)
    assert isinstance(game, NumberClash)
    from duels.algorithms.compiled import need_numba, np
    from duels.games.number_clash.compiled_solver import lower_half, solve_layers

    need_numba()
    layers = solve_layers(game.numbers, game.points, progress)
    bits = np.concatenate(
        [lower_half(layer)[np.tri(len(layer), k=-1, dtype=bool)] for layer in layers.reachable]
    )
    bits = np.concatenate([bits, np.zeros(-len(bits) % BLOCK, bool)])
    counts = bits.reshape(-1, BLOCK).sum(axis=1)
    ranks = np.concatenate([np.zeros(1), np.cumsum(counts)[:-1]])[: len(counts)].astype("<u4")
    ranks_bytes: bytes = ranks.tobytes()
    payload = (
        np.packbits(bits, bitorder="little").tobytes()
        + ranks_bytes
        + bytes(-len(ranks_bytes) % 8)
        + np.concatenate(layers.values).astype("<f8").tobytes()
    )
    return Solved(payload, layers.states, layers.gap)


class NumberClashSolution(TableSolution):
    game: NumberClash

    def needs(self) -> tuple[AnyGame, str]:
        return self.game, KIND

    def states(self) -> int:
        return comb(2 * self.game.numbers, self.game.numbers) * self.game.points**2

    def read(self, payload: memoryview) -> Reader:
        return NumberClashTable(self.game, payload)

    def solve(self, progress: Progress | None) -> Solved:
        return solve(self.game, progress)
