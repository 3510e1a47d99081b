"""The interface of a store: rooms, entries of matches, responses, names, ratings.

A room is written with the version at which it was read; a second writer gets `Conflict` and has to
read it again. So two processes can never both continue one match. `save` returns when the change is
on disk.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Protocol

import msgspec

from duels.core.errors import DuelsError
from duels.server.metrics import Histogram

# The states of a room.
WAITING, STARTING, PLAYING, OVER, CLOSED = "waiting", "starting", "playing", "over", "closed"
HUMAN, COMPUTER = "human", "computer"
log = logging.getLogger("duels.server")


class Conflict(Exception):
    """Another writer has changed the room meanwhile."""


class Unavailable(DuelsError):
    """The store cannot be read or written now; nothing was changed."""


class StoreError(DuelsError):
    """One item cannot be read or written, now or later; nothing was changed.

    Other matches are not affected. Clients are shown the message, so it contains no stored value.
    """


class StoredSeat(msgspec.Struct):
    """The player of a seat. A computer player has no digest of a key."""

    kind: str
    name: str
    id: str
    digest: str | None = None
    rating: int | None = None


NOTHING = msgspec.Raw(b"null")


class Row(msgspec.Struct):
    """A room as it is stored. Contains secrets: of the dice, the seed, sealed choices."""

    id: str
    game: str
    options: dict[str, str]
    created: float
    secret: str
    seats: list[StoredSeat | None]
    version: int = 0
    state: str = WAITING
    open: bool = False
    request: str | None = None
    time: dict[str, float | None] | None = None
    updated: float = 0.0
    deadline: float | None = None  # when the room must change without a command
    begun: float | None = None
    ended: float | None = None
    nonces: list[str | None] = []  # as revealed
    hashes: list[str | None] = []  # of the nonces; empty in matches stored before there were hashes
    header: msgspec.Raw = NOTHING  # of the record, as JSON; null before the start
    pending: dict[str, Any] | None = None  # sealed choices
    offer: int | None = None  # the player who asks to undo
    result: dict[str, Any] | None = None
    moment: int = 0
    to_move: list[int] = []
    taken_back: int = 0
    hinted: bool = False
    reason: str = ""  # why it was closed
    offers: list[int] = []  # players who offer a rematch
    rematch: str | None = None  # the room of the rematch
    before: str | None = None  # the room that this one is a rematch of
    games: int = 1  # of the match; the second is played with the seats swapped
    second: bool = False  # this is the second game; `before` is the first
    origin: str | None = None  # a digest of the creator's address, until the opponent joins
    near: bool = False  # both players came from one address


class StoredRoom(NamedTuple):
    """A room with its entries and responses."""

    row: Row
    entries: list[dict[str, Any]]
    responses: dict[str, bytes]  # by seat and id


class Save(NamedTuple):
    """One change of a room, written atomically."""

    row: Row  # with the version at which it was read, 0 for a new one
    number: int = 0  # of the first entry
    entries: tuple[bytes, ...] = ()
    response: tuple[str, bytes] | None = None  # the seat and id of a command, and its response
    expired: tuple[str, ...] = ()  # seats and ids of commands whose responses are deleted


class RoomAge(NamedTuple):
    """When a room was last used, and what is stored of it, for its retention."""

    id: str
    version: int
    state: str
    updated: float
    deadline: float | None
    ended: float | None
    rated: bool
    derived: bool  # whether an analysis or responses are stored


class NameAge(NamedTuple):
    """When a name was chosen, and whether a match of its player is stored."""

    digest: str
    since: float
    used: bool


class StoredRating(msgspec.Struct):
    """The rating of a player in a game."""

    game: str
    player: str  # a public id, or the name of a level
    kind: str
    name: str
    rating: float
    deviation: float
    volatility: float
    matches: int


class Ban(msgspec.Struct):
    """A ban of a player, by public id."""

    player: str
    reason: str
    since: float
    until: float | None  # None: without end


class Report(msgspec.Struct):
    """A report of a match by one of its players."""

    room: str
    player: str  # the public id of the player who reports
    reason: str
    at: float


class Notice(msgspec.Struct):
    """A change of the store beside the server, which its processes have to apply."""

    id: str
    at: float
    kind: str  # ROOM, PLAYER or BANS
    subject: str


class DamageLog:
    """The matches whose stored data cannot be read, each logged once."""

    def __init__(self) -> None:
        self.rooms: set[str] = set()

    def report(self, room: str, error: Exception) -> None:
        """Log a damaged match, unless it was logged before."""
        if room not in self.rooms:
            self.rooms.add(room)
            # Messages of other errors may contain stored values, which are secret.
            what = error if isinstance(error, StoreError) else type(error).__name__
            log.error("the stored match %s is damaged and skipped: %s", room, what)


class RoomStore(Protocol):
    """The interface of a store.

    Every method raises `Unavailable` if the database fails, and `StoreError` if only the requested
    item does.
    """

    damage: DamageLog
    times: Histogram  # of transactions

    @property
    def alive(self) -> bool:
        """False once the store has failed permanently, so that the process must be restarted."""

    async def check(self) -> None:
        """Read and write, as a move does; `Unavailable` if that is not possible now."""

    async def open(self) -> None:
        """Open the database and migrate it."""

    async def close(self) -> None:
        """Complete pending writes and close the database."""

    async def save(self, change: Save) -> None:
        """Write a change of a room; `Conflict` if the room was changed meanwhile."""

    async def load(self, room: str) -> StoredRoom | None:
        """A room with its entries and responses."""

    async def row(self, room: str) -> Row | None:
        """The row of a room."""

    async def requested(self, request: str) -> str | None:
        """The room created by a request with this id."""

    async def due(self, now: float, most: int) -> list[str]:
        """Rooms whose deadline has passed."""

    async def mine(self, digest: str) -> list[Row]:
        """The unfinished matches of a key."""

    async def challenges(self, most: int) -> list[Row]:
        """Open matches with a free seat."""

    async def history(self, digest: str, before: float, most: int) -> list[Row]:
        """The finished matches of a key, newest first."""

    async def name(self, digest: str) -> str | None:
        """The name that the owner of a key has chosen."""

    async def rename(self, digest: str, name: str, now: float) -> None:
        """Store the name of the owner of a key."""

    async def ratings_of(self, player: str) -> list[StoredRating]:
        """The ratings of a player in all games."""

    async def ratings(self, game: str, most: int) -> list[StoredRating]:
        """The best ratings of a game: those with a small deviation, then the others."""

    async def rating(self, game: str, player: str) -> StoredRating | None:
        """The rating of a player in a game."""

    async def unrated(self, most: int) -> list[Row]:
        """Finished matches that are not counted in ratings yet, in order of their end."""

    def rating_in_turn(self) -> AbstractAsyncContextManager[None]:
        """A lock under which matches are rated one at a time."""

    async def join(
        self, address: str, lost: Callable[[], Awaitable[None]], taken: Callable[[str], None]
    ) -> None:
        """Become one of several workers, reachable at an address.

        `lost` is called when the leases may be lost, `taken` with a room whose lease was another
        worker's before.
        """

    @property
    def leases_valid(self) -> bool:
        """False if other workers may have taken rooms of this one: it must not show them."""

    async def lease_holder(self, room: str) -> str | None:
        """The address of the worker with the lease of a room; None if this one has or gets it."""

    async def paired(self, row: Row, since: float) -> int:
        """How many matches of the players of a match in its game are counted, that ended since."""

    async def rate(self, room: str, changed: list[StoredRating]) -> None:
        """Store the ratings that a match has changed; `Conflict` if it was counted before."""

    async def forget_ratings(self) -> None:
        """Delete all ratings and mark all matches as not counted."""

    async def analysis(self, room: str) -> bytes | None:
        """The stored analysis of a match."""

    async def keep_analysis(self, room: str, data: bytes) -> None:
        """Store the analysis of a match."""

    async def latest(self, state: str | None, most: int) -> list[Row]:
        """The matches, in one state or all, that changed last."""

    async def all_of(self, digest: str, after: str, most: int) -> list[Row]:
        """The matches of a key in any state with an id after `after`, in ascending order."""

    async def digests(self) -> list[str]:
        """The digests of all keys with a name or a match."""

    async def chosen_names(self) -> dict[str, str]:
        """All names that players have chosen, by digest."""

    async def bans(self) -> list[Ban]:
        """All bans, ended ones included."""

    async def ban(self, ban: Ban) -> None:
        """Store a ban, which replaces an earlier one of the player."""

    async def unban(self, player: str) -> bool:
        """Delete a ban; returns whether there was one."""

    async def report(self, report: Report) -> bool:
        """Store a report; False if the player has reported the match before."""

    async def reports(self, most: int) -> list[Report]:
        """The last reports."""

    async def reports_by(self, player: str) -> list[Report]:
        """The reports that a player has made."""

    async def notify(self, notice: Notice) -> None:
        """Store a notice."""

    async def forget_notices(self, before: float) -> None:
        """Delete the notices from before a time."""

    async def notices(self, since: float) -> list[Notice]:
        """The notices since a time."""

    async def ended_after(self, ended: float, room: str, most: int) -> list[Row]:
        """Finished matches after one, in the order in which they ended."""

    async def profile(self, room: str) -> str | None:
        """The stored choices of a match, for `duels admin suspects`."""

    async def keep_profile(self, room: str, data: str) -> None:
        """Store the choices of a match."""

    async def rename_ratings(self, player: str, name: str) -> None:
        """Change the name of a player in ratings."""

    async def forget_analysis(self, room: str) -> None:
        """Delete the analysis of a match."""

    async def forget_match(self, room: str) -> None:
        """Delete a match with everything about it."""

    async def forget_player(self, digest: str, player: str) -> None:
        """Delete the name, ratings, reports and idempotency keys of a player, not the matches."""

    async def finished(self, after: str, most: int) -> list[str]:
        """Ids of finished matches after an id, in ascending order."""

    async def ages(self, after: str, most: int) -> list[RoomAge]:
        """The ages of the rooms after an id, in ascending order."""

    async def delete_rooms(self, rooms: list[tuple[str, int]]) -> int:
        """Delete rooms that still have these versions, with all that is stored of them.

        Returns how many were deleted. A process that has such a room in memory gets a `Conflict`
        when it writes it.
        """

    async def delete_derived(self, room: str) -> None:
        """Delete the analysis of a finished match and the responses to its commands."""

    async def name_ages(self, after: str, most: int) -> list[NameAge]:
        """The ages of the names after a digest, in ascending order."""

    async def delete_name(self, digest: str, before: float) -> None:
        """Delete a name that was chosen before a time and whose player has no match."""

    async def delete_orphans(self) -> None:
        """Delete leases of rooms that do not exist, and workers that ended long ago."""

    async def rooms(self, after: str, most: int) -> list[str]:
        """Ids of all matches after an id, in ascending order."""

    async def version(self) -> int:
        """The number of migrations that were applied."""


def packed(row: Row) -> str:
    """Encode a row for the column `data`."""
    return msgspec.json.encode(row).decode()


_read_row = msgspec.json.Decoder(Row).decode


def unpacked(data: Any, version: Any, id: str) -> Row:
    """Decode a row; the version is that of the column."""
    try:
        row = _read_row(data)
        if not isinstance(version, int) or len(row.seats) != 2:
            raise ValueError(f"version {version!r}, {len(row.seats)} seats")
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        raise StoreError(f"the stored match {id} is damaged: {error}") from None
    row.version = version
    row.header = row.header.copy()  # else it would keep all of the data in memory
    return row


def stored_room(
    room: tuple[Any, Any, str], entries: list[Any], responses: list[tuple[str, Any]]
) -> StoredRoom:
    """Decode a room; `StoreError` if it is damaged."""
    row = unpacked(*room)
    try:
        for _, response in responses:
            if not isinstance(response, bytes):
                raise ValueError(f"a response is of type {type(response).__name__}")
        return StoredRoom(row, [msgspec.json.decode(data) for data in entries], dict(responses))
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        raise StoreError(f"the entries of the stored match {row.id} are damaged: {error}") from None


def header(row: Row) -> dict[str, Any] | None:
    """The header of the record; None before the match has begun."""
    found: dict[str, Any] | None = msgspec.json.decode(row.header)
    return found


def encoded_header(header: dict[str, Any]) -> msgspec.Raw:
    """Encode the header of a record for a row."""
    return msgspec.Raw(msgspec.json.encode(header))


def columns(row: Row) -> tuple[Any, ...]:
    """The columns state, open, updated, deadline, ended, the two digests, data."""
    one, two = (None if seat is None else seat.digest for seat in row.seats)
    return (
        row.state, int(row.open), row.updated, row.deadline, row.ended, one, two, packed(row),
    )  # fmt: skip
