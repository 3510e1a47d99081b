"""Mean pair scores with 95 % intervals.

The two games of a pair share their chance and swap seats, so they are not independent: the pair is
the unit. Its score is the mean of one player's two scores.

The interval is a Bayesian bootstrap (Rubin, 1981) with one pseudo-pair, divided between both ends
of the scale; its tails are computed by the saddlepoint approximation of Lugannani and Rice (1980).
With all of the pseudo-pair at the end beyond a limit (at 0 for the lower limit), and only won and
lost pairs, the interval is that of Clopper and Pearson; with half of it at either end it is that of
Jeffreys. The share goes from the first to the second as more pairs differ from the most common
score. So an interval has a width even if all pairs ended alike, and it need not be symmetric.

Luck-adjusted scores are not bounded by 0 and 1; the ends of their scale are the furthest scores
that occurred, or where a kind of pair that did not occur may be (`Sample.adjusted`). Their limits
are quantiles of Student's distribution, as is usual where a variance is estimated.

>>> [round(number, 3) for number in estimate([1, 1, 0.5, 1])]  # mean, low, high, pairs, superior
[0.875, 0.342, 0.996, 4, 0.916]
>>> [round(number, 3) for number in estimate([1] * 10)]
[1.0, 0.69, 1.0, 10, 0.999]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import erfc, log, sqrt
from typing import NamedTuple

CONFIDENCE = 1.959964  # standard errors in half of a 95 % interval
SMOOTH = 10  # pairs that differ from the most common score at which the share of the end is 3/4
FEW = 8  # the variance of fewer pairs is not meaningful
# How far off an unobserved kind of pair may always be when adjusted, as a part of how far it is if
# raw. That is sufficient for 50 pairs of which one in twenty is 0.05 off and all others are nearly
# alike: 8 % of such samples have none of the former.
UNSEEN = 0.1
GROUPS = 64  # distinct deviations that are kept; close ones are merged
CLOSE = 1e-8  # relative tolerance of the bisection
ROUNDING = 1e-12  # deviations up to this are rounding errors
SLIGHT = 1e-4  # below this the correction of the saddlepoint approximation is 0 / 0
NOTHING = 1e-15  # variances up to this are rounding errors


class Moments(NamedTuple):
    """The count, the sum and the sum of squares of some numbers."""

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
    def from_mean(cls, size: float, mean: float, error: float) -> Moments:
        """The moments of `size` numbers whose mean has this value and this standard error."""
        return cls(size, size * mean, size * (size * error**2 + mean**2))

    def plus(self, other: Moments) -> Moments:
        return Moments(
            self.size + other.size, self.total + other.total, self.squares + other.squares
        )

    def times(self, factor: float) -> Moments:
        """The moments if each number occurred `factor` times."""
        return Moments(self.size * factor, self.total * factor, self.squares * factor)

    def for_opponent(self) -> Moments:
        """The moments of the other player's scores."""
        return Moments(self.size, self.size - self.total, self.size - 2 * self.total + self.squares)

    @property
    def mean(self) -> float:
        return self.total / self.size

    @property
    def variance(self) -> float:
        """The variance of the numbers."""
        return max(0.0, self.squares / self.size - self.mean**2)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return sqrt(self.variance / self.size)


class Score(NamedTuple):
    """A mean pair score with a 95 % interval; `superior` is the probability that it exceeds 1/2.

    An adjusted score and its limits may be outside of 0 to 1.
    """

    mean: float
    low: float
    high: float
    pairs: int
    superior: float

    @property
    def error(self) -> float:
        """The standard error that a symmetric interval of this width has."""
        return (self.high - self.low) / (2 * CONFIDENCE)


Grouped = tuple[tuple[float, float], ...]  # deviations in ascending order, with numbers of pairs


class Sample(NamedTuple):
    """A mean over pairs, and the deviations of the pairs from it.

    The error of the mean is that of the mean of all deviations: a pair with a larger weight has a
    larger deviation.
    """

    pairs: int
    mean: float
    deviations: Grouped
    varied: float  # number of pairs whose score is not the most common one
    ends: tuple[float, float]  # deviations of a lost pair and of a won pair
    known: int = 0  # number of luck-adjusted pairs

    @classmethod
    def of(cls, scores: Sequence[float]) -> Sample:
        """The sample of the raw pair scores of one meeting."""
        mean = sum(scores) / len(scores)
        found = grouped((score - mean, 1.0) for score in scores)
        varied = len(scores) - max(count for _, count in found)
        return cls(len(scores), mean, found, varied, (-mean, 1 - mean))

    @classmethod
    def adjusted(cls, scores: Sequence[float], raw: Sequence[float]) -> Sample:
        """The sample of luck-adjusted pair scores; `raw` are the raw scores of the same pairs.

        The ends of the scale are the furthest scores that occurred, but no closer than an
        unobserved kind of pair may be. Where no raw score varied that is as far as a raw score: no
        pair has shown that it would be luck. After k that varied and were luck, the next one is not
        with probability 1 / (k + 2) (Laplace's rule of succession), with a standard deviation of
        about the same; the sum of both is how much of the raw distance is taken to be left.
        """
        found, before, pairs = cls.of(scores), cls.of(raw), len(scores)
        part = max(UNSEEN, 2 / (2 + before.varied))
        low, high = (part * end for end in before.ends)
        grow = sqrt(pairs / (pairs - 1))
        return found._replace(
            deviations=tuple((grow * gap, count) for gap, count in found.deviations),
            ends=(min(low, min(scores) - found.mean), max(high, max(scores) - found.mean)),
            known=pairs,
        )

    @property
    def variance(self) -> float:
        """The variance of the deviations."""
        return sum(count * gap * gap for gap, count in self.deviations) / self.pairs

    def for_opponent(self) -> Sample:
        """The sample of the other player's scores."""
        turned = tuple((-gap, count) for gap, count in reversed(self.deviations))
        low, high = self.ends
        return self._replace(mean=1 - self.mean, deviations=turned, ends=(-high, -low))

    def score(self) -> Score:
        """The mean with its 95 % interval."""
        low = self.mean + self._below()
        high = self.mean - self.for_opponent()._below()
        return Score(
            self.mean, low, high, self.known or self.pairs, _superior(self.mean, low, high)
        )

    def _below(self) -> float:
        """The lower limit minus the mean, which is 0 or less."""
        low, high = self.ends
        far = 0.5 + 0.5 / (1 + self.varied / SMOOTH)
        distance = student(self.known - 1) if self.known else CONFIDENCE
        return min(0.0, _limit([*self.deviations, (low, far), (high, 1 - far)], distance))


def estimate(scores: Iterable[float]) -> Score | None:
    """The mean of raw pair scores with its interval; None if there are none."""
    found = [*scores]
    return Sample.of(found).score() if found else None


def joined(parts: Sequence[tuple[float, Sample]]) -> Sample:
    """The weighted mean of several meetings; differences between their means are not noise.

    The variance of a meeting with fewer than `FEW` pairs is not meaningful, so its deviations are
    taken from the mean of all meetings.
    """
    if len(parts) == 1:
        return parts[0][1]
    whole, pairs = sum(weight for weight, _ in parts), sum(part.pairs for _, part in parts)
    mean = sum(weight * part.mean for weight, part in parts) / whole
    deviations: list[tuple[float, float]] = []
    varied = low = high = 0.0
    for weight, part in parts:
        factor = weight / whole * pairs / part.pairs  # weight of one pair, 1 on average
        shift = 0.0 if part.pairs >= FEW else part.mean - mean
        grow = sqrt(part.pairs / (part.pairs - 1)) if part.pairs >= FEW > part.known else 1.0
        deviations += [(factor * (grow * gap + shift), count) for gap, count in part.deviations]
        varied += min(1.0, factor) * part.varied
        low += weight / whole * factor * part.ends[0]
        high += weight / whole * factor * part.ends[1]
    known = sum(part.known for _, part in parts)
    return Sample(pairs, mean, grouped(deviations), varied, (low, high), known)


def combined(adjusted: Sample, rest: Sample, raw: Sample) -> Sample:
    """The mean of adjusted and unadjusted pairs, weighted by the inverse of their error variances.

    The unadjusted pairs, `rest`, may be few, so their variance is taken from the raw scores of all
    pairs, `raw`.
    """
    one = adjusted.score().error ** 2
    two = raw.score().error ** 2 * raw.pairs / rest.pairs
    share = two / (one + two) if one else 1.0
    return joined([(share, adjusted), (1 - share, rest)])


def grouped(deviations: Iterable[tuple[float, float]]) -> Grouped:
    """Deviations with their counts; those close to each other are merged into their mean."""
    found = sorted(deviations)
    low, high = found[0][0], found[-1][0]
    step = (high - low) / GROUPS or 1.0
    groups: dict[int, tuple[float, float]] = {}
    for gap, count in found:
        total, size = groups.get(place := int((gap - low) / step), (0.0, 0.0))
        groups[place] = total + count * gap, size + count
    return tuple((total / size, size) for total, size in groups.values())


def _limit(parts: Sequence[tuple[float, float]], below: float) -> float:
    """The lower limit of the mean of deviations, which are given with their counts.

    It is at the normal quantile `below` under the centre.
    """
    size = sum(count for _, count in parts)
    centre = sum(gap * count for gap, count in parts) / size
    gaps = [(gap - centre, count) for gap, count in parts if count]
    lowest = min(gap for gap, _ in gaps)
    if lowest > -ROUNDING:
        return centre
    # The likeliest weights with a mean below the centre are in proportion to count / (1 + t * gap).
    # The distance is nearly linear in t: secant method, and bisection where that leaves the bounds.
    low, high, last = 0.0, -1 / lowest, (0.0, 0.0)
    t = min(high / 2, below / sqrt(sum(count * gap * gap for gap, count in gaps)))
    while True:
        mean, distance = _tail(gaps, size, t)
        low, high = (low, t) if distance > below else (t, high)
        if abs(distance - below) < CLOSE or high - low <= CLOSE * high:
            return centre + mean
        rise, last = (distance - last[1]) / (t - last[0]), (t, distance)
        t += (below - distance) / rise if rise > 0 else high
        t = t if low < t < high else (low + high) / 2


def _tail(gaps: Sequence[tuple[float, float]], size: float, t: float) -> tuple[float, float]:
    """The mean for parameter t, and its distance below the centre, 0, as a normal quantile.

    The mean is that of gaps with Dirichlet weights, its tail by Lugannani and Rice.
    """
    logs = whole = total = none = one = two = 0.0
    for gap, count in gaps:
        part = 1 + t * gap
        share = count / part
        logs += count * log(part)
        whole += share
        total += share * gap
        share /= part
        none += share
        one += share * gap
        two += share * gap * gap
    mean = total / whole
    root = sqrt(max(0.0, 2 * (logs + size * log(whole / size))))
    other = t * sqrt(max(0.0, two - 2 * mean * one + mean * mean * none))
    return mean, root + log(other / root) / root if root > SLIGHT and other > 0 else root


def _superior(mean: float, low: float, high: float) -> float:
    """The probability that a mean exceeds 1/2, by the half of the interval that faces 1/2."""
    over = mean - 0.5
    side = mean - low if over > 0 else high - mean
    if side <= 0:
        return 0.5 if over == 0 else float(over > 0)
    return normal(CONFIDENCE * over / side)


def student(freedom: float, z: float = CONFIDENCE) -> float:
    """The quantile of Student's t distribution that corresponds to the normal quantile `z`.

    The first terms of the Cornish-Fisher expansion; `freedom` are the degrees of freedom.

    >>> [round(student(freedom), 2) for freedom in (4, 10, 30)]  # exactly 2.78, 2.23 and 2.04
    [2.73, 2.23, 2.04]
    """
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2


def normal(x: float) -> float:
    """The normal distribution function."""
    return 0.5 * erfc(-x / sqrt(2))
