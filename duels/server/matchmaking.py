"""Creating, joining and withdrawing matches."""

from __future__ import annotations

from hashlib import sha256
from ipaddress import ip_address
from typing import Annotated, Any

import msgspec

from duels.client.identity import public_id, same, usual_name
from duels.core.chance import new_seed
from duels.core.errors import IllegalMove, UnknownName, quote
from duels.core.game import AnyGame
from duels.server import messages
from duels.server.computer_players import checked_level
from duels.server.match_start import time_control
from duels.server.room_manager import RoomManager
from duels.server.rooms import Room
from duels.server.storage.base import COMPUTER, HUMAN, STARTING, WAITING, Conflict, Row, StoredSeat

FRIEND = "friend"
MOST_UNFINISHED = 200  # matches of one key
Short = Annotated[str, msgspec.Meta(max_length=100)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e6)]


class Time(msgspec.Struct, forbid_unknown_fields=True):
    """A time control, in seconds."""

    limit: Seconds | None = None
    budget: Seconds | None = None
    increment: Seconds = 0.0


class NewMatch(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request to create a match."""

    game: Short
    options: dict[Short, Short] = {}
    opponent: Short = FRIEND
    open: bool = False
    seat: Annotated[int, msgspec.Meta(ge=1, le=2)] | Short = "random"
    time: Time | None = None
    request: Short | None = None
    games: Annotated[int, msgspec.Meta(ge=1, le=2)] = 1  # two: the second with the seats swapped


class NotAllowed(IllegalMove):
    """The state of the match, or of the player's matches, does not allow the request."""


class Matchmaking:
    """Creates rooms and fills their seats."""

    def __init__(self, manager: RoomManager) -> None:
        self.manager, self.store, self.settings = manager, manager.store, manager.settings

    async def seat(self, digest: str, game: str) -> StoredSeat:
        name = await self.store.name(digest) or usual_name(digest)
        id = public_id(digest)
        rating = await self.store.rating(game, id)
        return StoredSeat(HUMAN, name, id, digest, None if rating is None else round(rating.rating))

    async def create(self, digest: str, body: NewMatch, user: str = "") -> Row:
        """Create a match; a repeated request gets the same match.

        The user is the address group of the client.
        """
        request = None if body.request is None else f"{digest} {body.request}"
        if request is not None and (known := await self._requested(request)) is not None:
            return known
        self.manager.overload.check(user, body.opponent)
        row = await self._row(digest, body, request)
        row.origin = origin(row, user) if row.state == WAITING else None
        if len(await self.store.mine(digest)) >= MOST_UNFINISHED:
            raise NotAllowed(f"you have {MOST_UNFINISHED} unfinished matches; finish or leave some")
        try:
            return (await self.manager.add(row)).row
        except Conflict:
            known = await self._requested(request or "")
            if known is None:
                raise
            return known

    async def _requested(self, request: str) -> Row | None:
        id = await self.store.requested(request)
        return None if id is None else await self.store.row(id)

    async def _row(self, digest: str, body: NewMatch, request: str | None) -> Row:
        game = self._game(body)
        time = None if body.time is None else msgspec.structs.asdict(body.time)
        control = time_control(time)
        if body.opponent != FRIEND:
            checked_level(body.opponent, game)
        options = game.settings()
        if body.options.get("first") == "random":
            options["first"] = "random"
        if body.seat not in (1, 2, "random"):
            raise IllegalMove("seat: expected 1, 2 or random")
        place = new_seed() % 2 if body.seat == "random" else int(body.seat) - 1
        seats: list[StoredSeat | None] = [None, None]
        seats[place] = await self.seat(digest, game.slug)
        now = self.settings.now()
        state, within = WAITING, self.settings.wait_for
        if body.opponent != FRIEND:
            known = await self.store.rating(game.slug, body.opponent)
            seats[1 - place] = StoredSeat(
                COMPUTER, body.opponent, body.opponent,
                rating=None if known is None else round(known.rating),
            )  # fmt: skip
            state, within = STARTING, self.settings.start_within
        return Row(
            self.settings.room_id(), game.slug, options, now, str(self.settings.secret()), seats,
            state=state, open=body.open and state == WAITING, request=request,
            time=control._asdict() if control else None, updated=now, deadline=now + within,
            games=body.games,
        )  # fmt: skip

    def _game(self, body: NewMatch) -> AnyGame:
        options: dict[str, Any] = dict(body.options)
        if options.get("first") == "random":
            del options["first"]
        game = self.manager.find(body.game, **options)
        if game.slug != body.game:
            raise UnknownName(f"game: expected {quote(game.slug)}; got {quote(body.game)}")
        return game

    async def join(self, id: str, digest: str, user: str = "") -> Row:
        """Take the free seat; a player of the match joins again without effect."""
        seat = None
        async with self.manager.using(id) as room:
            if seat_of(room.row, digest) is None:
                seat = await self.seat(digest, room.row.game)

                def act() -> None:
                    if room.row.state != WAITING:
                        raise NotAllowed("this match can no longer be joined")
                    row = room.row
                    row.near = row.origin is not None and row.origin == origin(row, user)
                    row.origin = None
                    room.take_seat(seat)

                await self.manager.change(room, act)
                self._update_seats(room)
            return room.row

    def _update_seats(self, room: Room) -> None:
        """Give the seats of a room to connections that were opened before their keys had one."""
        for connection in room.connections:
            seat = seat_of(room.row, connection.digest)
            if seat != connection.seat:
                connection.seat, connection.known = seat, 0
                connection.send(messages.welcome(room, seat))
                if room.match is not None:
                    self.manager.send_whole_update(room, connection, 0)
        self.manager.send_presence(room)

    async def leave(self, id: str, digest: str) -> Row:
        """Withdraw a match that has not started."""
        async with self.manager.using(id) as room:
            if seat_of(room.row, digest) is None:
                raise IllegalMove("you have no seat in this match")

            def act() -> None:
                if room.row.state not in (WAITING, STARTING):
                    raise NotAllowed("the match has started; you can resign")
                if room.revealed:  # else a player could withdraw after computing the dice
                    raise NotAllowed(
                        "a nonce was revealed, so the match can no longer be withdrawn"
                    )
                room.close("It was withdrawn.")

            await self.manager.change(room, act)
            return room.row

    async def resign(self, id: str, digest: str) -> Row:
        """Resign a match that is played."""
        async with self.manager.using(id) as room:
            seat = seat_of(room.row, digest)
            if seat is None:
                raise IllegalMove("you have no seat in this match")
            await self.manager.change(room, lambda: room.playing().resign(seat))
            return room.row


def origin(row: Row, user: str) -> str | None:
    """A digest of the address group of a player of a room; None for this machine.

    It contains the secret of the room, so that those of two rooms cannot be compared.
    """
    try:
        found = ip_address(user)
    except ValueError:
        return None
    if found.is_loopback or found.is_unspecified:  # the group of ::1 is ::
        return None
    return sha256(f"duels origin {row.secret} {user}".encode()).hexdigest()[:32]


def seat_of(row: Row, digest: str | None) -> int | None:
    """The seat of a key, found in constant time."""
    found = None
    for number, seat in enumerate(row.seats):
        if same(None if seat is None else seat.digest, digest):
            found = number
    return found
