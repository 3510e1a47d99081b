"""The unit of a game's values: expected scores, or expected payoffs where some wins pay more.

Where every win pays 1, a value is Player 1's expected score: 1 for a win, 1/2 for a draw, 0 for a
loss. In any other game it is Player 1's expected payoff: what a win pays, 0 for a draw, minus what
a loss costs. Regrets and exploitability are differences of values, in the same unit.

>>> from duels.core.game import Over
>>> from duels.games import load
>>> unit = unit_of(load("firewall-breach"))
>>> unit.name, unit.end(Over(0, "")), unit.end(Over(None, "")), unit.other(0.3)
('expected score', Fraction(1, 1), Fraction(1, 2), 0.7)
>>> Unit(5).name, Unit(5).end(Over(1, "", payoff=3)), Unit(5).other(0.3)
('expected payoff', Fraction(-3, 1), -0.3)
"""

from __future__ import annotations

from fractions import Fraction

from duels.core.game import AnyGame, Over, Payoff, Result


class Unit:
    """What values are counted in, by the most that a win pays."""

    __slots__ = ("draw", "highest", "lowest", "name", "total")

    def __init__(self, highest_payoff: Payoff) -> None:
        plain = highest_payoff == 1
        self.name = "expected score" if plain else "expected payoff"
        self.total = int(plain)  # the values of both players add up to this
        self.draw = Fraction(self.total, 2)
        self.highest: Payoff = highest_payoff
        self.lowest: Payoff = 0 if plain else -highest_payoff

    @property
    def pays(self) -> bool:
        """Whether values are expected payoffs."""
        return not self.total

    def end(self, end: Over | Result) -> Payoff:
        """Player 1's value of the end of a game."""
        if end.winner is None:
            return self.draw
        if not self.pays:
            return Fraction(1 - end.winner)
        payoff = Fraction(end.payoff) if isinstance(end.payoff, int) else end.payoff
        return payoff if end.winner == 0 else -payoff

    def other(self, value: Payoff) -> Payoff:
        """The same value for the other player."""
        return self.total - value

    @property
    def span(self) -> float:
        """The difference of the best and the worst result."""
        return float(self.highest) - float(self.lowest)

    def part(self, value: Payoff) -> float:
        """A value as a part of what is possible, from 0 for the worst result to 1 for the best."""
        return (float(value) - float(self.lowest)) / self.span

    def within(self, value: float) -> float:
        """A value without a rounding error beyond the best or the worst result."""
        return min(float(self.highest), max(float(self.lowest), value))

    def whole(self, part: float) -> float:
        """The value of which `part` is the part."""
        return part if not self.pays else float(self.lowest) + self.span * part


def unit_of(game: AnyGame) -> Unit:
    """The unit of a game's values."""
    return Unit(game.highest_payoff())


def payoffs(result: Over | Result | None) -> tuple[float, float]:
    """What each player is paid at the end of a game; nothing before that, or for a draw.

    >>> payoffs(Result(1, "rules", "", payoff=2)), payoffs(None)
    ((-2.0, 2.0), (0.0, 0.0))
    """
    if result is None or result.winner is None:
        return 0.0, 0.0
    paid = float(result.payoff)
    return (paid, -paid) if result.winner == 0 else (-paid, paid)
