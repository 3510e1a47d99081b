"""The SQL that is specific to PostgreSQL: batches of changes, and migrations."""

from __future__ import annotations

from typing import Any

from duels.server.leases import LEASE_TABLES
from duels.server.storage import schema
from duels.server.storage.base import Save, columns
from duels.server.storage.schema import numbered

MIGRATING = 0x6475656D  # the class of the advisory lock

# A changed row that stays on its page needs no new entries in the indices.
ROOM_TO_CHANGE = "ALTER TABLE rooms SET (fillfactor = 50)"
SAVE = """
WITH moved AS (
    UPDATE rooms SET version = rooms.version + 1, state = v.state, open = v.open,
        updated = v.updated, deadline = v.deadline, ended = v.ended, one = v.one, two = v.two,
        data = v.data
    FROM unnest($1::text[], $2::int[], $3::float8[], $4::float8[], $5::float8[], $6::text[],
        $7::text[], $8::text[], $9::text[], $10::int[])
        AS v(state, open, updated, deadline, ended, one, two, data, id, version)
    WHERE rooms.id = v.id AND rooms.version = v.version RETURNING rooms.id),
made AS (
    INSERT INTO entries (room, number, data)
    SELECT room, number, data
    FROM unnest($11::text[], $12::int[], $13::text[]) AS e(room, number, data)
    WHERE room IN (SELECT id FROM moved)),
answered AS (
    INSERT INTO answers (room, command, answer, number)
    SELECT room, command, answer, number
    FROM unnest($14::text[], $15::text[], $16::bytea[], $17::int[])
        AS a(room, command, answer, number)
    WHERE room IN (SELECT id FROM moved) ON CONFLICT DO NOTHING),
expired AS (
    DELETE FROM answers USING unnest($18::text[], $19::text[]) AS x(room, command)
    WHERE answers.room = x.room AND answers.command = x.command
    AND x.room IN (SELECT id FROM moved))
SELECT id FROM moved
"""

INSERT = """
WITH made AS (
    INSERT INTO rooms (id, version, game, request, created, state, open, updated, deadline, ended,
        one, two, data)
    VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING
    RETURNING id),
filled AS (
    INSERT INTO entries (room, number, data)
    SELECT $1, number, data FROM unnest($13::int[], $14::text[]) AS e(number, data)
    WHERE EXISTS (SELECT 1 FROM made))
SELECT id FROM made
"""
RATE = """
WITH counted AS (UPDATE rooms SET rated = 1 WHERE id = $1 AND rated = 0 RETURNING id),
changed AS (
    INSERT INTO ratings (game, player, kind, name, rating, deviation, volatility, matches)
    SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::float8[],
        $7::float8[], $8::float8[], $9::int[])
    WHERE EXISTS (SELECT 1 FROM counted)
    ON CONFLICT (game, player) DO UPDATE SET name = excluded.name, rating = excluded.rating,
        deviation = excluded.deviation, volatility = excluded.volatility,
        matches = excluded.matches)
SELECT id FROM counted
"""
DELETE_ROOMS = """
WITH gone AS (
    DELETE FROM rooms USING unnest($1::text[], $2::int[]) AS v(id, version)
    WHERE rooms.id = v.id AND rooms.version = v.version RETURNING rooms.id),
of_entries AS (DELETE FROM entries WHERE room IN (SELECT id FROM gone)),
of_answers AS (DELETE FROM answers WHERE room IN (SELECT id FROM gone)),
of_analyses AS (DELETE FROM analyses WHERE room IN (SELECT id FROM gone)),
of_reports AS (DELETE FROM reports WHERE room IN (SELECT id FROM gone)),
of_profiles AS (DELETE FROM profiles WHERE room IN (SELECT id FROM gone)),
of_owners AS (DELETE FROM owners WHERE room IN (SELECT id FROM gone))
SELECT id FROM gone
"""
DELETE_ORPHANS = (
    "DELETE FROM owners WHERE NOT EXISTS (SELECT 1 FROM rooms WHERE rooms.id = owners.room)",
    "DELETE FROM workers WHERE seen < statement_timestamp() - interval '1 day'",
)
TOUCH = "UPDATE store SET version = version WHERE version = (SELECT max(version) FROM store)"
ROOM, ENTRIES, ANSWERS = map(numbered, (schema.ROOM, schema.ENTRIES, schema.ANSWERS))


def by_column(rows: list[tuple[Any, ...]], count: int) -> list[list[Any]]:
    return [[row[n] for row in rows] for n in range(count)]


def arrays(changes: list[Save]) -> list[list[Any]]:
    """The changes as arrays of columns."""
    rooms = [(*columns(c.row), c.row.id, c.row.version) for c in changes]
    entries = [
        (c.row.id, n, entry.decode())
        for c in changes
        for n, entry in enumerate(c.entries, c.number)
    ]
    answers = [(c.row.id, *c.response, c.row.version) for c in changes if c.response is not None]
    expired = [(c.row.id, name) for c in changes for name in c.expired]
    return [
        *by_column(rooms, 10), *by_column(entries, 3), *by_column(answers, 4),
        *by_column(expired, 2),
    ]  # fmt: skip


async def migrate(connection: Any) -> None:
    """Migrate the tables in a transaction, one worker at a time."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1, 0)", MIGRATING)
        await connection.execute("CREATE TABLE IF NOT EXISTS store (version INTEGER NOT NULL)")
        number = await connection.fetchval("SELECT coalesce(max(version), 0) FROM store")
        schema.refuse_newer(number)
        for step, statements in enumerate(schema.MIGRATIONS[number:], number + 1):
            for statement in statements:
                await connection.execute(statement)
            await connection.execute("INSERT INTO store (version) VALUES ($1)", step)
        if number < len(schema.MIGRATIONS):
            await connection.execute(ROOM_TO_CHANGE)
        for statement in LEASE_TABLES:
            await connection.execute(statement)
