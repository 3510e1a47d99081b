"""The tables and queries of both stores; `?` is replaced by `$n` for PostgreSQL.

Migrations are numbered: a store with an older number is migrated when it is opened, one with a
newer number is refused.
"""

from __future__ import annotations

import sqlite3

from duels.core.errors import RecordError

MIGRATIONS = (
    (
        "CREATE TABLE rooms (id TEXT PRIMARY KEY, version INTEGER NOT NULL, game TEXT NOT NULL,"
        " request TEXT UNIQUE, state TEXT NOT NULL, open INTEGER NOT NULL,"
        " updated DOUBLE PRECISION NOT NULL, deadline DOUBLE PRECISION,"
        " ended DOUBLE PRECISION, one TEXT, two TEXT, rated INTEGER NOT NULL DEFAULT 0,"
        " data TEXT NOT NULL)",
        "CREATE INDEX rooms_one ON rooms (one, updated)",
        "CREATE INDEX rooms_two ON rooms (two, updated)",
        "CREATE INDEX rooms_due ON rooms (deadline) WHERE deadline IS NOT NULL",
        "CREATE INDEX rooms_open ON rooms (updated) WHERE open = 1 AND state = 'waiting'",
        "CREATE INDEX rooms_unrated ON rooms (ended) WHERE rated = 0 AND state = 'over'",
        "CREATE TABLE entries (room TEXT NOT NULL, number INTEGER NOT NULL, data TEXT NOT NULL,"
        " PRIMARY KEY (room, number))",
        "CREATE TABLE answers (room TEXT NOT NULL, command TEXT NOT NULL, answer BYTEA NOT NULL,"
        " PRIMARY KEY (room, command))",
        "CREATE TABLE players (digest TEXT PRIMARY KEY, name TEXT NOT NULL,"
        " since DOUBLE PRECISION NOT NULL)",
        "CREATE TABLE ratings (game TEXT NOT NULL, player TEXT NOT NULL, kind TEXT NOT NULL,"
        " name TEXT NOT NULL, rating DOUBLE PRECISION NOT NULL,"
        " deviation DOUBLE PRECISION NOT NULL, volatility DOUBLE PRECISION NOT NULL,"
        " matches INTEGER NOT NULL, PRIMARY KEY (game, player))",
        "CREATE INDEX ratings_best ON ratings (game, rating)",
        "CREATE TABLE analyses (room TEXT PRIMARY KEY, data BYTEA NOT NULL)",
    ),
    (  # indices over columns that a move does not change, so that it updates no index
        "DROP INDEX rooms_one",
        "DROP INDEX rooms_two",
        "CREATE INDEX rooms_one ON rooms (one, ended)",
        "CREATE INDEX rooms_two ON rooms (two, ended)",
    ),
)  # fmt: skip

INSERT_ROOM = (
    "INSERT INTO rooms (id, version, game, request, state, open, updated, deadline, ended, one,"
    " two, data) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
UPDATE_ROOM = (
    "UPDATE rooms SET version = version + 1, state = ?, open = ?, updated = ?, deadline = ?,"
    " ended = ?, one = ?, two = ?, data = ? WHERE id = ? AND version = ?"
)
INSERT_ENTRY = "INSERT INTO entries (room, number, data) VALUES (?, ?, ?)"
INSERT_ANSWER = (
    "INSERT INTO answers (room, command, answer) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
)
# Many rows in one statement, as an array of JSON: SQLite releases the GIL once per statement.
COLUMNS = ("state", "open", "updated", "deadline", "ended", "one", "two", "data")
_FIELDS = [f"json_extract(value, '$[{n}]')" for n in range(10)]
_SET = ", ".join(f"{name} = {field}" for name, field in zip(COLUMNS, _FIELDS, strict=False))
UPDATE_ROOMS = (
    f"UPDATE rooms SET version = version + 1, {_SET} FROM json_each(?)"
    f" WHERE rooms.id = {_FIELDS[8]} AND rooms.version = {_FIELDS[9]}"
)
INSERT_ENTRIES = (
    "INSERT INTO entries (room, number, data)"
    f" SELECT {_FIELDS[0]}, {_FIELDS[1]}, {_FIELDS[2]} FROM json_each(?)"
)
INSERT_ANSWERS = (
    "INSERT OR IGNORE INTO answers (room, command, answer)"
    f" SELECT {_FIELDS[0]}, {_FIELDS[1]}, CAST({_FIELDS[2]} AS BLOB) FROM json_each(?)"
)
ROOM = "SELECT data, version, id FROM rooms WHERE id = ?"
ENTRIES = "SELECT data FROM entries WHERE room = ? ORDER BY number"
ANSWERS = "SELECT command, answer FROM answers WHERE room = ?"
REQUESTED = "SELECT id FROM rooms WHERE request = ?"
DUE = "SELECT id FROM rooms WHERE deadline IS NOT NULL AND deadline <= ? ORDER BY deadline LIMIT ?"
UNFINISHED = "state IN ('waiting', 'starting', 'playing')"
MINE = (
    "SELECT data, version, id FROM rooms WHERE one = ? AND " + UNFINISHED + " UNION "
    "SELECT data, version, id FROM rooms WHERE two = ? AND " + UNFINISHED
)
CHALLENGES = (
    "SELECT data, version, id FROM rooms WHERE open = 1 AND state = 'waiting'"
    " ORDER BY updated DESC LIMIT ?"
)
HISTORY = (
    "SELECT data, version, id FROM rooms WHERE (one = ? OR two = ?) AND state = 'over'"
    " AND ended < ? ORDER BY ended DESC LIMIT ?"
)
UNRATED = (
    "SELECT data, version, id FROM rooms WHERE rated = 0 AND state = 'over'"
    " ORDER BY ended, id LIMIT ?"
)
FINISHED = "SELECT id FROM rooms WHERE state = 'over' AND id > ? ORDER BY id LIMIT ?"
NAME = "SELECT name FROM players WHERE digest = ?"
RENAME = (
    "INSERT INTO players (digest, name, since) VALUES (?, ?, ?)"
    " ON CONFLICT (digest) DO UPDATE SET name = excluded.name"
)
_RATING = "SELECT game, player, kind, name, rating, deviation, volatility, matches FROM ratings"
RATINGS_OF = f"{_RATING} WHERE player = ? ORDER BY game"
RATINGS = f"{_RATING} WHERE game = ? ORDER BY rating DESC, player LIMIT ?"
RATING = f"{_RATING} WHERE game = ? AND player = ?"
RATED = "UPDATE rooms SET rated = 1 WHERE id = ? AND rated = 0"
RATE = (
    "INSERT INTO ratings (game, player, kind, name, rating, deviation, volatility, matches)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (game, player) DO UPDATE SET"
    " name = excluded.name, rating = excluded.rating, deviation = excluded.deviation,"
    " volatility = excluded.volatility, matches = excluded.matches"
)
FORGET_RATINGS = "DELETE FROM ratings"
FORGET_RATED = "UPDATE rooms SET rated = 0 WHERE rated = 1"
ANALYSIS = "SELECT data FROM analyses WHERE room = ?"
KEEP_ANALYSIS = "INSERT INTO analyses (room, data) VALUES (?, ?) ON CONFLICT (room) DO NOTHING"


def numbered(sql: str) -> str:
    """Replace the placeholders by those of PostgreSQL.

    >>> numbered("WHERE one = ? OR two = ?")
    'WHERE one = $1 OR two = $2'
    """
    first, *rest = sql.split("?")
    return first + "".join(f"${n}{part}" for n, part in enumerate(rest, 1))


def refuse_newer(number: int) -> None:
    if number > len(MIGRATIONS):
        raise RecordError(
            f"the store has version {number}; this program knows up to {len(MIGRATIONS)}"
        )


def refuse_other(connection: sqlite3.Connection) -> None:
    """Refuse a file that is not a store, or has a newer version."""
    number = connection.execute("PRAGMA user_version").fetchone()[0]
    if not number:
        raise RecordError("it is not a database of this program")
    refuse_newer(number)


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate an SQLite file, each step in a transaction."""
    number = connection.execute("PRAGMA user_version").fetchone()[0]
    refuse_newer(number)
    for step, statements in enumerate(MIGRATIONS[number:], number + 1):
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {step}")
        connection.execute("COMMIT")
