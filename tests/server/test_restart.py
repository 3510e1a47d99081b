"""What a server that was killed or stopped finds again, and what it says on its way out."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import httpx
from websockets.exceptions import ConnectionClosed

from duels.client.identity import digest, new_key
from duels.core import Match, record
from duels.core.errors import RecordError
from duels.games import load
from duels.server.app import store_of
from duels.server.import_export import import_records
from duels.server.storage import schema
from duels.server.storage.base import RoomStore, Save, header
from tests.server.server import QUICK, Person, Process, Served, run, served
from tests.server.test_rooms import Hands, seated
from tests.server.test_stores import database, new_row, with_store

__all__ = ["database"]  # a fixture


def people(server: Process, count: int) -> list[Person]:
    http = httpx.AsyncClient(base_url=server.url, timeout=60)
    return [Person(http, server.ws, new_key()) for _ in range(count)]


def test_clocks_are_made_again_from_the_store_alone(tmp_path: Path) -> None:
    """The first server is not stopped: all that the second knows is what was on disk."""

    async def test() -> None:
        now, path = Hands(), str(tmp_path / "duels.sqlite")
        settings = replace(QUICK, database=path, now=now)
        async with served(settings) as first:
            one, two, id = await seated(first, "number-wars", time={"budget": 1000})
            now.time += 100
            assert (await one.move("10"))["ok"]
            now.time += 30
            copy = str(tmp_path / "copy.sqlite")
            with sqlite3.connect(path) as source, sqlite3.connect(copy) as target:
                source.backup(target)
            async with served(replace(settings, database=copy)) as second:
                again = await Person(second.http, second.ws, two.key or "").sit(id, 0)
                await again.started()
                assert again.view["clocks"] == [900, 970]

    run(test)


def test_a_retry_after_the_server_was_killed_is_answered_as_the_first_time(tmp_path: Path) -> None:
    async def test(server: Process) -> None:
        ada, bob = people(server, 2)
        id = (await ada.create("number-wars", seat=1))["id"]
        await bob.join(id)
        one, two = await ada.sit(id), await bob.sit(id)
        await one.started()
        first = await one.command("move", "mine", at=0, move="10")
        assert first["ok"]
        server.kill()
        again = Process(str(tmp_path / "duels.sqlite"), port=server.port)
        try:
            back = await ada.sit(id)
            assert await back.command("move", "mine", at=0, move="10") == first
            assert not (await back.command("move", "new", at=0, move="10"))["ok"]
            entries = (await ada.get(f"/api/matches/{id}/record"))["entries"]
            assert [entry["moves"] for entry in entries] == [{"1": "10"}]
        finally:
            again.kill()
        await two.close()

    run(lambda: test(Process(str(tmp_path / "duels.sqlite"))))


def test_a_server_that_is_told_to_stop_says_so_and_its_log_has_no_secret(tmp_path: Path) -> None:
    async def test() -> None:
        log = tmp_path / "log"
        server = Process(str(tmp_path / "duels.sqlite"), log=log)
        ada, bob = people(server, 2)
        id = (await ada.create("cipher-siege", seat=1))["id"]
        await bob.join(id)
        tables = [
            await ada.sit(id),
            await bob.sit(id),
            await people(server, 1)[0].sit(id, 0, False),
        ]
        await tables[0].started()
        await ada.http.get("/api/me", headers={"Authorization": f"Bearer {ada.key}x"})
        assert await asyncio.to_thread(server.stop) == 0
        for table in tables:
            assert (await table.until("bye"))["after"] > 0
            with pytest.raises(ConnectionClosed) as closed:
                await table.receive()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012
        store = store_of(str(tmp_path / "duels.sqlite"))
        await store.open()
        row = await store.row(id)
        await store.close()
        assert row is not None
        kept = header(row)
        assert kept is not None
        text = log.read_text("utf-8")
        secrets = (ada.key, bob.key, digest(ada.key), row.secret, kept["seed"])
        assert not [secret for secret in secrets if secret in text]

    run(test)


def test_unused_rooms_leave_the_memory_by_themselves() -> None:
    async def test() -> None:
        async with served(idle=0.0) as server:
            one, two, id = await seated(server, "number-wars")
            await asyncio.sleep(1.5)
            assert id in server.manager.rooms, "a client is connected"
            await one.close()
            await two.close()
            while id in server.manager.rooms:
                await asyncio.sleep(0.05)
            assert await figure(server, "rooms") == 0
            assert (await server.person().get(f"/api/matches/{id}"))["state"] == "playing"

    run(test)


async def figure(server: Served, name: str) -> float:
    lines = (await server.http.get("/metrics")).text.splitlines()
    return float(next(line for line in lines if line.startswith(f"duels_{name} ")).split()[1])


def test_the_figures_for_prometheus_count_what_happens() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, _ = await seated(server, "number-wars")
            before = [await figure(server, name) for name in ("moves_total", "refusals_total")]
            await one.move("10")
            await one.move("9")
            after = [await figure(server, name) for name in ("moves_total", "refusals_total")]
            assert after == [before[0] + 1, before[1] + 1]
            assert await figure(server, "connections") == 2
            assert await figure(server, "created_total") == 1
            await two.close()

    run(test)


def test_a_store_of_an_older_version_is_brought_up_to_date(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On either store a new step is done once, and what was there stays."""
    row = new_row()

    async def fill(store: RoomStore) -> None:
        await store.save(Save(row))

    async def look(store: RoomStore) -> None:
        assert await store.row(row.id) == row
        await store._all("INSERT INTO later (n) VALUES (1)")  # type: ignore[attr-defined]

    with_store(database, fill)
    step = ("CREATE TABLE later (n INTEGER)",)
    newer = len(schema.MIGRATIONS) + 1
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    for _ in range(2):
        with_store(database, look)
    monkeypatch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:-1])

    async def refused() -> None:
        store = store_of(database)
        with pytest.raises(Exception, match=f"version {newer}"):
            await store.open()
        await store.close()

    run(refused)

    async def undo(store: RoomStore) -> None:  # the database is shared by other tests
        await store._all("DROP TABLE later")  # type: ignore[attr-defined]
        await store._all(f"DELETE FROM store WHERE version = {newer}")  # type: ignore[attr-defined]

    if database.startswith("postgres"):
        monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
        with_store(database, undo)


def test_records_that_are_not_right_or_not_over_are_not_taken_in(tmp_path: Path) -> None:
    match = Match(load("number-wars"), 7)
    match.submit(0, "10")
    running = json.dumps(record.to_json(match))
    match.resign(1)
    over = json.dumps(record.to_json(match))
    for wrong in (running, "{}", "nonsense", over.replace('"10"', '"11"'), over[:-2]):
        lines = tmp_path / "lines"
        lines.write_text(f"{over}\n{wrong}\n", "utf-8")
        with pytest.raises(RecordError, match="line 2: "):
            asyncio.run(import_records(str(tmp_path / "duels.sqlite"), str(lines)))
