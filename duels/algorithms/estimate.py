"""An estimated value with its standard error.

Sums and differences have an error too, computed as if errors were independent.

>>> one, two = Estimate(0.5, 0.03), Estimate(0.25, 0.04)
>>> one - two, round((one - two).error, 6)
(0.25, 0.05)
>>> (1 - one).error, error_of(1 - one), error_of(1.0)
(0.03, 0.03, None)
>>> estimated(one), estimated(Estimate(0.7181, 0.00045)), estimated(one, ascii_only=True)
('0.50 ± 0.06', '0.718 ± 0.001', '0.50 +- 0.06')
>>> [gain(value) for value in (0.0, 6e-8, 0.00102, 0.25)]
['nothing', 'less than 0.0000001', '0.0010', '0.2500']
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, hypot, log10, sqrt

CONFIDENCE = 1.96  # standard errors in half of a 95 % interval
FINE = 0.0095  # a half-width below this is shown with three decimals, else with two
SMALL = 0.001  # a gain below this is shown as less than a power of ten
ROUNDING = 1e-12  # a smaller gain is none


class Estimate(float):
    """A float with a standard error (`error`)."""

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
    """The standard error of a value; None if it is exact or not known."""
    return value.error if isinstance(value, Estimate) else None


def proportion_error(part: float, count: float) -> float:
    """The standard error of a proportion in so many trials; not 0 for proportions of 0 and 1."""
    smoothed = (part * count + 1) / (count + 2)
    return sqrt(smoothed * (1 - smoothed) / count)


def margin(*, ascii_only: bool = False) -> str:
    """A sentence about the precision of a value."""
    mark = "+-" if ascii_only else "±"
    return f"Values are estimates; the number after {mark} is the half-width of a 95 % interval."


def estimated(value: Fraction | float, *, ascii_only: bool = False, sign: str = "") -> str:
    """A value with its significant decimals and the half-width of its 95 % interval."""
    error = error_of(value)
    if error is None:
        return f"{float(value):{sign}.3f}"
    half = CONFIDENCE * error
    places = 3 if half < FINE else 2
    half = max(half, 10**-places)
    return f"{float(value):{sign}.{places}f} {'+-' if ascii_only else '±'} {half:.{places}f}"


def gain(value: float) -> str:
    """What best responses gain, in words and plain decimals."""
    if value < ROUNDING:
        return "nothing"
    if value >= SMALL:
        return f"{value:.4f}"
    places = -ceil(log10(value))
    return f"less than {10.0**-places:.{places}f}"
