"""Before a match: creating it, joining it, withdrawing it, and the lists of the first page."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from duels.core.chance import new_seed
from duels.core.errors import IllegalMove, UnknownName
from duels.core.game import AnyGame
from duels.web import frames
from duels.web.computers import checked_level
from duels.web.hall import Hall
from duels.web.keys import public_id, same, usual_name
from duels.web.room import Room
from duels.web.starting import time_control
from duels.web.store import COMPUTER, HUMAN, STARTING, WAITING, Conflict, Row, Seat

FRIEND = "friend"
MOST_UNFINISHED = 200  # matches of one key
Short = Annotated[str, msgspec.Meta(max_length=100)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e6)]


class Time(msgspec.Struct, forbid_unknown_fields=True):
    """A time control, in seconds."""

    limit: Seconds | None = None
    budget: Seconds | None = None
    increment: Seconds = 0.0


class Wish(msgspec.Struct, forbid_unknown_fields=True):
    """What somebody who creates a match asks for."""

    game: Short
    options: dict[Short, Short] = {}
    opponent: Short = FRIEND
    open: bool = False
    seat: Annotated[int, msgspec.Meta(ge=1, le=2)] | Short = "random"
    time: Time | None = None
    request: Short | None = None


class Taken(IllegalMove):
    """It cannot be done any more: somebody else was first."""


class Lobby:
    """How rooms come to be."""

    def __init__(self, hall: Hall) -> None:
        self.hall, self.store, self.settings = hall, hall.store, hall.settings

    async def seat(self, digest: str, game: str) -> Seat:
        name = await self.store.name(digest) or usual_name(digest)
        id = public_id(digest)
        rating = await self.store.rating(game, id)
        return Seat(HUMAN, name, id, digest, None if rating is None else round(rating.rating))

    async def create(self, digest: str, wish: Wish) -> Row:
        """A new match; the same one for the same request."""
        request = None if wish.request is None else f"{digest} {wish.request}"
        if request is not None and (known := await self._requested(request)) is not None:
            return known
        row = await self._row(digest, wish, request)
        if len(await self.store.mine(digest)) >= MOST_UNFINISHED:
            raise Taken(f"you have {MOST_UNFINISHED} unfinished matches; finish or leave some")
        try:
            return (await self.hall.add(row)).row
        except Conflict:
            known = await self._requested(request or "")
            if known is None:
                raise
            return known

    async def _requested(self, request: str) -> Row | None:
        id = await self.store.requested(request)
        return None if id is None else await self.store.row(id)

    async def _row(self, digest: str, wish: Wish, request: str | None) -> Row:
        game = self._game(wish)
        time = None if wish.time is None else msgspec.structs.asdict(wish.time)
        control = time_control(time)
        if wish.opponent != FRIEND:
            checked_level(wish.opponent, game)
        options = game.settings()
        if wish.options.get("first") == "random":
            options["first"] = "random"
        if wish.seat not in (1, 2, "random"):
            raise IllegalMove("seat: expected 1, 2 or random")
        place = new_seed() % 2 if wish.seat == "random" else int(wish.seat) - 1
        seats: list[Seat | None] = [None, None]
        seats[place] = await self.seat(digest, game.slug)
        now = self.settings.now()
        state, within = WAITING, self.settings.wait_for
        if wish.opponent != FRIEND:
            known = await self.store.rating(game.slug, wish.opponent)
            seats[1 - place] = Seat(
                COMPUTER, wish.opponent, wish.opponent,
                rating=None if known is None else round(known.rating),
            )  # fmt: skip
            state, within = STARTING, self.settings.start_within
        return Row(
            self.settings.room_id(), game.slug, options, now, str(self.settings.secret()), seats,
            state=state, open=wish.open and state == WAITING, request=request,
            time=control._asdict() if control else None, updated=now, deadline=now + within,
        )  # fmt: skip

    def _game(self, wish: Wish) -> AnyGame:
        options: dict[str, Any] = dict(wish.options)
        if options.get("first") == "random":
            del options["first"]
        game = self.hall.find(wish.game, **options)
        if game.slug != wish.game:
            raise UnknownName(f"expected the whole name of a game: {game.slug}")
        return game

    async def join(self, id: str, digest: str) -> Row:
        """Take the free seat; whoever sits there already just comes back."""
        seat = None
        async with self.hall.using(id) as room:
            if place(room.row, digest) is None:
                seat = await self.seat(digest, room.row.game)

                def act() -> None:
                    if room.row.state != WAITING:
                        raise Taken("nobody can join this match any more")
                    room.take_seat(seat)

                await self.hall.change(room, act)
                self._seat_clients(room)
            return room.row

    def _seat_clients(self, room: Room) -> None:
        """Whoever looked on with the key that has a seat now plays."""
        for client in room.clients:
            seat = place(room.row, client.digest)
            if seat != client.seat:
                client.seat, client.known = seat, 0
                client.send(frames.welcome(room, seat))
                if room.match is not None:
                    client.send(frames.update(room, seat, 0))
                    client.known = len(room.match.events)
        self.hall.show_presence(room)

    async def leave(self, id: str, digest: str) -> Row:
        """Withdraw a match that has not started."""
        async with self.hall.using(id) as room:
            if place(room.row, digest) is None:
                raise IllegalMove("you have no seat in this match")

            def act() -> None:
                if room.row.state not in (WAITING, STARTING):
                    raise Taken("the match has started; you can resign")
                if room.revealed:  # else the dice could be looked at before one stays or goes
                    raise Taken("a nonce was revealed, so the match cannot be withdrawn any more")
                room.close("It was withdrawn.")

            await self.hall.change(room, act)
            return room.row


def place(row: Row, digest: str | None) -> int | None:
    """The seat that a key has, compared in constant time."""
    found = None
    for number, seat in enumerate(row.seats):
        if same(None if seat is None else seat.digest, digest):
            found = number
    return found
