"""Clocks of a match: a limit for each choice, a budget for the whole match, or both.

Clocks hold points in absolute time and what was spent before, so a match that is loaded again has
the same deadlines.

>>> clocks = Clocks(TimeControl(limit=30))
>>> clocks.begin((0,), at=1000.0)
>>> clocks.deadline(0), clocks.remaining(0, now=1025.0)
(1030.0, 5.0)
>>> clocks.stop({0: 25.0})                       # a pause ...
>>> clocks.start(0, at=90000.0)                  # ... of a day
>>> clocks.remaining(0, now=90000.0)
5.0
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from duels.core.errors import OptionError, quote

LONGEST = 1e9  # seconds


class TimeControl(NamedTuple):
    """How much time players have, in seconds; nothing set means no clock."""

    limit: float | None = None  # for each choice
    budget: float | None = None  # for all of a player's choices together
    increment: float = 0.0  # added to the budget after each choice

    def __bool__(self) -> bool:
        return self.limit is not None or self.budget is not None

    def check(self) -> None:
        """Refuse what is no time control."""
        for name in ("limit", "budget"):
            if (value := getattr(self, name)) is not None and not is_seconds(value, above=0):
                raise OptionError(f"time {name}: expected seconds above 0; got {quote(value)}")
        if not is_seconds(self.increment):
            raise OptionError(f"time increment: expected seconds; got {quote(self.increment)}")
        if self.increment and self.budget is None:
            raise OptionError("time increment: there is no budget to add it to")


def is_seconds(value: object, above: float | None = None) -> bool:
    """Whether a value is a sensible number of seconds, from 0 up or above a bound."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # What is not a number (nan) compares false.
    return 0 <= value < LONGEST and (above is None or value > above)


class Clocks:
    """Both players' clocks. Times come from outside; nothing here reads a real clock."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.left = [control.budget, control.budget]  # of the budgets, before this choice
        self._since: dict[int, float] = {}  # clocks that run
        self._spent: dict[int, float] = {}  # in this choice, before the clock was stopped

    def begin(self, players: Iterable[int], at: float | None) -> None:
        """Begin a choice: its players' clocks run from `at` on, or wait where that is None."""
        self._spent = dict.fromkeys(players, 0.0)
        self._since = {} if at is None else dict.fromkeys(self._spent, at)

    def start(self, player: int, at: float) -> None:
        """Start a clock anew at `at`; the time since it was last started is not counted."""
        if player in self._spent:
            self._since[player] = at

    def stop(self, spent: Mapping[int, float]) -> None:
        """Stop all clocks, with these seconds spent in this choice."""
        self._spent |= {
            player: seconds for player, seconds in spent.items() if player in self._spent
        }
        self._since = {}

    def resume(self, at: float | None) -> None:
        """Start the clocks that wait."""
        if at is not None:
            self._since = dict.fromkeys(self._spent, at) | self._since

    def end(self) -> None:
        """Stop both clocks for good."""
        self._since, self._spent = {}, {}

    def spent(self, player: int, now: float) -> float:
        """Seconds spent in this choice."""
        before = self._spent.get(player, 0.0)
        # To the millisecond, as times are kept: what is left when time is up is 0 and not 1e-7.
        return round(before + max(0.0, now - self._since.get(player, now)), 3)

    def allowed(self, player: int) -> float | None:
        """Seconds for this choice as a whole."""
        known = [s for s in (self.control.limit, self.left[player]) if s is not None]
        return min(known) if known else None

    def remaining(self, player: int, now: float) -> float | None:
        """Seconds left for this choice, never below 0; None without a limit."""
        allowed = self.allowed(player)
        return None if allowed is None else round(max(0.0, allowed - self.spent(player, now)), 3)

    def deadline(self, player: int) -> float | None:
        """When time is up, as an absolute time; None without a limit and while the clock waits."""
        allowed = self.allowed(player)
        if allowed is None or player not in self._since:
            return None
        return self._since[player] + allowed - self._spent[player]

    def charge(self, player: int, seconds: float, *, chosen: bool = True) -> None:
        """Subtract a choice's time from a budget; a choice that was made adds the increment."""
        left = self.left[player]
        if left is not None:
            bonus = self.control.increment if chosen else 0.0
            self.left[player] = round(max(0.0, left - seconds) + bonus, 3)
