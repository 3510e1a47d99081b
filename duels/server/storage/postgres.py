"""The store on PostgreSQL, for several workers: the same tables and guarantees.

Changes of many rooms are written in one statement, which is one transaction. If one of them makes
it fail, the others are written without it. A connection that had an error is not used again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
import msgspec

from duels.server.leases import KEEPALIVE, PATIENCE, TROUBLE, Leases
from duels.server.storage import schema
from duels.server.storage.base import (
    Conflict,
    Save,
    StoredRating,
    StoredRoom,
    StoreError,
    Unavailable,
    columns,
    log,
    stored_room,
)
from duels.server.storage.postgres_address import PostgresAddress
from duels.server.storage.postgres_sql import (
    ANSWERS,
    DELETE_ORPHANS,
    DELETE_ROOMS,
    ENTRIES,
    INSERT,
    RATE,
    ROOM,
    SAVE,
    TOUCH,
    arrays,
    by_column,
    migrate,
)
from duels.server.storage.queries import Queries
from duels.server.storage.schema import numbered

Waiting = tuple[Save | None, asyncio.Future[None]]

RATING = 0x6475656E  # the class of the advisory lock
MOST = 512  # rooms in one statement
ATTEMPTS = 5  # to open the store, a second apart
CLOSE_WITHIN = 5.0  # seconds for each step of closing
# Classes of SQLSTATE that are caused by one statement, not by the state of the server: cardinality,
# data, integrity, limits, and a damaged page or index.
ABOUT = ("21", "22", "23", "54", "XX")
LOOK = 5.0  # seconds between two checks whether PostgreSQL is shutting down


class PostgresStore(Queries):
    """A `RoomStore` with leases of rooms."""

    alive = True  # failed connections are opened again

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = PostgresAddress(address)
        self._pool: Any = None
        self._writer: Any = None  # a connection of its own: changes are written one after another
        self._turn = asyncio.Lock()  # of the writer
        self._waiting: list[Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self.commits = self.written = 0
        self._leases: Leases | None = None

    async def open(self) -> None:
        self._pool = await self._new_pool()
        for attempt in range(ATTEMPTS):  # it may be starting too
            try:
                async with self._using() as connection:
                    await migrate(connection)
                break
            except (Unavailable, StoreError) as error:
                if attempt + 1 == ATTEMPTS:
                    raise Unavailable(f"PostgreSQL cannot be opened: {error}") from None
            await asyncio.sleep(1.0)
        self._watching = asyncio.create_task(self._watch())

    async def _new_pool(self) -> Any:
        try:
            return await self._address.pool(  # it connects when there is need
                min_size=0, max_size=4, command_timeout=PATIENCE, timeout=PATIENCE
            )
        except (*TROUBLE, ValueError) as error:
            raise Unavailable(f"PostgreSQL cannot be opened: {error}") from None

    async def close(self) -> None:
        """Write the waiting changes, then close the connections, within a time limit."""
        if self._watching is not None:
            self._watching.cancel()
        if self._writing is not None:
            await asyncio.wait([self._writing], timeout=CLOSE_WITHIN)
            self._writing.cancel()
            await asyncio.wait([self._writing])
        pool, self._pool = self._pool, None
        await asyncio.gather(
            _close_pool(pool), self._disconnect_writer(),
            *([] if self._leases is None else [self._leases.close()]),
        )  # fmt: skip

    async def check(self) -> None:
        """Read, and write on the connection of the writer."""
        await self._all(schema.DUE, 0.0, 1)
        await self._enqueue(None)

    # Connections.

    @asynccontextmanager
    async def _using(self) -> AsyncIterator[Any]:
        """A connection of the pool, which is closed after an error."""
        if self._pool is None:
            raise Unavailable("the store is closed")
        try:
            async with self._pool.acquire(timeout=PATIENCE) as connection:
                try:
                    yield connection
                except TROUBLE:
                    connection.terminate()
                    raise
        except TROUBLE as error:
            raise _reason(error) from None

    async def _disconnect_writer(self) -> None:
        if self._writer is not None:
            with suppress(*TROUBLE):
                await self._writer.close(timeout=CLOSE_WITHIN)
            self._writer = None

    async def _watch(self) -> None:
        """Disconnect when PostgreSQL waits for its clients to do so (`pg_ctl stop -m smart`).

        PostgreSQL reports it to new connections only, and open ones would block the shutdown.
        """
        while True:
            await asyncio.sleep(LOOK)
            try:
                await (await self._address.connect(timeout=PATIENCE)).close(timeout=5)
            except asyncpg.CannotConnectNowError as error:
                log.warning("PostgreSQL stops or starts: %s", error)
                pool, self._pool = self._pool, await self._new_pool()
                await _close_pool(pool)
                async with self._turn:
                    await self._disconnect_writer()
                if self._leases is not None:
                    await self._leases.disconnect()
            except Exception as error:  # the next query will fail and report it
                log.debug("PostgreSQL cannot be reached: %r", error)

    async def join(
        self, address: str, lost: Callable[[], Awaitable[None]], taken: Callable[[str], None]
    ) -> None:
        """Become one of several workers.

        `lost` is called when the leases may be lost, `taken` with a room whose lease was another
        worker's before.
        """
        self._leases = Leases(self._address, address, lost, taken)
        await self._leases.open()

    @property
    def leases_valid(self) -> bool:
        return self._leases is None or self._leases.valid

    async def lease_holder(self, room: str) -> str | None:
        """The address of the worker that holds the lease of a room; None if it is this one."""
        return None if self._leases is None else await self._leases.lease_holder(self._run, room)

    # Rooms.

    async def save(self, change: Save) -> None:
        if change.row.version == 0:
            await self._insert(change)
        else:
            await self._enqueue(change)
        change.row.version += 1

    async def _enqueue(self, change: Save | None) -> None:
        """Pass a change to the writer, or None to test it; waits until it is written."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((change, future))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await future

    async def _write(self) -> None:
        """Write all changes that arrive during a statement with the next one."""
        batch: list[Waiting] = []
        try:
            while self._waiting:
                batch = self._batch()
                async with self._turn:
                    await self._store(batch)
        finally:  # no caller is left waiting
            for _, future in batch + self._waiting:
                if not future.done():
                    future.set_exception(Unavailable("the writer of the store was stopped"))
            self._waiting = []

    async def _store(self, batch: list[Waiting]) -> None:
        """Write changes; if the statement fails, each half of them separately."""
        changes = [change for change, _ in batch if change is not None]
        try:
            if self._writer is None or self._writer.is_closed():
                self._writer = await self._address.connect(timeout=PATIENCE)
            rows, began = [], time.perf_counter()
            if changes:
                rows = await self._writer.fetch(SAVE, *arrays(changes), timeout=PATIENCE)
            if len(changes) < len(batch):
                await self._writer.execute(TOUCH, timeout=PATIENCE)
        except Exception as error:
            if self._writer is not None:
                self._writer.terminate()
                self._writer = None
            reason = _reason(error)
            if isinstance(reason, StoreError) and len(batch) > 1:
                half = len(batch) // 2
                await self._store(batch[:half])
                await self._store(batch[half:])
                return
            log.warning("%d changes were not written: %s", len(batch), reason)
            for _, future in batch:
                if not future.done():
                    future.set_exception(reason)
            return
        self.times.observe(time.perf_counter() - began)
        self.commits += 1
        self.written += len(batch)
        moved = {row["id"] for row in rows}
        for change, future in batch:
            if future.done():
                continue
            if change is None or change.row.id in moved:
                future.set_result(None)
            else:
                future.set_exception(Conflict(change.row.id))

    def _batch(self) -> list[Waiting]:
        """The next changes to write; each room once, as a statement changes a row once."""
        taken: dict[str, Waiting] = {}
        later = []
        for waiting in self._waiting:
            room = "" if waiting[0] is None else waiting[0].row.id
            if len(taken) < MOST and room not in taken:
                taken[room] = waiting
            else:
                later.append(waiting)
        self._waiting = later
        return list(taken.values())

    async def _insert(self, change: Save) -> None:
        row = change.row
        numbers = list(range(change.number, change.number + len(change.entries)))
        texts = [entry.decode() for entry in change.entries]
        made = await self._run(
            "fetch", INSERT, row.id, row.game, row.request, row.created, *columns(row), numbers,
            texts,
        )  # fmt: skip
        if not made:
            raise Conflict(row.id)

    async def load(self, room: str) -> StoredRoom | None:
        async with (  # one snapshot
            self._using() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            found = await connection.fetchrow(ROOM, room)
            if found is None:
                return None
            entries = await connection.fetch(ENTRIES, room)
            responses = await connection.fetch(ANSWERS, room)
        return stored_room(
            tuple(found), [entry["data"] for entry in entries], list(map(tuple, responses))
        )

    async def _run(self, method: str, sql: str, *values: Any) -> Any:
        async with self._using() as connection:
            return await getattr(connection, method)(sql, *values)

    async def _all(self, sql: str, *values: Any) -> list[Any]:
        found: list[Any] = await self._run("fetch", numbered(sql), *values)
        return found

    # Ratings, analyses.

    @asynccontextmanager
    async def rating_in_turn(self) -> AsyncIterator[None]:
        """A lock under which matches are rated one at a time, by all workers."""
        async with self._using() as connection:
            await connection.execute(KEEPALIVE)
            await connection.execute("SELECT pg_advisory_lock($1, 0)", RATING)
            try:
                yield
            finally:
                with suppress(*TROUBLE):
                    await connection.execute("SELECT pg_advisory_unlock($1, 0)", RATING)

    async def rate(self, room: str, changed: list[StoredRating]) -> None:
        rows = [msgspec.structs.astuple(rating) for rating in changed]
        if not await self._run("fetch", RATE, room, *by_column(rows, 8)):
            raise Conflict(room)

    async def forget_ratings(self) -> None:
        await self._all(schema.FORGET_RATINGS)
        await self._all(schema.FORGET_RATED)

    async def version(self) -> int:
        found = await self._all("SELECT max(version) FROM store")
        return int(found[0][0])

    async def analysis(self, room: str) -> bytes | None:
        found = await self._all(schema.ANALYSIS, room)
        return found[0]["data"] if found else None

    async def keep_analysis(self, room: str, data: bytes) -> None:
        await self._all(schema.KEEP_ANALYSIS, data, room)

    # Retention.

    async def delete_rooms(self, rooms: list[tuple[str, int]]) -> int:
        return len(await self._run("fetch", DELETE_ROOMS, *by_column(rooms, 2)))

    async def delete_orphans(self) -> None:
        for statement in DELETE_ORPHANS:
            await self._run("execute", statement)


def _reason(error: Exception) -> Unavailable | StoreError:
    """The error for the caller: to try again, or that this item fails."""
    if isinstance(error, asyncpg.PostgresError):
        passing = (error.sqlstate or "")[:2] not in ABOUT
    else:
        passing = isinstance(error, TROUBLE) and not isinstance(error, asyncpg.DataError)
    if passing:
        return Unavailable(f"PostgreSQL does not answer: {error!r}")
    return StoreError(f"this cannot be stored or read: {type(error).__name__}")


async def _close_pool(pool: Any) -> None:
    if pool is not None:
        try:
            await asyncio.wait_for(pool.close(), CLOSE_WITHIN)
        except TROUBLE:
            pool.terminate()
