"""Where a tournament is kept: one SQLite file, a row for each portion, written whole or not at all.

Killed at any moment, it holds all portions that were finished, and nothing twice. What a game
scored is kept in columns of plain numbers; its record as it is, or for compiled games as the
actions that were chosen, from which the rules and the random numbers give the record again.

>>> import tempfile
>>> from duels.arena.played import Setting, Tournament
>>> cup = Tournament(("greedy", "random"), (Setting("digit-duel"),), pairs=5, seed=1)
>>> folder = tempfile.TemporaryDirectory()
>>> with Archive.begin(folder.name, cup) as archive:
...     archive.portions()
set()
>>> Archive.begin(folder.name, cup._replace(seed=2))
Traceback (most recent call last):
duels.core.errors.OptionError: ...: its seed is 1, not 2; choose another --out
>>> folder.cleanup()
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from math import isnan, nan
from typing import Any, NamedTuple

from duels.arena.failures import FAILED, disqualified, with_reasons
from duels.arena.played import DISQUALIFIED, Encounter, Place, Played, Tournament
from duels.arena.schedule import Portion
from duels.arena.sprt import decide
from duels.core.errors import DuelsError, OptionError, RecordError, quote

FILE = "games.sqlite"
VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS tournament (version INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS portions (
    game INTEGER, pairing INTEGER, start INTEGER, stop INTEGER, compiled INTEGER,
    played BLOB NOT NULL, records BLOB NOT NULL,
    PRIMARY KEY (game, pairing, start)
);
"""
ENDS = ("rules", "limit", "forfeit", "time", "resignation", DISQUALIFIED)
NOBODY = -1
# Of each game: twice the score, how it ended and who lost so, choices; then what may be unknown.
TYPES = "bbbiddddd"


class Done(NamedTuple):
    """A portion that was played, as it is kept."""

    portion: Portion
    played: bytes
    records: bytes


def packed(columns: Sequence[Iterable[Any]]) -> bytes:
    """The columns of `TYPES`, one after the other, little-endian, compressed."""
    parts = []
    for kind, column in zip(TYPES, columns, strict=True):
        numbers = array(kind, column)
        if sys.byteorder == "big":
            numbers.byteswap()
        parts.append(numbers.tobytes())
    return zlib.compress(b"".join(parts), 1)


def inflated(data: bytes) -> bytes:
    """What was compressed; an archive that was damaged is refused."""
    try:
        return zlib.decompress(data)
    except zlib.error:
        raise RecordError("the tournament's file is damaged") from None


def columns_of(played: Sequence[Played]) -> list[list[Any]]:
    """Finished games as columns."""
    unknown = (nan, nan)
    rows = [
        (
            int(2 * game.score), ENDS.index(game.by), NOBODY if game.loser is None else game.loser,
            game.choices, nan if game.adjusted is None else game.adjusted,
            *(game.regret or unknown), *(game.graded or unknown),
        )
        for game in played
    ]  # fmt: skip
    return [list(column) for column in zip(*rows, strict=True)]


def unpacked(portion: Portion, data: bytes) -> list[Played]:
    """The finished games of a portion, in order."""
    raw, at, columns = inflated(data), 0, []
    for kind in TYPES:
        numbers = array(kind)
        size = numbers.itemsize * portion.games
        numbers.frombytes(raw[at : at + size])
        if sys.byteorder == "big":
            numbers.byteswap()
        columns.append(numbers)
        at += size
    found = []
    for number, (twice, end, loser, choices, adjusted, *more) in enumerate(
        zip(*columns, strict=True)
    ):
        a, b, m, n = more
        found.append(
            Played(
                portion.game, portion.pairing, portion.start + number // 2, number % 2,
                twice / 2, ENDS[end], choices,
                None if isnan(adjusted) else adjusted,
                None if isnan(a) else (a, b),
                None if isnan(m) else (int(m), int(n)),
                None if loser == NOBODY else loser,
            )
        )  # fmt: skip
    return found


def explained(done: Done) -> list[Played]:
    """The finished games of a portion, with who failed in them and why, as the records say."""
    games = unpacked(done.portion, done.played)
    if done.portion.compiled or not any(game.by in FAILED for game in games):
        return games
    return with_reasons(games, json.loads(inflated(done.records)))


class Archive:
    """The file of one tournament. One program writes to it at a time; any may read."""

    def __init__(
        self, folder: str, cup: Tournament, base: sqlite3.Connection, lock: int | None = None
    ) -> None:
        self.folder, self.cup, self._base, self._lock = folder, cup, base, lock

    @classmethod
    def begin(cls, folder: str, cup: Tournament) -> Archive:
        """The archive to go on with, or a new one; refused where another tournament is."""
        try:
            os.makedirs(folder, exist_ok=True)
            lock = _locked(folder)
            base = sqlite3.connect(os.path.join(folder, FILE), isolation_level=None)
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA synchronous=NORMAL")
            base.executescript(SCHEMA)
            base.execute("BEGIN IMMEDIATE")
            row = base.execute("SELECT version, data FROM tournament").fetchone()
            if row is None:
                data = json.dumps(cup.to_json())
                base.execute("INSERT INTO tournament VALUES (?, ?)", (VERSION, data))
            base.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise DuelsError(f"cannot keep games in {quote(folder)}: {_why(error)}") from None
        if row is not None:
            _same(folder, _read(folder, row), cup)
        return cls(folder, cup, base, lock)

    @classmethod
    def open(cls, folder: str) -> Archive:
        """The archive in a folder, to read."""
        path = os.path.join(folder, FILE)
        if not os.path.isfile(path):
            raise RecordError(f"there is no tournament in {quote(folder)}")
        try:
            base = sqlite3.connect(path, timeout=5, isolation_level=None)
            row = base.execute("SELECT version, data FROM tournament").fetchone()
        except sqlite3.Error as error:
            raise RecordError(f"cannot read the tournament in {quote(folder)}: {error}") from None
        if row is None:
            raise RecordError(f"there is no tournament in {quote(folder)}")
        return cls(folder, _read(folder, row), base)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(sqlite3.Error):
            if self._lock is not None:  # the writer leaves one plain file, to be read anywhere
                self._base.execute("PRAGMA journal_mode=DELETE")
            self._base.close()
        if self._lock is not None:
            os.close(self._lock)

    def add(self, done: Done) -> None:
        """Keep a portion; one that is there already stays as it is."""
        try:
            self._base.execute(
                "INSERT OR IGNORE INTO portions VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*done.portion, done.played, done.records),
            )
        except sqlite3.Error as error:
            raise DuelsError(f"cannot keep games in {quote(self.folder)}: {error}") from None

    def portions(self) -> set[Portion]:
        """What has been played."""
        rows = self._base.execute("SELECT game, pairing, start, stop, compiled FROM portions")
        return set(map(_portion, rows))

    def played(self, game: int, pairing: int) -> list[Played]:
        """The games of a pairing in a game from the first pair on, without a gap."""
        rows = self._base.execute(
            "SELECT * FROM portions WHERE game = ? AND pairing = ? ORDER BY start",
            (game, pairing),
        )
        found: list[Played] = []
        for *numbers, data, records in rows:
            portion = _portion(numbers)
            if 2 * portion.start != len(found):
                break
            found += explained(Done(portion, data, records))
        return found

    def disqualified(self) -> dict[str, str]:
        """The players that were disqualified, and why."""
        found: dict[str, str] = {}
        for *numbers, data, records in self._base.execute(
            "SELECT * FROM portions WHERE NOT compiled"
        ):
            found |= disqualified(self.cup, explained(Done(_portion(numbers), data, records)))
        return found

    def encounters(self) -> Iterator[Encounter]:
        """All that counts, pairing by pairing: where a test ended it, nothing after that."""
        for game in range(len(self.cup.games)):
            for pairing in range(len(self.cup.pairings)):
                found = Encounter(game, pairing, self.played(game, pairing))
                if self.cup.sprt is not None:
                    last = decide(found.pair_scores(), *self.cup.sprt)
                    if last is not None:
                        found = found._replace(played=found.played[: 2 * last])
                yield found

    def everything(self) -> Iterator[Done]:
        """All portions, as they are kept."""
        for *numbers, played, records in self._base.execute("SELECT * FROM portions"):
            yield Done(_portion(numbers), played, records)

    def stored(self, place: Place) -> Done | None:
        """The portion in which a game is kept."""
        row = self._base.execute(
            "SELECT * FROM portions WHERE game = ? AND pairing = ? AND start <= ? AND stop > ?",
            (place.game, place.pairing, place.pair, place.pair),
        ).fetchone()
        if row is None:
            return None
        *numbers, played, records = row
        return Done(_portion(numbers), played, records)


def _portion(numbers: Iterable[int]) -> Portion:
    game, pairing, start, stop, compiled = numbers
    return Portion(game, pairing, start, stop, bool(compiled))


def _read(folder: str, row: tuple[int, str]) -> Tournament:
    version, data = row
    if version != VERSION:
        raise RecordError(
            f"the tournament in {quote(folder)} has version {version}; this program reads {VERSION}"
        )
    return Tournament.from_json(json.loads(data))


def _same(folder: str, there: Tournament, cup: Tournament) -> None:
    """Refuse to mix two tournaments."""
    old, new = there.to_json(), cup.to_json()
    for name, value in old.items():
        if value != new[name]:
            what = (
                f"it was begun {'with' if value else 'without'} compiled games (duels[rl])"
                if name == "compiled"
                else f"its {name} is {_text(value)}, not {_text(new[name])}"
            )
            raise OptionError(
                f"{quote(folder)} holds another tournament: {what}; choose another --out"
            )


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _locked(folder: str) -> int | None:
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


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
