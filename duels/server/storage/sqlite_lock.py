"""The file of the embedded store: its lock, and checks that it was not deleted or replaced.

The writing process holds a lock on `<file>-lock`, which the system releases when the process ends.
Reading needs no lock, so that it works while a server runs. Commands for moderation write without
the lock: a room only at the version that they have read, in short transactions, as the server does.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

from duels.core.errors import RecordError
from duels.server.storage import schema
from duels.server.storage.base import Unavailable

MEMORY = ":memory:"
RETRY_AFTER = 0.05  # seconds between two attempts to take a lock that another process holds


class DatabaseFile:
    """A database file, or one in memory; with `reading` it is neither created nor changed.

    With `beside` it is neither created nor migrated, and no lock is taken.
    """

    def __init__(self, path: str, reading: bool = False, beside: bool = False) -> None:
        self.path, self._reading, self._beside = path, reading, beside
        self._shared = path != MEMORY and not reading
        self._lock: int | None = None
        self._paths: tuple[str, ...] = ()  # of the files that were opened
        self._opened: list[tuple[int, int] | None] = []  # device and inode of each

    def lock(self) -> None:
        """Take the lock for writing; `Unavailable` if another process holds it."""
        if self._reading or self._beside or self.path == MEMORY:
            return
        if folder := os.path.dirname(self.path):
            try:
                os.makedirs(folder, mode=0o700, exist_ok=True)
            except OSError as error:
                raise Unavailable(f"{folder} cannot be created: {error.strerror}") from None
        self._lock = _locked(self.path)

    def release(self) -> None:
        """Release the lock. To be called after the connection is closed."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @asynccontextmanager
    async def rating_in_turn(self) -> AsyncIterator[None]:
        """Hold the lock for rating, which the server and programs beside it take in turn."""
        lock = _lock_file(f"{os.path.realpath(self.path)}-rating") if self._shared else None
        try:
            while lock is not None and not _taken(lock):
                await asyncio.sleep(RETRY_AFTER)
            yield
        finally:
            if lock is not None:
                os.close(lock)

    def connect(self) -> sqlite3.Connection:
        """Open a connection and migrate the tables."""
        if self._reading or self._beside:
            if not os.path.exists(self.path):
                raise RecordError("there is no such file")
            address = f"file:{quote(os.path.abspath(self.path))}?mode=rw"
            connection = sqlite3.connect(address, uri=True, isolation_level=None)
            connection.execute(f"PRAGMA query_only = {int(self._reading)}")
        else:
            connection = sqlite3.connect(self.path, isolation_level=None)
        # A text that is not UTF-8 then fails where its row is decoded, not the whole query.
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        connection.execute("PRAGMA busy_timeout = 5000")
        if self._reading or self._beside:
            connection.execute("PRAGMA synchronous = FULL")
            schema.refuse_other(connection, writing=self._beside)
            return connection
        if self.path != MEMORY:
            os.chmod(self.path, 0o600)  # it contains the secrets of matches
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        schema.migrate(connection)
        if self.path != MEMORY:
            self._paths = self.path, f"{os.path.realpath(self.path)}-wal"
            self._opened = self._found()
        return connection

    def check(self) -> None:
        """`Unavailable` if the file that was opened is not at its path any more."""
        if self._found() != self._opened:
            raise Unavailable(f"{self.path} was deleted or replaced; restart the server")

    def _found(self) -> list[tuple[int, int] | None]:
        """Device and inode of the files at the paths now."""
        found: list[tuple[int, int] | None] = []
        for path in self._paths:
            try:
                status = os.stat(path)
                found.append((status.st_dev, status.st_ino))
            except OSError:
                found.append(None)
        return found


def _lock_file(path: str) -> int:
    """Open a file that is only locked; its descriptor."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened: {error.strerror}") from None


def _taken(lock: int) -> bool:
    """Take a lock until its descriptor is closed or the process ends; False if another has it."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked(path: str) -> int:
    """Lock a database file until the descriptor is closed or the process ends."""
    beside = f"{os.path.realpath(path)}-lock"
    lock = _lock_file(beside)
    try:
        taken = _taken(lock)
    except OSError as error:
        os.close(lock)
        raise Unavailable(f"{beside} cannot be locked: {error.strerror}") from None
    if not taken:
        holder = os.read(lock, 20).decode("ascii", "replace").strip()
        os.close(lock)
        raise Unavailable(
            f"{path} is in use by another process{holder and f' ({holder})'}: "
            "stop that first, or choose another --database"
        )
    os.truncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock
