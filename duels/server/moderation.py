"""Moderation: bans, renames, closing and deleting, on the store, beside running servers.

`Moderation` changes the store; a room is written at the version at which it was read, as servers
do. For each change it stores a notice, and every server process applies the new notices within
about a second (`Notices`): it loads a changed room again, disconnects the clients of a match that
was closed or deleted and those of a banned or deleted player, and reads the bans.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple

from duels.client.identity import public_id, usual_name
from duels.client.names import DELETED, checked_name, skeleton
from duels.core import record
from duels.core.errors import DuelsError, OptionError, UnknownName, quote
from duels.core.wire import Find
from duels.games import load
from duels.server import messages
from duels.server.match_start import published
from duels.server.matchmaking import NotAllowed, seat_of
from duels.server.notices import BANS, PLAYER, ROOM
from duels.server.ratings import rate_all
from duels.server.rooms import NoRoom, Room
from duels.server.settings import Settings
from duels.server.storage.base import (
    CLOSED,
    OVER,
    Ban,
    Conflict,
    Notice,
    RoomStore,
    Row,
    Save,
    Unavailable,
    encoded_header,
    header,
)

ATTEMPTS = 20  # to write a room that a server changes at the same time
AT_ONCE = 100  # matches
LONGEST_REASON = 500  # characters


class KnownPlayer(NamedTuple):
    """A player as an operator sees it."""

    digest: str
    id: str
    name: str


class Moderation:
    """Changes of a store by its operator, or by a player who deletes their own data."""

    def __init__(
        self, store: RoomStore, settings: Settings | None = None, find: Find = load
    ) -> None:
        self.store, self.settings, self.find = store, settings or Settings(), find

    # Players.

    async def players(self) -> list[KnownPlayer]:
        """All players with a name or a match."""
        names = await self.store.chosen_names()
        return [
            KnownPlayer(digest, public_id(digest), names.get(digest) or usual_name(digest))
            for digest in await self.store.digests()
        ]

    async def search(self, text: str) -> list[KnownPlayer]:
        """The players whose name contains a text or a similar one, or whose id begins with it."""
        wanted = skeleton(text)
        return [
            player
            for player in await self.players()
            if player.id.startswith(text) or (wanted and wanted in skeleton(player.name))
        ]

    async def player(self, id: str) -> KnownPlayer:
        """The player with a public id."""
        for player in await self.players():
            if player.id == id:
                return player
        raise UnknownName(f"there is no player with the id {quote(id)}")

    async def rename(self, id: str, name: str) -> str:
        """Rename a player, also in ratings and in all matches; returns the name."""
        player, name = await self.player(id), checked_name(name)
        await self.store.rename(player.digest, name, self.settings.now())
        await self.store.rename_ratings(id, name)
        after = ""
        while rows := await self.store.all_of(player.digest, after, AT_ONCE):
            for row in rows:
                await self._relabel(
                    row.id, player.digest, lambda row, seat: _named(row, seat, name)
                )
            after = rows[-1].id
        return name

    async def ban(self, id: str, reason: str = "", days: float | None = None) -> Ban:
        """Ban a player; running matches are resigned, waiting ones withdrawn."""
        if len(reason) > LONGEST_REASON:
            raise OptionError(f"a reason may have at most {LONGEST_REASON} characters")
        player, now = await self.player(id), self.settings.now()
        ban = Ban(id, reason, now, None if days is None else now + days * 86400)
        await self.store.ban(ban)
        await self._notify(PLAYER, id)
        await self._withdraw(player.digest)
        return ban

    async def unban(self, id: str) -> None:
        """Lift a ban."""
        if not await self.store.unban(id):
            raise UnknownName(f"no player with the id {quote(id)} is banned")
        await self._notify(BANS, id)

    async def forget(self, digest: str) -> None:
        """Delete the data of a player; matches stay for their opponents, without the identity.

        The player gets one random id in all of them, so that ratings can be computed again.
        """
        id, unknown = public_id(digest), f"deleted-{os.urandom(8).hex()}"
        await self._withdraw(digest)
        await rate_all(self.store, self.find)  # while the player still has ratings
        await self.store.forget_player(digest, id)
        while rows := await self.store.all_of(digest, "", AT_ONCE):
            for row in rows:
                await self._relabel(row.id, digest, lambda row, seat: _unnamed(row, seat, unknown))
        await self._notify(PLAYER, id)

    async def data_of(self, digest: str) -> AsyncIterator[dict[str, Any]]:
        """The data of a player: first a summary, then each match with its record."""
        id = public_id(digest)
        ban = next((ban for ban in await self.store.bans() if ban.player == id), None)
        yield {
            "id": id, "name": await self.store.name(digest) or usual_name(digest),
            "ratings": [messages.rating_info(one) for one in await self.store.ratings_of(id)],
            "reports": [
                {"match": one.room, "reason": one.reason, "at": one.at}
                for one in await self.store.reports_by(id)
            ],
            "ban": ban and {"reason": ban.reason, "since": ban.since, "until": ban.until},
        }  # fmt: skip
        after = ""
        while rows := await self.store.all_of(digest, after, AT_ONCE):
            for row in rows:
                try:
                    yield await self._exported(row.id, digest)
                except Unavailable:
                    raise
                except (DuelsError, ValueError) as error:
                    self.store.damage.report(row.id, error)
                await asyncio.sleep(0)  # other requests come first
            after = rows[-1].id

    async def _exported(self, id: str, digest: str) -> dict[str, Any]:
        room = await self._load(id)
        seat = seat_of(room.row, digest)
        found: Any = None
        if room.match is not None:
            if room.row.state == OVER:
                found = record.to_json(room.match)
            else:
                found = record.redacted(room.match, seat, published(room.row))
        return {"match": messages.match_info(room.row, seat), "record": found}

    # Matches.

    async def close(self, id: str, reason: str = "") -> Row:
        """Close a match that is not over."""

        def act(room: Room) -> None:
            if room.row.state in (OVER, CLOSED):
                raise NotAllowed(f"the match is already {room.row.state}")
            room.abort(reason or "It was closed by the operator.")

        return await self._change(id, act)

    async def delete(self, id: str) -> None:
        """Delete a match with everything about it; ratings stay until they are recomputed."""
        if await self.store.row(id) is None:
            raise NoRoom("there is no such match")
        await self.store.forget_match(id)
        await self._notify(ROOM, id)

    async def _withdraw(self, digest: str) -> None:
        """End all unfinished matches of a player; those of games that do not load stay."""

        def act(room: Room) -> None:
            seat = seat_of(room.row, digest)
            if seat is not None and room.row.state not in (OVER, CLOSED):
                room.withdraw(seat)

        for row in await self.store.mine(digest):
            try:
                await self._change(row.id, act)
            except Unavailable:
                raise
            except DuelsError as error:
                self.store.damage.report(row.id, error)

    async def _change(self, id: str, act: Callable[[Room], None]) -> Row:
        """Change a room in the store, also if servers change it at the same time."""

        async def change() -> Save:
            room = await self._load(id)
            act(room)
            return room.change()

        return await self._save(change)

    async def _relabel(self, id: str, digest: str, act: Callable[[Row, int], None]) -> None:
        """Change the data about a player in a match."""

        async def change() -> Save:
            row = await self.store.row(id)
            if row is None:
                raise NoRoom("there is no such match")
            if (seat := seat_of(row, digest)) is not None:
                act(row, seat)
            return Save(row)

        await self._save(change)
        await self.store.forget_analysis(id)  # it may contain the name

    async def _save(self, change: Callable[[], Awaitable[Save]]) -> Row:
        for _ in range(ATTEMPTS):
            made = await change()
            try:
                await self.store.save(made)
            except Conflict:
                continue
            await self._notify(ROOM, made.row.id)
            return made.row
        raise NotAllowed("the match changes too often; try again")

    async def _load(self, id: str) -> Room:
        stored = await self.store.load(id)
        if stored is None:
            raise NoRoom("there is no such match")
        return Room(self.settings, stored, self.find)

    async def _notify(self, kind: str, subject: str) -> None:
        now = self.settings.now()
        await self.store.notify(Notice(os.urandom(8).hex(), now, kind, subject))


def _named(row: Row, seat: int, name: str) -> None:
    """Rename the player of a seat, also in the record."""
    seated = row.seats[seat]
    assert seated is not None
    seated.name = name
    if (found := header(row)) is not None:
        found["players"][seat] = name
        row.header = encoded_header(found)


def _unnamed(row: Row, seat: int, id: str) -> None:
    """Remove the identity of the player of a seat."""
    _named(row, seat, DELETED)
    seated = row.seats[seat]
    assert seated is not None
    seated.id, seated.digest, seated.rating, row.request = id, None, None, None
