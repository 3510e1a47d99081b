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

# The states of a room.
WAITING, STARTING, PLAYING, OVER, CLOSED = "waiting", "starting", "playing", "over", "closed"
UNFINISHED = (WAITING, STARTING, PLAYING)
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


class Damage:
    """The matches whose stored data cannot be read, each logged once."""

    def __init__(self) -> None:
        self.rooms: set[str] = set()

    def report(self, room: str, error: Exception) -> None:
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

    damage: Damage

    @property
    def alive(self) -> bool:
        """False once the store has failed permanently, so that the process must be restarted."""

    async def check(self) -> None:
        """Read and write, as a move does; `Unavailable` if that is not possible now."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def save(self, change: Save) -> None: ...
    async def load(self, room: str) -> StoredRoom | None: ...
    async def row(self, room: str) -> Row | None: ...
    async def requested(self, request: str) -> str | None: ...
    async def due(self, now: float, most: int) -> list[str]: ...
    async def mine(self, digest: str) -> list[Row]: ...
    async def challenges(self, most: int) -> list[Row]: ...
    async def history(self, digest: str, before: float, most: int) -> list[Row]: ...
    async def name(self, digest: str) -> str | None: ...
    async def rename(self, digest: str, name: str, now: float) -> None: ...
    async def ratings_of(self, player: str) -> list[StoredRating]: ...
    async def ratings(self, game: str, most: int) -> list[StoredRating]: ...
    async def rating(self, game: str, player: str) -> StoredRating | None: ...
    async def unrated(self, most: int) -> list[Row]: ...
    def rating_in_turn(self) -> AbstractAsyncContextManager[None]: ...
    async def join(
        self, address: str, lost: Callable[[], Awaitable[None]], taken: Callable[[str], None]
    ) -> None: ...
    async def lease_holder(self, room: str) -> str | None: ...
    async def rate(self, room: str, changed: list[StoredRating]) -> None: ...
    async def forget_ratings(self) -> None: ...
    async def analysis(self, room: str) -> bytes | None: ...
    async def keep_analysis(self, room: str, data: bytes) -> None: ...
    async def finished(self, after: str, most: int) -> list[str]: ...


def packed(row: Row) -> str:
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


def written(header: dict[str, Any]) -> msgspec.Raw:
    """Encode the header of a record for a row."""
    return msgspec.Raw(msgspec.json.encode(header))


def columns(row: Row) -> tuple[Any, ...]:
    """The columns state, open, updated, deadline, ended, the two digests, data."""
    one, two = (None if seat is None else seat.digest for seat in row.seats)
    return (
        row.state, int(row.open), row.updated, row.deadline, row.ended, one, two, packed(row),
    )  # fmt: skip
