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
    (  # the version of the room that stored the response, so that the oldest can be deleted
        "ALTER TABLE answers ADD COLUMN number INTEGER NOT NULL DEFAULT 0",
        # A move changes `updated`: PostgreSQL would write all indices if one of them had it.
        "ALTER TABLE rooms ADD COLUMN created DOUBLE PRECISION NOT NULL DEFAULT 0",
        "UPDATE rooms SET created = updated WHERE open = 1 AND state = 'waiting'",
        "DROP INDEX rooms_open",
        "CREATE INDEX rooms_open ON rooms (created) WHERE open = 1 AND state = 'waiting'",
    ),
    (  # moderation
        "CREATE TABLE bans (player TEXT PRIMARY KEY, reason TEXT NOT NULL,"
        " since DOUBLE PRECISION NOT NULL, until DOUBLE PRECISION)",
        "CREATE TABLE reports (room TEXT NOT NULL, player TEXT NOT NULL, reason TEXT NOT NULL,"
        " at DOUBLE PRECISION NOT NULL, PRIMARY KEY (room, player))",
        "CREATE TABLE notices (id TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL,"
        " kind TEXT NOT NULL, subject TEXT NOT NULL)",
        "CREATE TABLE profiles (room TEXT PRIMARY KEY, data TEXT NOT NULL)",
    ),
)  # fmt: skip

INSERT_ROOM = (
    "INSERT INTO rooms (id, version, game, request, created, state, open, updated, deadline, ended,"
    " one, two, data) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
UPDATE_ROOM = (
    "UPDATE rooms SET version = version + 1, state = ?, open = ?, updated = ?, deadline = ?,"
    " ended = ?, one = ?, two = ?, data = ? WHERE id = ? AND version = ?"
)
INSERT_ENTRY = "INSERT INTO entries (room, number, data) VALUES (?, ?, ?)"
INSERT_ANSWER = (
    "INSERT INTO answers (room, command, answer, number) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
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
    "INSERT OR IGNORE INTO answers (room, command, answer, number)"
    f" SELECT {_FIELDS[0]}, {_FIELDS[1]}, CAST({_FIELDS[2]} AS BLOB), {_FIELDS[3]}"
    " FROM json_each(?)"
)
DELETE_ANSWERS = (
    "DELETE FROM answers WHERE (room, command) IN"
    f" (SELECT {_FIELDS[0]}, {_FIELDS[1]} FROM json_each(?))"
)
ROOM = "SELECT data, version, id FROM rooms WHERE id = ?"
ENTRIES = "SELECT data FROM entries WHERE room = ? ORDER BY number"
ANSWERS = "SELECT command, answer FROM answers WHERE room = ? ORDER BY number"
REQUESTED = "SELECT id FROM rooms WHERE request = ?"
DUE = "SELECT id FROM rooms WHERE deadline IS NOT NULL AND deadline <= ? ORDER BY deadline LIMIT ?"
UNFINISHED = "state IN ('waiting', 'starting', 'playing')"
MINE = (
    "SELECT data, version, id FROM rooms WHERE one = ? AND " + UNFINISHED + " UNION "
    "SELECT data, version, id FROM rooms WHERE two = ? AND " + UNFINISHED
)
CHALLENGES = (
    "SELECT data, version, id FROM rooms WHERE open = 1 AND state = 'waiting'"
    " ORDER BY created DESC LIMIT ?"
)
HISTORY = (
    "SELECT data, version, id FROM rooms WHERE (one = ? OR two = ?) AND state = 'over'"
    " AND ended < ? ORDER BY ended DESC LIMIT ?"
)
UNRATED = (
    "SELECT data, version, id FROM rooms WHERE rated = 0 AND state = 'over'"
    " ORDER BY ended, id LIMIT ?"
)
ROOMS = "SELECT id FROM rooms WHERE id > ? ORDER BY id LIMIT ?"
FINISHED = "SELECT id FROM rooms WHERE state = 'over' AND id > ? ORDER BY id LIMIT ?"
NAME = "SELECT name FROM players WHERE digest = ?"
RENAME = (
    "INSERT INTO players (digest, name, since) VALUES (?, ?, ?)"
    " ON CONFLICT (digest) DO UPDATE SET name = excluded.name, since = excluded.since"
)
ESTABLISHED = 110  # a rating with a higher deviation has no place among the best
_RATING = "SELECT game, player, kind, name, rating, deviation, volatility, matches FROM ratings"
RATINGS_OF = f"{_RATING} WHERE player = ? ORDER BY game"
RATINGS = (
    f"{_RATING} WHERE game = ? AND player NOT LIKE 'deleted-%'"
    f" ORDER BY CASE WHEN deviation > {ESTABLISHED} THEN 1 ELSE 0 END, rating DESC, player LIMIT ?"
)
RATING = f"{_RATING} WHERE game = ? AND player = ?"
PAIRED = (
    "SELECT count(*) FROM rooms WHERE game = ? AND rated = 1 AND ended > ? AND ended <= ?"
    " AND (one = ? AND two = ? OR one = ? AND two = ?)"
)
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
# Moderation.
ENDED_AFTER = (
    "SELECT data, version, id FROM rooms WHERE state = 'over'"
    " AND (ended > ? OR ended = ? AND id > ?) ORDER BY ended, id LIMIT ?"
)
PROFILE = "SELECT data FROM profiles WHERE room = ?"
KEEP_PROFILE = "INSERT INTO profiles (room, data) VALUES (?, ?) ON CONFLICT (room) DO NOTHING"
LATEST = "SELECT data, version, id FROM rooms ORDER BY updated DESC LIMIT ?"
LATEST_IN = "SELECT data, version, id FROM rooms WHERE state = ? ORDER BY updated DESC LIMIT ?"
ALL_OF = (
    "SELECT data, version, id FROM rooms WHERE (one = ? OR two = ?) AND id > ? ORDER BY id LIMIT ?"
)
DIGESTS = (
    "SELECT digest FROM players UNION SELECT one FROM rooms WHERE one IS NOT NULL"
    " UNION SELECT two FROM rooms WHERE two IS NOT NULL"
)
CHOSEN_NAMES = "SELECT digest, name FROM players"
BANS = "SELECT player, reason, since, until FROM bans ORDER BY since"
BAN = (
    "INSERT INTO bans (player, reason, since, until) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (player) DO UPDATE SET reason = excluded.reason, since = excluded.since,"
    " until = excluded.until"
)
UNBAN = "DELETE FROM bans WHERE player = ? RETURNING player"
REPORT = (
    "INSERT INTO reports (room, player, reason, at) VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO NOTHING RETURNING room"
)
REPORTS = "SELECT room, player, reason, at FROM reports ORDER BY at DESC LIMIT ?"
REPORTS_BY = "SELECT room, player, reason, at FROM reports WHERE player = ? ORDER BY at"
NOTICE = "INSERT INTO notices (id, at, kind, subject) VALUES (?, ?, ?, ?)"
NOTICES = "SELECT id, at, kind, subject FROM notices WHERE at > ?"
FORGET_NOTICES = "DELETE FROM notices WHERE at < ?"
RENAME_RATINGS = "UPDATE ratings SET name = ? WHERE player = ?"
FORGET_ANALYSIS = "DELETE FROM analyses WHERE room = ?"
FORGET_MATCH = (
    "DELETE FROM reports WHERE room = ?",
    "DELETE FROM profiles WHERE room = ?",
    "DELETE FROM analyses WHERE room = ?",
    "DELETE FROM answers WHERE room = ?",
    "DELETE FROM entries WHERE room = ?",
    "DELETE FROM rooms WHERE id = ?",
)
FORGET_NAME = "DELETE FROM players WHERE digest = ?"
FORGET_RATINGS_OF = "DELETE FROM ratings WHERE player = ?"
FORGET_REPORTS_BY = "DELETE FROM reports WHERE player = ?"
FORGET_REQUESTS = "UPDATE rooms SET request = NULL WHERE request >= ? AND request < ?"
KEEP_ANALYSIS = (
    "INSERT INTO analyses (room, data) SELECT id, ? FROM rooms WHERE id = ?"
    " ON CONFLICT (room) DO NOTHING"
)
# Retention. Rooms and names are read in order of their keys, a few at a time.
AGES = (
    "SELECT id, version, state, updated, deadline, ended, rated,"
    " EXISTS (SELECT 1 FROM analyses WHERE room = rooms.id)"
    " OR EXISTS (SELECT 1 FROM answers WHERE room = rooms.id)"
    " FROM rooms WHERE id > ? ORDER BY id LIMIT ?"
)
DELETE_ROOM = "DELETE FROM rooms WHERE id = ? AND version = ?"
DELETE_REPORTS_OF, DELETE_PROFILE_OF = FORGET_MATCH[:2]
DELETE_ANSWERS_OF, DELETE_ANALYSIS_OF, DELETE_ENTRIES_OF = (
    f"DELETE FROM {table} WHERE room = ?" for table in ("answers", "analyses", "entries")
)
_USED = (
    "(EXISTS (SELECT 1 FROM rooms WHERE one = players.digest)"
    " OR EXISTS (SELECT 1 FROM rooms WHERE two = players.digest))"
)
NAMES = f"SELECT digest, since, {_USED} FROM players WHERE digest > ? ORDER BY digest LIMIT ?"
DELETE_NAME = f"DELETE FROM players WHERE digest = ? AND since < ? AND NOT {_USED}"


def numbered(sql: str) -> str:
    """Replace the placeholders of a query by those of PostgreSQL.

    >>> numbered("WHERE one = ? OR two = ?")
    'WHERE one = $1 OR two = $2'
    """
    first, *rest = sql.split("?")
    return first + "".join(f"${n}{part}" for n, part in enumerate(rest, 1))


def refuse_newer(number: int) -> None:
    """Raise RecordError if a store has a newer version than this program."""
    if number > len(MIGRATIONS):
        raise RecordError(
            f"the store has version {number}, written by a newer Duels; this one reads up to "
            f"{len(MIGRATIONS)}: install the newer one again, or restore the backup made before "
            "the upgrade"
        )


def refuse_other(connection: sqlite3.Connection, writing: bool = False) -> None:
    """Raise RecordError if a file is no store, has a newer version, or for writing an older one."""
    number = connection.execute("PRAGMA user_version").fetchone()[0]
    if not number:
        raise RecordError("it is not a Duels database")
    refuse_newer(number)
    if writing and number < len(MIGRATIONS):
        raise RecordError("it has an older version: start the server once, which migrates it")


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
