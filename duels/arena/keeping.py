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
duels.core.errors.OptionError: ...: its seed is 1, not 2; choose another --out, or --fresh ...
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
from duels.arena.joining import joined, refused
from duels.arena.played import DISQUALIFIED, Encounter, Place, Played, Tournament
from duels.arena.schedule import Portion
from duels.arena.sprt import decide
from duels.arena.store import (
    COLUMNS,
    FILE,
    SCHEMA,
    VERSION,
    check,
    damaged,
    extend,
    locked,
    put_aside,
    read_tournament,
    stored_row,
)
from duels.core.errors import DuelsError, RecordError, quote

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
    except (zlib.error, TypeError):
        raise damaged("games in it are damaged") from None


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
    raw = inflated(data)
    try:
        return list(_games(portion, raw))
    except (ValueError, IndexError, OverflowError):
        raise damaged("games in it are damaged") from None


def _games(portion: Portion, raw: bytes) -> Iterator[Played]:
    at, columns = 0, []
    for kind in TYPES:
        numbers = array(kind)
        size = numbers.itemsize * portion.games
        numbers.frombytes(raw[at : at + size])
        if sys.byteorder == "big":
            numbers.byteswap()
        columns.append(numbers)
        at += size
    if at != len(raw):
        raise ValueError(len(raw))
    for number, (twice, end, loser, choices, adjusted, *more) in enumerate(
        zip(*columns, strict=True)
    ):
        a, b, m, n = more
        yield Played(
            portion.game, portion.pairing, portion.start + number // 2, number % 2,
            twice / 2, ENDS[end], choices,
            None if isnan(adjusted) else adjusted,
            None if isnan(a) else (a, b),
            None if isnan(m) else (int(m), int(n)),
            None if loser == NOBODY else loser,
        )  # fmt: skip


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
    def begin(cls, folder: str, cup: Tournament, *, fresh: bool = False) -> Archive:
        """The archive to go on with, or a new one; refused where another tournament is.

        A tournament may be given more pairs and more players than the archive has: what was played
        is kept. With `fresh` it starts over, and what was there is put aside as `OLD`.
        """
        lock = base = None
        try:
            os.makedirs(folder, exist_ok=True)
            lock = locked(folder)
            if fresh:
                put_aside(folder)
            base = sqlite3.connect(os.path.join(folder, FILE), isolation_level=None)
            row = stored_row(base, folder)
            check(base, folder)
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA synchronous=NORMAL")
            base.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
            base.execute("BEGIN IMMEDIATE")
            if row is None:
                data = json.dumps(cup.to_stored())
                base.execute("INSERT INTO tournament VALUES (?, ?)", (VERSION, data))
            else:
                there = read_tournament(folder, row)
                if row[0] != VERSION:
                    raise refused(folder, "an earlier version of this program played it")
                cup = joined(folder, there, cup)
                extend(base, there, cup)
            base.execute("COMMIT")
            return cls(folder, cup, base, lock)
        except BaseException as error:
            if base is not None:
                base.close()
            if lock is not None:
                os.close(lock)
            if isinstance(error, OSError | sqlite3.Error):
                raise DuelsError(f"cannot keep games in {quote(folder)}: {_why(error)}") from None
            raise

    @classmethod
    def open(cls, folder: str) -> Archive:
        """The archive in a folder, to read."""
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
        rows = self._rows("SELECT game, pairing, start, stop, compiled FROM portions")
        return set(map(_portion, rows))

    def played(self, game: int, pairing: int) -> list[Played]:
        """The games of a pairing in a game from the first pair on, without a gap."""
        rows = self._rows(
            "SELECT game, pairing, start, stop, compiled, played, records FROM portions"
            " WHERE game = ? AND pairing = ? ORDER BY start",
            game, pairing,
        )  # fmt: skip
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
        rows = self._rows(
            "SELECT game, pairing, start, stop, compiled, played, records FROM portions"
            " WHERE NOT compiled"
        )
        for *numbers, data, records in rows:
            found |= disqualified(self.cup, explained(Done(_portion(numbers), data, records)))
        return found

    def _rows(self, query: str, *values: int) -> Iterator[Any]:
        try:
            for row in self._base.execute(query, values):  # noqa: UP028
                yield row  # not from: that would use the cursor after the file is closed
        except sqlite3.Error as error:
            raise damaged(str(error), self.folder) from None

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
        for *numbers, played, records in self._rows(f"SELECT {COLUMNS} FROM portions"):
            yield Done(_portion(numbers), played, records)

    def stored(self, place: Place) -> Done | None:
        """The portion in which a game is kept."""
        rows = self._rows(
            f"SELECT {COLUMNS} FROM portions"
            " WHERE game = ? AND pairing = ? AND start <= ? AND stop > ?",
            place.game, place.pairing, place.pair, place.pair,
        )  # fmt: skip
        for *numbers, played, records in rows:
            return Done(_portion(numbers), played, records)
        return None


def _portion(numbers: Iterable[int]) -> Portion:
    game, pairing, start, stop, compiled = numbers
    if not all(isinstance(number, int) for number in (game, pairing, start, stop, compiled)):
        raise damaged("games in it have no number")
    return Portion(game, pairing, start, stop, bool(compiled))


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
