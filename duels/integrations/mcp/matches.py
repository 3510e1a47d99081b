"""Matches against built-in players in a file of this machine; a restart loses none.

Each match is stored as its record after every change. A process opens the file for each call, so
several may use the same one.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from duels.algorithms.solutions import ready
from duels.core.chance import first_player, new_id, new_seed
from duels.core.entries import Logged
from duels.core.errors import (
    DuelsError,
    IllegalMove,
    OptionError,
    StaleMove,
    UnknownName,
    file_error,
    quote,
)
from duels.core.game import AnyGame, Pick
from duels.core.match import Match
from duels.core.player import View
from duels.core.presentation import listed
from duels.core.record import dumps, loads
from duels.games import load
from duels.integrations.mcp.results import SeatedMatch
from duels.integrations.rollout import reply
from duels.llm.dialogue import Unusable, read_choice
from duels.players import WITHOUT_SOLUTION, class_of, full_name
from duels.players.hints import search_hint, solved_hint

PLAYER = "mcp"  # the name of the client's seat in records
IDLE = 3600.0  # seconds after which an unfinished match no longer hides values of positions
LOADED = 100  # matches in memory; loading replays a match
PATIENCE = 60.0  # seconds to wait for another process that uses the file
TABLE = """CREATE TABLE IF NOT EXISTS matches (
    handle TEXT PRIMARY KEY, seat INTEGER, opponent TEXT, hints INTEGER, variant TEXT,
    changed REAL, over INTEGER, record TEXT
)"""


class Matches(Protocol):
    """Where matches are played."""

    def start(
        self, game: str, options: dict[str, str], opponent: str, seat: int, seed: int | None,
        hints: bool,
    ) -> SeatedMatch: ...  # fmt: skip

    def find(self, handle: str) -> SeatedMatch: ...

    def move(self, handle: str, version: int, move: str) -> SeatedMatch: ...

    def resign(self, handle: str, version: int) -> SeatedMatch: ...

    def hint(self, handle: str, version: int) -> tuple[str, str]: ...

    def finished(self, handle: str) -> Match:
        """The whole match; refused before its end."""

    def hides_values(self, game: AnyGame) -> bool:
        """Whether values of the game's positions would be hints in a running match."""


def pair_seeds(seed: int | None) -> tuple[int | None, int | None]:
    """Different seeds for both matches of a pair, as a client remembers the first one's chance."""
    if seed is None:
        return None, None
    one, two = (sha256(f"duels pair {seed} {part}".encode()).digest()[:16] for part in (1, 2))
    return int.from_bytes(one, "big"), int.from_bytes(two, "big")


def variant(slug: str, options: dict[str, str]) -> str:
    """The rules of a match as text, whichever player starts."""
    return json.dumps([slug, {k: v for k, v in sorted(options.items()) if k != "first"}])


def chosen(view: View, version: int, move: str) -> str:
    """The move that a text names in the position of a version."""
    current(view, version)
    if view.result is not None:
        raise IllegalMove("the match is over; analyse_match grades its moves")
    try:
        return read_choice(move, view)
    except Unusable as error:
        raise IllegalMove(
            f"{error} The match is unchanged. Your legal moves: {listed(view.options, '; ')}."
        ) from None


def current(view: View, version: int) -> None:
    if version != view.version:
        raise StaleMove(
            f"the match is at version {view.version}, and this was meant for version {version}; "
            "look at it with view_match, then act with its version"
        )


def repeats(log: Sequence[Logged], seat: int, version: int, move: str) -> bool:
    """Whether a move is the client's last one, sent again."""
    for number, entry, _ in reversed(log):
        if isinstance(entry, Pick) and seat in dict(entry.moves):
            return number == version and dict(entry.moves)[seat] == " ".join(move.lower().split())
    return False


class Stored(NamedTuple):
    """A match of the file."""

    match: Match
    seat: int
    opponent: str
    hints: bool

    def seen(self, handle: str) -> SeatedMatch:
        return SeatedMatch(handle, self.match.view(self.seat), self.opponent, bool(self.hints))


class LocalMatches:
    """Matches in a SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._loaded: dict[str, tuple[str, Match | None]] = {}  # by handle, with the record
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise DuelsError(f"cannot write to {path.parent}: {file_error(error)}") from None
        with self._transaction() as file:
            file.execute(TABLE)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, PATIENCE, isolation_level=None)) as file:
                file.execute("BEGIN IMMEDIATE")
                try:
                    yield file
                except BaseException:
                    file.execute("ROLLBACK")
                    raise
                file.execute("COMMIT")
        except sqlite3.Error as error:
            raise DuelsError(f"cannot use {self.path}: {error}") from None

    def start(
        self, game: str, options: dict[str, str], opponent: str, seat: int, seed: int | None,
        hints: bool,
    ) -> SeatedMatch:  # fmt: skip
        seed = new_seed() if seed is None else seed
        if options.get("first") == "random":
            options = {**options, "first": str(first_player(seed) + 1)}
        made, level = load(game, **options), checked_level(opponent)
        if class_of(level).needs_solution and not ready(made):
            raise OptionError(
                f"{made.title} with these options takes long to solve, which {level} needs; "
                f"choose {WITHOUT_SOLUTION}, greedy or random as the opponent"
            )
        players = (PLAYER, level) if seat == 0 else (level, PLAYER)
        match, handle = Match(made, seed, players=players), new_id()
        reply(match, seat)
        with self._transaction() as file:
            file.execute(
                "INSERT INTO matches VALUES (?, ?, ?, ?, ?, 0, 0, '')",
                (handle, seat, level, hints, variant(made.slug, made.settings())),
            )
            _store(file, handle, match)
        return SeatedMatch(handle, match.view(seat), level, hints)

    def find(self, handle: str) -> SeatedMatch:
        with self._stored(handle) as stored:
            return stored.seen(handle)

    def move(self, handle: str, version: int, move: str) -> SeatedMatch:
        with self._stored(handle) as stored:
            match, seat = stored.match, stored.seat
            if not repeats(match.log(seat), seat, version, move):
                match.submit(seat, chosen(match.view(seat), version, move), at=version)
                reply(match, seat)
            return stored.seen(handle)

    def resign(self, handle: str, version: int) -> SeatedMatch:
        with self._stored(handle) as stored:
            current(stored.match.view(stored.seat), version)
            stored.match.resign(stored.seat)
            return stored.seen(handle)

    def hint(self, handle: str, version: int) -> tuple[str, str]:
        found = self.find(handle)
        if not found.hints:
            raise IllegalMove("this match was started without hints")
        current(found.view, version)
        if not found.view.options:
            raise IllegalMove("the match is over")
        return solved_hint(found.view) or search_hint(found.view, f"hint {handle} {version}")

    def finished(self, handle: str) -> Match:
        with self._stored(handle) as stored:
            if stored.match.result is None:
                raise IllegalMove("the match is not over; its analysis would be a hint")
            return loads(dumps(stored.match), load)  # the stored one belongs to the next call

    @contextmanager
    def _stored(self, handle: str) -> Iterator[Stored]:
        """A match for one call, which is stored afterwards if it has changed."""
        with self._transaction() as file:
            row: Any = file.execute(
                "SELECT record, seat, opponent, hints FROM matches WHERE handle = ?", (handle,)
            ).fetchone()
            if row is None:
                raise UnknownName(
                    f"there is no match {quote(handle)}; start_match returns the handle"
                )
            record, *others = row
            text, match = self._loaded.pop(handle, ("", None))
            if match is None or text != record:  # not loaded yet, or another process has changed it
                match = loads(record, load)
            version, result = len(match.events), match.result
            yield Stored(match, *others)
            if (len(match.events), match.result) != (version, result):
                record = _store(file, handle, match)
        self._loaded[handle] = record, match
        if len(self._loaded) > LOADED:
            self._loaded.pop(next(iter(self._loaded)), None)

    def hides_values(self, game: AnyGame) -> bool:
        with self._transaction() as file:
            found = file.execute(
                "SELECT 1 FROM matches WHERE NOT over AND NOT hints AND variant = ?"
                " AND changed > ?",
                (variant(game.slug, game.settings()), time.time() - IDLE),
            ).fetchone()
        return found is not None


def checked_level(name: str) -> str:
    found = full_name(name)
    class_of(found)  # raises for a human
    return found


def _store(file: sqlite3.Connection, handle: str, match: Match) -> str:
    record = dumps(match)
    file.execute(
        "UPDATE matches SET record = ?, changed = ?, over = ? WHERE handle = ?",
        (record, time.time(), match.result is not None, handle),
    )
    return record
