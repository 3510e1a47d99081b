"""Backup and restoration of a whole store, with a check of everything in it.

A backup of SQLite is a file that can be used as a database. One of PostgreSQL is a dump in the
custom format of `pg_dump`. Both are made while a server runs, of one moment.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field

from duels.core import record
from duels.core.errors import DuelsError, RecordError
from duels.games import load
from duels.server.import_export import AT_ONCE, open_store
from duels.server.storage import default_path, is_postgres, schema
from duels.server.storage.base import (
    CLOSED,
    OVER,
    PLAYING,
    STARTING,
    WAITING,
    RoomStore,
    Unavailable,
    header,
)
from duels.server.storage.sqlite_lock import DatabaseFile

BESIDE = ("-wal", "-journal")  # files that SQLite would apply to a database of the same name
VERSION_TABLE = "store"


@dataclass
class Contents:
    """What a store was found to contain."""

    version: int
    states: Counter[str] = field(default_factory=Counter)
    damaged: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        finished = self.states[OVER]
        unfinished = sum(self.states[state] for state in (WAITING, STARTING, PLAYING))
        count = self.states.total()
        return (
            f"store version {self.version}, {count} match{'' if count == 1 else 'es'}: "
            f"{finished} finished, {unfinished} unfinished, {self.states[CLOSED]} closed; "
            f"{len(self.damaged)} damaged"
        )


async def back_up(database: str, path: str) -> str:
    """Write a backup to a new file; returns what it contains."""
    if is_postgres(database):
        return await asyncio.to_thread(_dump, database, path)
    await asyncio.to_thread(_copy, database or default_path(), path)
    return str(await inspect(path))


async def restore(path: str, database: str) -> Contents:
    """Restore a backup where there is no database yet; returns what was found in it."""
    if is_postgres(database):
        await _refuse_tables(database)
        await asyncio.to_thread(_load_dump, path, database)
        return await inspect(database)
    place = database or default_path()
    file = DatabaseFile(place)
    file.lock()
    try:
        for name in (place, *(f"{os.path.realpath(place)}{end}" for end in BESIDE)):
            if os.path.exists(name):
                raise RecordError(f"{name} exists: move it away first")
        await asyncio.to_thread(_copy, path, place)
    finally:
        file.release()
    return await inspect(place)


async def inspect(database: str) -> Contents:
    """Read every match of a store and check that it can be continued or replayed."""
    async with open_store(database, reading=True) as store:
        found = Contents(await store.version())
        after = ""
        while ids := await store.rooms(after, AT_ONCE):
            for id in ids:
                await _inspect_room(store, id, found)
            after = ids[-1]
    return found


async def _inspect_room(store: RoomStore, id: str, found: Contents) -> None:
    try:
        stored = await store.load(id)
        if stored is None:
            return  # deleted meanwhile
        begun = header(stored.row)
        if begun is not None:
            match = record.follow(begun, stored.entries, load)
            if (match.result is not None) != (stored.row.state == OVER):
                raise RecordError("its entries do not lead to its state")
        elif stored.entries or stored.row.state == OVER:
            raise RecordError("it has no header")
    except Unavailable:
        raise
    except Exception as error:  # any kind of damage
        store.damage.report(id, error)
        found.damaged.append(id)
        found.states["damaged"] += 1
    else:
        found.states[stored.row.state] += 1


# SQLite.


def _copy(source: str, target: str) -> None:
    """Copy a database in one transaction, check the copy, and give it its name."""
    partial = _new_file(target)
    try:
        with (
            closing(DatabaseFile(source, reading=True).connect()) as reader,
            closing(sqlite3.connect(partial, isolation_level=None)) as copy,
        ):
            reader.backup(copy)  # all pages at once: of one moment, and writers do not wait
            copy.execute("PRAGMA journal_mode = DELETE")  # one file
            (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise RecordError(
                f"{source} is damaged ({' '.join(found.split())}): restore an earlier backup; "
                "`duels export` saves the finished matches that can be read"
            )
        _finish(partial, target)
    except (sqlite3.Error, RecordError) as error:
        told = str(error)
        raise RecordError(told if told.startswith(source) else f"{source}: {told}") from None
    finally:
        for end in ("", *BESIDE, "-shm"):
            with suppress(OSError):
                os.unlink(f"{partial}{end}")


def _new_file(target: str) -> str:
    """A new file beside the target that only its owner can read; refused if the target exists."""
    partial = f"{target}.partial"
    try:
        if os.path.lexists(target):
            raise FileExistsError(17, "the file exists already")
        with suppress(FileNotFoundError):
            os.unlink(partial)  # of a backup that was interrupted
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise RecordError(f"{target}: {error.strerror}") from None
    return partial


def _finish(partial: str, target: str) -> None:
    """Give a complete file its name, so that it survives a crash of the machine."""
    for path in (partial, os.path.dirname(os.path.abspath(target))):
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
            if path == partial:
                os.rename(partial, target)
        finally:
            os.close(opened)


# PostgreSQL.


def _program(database: str, *words: str) -> str:
    """Run a program of PostgreSQL and return its output; the password is in its environment."""
    from duels.server.storage.postgres_address import PostgresAddress

    address = PostgresAddress(database)
    env = dict(os.environ)
    try:
        if address.password_file:
            env["PGPASSWORD"] = address.password()
        done = subprocess.run(
            [word if word != database else f"--dbname={address.url}" for word in words],
            env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        missing = error.filename if error.filename != words[0] else f"the program {words[0]}"
        raise DuelsError(f"{missing} is missing") from None
    except OSError as error:
        raise DuelsError(f"{error.filename}: {error.strerror}") from None
    if done.returncode:
        raise DuelsError(f"{' '.join(done.stderr.split()) or words[0] + ' failed'}")
    return done.stdout


def _dump(database: str, path: str) -> str:
    partial = _new_file(path)
    try:
        _program(
            database, "pg_dump", "--format=custom", "--no-owner", "--no-privileges",
            f"--file={partial}", database,
        )  # fmt: skip
        version = _dumped_version(partial)
        _finish(partial, path)
    finally:
        with suppress(OSError):
            os.unlink(partial)
    return f"store version {version}; `duels restore` checks the matches"


def _dumped_version(path: str) -> int:
    """The version of the store in a dump; `RecordError` if the dump has none."""
    table = _program("", "pg_restore", "--data-only", f"--table={VERSION_TABLE}", "--file=-", path)
    numbers = [int(line) for line in table.splitlines() if line.isdigit()]
    if not numbers:
        raise RecordError(f"{path} is not a backup of a Duels database")
    return max(numbers)


async def _refuse_tables(database: str) -> None:
    """Refuse a database that has tables already."""
    from duels.server.leases import TROUBLE
    from duels.server.storage.postgres_address import PostgresAddress

    try:
        connection = await PostgresAddress(database).connect(timeout=30)
        try:
            found = await connection.fetchval("SELECT to_regclass($1)", VERSION_TABLE)
        finally:
            await connection.close(timeout=5)
    except TROUBLE as error:
        raise Unavailable(f"PostgreSQL cannot be opened: {error}") from None
    if found is not None:
        raise RecordError("the database has tables of Duels already: name an empty one")


def _load_dump(path: str, database: str) -> None:
    if not os.path.isfile(path):
        raise RecordError(f"{path}: there is no such file")
    schema.refuse_newer(_dumped_version(path))
    _program(
        database, "pg_restore", "--single-transaction", "--exit-on-error", "--no-owner",
        "--no-privileges", database, path,
    )  # fmt: skip
