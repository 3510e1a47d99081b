"""Queries that are the same for every database."""

from __future__ import annotations

from typing import Any

from duels.server.storage import schema
from duels.server.storage.base import Damage, Row, StoredRating, StoreError, unpacked


class Queries:
    """The queries of a store, which defines how a statement is executed."""

    def __init__(self) -> None:
        self.damage = Damage()

    async def _all(self, sql: str, *values: Any) -> list[Any]:
        raise NotImplementedError

    async def _rows(self, sql: str, *values: Any) -> list[Row]:
        """Rooms, without those that are damaged, which are reported."""
        rows = []
        for found in await self._all(sql, *values):
            try:
                rows.append(unpacked(*found))
            except StoreError as error:
                self.damage.report(found[2], error)
        return rows

    # Rooms.

    async def row(self, room: str) -> Row | None:
        found = await self._all(schema.ROOM, room)
        return unpacked(*found[0]) if found else None

    async def requested(self, request: str) -> str | None:
        found = await self._all(schema.REQUESTED, request)
        return found[0][0] if found else None

    async def due(self, now: float, most: int) -> list[str]:
        return [found[0] for found in await self._all(schema.DUE, now, most)]

    async def mine(self, digest: str) -> list[Row]:
        return await self._rows(schema.MINE, digest, digest)

    async def challenges(self, most: int) -> list[Row]:
        return await self._rows(schema.CHALLENGES, most)

    async def history(self, digest: str, before: float, most: int) -> list[Row]:
        return await self._rows(schema.HISTORY, digest, digest, before, most)

    async def unrated(self, most: int) -> list[Row]:
        return await self._rows(schema.UNRATED, most)

    async def finished(self, after: str, most: int) -> list[str]:
        return [found[0] for found in await self._all(schema.FINISHED, after, most)]

    # Names and ratings.

    async def name(self, digest: str) -> str | None:
        found = await self._all(schema.NAME, digest)
        return found[0][0] if found else None

    async def rename(self, digest: str, name: str, now: float) -> None:
        await self._all(schema.RENAME, digest, name, now)

    async def ratings_of(self, player: str) -> list[StoredRating]:
        return [StoredRating(*found) for found in await self._all(schema.RATINGS_OF, player)]

    async def ratings(self, game: str, most: int) -> list[StoredRating]:
        return [StoredRating(*found) for found in await self._all(schema.RATINGS, game, most)]

    async def rating(self, game: str, player: str) -> StoredRating | None:
        found = await self._all(schema.RATING, game, player)
        return StoredRating(*found[0]) if found else None
