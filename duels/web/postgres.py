"""The store on PostgreSQL, for several processes: the same tables and the same promises.

Changes of many rooms go together into one statement, which is one transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
import msgspec

from duels.web import schema
from duels.web.owners import OWNERS, PATIENCE, TROUBLE, Owners
from duels.web.queries import Queries
from duels.web.schema import numbered
from duels.web.store import Conflict, Kept, Rating, Row, Save, Unavailable, columns, unpacked

MIGRATING, RATING = 0x6475656D, 0x6475656E  # kinds of advisory locks
MOST = 512  # rooms in one statement
ATTEMPTS = 5  # to open it, a second apart

# A changed row that stays on its page needs no new entries in the indexes.
ROOM_TO_CHANGE = "ALTER TABLE rooms SET (fillfactor = 50)"
SAVE = """
WITH moved AS (
    UPDATE rooms SET version = rooms.version + 1, state = v.state, open = v.open,
        updated = v.updated, deadline = v.deadline, ended = v.ended, one = v.one, two = v.two,
        data = v.data
    FROM unnest($1::text[], $2::int[], $3::float8[], $4::float8[], $5::float8[], $6::text[],
        $7::text[], $8::text[], $9::text[], $10::int[])
        AS v(state, open, updated, deadline, ended, one, two, data, id, version)
    WHERE rooms.id = v.id AND rooms.version = v.version RETURNING rooms.id),
made AS (
    INSERT INTO entries (room, number, data)
    SELECT room, number, data
    FROM unnest($11::text[], $12::int[], $13::text[]) AS e(room, number, data)
    WHERE room IN (SELECT id FROM moved)),
answered AS (
    INSERT INTO answers (room, command, answer)
    SELECT room, command, answer
    FROM unnest($14::text[], $15::text[], $16::bytea[]) AS a(room, command, answer)
    WHERE room IN (SELECT id FROM moved) ON CONFLICT DO NOTHING)
SELECT id FROM moved
"""


class PostgresStore(Queries):
    """All of `Store`, and who has which room."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._pool: Any = None
        self._writer: Any = None  # a connection of its own: changes go one after another
        self._waiting: list[tuple[Save, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self.commits = self.written = 0
        self._owners: Owners | None = None

    async def open(self) -> None:
        for attempt in range(ATTEMPTS):  # it may be starting too
            try:
                self._pool = await asyncpg.create_pool(
                    self._address, min_size=1, max_size=4, command_timeout=PATIENCE
                )
                async with self._pool.acquire() as connection:
                    await _migrate(connection)
                return
            except TROUBLE as error:
                if attempt + 1 == ATTEMPTS:
                    raise Unavailable(f"PostgreSQL cannot be opened: {error}") from None
            await asyncio.sleep(1.0)

    async def close(self) -> None:
        """Finish what waits, then close the connections."""
        if self._owners is not None:
            await self._owners.close()
        while self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])
        if self._writer is not None:
            with suppress(*TROUBLE):
                await self._writer.close(timeout=5)
        if self._pool is not None:
            with suppress(*TROUBLE):
                await asyncio.wait_for(self._pool.close(), 10)
            self._pool = None

    async def join(self, address: str, lost: Callable[[], Awaitable[None]]) -> None:
        """Be one of several processes, at an address for the others; `lost` if that is in doubt."""
        self._owners = Owners(self._address, address, lost)
        await self._owners.open()

    async def owner(self, room: str) -> str | None:
        """The address of the process that has a room; None if it is this one, from now on."""
        return None if self._owners is None else await self._owners.owner(self._run, room)

    # Rooms.

    async def save(self, change: Save) -> None:
        if change.row.version == 0:
            await self._insert(change)
        else:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((change, future))
            if self._writing is None or self._writing.done():
                self._writing = asyncio.create_task(self._write())
            await future
        change.row.version += 1

    async def _write(self) -> None:
        """Whatever waits while a statement is on its way goes together into the next one."""
        while self._waiting:
            batch = self._batch()
            try:
                if self._writer is None or self._writer.is_closed():
                    self._writer = await asyncpg.connect(self._address, timeout=PATIENCE)
                rows = await self._writer.fetch(SAVE, *_arrays(batch), timeout=PATIENCE)
            except TROUBLE as error:
                if self._writer is not None and not isinstance(error, asyncpg.PostgresError):
                    self._writer.terminate()
                    self._writer = None
                for _, future in batch:
                    if not future.done():
                        future.set_exception(Unavailable(f"PostgreSQL does not answer: {error}"))
                continue
            self.commits += 1
            self.written += len(batch)
            moved = {row["id"] for row in rows}
            for change, future in batch:
                if future.done():
                    continue
                if change.row.id in moved:
                    future.set_result(None)
                else:
                    future.set_exception(Conflict(change.row.id))

    def _batch(self) -> list[tuple[Save, asyncio.Future[None]]]:
        """What goes next: no room twice, as one statement changes a row once."""
        taken: dict[str, tuple[Save, asyncio.Future[None]]] = {}
        later = []
        for waiting in self._waiting:
            if len(taken) < MOST and waiting[0].row.id not in taken:
                taken[waiting[0].row.id] = waiting
            else:
                later.append(waiting)
        self._waiting = later
        return list(taken.values())

    async def _insert(self, change: Save) -> None:
        row = change.row
        try:
            async with self._pool.acquire() as connection, connection.transaction():
                made = await connection.execute(
                    INSERT_ROOM, row.id, row.game, row.request, *columns(row)
                )
                if made != "INSERT 0 1":
                    raise Conflict(row.id)
                numbers = range(change.number, change.number + len(change.entries))
                texts = [entry.decode() for entry in change.entries]
                await connection.executemany(
                    INSERT_ENTRY,
                    [(row.id, n, text) for n, text in zip(numbers, texts, strict=True)],
                )
        except TROUBLE as error:
            raise Unavailable(f"PostgreSQL does not answer: {error}") from None

    async def load(self, room: str) -> Kept | None:
        try:
            # One snapshot: nothing of it is newer than the rest.
            async with (
                self._pool.acquire() as connection,
                connection.transaction(isolation="repeatable_read", readonly=True),
            ):
                found = await connection.fetchrow(ROOM, room)
                if found is None:
                    return None
                entries = await connection.fetch(ENTRIES, room)
                answers = await connection.fetch(ANSWERS, room)
        except TROUBLE as error:
            raise Unavailable(f"PostgreSQL does not answer: {error}") from None
        return Kept(
            unpacked(*found), [msgspec.json.decode(entry["data"]) for entry in entries],
            {answer["command"]: answer["answer"] for answer in answers},
        )  # fmt: skip

    async def _run(self, method: str, sql: str, *values: Any) -> Any:
        try:
            return await getattr(self._pool, method)(sql, *values)
        except (*TROUBLE, AttributeError) as error:
            raise Unavailable(f"PostgreSQL does not answer: {error}") from None

    async def _all(self, sql: str, *values: Any) -> list[Any]:
        found: list[Any] = await self._run("fetch", numbered(sql), *values)
        return found

    async def row(self, room: str) -> Row | None:
        rows = await self._rows(schema.ROOM, room)
        return rows[0] if rows else None

    # Ratings, analyses.

    @asynccontextmanager
    async def rating_in_turn(self) -> AsyncIterator[None]:
        """One at a time, of all processes."""
        try:
            async with self._pool.acquire() as connection:
                await connection.execute("SELECT pg_advisory_lock($1, 0)", RATING)
                try:
                    yield
                finally:
                    with suppress(*TROUBLE):
                        await connection.execute("SELECT pg_advisory_unlock($1, 0)", RATING)
        except TROUBLE as error:
            raise Unavailable(f"PostgreSQL does not answer: {error}") from None

    async def rate(self, room: str, changed: list[Rating]) -> None:
        try:
            async with self._pool.acquire() as connection, connection.transaction():
                if await connection.execute(RATED, room) != "UPDATE 1":
                    raise Conflict(room)
                await connection.executemany(
                    RATE, [msgspec.structs.astuple(rating) for rating in changed]
                )
        except TROUBLE as error:
            raise Unavailable(f"PostgreSQL does not answer: {error}") from None

    async def forget_ratings(self) -> None:
        await self._all(schema.FORGET_RATINGS)
        await self._all(schema.FORGET_RATED)

    async def analysis(self, room: str) -> bytes | None:
        found = await self._all(schema.ANALYSIS, room)
        return found[0]["data"] if found else None

    async def keep_analysis(self, room: str, data: bytes) -> None:
        await self._all(schema.KEEP_ANALYSIS, room, data)


INSERT_ROOM, INSERT_ENTRY, RATED, RATE, ROOM, ENTRIES, ANSWERS = map(
    numbered,
    (
        schema.INSERT_ROOM, schema.INSERT_ENTRY, schema.RATED, schema.RATE, schema.ROOM,
        schema.ENTRIES, schema.ANSWERS,
    ),
)  # fmt: skip


def _arrays(batch: list[tuple[Save, asyncio.Future[None]]]) -> list[list[Any]]:
    """The changes, column by column."""
    rooms = [(*columns(c.row), c.row.id, c.row.version) for c, _ in batch]
    entries = [
        (c.row.id, n, entry.decode())
        for c, _ in batch
        for n, entry in enumerate(c.entries, c.number)
    ]
    answers = [(c.row.id, *c.answer) for c, _ in batch if c.answer is not None]
    return [
        *([row[n] for row in rooms] for n in range(10)),
        *([entry[n] for entry in entries] for n in range(3)),
        *([answer[n] for answer in answers] for n in range(3)),
    ]


async def _migrate(connection: Any) -> None:
    """Bring the tables up to date, one process at a time, each step whole or not at all."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1, 0)", MIGRATING)
        await connection.execute("CREATE TABLE IF NOT EXISTS store (version INTEGER NOT NULL)")
        number = await connection.fetchval("SELECT coalesce(max(version), 0) FROM store")
        schema.refuse_newer(number)
        for step, statements in enumerate(schema.MIGRATIONS[number:], number + 1):
            for statement in statements:
                await connection.execute(statement)
            await connection.execute("INSERT INTO store (version) VALUES ($1)", step)
        if number < len(schema.MIGRATIONS):
            await connection.execute(ROOM_TO_CHANGE)
        for statement in OWNERS:
            await connection.execute(statement)
