"""The Cipher Siege strategy as a table: a reader for a bare Python, and the writer.

Information states have 64-bit keys. They are stored sorted, in zlib blocks of 128, so that looking
up a choice decompresses one block. The payload is, in this order:

- the number of states and the number of blocks: 4 bytes each;
- for each block its first key (8 bytes) and its offset (4 bytes);
- the blocks. A block contains columns: key differences (variable length), the number of moves, the
  number of moves that are played, (move, weight) pairs of those played, and one byte for the value
  of each move (0 to 250: the expected score times 250; 255: not known).
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from math import ceil, floor
from typing import Any, NamedTuple

KIND = "cipher-siege strategy 1"
# Facts of a table: lower and upper bound on the exploitability, both seats together (`certify.py`).
# Older tables have an estimate called "bound" instead.
EXPLOITABLE, CERTIFIED = "exploitable by at least", "exploitable by at most"
BEST = "best response"  # lower and upper bound on its score, by turn order
# Lower bounds on the score of a separately implemented responder, by turn order, if it was run.
SEPARATE = "separate responder"
BLOCK = 128
CACHED = 1024  # blocks, of some 20 kB each
UNKNOWN = 255
SCALE = 250


def outward(low: float, high: float) -> tuple[float, float]:
    """Two bounds with four decimals: the lower rounded down, the upper rounded up.

    >>> outward(0.28397, 0.29331), outward(0.7194, 0.7263)
    ((0.2839, 0.2934), (0.7194, 0.7263))
    """
    rounding = 1e-6  # of the floats, in units of the last decimal
    return floor(low * 1e4 + rounding) / 1e4, ceil(high * 1e4 - rounding) / 1e4


def bounds_of(facts: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    """Bounds on the exploitability of a table's strategy, both seats together.

    The lower bound by the responder of this package, the best lower bound of all responders that
    were run, and the upper bound; None if it was not measured.

    >>> bounds_of({EXPLOITABLE: 0.001, SEPARATE: [0.7, 0.302]}), bounds_of({})
    ((0.001, 0.002, None), (None, None, None))
    """
    own, most = facts.get(EXPLOITABLE), facts.get(CERTIFIED)
    found = [] if own is None else [own]
    if SEPARATE in facts:
        found.append(outward(sum(facts[SEPARATE]) - 1, 1.0)[0])
    return own, max(found, default=None), most


class Stored(NamedTuple):
    """One information state; moves are indices into the list of all moves of the hand."""

    key: int
    moves: int
    weights: list[tuple[int, int]]  # (move, weight)
    values: bytes


class StateBlock:
    """The states of one block by key, decoded on access."""

    def __init__(self, first: int, count: int, packed: memoryview | bytes) -> None:
        self._data = data = zlib.decompress(packed)
        self._numbers: dict[int, int] = {}
        key, shift, difference = first, 0, 0
        read = 0
        for read, byte in enumerate(data, 1):  # noqa: B007
            if byte & 128:
                difference |= (byte & 127) << shift
                shift += 7
                continue
            key += difference | byte << shift
            shift = difference = 0
            self._numbers[key] = len(self._numbers)
            if len(self._numbers) == count:
                break
        pairs = read + 2 * count
        self._moves = data[pairs - 2 * count : pairs - count]
        self._played = data[pairs - count : pairs]
        self._pairs = list(accumulate((2 * n for n in self._played), initial=pairs))
        self._values = list(accumulate(self._moves, initial=self._pairs[-1]))

    def __iter__(self) -> Iterator[Stored]:
        return (self._stored(key, number) for key, number in self._numbers.items())

    def get(self, key: int) -> Stored | None:
        number = self._numbers.get(key)
        return None if number is None else self._stored(key, number)

    def _stored(self, key: int, number: int) -> Stored:
        data, values = self._data, self._values
        pairs = data[self._pairs[number] : self._pairs[number + 1]]
        weights = list(zip(pairs[0::2], pairs[1::2], strict=True))
        worth = data[values[number] : values[number + 1]]
        return Stored(key, self._moves[number], weights, worth)


class Strategy:
    """The payload of a strategy table; blocks are decompressed on access."""

    def __init__(self, payload: memoryview | bytes) -> None:
        view = memoryview(payload)
        self.states, blocks = struct.unpack_from("<II", view)
        flat: tuple[int, ...] = struct.unpack_from("<" + "QI" * blocks, view, 8)
        self._first, self._offset = flat[0::2], flat[1::2]
        self._blocks = view[8 + 12 * blocks :]
        self._block = lru_cache(maxsize=CACHED)(self._unpack)

    def lookup(self, key: int) -> Stored | None:
        at = bisect_right(self._first, key) - 1
        return self._block(at).get(key) if at >= 0 else None

    def __iter__(self) -> Iterator[Stored]:
        """Every stored state, in key order."""
        for at in range(len(self._first)):
            yield from self._unpack(at)

    def _unpack(self, at: int) -> StateBlock:
        end = self._offset[at + 1] if at + 1 < len(self._offset) else len(self._blocks)
        count = min(BLOCK, self.states - at * BLOCK)
        return StateBlock(self._first[at], count, self._blocks[self._offset[at] : end])


def pack(states: Sequence[Stored]) -> bytes:
    """One compressed block of states sorted by key."""
    keys, moves, played, weights, values = (bytearray() for _ in range(5))
    last = states[0].key
    for state in states:
        difference = state.key - last
        last = state.key
        while difference >= 128:
            keys.append(difference & 127 | 128)
            difference >>= 7
        keys.append(difference)
        moves.append(state.moves)
        played.append(len(state.weights))
        for move, weight in state.weights:
            weights += bytes((move, weight))
        values += state.values
    return zlib.compress(bytes(keys + moves + played + weights + values), 9)


def payload_of(states: Iterable[Stored]) -> bytes:
    """The payload of a strategy; the same states give the same bytes.

    >>> one = Stored(7, 2, [(0, 200), (1, 55)], bytes([250, 255]))
    >>> Strategy(payload_of([one])).lookup(7) == one
    True
    """
    ordered = sorted(states)
    index, blocks = bytearray(), bytearray()
    for start in range(0, len(ordered), BLOCK):
        index += struct.pack("<QI", ordered[start].key, len(blocks))
        blocks += pack(ordered[start : start + BLOCK])
    head = struct.pack("<II", len(ordered), -(-len(ordered) // BLOCK))
    return head + bytes(index) + bytes(blocks)
