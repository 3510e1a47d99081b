"""The archive of a tournament: one SQLite file with a row for each finished chunk.

A row is written whole or not at all, so an archive that is killed at any time holds every chunk
that was finished, each once.

>>> import tempfile
>>> from duels.arena.model import Setting, Tournament
>>> tournament = Tournament(("greedy", "random"), (Setting("digit-duel"),), pairs=5, seed=1)
>>> folder = tempfile.TemporaryDirectory()
>>> with Archive.begin(folder.name, tournament) as archive:
...     archive.chunks()
set()
>>> Archive.begin(folder.name, tournament._replace(seed=2))
Traceback (most recent call last):
duels.core.errors.OptionError: ...: its seed is 1, not 2; choose another --out, or use --fresh ...
>>> folder.cleanup()
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from duels.arena.chunk_encoding import ChunkResult, damaged, results_with_reasons
from duels.arena.failures import disqualified
from duels.arena.model import Encounter, GameIndex, GameResult, Tournament
from duels.arena.resuming import joined, refused, renumbered
from duels.arena.schedule import Chunk
from duels.arena.sprt import decide
from duels.core.errors import DuelsError, RecordError, UnknownName, quote
from duels.games import find

FILE = "games.sqlite"
OLD = "games-old.sqlite"  # the previous file, after `--fresh`
VERSION = 2
READ = (1, VERSION)  # version 1 has no digests of the players' programs: it is only read
SCHEMA = """
CREATE TABLE IF NOT EXISTS tournament (version INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS portions (
    game INTEGER, pairing INTEGER, start INTEGER, stop INTEGER, compiled INTEGER,
    played BLOB NOT NULL, records BLOB NOT NULL,
    PRIMARY KEY (game, pairing, start)
);
"""
COLUMNS = "game, pairing, start, stop, compiled, played, records"


class Archive:
    """The file of one tournament. One process writes to it at a time; any number may read."""

    def __init__(
        self, folder: str, tournament: Tournament, base: sqlite3.Connection, lock: int | None = None
    ) -> None:
        self.folder, self.tournament, self._base, self._lock = folder, tournament, base, lock

    @classmethod
    def begin(cls, folder: str, tournament: Tournament, *, fresh: bool = False) -> Archive:
        """Open an archive to continue it, or create one; a different tournament is refused.

        The tournament may have more pairs and more players than the archive: stored games stay.
        With `fresh` a new file is created and the existing one is renamed to `OLD`.
        """
        lock = base = None
        try:
            os.makedirs(folder, exist_ok=True)
            lock = locked(folder)
            if fresh:
                rename_to_old(folder)
            base = sqlite3.connect(os.path.join(folder, FILE), isolation_level=None)
            row = stored_row(base, folder)
            check(base, folder)
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA synchronous=NORMAL")
            base.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
            base.execute("BEGIN IMMEDIATE")
            if row is None:
                data = json.dumps(tournament.to_stored())
                base.execute("INSERT INTO tournament VALUES (?, ?)", (VERSION, data))
            else:
                there = read_tournament(folder, row)
                if row[0] != VERSION:
                    raise refused(folder, "an earlier version of this program played it")
                tournament = joined(folder, there, tournament)
                extend(base, there, tournament)
            base.execute("COMMIT")
            return cls(folder, tournament, base, lock)
        except BaseException as error:
            if base is not None:
                base.close()
            if lock is not None:
                os.close(lock)
            if isinstance(error, OSError | sqlite3.Error):
                raise DuelsError(
                    f"games cannot be stored in {quote(folder)}: {_why(error)}"
                ) from None
            raise

    @classmethod
    def open(cls, folder: str) -> Archive:
        """Open the archive in a folder for reading."""
        path = os.path.join(folder, FILE)
        if not os.path.isfile(path):
            raise RecordError(f"there is no tournament in {quote(folder)}")
        base = sqlite3.connect(path, timeout=5, isolation_level=None)
        try:
            row = stored_row(base, folder)
            if row is None:
                raise RecordError(f"there is no tournament in {quote(folder)}")
            return cls(folder, read_tournament(folder, row), base)
        except BaseException:
            base.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(sqlite3.Error):
            if self._lock is not None:  # leave a single file, without a write-ahead log beside it
                self._base.execute("PRAGMA journal_mode=DELETE")
            self._base.close()
        if self._lock is not None:
            os.close(self._lock)

    def add(self, done: ChunkResult) -> None:
        """Store a chunk; one that is stored already is left unchanged."""
        try:
            self._base.execute(
                "INSERT OR IGNORE INTO portions VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*done.chunk, done.results, done.records),
            )
        except sqlite3.Error as error:
            raise DuelsError(f"games cannot be stored in {quote(self.folder)}: {error}") from None

    def chunks(self) -> set[Chunk]:
        """The chunks that are stored."""
        rows = self._rows("SELECT game, pairing, start, stop, compiled FROM portions")
        return set(map(_chunk, rows))

    def results(self, game: int, pairing: int) -> list[GameResult]:
        """The results of a pairing in a game, from the first pair up to the first gap."""
        rows = self._rows(
            f"SELECT {COLUMNS} FROM portions"
            " WHERE game = ? AND pairing = ? ORDER BY start",
            game, pairing,
        )  # fmt: skip
        found: list[GameResult] = []
        for *numbers, data, records in rows:
            chunk = _chunk(numbers)
            if 2 * chunk.start != len(found):
                break
            found += results_with_reasons(ChunkResult(chunk, data, records))
        return found

    def disqualified(self) -> dict[str, str]:
        """The disqualified players, each with the reason."""
        found: dict[str, str] = {}
        rows = self._rows(f"SELECT {COLUMNS} FROM portions WHERE NOT compiled")
        for *numbers, data, records in rows:
            found |= disqualified(
                self.tournament, results_with_reasons(ChunkResult(_chunk(numbers), data, records))
            )
        return found

    def _rows(self, query: str, *values: int) -> Iterator[Any]:
        try:
            for row in self._base.execute(query, values):  # noqa: UP028
                yield row  # `yield from` would use the cursor after the file is closed
        except sqlite3.Error as error:
            raise damaged(str(error), self.folder) from None

    def encounters(self) -> Iterator[Encounter]:
        """The counted games of each pairing: after a decided sequential test, none."""
        for game in range(len(self.tournament.games)):
            for pairing in range(len(self.tournament.pairings)):
                found = Encounter(game, pairing, self.results(game, pairing))
                if self.tournament.sprt is not None:
                    last = decide(found.pair_scores(), *self.tournament.sprt)
                    if last is not None:
                        found = found._replace(results=found.results[: 2 * last])
                yield found

    def everything(self) -> Iterator[ChunkResult]:
        """All chunks as they are stored, by game, pairing and first pair."""
        query = f"SELECT {COLUMNS} FROM portions ORDER BY game, pairing, start"
        for *numbers, results, records in self._rows(query):
            yield ChunkResult(_chunk(numbers), results, records)

    def stored(self, game_index: GameIndex) -> ChunkResult | None:
        """The chunk that holds a game; None if it was not played."""
        rows = self._rows(
            f"SELECT {COLUMNS} FROM portions"
            " WHERE game = ? AND pairing = ? AND start <= ? AND stop > ?",
            game_index.game, game_index.pairing, game_index.pair, game_index.pair,
        )  # fmt: skip
        for *numbers, results, records in rows:
            return ChunkResult(_chunk(numbers), results, records)
        return None


def stored_tournament(folder: str) -> Tournament | None:
    """The tournament of the archive in a folder; None if there is no archive."""
    if not os.path.isfile(os.path.join(folder, FILE)):
        return None
    base = sqlite3.connect(os.path.join(folder, FILE), timeout=5, isolation_level=None)
    try:
        row = stored_row(base, folder)
        return None if row is None else read_tournament(folder, row)
    finally:
        base.close()


def stored_row(base: sqlite3.Connection, folder: str) -> tuple[int, str] | None:
    """The row that describes the tournament; None in an empty file. Other files are refused."""
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
    """Raise `RecordError` if parts of the file are missing or overwritten."""
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
        raise damaged("its description is damaged", folder) from None


def extend(base: sqlite3.Connection, there: Tournament, tournament: Tournament) -> None:
    """Store a tournament with more players or pairs; the caller holds a transaction."""
    if tournament == there:
        return
    base.execute("UPDATE tournament SET data = ?", (json.dumps(tournament.to_stored()),))
    base.execute(
        "UPDATE portions SET pairing = -1 - pairing"
    )  # so that no new number collides with an old one
    base.executemany(
        "UPDATE portions SET pairing = ? WHERE pairing = ?",
        [(new, -1 - old) for old, new in renumbered(there, tournament).items()],
    )


def locked(folder: str) -> int | None:
    """The descriptor of a lock on the folder; None where the system has no such locks.

    Without a lock two writers are safe too: a chunk that is stored twice is counted once.
    """
    try:
        import fcntl
    except ImportError:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise OSError(0, "another process is running this tournament") from None
    except OSError:
        pass
    return handle


def rename_to_old(folder: str) -> None:
    """Rename the file of a tournament, with the files that SQLite leaves after a crash."""
    for more in ("", "-wal", "-shm", "-journal"):
        old, new = (os.path.join(folder, name + more) for name in (FILE, OLD))
        with suppress(FileNotFoundError):
            os.unlink(new)
        with suppress(FileNotFoundError):
            os.replace(old, new)


def _chunk(numbers: Iterable[int]) -> Chunk:
    game, pairing, start, stop, compiled = numbers
    if not all(isinstance(number, int) for number in (game, pairing, start, stop, compiled)):
        raise damaged("games in it have no number")
    return Chunk(game, pairing, start, stop, bool(compiled))


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
