"""The start of a match: seats, then hashes of the nonces, then the nonces, then the match.

The steps and deadlines: docs/reference/dice.md. A DuelsError means that nothing has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from duels.core import record
from duels.core.chance import commitment, first_player
from duels.core.clock import TimeControl
from duels.core.commitment import (
    KEY,
    WITHHELD,
    is_hash,
    is_nonce,
    nonce_hash,
    seed_proof,
    shared_seed,
)
from duels.core.errors import IllegalMove
from duels.core.match import Match
from duels.core.wire import Find
from duels.server.storage.base import (
    CLOSED,
    COMPUTER,
    HUMAN,
    PLAYING,
    STARTING,
    WAITING,
    Row,
    StoredSeat,
    encoded_header,
)

if TYPE_CHECKING:
    from duels.server.settings import Settings


class MatchStart:
    """The base of `Room`: the steps from free seats to the start of the match."""

    settings: Settings
    row: Row
    find: Find
    match: Match | None

    @property
    def humans(self) -> list[int]:
        seats = enumerate(self.row.seats)
        return [n for n, seat in seats if seat is not None and seat.kind == HUMAN]

    @property
    def computers(self) -> list[int]:
        seats = enumerate(self.row.seats)
        return [n for n, seat in seats if seat is not None and seat.kind == COMPUTER]

    @property
    def committed(self) -> bool:
        """Whether both players are bound to their nonces and have to reveal them."""
        starting = self.row.state == STARTING
        return starting and all(self.row.hashes[seat] for seat in self.humans)

    @property
    def revealed(self) -> bool:
        """Whether a nonce was revealed, so that the match must be played or forfeited."""
        return any(nonce is not None for nonce in self.row.nonces)

    @property
    def withholding(self) -> int | None:
        """The player who has not revealed a nonce although the opponent has; None otherwise."""
        missing = [seat for seat in self.humans if self.row.nonces[seat] is None]
        return missing[0] if self.committed and self.revealed and len(missing) == 1 else None

    def take_seat(self, seat: StoredSeat) -> None:
        """Give a player the free seat."""
        row = self.row
        if row.state != WAITING:
            raise IllegalMove("the seat is taken" if row.state != CLOSED else "the match is closed")
        row.seats[row.seats.index(None)] = seat
        self.seated()

    def seated(self) -> None:
        """Start to wait for the hashes of the nonces; called when both seats are taken."""
        self.row.state = STARTING
        self.row.deadline = self.settings.now() + self.settings.start_within
        self._await_nonces()

    def commit(self, seat: int, hash: str) -> None:
        """Bind a player to a nonce by its hash; only the first hash counts."""
        row = self.row
        if not is_hash(hash):
            raise IllegalMove("a hash must have 64 hexadecimal digits in lower case")
        if hash == row.hashes[seat]:
            return
        if row.hashes[seat] is not None:
            raise IllegalMove("this seat has already committed to another hash")
        if row.state not in (WAITING, STARTING):
            raise IllegalMove("the hash of a nonce must be sent before the match starts")
        row.hashes[seat] = hash
        self._await_nonces()

    def _await_nonces(self) -> None:
        """Once all hashes are known, give the players time to reveal their nonces."""
        if self.committed:
            self.row.deadline = self.settings.now() + self.settings.reveal_within

    def reveal(self, seat: int, nonce: str) -> None:
        """Reveal the nonce of a player; the last one starts the match."""
        row = self.row
        if nonce == row.nonces[seat]:
            return
        if not self.committed:
            raise IllegalMove("a nonce can be revealed only after both hashes are known")
        if not is_nonce(nonce):
            raise IllegalMove("a nonce must have 32 to 64 hexadecimal digits in lower case")
        if nonce_hash(row.id, seat, published(row), nonce) != row.hashes[seat]:
            raise IllegalMove("the nonce does not match the hash that this seat has given")
        row.nonces[seat] = nonce
        if all(row.nonces[human] for human in self.humans):
            self._start()

    def not_started(self, opened: float) -> None:
        """Handle the end of the time to start: a player who alone withheld a nonce forfeits.

        `opened` is when the server started. If that was after the wait for nonces began, the server
        may have been unreachable, so it waits for them as long again. If no nonce was revealed, no
        party has learned anything, and the match is closed.
        """
        seat, until = self.withholding, opened + self.settings.reveal_within
        if seat is None:
            self.close("A player did not arrive in time.")
        elif self.settings.now() < until:
            self.row.deadline = until
        else:
            self.forfeit_start(seat)

    def forfeit_start(self, seat: int) -> None:
        """Start the match as lost by a player who withheld a nonce."""
        match = self._begun(None)
        self.begin(match)
        match.forfeit(seat, WITHHELD)

    def close(self, reason: str) -> None:
        """Close a room whose match will not be played."""
        self.row.state, self.row.reason, self.row.deadline = CLOSED, reason, None
        self.row.origin = None

    def _start(self) -> None:
        one, two = (nonce or "" for nonce in self.row.nonces)
        self.begin(self._begun(shared_seed(int(self.row.secret), (one, two))))

    def _begun(self, seed: int | None) -> Match:
        """The match of this room; without a seed if a nonce is missing."""
        row = self.row
        options, first = dict(row.options), None
        if options.get("first") == "random":
            first = options.pop("first")
            if seed is not None:
                options["first"] = str(first_player(seed) + 1)
        nonces, hashes = self._shares()
        fair = seed_proof(int(row.secret), nonces, hashes, first)
        del fair["secret"]  # until the end
        kinds = ["" if seat is None else seat.kind for seat in row.seats]
        names = tuple("" if seat is None else seat.name for seat in row.seats)
        return Match(
            self.find(row.game, **options), seed, players=(names[0], names[1]), id=row.id,
            now=self.settings.now, time_control=time_control(row.time),
            about={KEY: fair, "seats": kinds},
        )  # fmt: skip

    def _shares(self) -> tuple[list[str | None], list[str]]:
        """Nonces and hashes in the form of a record: empty texts for a computer."""
        nonces = [
            "" if seat in self.computers else nonce for seat, nonce in enumerate(self.row.nonces)
        ]
        return nonces, [hash or "" for hash in self.row.hashes]

    def begin(self, match: Match) -> None:
        """Set the match of the room, which has started."""
        row = self.row
        self.match, row.state, row.begun = match, PLAYING, match.begun
        row.options, row.header = match.game.settings(), encoded_header(record.header(match))


def time_control(time: dict[str, float | None] | None) -> TimeControl:
    """A time control from JSON values, which are checked."""
    given: dict[str, Any] = {k: v for k, v in (time or {}).items() if v is not None}
    control = TimeControl(**given)
    control.check()
    return control


def published(row: Row) -> str:
    """The commitment to the secret of a room."""
    return commitment(int(row.secret)) or ""
