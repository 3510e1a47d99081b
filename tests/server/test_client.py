"""A terminal at a server, bots on the same protocol, and records that move between stores."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.client.connection import Client
from duels.client.identity import new_key
from duels.core.record import loads
from duels.games import load
from duels.server.storage.base import Save, Unavailable
from tests.server.server import QUICK, ROOT, Process, play_out, run, served


def duels(tmp_path: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(tmp_path / "home")}
    return subprocess.run(
        [sys.executable, "-m", "duels", *words], input=text, capture_output=True, text=True,
        env=env, cwd=ROOT,
    )  # fmt: skip


def test_a_terminal_player_creates_a_match_and_a_browser_player_joins_it(tmp_path: Path) -> None:
    async def test() -> None:
        async with served() as server:
            typed = "nonsense\ntable\n" + "1\n2\n3\n4\n5\n6\n7\n8\n9\n" * 3
            terminal = asyncio.create_task(
                asyncio.to_thread(
                    duels, tmp_path, "play", "digit", "--set", "life=99", "--server", server.url,
                    text=typed,
                )
            )  # fmt: skip
            bob = server.person()
            while not server.manager.rooms:
                await asyncio.sleep(0.02)
            id = next(iter(server.manager.rooms))
            while (await bob.get(f"/api/matches/{id}"))["state"] != "waiting":
                await asyncio.sleep(0.02)
            await bob.join(id)
            await play_out(await bob.sit(id), lambda options: options[0])
            done = await terminal
            assert done.returncode == 0, done.stderr
            assert f"{server.url}/match/{id}" in done.stdout
            assert "I don't know 'nonsense'" in done.stdout
            assert "the game!\nTotal Damage:" in done.stdout  # the end is told

    run(test)


def test_a_nonce_that_could_not_be_stored_is_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        async with served() as server:
            ada = server.person()
            made = await ada.create("firewall-breach", seat=1)
            one = await ada.sit(made["id"])
            save = server.manager.store.save
            refused: list[str] = []

            async def full(change: Save) -> None:
                if not refused and all(change.row.nonces):
                    refused.append(change.row.id)
                    raise Unavailable("the disk is full")
                await save(change)

            monkeypatch.setattr(server.manager.store, "save", full)
            address = f"{server.url}/match/{made['id']}"
            terminal = asyncio.create_task(
                asyncio.to_thread(duels, tmp_path, "play", "--server", address, text="quit\n")
            )
            assert await one.choosing(), "the match has begun"
            assert refused
            assert (await one.move("bypass"))["ok"]
            assert (await terminal).returncode == 0

    run(test)


def test_a_terminal_that_is_started_again_reveals_the_nonce_it_committed_to(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        async with served() as server:
            ada = server.person()
            made = await ada.create("firewall-breach", seat=1)
            one = await ada.sit(made["id"], nonce=False)
            address = f"{server.url}/match/{made['id']}"
            env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(tmp_path / "home")}
            command = [sys.executable, "-m", "duels", "play", "--server", address]
            first = subprocess.Popen(command, env=env, cwd=ROOT, stdin=subprocess.PIPE)
            while (hash := one.match["hashes"][1]) is None:
                await one.receive()
            first.kill()
            first.wait()
            await one.agree()
            again = asyncio.create_task(
                asyncio.to_thread(duels, tmp_path, "play", "--server", address, text="resign\n")
            )
            assert await one.choosing()
            assert (await one.move("bypass"))["ok"]
            while one.view["result"] is None:
                await one.receive()
            assert one.match["hashes"][1] == hash
            done = await again
            assert done.returncode == 0, done.stderr
            assert "Dice checked: the secret matches its commitment" in done.stdout
            assert not list((tmp_path / "home" / "duels" / "dice").iterdir())

    run(test)


def test_a_terminal_player_joins_by_the_address_of_a_match_and_can_come_back(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        async with served() as server:
            ada = server.person()
            made = await ada.create("firewall-breach", seat=1)
            address = f"{server.url}/match/{made['id']}"
            one = await ada.sit(made["id"])
            first = asyncio.create_task(
                asyncio.to_thread(
                    duels, tmp_path, "play", "--server", address, text="bypass\nquit\n"
                )
            )
            for _ in range(2):
                assert await one.choosing()
                assert (await one.move("bypass"))["ok"]
            left = await first
            assert left.returncode == 0
            assert f"play --server {address}" in left.stderr
            again = asyncio.create_task(
                asyncio.to_thread(duels, tmp_path, "play", "--server", address, text="resign\n")
            )
            while one.view["result"] is None:
                await one.receive()
            assert one.view["result"]["by"] == "resignation"
            assert (await again).returncode == 0

    run(test)


def test_two_bots_play_over_the_protocol_through_a_restart_of_the_server(tmp_path: Path) -> None:
    path = str(tmp_path / "duels.sqlite")
    server = Process(path)
    one, two = Client(server.url, new_key()), Client(server.url, new_key())
    match = one.create("number-wars", seat=1)
    two.join(match["id"])
    tables = [one.connect(match["id"]), two.connect(match["id"])]
    while any(table.view is None for table in tables):
        for table in tables:
            if table.view is None:
                with suppress(TimeoutError):
                    table.receive(0.05)
    moves = 0
    try:
        while not tables[0].over:
            table = tables[moves % 2]
            view = table.choosing()
            if view is None:
                break
            assert table.command("move", at=view["moment"], move=view["options"][0])["ok"]
            moves += 1
            if moves == 7:
                server.stop()
                server = Process(path, port=server.port)
        assert moves > 7
        record = one.ask("GET", f"/api/matches/{match['id']}/record")
        assert loads(json.dumps(record), load).result is not None
        assert all("2 nonces match their hashes" in table.check_dice() for table in tables)
    finally:
        server.kill()


def test_a_server_that_is_not_there_and_a_match_that_is_not_are_one_line(tmp_path: Path) -> None:
    done = duels(tmp_path, "play", "digit", "--server", "http://127.0.0.1:1")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be reached" in done.stderr
    for wrong in ("127.0.0.1", "ftp://x"):
        assert duels(tmp_path, "play", "digit", "--server", wrong).returncode == 2


def test_records_go_out_and_in_and_ratings_follow_from_them(tmp_path: Path) -> None:
    first, second = tmp_path / "one.sqlite", tmp_path / "two.sqlite"

    async def play() -> list[object]:
        async with served(replace(QUICK, database=str(first))) as server:
            ada = server.person()
            for _ in range(3):
                made = await ada.create("number-clash", opponent="easy")
                seated = await ada.sit(made["id"])
                await play_out(seated, lambda options: options[-1])
            while True:
                rated = (await ada.get("/api/ratings/number-clash"))["ratings"]
                if rated and rated[0]["matches"] == 3:
                    return list(rated)
                await asyncio.sleep(0.02)

    rated = asyncio.run(play())
    lines = tmp_path / "all.jsonl"
    done = duels(tmp_path, "export", "--out", str(lines), "--database", str(first))
    assert "3 records written" in done.stderr
    assert len(lines.read_text("utf-8").splitlines()) == 3
    for line in lines.read_text("utf-8").splitlines():
        one = tmp_path / "record.json"
        one.write_text(line, "utf-8")
        checked = duels(tmp_path, "verify", str(one))
        assert "The record is valid" in checked.stdout, checked.stderr
        assert "chance event" in checked.stdout
    taken = duels(tmp_path, "import", str(lines), "--database", str(second))
    assert "3 records imported, 0 already there" in taken.stderr, taken.stderr
    taken = duels(tmp_path, "import", "-", "--database", str(second), text=lines.read_text("utf-8"))
    assert "0 records imported, 3 already there" in taken.stderr
    assert "3 matches" in duels(tmp_path, "ratings", "--database", str(first)).stderr

    async def ratings(path: Path) -> object:
        async with served(replace(QUICK, database=str(path))) as server:
            return (await server.person().get("/api/ratings/number-clash"))["ratings"]

    assert asyncio.run(ratings(first)) == rated
    assert asyncio.run(ratings(second)) == rated
    lines.write_text(lines.read_text("utf-8").replace('"easy"', '"hard"'), "utf-8")
    spoilt = duels(tmp_path, "import", str(lines), "--database", str(second))
    assert "line 1: the checksum does not match" in spoilt.stderr


def test_what_keeps_a_server_from_starting_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        path = str(tmp_path / "x.sqlite")
        done = duels(tmp_path, "serve", "--port", port, "--database", path)
        assert done.returncode == 1
        assert "cannot listen" in done.stderr
    (tmp_path / "file").write_text("")
    for wrong in (str(tmp_path / "file" / "x.sqlite"), str(tmp_path)):
        done = duels(tmp_path, "serve", "--port", "0", "--database", wrong)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert done.stdout == ""
    done = duels(tmp_path, "serve", "--workers", "2")
    assert done.returncode == 2
    assert "postgresql://" in done.stderr
