"""Which of several processes has a room, written in PostgreSQL.

A process is alive while it holds its advisory lock, which PostgreSQL takes away with its
connection: what a killed process had can be taken over at once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import asyncpg

from duels.web.store import Unavailable, log

ALIVE = 0x6475656C  # the kind of advisory lock
PATIENCE = 30.0  # seconds for a statement
LOOK = 0.5  # seconds between two looks whether the lock is still held
TROUBLE = (
    asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError,
    asyncio.TimeoutError,
)  # fmt: skip
# So that a lock is not held for hours on behalf of a client that is gone without a word.
NOTICE = (
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
)
# What is left of a connection of this process that the server has not noticed to be gone.
END_FORMER = """
SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1
AND objid = $2 AND pid <> pg_backend_pid() AND database = (
    SELECT oid FROM pg_database WHERE datname = current_database())
"""

# Who takes a room from another raises its version, and waits for what is being written of it: what
# the other has not written by then it never will.
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
WHOSE = """
SELECT owners.worker, workers.address FROM owners LEFT JOIN workers ON workers.id = owners.worker
WHERE owners.room = $1
"""
OWNERS = (
    "CREATE TABLE IF NOT EXISTS workers (id INTEGER PRIMARY KEY, address TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS owners (room TEXT PRIMARY KEY, worker INTEGER NOT NULL)",
)


class Owners:
    """One process among several."""

    def __init__(self, database: str, address: str, lost: Callable[[], Awaitable[None]]) -> None:
        self._database, self._address, self._lost = database, address, lost
        self._worker = random.randrange(1, 2**31)
        self._alive: Any = None
        self._held = True  # the lock, as far as is known
        self._keeping: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await self._come_alive()
        self._keeping = asyncio.create_task(self._keep_alive())

    async def close(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
        await self.disconnect()

    async def disconnect(self) -> None:
        """Give the lock up; unless closed, it is taken again as soon as PostgreSQL grants that."""
        if self._alive is not None:
            with suppress(*TROUBLE):
                await self._alive.close(timeout=5)

    async def _come_alive(self) -> None:
        try:
            if self._alive is not None:
                self._alive.terminate()
            self._alive = await asyncpg.connect(
                self._database, timeout=PATIENCE, command_timeout=PATIENCE
            )
            await self._alive.execute(NOTICE)
            await self._alive.execute(END_FORMER, ALIVE, self._worker)
            await self._alive.execute("SELECT pg_advisory_lock($1, $2)", ALIVE, self._worker)
            await self._alive.execute(
                "INSERT INTO workers (id, address) VALUES ($1, $2)"
                " ON CONFLICT (id) DO UPDATE SET address = $2", self._worker, self._address,
            )  # fmt: skip
        except TROUBLE as error:
            raise Unavailable(f"PostgreSQL does not answer: {error}") from None

    async def _keep_alive(self) -> None:
        """Others may take the rooms once the connection is gone: then nothing is ours any more, and
        nothing can become ours before the lock is held again."""
        while True:
            await asyncio.sleep(LOOK)
            try:
                if self._held:
                    await self._alive.execute("SELECT 1", timeout=5)
                    continue
            except Exception as error:  # whatever it is, this must go on
                log.warning("this process has lost its lock in PostgreSQL: %r", error)
                self._held = False
            try:
                await self._lost()
                await self._come_alive()
                await self._lost()  # what was on its way meanwhile
                self._held = True
                log.warning("this process has its lock in PostgreSQL again")
            except Unavailable:
                pass
            except Exception:
                log.exception("taking the lock in PostgreSQL again failed")

    async def owner(self, run: Callable[..., Awaitable[Any]], room: str) -> str | None:
        """The address of the process that has a room; None if it is this one, from now on, or if
        there is no such room."""
        while True:
            if not self._held:
                raise Unavailable("PostgreSQL was away")
            await run("execute", TAKE, room, self._worker, ALIVE)
            found = await run("fetchrow", WHOSE, room)
            if found is None or found["worker"] == self._worker:
                return None
            if found["address"] is not None:
                return str(found["address"])
            await asyncio.sleep(0.05)  # taken by one that has not said where it is
