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
from duels.core.errors import IllegalMove, quote
from duels.core.game import Decide, Event, History, Move, Outcome, Pick, Result
from duels.core.player import Player, View
from duels.core.referee import Referee
from duels.core.show import Part, Sealed, Tree, tree

BY_THE_RULES = (Pick, Outcome)  # a tuple: making a union each time takes longer


class Views(Referee):
    """The match as it is shown."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        # By viewer, as far as anyone has asked: every event, and those of the line that stands.
        self._seen: dict[int | None, list[Entry]] = {}
        self._stood: dict[int | None, tuple[int, list[Event]]] = {}
        super().__init__(*positional, **named)

    def view(self, viewer: int | None) -> View:
        """All that a viewer may know now."""
        _check(viewer)
        options: tuple[Move, ...] = ()
        if viewer in self.deciders and isinstance(self.turn, Decide):
            options = self.turn.options[viewer]
        seen = self.game.observe(self.state, viewer)
        moment, history = len(self.events), self.history(viewer)
        clock: float | None = None
        clocks: tuple[float | None, float | None] = (None, None)
        if self._has_clock:
            clocks = self.left(0), self.left(1)
            clock = clocks[viewer] if viewer is not None and viewer in self.deciders else None
        offer = None if self.offer is None else self.offer.player
        return View(
            self.game, viewer, seen, history, options, clock, moment, self.sealed, self.result,
            clocks, offer,
        )  # fmt: skip

    @property
    def sealed(self) -> tuple[int, ...]:
        """Who has sealed a pick that waits for the other's: open to all, what it is to nobody."""
        return tuple(sorted(self._sealed)) if self._sealed else ()

    def view_before(self, number: int, viewer: int | None) -> View:
        """What a viewer knew when an event was about to happen."""
        _check(viewer)
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
        _check(viewer)
        since, end = max(0, since), len(self.events)
        found = [
            Logged(n, self.redact(n, viewer), self.stamps[n].at) for n in range(since, end)
        ]  # fmt: skip
        if self.result is not None and since <= end:
            found.append(Logged(end, self.result, self.stamps[-1].at if end else self.begun))
        return tuple(found)

    def redact(self, number: int, viewer: int | None) -> Entry:
        """One event as a viewer may know it."""
        if (known := self._seen.get(viewer)) is None:
            _check(viewer)
            known = self._seen[viewer] = []
        for n in range(len(known), number + 1):
            entry = self.events[n]
            if isinstance(entry, BY_THE_RULES):
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
        return entry if isinstance(entry, BY_THE_RULES) else None

    def remaining(self, player: int) -> float | None:
        """Seconds left for a player's choice; None where no clock runs."""
        if not self._has_clock or player not in self.deciders:
            return None
        now = self._at()
        return None if now is None else self.clocks.remaining(player, now)

    def left(self, player: int) -> float | None:
        """Seconds a player has left: for the choice where one chooses, else of the budget."""
        return self.remaining(player) if player in self.deciders else self.clocks.left[player]

    def deadline(self, player: int) -> float | None:
        """When a player's time is up, in seconds since 1970; None where no clock runs."""
        return self.clocks.deadline(player) if player in self.deciders else None

    def late(self, player: int) -> bool:
        """Whether a player's pick is awaited and the time for it is up."""
        return self.remaining(player) == 0.0

    def late_players(self) -> tuple[int, ...]:
        """Everybody who is late now; the match goes on when each of them is timed out."""
        return tuple(player for player in self.deciders if self.late(player))

    def _cost_the_turn(self, number: int) -> bool:
        """Whether a timeout was a lost turn and not the end of the match."""
        last = number == len(self.events) - 1
        return not (last and self.result is not None and self.result.by == "time")

    def shown(self, number: int, viewer: int | None) -> tuple[Any, Event | None, Any]:
        """One event with what a viewer saw before and after it, for telling it."""
        before, after = self.state_before(number), self.state_after(number)
        observe = self.game.observe
        return observe(before, viewer), self.told(number, viewer), observe(after, viewer)


def _check(viewer: int | None) -> None:
    """Refuse a viewer who is none of the three: no game knows what to hide from one."""
    if viewer is not None and viewer not in (0, 1):
        raise IllegalMove(f"there is no viewer {quote(viewer)}; viewers are 0, 1 and None")


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


def inform(player: Player, match: Views, seat: int, since: int = 0) -> int:
    """Tell a player in a seat what happened from event `since` on, the end included, each once.

    Returns where to go on: `since = inform(player, match, seat, since)` after every change.

    >>> from duels.core import Match, Player
    >>> class Told(Player):
    ...     def on_event(self, number: int, entry: Any) -> None:
    ...         print(number, entry)
    >>> from duels.games import load
    >>> match = Match(load("digit-duel"), seed=1)
    >>> match.submit(0, "7")
    >>> inform(Told(), match, seat=1)
    0 Pick(moves=((0, '7'),))
    1
    """
    for number, entry, _ in match.log(seat, since):
        if isinstance(entry, Result):
            player.on_end(entry)
        else:
            player.on_event(number, entry)
        since = number + 1
    return since
