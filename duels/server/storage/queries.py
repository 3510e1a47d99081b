"""Queries that are the same for every database."""

from __future__ import annotations

from typing import Any

from duels.server.metrics import Histogram
from duels.server.storage import schema
from duels.server.storage.base import (
    Ban,
    DamageLog,
    NameAge,
    Notice,
    Report,
    RoomAge,
    Row,
    StoredRating,
    StoreError,
    unpacked,
)


class Queries:
    """The queries of a store, which defines how a statement is executed."""

    def __init__(self) -> None:
        self.damage = DamageLog()
        self.times = Histogram()  # of transactions

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

    async def rooms(self, after: str, most: int) -> list[str]:
        return [found[0] for found in await self._all(schema.ROOMS, after, most)]

    # Retention.

    async def ages(self, after: str, most: int) -> list[RoomAge]:
        return [RoomAge(*found) for found in await self._all(schema.AGES, after, most)]

    async def delete_derived(self, room: str) -> None:
        await self._all(schema.DELETE_ANALYSIS_OF, room)
        await self._all(schema.DELETE_ANSWERS_OF, room)

    async def name_ages(self, after: str, most: int) -> list[NameAge]:
        return [NameAge(*found) for found in await self._all(schema.NAMES, after, most)]

    async def delete_name(self, digest: str, before: float) -> None:
        await self._all(schema.DELETE_NAME, digest, before)

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

    async def paired(self, row: Row, since: float) -> int:
        one, two = (None if seat is None else seat.digest for seat in row.seats)
        if one is None or two is None:
            return 0
        values = row.game, since, row.ended, one, two, two, one
        return int((await self._all(schema.PAIRED, *values))[0][0])

    # Moderation.

    async def latest(self, state: str | None, most: int) -> list[Row]:
        if state is None:
            return await self._rows(schema.LATEST, most)
        return await self._rows(schema.LATEST_IN, state, most)

    async def all_of(self, digest: str, after: str, most: int) -> list[Row]:
        return await self._rows(schema.ALL_OF, digest, digest, after, most)

    async def digests(self) -> list[str]:
        return [found[0] for found in await self._all(schema.DIGESTS)]

    async def chosen_names(self) -> dict[str, str]:
        return {found[0]: found[1] for found in await self._all(schema.CHOSEN_NAMES)}

    async def bans(self) -> list[Ban]:
        return [Ban(*found) for found in await self._all(schema.BANS)]

    async def ban(self, ban: Ban) -> None:
        await self._all(schema.BAN, ban.player, ban.reason, ban.since, ban.until)

    async def unban(self, player: str) -> bool:
        return bool(await self._all(schema.UNBAN, player))

    async def report(self, report: Report) -> bool:
        values = report.room, report.player, report.reason, report.at
        return bool(await self._all(schema.REPORT, *values))

    async def reports(self, most: int) -> list[Report]:
        return [Report(*found) for found in await self._all(schema.REPORTS, most)]

    async def reports_by(self, player: str) -> list[Report]:
        return [Report(*found) for found in await self._all(schema.REPORTS_BY, player)]

    async def forget_notices(self, before: float) -> None:
        await self._all(schema.FORGET_NOTICES, before)

    async def notify(self, notice: Notice) -> None:
        await self._all(schema.NOTICE, notice.id, notice.at, notice.kind, notice.subject)

    async def notices(self, since: float) -> list[Notice]:
        return [Notice(*found) for found in await self._all(schema.NOTICES, since)]

    async def ended_after(self, ended: float, room: str, most: int) -> list[Row]:
        return await self._rows(schema.ENDED_AFTER, ended, ended, room, most)

    async def profile(self, room: str) -> str | None:
        found = await self._all(schema.PROFILE, room)
        return found[0][0] if found else None

    async def keep_profile(self, room: str, data: str) -> None:
        await self._all(schema.KEEP_PROFILE, room, data)

    async def rename_ratings(self, player: str, name: str) -> None:
        await self._all(schema.RENAME_RATINGS, name, player)

    async def forget_analysis(self, room: str) -> None:
        await self._all(schema.FORGET_ANALYSIS, room)

    async def forget_match(self, room: str) -> None:
        for statement in schema.FORGET_MATCH:  # the room last, so that a repetition completes it
            await self._all(statement, room)

    async def forget_player(self, digest: str, player: str) -> None:
        await self._all(schema.FORGET_REQUESTS, f"{digest} ", f"{digest}!")
        await self._all(schema.FORGET_RATINGS_OF, player)
        await self._all(schema.FORGET_REPORTS_BY, player)
        await self._all(schema.FORGET_NAME, digest)
