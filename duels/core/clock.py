"""Clocks of a match: a limit for each choice, a budget for the whole match, or both.

Clocks store absolute times and the time spent before, so a match that is loaded again has the same
deadlines.

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
        """Raise `OptionError` if a value is invalid."""
        for name in ("limit", "budget"):
            if (value := getattr(self, name)) is not None and not is_seconds(value, above=0):
                raise OptionError(f"time {name}: expected seconds above 0; got {quote(value)}")
        if not is_seconds(self.increment):
            raise OptionError(f"time increment: expected seconds; got {quote(self.increment)}")
        if self.increment and self.budget is None:
            raise OptionError("time increment: it needs a time budget to be added to")


def is_seconds(value: object, above: float | None = None) -> bool:
    """Whether a value is a sensible number of seconds, from 0 up or above a bound."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # What is not a number (nan) compares false.
    return 0 <= value < LONGEST and (above is None or value > above)


class Clocks:
    """The clocks of both players. The caller passes the time; this class reads no real clock."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.left = [control.budget, control.budget]  # of the budgets, before this choice
        self._since: dict[int, float] = {}  # clocks that run
        self._spent: dict[int, float] = {}  # in this choice, before the clock was stopped

    def begin(self, players: Iterable[int], at: float | None) -> None:
        """Begin a choice: its players' clocks run from `at` on, or are stopped if that is None."""
        self._spent = dict.fromkeys(players, 0.0)
        self._since = {} if at is None else dict.fromkeys(self._spent, at)

    def start(self, player: int, at: float) -> None:
        """Restart a clock at `at`; the time since it was last started is not counted."""
        if player in self._spent:
            self._since[player] = at

    def stop(self, spent: Mapping[int, float]) -> None:
        """Stop all clocks, with these seconds spent in this choice."""
        self._spent |= {
            player: seconds for player, seconds in spent.items() if player in self._spent
        }
        self._since = {}

    def resume(self, at: float | None) -> None:
        """Start the clocks that are stopped."""
        if at is not None:
            self._since = dict.fromkeys(self._spent, at) | self._since

    def end(self) -> None:
        """Stop both clocks permanently."""
        self._since, self._spent = {}, {}

    def spent(self, player: int, now: float) -> float:
        """Seconds spent in this choice."""
        before = self._spent.get(player, 0.0)
        # To the millisecond, as in records, so that the time left at the deadline is exactly 0.
        return round(before + max(0.0, now - self._since.get(player, now)), 3)

    def allowed(self, player: int) -> float | None:
        """The total of seconds for this choice."""
        known = [s for s in (self.control.limit, self.left[player]) if s is not None]
        return min(known) if known else None

    def remaining(self, player: int, now: float) -> float | None:
        """Seconds left for this choice, never below 0; None without a limit."""
        allowed = self.allowed(player)
        return None if allowed is None else round(max(0.0, allowed - self.spent(player, now)), 3)

    def deadline(self, player: int) -> float | None:
        """When time is up, as an absolute time; None without a limit or if the clock is stopped."""
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
