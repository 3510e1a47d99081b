"""Leases of rooms in PostgreSQL: which of several workers serves a room.

A worker holds its leases while it holds its advisory lock, which PostgreSQL releases with its
connection, so that the rooms of a killed worker can be taken over at once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

import asyncpg

from duels.server.storage.base import Unavailable, log

ALIVE = 0x6475656C  # the class of the advisory locks
PATIENCE = 30.0  # seconds for a statement
LOOK = 0.5  # seconds between two checks that the lock is still held
TROUBLE = (
    asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError,
    asyncio.TimeoutError,
)  # fmt: skip
# Else PostgreSQL may hold the lock of a vanished client for hours.
KEEPALIVE = (
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
)
# Ends former connections of this worker that PostgreSQL still considers open.
END_FORMER = """
SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1
AND objid = $2 AND pid <> pg_backend_pid() AND database = (
    SELECT oid FROM pg_database WHERE datname = current_database())
"""

# Taking over a room increases its version, which waits for pending writes; all later writes of the
# former holder conflict.
TAKE = """
WITH first AS (
    INSERT INTO owners (room, worker) SELECT id, $2 FROM rooms WHERE id = $1
    ON CONFLICT DO NOTHING),
moved AS (
    UPDATE owners SET worker = $2 WHERE room = $1 AND worker <> $2 AND NOT EXISTS (
        SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = $3 AND granted
        AND objid = owners.worker AND database = (
            SELECT oid FROM pg_database WHERE datname = current_database()))
    RETURNING room)
UPDATE rooms SET version = version + 1 WHERE id IN (SELECT room FROM moved)
"""
# As after taking over a room, where it is unknown whether that has happened.
FENCE = """
UPDATE rooms SET version = version + 1
WHERE id IN (SELECT room FROM owners WHERE room = $1 AND worker = $2)
"""
WHOSE = """
SELECT owners.worker, workers.address FROM owners LEFT JOIN workers ON workers.id = owners.worker
WHERE owners.room = $1
"""
LEASE_TABLES = (
    "CREATE TABLE IF NOT EXISTS workers (id INTEGER PRIMARY KEY, address TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS owners (room TEXT PRIMARY KEY, worker INTEGER NOT NULL)",
)


class Leases:
    """The leases of one worker."""

    def __init__(
        self, database: str, address: str, lost: Callable[[], Awaitable[None]],
        taken: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._database, self._address, self._lost, self._taken = database, address, lost, taken
        self._worker = random.randrange(1, 2**31)
        self._connection: Any = None
        self._held = True  # the lock, at the last check
        self._watcher: asyncio.Task[None] | None = None
        self._unsure: set[str] = set()  # rooms whose lease may have been taken: no result arrived
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def open(self) -> None:
        await self._acquire()
        self._watcher = asyncio.create_task(self._watch())

    async def close(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
        await self.disconnect()

    async def disconnect(self) -> None:
        """Release the lock; unless closed, it is acquired again as soon as possible."""
        if self._connection is not None:
            with suppress(*TROUBLE):
                await self._connection.close(timeout=5)

    async def _acquire(self) -> None:
        try:
            if self._connection is not None:
                self._connection.terminate()
            self._connection = await asyncpg.connect(
                self._database, timeout=PATIENCE, command_timeout=PATIENCE
            )
            await self._connection.execute(KEEPALIVE)
            await self._connection.execute(END_FORMER, ALIVE, self._worker)
            await self._connection.execute("SELECT pg_advisory_lock($1, $2)", ALIVE, self._worker)
            await self._connection.execute(
                "INSERT INTO workers (id, address) VALUES ($1, $2)"
                " ON CONFLICT (id) DO UPDATE SET address = $2", self._worker, self._address,
            )  # fmt: skip
        except TROUBLE as error:
            raise Unavailable(f"PostgreSQL does not answer: {error}") from None

    async def _watch(self) -> None:
        """Check the connection that holds the lock, and acquire the lock again if it is lost.

        Until then other workers may take over the rooms, and this worker can take none.
        """
        while True:
            await asyncio.sleep(LOOK)
            try:
                if self._held:
                    await self._connection.execute("SELECT 1", timeout=5)
                    continue
            except Exception as error:  # the lock must be acquired again after any error
                log.warning("this worker has lost its lock in PostgreSQL: %r", error)
                self._held = False
            try:
                await self._lost()
                await self._acquire()
                await self._lost()  # rooms that were being loaded meanwhile
                self._held = True
                log.warning("this worker holds its lock in PostgreSQL again")
            except Unavailable:
                pass
            except Exception:
                log.exception("acquiring the lock in PostgreSQL again failed")

    async def _take(self, run: Callable[..., Awaitable[Any]], room: str) -> None:
        """Take the lease of a room if it is free, and report it if it was another worker's."""
        unsure = room in self._unsure
        self._unsure.add(room)  # unless the result arrives
        taken = await run("execute", TAKE, room, self._worker, ALIVE) != "UPDATE 0"
        if unsure and not taken:
            taken = await run("execute", FENCE, room, self._worker) != "UPDATE 0"
        self._unsure.discard(room)
        if taken:
            self._taken(room)

    async def lease_holder(self, run: Callable[..., Awaitable[Any]], room: str) -> str | None:
        """Take the lease of a room if it is free; returns the address of its holder.

        None if this worker holds the lease, or if there is no such room.
        """
        while True:
            if not self._held:
                raise Unavailable("this worker has lost its connection to PostgreSQL")
            # One at a time, so that no caller goes on before `taken` was called.
            async with self._locks.setdefault(room, asyncio.Lock()):
                await self._take(run, room)
            found = await run("fetchrow", WHOSE, room)
            if found is None or found["worker"] == self._worker:
                return None
            if found["address"] is not None:
                return str(found["address"])
            await asyncio.sleep(0.05)  # the holder has not stored its address yet
