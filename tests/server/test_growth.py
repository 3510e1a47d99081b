"""A match and a store grow only so far: undos, pages of the log, responses, retention."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from websockets.exceptions import ConnectionClosed

from duels.client.connection import Client
from duels.core import narrator
from duels.core.match import Match
from duels.core.wire import dump
from duels.games import load
from duels.server import commands, retention
from duels.server.command_handler import CommandHandler
from duels.server.log_pages import PAGE
from duels.server.retention import Pruner, prune
from duels.server.rooms import CHECKED, STORED
from duels.server.settings import DAY, Retention
from duels.server.storage.base import (
    CLOSED,
    OVER,
    PLAYING,
    STARTING,
    WAITING,
    RoomStore,
    Save,
)
from tests.server.hidden import FIXED, ID, KEYS, RecordingClient, manager_with, room_with
from tests.server.server import QUICK, ROOT, Person, run, served
from tests.server.test_outages import duels
from tests.server.test_rooms import Hands, seated
from tests.server.test_stores import database, new_row, with_store

__all__ = ["database"]  # a fixture
LARGEST_MESSAGE = 2**20  # bytes; the default of the library of our client


# One match.


def test_a_match_has_a_number_of_undos() -> None:
    async def test() -> None:
        async with served(undos=2) as server:
            one, two, _ = await seated(server, "number-wars")
            for _ in range(2):
                assert (await one.move("10"))["ok"]
                assert (await one.command("undo", at=one.moment))["ok"]
                assert (await two.command("accept", at=one.moment))["ok"]
                while one.moment < two.moment:
                    await one.receive()
            assert (await one.move("10"))["ok"]
            refused = await one.command("undo", at=one.moment)
            assert refused["reason"] == "a match has at most 2 undos, and all of them were used"
            ada = server.person()
            alone = await ada.sit(
                (await ada.create("number-wars", seat=1, opponent="random"))["id"]
            )
            for wanted in (True, True, False):
                assert await alone.choosing()
                await alone.move(alone.view["options"][0])
                assert await alone.choosing()
                undone = await alone.command("undo", at=alone.moment)
                assert undone["ok"] == wanted

    run(test)


def long_match(events: int) -> Match:
    """A match with many undos, as a store may have it from a server without a limit."""
    match = Match(load("cipher-siege"), 7, now=FIXED.now, id=ID, players=("a", "b"))
    while len(match.events) < events:
        player = match.deciders[0]
        match.submit(player, match.view(player).options[-1])
        if match.result is not None or len(match.line) > 40:
            raise AssertionError
        match.undo(player)
    return match


@pytest.mark.parametrize("viewer", [0, 1, None])
def test_a_long_log_comes_in_pages(viewer: int | None) -> None:
    match = long_match(7 * PAGE // 2)
    count = len(match.events)

    async def test() -> None:
        async with manager_with(FIXED, match) as (manager, room):
            for since in (0, 10, count - 3, count + 5):
                client = RecordingClient(viewer)
                await manager.enter(room, client, since)
                (update,) = [json.loads(m) for _, m, *_ in client.told if b'"update"' in m]
                first = count - 3 if since == count - 3 else count - PAGE
                assert update["since"] == first
                assert [event["number"] for event in update["events"]] == [*range(first, count)]
                assert all(len(message) < LARGEST_MESSAGE for _, message, *_ in client.told)
            handler, before = CommandHandler(manager), count
            events: list[Any] = []
            passages: list[Any] = []
            while before:
                message = await handler.execute(room, viewer, commands.Log(f"{before}", before))
                answer = json.loads(message)
                assert answer["ok"]
                assert len(answer["events"]) <= PAGE
                assert len(message) < LARGEST_MESSAGE
                assert answer["since"] < before
                events[:0], passages[:0] = answer["events"], answer["passages"]
                before = answer["since"]
            assert events == [dump(logged) for logged in match.log(viewer)]
            told = [p for p in narrator.narrate(match, viewer) if p.kind != "status"]
            assert passages == [dump(passage) for passage in told]
            stored = await manager.store.load(ID)
            assert stored is not None
            assert stored.responses == {}

    run(test)


def test_our_client_requests_the_pages_that_were_left_out(tmp_path: Path) -> None:
    match = long_match(5 * PAGE // 2)
    path = str(tmp_path / "duels.sqlite")

    async def fill(store: RoomStore) -> None:
        await store.save(room_with(FIXED, match).change())

    def play(url: str) -> tuple[Any, Any]:
        connection = Client(url, KEYS[0]).connect(ID)
        try:
            while connection.view is None:
                connection.receive(60)
            first = list(connection.log)
            player = connection.view["player"]
            assert connection.command("resign", at=connection.version)["ok"]
            return first, (player, connection.log)
        finally:
            connection.close()

    async def test() -> None:
        async with served(replace(QUICK, database=path)) as server:
            first, (player, last) = await asyncio.to_thread(play, server.url)
            assert first == [dump(logged) for logged in match.log(0)]
            assert player == 1
            room = await server.manager.room(ID)
            assert last == [dump(logged) for logged in room.playing().log(0)]

    with_store(path, fill)
    run(test)


def test_the_page_keeps_a_log_with_a_gap_and_adds_earlier_pages() -> None:
    """The state of the page is computed by a pure function, which node runs."""
    if shutil.which("node") is None:
        assert not os.environ.get("DUELS_CI"), "the tests need node"
        pytest.skip("needs node")
    script = """
import { EMPTY, firstNumber, heard } from './duels/server/static/js/room-state.js';
const numbers = (from, to) => Array.from({ length: to - from }, (_, n) => from + n);
const part = (since, to) => ({
  since,
  events: numbers(since, to).map((number) => ({ number, type: 'pick' })),
  captions: numbers(since, to).map((number) => ({ number, text: 'x' })),
});
const update = (since, to) => (
  { type: 'update', moment: to, view: {}, now: 0, ...part(since, to) });
const page = (since, to) => ({ type: 'answer', id: 'x', ok: true, ...part(since, to) });
const after = (room, ...messages) => messages.reduce(heard, room);
const gap = after(EMPTY, update(0, 5), update(300, 500), update(500, 501), update(500, 501));
const all = after(gap, page(100, 300), page(100, 300), page(0, 100));
const known = (room) => [
  firstNumber(room), room.events.map((one) => one.number), room.captions.length,
];
console.log(JSON.stringify([known(gap), known(all)]));
"""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, cwd=ROOT,
        check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == [[300, [*range(300, 501)], 201], [0, [*range(501)], 501]]


# Responses.


async def responses(store: RoomStore, id: str) -> dict[str, bytes]:
    kept = await store.load(id)
    assert kept is not None
    return kept.responses


def test_commands_without_effect_are_granted_and_not_stored() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, id = await seated(server, "number-wars")
            room = await server.manager.room(id)

            async def has_no_effect(kind: str, **fields: Any) -> None:
                before, version = await responses(server.manager.store, id), room.row.version
                for n in range(5):
                    assert (await one.command(kind, f"{kind} {n}", **fields))["ok"]
                assert await responses(server.manager.store, id) == before
                assert room.row.version == version

            assert one.commitment_client is not None
            nonce = one.commitment_client.nonce
            await has_no_effect("commit", hash=room.row.hashes[0])
            await has_no_effect("reveal", nonce=nonce)
            await one.move("10")
            assert (await one.command("undo", "first", at=1))["ok"]
            await has_no_effect("undo", at=1)
            assert (await two.command("decline", at=1))["ok"]
            # Repeated, it is not a new offer.
            assert (await one.command("undo", "undo 4", at=1))["ok"]
            assert room.playing().offer is None
            await one.command("resign", at=1)
            assert (await one.command("rematch", "r"))["ok"]
            await has_no_effect("rematch")

    run(test)


def test_the_newest_responses_of_each_seat_are_stored(database: str) -> None:
    async def test() -> None:
        from duels.server.app import store_of

        async with served(QUICK, store_of(database)) as server:
            one, two, id = await seated(server, "number-wars")
            assert (await two.command("decline", "early", at=0))["ok"] is False
            assert (await one.command("move", "moved", at=0, move="10"))["ok"]
            for n in range(3 * STORED):  # no moves, so that the match does not grow
                assert (await one.command("undo", f"offer {n}", at=1))["ok"]
                assert (await two.command("decline", f"declined {n}", at=1))["ok"]
                if n % 10 == 0:
                    kept = await responses(server.manager.store, id)
                    assert len(kept) <= 2 * STORED + CHECKED
            room = await server.manager.room(id)
            assert {*room.executed} == {*await responses(server.manager.store, id)}
            await one.close()
            await two.close()
            while room.connections:
                await asyncio.sleep(0.02)
            server.manager.evict(-1.0)
            back = await Person(server.http, server.ws, one.key or "").sit(id, nonce=False)
            await back.started()
            again = await server.manager.room(id)
            assert again is not room
            version = again.row.version
            for n in range(2 * STORED + CHECKED, 3 * STORED):
                assert (await back.command("undo", f"offer {n}", at=1))["ok"]
            assert again.row.version == version, "each was answered as the first time"
            assert again.playing().offer is None
            # Older than those that are stored: not executed again, as its moment has passed.
            stale = await back.command("move", "moved", at=0, move="10")
            assert "moment 0" in stale["reason"]
            assert len(again.playing().events) == 1

    run(test)


# Retention.

NOW = 1_800_000_000.0
TIMES = Retention(7 * DAY, 90 * DAY, 100 * DAY, 30 * DAY, 365 * DAY)


def row_of(state: str, age: float, **more: Any) -> Any:
    when = NOW - age * DAY
    ended = when if state == OVER else None
    deadline = when if state in (WAITING, STARTING) else None
    return new_row(state=state, updated=when, ended=ended, deadline=deadline, **more)


async def filled(store: RoomStore, row: Any, rated: bool = True) -> str:
    """Store a room with all that can be stored of one."""
    await store.save(Save(row))
    await store.save(Save(row, 0, (b'{"n":0}', b'{"n":1}'), ("0 a", b"yes")))
    if row.state == OVER:
        await store.keep_analysis(row.id, b"{}")
        if rated:
            await store.rate(row.id, [])
    return str(row.id)


async def rows_of(store: Any, id: str) -> list[int]:
    """How many rows of a room there are, by table."""
    found = []
    for table in ("entries", "answers", "analyses"):
        rows = await store._all(f"SELECT 1 FROM {table} WHERE room = ?", id)
        found.append(len(rows))
    return found


def test_each_kind_is_deleted_after_its_time_with_all_that_is_stored_of_it(database: str) -> None:
    async def test(store: RoomStore) -> None:
        gone = [row_of(CLOSED, 8), row_of(WAITING, 8), row_of(STARTING, 8), row_of(PLAYING, 91),
                row_of(OVER, 101)]  # fmt: skip
        kept = [row_of(CLOSED, 6), row_of(WAITING, 6), row_of(STARTING, 6), row_of(PLAYING, 89),
                row_of(OVER, 29)]  # fmt: skip
        for row in gone + kept:
            await filled(store, row)
        derived, unrated = row_of(OVER, 31), row_of(OVER, 500)
        await filled(store, derived)
        await filled(store, unrated, rated=False)
        owner = kept[0].seats[0].digest
        for digest, age in ((owner, 400), ("unused old", 366), ("unused new", 364)):
            await store.rename(digest, "x", NOW - age * DAY)
        expected = Counter(closed=3, abandoned=1, finished=1, analyses=2, names=1)
        counted = await prune(store, TIMES, NOW, dry_run=True)
        assert +counted >= expected
        for row in gone:
            assert await store.row(row.id) is not None
        deleted = await prune(store, TIMES, NOW)
        assert deleted == counted
        for row in gone:
            assert await store.load(row.id) is None
            assert await rows_of(store, row.id) == [0, 0, 0]
        for row in kept:
            assert await rows_of(store, row.id) == [2, 1, int(row.state == OVER)]
        assert await rows_of(store, derived.id) == [2, 0, 0]
        assert await rows_of(store, unrated.id) == [2, 0, 0]
        names = [await store.name(digest) for digest in (owner, "unused old", "unused new")]
        assert names == ["x", None, "x"]
        assert not await prune(store, TIMES, NOW)

    with_store(database, test)


def test_nothing_is_deleted_that_is_to_be_kept_for_ever(database: str) -> None:
    async def test(store: RoomStore) -> None:
        row = row_of(OVER, 10_000)
        await filled(store, row)
        await prune(store, Retention(), NOW)
        assert (await rows_of(store, row.id))[0] == 2
        forever = Retention(None, None, None, None, None)
        closed = row_of(CLOSED, 10_000)
        await filled(store, closed)
        assert not await prune(store, forever, NOW)

    with_store(database, test)


def test_a_room_that_has_changed_since_it_was_read_is_not_deleted(database: str) -> None:
    async def test(store: RoomStore) -> None:
        one, two = row_of(CLOSED, 8), row_of(CLOSED, 8)
        for row in (one, two):
            await filled(store, row)
        stale = [(one.id, one.version - 1), (two.id, two.version)]
        assert await store.delete_rooms(stale) == 1
        assert await store.row(one.id) is not None
        assert await rows_of(store, one.id) == [2, 1, 0]
        assert await store.row(two.id) is None

    with_store(database, test)


def test_a_store_is_read_and_pruned_in_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 4)
    monkeypatch.setattr(retention, "DELETED", 3)

    async def test(store: RoomStore) -> None:
        rows = [row_of(CLOSED, 8) for _ in range(10)]
        for row in rows:
            await filled(store, row)
        for n in range(6):
            await store.rename(f"{n}", "x", 0.0)
        pruner, sizes, delete = Pruner(store, TIMES, {rows[0].id}), [], store.delete_rooms

        async def counted(rooms: list[tuple[str, int]]) -> int:
            sizes.append(len(rooms))
            return await delete(rooms)

        monkeypatch.setattr(store, "delete_rooms", counted)
        steps = 1
        while await pruner.step(NOW):
            steps += 1
        assert steps == 5, "three for the rooms, two for the names"
        assert sum(sizes) == 9
        assert max(sizes) <= 3
        assert pruner.found == Counter(closed=9, names=6)
        assert await store.row(rows[0].id) is not None, "it is used"

    with_store(":memory:", test)


def test_leases_are_deleted_with_their_rooms(postgres: Any) -> None:
    import asyncpg

    async def test(store: RoomStore) -> None:
        async def lost() -> None:
            raise AssertionError

        await store.join("127.0.0.1:1", lost, lambda room: None)
        gone, kept = row_of(CLOSED, 8), row_of(CLOSED, 6)
        for row in (gone, kept):
            await filled(store, row)
            assert await store.lease_holder(row.id) is None
        other = await asyncpg.connect(postgres.url)
        await other.execute("INSERT INTO owners (room, worker) VALUES ('orphan', 1)")
        await other.execute("INSERT INTO workers VALUES (1, 'x', now() - interval '2 days')")
        await prune(store, TIMES, NOW)
        found = await other.fetch("SELECT room FROM owners WHERE room = ANY($1)",
                                  [gone.id, kept.id, "orphan"])  # fmt: skip
        assert [row["room"] for row in found] == [kept.id]
        assert await other.fetchval("SELECT count(*) FROM workers WHERE id = 1") == 0
        await other.close()

    with_store(postgres.url, test)


def test_a_running_server_deletes_what_is_expired_and_not_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("duels.server.room_manager.PRUNE", 0.02)
    monkeypatch.setattr("duels.server.room_manager.PRUNE_STEP", 0.01)
    clock = Hands()

    async def test() -> None:
        async with served(now=clock) as server:
            ada = server.person()
            ids = [(await ada.create("digit-duel"))["id"] for _ in range(3)]
            used = await ada.sit(ids[0], nonce=False)
            for id in ids[:2]:
                await ada.post(f"/api/matches/{id}/leave")
            for id in ids[1:]:
                server.manager._unload(server.manager.rooms[id])
            await asyncio.sleep(0.2)
            assert all([await server.manager.store.row(id) for id in ids])
            clock.time += 8 * DAY
            while await server.manager.store.row(ids[1]) is not None:
                await asyncio.sleep(0.02)
            found = await ada.http.get(f"/api/matches/{ids[1]}", headers=ada.headers)
            assert found.status_code == 404
            assert await server.manager.store.row(ids[0]) is not None, "a client is connected"
            assert await server.manager.store.row(ids[2]) is not None, "it waits for an opponent"
            await used.close()
            clock.time += 8 * DAY
            while await server.manager.store.row(ids[0]) is not None:
                await asyncio.sleep(0.02)

    run(test)


def test_a_room_that_is_deleted_while_a_process_has_it_cannot_be_written_again() -> None:
    async def test() -> None:
        async with served() as server:
            one, _, id = await seated(server, "number-wars")
            other, _, _ = await seated(server, "number-wars")
            room = await server.manager.room(id)
            assert await server.manager.store.delete_rooms([(id, room.row.version)]) == 1
            await one.send(type="move", id="x", at=0, move="10")
            with pytest.raises(ConnectionClosed):
                await one.until("answer", id="x", ok=True)
            assert await server.manager.store.load(id) is None
            assert await rows_of(server.manager.store, id) == [0, 0, 0]
            found = await server.http.get(f"/api/matches/{id}")
            assert found.status_code == 404
            assert (await other.move("10"))["ok"]

    run(test)


def test_the_operator_prunes_a_file_by_a_command(tmp_path: Path) -> None:
    path = str(tmp_path / "duels.sqlite")
    row = row_of(CLOSED, 0)
    row.updated = 1.0

    async def fill(store: RoomStore) -> None:
        await filled(store, row)

    with_store(path, fill)
    counted = duels("admin", "prune", "--dry-run", "--database", path)
    assert "closed: 1 would be deleted" in counted.stdout, counted.stderr
    kept = duels("admin", "prune", "--keep", "closed=forever", "--database", path)
    assert "closed: 0 deleted" in kept.stdout, kept.stderr
    done = duels("admin", "prune", "--keep", "closed=1", "--database", path)
    assert "closed: 1 deleted" in done.stdout
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT count(*) FROM rooms").fetchone() == (0,)
    other.close()
    for wrong in ("open=1", "closed=soon", "closed=-1"):
        refused = duels("admin", "prune", "--keep", wrong, "--database", path)
        assert refused.returncode == 2
        assert "--keep" in refused.stderr
    assert duels("admin", "--database", path).returncode == 2
