"""What a store keeps: rooms, the entries of their matches, what was answered, names, ratings.

A room is written with the version it was read at; whoever comes second is refused with `Conflict`,
reads it again and decides anew. So two processes can never both go on with one match. `save`
returns when it is on disk.
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
log = logging.getLogger("duels.web")


class Conflict(Exception):
    """Somebody else has changed the room meanwhile."""


class Unavailable(DuelsError):
    """Nothing can be written or read now; nothing was changed."""


class StoreError(DuelsError):
    """One item cannot be read or written, now or later; nothing was changed.

    Other matches are not affected. Its text, which clients are shown, quotes no stored value.
    """


class Seat(msgspec.Struct):
    """Who sits there. A computer has no digest of a key."""

    kind: str
    name: str
    id: str
    digest: str | None = None
    rating: int | None = None


NOTHING = msgspec.Raw(b"null")


class Row(msgspec.Struct):
    """A room as it is kept. Holds secrets: the dice's, the seed's, sealed picks."""

    id: str
    game: str
    options: dict[str, str]
    created: float
    secret: str
    seats: list[Seat | None]
    version: int = 0
    state: str = WAITING
    open: bool = False
    request: str | None = None
    time: dict[str, float | None] | None = None
    updated: float = 0.0
    deadline: float | None = None  # when to look at it even if nobody does
    begun: float | None = None
    ended: float | None = None
    nonces: list[str | None] = []  # as revealed
    hashes: list[str | None] = []  # of the nonces; empty if it began before there were any
    header: msgspec.Raw = NOTHING  # of the record once it has begun, as JSON: it rarely changes
    pending: dict[str, Any] | None = None  # sealed picks
    offer: int | None = None  # the player who asks to take back
    result: dict[str, Any] | None = None
    moment: int = 0
    to_move: list[int] = []
    taken_back: int = 0
    hinted: bool = False
    reason: str = ""  # why it was closed
    offers: list[int] = []  # players who wish a rematch
    rematch: str | None = None  # the room of the rematch
    before: str | None = None  # the room that this one is a rematch of


class Kept(NamedTuple):
    """A room with all that belongs to it."""

    row: Row
    entries: list[dict[str, Any]]
    answers: dict[str, bytes]  # by seat and id


class Save(NamedTuple):
    """One change of a room: to be written whole or not at all."""

    row: Row  # with the version it was read at, 0 for a new one
    number: int = 0  # of the first of the entries
    entries: tuple[bytes, ...] = ()
    answer: tuple[str, bytes] | None = None  # the seat and id of a command, and its answer


class Rating(msgspec.Struct):
    """How strong somebody has shown to be at a game."""

    game: str
    player: str  # a public id, or the name of a level
    kind: str
    name: str
    rating: float
    deviation: float
    volatility: float
    matches: int


class Damage:
    """The matches whose stored data cannot be read, each of them logged once."""

    def __init__(self) -> None:
        self.rooms: set[str] = set()

    def report(self, room: str, error: Exception) -> None:
        if room not in self.rooms:
            self.rooms.add(room)
            # The text of other errors may quote what is stored, which holds secrets.
            what = error if isinstance(error, StoreError) else type(error).__name__
            log.error("the stored match %s is damaged and left out: %s", room, what)


class Store(Protocol):
    """Where everything is kept.

    Every method raises `Unavailable` where the database fails, and `StoreError` where the item that
    it is asked for fails alone.
    """

    damage: Damage

    @property
    def alive(self) -> bool:
        """False once the store has failed for good, so that the process must be restarted."""

    async def check(self) -> None:
        """Read and write, as a move does; `Unavailable` where that is not possible now."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def save(self, change: Save) -> None: ...
    async def load(self, room: str) -> Kept | None: ...
    async def row(self, room: str) -> Row | None: ...
    async def requested(self, request: str) -> str | None: ...
    async def due(self, now: float, most: int) -> list[str]: ...
    async def mine(self, digest: str) -> list[Row]: ...
    async def challenges(self, most: int) -> list[Row]: ...
    async def history(self, digest: str, before: float, most: int) -> list[Row]: ...
    async def name(self, digest: str) -> str | None: ...
    async def rename(self, digest: str, name: str, now: float) -> None: ...
    async def ratings_of(self, player: str) -> list[Rating]: ...
    async def ratings(self, game: str, most: int) -> list[Rating]: ...
    async def rating(self, game: str, player: str) -> Rating | None: ...
    async def unrated(self, most: int) -> list[Row]: ...
    def rating_in_turn(self) -> AbstractAsyncContextManager[None]: ...
    async def join(self, address: str, lost: Callable[[], Awaitable[None]]) -> None: ...
    async def owner(self, room: str) -> str | None: ...
    async def rate(self, room: str, changed: list[Rating]) -> None: ...
    async def forget_ratings(self) -> None: ...
    async def analysis(self, room: str) -> bytes | None: ...
    async def keep_analysis(self, room: str, data: bytes) -> None: ...
    async def finished(self, after: str, most: int) -> list[str]: ...


def packed(row: Row) -> str:
    return msgspec.json.encode(row).decode()


_read_row = msgspec.json.Decoder(Row).decode


def unpacked(data: Any, version: Any, id: str) -> Row:
    """The row, with the version of its column, which is the one that counts."""
    try:
        row = _read_row(data)
        if not isinstance(version, int) or len(row.seats) != 2:
            raise ValueError(f"version {version!r}, {len(row.seats)} seats")
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        raise StoreError(f"the stored match {id} is damaged: {error}") from None
    row.version = version
    row.header = row.header.copy()  # else it would hold on to all of the data
    return row


def kept(room: tuple[Any, Any, str], entries: list[Any], answers: list[tuple[str, Any]]) -> Kept:
    """A room of the columns that were read; `StoreError` if it is damaged."""
    row = unpacked(*room)
    try:
        for _, answer in answers:
            if not isinstance(answer, bytes):
                raise ValueError(f"an answer is of type {type(answer).__name__}")
        return Kept(row, [msgspec.json.decode(data) for data in entries], dict(answers))
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        raise StoreError(f"the entries of the stored match {row.id} are damaged: {error}") from None


def header(row: Row) -> dict[str, Any] | None:
    """The header of the record; None before the match has begun."""
    found: dict[str, Any] | None = msgspec.json.decode(row.header)
    return found


def written(header: dict[str, Any]) -> msgspec.Raw:
    """A header as a row keeps it."""
    return msgspec.Raw(msgspec.json.encode(header))


def columns(row: Row) -> tuple[Any, ...]:
    """What is looked for by: state, open, updated, deadline, ended, the two digests, data."""
    one, two = (None if seat is None else seat.digest for seat in row.seats)
    return (
        row.state, int(row.open), row.updated, row.deadline, row.ended, one, two, packed(row),
    )  # fmt: skip
