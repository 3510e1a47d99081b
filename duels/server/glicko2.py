"""Glicko-2 ratings (Glickman 2013), one match at a time. Computer players are rated like humans.

>>> one, two = Strength(), Strength()
>>> won = after(one, two, 1.0)
>>> round(won.rating), round(after(two, one, 0.0).rating), won.deviation < one.deviation
(1662, 1338, True)
"""

from __future__ import annotations

from math import exp, log, pi, sqrt
from typing import NamedTuple

SCALE = 173.7178
CENTRE = 1500.0
TAU = 0.5  # how fast the volatility may change
LEAST_DEVIATION = 45.0  # so that the rating of an active player can still change
CLOSE = 1e-6


class Strength(NamedTuple):
    rating: float = 1500.0
    deviation: float = 350.0
    volatility: float = 0.06


def after(own: Strength, other: Strength, score: float) -> Strength:
    """The new strength after a match: a score of 1 for a win, 0.5 for a draw, 0 for a loss."""
    return after_period(own, [(other, score)])


def partly(old: Strength, new: Strength, effect: float) -> Strength:
    """The strength between two: the old one for an effect of 0, the new one for 1."""
    return Strength(*(was + effect * (now - was) for was, now in zip(old, new, strict=True)))


def after_period(own: Strength, results: list[tuple[Strength, float]]) -> Strength:
    """The new strength after several matches that count as played at once.

    >>> own = Strength(1500, 200, 0.06)                       # the example of Glickman's paper
    >>> others = [(Strength(1400, 30), 1.0), (Strength(1550, 100), 0.0), (Strength(1700, 300), 0.0)]
    >>> [round(value, 2) for value in after_period(own, others)[:2]]
    [1464.05, 151.52]
    """
    mu, phi = (own.rating - CENTRE) / SCALE, own.deviation / SCALE
    precision = gained = 0.0
    for other, score in results:
        their_mu, their_phi = (other.rating - CENTRE) / SCALE, other.deviation / SCALE
        g = 1 / sqrt(1 + 3 * their_phi**2 / pi**2)
        expected = 1 / (1 + exp(-g * (mu - their_mu)))
        precision += g**2 * expected * (1 - expected)
        gained += g * (score - expected)
    variance = 1 / precision
    volatility = _volatility(own.volatility, phi, variance, variance * gained)
    uncertain = phi**2 + volatility**2
    new_phi = 1 / sqrt(1 / uncertain + precision)
    new_mu = mu + new_phi**2 * gained
    return Strength(SCALE * new_mu + CENTRE, max(LEAST_DEVIATION, SCALE * new_phi), volatility)


def _volatility(sigma: float, phi: float, variance: float, delta: float) -> float:
    """Step 5 of the paper: the root of f by the Illinois algorithm."""
    a = log(sigma**2)

    def f(x: float) -> float:
        e = exp(x)
        spread = phi**2 + variance + e
        return e * (delta**2 - spread) / (2 * spread**2) - (x - a) / TAU**2

    low = a
    if delta**2 > phi**2 + variance:
        high = log(delta**2 - phi**2 - variance)
    else:
        k = 1
        while f(a - k * TAU) < 0:
            k += 1
        high = a - k * TAU
    f_low, f_high = f(low), f(high)
    while abs(high - low) > CLOSE:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    return exp(low / 2)
