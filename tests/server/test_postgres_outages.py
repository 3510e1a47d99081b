"""PostgreSQL is restarted, its connections are cut or frozen: play goes on by itself, once it is
back, and nothing that was acknowledged is lost or counts twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")
pytest.importorskip("asyncpg", reason="needs the extra: pip install 'duels[postgres]'")

import asyncpg
import httpx
from websockets.exceptions import ConnectionClosed

from duels.server.app import store_of
from duels.server.storage.base import RoomStore, Save, StoredRoom, Unavailable
from tests.server.crashing import Crowd, through, until_moves
from tests.server.postgres import Postgres
from tests.server.proxy import Proxy
from tests.server.server import QUICK, Process, run, served
from tests.server.test_stores import new_row

END_ALL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
BLOCKED = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
HANGS = 120.0  # seconds after which a test fails instead of waiting for good


def play_through(
    database: str, disturb: Callable[[int], Awaitable[None]], times: int, *more: str
) -> None:
    """Pairs play at a server while it is disturbed; after each time moves are made again."""
    server = Process(database, *more)
    crowd = Crowd(server.url)

    async def disturbed(n: int) -> None:
        await disturb(n)
        await asyncio.wait_for(until_moves(crowd), HANGS)

    async def test() -> None:
        assert await through(crowd, disturbed, times=times, pairs=6) > 10 * times
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
            assert (await http.get("/readyz")).status_code == 200

    try:
        run(test)
        assert server.stop() == 0
    finally:
        server.kill()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "workers", "times"),
    [
        ("fast", "1", 1),
        *(
            pytest.param(mode, workers, times, marks=pytest.mark.long)
            for mode, times in (("smart", 2), ("fast", 4), ("immediate", 4))
            for workers in ("1", "2")
        ),
    ],
)
def test_play_goes_on_after_postgresql_was_restarted(
    postgres: Postgres, mode: str, workers: str, times: int
) -> None:
    async def restart(n: int) -> None:
        await asyncio.to_thread(postgres.restart, mode)

    play_through(postgres.url, restart, times, "--workers", workers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "times"),
    [("2", 1), *(pytest.param(n, 10, marks=pytest.mark.long) for n in ("1", "2"))],
)
def test_play_goes_on_after_the_backends_of_postgresql_were_ended(
    postgres: Postgres, workers: str, times: int
) -> None:
    async def end(n: int) -> None:
        connection = await asyncpg.connect(postgres.url)
        await connection.execute(END_ALL)
        await connection.close()

    play_through(postgres.url, end, times, "--workers", workers)


def through_proxy(postgres: Postgres, test: Callable[[Proxy, str], Awaitable[None]]) -> None:
    """Run a test with a proxy in front of PostgreSQL, and its address."""

    async def opened() -> None:
        proxy = Proxy(postgres.port)
        await proxy.open()
        try:
            await test(proxy, f"postgresql://duels@127.0.0.1:{proxy.port}/duels")
        finally:
            await proxy.close()

    run(opened)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.long)])
def test_play_goes_on_after_all_connections_to_postgresql_were_reset(
    postgres: Postgres, times: int
) -> None:
    async def test(proxy: Proxy, database: str) -> None:
        server = await asyncio.to_thread(Process, database, "--workers", "2")
        crowd = Crowd(server.url)

        async def cut(n: int) -> None:
            proxy.cut()
            await asyncio.wait_for(until_moves(crowd), HANGS)

        try:
            assert await through(crowd, cut, times=times, pairs=6) > 10 * times
            assert await asyncio.to_thread(server.stop) == 0
        finally:
            server.kill()

    through_proxy(postgres, test)


async def end_under(postgres: Postgres, id: str, waiting: int, then: Awaitable[Any]) -> None:
    """Hold a room so that what is written of it waits; then end all backends but this one."""
    other = await asyncpg.connect(postgres.url)
    holding = other.transaction()
    await holding.start()
    await other.execute("SELECT 1 FROM rooms WHERE id = $1 FOR UPDATE", id)
    await then
    while await other.fetchval(BLOCKED) < waiting:
        await asyncio.sleep(0.01)
    await other.execute(END_ALL)
    await holding.rollback()
    await other.close()


async def loaded(store: RoomStore, id: str) -> StoredRoom:
    """A room, asked for again until the connections that have ended are noticed."""
    while True:
        with suppress(Unavailable):
            kept = await store.load(id)
            assert kept is not None
            return kept


def test_a_connection_that_postgresql_has_ended_is_not_used_again(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL says that it ends the connection (as a fast shutdown does) while a change is being
    written and another waits, and the end of the connection itself comes late."""
    monkeypatch.setattr("duels.server.storage.postgres.PATIENCE", 3.0)

    async def test(proxy: Proxy, database: str) -> None:
        store = store_of(database)
        await store.open()
        rows = [new_row(), new_row()]
        for row in rows:
            await store.save(Save(row))
        await store.save(Save(rows[0]))  # so that there is a connection
        proxy.passes_ends = False
        saves: list[asyncio.Task[None]] = []

        async def start() -> None:
            saves.append(asyncio.create_task(store.save(Save(rows[0]))))
            await asyncio.sleep(0.1)
            saves.append(asyncio.create_task(store.save(Save(rows[1]))))

        await end_under(postgres, rows[0].id, 1, start())
        found = await asyncio.wait_for(asyncio.gather(*saves, return_exceptions=True), HANGS)
        assert isinstance(found[0], Unavailable)
        assert found[1] is None
        kept = await asyncio.wait_for(loaded(store, rows[0].id), HANGS)
        await asyncio.wait_for(store.save(Save(kept.row)), HANGS)
        await store.close()

    through_proxy(postgres, test)


def test_a_store_that_postgresql_does_not_answer_refuses_and_can_be_closed(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duels.server.storage.postgres.PATIENCE", 1.0)
    monkeypatch.setattr("duels.server.storage.postgres.CLOSE_WITHIN", 0.5)

    async def test(proxy: Proxy, database: str) -> None:
        store = store_of(database)
        await store.open()
        row = new_row()
        await store.save(Save(row))
        await store.save(Save(row, 0, (b'{"n":0}',)))
        proxy.freeze()
        with pytest.raises(Unavailable):
            await asyncio.wait_for(store.save(Save(row, 1, (b'{"n":1}',))), HANGS)
        with pytest.raises(Unavailable):
            await asyncio.wait_for(store.load(row.id), HANGS)
        proxy.thaw()
        kept = await asyncio.wait_for(loaded(store, row.id), HANGS)
        await store.save(Save(kept.row, len(kept.entries), (b'{"n":2}',)))
        proxy.freeze()
        waiting = asyncio.create_task(store.save(Save(kept.row)))
        await asyncio.sleep(0.1)
        await asyncio.wait_for(store.close(), HANGS)
        with pytest.raises(Unavailable):
            await waiting

    through_proxy(postgres, test)


@pytest.mark.long
def test_a_server_stops_in_order_while_postgresql_does_not_answer(postgres: Postgres) -> None:
    async def test(proxy: Proxy, database: str) -> None:
        server = await asyncio.to_thread(Process, database)
        crowd = Crowd(server.url)
        playing = [asyncio.create_task(crowd.pair(n)) for n in range(3)]
        try:
            await asyncio.wait_for(until_moves(crowd), HANGS)
            proxy.freeze()
            await asyncio.sleep(0.5)
            server.process.terminate()
            assert await asyncio.to_thread(server.process.wait, HANGS) == 0
        finally:
            for task in playing:
                task.cancel()
            server.kill()

    through_proxy(postgres, test)


def test_a_computer_moves_though_its_move_could_not_be_stored_at_first(postgres: Postgres) -> None:
    async def test() -> None:
        async with served(QUICK, store_of(postgres.url), computer_delay=1.0) as server:
            ada = server.person()
            id = (await ada.create("number-wars", seat=1, opponent="random"))["id"]
            seated = await ada.sit(id)
            assert await seated.choosing()
            assert (await seated.move(seated.view["options"][0]))["ok"]
            await end_under(postgres, id, 1, asyncio.sleep(0))  # while the computer thinks
            try:
                assert await seated.choosing()
            except ConnectionClosed:  # the match could not be read again either: clients come back
                seated = await ada.sit(id, nonce=False)
                assert await seated.choosing()

    run(test)


def test_readiness_follows_the_database_and_liveness_does_not(postgres: Postgres) -> None:
    async def test() -> None:
        async with served(QUICK, store_of(postgres.url)) as server:
            assert (await server.http.get("/readyz")).json() == {"ok": True}
            await asyncio.to_thread(postgres.stop)
            try:
                found = await server.http.get("/readyz")
                assert found.status_code == 503
                assert "database" in found.json()["reason"]
                assert (await server.http.get("/healthz")).status_code == 200
            finally:
                await asyncio.to_thread(postgres.start)
            assert (await server.http.get("/readyz")).status_code == 200

    run(test)
