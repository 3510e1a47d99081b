"""Leases of rooms in PostgreSQL: which of several workers serves a room.

A worker holds its leases while it holds its advisory lock and sends heartbeats. PostgreSQL releases
the lock with the connection, so that the rooms of a killed worker can be taken over at once. A
worker that hangs keeps its connection: its rooms can be taken over when its heartbeat is too old.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

import asyncpg

from duels.server.storage.base import Unavailable, log
from duels.server.storage.postgres_address import PostgresAddress

ALIVE = 0x6475656C  # the class of the advisory locks
PATIENCE = 30.0  # seconds for a statement
LOOK = 0.5  # seconds between two heartbeats, which also check that the lock is still held
EXPIRED = 5.0  # seconds without a heartbeat after which other workers may take the rooms
# A worker drops its rooms, and takes none, if its last heartbeat is older than this. The difference
# is the time that a heartbeat may take until other workers see it.
VALID = 4.0
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

# All times are of the clock of PostgreSQL.
FRESH = "seen > statement_timestamp() - make_interval(secs => {})"
BEAT = f"UPDATE workers SET seen = statement_timestamp() WHERE id = $1 AND {FRESH.format('$2')}"
# Taking over a room increases its version, which waits for pending writes; all later writes of the
# former holder conflict.
TAKE = f"""
WITH first AS (
    INSERT INTO owners (room, worker) SELECT id, $2 FROM rooms WHERE id = $1
    ON CONFLICT DO NOTHING),
moved AS (
    UPDATE owners SET worker = $2 WHERE room = $1 AND worker <> $2 AND NOT EXISTS (
        SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = $3 AND granted
        AND objid = owners.worker AND database = (
            SELECT oid FROM pg_database WHERE datname = current_database())
        AND EXISTS (SELECT 1 FROM workers WHERE id = owners.worker AND {FRESH.format("$4")}))
    AND EXISTS (SELECT 1 FROM workers WHERE id = $2 AND {FRESH.format("$5")})
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
    "ALTER TABLE workers ADD COLUMN IF NOT EXISTS"
    " seen TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp()",
    "CREATE TABLE IF NOT EXISTS owners (room TEXT PRIMARY KEY, worker INTEGER NOT NULL)",
)


class Leases:
    """The leases of one worker."""

    def __init__(
        self, database: PostgresAddress, address: str, lost: Callable[[], Awaitable[None]],
        taken: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._database, self._address, self._lost, self._taken = database, address, lost, taken
        self._worker = random.randrange(1, 2**31)
        self._connection: Any = None
        self._held = True  # the lock, at the last check
        self._beat_at = 0.0  # when the last heartbeat that was stored was sent
        self._watcher: asyncio.Task[None] | None = None
        self._unsure: set[str] = set()  # rooms whose lease may have been taken: no result arrived
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def valid(self) -> bool:
        """Whether no other worker can have taken a room of this one, by the last heartbeat."""
        return self._held and time.monotonic() - self._beat_at < VALID

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
            self._connection = await self._database.connect(
                timeout=PATIENCE, command_timeout=PATIENCE
            )
            await self._connection.execute(KEEPALIVE)
            await self._connection.execute("SET synchronous_commit = off")  # for heartbeats only
            await self._connection.execute(END_FORMER, ALIVE, self._worker)
            await self._connection.execute("SELECT pg_advisory_lock($1, $2)", ALIVE, self._worker)
            self._beat_at = time.monotonic()
            await self._connection.execute(
                "INSERT INTO workers (id, address) VALUES ($1, $2) ON CONFLICT (id)"
                " DO UPDATE SET address = $2, seen = statement_timestamp()",
                self._worker, self._address,
            )  # fmt: skip
        except TROUBLE as error:
            raise Unavailable(f"PostgreSQL does not answer: {error}") from None

    async def _watch(self) -> None:
        """Send heartbeats on the connection that holds the lock; drop all rooms if one fails.

        A heartbeat also fails if the last one is too old, as after this process was suspended.
        Until the lock is acquired again, other workers may take over the rooms, and this one takes
        none.
        """
        while True:
            await asyncio.sleep(LOOK)
            try:
                if self._held:
                    await self._beat()
                    continue
            except Exception as error:  # the lock must be acquired again after any error
                log.warning("this worker has lost its leases: %r", error)
                self._held = False
            try:
                await self._lost()
                await self._acquire()
                await self._lost()  # rooms that were being loaded meanwhile
                self._held = True
                log.warning("this worker can take leases again")
            except Unavailable:
                pass
            except Exception:
                log.exception("acquiring the lock in PostgreSQL again failed")

    async def _beat(self) -> None:
        """Send a heartbeat; an error if it was not stored or is too late."""
        sent = time.monotonic()
        stored = await self._connection.execute(BEAT, self._worker, VALID, timeout=VALID)
        if stored != "UPDATE 1":
            raise Unavailable("the last heartbeat is too old")
        self._beat_at = sent

    async def _take(self, run: Callable[..., Awaitable[Any]], room: str) -> None:
        """Take the lease of a room if it is free, and report it if it was another worker's."""
        unsure = room in self._unsure
        self._unsure.add(room)  # unless the result arrives
        values = room, self._worker, ALIVE, EXPIRED, VALID
        taken = await run("execute", TAKE, *values) != "UPDATE 0"
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
            if not self.valid:
                raise Unavailable("this worker may have lost its leases")
            # One at a time, so that no caller goes on before `taken` was called.
            async with self._locks.setdefault(room, asyncio.Lock()):
                await self._take(run, room)
            found = await run("fetchrow", WHOSE, room)
            if found is None or found["worker"] == self._worker:
                return None
            if found["address"] is not None:
                return str(found["address"])
            await asyncio.sleep(0.05)  # the holder has not stored its address yet
