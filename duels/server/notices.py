"""Bans, and notices: changes of the store by `Moderation` that each server process applies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from duels.client.identity import public_id
from duels.server import messages
from duels.server.rooms import Connection, Room
from duels.server.settings import Settings
from duels.server.storage.base import Ban, Notice, RoomStore

ROOM, PLAYER, BANS = "room", "player", "bans"  # kinds of notices
NEW = 600.0  # seconds during which servers look for a notice: more than clocks differ
KEPT = 3600.0  # seconds after which servers delete a notice
POLICY_VIOLATION = 1008  # the close code of a WebSocket
DELETED_DATA = "the data of this key was deleted"


class Notices:
    """The notices that a server process has to apply, and the bans."""

    def __init__(self, store: RoomStore, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self._applied: dict[str, float] = {}
        self._bans: dict[str, Ban] = {}

    async def open(self) -> None:
        """Read the bans. What was noticed before concerns no room or connection of this process."""
        await self.store.forget_notices(self.settings.now() - KEPT)
        self._applied = {one.id: one.at for one in await self._recent()}
        await self._read_bans()

    async def _recent(self) -> list[Notice]:
        return await self.store.notices(self.settings.now() - NEW)

    async def _read_bans(self) -> None:
        self._bans = {ban.player: ban for ban in await self.store.bans()}

    def ban(self, digest: str | None) -> str:
        """Why a key is banned, for its owner; empty if it is not."""
        found = self._bans.get(public_id(digest)) if self._bans and digest is not None else None
        if found is None or (found.until is not None and found.until <= self.settings.now()):
            return ""
        until = ""
        if found.until is not None:
            until = f" until {datetime.fromtimestamp(found.until, UTC):%Y-%m-%d %H:%M} UTC"
        return f"this key is banned{until}{found.reason and f': {found.reason}'}"

    async def apply(self, rooms: dict[str, Room], reload: Callable[[str], Awaitable[None]]) -> bool:
        """Apply the notices that are new; returns whether there are any.

        `reload` loads a room in memory again.
        """
        new = [one for one in await self._recent() if one.id not in self._applied]
        if new:
            await self._read_bans()
        for notice in new:
            if notice.kind == ROOM and notice.subject in rooms:
                await reload(notice.subject)
            if notice.kind == PLAYER:
                self._disconnect(notice.subject, list(rooms.values()))
            self._applied[notice.id] = notice.at
        before = self.settings.now() - KEPT
        if any(at < before for at in self._applied.values()):
            await self.store.forget_notices(before)
            self._applied = {id: at for id, at in self._applied.items() if at >= before}
        return bool(new)

    def _disconnect(self, player: str, rooms: list[Room]) -> None:
        theirs: list[Connection] = [
            connection
            for room in rooms
            for connection in room.connections
            if connection.digest is not None and public_id(connection.digest) == player
        ]
        for connection in theirs:
            reason = self.ban(connection.digest) or DELETED_DATA
            connection.dismiss(messages.refusal(reason), POLICY_VIOLATION)
