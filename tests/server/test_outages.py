"""What goes wrong on one machine: a damaged row, a bad item, a dead thread, a second server, a file
that is deleted, a full disk."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from duels.server import workers
from duels.server.app import store_of
from duels.server.heartbeats import Heartbeats, new_heartbeats
from duels.server.serve import address, listen
from duels.server.storage.base import RoomStore, Save, StoreError, Unavailable
from tests.server.postgres import Postgres
from tests.server.server import QUICK, ROOT, Process, Served, play_out, run, served
from tests.server.test_restart import people
from tests.server.test_rooms import seated
from tests.server.test_stores import database, new_row, with_store
from tests.variants import long_unless

__all__ = ["database"]  # a fixture
HANGS = 120.0  # seconds after which a test fails instead of waiting for good


# One damaged row.

DAMAGE = {
    "no JSON": "UPDATE rooms SET data = '{' WHERE id = ?",
    "other JSON": "UPDATE rooms SET data = '{\"id\": 3}' WHERE id = ?",
    "no text": "UPDATE rooms SET data = 5 WHERE id = ?",
    "no UTF-8": "UPDATE rooms SET data = CAST(x'ff00fe' AS TEXT) WHERE id = ?",
    "one seat": "UPDATE rooms SET data = json_set(data, '$.seats', json('[null]')) WHERE id = ?",
    "no secret": "UPDATE rooms SET data = json_set(data, '$.secret', 'x') WHERE id = ?",
    "no header": "UPDATE rooms SET data = json_set(data, '$.header', json('{}')) WHERE id = ?",
    "no version": "UPDATE rooms SET version = 'x' WHERE id = ?",
    "no entry": "UPDATE entries SET data = '[' WHERE room = ?",
    "other entry": 'UPDATE entries SET data = \'{"type": "pick"}\' WHERE room = ?',
    "no UTF-8 entry": "UPDATE entries SET data = CAST(x'ff' AS TEXT) WHERE room = ?",
    "missing entry": "DELETE FROM entries WHERE number = 0 AND room = ?",
    "no answer": "UPDATE answers SET answer = 'text' WHERE room = ?",
}


async def closed(server: Served, id: str, key: str | None) -> str:
    """Come to a match that cannot be opened; the reason that is given."""
    async with connect(f"{server.ws}/ws/{id}") as socket:
        await socket.send(json.dumps({"type": "hello", "key": key}))
        message = json.loads(await asyncio.wait_for(socket.recv(), HANGS))
        assert message["type"] == "refusal", message
        return str(message["reason"])


@pytest.mark.parametrize(
    "damage",
    long_unless(lambda damage: damage in ("no UTF-8", "other entry", "no answer"), DAMAGE),
)
def test_a_damaged_row_is_logged_and_affects_its_match_alone(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "duels.sqlite"

    async def test() -> None:
        async with served(QUICK, database=str(path)) as server:
            one, two, bad = await seated(server, "number-wars")
            assert (await one.move("10"))["ok"]
            assert (await two.command("move", at=1, move="3"))["ok"]
            await one.close()
            await two.close()
            ada, bob = server.person(one.key), server.person(two.key)
            good = (await ada.create("digit-duel", seat=1))["id"]
            await bob.join(good)
            late = (await ada.create("number-wars", open=True))["id"]
            await asyncio.sleep(0.1)
            server.manager.evict(-1.0)
            with sqlite3.connect(path) as other:
                assert other.execute(DAMAGE[damage], (bad,)).rowcount > 0
                # Both are due: what is wrong with the first does not hold up the second.
                other.execute("UPDATE rooms SET deadline = 1 WHERE id = ?", (bad,))
                other.execute(
                    "UPDATE rooms SET deadline = 2, data = json_set(data, '$.deadline', 2)"
                    " WHERE id = ?", (late,),
                )  # fmt: skip
            other.close()
            for part in ("", "/record", "/replay", "/fair", "/analysis"):
                await server.http.get(f"/api/matches/{bad}{part}")
            assert await closed(server, bad, one.key), "the match cannot be opened"
            here, there = await ada.sit(good), await bob.sit(good)
            await asyncio.gather(play_out(here, min), play_out(there, max))
            mine = [match["id"] for match in (await ada.get("/api/matches"))["mine"]]
            assert late in mine or (await ada.get(f"/api/matches/{late}"))["state"] == "closed"
            while (await ada.get(f"/api/matches/{late}"))["state"] != "closed":
                await asyncio.sleep(0.05)
            history = (await ada.get("/api/me/history"))["matches"]
            assert [match["id"] for match in history] == [good]
            assert (await server.http.get("/healthz")).status_code == 200
            assert (await server.http.get("/readyz")).status_code == 200

    with caplog.at_level(logging.ERROR, "duels.server"):
        run(test)
    assert [line for line in caplog.messages if "is damaged" in line]
    assert not [line for line in caplog.messages if "Traceback" in line]


def test_a_damaged_match_is_left_out_of_an_export_which_says_so(tmp_path: Path) -> None:
    path = tmp_path / "duels.sqlite"

    async def test() -> list[str]:
        ids = []
        async with served(QUICK, database=str(path)) as server:
            for _ in range(2):
                one, two, id = await seated(server, "digit-duel")
                await asyncio.gather(play_out(one, min), play_out(two, max))
                ids.append(id)
        return ids

    ids = asyncio.run(test())
    with sqlite3.connect(path) as other:
        other.execute(DAMAGE["no entry"], (ids[0],))
    other.close()
    done = duels("export", "--database", str(path))
    assert done.returncode == 1
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [ids[1]]
    assert "1 damaged record left out" in done.stderr


def test_when_the_thread_of_the_store_ends_the_process_ends_with_a_failure(tmp_path: Path) -> None:
    server = Process(str(tmp_path / "duels.sqlite"), program=("tests.server.dying",))
    try:
        server.process.send_signal(signal.SIGUSR1)
        assert server.process.wait(HANGS) == 1
    finally:
        server.kill()


# One bad item.


@pytest.mark.parametrize("bad", ["0 \ud800", "0 \0"])
def test_an_item_that_cannot_be_stored_fails_alone(database: str, bad: str) -> None:
    async def test(store: RoomStore) -> None:
        rows = [new_row() for _ in range(20)]
        await asyncio.gather(*(store.save(Save(row)) for row in rows))
        saves = [
            store.save(Save(row, 0, (b'{"n":0}',), (bad if n == 7 else f"0 {n}", b"yes")))
            for n, row in enumerate(rows)
        ]
        found = await asyncio.wait_for(asyncio.gather(*saves, return_exceptions=True), HANGS)
        if "\0" in bad and database.endswith("sqlite"):
            assert found[7] is None, "SQLite stores it"
        else:
            assert isinstance(found[7], StoreError)
        assert [error for n, error in enumerate(found) if n != 7 and error is not None] == []
        for n, row in enumerate(rows):
            kept = await store.load(row.id)
            assert kept is not None
            assert len(kept.entries) == (found[n] is None)

    with_store(database, test)


@pytest.mark.parametrize("text", ["\0", "a\nb", "\x1b[2J", "\x7f", "\x85"])
def test_control_characters_are_refused_in_whatever_a_client_sends(text: str) -> None:
    async def test() -> None:
        async with served() as server:
            one, two, _ = await seated(server, "number-wars")
            for message in (
                {"type": "move", "id": text, "at": 0, "move": "10"},
                {"type": "move", "id": "1", "at": 0, "move": text},
                {"type": "move", "id": "2", "at": 0, "text": "10", "so_far": text},
            ):
                await one.send(**message)
                answer = await one.until("answer", ok=False)  # not that to a share of the dice
                assert "control characters" in answer["reason"]
            for body in (
                {"game": "number-wars", "request": text},
                {"game": "number-wars", "options": {text: "1"}},
                {"game": text},
            ):
                key = {"Authorization": f"Bearer {one.key}"}
                found = await server.http.post("/api/matches", headers=key, json=body)
                assert found.status_code == 400
                assert "control characters" in found.json()["reason"]
            assert (await one.move("10"))["ok"]
            assert (await two.command("move", at=1, move="3"))["ok"]

    run(test)


@pytest.mark.parametrize("name", ["%00", "js/%00.js", "a" * 5000, "%ff", "..%2f..%00", "js%00"])
def test_a_file_name_that_no_file_can_have_is_not_found(name: str) -> None:
    async def test() -> None:
        async with served() as server:
            assert (await server.http.get(f"/static/{name}")).status_code == 404

    run(test)


# One server to a file.


def duels(*words: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "duels", *words], capture_output=True, text=True, check=False,
        cwd=ROOT, timeout=HANGS, input=input,
    )  # fmt: skip


def test_a_second_server_on_a_file_is_refused_and_reading_is_not(tmp_path: Path) -> None:
    path = str(tmp_path / "duels.sqlite")
    link = str(tmp_path / "link.sqlite")
    os.symlink(path, link)
    server = Process(path)

    async def play() -> None:
        ada, bob = people(server, 2)
        id = (await ada.create("digit-duel", seat=1))["id"]
        await bob.join(id)
        one, two = await ada.sit(id), await bob.sit(id)
        await asyncio.gather(play_out(one, min), play_out(two, max))

    try:
        run(play)
        for name in (path, link):
            second = duels("serve", "--port", "0", "--database", name)
            assert second.returncode == 1
            assert second.stdout == ""
            assert second.stderr.count("\n") == 1
            assert f"{name} is in use by another process ({server.process.pid})" in second.stderr
        for command in (["import", "-"], ["ratings"]):
            assert "is in use" in duels(*command, "--database", path, input="").stderr
        exported = duels("export", "--database", path)
        assert exported.returncode == 0, exported.stderr
        assert len(exported.stdout.splitlines()) == 1
        run(play)
        assert httpx.get(f"{server.url}/readyz").status_code == 200
    finally:
        server.kill()
    again = Process(path)  # a lock does not outlive its process
    assert again.stop() == 0
    assert duels("ratings", "--database", path).returncode == 0


def test_an_export_of_a_file_that_is_not_there_makes_none(tmp_path: Path) -> None:
    path = tmp_path / "nothing.sqlite"
    done = duels("export", "--database", str(path))
    assert done.returncode == 1
    assert "there is no such file" in done.stderr
    assert os.listdir(tmp_path) == []


# Readiness.


async def ready(server: Any) -> int:
    return int((await server.http.get("/readyz")).status_code)


@pytest.mark.parametrize("how", ["deleted", "replaced", "log deleted"])
def test_a_server_whose_file_is_gone_is_not_ready_and_refuses_moves(
    tmp_path: Path, how: str
) -> None:
    path = tmp_path / "duels.sqlite"

    async def test() -> None:
        async with served(QUICK, database=str(path)) as server:
            one, two, _ = await seated(server, "number-wars")
            assert await ready(server) == 200
            if how == "log deleted":
                os.unlink(f"{path}-wal")
            else:
                os.rename(path, tmp_path / "old")
            if how == "replaced":
                path.write_bytes((tmp_path / "old").read_bytes())
            assert await ready(server) == 503
            assert (await server.http.get("/healthz")).status_code == 200
            with suppress(ConnectionClosed):  # the match is put away, as it cannot be read either
                assert not (await one.move("10"))["ok"]
            await two.close()

    run(test)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs the prlimit of Linux")
def test_a_server_with_a_full_disk_is_alive_and_not_ready(tmp_path: Path) -> None:
    server = Process(str(tmp_path / "duels.sqlite"))
    usual = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    try:
        assert httpx.get(f"{server.url}/readyz").status_code == 200
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, usual[1]))
        assert httpx.get(f"{server.url}/readyz").status_code == 503
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, usual)
        assert httpx.get(f"{server.url}/readyz").status_code == 200
    finally:
        server.kill()


def test_a_server_whose_file_is_locked_by_another_program_is_not_ready(tmp_path: Path) -> None:
    path = tmp_path / "duels.sqlite"

    async def test() -> None:
        async with served(QUICK, database=str(path)) as server:
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            assert await ready(server) == 503
            other.execute("ROLLBACK")
            while await ready(server) != 200:
                await asyncio.sleep(0.05)
            other.close()

    run(test)


def test_a_store_that_is_only_read_writes_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "duels.sqlite")

    async def fill(store: RoomStore) -> None:
        await store.save(Save(new_row()))

    async def read() -> None:
        store = store_of(path, reading=True)
        await store.open()
        with pytest.raises((StoreError, Unavailable)):
            await store.save(Save(new_row()))
        await store.close()

    with_store(path, fill)
    run(read)


# Workers.


def test_a_worker_whose_event_loop_stands_still_is_killed(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "SLOW", 120.0)  # to start on a busy machine
    settings = replace(QUICK, database=postgres.url, port=0)
    listening = listen(settings)
    url = address(settings, listening)
    heartbeats = new_heartbeats(1)
    worker = workers.Worker(workers.worker_settings(settings, listening), heartbeats, 0)
    try:
        while httpx.get(f"{url}/healthz", timeout=HANGS).status_code != 200:
            assert worker.check()
        while not heartbeats.last(0):
            time.sleep(workers.TICK)
        for _ in range(5):
            time.sleep(workers.TICK)
            assert worker.check()
        worker.process.send_signal(signal.SIGSTOP)
        while worker.check():
            time.sleep(workers.TICK)
        assert worker.process.returncode == -signal.SIGKILL
        assert heartbeats.last(0) == 0.0
    finally:
        worker.process.kill()
        listening.close()


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in found.split()]


def asked(url: str) -> tuple[int, str]:
    """The status of a page and the reason of a refusal, from a worker that answers.

    A worker that does not respond may have accepted the connection: then another one is made.
    """
    until = time.monotonic() + HANGS
    while time.monotonic() < until:
        with suppress(httpx.HTTPError):
            found = httpx.get(url, timeout=8)  # a check may take 5 seconds
            return found.status_code, found.json().get("reason", "")
    raise AssertionError("no worker answers")


def becomes(server: Process, status: int, times: int) -> str:
    """Ask whether it is ready until so many answers in a row are as expected; the last reason."""
    until, same = time.monotonic() + HANGS, 0
    while same < times:
        found, reason = asked(f"{server.url}/readyz")
        same = same + 1 if found == status else 0
        assert time.monotonic() < until, (found, reason)
        time.sleep(0.02)
    return reason


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the /proc of Linux")
@pytest.mark.parametrize(
    "how",
    long_unless(
        lambda how: how == "killed", ["stopped for a while", "stopped", "killed", "terminated"]
    ),
)
def test_a_server_is_ready_while_all_its_workers_respond(postgres: Postgres, how: str) -> None:
    """The next request may go to any of the workers."""
    server = Process(postgres.url, "--workers", "2")
    try:
        becomes(server, 200, 10)  # either of them may answer
        one, other = children(server.process.pid)
        signals = {"killed": signal.SIGKILL, "terminated": signal.SIGTERM}
        os.kill(one, signals.get(how, signal.SIGSTOP))
        reason = becomes(server, 503, 1)
        if how.startswith("stopped"):
            assert reason == "1 of 2 workers not responding"
            assert asked(f"{server.url}/healthz")[0] == 200  # of the worker that answers
        elif how == "killed":
            assert "1 of 2 workers" in reason
        if how == "stopped for a while":
            with suppress(ProcessLookupError):  # where this is slow, it was replaced meanwhile
                os.kill(one, signal.SIGCONT)
        becomes(server, 200, 10)
        found = children(server.process.pid)
        assert len(found) == 2
        assert other in found
        assert how == "stopped for a while" or one not in found
        assert server.stop() == 0
    finally:
        server.kill()


def test_a_worker_is_told_of_the_others_and_not_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor = new_heartbeats(3)
    seen = [Heartbeats(supervisor.fd, 3, number) for number in range(3)]
    assert seen[0].problem() == "2 of 3 workers starting or stopping"
    for worker in seen:
        worker.beat()
    assert [worker.problem() for worker in seen] == ["", "", ""]
    seen[2].clear()
    assert seen[0].problem() == seen[1].problem() == "1 of 3 workers starting or stopping"
    assert seen[2].problem() == ""
    monkeypatch.setattr("duels.server.heartbeats.LATE", -60.0)  # so that each heartbeat is too old
    assert seen[0].problem() == "1 of 3 workers not responding, 1 of 3 workers starting or stopping"
    assert seen[2].problem() == "2 of 3 workers not responding"
    supervisor.clear(0)
    assert seen[0].last(0) == 0.0
