"""The embedded store: one SQLite file, one thread that writes, many rooms to one fsync.

Whatever waits while a transaction is on its way to the disk goes together into the next one. A
change that conflicts is refused by itself; if the disk refuses, all in that transaction are.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Any, TypeVar, overload

import msgspec

from duels.core.errors import RecordError
from duels.web import schema
from duels.web.queries import Queries
from duels.web.store import Conflict, Kept, Rating, Row, Save, Unavailable, columns, unpacked

T = TypeVar("T")
Job = Save | Callable[[sqlite3.Connection], Any]
MOST = 512  # jobs in one transaction, or a few more


class SqliteStore(Queries):
    """All of `Store` on one file, or in memory with ":memory:"."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._jobs: queue.SimpleQueue[list[tuple[Job, asyncio.Future[Any]]] | None]
        self._jobs = queue.SimpleQueue()
        self._gathered: list[tuple[Job, asyncio.Future[Any]]] = []
        self._thread: threading.Thread | None = None
        self._rating = asyncio.Lock()
        self.commits = self.written = 0  # transactions, and changes in them

    async def open(self) -> None:
        if self.path != ":memory:" and (folder := os.path.dirname(self.path)):
            try:
                os.makedirs(folder, mode=0o700, exist_ok=True)
            except OSError as error:
                raise Unavailable(f"{folder} cannot be made: {error.strerror}") from None
        opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._thread = threading.Thread(target=self._work, args=(opened,), name="store")
        self._thread.start()
        await opened

    async def close(self) -> None:
        """Finish what waits, then close the file."""
        if self._thread is not None:
            self._hand_over()
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)
            self._thread = None

    # The thread.

    def _work(self, opened: asyncio.Future[Any]) -> None:
        try:
            connection = self._connect()
        except (sqlite3.Error, RecordError, OSError) as error:
            reason = Unavailable(f"{self.path} cannot be opened: {error}")
            _tell([(opened, None, reason)])
            return
        _tell([(opened, None, None)])
        try:
            while (jobs := self._jobs.get()) is not None:
                more = self._together(connection, jobs)
                del jobs  # whole rooms may hang on their results
                if not more:
                    return
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None)
        if self.path != ":memory:":
            os.chmod(self.path, 0o600)  # it holds the secrets of matches
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA busy_timeout = 5000")
        schema.migrate(connection)
        return connection

    def _together(
        self, connection: sqlite3.Connection, jobs: list[tuple[Any, asyncio.Future[Any]]]
    ) -> bool:
        """One transaction of all that waits; False after the last."""
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
        waiting = [future for _, future in jobs]
        done: list[tuple[asyncio.Future[Any], Any, Exception | None]] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            saves = [job for job in jobs if isinstance(job[0], Save)]
            together = len({job.row.id for job, _ in saves}) == len(saves) > 1
            if together and self._save_all(connection, [job for job, _ in saves]):
                done += [(future, None, None) for _, future in saves]
                jobs = [job for job in jobs if not isinstance(job[0], Save)]
            elif together:  # somebody came second: find out who
                connection.execute("ROLLBACK")
                connection.execute("BEGIN IMMEDIATE")
            for work, future in jobs:
                try:
                    act = partial(_save, change=work) if isinstance(work, Save) else work
                    done.append((future, act(connection), None))
                except Conflict as error:  # it has written nothing
                    done.append((future, None, error))
            connection.execute("COMMIT")
            self.commits += 1
            self.written += len(done)
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            reason = Unavailable(f"the store cannot be written or read now: {error}")
            done = [(future, None, reason) for future in waiting]
        _tell(done)
        return more

    def _save_all(self, connection: sqlite3.Connection, changes: list[Save]) -> bool:
        """Write changes of different rooms; False if one of them conflicts, or is a new room."""
        rows = [[*columns(change.row), change.row.id, change.row.version] for change in changes]
        if connection.execute(schema.UPDATE_ROOMS, (_json(rows),)).rowcount != len(rows):
            return False
        entries = [
            (change.row.id, number, entry.decode())
            for change in changes
            for number, entry in enumerate(change.entries, change.number)
        ]
        answers = [
            (change.row.id, change.answer[0], change.answer[1].decode())
            for change in changes
            if change.answer is not None
        ]
        connection.execute(schema.INSERT_ENTRIES, (_json(entries),))
        connection.execute(schema.INSERT_ANSWERS, (_json(answers),))
        return True

    @overload
    async def _do(self, job: Save) -> None: ...
    @overload
    async def _do(self, job: Callable[[sqlite3.Connection], T]) -> T: ...
    async def _do(self, job: Any) -> Any:
        if self._thread is None or not self._thread.is_alive():
            raise Unavailable("the store is closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if not self._gathered:
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._gathered.append((job, future))
        return await future

    def _hand_over(self) -> None:
        """Give the thread what one turn of the event loop asked for: to wake it takes long."""
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

    async def load(self, room: str) -> Kept | None:
        def job(connection: sqlite3.Connection) -> Kept | None:
            found = connection.execute(schema.ROOM, (room,)).fetchone()
            if found is None:
                return None
            entries = connection.execute(schema.ENTRIES, (room,)).fetchall()
            answers = connection.execute(schema.ANSWERS, (room,)).fetchall()
            return Kept(
                unpacked(*found), [msgspec.json.decode(data) for (data,) in entries], dict(answers)
            )

        return await self._do(job)

    async def row(self, room: str) -> Row | None:
        found = await self._one(schema.ROOM, room)
        return None if found is None else unpacked(*found)

    # Ratings, analyses.

    def rating_in_turn(self) -> AbstractAsyncContextManager[None]:
        """One at a time."""
        return self._rating

    async def join(self, address: str, lost: Callable[[], Awaitable[None]]) -> None:
        """One process alone has an SQLite file."""
        raise Unavailable("several processes need PostgreSQL")

    async def owner(self, room: str) -> str | None:
        """Nobody else: this store is one process's."""
        return None

    async def rate(self, room: str, changed: list[Rating]) -> None:
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

    async def analysis(self, room: str) -> bytes | None:
        found = await self._one(schema.ANALYSIS, room)
        return None if found is None else bytes(found[0])

    async def keep_analysis(self, room: str, data: bytes) -> None:
        await self._all(schema.KEEP_ANALYSIS, room, data)


def _save(connection: sqlite3.Connection, change: Save) -> None:
    row, values = change.row, columns(change.row)
    if row.version == 0:
        made = connection.execute(schema.INSERT_ROOM, (row.id, row.game, row.request, *values))
    else:
        made = connection.execute(schema.UPDATE_ROOM, (*values, row.id, row.version))
    if made.rowcount != 1:
        raise Conflict(row.id)
    for n, entry in enumerate(change.entries, change.number):
        connection.execute(schema.INSERT_ENTRY, (row.id, n, entry.decode()))
    if change.answer is not None:
        connection.execute(schema.INSERT_ANSWER, (row.id, *change.answer))


def _json(rows: list[Any]) -> str:
    return msgspec.json.encode(rows).decode()


def _tell(done: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
    """Give the results to the event loop, all in one call."""

    def settle() -> None:
        for future, value, error in done:
            if future.cancelled():
                continue
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)

    with suppress(RuntimeError):  # the loop is gone, and nobody waits
        done[0][0].get_loop().call_soon_threadsafe(settle)
