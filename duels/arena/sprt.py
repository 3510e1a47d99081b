"""The generalised sequential probability ratio test (GSPRT) on pair scores.

Is a player stronger by `elo1` or only by `elo0`? A pair score has one of five values (0, 1/4, 1/2,
3/4, 1) with unknown frequencies. The test compares the largest likelihoods that any five
probabilities with the mean of either hypothesis give (chess engines are tested by this
"pentanomial" test). Counting pairs instead of games keeps it valid although the games of a pair are
correlated. Wald's bounds end it, with at most about 5 % wrong verdicts of either kind.

>>> test = Sprt(0, 100)
>>> [test.add(score) for score in [1, 0.5, 1, 0.75, 1, 1]][-1], round(test.llr, 2)
('continue', 1.48)
>>> [test.add(1) for _ in range(7)][-2:], test.pairs  # further scores are not counted
(['H1', 'H1'], 12)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple

from duels.core.errors import DuelsError, OptionError, quote

ERROR = 0.05  # rate of type I and of type II errors
CONTINUE, H0, H1 = "continue", "H0", "H1"
KINDS = (0.0, 0.25, 0.5, 0.75, 1.0)  # possible pair scores
UNSEEN = 1e-3  # pseudo-count of scores that have not occurred, so that they stay possible
STEPS = 60  # at most, of Newton's method with bisection


class Verdict(NamedTuple):
    """The state of a test: H1 accepts `elo1`, H0 accepts `elo0`."""

    state: str
    llr: float
    low: float
    high: float
    pairs: int


class Sprt:
    """A test that is updated pair by pair and keeps its verdict."""

    def __init__(self, elo0: float, elo1: float, error: float = ERROR) -> None:
        if not elo0 < elo1:
            raise DuelsError(f"the first Elo bound must be below the second; got {elo0:g},{elo1:g}")
        self.elo0, self.elo1 = elo0, elo1
        self.high = log((1 - error) / error)
        self.low = -self.high
        self.counts = [0] * len(KINDS)
        self.llr, self.state = 0.0, CONTINUE

    @property
    def pairs(self) -> int:
        """Pairs up to the verdict, or so far."""
        return sum(self.counts)

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.state, self.llr, self.low, self.high, self.pairs)

    def add(self, score: float) -> str:
        """Add a pair score and return the state; scores after the verdict are ignored."""
        if self.state != CONTINUE:
            return self.state
        kind = 4 * score
        if kind not in (0, 1, 2, 3, 4):
            raise DuelsError(f"a pair score is 0, 0.25, 0.5, 0.75 or 1; got {quote(score)}")
        self.counts[int(kind)] += 1
        self.llr = ratio(self.counts, expected(self.elo0), expected(self.elo1))
        if self.llr >= self.high:
            self.state = H1
        elif self.llr <= self.low:
            self.state = H0
        return self.state


def sprt(scores: Iterable[float], elo0: float, elo1: float, error: float = ERROR) -> Verdict:
    """The verdict on pair scores in the order they were played."""
    test = Sprt(elo0, elo1, error)
    for score in scores:
        if test.add(score) != CONTINUE:
            break
    return test.verdict


def decide(scores: Iterable[float], elo0: float, elo1: float) -> int | None:
    """The number of pairs after which the test is decided; None if it is not."""
    verdict = sprt(scores, elo0, elo1)
    return None if verdict.state == CONTINUE else verdict.pairs


def bounds(text: str) -> tuple[float, float]:
    """The bounds given as `--sprt ELO0,ELO1`.

    >>> bounds("0,10")
    (0.0, 10.0)
    """
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise OptionError(f"--sprt takes two Elo bounds, as in 0,10; got {quote(text)}") from None
    if not -2000 <= low < high <= 2000:
        raise OptionError(
            f"--sprt takes two Elo bounds, the lower first, both within 2000; got {quote(text)}"
        )
    return low, high


def expected(elo: float) -> float:
    """The expected score for a difference in Elo.

    >>> expected(0), round(expected(200), 3)
    (0.5, 0.76)
    """
    return 1 / (1 + 10 ** (-elo / 400))


def ratio(counts: Sequence[float], mean0: float, mean1: float) -> float:
    """The generalised log likelihood ratio: each likelihood is maximised given its mean."""
    parts = [count or UNSEEN for count in counts]
    tilt0, tilt1 = _tilt(parts, mean0), _tilt(parts, mean1)
    return sum(
        part * log((1 + tilt0 * (kind - mean0)) / (1 + tilt1 * (kind - mean1)))
        for part, kind in zip(parts, KINDS, strict=True)
    )


def _tilt(parts: Sequence[float], mean: float) -> float:
    """The t for which the probabilities `part / (1 + t * (kind - mean))` have that mean.

    They are the maximum likelihood probabilities with that mean. The equation is decreasing in t
    between the two values at which a probability would be infinite.
    """
    gaps = [kind - mean for kind in KINDS]
    low, high = -1 / gaps[-1], -1 / gaps[0]
    t = 0.0
    for _ in range(STEPS):
        value = slope = 0.0
        for part, gap in zip(parts, gaps, strict=True):
            share = gap / (1 + t * gap)
            value += part * share
            slope += part * share * share
        if value > 0:
            low = t
        else:
            high = t
        after = t + value / slope
        if not low < after < high:
            after = (low + high) / 2
        if abs(after - t) <= 1e-13 * (1 + abs(t)):
            break
        t = after
    return t
