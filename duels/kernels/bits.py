"""Sets of small numbers as bits of one word, for games in which each number is used once."""

from __future__ import annotations

from duels.kernels import Array, Scalar, compiled, np
from duels.kernels.random_streams import PICKS, below

HALF = 10  # bits; a word has two halves at most

# By half word: the number of set bits, the index of the k-th of them, and all bits as an array. The
# lookup avoids a loop whose length the processor cannot predict.
if np is not None:
    _HALVES = [[bit for bit in range(HALF) if word >> bit & 1] for word in range(1 << HALF)]
    _SIZE = np.array([len(places) for places in _HALVES], np.uint8)
    _NTH = np.array([places + [0] * (HALF - len(places)) for places in _HALVES], np.uint8)
    _BITS = np.array([[bit in places for bit in range(HALF)] for places in _HALVES], np.int16)
    _MARKS = _BITS.astype(np.uint8)


@compiled
def choose(word: int, streams: Array, i: int) -> Scalar:
    """The index of a random set bit."""
    return nth(word, below(streams, i, PICKS, count(word)))


@compiled
def nth(word: int, k: int) -> Scalar:
    """The index of the k-th set bit, counted from 0 at the lowest."""
    low = word & ((1 << HALF) - 1)
    few = int(_SIZE[low])
    return int(_NTH[low, k]) if k < few else HALF + int(_NTH[word >> HALF, k - few])


@compiled
def spread(word: int, n: int, out: Array, i: int, s: int, at: int) -> None:
    """Write the lowest n bits as n numbers to the row `out[i, s]`, from index `at` on."""
    row = out[i, s, at : at + n]  # a separate slice, so that the loop is vectorised
    if n == HALF:  # the usual number: a loop of constant length is one copy
        half = word & ((1 << HALF) - 1)
        for bit in range(HALF):
            row[bit] = _BITS[half, bit]
    else:
        for bit in range(n):
            row[bit] = (word >> bit) & 1


@compiled
def mark(word: int, n: int, out: Array, i: int, s: int) -> None:
    """Write the lowest n bits to a mask."""
    row = out[i, s]
    if n == HALF:
        half = word & ((1 << HALF) - 1)
        for bit in range(HALF):
            row[bit] = _MARKS[half, bit]
    else:
        for bit in range(n):
            row[bit] = (word >> bit) & 1


@compiled
def mark_packed(word: int, out: Array, i: int, s: int) -> None:
    """Write the bits to a packed mask."""
    for byte in range(out.shape[2]):
        out[i, s, byte] = (word >> (8 * byte)) & 255


@compiled
def count(word: int) -> Scalar:
    """The number of set bits, without a loop."""
    return int(_SIZE[word & ((1 << HALF) - 1)]) + int(_SIZE[word >> HALF])


@compiled
def top(word: int) -> Scalar:
    """The index of the highest set bit; 0 if none is set."""
    place = 0
    while word > 1:
        word >>= 1
        place += 1
    return place


@compiled
def sum_below(word: int, place: int) -> Scalar:
    """The sum of the distances of all set bits below an index to it."""
    total = 0
    for bit in range(place):
        total += ((word >> bit) & 1) * (place - bit)
    return total


@compiled
def sum_above(word: int, place: int) -> Scalar:
    """The sum of the distances of all set bits above an index to it."""
    total, far = 0, 0
    word >>= place
    while word != 0:
        total += (word & 1) * far
        word >>= 1
        far += 1
    return total


def word_of(numbers: tuple[int, ...]) -> int:
    """The word of a set of numbers: bit n - 1 is set for the number n.

    >>> word_of((1, 3)), numbers_of(5)
    (5, (1, 3))
    """
    return sum(1 << number - 1 for number in numbers)


def numbers_of(word: int) -> tuple[int, ...]:
    """The numbers of a set, in ascending order."""
    return tuple(place + 1 for place in range(word.bit_length()) if word >> place & 1)


def ranks(n: int) -> Array:
    """The rank of each word of n bits among the words with as many bits set, in ascending order.

    >>> ranks(3).tolist() if np is not None else [0, 0, 1, 0, 2, 1, 2, 0]
    [0, 0, 1, 0, 2, 1, 2, 0]
    """
    found, seen = np.zeros(1 << n, np.int64), [0] * (n + 1)
    for word in range(1 << n):
        found[word] = seen[word.bit_count()]
        seen[word.bit_count()] += 1
    return found
