"""The SQLite file of a tournament: its tables and version, checks of it, and who may write."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress

from duels.arena.joining import renumbered
from duels.arena.played import Tournament
from duels.core.errors import RecordError, UnknownName, quote
from duels.games import find

FILE = "games.sqlite"
OLD = "games-old.sqlite"  # what `--fresh` put aside
VERSION = 2
READ = (1, VERSION)  # a tournament of version 1 does not say which programs played: only to read
SCHEMA = """
CREATE TABLE IF NOT EXISTS tournament (version INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS portions (
    game INTEGER, pairing INTEGER, start INTEGER, stop INTEGER, compiled INTEGER,
    played BLOB NOT NULL, records BLOB NOT NULL,
    PRIMARY KEY (game, pairing, start)
);
"""
COLUMNS = "game, pairing, start, stop, compiled, played, records"


def damaged(why: str, folder: str = "") -> RecordError:
    """The error for a file that cannot be read, with the way out."""
    where = f"the tournament in {quote(folder)}" if folder else "the tournament's file"
    return RecordError(
        f"{where} cannot be read: {why}; play it again with --fresh, or choose another --out"
    )


def kept(folder: str) -> Tournament | None:
    """The tournament in a folder; None where there is none yet."""
    if not os.path.isfile(os.path.join(folder, FILE)):
        return None
    base = sqlite3.connect(os.path.join(folder, FILE), timeout=5, isolation_level=None)
    try:
        row = stored_row(base, folder)
        return None if row is None else read_tournament(folder, row)
    finally:
        base.close()


def stored_row(base: sqlite3.Connection, folder: str) -> tuple[int, str] | None:
    """The row of the tournament in a file; None in an empty one. Anything else is refused."""
    try:
        if base.execute("SELECT name FROM sqlite_master").fetchone() is None:
            return None
        base.execute(f"SELECT {COLUMNS} FROM portions").fetchone()
        row: tuple[int, str] | None = base.execute(
            "SELECT version, data FROM tournament"
        ).fetchone()
    except sqlite3.Error as error:
        if "locked" in str(error) or "unable to open" in str(error):
            raise RecordError(f"cannot read the tournament in {quote(folder)}: {error}") from None
        raise damaged(str(error), folder) from None
    return row


def check(base: sqlite3.Connection, folder: str) -> None:
    """Refuse a file of which parts are missing or overwritten."""
    try:
        ((state,),) = base.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.Error as error:
        raise damaged(str(error), folder) from None
    if state != "ok":
        raise damaged(" ".join(state.split()), folder)


def read_tournament(folder: str, row: tuple[int, str]) -> Tournament:
    version, data = row
    if version not in READ:
        raise RecordError(
            f"the tournament in {quote(folder)} has version {quote(version)}; this program reads "
            f"up to {VERSION}: update it, or choose another --out"
        )
    try:
        found = Tournament.from_json(json.loads(data))
        numbers = (found.pairs, found.seed, found.turn_limit, found.time_limit or 0, found.key or 0)
        if not all(isinstance(number, int | float) for number in (*numbers, *(found.sprt or ()))):
            raise ValueError(numbers)
        "".join((*found.players, *found.programs))
        for setting in found.games:
            find(setting.slug)(**dict(setting.options))
        return found
    except UnknownName as error:
        raise damaged(str(error), folder) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise damaged("what it says of itself is damaged", folder) from None


def extend(base: sqlite3.Connection, there: Tournament, cup: Tournament) -> None:
    """Let a file hold a tournament with more players or pairs, within a transaction."""
    if cup == there:
        return
    base.execute("UPDATE tournament SET data = ?", (json.dumps(cup.to_stored()),))
    base.execute("UPDATE portions SET pairing = -1 - pairing")  # no number is taken meanwhile
    base.executemany(
        "UPDATE portions SET pairing = ? WHERE pairing = ?",
        [(new, -1 - old) for old, new in renumbered(there, cup).items()],
    )


def locked(folder: str) -> int | None:
    """A lock on the folder, to be closed; where locks do not work, two programs do no harm."""
    try:
        import fcntl
    except ImportError:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise OSError(0, "another program plays it now") from None
    except OSError:
        pass
    return handle


def put_aside(folder: str) -> None:
    """Rename the file of a tournament, with what SQLite keeps beside it after a crash."""
    for more in ("", "-wal", "-shm", "-journal"):
        old, new = (os.path.join(folder, name + more) for name in (FILE, OLD))
        with suppress(FileNotFoundError):
            os.unlink(new)
        with suppress(FileNotFoundError):
            os.replace(old, new)
