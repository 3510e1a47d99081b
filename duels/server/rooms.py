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
from duels.server.match_start import Starting
from duels.server.storage.base import OVER, STARTING, Row, Save, StoredRoom, header, written

if TYPE_CHECKING:
    from duels.server.settings import Settings

REMEMBERED = 64  # refusals kept in memory; responses to executed commands are stored
Fields = dict[str, Any] | None  # of a response, besides type, id and ok; most have none


class Connection(Protocol):
    """A connection of a client to a room."""

    digest: str | None  # of the key of the client
    seat: int | None
    known: int  # number of events sent to it

    def send(self, message: bytes) -> None: ...
    def dismiss(self, message: bytes, code: int) -> None: ...


class NoRoom(UnknownName):
    """There is no such match."""


class Incomplete(IllegalMove):
    """The text is the beginning of a move; the next step is to be asked."""

    def __init__(self, so_far: str, step: Step) -> None:
        super().__init__(step.prompt)
        self.so_far, self.step = so_far, step


class Room(Starting):
    """A room in memory, read and changed under its `lock`."""

    def __init__(self, settings: Settings, stored: StoredRoom, find: Find) -> None:
        self.settings, self.row, self.find = settings, stored.row, find
        self.match: Match | None = None
        self.stored_entries = len(stored.entries)  # entries of the match in the store
        self.executed = {name: _fields(response) for name, response in stored.responses.items()}
        self.refusals: dict[str, bytes] = {}
        self.lock = asyncio.Lock()
        self.connections: set[Connection] = set()
        self.used = settings.now()
        self.away = [self.used, self.used]  # by seat: since when the player is not connected
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
        match = self.playing()
        if self.computers:
            match.undo(seat, at=at)
        else:
            match.offer_undo(seat, at=at)

    def claim(self, seat: int) -> None:
        """Win because the opponent is absent or withholds a nonce."""
        away = self.claimable()
        if away is None or away[0] == seat:
            raise IllegalMove("the other player has not left a choice open")
        left = away[1] - self.settings.now()
        if left > 0:
            raise IllegalMove(f"the other player has {left:.0f} more seconds to come back")
        if self.match is None:
            self.forfeit_start(away[0])
        else:
            self.match.forfeit(away[0], "left the match")

    def completes_rematch(self, seat: int) -> bool:
        """Whether all players agree on a rematch if this one does, and there is none yet."""
        offers = {*self.row.offers, seat + 1}
        return (
            self.row.state == OVER and self.row.rematch is None and len(offers) == len(self.humans)
        )

    def offer_rematch(self, seat: int, made: str | None) -> None:
        """Offer a rematch; `made` is its room if all players have offered it."""
        if self.row.state != OVER:
            raise IllegalMove("the match is not over")
        if self.row.rematch is None:
            self.row.offers = sorted({*self.row.offers, seat + 1})
            self.row.rematch = made

    def rematch(self) -> Row:
        """The row of a rematch, with the seats swapped."""
        row, now = self.row, self.settings.now()
        return Row(
            self.settings.room_id(), row.game, dict(row.options), now, str(self.settings.secret()),
            row.seats[::-1], state=STARTING, time=row.time, updated=now, before=row.id,
            deadline=now + self.settings.start_within,
        )  # fmt: skip

    # Storage.

    def change(self, response: tuple[str, bytes] | None = None) -> Save:
        """What is not stored yet, with the row updated."""
        row, match = self.row, self.match
        row.updated = self.settings.now()
        if match is None:
            return Save(row, response=response)
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
        return Save(row, self.stored_entries, entries, response)

    def saved(self) -> None:
        """Note that the last `change` is stored."""
        self.stored_entries = 0 if self.match is None else len(self.match.events)

    def _finish(self, match: Match) -> None:
        row = self.row
        match.about[KEY] = {**match.about.get(KEY, {}), "secret": row.secret}
        row.header = written(record.header(match))
        row.state, row.result = OVER, dump(match.result)
        row.ended = match.stamps[-1].at if match.stamps else match.begun


def _fields(response: bytes) -> Fields:
    """The additional fields of a stored response."""
    found = msgspec.json.decode(response, type=dict[str, Any])
    return {key: value for key, value in found.items() if key not in ("type", "id", "ok")} or None


def usual(game: AnyGame, row: Row) -> bool:
    """Whether a finished match counts for ratings."""
    return game.usual() and not row.taken_back and not row.hinted
