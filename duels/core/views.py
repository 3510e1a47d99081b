"""What a viewer may know of a match: a player, or None for a spectator. Nothing here changes it.

>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("cipher-siege"), seed=4)
>>> [logged.entry.outcome for logged in match.log(viewer=0)]      # a hand, and a card drawn
['4', '?', '1', '?', '3', '?', '1']
>>> match.log(viewer=0, since=6)[0].number
6
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from duels.core.entries import Entry, Logged, Timeout
from duels.core.game import Decide, Event, History, Move, Outcome, Pick
from duels.core.player import View
from duels.core.referee import Referee
from duels.core.show import Part, Sealed, Tree, tree


class Views(Referee):
    """The match as it is shown."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        # By viewer, as far as anyone has asked: every event, and those of the line that stands.
        self._seen: dict[int | None, list[Entry]] = {}
        self._stood: dict[int | None, tuple[int, list[Event]]] = {}
        super().__init__(*positional, **named)

    def view(self, viewer: int | None) -> View:
        options: tuple[Move, ...] = ()
        if viewer in self.deciders and isinstance(self.turn, Decide):
            options = self.turn.options[viewer]
        left = None if viewer is None else self.remaining(viewer)
        seen = self.game.observe(self.state, viewer)
        sealed = tuple(sorted(self._sealed))
        moment = len(self.events)
        history = self.history(viewer)
        return View(
            self.game, viewer, seen, history, options, left, moment, sealed, self.result
        )  # fmt: skip

    def view_before(self, number: int, viewer: int | None) -> View:
        """What a viewer knew when an event was about to happen."""
        state = self.state_before(number)
        turn = self.game.turn(state)
        options: tuple[Move, ...] = ()
        if isinstance(turn, Decide) and viewer is not None:
            options = turn.options.get(viewer, ())
        seen = self.game.observe(state, viewer)
        history = self.history(viewer, before=number)
        return View(self.game, viewer, seen, history, options, None, number)

    def log(self, viewer: int | None, since: int = 0) -> tuple[Logged, ...]:
        """All that happened from event `since` on, taken back or not, as a viewer may know it.

        The result, once there is one, comes last, with a number of its own.
        """
        since, end = max(0, since), len(self.events)
        found = [
            Logged(n, self.redact(n, viewer), self.stamps[n].at) for n in range(since, end)
        ]  # fmt: skip
        if self.result is not None and since <= end:
            found.append(Logged(end, self.result, self.stamps[-1].at if end else self.begun))
        return tuple(found)

    def redact(self, number: int, viewer: int | None) -> Entry:
        """One event as a viewer may know it."""
        known = self._seen.setdefault(viewer, [])
        for n in range(len(known), number + 1):
            entry = self.events[n]
            if isinstance(entry, Pick | Outcome):
                entry = self.game.redact(self.state_before(n), entry, viewer)
            known.append(entry)
        return known[number]

    def history(self, viewer: int | None, before: int | None = None) -> History:
        """The picks and outcomes that led here, or to an event, as a viewer saw them."""
        timeline = self._timeline
        if before is not None and not timeline.is_live(before):
            told = (self.told(number, viewer) for number in timeline.line_before(before))
            return tuple(event for event in told if event is not None)
        undone, known = self._stood.get(viewer, (-1, []))
        if undone != timeline.undone:
            known = []
            self._stood[viewer] = timeline.undone, known
        for number in timeline.live[len(known) :]:
            if (event := self.told(number, viewer)) is not None:
                known.append(event)
        return tuple(known if before is None else known[: bisect_left(timeline.live, before)])

    def told(self, number: int, viewer: int | None) -> Event | None:
        """What the rules made of an event, for a viewer; None where they took no part in it."""
        entry = self.redact(number, viewer)
        if isinstance(entry, Timeout) and self._cost_the_turn(number):
            assert self.game.timeout_move is not None
            return Pick(tuple((player, self.game.timeout_move) for player in entry.players))
        return entry if isinstance(entry, Pick | Outcome) else None

    def remaining(self, player: int) -> float | None:
        """Seconds left for a player's choice; None where no clock runs."""
        if not self.time_control or player not in self.deciders:
            return None
        now = self._at()
        return None if now is None else self.clocks.remaining(player, now)

    def deadline(self, player: int) -> float | None:
        """When a player's time is up, in seconds since 1970."""
        return self.clocks.deadline(player) if player in self.deciders else None

    def late(self, player: int) -> bool:
        return self.remaining(player) == 0.0

    def _cost_the_turn(self, number: int) -> bool:
        """Whether a timeout was a lost turn and not the end of the match."""
        last = number == len(self.events) - 1
        return not (last and self.result is not None and self.result.by == "time")

    def shown(self, number: int, viewer: int | None) -> tuple[Any, Event | None, Any]:
        """One event with what a viewer saw before and after it, for telling it."""
        before, after = self.state_before(number), self.state_after(number)
        observe = self.game.observe
        return observe(before, viewer), self.told(number, viewer), observe(after, viewer)


def table_of(view: View) -> list[Part]:
    """The parts of the table, with who has sealed a pick."""
    return [
        part._replace(placed=part.owner in view.sealed) if isinstance(part, Sealed) else part
        for part in view.game.table(view.observation, view.player, view.history)
    ]


def choice_of(view: View) -> Tree | None:
    """All the steps of a player's choice at once; None when no pick of theirs is awaited."""
    player = view.player
    if player is None or not view.options:
        return None
    return tree(lambda so_far: view.game.ask(view.observation, player, so_far))
