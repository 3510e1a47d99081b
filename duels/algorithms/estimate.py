"""An estimated value with its standard error.

Sums and differences carry the error on, as if errors were independent of each other.

>>> one, two = Estimate(0.5, 0.03), Estimate(0.25, 0.04)
>>> one - two, round((one - two).error, 6)
(0.25, 0.05)
>>> (1 - one).error, error_of(1 - one), error_of(1.0)
(0.03, 0.03, None)
>>> estimated(one), estimated(Estimate(0.7181, 0.00045)), estimated(one, ascii_only=True)
('0.50 ± 0.06', '0.718 ± 0.001', '0.50 +- 0.06')
"""

from __future__ import annotations

from fractions import Fraction
from math import hypot, sqrt

CONFIDENCE = 1.96  # standard errors in half of a 95 % interval
FINE = 0.0095  # a half-width below this is shown with three decimals, else with two


class Estimate(float):
    """A float that knows its standard error; in all else it is a float."""

    __slots__ = ("error",)
    error: float

    def __new__(cls, value: float, error: float) -> Estimate:
        made = super().__new__(cls, value)
        made.error = error
        return made

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self), self.error

    def __add__(self, other: float) -> Estimate:
        return Estimate(float(self) + other, _joint(self, other))

    __radd__ = __add__

    def __sub__(self, other: float) -> Estimate:
        return Estimate(float(self) - float(other), _joint(self, other))

    def __rsub__(self, other: float) -> Estimate:
        return Estimate(float(other) - float(self), _joint(self, other))

    def __neg__(self) -> Estimate:
        return Estimate(-float(self), self.error)

    def __mul__(self, factor: float) -> Estimate:
        return Estimate(float(self) * factor, self.error * abs(factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Estimate:
        return Estimate(float(self) / divisor, self.error / abs(divisor))


def _joint(one: float, two: float) -> float:
    return hypot(error_of(one) or 0.0, error_of(two) or 0.0)


def error_of(value: Fraction | float | None) -> float | None:
    """The standard error of a value; None for what is exact, or not known."""
    return value.error if isinstance(value, Estimate) else None


def proportion_error(part: float, count: float) -> float:
    """The standard error of a part counted in so many tries, not 0 where it was all or none."""
    smoothed = (part * count + 1) / (count + 2)
    return sqrt(smoothed * (1 - smoothed) / count)


def margin(*, ascii_only: bool = False) -> str:
    """What stands behind a value, in a sentence."""
    mark = "+-" if ascii_only else "±"
    return f"Values are measured; {mark} is half of a 95 % confidence interval."


def estimated(value: Fraction | float, *, ascii_only: bool = False, sign: str = "") -> str:
    """A value to as many places as it has, with half of its 95 % interval."""
    error = error_of(value)
    if error is None:
        return f"{float(value):{sign}.3f}"
    half = CONFIDENCE * error
    places = 3 if half < FINE else 2
    half = max(half, 10**-places)
    return f"{float(value):{sign}.{places}f} {'+-' if ascii_only else '±'} {half:.{places}f}"
