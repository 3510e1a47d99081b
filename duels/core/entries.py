"""The entries of a record besides picks and outcomes: the end, pauses and undos of a match.

>>> Undo(player=0, to=2)
Undo(player=0, to=2)
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from typing import NamedTuple

from duels.core.game import Outcome, Pick, Result


class Resign(NamedTuple):
    """A player resigned."""

    player: int


class Timeout(NamedTuple):
    """One player ran out of time, or both did in a sealed choice."""

    players: tuple[int, ...]


class Forfeit(NamedTuple):
    """One player forfeited by the policy of the match, or both did in a sealed choice."""

    players: tuple[int, ...]
    why: str


class Limit(NamedTuple):
    """The turn limit was reached."""

    decisions: int


class Undo(NamedTuple):
    """Play returned to just before event number `to`, counted from 0. No entry is erased."""

    player: int
    to: int


class Pause(NamedTuple):
    """The clocks stopped here."""


class Resume(NamedTuple):
    """The clocks run again from here on."""


Entry = Pick | Outcome | Resign | Timeout | Forfeit | Limit | Undo | Pause | Resume


class Stamp(NamedTuple):
    """The time of an entry, in seconds since 1970, and the seconds charged to each decider."""

    at: float | None = None
    spent: tuple[tuple[int, float], ...] = ()


class Logged(NamedTuple):
    """An entry of the log of one viewer, as that viewer may know it; the last one is the result."""

    number: int  # its place in the record, counted from 0
    entry: Entry | Result
    at: float | None = None
