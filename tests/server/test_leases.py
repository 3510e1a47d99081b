"""A room is with one process at a time, also while PostgreSQL comes and goes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.client.identity import digest
from duels.core.match import Match
from duels.games import load
from duels.server import commands
from duels.server.app import store_of
from duels.server.command_handler import CommandHandler
from duels.server.matchmaking import Matchmaking, NewMatch
from duels.server.room_manager import RoomManager
from duels.server.storage.base import Save, Unavailable
from duels.server.storage.postgres_address import PostgresAddress
from tests.server.hidden import FIXED, ID, KEYS, RecordingClient, manager_with
from tests.server.postgres import Postgres
from tests.server.server import QUICK, run, shares
from tests.server.test_stores import new_row


def test_a_worker_that_takes_a_room_over_ends_the_writes_of_the_former_one(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process whose connection to PostgreSQL is gone may not know yet that it is not the holder:
    else a client of the new one is shown a table to which the old one still adds."""
    for name in ("LOOK", "VALID", "EXPIRED"):
        monkeypatch.setattr(f"duels.server.leases.{name}", 3600.0)

    async def test() -> None:
        managers = [
            RoomManager(replace(QUICK, database=postgres.url), store_of(postgres.url)) for _ in "ab"
        ]
        for number, manager in enumerate(managers):
            manager.address = f"127.0.0.1:{number + 1}"
            await manager.open()
        old, new = managers
        row = await Matchmaking(old).create(digest(KEYS[0]), NewMatch("number-clash", seat=1))
        await Matchmaking(old).join(row.id, digest(KEYS[1]))
        room, client = await old.room(row.id), RecordingClient(1)
        await old.enter(room, client, 0)
        for seat, share in shares(room):
            assert b"true" in await CommandHandler(old).execute(room, seat, share)
        assert await new.store.lease_holder(row.id) == old.address
        await old.store._leases._connection.close()  # type: ignore[attr-defined]
        assert await new.store.lease_holder(row.id) is None
        there = await new.room(row.id)
        answer = await CommandHandler(old).execute(room, 0, commands.Move("m", 0, "3"))
        assert b"could not be stored" in answer
        assert row.id not in old.rooms
        assert b'"bye"' in client.told[-1][1]
        assert b"true" in await CommandHandler(new).execute(there, 0, commands.Move("m", 0, "3"))
        for manager in managers:
            await manager.close()

    run(test)


@pytest.mark.parametrize("cut", [False, True], ids=["answered", "cut"])
def test_a_room_that_moved_away_and_back_is_read_again(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch, cut: bool
) -> None:
    """A process may get a lease back before it has noticed that it was lost: what it has in memory
    is older than what clients were shown by the other process."""
    for name in ("LOOK", "VALID", "EXPIRED"):
        monkeypatch.setattr(f"duels.server.leases.{name}", 3600.0)

    async def test() -> None:
        managers = [
            RoomManager(replace(QUICK, database=postgres.url), store_of(postgres.url)) for _ in "ab"
        ]
        for number, manager in enumerate(managers):
            manager.address = f"127.0.0.1:{number + 1}"
            await manager.open()
        old, new = managers
        row = await Matchmaking(old).create(digest(KEYS[0]), NewMatch("number-clash", seat=1))
        await Matchmaking(old).join(row.id, digest(KEYS[1]))
        stale, client = await old.room(row.id), RecordingClient(1)
        await old.enter(stale, client, 0)
        await old.store._leases._connection.close()  # type: ignore[attr-defined]
        assert await new.store.lease_holder(row.id) is None
        there = await new.room(row.id)
        for seat, share in list(shares(there))[:1]:
            assert b"true" in await CommandHandler(new).execute(there, seat, share)
        hashes = list(there.row.hashes)
        assert hashes != [None, None]
        await new.store._leases._connection.close()  # type: ignore[attr-defined]
        if cut:  # the lease is taken back, and the connection is cut before the result arrives
            execute = old.store._run  # type: ignore[attr-defined]

            async def lose(*arguments: Any) -> None:
                await execute(*arguments)
                raise Unavailable("the connection was cut")

            monkeypatch.setattr(old.store, "_run", lose)
            with pytest.raises(Unavailable):
                await old.store.lease_holder(row.id)
            monkeypatch.setattr(old.store, "_run", execute)
        assert await old.store.lease_holder(row.id) is None
        assert stale.unloaded
        assert b'"bye"' in client.told[-1][1]
        assert (await old.room(row.id)).row.hashes == hashes
        for manager in managers:
            await manager.close()

    run(test)


def test_a_process_without_its_lock_takes_no_room(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another would take the room from it at once, and neither would know of the other."""
    monkeypatch.setattr("duels.server.leases.LOOK", 0.01)
    lost: list[bool] = []

    async def test() -> None:
        store = store_of(postgres.url)
        await store.open()

        async def told() -> None:
            lost.append(True)

        await store.join("127.0.0.1:1", told, lambda room: None)
        row = new_row()
        await store.save(Save(row))
        assert await store.lease_holder(row.id) is None
        owners = store._leases  # type: ignore[attr-defined]
        owners._database = PostgresAddress("postgresql://127.0.0.1:1/nothing")
        owners._connection.terminate()
        while not lost:
            await asyncio.sleep(0.01)
        with pytest.raises(Unavailable):
            await store.lease_holder(row.id)
        owners._database = PostgresAddress(postgres.url)
        while not owners._held:
            await asyncio.sleep(0.01)
        assert await store.lease_holder(row.id) is None
        await store.close()

    run(test)
    assert len(lost) > 1


def test_a_room_that_is_put_away_while_it_is_written_comes_back_with_what_was_written() -> None:
    async def test() -> None:
        match = Match(load("number-wars"), 7, now=FIXED.now, id=ID, players=("a", "b"))
        async with manager_with(FIXED, match) as (manager, room):
            may_write, save = asyncio.Event(), manager.store.save

            async def slowly(change: Save) -> None:
                await may_write.wait()
                await save(change)

            manager.store.save = slowly  # type: ignore[method-assign]
            moving = asyncio.create_task(
                CommandHandler(manager).execute(room, 0, commands.Move("m", 0, "10"))
            )
            await asyncio.sleep(0)
            dropping = asyncio.create_task(manager.drop())
            await asyncio.sleep(0)
            client = RecordingClient(1)
            coming = asyncio.create_task(manager.room(ID))
            await asyncio.sleep(0.1)
            may_write.set()
            assert b"true" in await moving
            await dropping
            assert room.unloaded
            await manager.enter(await coming, client, 0)
            if b'"bye"' in client.told[-1][1]:  # put away before they were there: once more
                await manager.enter(await manager.room(ID), client, 0)
            updates = [message for _, message, *_ in client.told if b"update" in message]
            assert [b'"moment":1,' in message for message in updates] == [True]

    run(test)
