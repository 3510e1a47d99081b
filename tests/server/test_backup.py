"""Backup of a running server, restoration, and the way back from an upgrade."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.core.errors import DuelsError
from duels.server.app import store_of
from duels.server.backup import back_up, restore
from duels.server.storage import schema
from duels.server.storage.base import Save
from tests.server.crashing import Crowd, until_moves
from tests.server.server import Process, run
from tests.server.test_outages import DAMAGE, duels
from tests.server.test_stores import new_row, with_store

ANOTHER = ("CREATE TABLE later (id INTEGER)", "ALTER TABLE rooms ADD COLUMN later INTEGER")


@pytest.fixture
def places(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> Callable[[], str]:
    """New databases of a kind."""
    if kind == "postgres":
        made: Callable[[], str] = request.getfixturevalue("postgres").new_database
        return made
    numbers = iter(range(99))
    return lambda: str(tmp_path / f"{next(numbers)}.sqlite")


both = pytest.mark.parametrize("kind", ["sqlite", "postgres"])


@pytest.mark.slow
@both
def test_a_backup_of_a_running_server_has_all_that_was_acknowledged_before(
    places: Callable[[], str], tmp_path: Path, kind: str
) -> None:
    source, target = places(), places()
    file = tmp_path / "backup"
    server = Process(source)

    async def play() -> dict[str, list[list[str]]]:
        crowd = Crowd(server.url)
        tasks = [asyncio.create_task(crowd.pair(n)) for n in range(4)]
        await until_moves(crowd)
        await until_moves(crowd)
        told = {match.id: [list(moves) for moves in match.acknowledged] for match in crowd.played}
        done = await asyncio.to_thread(duels, "backup", str(file), "--database", source)
        assert done.returncode == 0, done.stderr
        assert f"{file} written: store version {len(schema.MIGRATIONS)}" in done.stderr
        await until_moves(crowd)  # the server goes on
        crowd.stopping = True
        await asyncio.gather(*tasks)
        await crowd.check()
        keys.update({match.id: match.keys[0] for match in crowd.played})
        return told

    keys: dict[str, str] = {}
    told: dict[str, list[list[str]]] = {}

    async def play_and_keep() -> None:
        told.update(await play())

    try:
        run(play_and_keep)
        assert server.stop() == 0
    finally:
        server.kill()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == sorted(
        {"backup"} | {name for name in os.listdir(tmp_path) if ".sqlite" in name}
    )
    done = duels("restore", str(file), "--database", target)
    assert done.returncode == 0, done.stderr
    assert f"restored: store version {len(schema.MIGRATIONS)}" in done.stderr
    assert "0 damaged" in done.stderr
    again = Process(target)

    async def compare() -> None:
        crowd = Crowd(again.url)
        for id, moves in told.items():
            info = (await crowd.request("GET", f"/api/matches/{id}", keys[id])).json()
            if not any(moves):
                continue
            record = (await crowd.request("GET", f"/api/matches/{id}/record", keys[id])).json()
            picks = [entry["moves"] for entry in record["entries"] if entry["type"] == "pick"]
            for seat in (0, 1):
                kept = [pick[str(seat + 1)] for pick in picks if str(seat + 1) in pick]
                # A choice that waits for the opponent's is not in the record yet.
                assert len(kept) >= len(moves[seat]) - (info["state"] == "playing")
                for one, other in zip(kept, moves[seat], strict=False):
                    assert one == other or "?" in one
        crowd.stopping = False
        tasks = [asyncio.create_task(crowd.pair(n)) for n in range(2)]
        await until_moves(crowd)
        crowd.stopping = True
        await asyncio.gather(*tasks)
        assert await crowd.check() >= 10

    try:
        run(compare)
        assert again.stop() == 0
    finally:
        again.kill()


@both
def test_an_upgrade_is_undone_by_the_backup_made_before(
    places: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    source, target, file = places(), places(), str(tmp_path / "backup")
    row = new_row()
    with_store(source, lambda store: store.save(Save(row)))
    asyncio.run(back_up(source, file))
    usual = schema.MIGRATIONS
    monkeypatch.setattr(schema, "MIGRATIONS", (*usual, ANOTHER))
    newer = str(tmp_path / "newer")

    async def upgraded() -> None:
        store = store_of(source)
        await store.open()
        assert await store.version() == len(usual) + 1
        assert await store.row(row.id) == row
        await store.close()
        await back_up(source, newer)

    run(upgraded)
    monkeypatch.setattr(schema, "MIGRATIONS", usual)
    for failing in (store_of(source).open(), restore(newer, target)):
        with pytest.raises(DuelsError) as told:
            asyncio.run(failing)
        assert f"version {len(usual) + 1}, written by a newer Duels" in str(told.value)
        assert "restore the backup made before the upgrade" in str(told.value)

    async def back() -> None:
        found = await restore(file, target)
        assert (found.version, found.states.total(), found.damaged) == (len(usual), 1, [])
        store = store_of(target)
        await store.open()
        assert await store.row(row.id) == row
        await store.close()

    run(back)


@both
def test_nothing_is_written_over(places: Callable[[], str], tmp_path: Path, kind: str) -> None:
    source, file = places(), tmp_path / "backup"
    with_store(source, lambda store: store.save(Save(new_row())))
    assert duels("backup", str(file), "--database", source).returncode == 0
    before = file.read_bytes()
    again = duels("backup", str(file), "--database", source)
    assert again.returncode == 1
    assert "exists already" in again.stderr
    assert file.read_bytes() == before
    over = duels("restore", str(file), "--database", source)
    assert over.returncode == 1
    assert ("move it away" if kind == "sqlite" else "name an empty one") in over.stderr


@both
def test_what_is_not_a_backup_is_refused_and_leaves_nothing(
    places: Callable[[], str], tmp_path: Path, kind: str
) -> None:
    target, file = places(), tmp_path / "other"
    for text in (None, b"", b"no database"):
        if text is not None:
            file.write_bytes(text)
        done = duels("restore", str(file), "--database", target)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1, done.stderr
        assert str(file) in done.stderr or kind == "postgres"
    assert not os.path.exists(target)
    assert [name for name in os.listdir(tmp_path) if "partial" in name] == []
    done = duels("backup", str(tmp_path / "no" / "folder"), "--database", target)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


def test_the_log_of_another_database_is_not_applied_to_a_restored_one(tmp_path: Path) -> None:
    source, target = tmp_path / "duels.sqlite", tmp_path / "new.sqlite"
    with_store(str(source), lambda store: store.save(Save(new_row())))
    assert duels("backup", str(tmp_path / "backup"), "--database", str(source)).returncode == 0
    log = Path(f"{target}-wal")
    log.write_bytes(b"of a database that was deleted")
    done = duels("restore", str(tmp_path / "backup"), "--database", str(target))
    assert done.returncode == 1
    assert f"{log} exists: move it away first" in done.stderr
    log.unlink()
    assert duels("restore", str(tmp_path / "backup"), "--database", str(target)).returncode == 0


def test_a_restoration_is_refused_while_a_server_uses_the_file(tmp_path: Path) -> None:
    path, file = tmp_path / "duels.sqlite", tmp_path / "backup"
    server = Process(str(path))
    try:
        assert duels("backup", str(file), "--database", str(path)).returncode == 0
        path.rename(tmp_path / "old")
        done = duels("restore", str(file), "--database", str(path))
        assert done.returncode == 1
        assert "is in use by another process" in done.stderr
    finally:
        server.kill()


def test_damaged_matches_are_counted_and_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path, file = tmp_path / "duels.sqlite", tmp_path / "backup"
    rows = [new_row() for _ in range(300)]

    async def fill(store: object) -> None:
        for row in rows:
            await store.save(Save(row))  # type: ignore[attr-defined]

    with_store(str(path), fill)
    with sqlite3.connect(path) as other:
        other.execute(DAMAGE["one seat"], (rows[7].id,))
        other.execute(DAMAGE["no JSON"], (rows[9].id,))
    other.close()  # which moves the log into the file
    done = duels("backup", str(file), "--database", str(path))
    assert done.returncode == 0
    assert "300 matches: 0 finished, 298 unfinished, 0 closed; 2 damaged" in done.stderr
    assert rows[7].id in done.stderr
    done = duels("restore", str(file), "--database", str(tmp_path / "new.sqlite"))
    assert done.returncode == 1
    assert "restored: " in done.stderr
    assert "2 damaged" in done.stderr
    whole = bytearray(path.read_bytes())
    middle = len(whole) // 8192 * 4096
    whole[middle : middle + 4096] = os.urandom(4096)
    path.write_bytes(whole)
    done = duels("backup", str(tmp_path / "second"), "--database", str(path))
    assert done.returncode == 1
    assert "restore an earlier backup" in done.stderr or "malformed" in done.stderr
    assert not (tmp_path / "second").exists()
