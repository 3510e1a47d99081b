"""Random numbers: SplitMix64 as a function of a key and a counter, one stream for each game.

The n-th number of a stream is `splitmix64(key + n * GOLDEN)`, and the key is a function of the seed
and the game's place in the batch. So a game does not depend on the size of the batch, and its dice
can be computed without this package.

Bounded numbers use 32 bits and Lemire's rejection method, so that they are exactly uniform.
"""

from __future__ import annotations

import hashlib

from duels.kernels import Array, Scalar, cached, compiled, np

GOLDEN = 0x9E3779B97F4A7C15
SPACING = 0xD1342543DE82EF95  # another odd constant, to spread the games of one seed
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # multipliers of the finaliser
WORD = (1 << 64) - 1
LOW = (1 << 32) - 1

# In compiled code an operation on a signed and an unsigned integer would convert both to floats.
if np is not None:
    _GOLDEN, _LOW, _TOP = np.uint64(GOLDEN), np.uint64(LOW), np.uint64(1 << 32)
    _SPACING = np.uint64(SPACING)
    _FIRST, _SECOND = np.uint64(FIRST), np.uint64(SECOND)
    _30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)

CHANCE, PICKS = 0, 1  # the streams of a game: chance events, and choices of random players


def splitmix64(word: int) -> int:
    """The finaliser of SplitMix64, on plain Python numbers.

    >>> hex(splitmix64(GOLDEN))               # the first number of the published test with seed 0
    '0xe220a8397b1dcdaf'
    """
    word = (word ^ (word >> 30)) * FIRST & WORD
    word = (word ^ (word >> 27)) * SECOND & WORD
    return word ^ (word >> 31)


def seed_word(seed: int) -> int:
    """A seed of any size, hashed to one word."""
    return int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:8], "big")


def keys(seed: int, size: int, streams: int = 2, first: int = 0) -> Array:
    """The keys of the streams of a batch, one row for each game from number `first` on.

    That of game `i` and stream `s` is `splitmix64(head(seed) + (streams * i + s) * SPACING)`.
    """
    words = np.empty((size, streams), np.uint64)
    _fill_keys(np.uint64(seed_word(seed)), first, words)
    return words


@compiled
def finalize(word: int) -> Scalar:
    """The finaliser of SplitMix64, on an unsigned word in compiled code."""
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return word ^ (word >> _31)


@cached
def _fill_keys(begin: int, first: int, words: Array) -> None:
    for i in range(words.shape[0]):
        for s in range(words.shape[1]):
            words[i, s] = finalize(begin + np.uint64(words.shape[1] * (first + i) + s) * _SPACING)


@cached
def fill_uniform(streams: Array, rows: Array, out: Array) -> None:
    """Fill `out` with a number in [0, 1) for each of these games, from its stream of picks."""
    for k in range(rows.shape[0]):
        out[k] = below(streams, rows[k], PICKS, 1 << 31) / (1 << 31)


@compiled
def below(streams: Array, i: int, stream: int, bound: int) -> Scalar:
    """A whole number from 0 up to `bound`, which is at least 1 and less than 2**32."""
    wide = np.uint64(bound)
    word = streams[i, stream]
    while True:
        word += _GOLDEN
        product = (finalize(word) >> _32) * wide
        rest = product & _LOW
        # The second test decides; the first avoids its division in most cases.
        if rest >= wide or rest >= (_TOP - wide) % wide:
            streams[i, stream] = word
            return np.int64(product >> _32)
