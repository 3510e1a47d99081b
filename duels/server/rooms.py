"""A room: one match with its seats, from the invitation to the rematch. No input or output.

Methods change the `row` and the `match`; `change` returns what is to be stored. If that fails, the
room is loaded again from the store.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from duels.core import record
from duels.core.commitment import KEY
from duels.core.entries import Undo
from duels.core.errors import DuelsError, IllegalMove, StaleMove, UnknownName
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.parsing import read_answer, read_move
from duels.core.presentation import Step, player_name
from duels.core.wire import Find, dump
from duels.server.match_start import MatchStart
from duels.server.storage.base import (
    NOTHING,
    OVER,
    STARTING,
    Row,
    Save,
    StoredRoom,
    encoded_header,
    header,
)
from duels.server.views import DisplayedView, displayed

if TYPE_CHECKING:
    from duels.server.settings import Settings

REMEMBERED = 64  # responses kept in memory only, to commands that have changed nothing
# Responses stored for each seat. A client repeats only its last commands; an older one is stale, as
# it names a moment that has passed.
STORED = 32
CHECKED = 16  # commands between two deletions of older responses
Fields = dict[str, Any] | None  # of a response, besides type, id and ok; most have none


class Connection(Protocol):
    """A connection of a client to a room."""

    digest: str | None  # of the key of the client
    address: str  # the address group of the client
    seat: int | None
    known: int  # number of events sent to it
    wants_changes: bool  # of the view, instead of the whole view
    wants_captions: bool  # of events, instead of passages
    current: bool  # whether it has the view that was sent last

    def send(self, message: bytes) -> None: ...
    def dismiss(self, message: bytes, code: int) -> None: ...


class NoRoom(UnknownName):
    """There is no such match."""


class Incomplete(IllegalMove):
    """The text is an incomplete move; the client is to be asked the next step."""

    def __init__(self, so_far: str, step: Step) -> None:
        super().__init__(step.prompt)
        self.so_far, self.step = so_far, step


class Room(MatchStart):
    """A room in memory, read and changed under its `lock`."""

    def __init__(self, settings: Settings, stored: StoredRoom, find: Find) -> None:
        self.settings, self.row, self.find = settings, stored.row, find
        self.match: Match | None = None
        self.stored_entries = len(stored.entries)  # entries of the match in the store
        self.executed = {name: _fields(response) for name, response in stored.responses.items()}
        self._expired: tuple[str, ...] = ()  # responses that the last change deletes
        self.unstored: dict[str, bytes] = {}  # responses to commands that have changed nothing
        self.lock = asyncio.Lock()
        self.connections: set[Connection] = set()
        self.views: dict[int | None, DisplayedView] = {}  # by viewer, as sent last
        self.used = settings.now()
        self.away = [self.used, self.used]  # by seat: since when the player is not connected
        self.user = ""  # the address group of the player who was last connected
        self.thinking: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.unloaded = False  # if True, the room may have been loaded again as another object
        if (begun := header(stored.row)) is not None:
            self.match = record.follow(begun, stored.entries, find, now=settings.now)
            if stored.row.pending is not None:
                self.match.restore(stored.row.pending)
            if stored.row.offer is not None:
                self.match.offer_undo(stored.row.offer)
        elif not stored.row.hashes:
            # A new room, or one stored before nonces had hashes: nonces without a hash are ignored.
            stored.row.nonces, stored.row.hashes = [None, None], [None, None]

    # Queries.

    def playing(self) -> Match:
        """The match; refused before it has started."""
        if self.match is None:
            raise IllegalMove("the match has not started")
        return self.match

    def displayed(self, viewer: int | None) -> DisplayedView:
        """The current view of a viewer, made once for all connections."""
        if (found := self.views.get(viewer)) is None:
            found = self.views[viewer] = displayed(self.playing(), viewer)
        return found

    def time_out(self) -> None:
        """Time out the players who are past their deadline."""
        match = self.playing()
        for player in match.late_players():
            match.time_out(player)

    def summary(self) -> Any:
        """The values whose changes are announced by a `match` message."""
        row = self.row
        names = [seat and seat.name for seat in row.seats]
        return row.state, names, row.rematch, list(row.hashes), list(row.nonces)

    def claimable(self) -> tuple[int, float] | None:
        """The absent player whose choice is awaited, and when the opponent may claim the win."""
        match, here = self.match, {connection.seat for connection in self.connections}
        if match is None:
            seat, until = self.withholding, self.row.deadline
            if seat is None or until is None:
                return None
            since = until - self.settings.reveal_within
            since = since if seat in here else max(since, self.away[seat])
            return seat, since + self.settings.claim_after
        if match.result is not None or len(self.humans) < 2:
            return None
        gone = [seat for seat in match.deciders if seat not in here]
        if len(gone) != 1:
            return None
        last = match.stamps[-1].at if match.stamps else match.begun
        since = max(self.away[gone[0]], last or 0.0)
        return gone[0], since + self.settings.claim_after

    # Commands. A DuelsError means that nothing has changed.

    def submit(
        self, seat: int, at: int, move: str | None, text: str | None = None, so_far: str = ""
    ) -> None:
        """Submit a move, given as one of the options or as typed text."""
        match = self._choosing(seat, at)
        if move is None:
            move = self._read(match, seat, text or "", so_far)
        match.submit(seat, move, at=at)

    def _choosing(self, seat: int, at: int) -> Match:
        match = self.playing()
        if at != len(match.events):
            raise StaleMove(
                f"this was meant for moment {at}; the match is at moment {len(match.events)}"
            )
        if seat not in match.deciders:
            over = match.result is not None
            raise IllegalMove(
                "the match is over" if over else f"it is not {player_name(seat)}'s choice now"
            )
        return match

    def _read(self, match: Match, seat: int, text: str, so_far: str) -> str:
        seen = match.game.observe(match.state, seat)

        def ask(words: str) -> Step | None:
            return match.game.ask(seen, seat, words)

        if so_far:  # as a client sent it
            try:
                so_far, _ = read_move(ask, so_far)
            except DuelsError:
                so_far = ""
        move, step = read_answer(ask, text, so_far)
        if step is not None:
            raise Incomplete(move, step)
        return move

    def undo(self, seat: int, at: int) -> None:
        """Undo at once against a computer player; a human opponent is asked."""
        match, most = self.playing(), self.settings.undos
        if sum(isinstance(entry, Undo) for entry in match.events) >= most:
            raise IllegalMove(f"a match has at most {most} undos, and all of them were used")
        if self.computers:
            match.undo(seat, at=at)
        else:
            match.offer_undo(seat, at=at)

    def claim(self, seat: int) -> None:
        """Win because the opponent is absent or withholds a nonce."""
        away = self.claimable()
        if away is None or away[0] == seat:
            raise IllegalMove(
                "you can claim the win only while the match waits for an absent opponent"
            )
        left = away[1] - self.settings.now()
        if left > 0:
            seconds = max(1, round(left))
            unit = "second" if seconds == 1 else "seconds"
            raise IllegalMove(f"the other player has {seconds} more {unit} to come back")
        if self.match is None:
            self.forfeit_start(away[0])
        else:
            self.match.forfeit(away[0], "left the match")

    def completes_rematch(self, seat: int) -> bool:
        """Whether all players agree on a rematch if this one does, and there is none yet."""
        offers = {*self.row.offers, seat + 1}
        return (
            self.row.state == OVER
            and self.row.rematch is None
            and not self.needs_second
            and len(offers) == len(self.humans)
        )

    def offer_rematch(self, seat: int, made: str | None) -> None:
        """Offer a rematch; `made` is its room if all players have offered it."""
        if self.row.state != OVER:
            raise IllegalMove("the match is not over")
        if self.needs_second:
            raise IllegalMove("the second game follows without an offer")
        if self.row.rematch is None:
            self.row.offers = sorted({*self.row.offers, seat + 1})
            self.row.rematch = made

    @property
    def needs_second(self) -> bool:
        """Whether this is the first game of two; the second follows without an offer."""
        return self.row.games == 2 and not self.row.second

    def follow(self, second: str) -> None:
        """Note the room of the second game."""
        self.row.rematch = second

    def rematch(self) -> Row:
        """The row of a rematch or of the second game, with the seats swapped."""
        row, now = self.row, self.settings.now()
        return Row(
            self.settings.room_id(), row.game, dict(row.options), now, str(self.settings.secret()),
            row.seats[::-1], state=STARTING, time=row.time, updated=now, before=row.id,
            deadline=now + self.settings.start_within, near=row.near, games=row.games,
            second=self.needs_second,
        )  # fmt: skip

    def abort(self, reason: str) -> None:
        """Close the room in any state before the end; its match is not played on."""
        row = self.row
        self.match, row.header, row.pending, row.offer = None, NOTHING, None, None
        row.to_move, row.open = [], False
        self.close(reason)

    def withdraw(self, seat: int) -> None:
        """End the match for a player who leaves the server: resigned, or closed before its start.

        Once a nonce is revealed the player could know the dice, so that the match counts.
        """
        if self.match is not None:
            self.match.resign(seat)
        elif self.revealed:
            self.forfeit_start(seat)
        else:
            self.close("It was withdrawn.")

    # Responses and storage.

    def remember(self, name: str, response: bytes) -> None:
        """Keep the response to a command that has changed nothing, in memory."""
        self.unstored[name] = response
        if len(self.unstored) > REMEMBERED:
            del self.unstored[next(iter(self.unstored))]

    def change(self, response: tuple[str, bytes] | None = None) -> Save:
        """Update the row, and return the change that is not stored yet."""
        row, match = self.row, self.match
        row.updated = self.settings.now()
        self._expired = self._expired_responses()
        if match is None:
            return Save(row, response=response, expired=self._expired)
        if match.result is not None and row.state != OVER:
            self._finish(match)
        row.pending = match.pending() if match.sealed else None
        row.offer = None if match.offer is None else match.offer.player
        row.moment = len(match.events)
        row.to_move = [player + 1 for player in match.deciders]
        times = [match.deadline(player) for player in match.deciders]
        row.deadline = min((time for time in times if time is not None), default=None)
        new = range(self.stored_entries, len(match.events))
        if any(isinstance(match.events[n], Undo) for n in new):
            row.taken_back = match.taken_back
        entries = tuple(msgspec.json.encode(record.entry(match, number)) for number in new)
        return Save(row, self.stored_entries, entries, response, self._expired)

    def _expired_responses(self) -> tuple[str, ...]:
        """The responses of each seat older than its newest ones; looked up from time to time."""
        if len(self.executed) <= STORED or len(self.executed) % CHECKED:
            return ()
        seats = [[name for name in self.executed if name[0] == seat] for seat in "01"]
        return tuple(name for names in seats for name in names[:-STORED])

    def saved(self) -> None:
        """Note that the last `change` is stored."""
        for name in self._expired:
            del self.executed[name]
        self._expired = ()
        self.stored_entries = 0 if self.match is None else len(self.match.events)

    def _finish(self, match: Match) -> None:
        row = self.row
        match.about[KEY] = {**match.about.get(KEY, {}), "secret": row.secret}
        row.header = encoded_header(record.header(match))
        row.state, row.result = OVER, dump(match.result)
        row.ended = match.stamps[-1].at if match.stamps else match.begun


def _fields(response: bytes) -> Fields:
    """The additional fields of a stored response."""
    found = msgspec.json.decode(response, type=dict[str, Any])
    return {key: value for key, value in found.items() if key not in ("type", "id", "ok")} or None


def is_rated(game: AnyGame, row: Row) -> bool:
    """Whether a finished match counts for ratings."""
    return game.usual() and not row.taken_back and not row.hinted
