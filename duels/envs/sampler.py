"""Seeded chance with cached tables, for odds that are drawn from repeatedly.

>>> from fractions import Fraction
>>> from duels.core.chance import draw
>>> die = {str(face): Fraction(1, 6) for face in range(1, 7)}
>>> sampler = Sampler(die)
>>> [sampler.draw(2024, n) for n in range(1, 9)] == [draw(2024, n, die) for n in range(1, 9)]
True
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from hashlib import sha256
from math import lcm

from duels.core.chance import SPAN, draw, holder

LARGEST_TABLE = 1000  # odds with a larger common denominator have no table


class Sampler:
    """Draws from odds as `duels.core.chance.draw` does: the same function of seed and n.

    From the second use on a table is used, so that a draw takes one lookup.
    """

    __slots__ = ("_last", "_shares", "_table", "_used", "odds", "outcomes")

    def __init__(self, odds: Mapping[str, Fraction]) -> None:
        self.odds = odds
        self.outcomes = tuple(odds)
        self._shares: list[tuple[int, float]] | None = None
        self._used = False
        self._table: tuple[str, ...] = ()
        self._last = 0

    def draw(self, seed: int, n: int) -> str:
        table = self._table
        if table:
            number = int.from_bytes(sha256(b"duels %d %d 0" % (seed, n)).digest(), "big")
            if number < self._last:
                return table[number % len(table)]
        elif self._used:
            self._lay_out()
        self._used = True
        return draw(seed, n, self.odds)

    def numbered(self) -> list[tuple[int, float]]:
        """Each outcome's index with its probability. Shared, so it must not be changed."""
        if self._shares is None:
            self._shares = [(place, float(odd)) for place, odd in enumerate(self.odds.values())]
        return self._shares

    def _lay_out(self) -> None:
        whole = lcm(*(odd.denominator for odd in self.odds.values()))
        if whole <= LARGEST_TABLE:
            self._table = tuple(holder(ticket, whole, self.odds) for ticket in range(whole))
            self._last = SPAN - SPAN % whole
