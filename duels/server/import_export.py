"""Export and import of all records of a server as JSON lines; recomputation of ratings.

Each line is a record (docs/reference/records.md), checked like any other file. Records contain no
keys: imported matches belong to no player of the server, but count for the ratings of the names.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import sha256
from typing import IO, Any, TextIO

import msgspec

from duels.client.identity import is_room_id
from duels.core import record
from duels.core.commitment import KEY
from duels.core.errors import RecordError
from duels.core.match import Match
from duels.core.wire import dump
from duels.games import load
from duels.players import BUILT_IN
from duels.server.app import store_of
from duels.server.ratings import rate_all, rebuild
from duels.server.storage.base import (
    COMPUTER,
    HUMAN,
    OVER,
    Conflict,
    RoomStore,
    Row,
    Save,
    StoredSeat,
    Unavailable,
    encoded_header,
    header,
)

AT_ONCE = 200


@asynccontextmanager
async def open_store(
    database: str, reading: bool = False, beside: bool = False
) -> AsyncIterator[RoomStore]:
    store = store_of(database, reading, beside)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@contextmanager
def _file(path: str, mode: str, usual: TextIO) -> Iterator[IO[str]]:
    if path == "-":
        yield usual
        return
    try:
        with open(path, mode, encoding="utf-8") as file:
            yield file
    except OSError as error:
        verb = "read" if mode == "r" else "write"
        raise RecordError(f"cannot {verb} {path}: {error.strerror}") from None


async def export_records(database: str, path: str) -> tuple[int, int]:
    """Write every finished match as one line; returns how many, and how many are damaged."""
    count = damaged = 0
    after = ""
    with _file(path, "w", sys.stdout) as file:
        async with open_store(database, reading=True) as store:
            while ids := await store.finished(after, AT_ONCE):
                for id in ids:
                    try:
                        found = await _record(store, id)
                    except Unavailable:
                        raise
                    except Exception as error:  # a damaged match; the others are exported
                        store.damage.report(id, error)
                        damaged += 1
                        continue
                    file.write(json.dumps(found, ensure_ascii=False) + "\n")
                    count += 1
                after = ids[-1]
    return count, damaged


async def _record(store: RoomStore, id: str) -> dict[str, Any]:
    stored = await store.load(id)
    begun = None if stored is None else header(stored.row)
    if stored is None or begun is None:
        raise RecordError("it has no record")
    match = record.follow(begun, stored.entries, load)
    match.about["seats"] = [
        {"kind": seat.kind, "id": seat.id, "name": seat.name} for seat in stored.row.seats if seat
    ]
    match.about["hinted"] = stored.row.hinted
    return record.to_json(match)


async def import_records(database: str, path: str) -> tuple[int, int]:
    """Read and check records; returns how many are new and how many were known."""
    new = known = 0
    with _file(path, "r", sys.stdin) as file:
        async with open_store(database) as store:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    match = record.loads(line, load)
                    if match.result is None:
                        raise RecordError("the match is not over")
                except RecordError as error:
                    raise RecordError(f"line {number}: {error}") from None
                try:
                    await store.save(_save(match))
                    new += 1
                except Conflict:
                    known += 1
            await rate_all(store, load)
    return new, known


def _save(match: Match) -> Save:
    id = match.id if is_room_id(match.id) else sha256(match.id.encode()).hexdigest()[:22]
    seated, fair = match.about.get("seats"), match.about.get(KEY)
    shares = fair if isinstance(fair, dict) else {}
    seats: list[StoredSeat | None] = []
    for place, name in enumerate(match.players):
        known = seated[place] if isinstance(seated, list) and len(seated) == 2 else {}
        who = known.get("id") if isinstance(known, dict) else None
        kind = COMPUTER if name in BUILT_IN else HUMAN
        seats.append(StoredSeat(kind, name, who if isinstance(who, str) else name))
    entries = [record.entry(match, number) for number in range(len(match.events))]
    row = Row(
        id, match.game.slug, match.game.settings(), match.begun or 0.0,
        str(shares.get("secret", "0")), seats, state=OVER, begun=match.begun,
        ended=(match.stamps[-1].at if match.stamps else match.begun) or 0.0,
        time=match.time_control._asdict() if match.time_control else None,
        nonces=_pair(shares.get("nonces")), hashes=_pair(shares.get("hashes")),
        header=encoded_header(record.header(match)),
        result=dump(match.result), moment=len(match.events), taken_back=match.taken_back,
        hinted=match.about.get("hinted") is True,
    )  # fmt: skip
    row.updated = row.ended or 0.0
    return Save(row, 0, tuple(msgspec.json.encode(entry) for entry in entries))


def _pair(values: Any) -> list[str | None]:
    """The nonces or hashes of a record; empty if the record has something else."""
    pair = isinstance(values, list) and len(values) == 2
    return values if pair and all(isinstance(one, str | None) for one in values) else []


async def try_store(database: str) -> None:
    """Open a store once, which migrates it and reports errors."""
    async with open_store(database):
        pass


async def recompute_ratings(database: str) -> int:
    """Recompute all ratings; returns how many matches were counted."""
    async with open_store(database) as store:
        return await rebuild(store, load)
