"""Both stores keep the same promises; on PostgreSQL several processes share the rooms."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.client.identity import new_room_id
from duels.core.errors import RecordError
from duels.server.app import store_of
from duels.server.storage.base import (
    HUMAN,
    OVER,
    PLAYING,
    Conflict,
    RoomStore,
    Row,
    Save,
    StoredRating,
    StoredSeat,
    Unavailable,
)
from duels.server.storage.sqlite import SqliteStore
from tests.server.crashing import Crowd, through, until_moves
from tests.server.postgres import Postgres
from tests.server.server import QUICK, Process, play_out, run, served

KINDS = ("sqlite", "postgres")


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres").url
        return url
    return str(tmp_path / "duels.sqlite")


def with_store(database: str, test: Callable[[RoomStore], Awaitable[None]]) -> None:
    async def opened() -> None:
        store = store_of(database)
        await store.open()
        try:
            await test(store)
        finally:
            await store.close()

    asyncio.run(opened())


def new_row(**more: Any) -> Row:
    ada, bob = (StoredSeat(HUMAN, name, f"{name} id", f"{name} {new_room_id()}") for name in "ab")
    row = Row(new_room_id(), "digit-duel", {}, 1.0, "7", [ada, bob], nonces=[None, None])
    for name, value in more.items():
        setattr(row, name, value)
    return row


def test_a_room_comes_back_with_its_entries_and_answers(database: str) -> None:
    async def test(store: RoomStore) -> None:
        row = new_row(pending={"moment": 0, "picks": {}})
        await store.save(Save(row))
        assert row.version == 1
        await store.save(Save(row, 0, (b'{"n":0}', b'{"n":1}'), ("0 a", b"yes")))
        await store.save(Save(row, 2, (b'{"n":2}',), ("1 a", b"\x00no")))
        kept = await store.load(row.id)
        assert kept is not None
        assert kept.row == row
        assert kept.entries == [{"n": 0}, {"n": 1}, {"n": 2}]
        assert kept.responses == {"0 a": b"yes", "1 a": b"\x00no"}
        assert await store.row(row.id) == row
        assert await store.load("nothing") is None
        assert await store.row("nothing") is None

    with_store(database, test)


def test_the_second_writer_is_refused_and_writes_nothing(database: str) -> None:
    async def test(store: RoomStore) -> None:
        row = new_row()
        await store.save(Save(row))
        again = await store.load(row.id)
        assert again is not None
        await store.save(Save(row, 0, (b'{"mine":1}',)))
        with pytest.raises(Conflict):
            await store.save(Save(again.row, 0, (b'{"theirs":1}',), ("0 x", b"")))
        kept = await store.load(row.id)
        assert kept is not None
        assert kept.entries == [{"mine": 1}]
        assert kept.responses == {}
        with pytest.raises(Conflict):
            await store.save(Save(new_row(id=row.id)))

    with_store(database, test)


def test_many_changes_at_once_are_all_kept_and_go_together(database: str) -> None:
    async def test(store: RoomStore) -> None:
        rows = [new_row() for _ in range(60)]
        await asyncio.gather(*(store.save(Save(row)) for row in rows))
        before = store.commits  # type: ignore[attr-defined]
        stale = new_row(id=rows[0].id, version=1)
        for number in range(5):
            changes = [store.save(Save(row, number, (b'{"n":1}',))) for row in rows]
            found = await asyncio.gather(*changes, store.save(Save(stale)), return_exceptions=True)
            assert [type(error) for error in found if error is not None][:1] == [Conflict]
        assert store.commits - before < 60  # type: ignore[attr-defined]
        for row in rows[1:]:
            kept = await store.load(row.id)
            assert kept is not None
            assert len(kept.entries) == 5

    with_store(database, test)


def test_a_move_writes_no_index_of_postgresql(postgres: Postgres) -> None:
    """The new version of a row stays on its page, as no column of an index has changed."""

    async def test(store: RoomStore) -> None:
        other = await asyncpg.connect(postgres.url)

        async def figures() -> Any:
            await other.execute("SELECT pg_stat_clear_snapshot()")
            return await other.fetchrow(
                "SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_user_tables"
                " WHERE relname = 'rooms'"
            )

        before, rows = await figures(), [new_row(state=PLAYING) for _ in range(20)]
        for row in rows:
            await store.save(Save(row))
        for number in range(20):
            for row in rows:
                row.updated = float(number)
            await asyncio.gather(*(store.save(Save(row, number, (b"{}",))) for row in rows))
        while (after := await figures())["all"] < before["all"] + 400:  # they are reported late
            await asyncio.sleep(0.1)
        assert after["hot"] - before["hot"] > 300
        await other.close()

    import asyncpg

    with_store(postgres.url, test)


def test_lists_find_what_they_should(database: str) -> None:
    async def test(store: RoomStore) -> None:
        mine = new_row(open=True, updated=5.0, deadline=10.0, request=new_room_id())
        done = new_row(state=OVER, ended=50.0, updated=50.0, seats=list(mine.seats))
        closed = new_row(state="closed", seats=list(mine.seats))
        for row in (mine, done, closed):
            await store.save(Save(row))
        digest = mine.seats[1].digest  # type: ignore[union-attr]
        assert digest is not None
        assert [row.id for row in await store.mine(digest)] == [mine.id]
        assert mine.id in [row.id for row in await store.challenges(1000)]
        assert [row.id for row in await store.history(digest, 100.0, 5)] == [done.id]
        assert await store.history(digest, 50.0, 5) == []
        assert mine.id in await store.due(10.0, 1000)
        assert mine.id not in await store.due(9.0, 1000)
        assert await store.requested(mine.request or "") == mine.id
        assert await store.requested("nothing") is None
        assert done.id in await store.finished("", 1000)
        with pytest.raises(Conflict):
            await store.save(Save(new_row(request=mine.request)))

    with_store(database, test)


def test_names_ratings_and_analyses_are_kept(database: str) -> None:
    async def test(store: RoomStore) -> None:
        who = new_room_id()
        assert await store.name(who) is None
        await store.rename(who, "Ada", 1.0)
        await store.rename(who, "Ada L.", 2.0)
        assert await store.name(who) == "Ada L."
        row = new_row(state=OVER, ended=1.0)
        await store.save(Save(row))
        assert row.id in [other.id for other in await store.unrated(1000)]
        rating = StoredRating("g" + who, who, HUMAN, "Ada", 1600.5, 80.0, 0.06, 3)
        await store.rate(row.id, [rating])
        with pytest.raises(Conflict):
            await store.rate(row.id, [rating])
        assert row.id not in [other.id for other in await store.unrated(1000)]
        assert await store.rating("g" + who, who) == rating
        assert await store.ratings("g" + who, 5) == [rating]
        assert await store.ratings_of(who) == [rating]
        await store.keep_analysis(row.id, b"\x00{}")
        assert await store.analysis(row.id) == b"\x00{}"
        assert await store.analysis("nothing") is None
        await store.forget_ratings()
        assert await store.ratings_of(who) == []

    with_store(database, test)


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.sqlite"
    sqlite3.connect(path).execute("PRAGMA user_version = 99")

    async def test() -> None:
        with pytest.raises((Unavailable, RecordError), match="version 99"):
            await SqliteStore(str(path)).open()

    run(test)


def test_a_match_is_played_on_either_store(database: str) -> None:
    async def test() -> None:
        async with served(QUICK, store_of(database)) as server:
            ada, bob = server.person(), server.person()
            made = await ada.create("digit-duel", seat=1)
            await bob.join(made["id"])
            one, two = await ada.sit(made["id"]), await bob.sit(made["id"])
            await asyncio.gather(
                play_out(one, lambda options: options[0]), play_out(two, lambda o: o[-1])
            )
            assert (await ada.get(f"/api/matches/{made['id']}"))["state"] == "over"

    run(test)


def workers_of(server: Process) -> list[int]:
    """The processes that serve."""
    found = subprocess.run(
        ["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=False
    )
    return [int(pid) for pid in found.stdout.split()]


@pytest.mark.slow
@pytest.mark.parametrize("times", [3, pytest.param(6, marks=pytest.mark.long)])
def test_matches_go_on_though_workers_and_postgresql_are_killed(
    postgres: Postgres, times: int
) -> None:
    server = Process(postgres.url, "--workers", "2")

    crowd = Crowd(server.url)

    async def disturb(n: int) -> None:
        if n % 3 == 2:
            await asyncio.to_thread(postgres.restart)
        else:
            workers = workers_of(server)
            os.kill(workers[n % len(workers)], signal.SIGKILL)
        await until_moves(crowd)

    async def test() -> None:
        moves = await through(crowd, disturb, times=times, pairs=6)
        assert moves > 20
        assert crowd.reconnected > 3

    try:
        run(test)
        assert server.stop() == 0
    finally:
        server.kill()


def test_people_at_different_workers_meet_at_one_table(postgres: Postgres) -> None:
    server = Process(postgres.url, "--workers", "2")

    async def test() -> None:
        crowd = Crowd(server.url, 1)
        tasks = [asyncio.create_task(crowd.pair(n)) for n in range(4)]
        while sum(match.over for match in crowd.played) < 4:
            await asyncio.sleep(0.1)
            for task in tasks:
                if task.done():
                    task.result()
        crowd.stopping = True
        await asyncio.gather(*tasks)
        assert crowd.reconnected == 0
        assert await crowd.check() > 25

    try:
        run(test)
        assert server.stop() == 0
    finally:
        server.kill()


def test_workers_end_with_their_parent(postgres: Postgres) -> None:
    server = Process(postgres.url, "--workers", "2")
    workers = workers_of(server)
    assert len(workers) == 2
    server.kill()
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        time.sleep(0.1)
