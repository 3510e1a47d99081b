"""A room: one match with its seats, from the first invitation to the rematch. No input, no output.

Everything that is done here changes the `row` and the `match`; `change` says what to write of it.
If that cannot be written the room is thrown away and made again from the store.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from duels.core import record
from duels.core.errors import DuelsError, IllegalMove, StaleMove, UnknownName
from duels.core.fair import KEY
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.reading import read_move
from duels.core.show import Step, player_name
from duels.core.wire import Find, dump
from duels.web.starting import Starting
from duels.web.store import OVER, STARTING, Kept, Row, Save, header, written

if TYPE_CHECKING:
    from duels.web.settings import Settings

PLAIN = b""  # stands for an answer that says no more than yes, as most do
REMEMBERED = 64  # refusals; what was granted is remembered for good


class Client(Protocol):
    """One connection: who it is and how it is told something."""

    digest: str | None  # of the key it came with
    seat: int | None
    known: int  # events it has been told

    def send(self, frame: bytes) -> None: ...
    def dismiss(self, frame: bytes, code: int) -> None: ...


class NoRoom(UnknownName):
    """There is no such match."""


class Incomplete(IllegalMove):
    """What was typed makes sense so far, and there is more to ask."""

    def __init__(self, so_far: str, step: Step) -> None:
        super().__init__(step.prompt)
        self.so_far, self.step = so_far, step


class Room(Starting):
    """A room in memory. Whoever reads or changes it holds its `lock`."""

    def __init__(self, settings: Settings, kept: Kept, find: Find) -> None:
        self.settings, self.row, self.find = settings, kept.row, find
        self.match: Match | None = None
        self.stored = len(kept.entries)  # entries that are on disk
        self.answers = {
            name: PLAIN if answer.endswith(b'"ok":true}') else answer
            for name, answer in kept.answers.items()
        }
        self.refusals: dict[str, bytes] = {}
        self.lock = asyncio.Lock()
        self.clients: set[Client] = set()
        self.used = settings.now()
        self.away = [self.used, self.used]  # since when, where a player is not connected
        self.thinking: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.gone = False  # no longer the room that counts
        if (begun := header(kept.row)) is not None:
            self.match = record.follow(begun, kept.entries, find, now=settings.now)
            if kept.row.pending is not None:
                self.match.restore(kept.row.pending)
            if kept.row.offer is not None:
                self.match.offer_undo(kept.row.offer)
        elif not kept.row.hashes:
            # New, or stored before nonces had hashes: a nonce without one does not count.
            kept.row.nonces, kept.row.hashes = [None, None], [None, None]

    # What is true of it.

    def playing(self) -> Match:
        """The match, for what can only be done while it is played."""
        if self.match is None:
            raise IllegalMove("the match has not started")
        return self.match

    def time_out(self) -> None:
        """Whoever is too late has run out of time."""
        match = self.playing()
        for player in match.late_players():
            match.time_out(player)

    def shown(self) -> Any:
        """What a `match` frame is sent for when it changes."""
        row = self.row
        names = [seat and seat.name for seat in row.seats]
        return row.state, names, row.rematch, list(row.hashes), list(row.nonces)

    def claimable(self) -> tuple[int, float] | None:
        """The player who is away though a pick of theirs is awaited, and when that is too long."""
        match, here = self.match, {client.seat for client in self.clients}
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

    # While it is played. What is refused raises a DuelsError and changes nothing.

    def submit(
        self, seat: int, at: int, move: str | None, text: str | None = None, so_far: str = ""
    ) -> None:
        """A pick, as one of the options or as somebody typed it."""
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

        try:
            if so_far:  # nobody but us has checked it
                so_far, _ = read_move(ask, so_far)
            move, step = read_move(ask, text, so_far)
        except DuelsError:
            if not so_far:
                raise
            move, step = read_move(ask, text)
        if step is not None:
            raise Incomplete(move, step)
        return move

    def undo(self, seat: int, at: int) -> None:
        """Take back at once against a computer; a person is asked."""
        match = self.playing()
        if self.computers:
            match.undo(seat, at=at)
        else:
            match.offer_undo(seat, at=at)

    def claim(self, seat: int) -> None:
        """The win, because the other has left for good, or withholds a nonce."""
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
        """Whether everybody wishes a rematch if this player does, and there is none yet."""
        wished = {*self.row.offers, seat + 1}
        return (
            self.row.state == OVER and self.row.rematch is None and len(wished) == len(self.humans)
        )

    def wish_rematch(self, seat: int, made: str | None) -> None:
        """A player wishes one; `made` is the room of it where both do."""
        if self.row.state != OVER:
            raise IllegalMove("the match is not over")
        if self.row.rematch is None:
            self.row.offers = sorted({*self.row.offers, seat + 1})
            self.row.rematch = made

    def rematch(self) -> Row:
        """A new room with seats swapped."""
        row, now = self.row, self.settings.now()
        return Row(
            self.settings.room_id(), row.game, dict(row.options), now, str(self.settings.secret()),
            row.seats[::-1], state=STARTING, time=row.time, updated=now, before=row.id,
            deadline=now + self.settings.start_within,
        )  # fmt: skip

    # What is to be written.

    def change(self, answer: tuple[str, bytes] | None = None) -> Save:
        """All that is not on disk yet; the row says what is true now."""
        row, match = self.row, self.match
        row.updated = self.settings.now()
        if match is None:
            return Save(row, answer=answer)
        if match.result is not None and row.state != OVER:
            self._finish(match)
        row.pending = match.pending() if match.sealed else None
        row.offer = None if match.offer is None else match.offer.player
        row.moment = len(match.events)
        row.to_move = [player + 1 for player in match.deciders]
        times = [match.deadline(player) for player in match.deciders]
        row.deadline = min((time for time in times if time is not None), default=None)
        new = range(self.stored, len(match.events))
        if any(type(match.events[n]).__name__ == "Undo" for n in new):
            row.taken_back = match.taken_back
        entries = tuple(msgspec.json.encode(record.entry(match, number)) for number in new)
        return Save(row, self.stored, entries, answer)

    def saved(self) -> None:
        """What `change` said is on disk."""
        self.stored = 0 if self.match is None else len(self.match.events)

    def _finish(self, match: Match) -> None:
        row = self.row
        match.about[KEY] = {**match.about.get(KEY, {}), "secret": row.secret}
        row.header = written(record.header(match))
        row.state, row.result = OVER, dump(match.result)
        row.ended = match.stamps[-1].at if match.stamps else match.begun


def usual(game: AnyGame, row: Row) -> bool:
    """Whether a finished match counts for ratings."""
    return game.usual() and not row.taken_back and not row.hinted
