"""A score with its interval, from pairs of games.

The two games of a pair share their chance and swap seats, so they are not independent: the pair is
the unit. Its score is the mean of one player's two scores, and the interval comes from how far pair
scores differ from each other.

The interval is that of Agresti and Coull, carried over from wins to pair scores: two won and two
lost pairs are added before mean and variance are taken, and Student's t allows for few pairs. Plain
intervals have no width when all pairs ended alike, as they do in games without chance, though the
next pair may differ; this one is then about as wide as the rule of three says.

>>> [round(number, 3) for number in estimate([1, 1, 0.5, 1])]  # mean, low, high, pairs, superior
[0.875, 0.331, 1.0, 4, 0.892]
>>> [round(number, 3) for number in estimate([0.5] * 1000)]
[0.5, 0.498, 0.502, 1000, 0.5]
"""

from __future__ import annotations

from collections.abc import Iterable
from math import erfc, sqrt
from typing import NamedTuple

CONFIDENCE = 1.959964  # standard errors in half of a 95 % interval
ADDED = 2  # won pairs, and as many lost ones


class Moments(NamedTuple):
    """How many numbers there were, their sum and the sum of their squares."""

    size: float = 0
    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, scores: Iterable[float]) -> Moments:
        count, total, squares = 0, 0.0, 0.0
        for score in scores:
            count += 1
            total += score
            squares += score * score
        return cls(count, total, squares)

    @classmethod
    def made(cls, size: float, mean: float, error: float) -> Moments:
        """Those with a mean and a standard error of it."""
        return cls(size, size * mean, size * (size * error**2 + mean**2))

    def resized(self, size: float) -> Moments:
        """As if so many numbers had the same mean and the same error."""
        return Moments.made(size, self.mean, self.error)

    def plus(self, other: Moments) -> Moments:
        return Moments(
            self.size + other.size, self.total + other.total, self.squares + other.squares
        )

    def turned(self) -> Moments:
        """Of the other player's scores."""
        return Moments(self.size, self.size - self.total, self.size - 2 * self.total + self.squares)

    @property
    def mean(self) -> float:
        return self.total / self.size

    @property
    def variance(self) -> float:
        """Of the numbers themselves."""
        return max(0.0, self.squares / self.size - self.mean**2)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return sqrt(self.variance / self.size)


PSEUDO = Moments(2 * ADDED, ADDED, ADDED)


class Score(NamedTuple):
    """A mean pair score with a 95 % interval; `superior` is how likely it is above one half."""

    mean: float
    low: float
    high: float
    pairs: int
    superior: float


def estimate(scores: Iterable[float]) -> Score | None:
    """The mean of pair scores, None if there are none."""
    return estimated(Moments.of(scores))


def estimated(found: Moments) -> Score | None:
    """As `estimate`, from the sums alone."""
    if not found.size:
        return None
    added = found.plus(PSEUDO)
    half = student(added.size - 1) * added.error
    low, high = max(0.0, added.mean - half), min(1.0, added.mean + half)
    # Scores that luck was taken out of may lie a little outside of 0 to 1.
    low, high = min(low, found.mean), max(high, found.mean)
    superior = normal((added.mean - 0.5) / added.error)
    return Score(found.mean, low, high, int(found.size), superior)


def student(freedom: float, z: float = CONFIDENCE) -> float:
    """What `z` standard errors become when few numbers are behind the error itself.

    The first terms of the expansion of Student's t (Cornish and Fisher).

    >>> [round(student(freedom), 2) for freedom in (4, 10, 30)]  # exactly 2.78, 2.23 and 2.04
    [2.73, 2.23, 2.04]
    """
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2


def normal(x: float) -> float:
    """The normal distribution function."""
    return 0.5 * erfc(-x / sqrt(2))
