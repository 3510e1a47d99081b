"""The embedded store: one SQLite file, one writer thread, group commit.

All jobs that arrive during a transaction go into the next one. A change that conflicts is refused
alone. If the disk fails, all jobs of the transaction fail; if one job makes it fail, the others are
executed without it.

One process at a time writes the file (`sqlite_lock.py`).
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeVar, overload

import msgspec

from duels.core.errors import RecordError
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
from duels.server.storage.queries import Queries
from duels.server.storage.sqlite_lock import DatabaseFile

T = TypeVar("T")
CLOSE_WITHIN = 10.0  # seconds
Job = Save | Callable[[sqlite3.Connection], Any]
Waiting = tuple[Job, asyncio.Future[Any]]
Done = tuple[asyncio.Future[Any], Any, Exception | None]
MOST = 512  # jobs in one transaction, approximately
# Errors of the whole file that may pass; any other error is caused by one job.
PASSING = (
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL,
)  # fmt: skip


class SqliteStore(Queries):
    """A `RoomStore` in one file, or in memory with ":memory:".

    With `reading` nothing is written and no lock is taken, so that it works while a server runs.
    With `beside` it writes beside a server that may be running.
    """

    leases_valid = True  # there are no other workers

    def __init__(self, path: str, reading: bool = False, beside: bool = False) -> None:
        super().__init__()
        self.path = path
        self._file = DatabaseFile(path, reading, beside)
        self._begin = "BEGIN" if reading else "BEGIN IMMEDIATE"
        self._jobs: queue.SimpleQueue[list[Waiting] | None]
        self._jobs = queue.SimpleQueue()
        self._gathered: list[Waiting] = []
        self._doing: list[Waiting] = []
        self._thread: threading.Thread | None = None
        self._rating = asyncio.Lock()
        self.alive = True
        self.commits = self.written = 0  # transactions, and changes in them

    async def open(self) -> None:
        self._file.lock()
        opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._thread = threading.Thread(
            target=self._work, args=(opened,), name="store", daemon=True
        )
        self._thread.start()
        try:
            await opened
        except Unavailable:
            await self.close()
            raise

    async def close(self) -> None:
        """Execute the waiting jobs, then close the file."""
        if self._thread is not None:
            self._hand_over()
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join, CLOSE_WITHIN)
            self._thread = None
        self._file.release()

    async def check(self) -> None:
        def job(connection: sqlite3.Connection) -> None:
            connection.execute(schema.DUE, (0.0, 1)).fetchall()
            number = connection.execute("PRAGMA user_version").fetchone()[0]
            connection.execute(f"PRAGMA user_version = {number}")  # a page is written

        await self._do(job)

    # The thread.

    def _work(self, opened: asyncio.Future[Any]) -> None:
        try:
            connection = self._file.connect()
        except (sqlite3.Error, RecordError, OSError) as error:
            reason = Unavailable(f"{self.path} cannot be opened: {error}")
            _deliver([(opened, None, reason)])
            return
        _deliver([(opened, None, None)])
        try:
            while (jobs := self._jobs.get()) is not None:
                more = self._run_jobs(connection, jobs)
                del jobs  # their results may reference whole rooms
                if not more:
                    return
        except BaseException:
            log.critical("the store has failed", exc_info=True)
            with suppress(RuntimeError):
                opened.get_loop().call_soon_threadsafe(self._fail)
        finally:
            connection.close()

    def _fail(self) -> None:
        """Fail all jobs, as the thread has ended."""
        self.alive = False
        waiting, self._gathered = self._doing + self._gathered, []
        with suppress(queue.Empty):
            while True:
                waiting += self._jobs.get_nowait() or []
        for _, future in waiting:
            if not future.done():
                future.set_exception(Unavailable("the store has failed"))

    def _run_jobs(self, connection: sqlite3.Connection, jobs: list[Waiting]) -> bool:
        """Execute all waiting jobs in one transaction; False after the last."""
        more = True
        while more and len(jobs) < MOST:
            try:
                later = self._jobs.get_nowait()
            except queue.Empty:
                break
            if later is None:
                more = False
            else:
                jobs += later
        self._doing = jobs
        _deliver(self._execute(connection, jobs))
        self._doing = []
        return more

    def _execute(self, connection: sqlite3.Connection, jobs: list[Waiting]) -> list[Done]:
        """Execute jobs; if the transaction fails, each half of them separately."""
        try:
            return self._transaction(connection, jobs)
        except Exception as error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            if connection.in_transaction:  # the connection is unusable
                raise
            passing = isinstance(error, (Unavailable, MemoryError)) or (
                (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in PASSING
            )
            if not passing and len(jobs) > 1:
                half = len(jobs) // 2
                first = self._execute(connection, jobs[:half])
                return first + self._execute(connection, jobs[half:])
            reason: Exception
            if passing:
                reason = Unavailable(f"the store cannot be written or read now: {error}")
            else:
                reason = StoreError(f"this cannot be stored or read: {type(error).__name__}")
                log.error("%s", reason)
            return [(future, None, reason) for _, future in jobs]

    def _transaction(self, connection: sqlite3.Connection, jobs: list[Waiting]) -> list[Done]:
        self._file.check()
        done: list[Done] = []
        began = time.perf_counter()
        connection.execute(self._begin)
        saves = [(job, future) for job, future in jobs if isinstance(job, Save)]
        together = len({job.row.id for job, _ in saves}) == len(saves) > 1
        if together and self._save_all(connection, [job for job, _ in saves]):
            done += [(future, None, None) for _, future in saves]
            jobs = [job for job in jobs if not isinstance(job[0], Save)]
        elif together:  # one of them conflicts: execute them one by one
            connection.execute("ROLLBACK")
            connection.execute(self._begin)
        for work, future in jobs:
            try:
                act = partial(_save, change=work) if isinstance(work, Save) else work
                done.append((future, act(connection), None))
            except Conflict as error:  # it has written nothing
                done.append((future, None, error))
        connection.execute("COMMIT")
        self.times.observe(time.perf_counter() - began)
        self.commits += 1
        self.written += len(done)
        return done

    def _save_all(self, connection: sqlite3.Connection, changes: list[Save]) -> bool:
        """Write changes of different rooms; False if one conflicts or is a new room."""
        rows = [[*columns(change.row), change.row.id, change.row.version] for change in changes]
        if connection.execute(schema.UPDATE_ROOMS, (_json(rows),)).rowcount != len(rows):
            return False
        entries = [
            (change.row.id, number, entry.decode())
            for change in changes
            for number, entry in enumerate(change.entries, change.number)
        ]
        answers = [
            (change.row.id, change.response[0], change.response[1].decode(), change.row.version)
            for change in changes
            if change.response is not None
        ]
        connection.execute(schema.INSERT_ENTRIES, (_json(entries),))
        connection.execute(schema.INSERT_ANSWERS, (_json(answers),))
        if expired := [(change.row.id, name) for change in changes for name in change.expired]:
            connection.execute(schema.DELETE_ANSWERS, (_json(expired),))
        return True

    @overload
    async def _do(self, job: Save) -> None: ...
    @overload
    async def _do(self, job: Callable[[sqlite3.Connection], T]) -> T: ...
    async def _do(self, job: Any) -> Any:
        if self._thread is None or not self.alive:
            raise Unavailable("the store is closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if not self._gathered:
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._gathered.append((job, future))
        return await future

    def _hand_over(self) -> None:
        """Give the thread all jobs of one iteration of the event loop, to wake it only once."""
        jobs, self._gathered = self._gathered, []
        if jobs:
            self._jobs.put(jobs)

    async def _all(self, sql: str, *values: Any) -> list[Any]:
        return await self._do(lambda connection: connection.execute(sql, values).fetchall())

    async def _one(self, sql: str, *values: Any) -> Any:
        return await self._do(lambda connection: connection.execute(sql, values).fetchone())

    # Rooms.

    async def save(self, change: Save) -> None:
        await self._do(change)
        change.row.version += 1

    async def load(self, room: str) -> StoredRoom | None:
        def job(connection: sqlite3.Connection) -> Any:
            found = connection.execute(schema.ROOM, (room,)).fetchone()
            if found is None:
                return None
            entries = [data for (data,) in connection.execute(schema.ENTRIES, (room,))]
            return found, entries, connection.execute(schema.ANSWERS, (room,)).fetchall()

        found = await self._do(job)
        return None if found is None else stored_room(*found)

    # Ratings, analyses.

    @asynccontextmanager
    async def rating_in_turn(self) -> AsyncIterator[None]:
        """A lock under which matches are rated one at a time, also beside a server."""
        async with self._rating, self._file.rating_in_turn():
            yield

    async def join(
        self, address: str, lost: Callable[[], Awaitable[None]], taken: Callable[[str], None]
    ) -> None:
        """Refused: only one process can use an SQLite file."""
        raise Unavailable("several processes need PostgreSQL")

    async def lease_holder(self, room: str) -> str | None:
        """None: there are no other workers."""
        return None

    async def rate(self, room: str, changed: list[StoredRating]) -> None:
        def job(connection: sqlite3.Connection) -> None:
            if connection.execute(schema.RATED, (room,)).rowcount != 1:
                raise Conflict(room)
            for rating in changed:
                connection.execute(schema.RATE, msgspec.structs.astuple(rating))

        await self._do(job)

    async def forget_ratings(self) -> None:
        def job(connection: sqlite3.Connection) -> None:
            connection.execute(schema.FORGET_RATINGS)
            connection.execute(schema.FORGET_RATED)

        await self._do(job)

    async def version(self) -> int:
        found = await self._one("PRAGMA user_version")
        return int(found[0])

    async def analysis(self, room: str) -> bytes | None:
        found = await self._one(schema.ANALYSIS, room)
        return None if found is None else bytes(found[0])

    async def keep_analysis(self, room: str, data: bytes) -> None:
        await self._all(schema.KEEP_ANALYSIS, data, room)

    # Retention.

    async def delete_rooms(self, rooms: list[tuple[str, int]]) -> int:
        def job(connection: sqlite3.Connection) -> int:
            deleted = 0
            for id, version in rooms:
                if connection.execute(schema.DELETE_ROOM, (id, version)).rowcount == 1:
                    for statement in (
                        schema.DELETE_ENTRIES_OF,
                        schema.DELETE_ANSWERS_OF,
                        schema.DELETE_ANALYSIS_OF,
                        schema.DELETE_REPORTS_OF,
                        schema.DELETE_PROFILE_OF,
                    ):
                        connection.execute(statement, (id,))
                    deleted += 1
            return deleted

        return await self._do(job)

    async def delete_orphans(self) -> None:
        """Nothing: there are no leases."""


def _save(connection: sqlite3.Connection, change: Save) -> None:
    row, values = change.row, columns(change.row)
    if row.version == 0:
        new = row.id, row.game, row.request, row.created
        made = connection.execute(schema.INSERT_ROOM, (*new, *values))
    else:
        made = connection.execute(schema.UPDATE_ROOM, (*values, row.id, row.version))
    if made.rowcount != 1:
        raise Conflict(row.id)
    for n, entry in enumerate(change.entries, change.number):
        connection.execute(schema.INSERT_ENTRY, (row.id, n, entry.decode()))
    if change.response is not None:
        connection.execute(schema.INSERT_ANSWER, (row.id, *change.response, row.version))
    if change.expired:
        expired = [(row.id, name) for name in change.expired]
        connection.execute(schema.DELETE_ANSWERS, (_json(expired),))


def _json(rows: list[Any]) -> str:
    return msgspec.json.encode(rows).decode()


def _deliver(done: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
    """Pass all results to the event loop in one call."""

    def settle() -> None:
        for future, value, error in done:
            if future.cancelled():
                continue
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)

    with suppress(RuntimeError):  # the loop is closed, so no task waits
        done[0][0].get_loop().call_soon_threadsafe(settle)
