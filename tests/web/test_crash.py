"""Killed at any moment, or with a full disk: nothing acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from tests.web.crashing import through
from tests.web.server import Process, run


@pytest.mark.slow
def test_matches_go_on_though_the_server_is_killed_again_and_again(tmp_path: Path) -> None:
    path = str(tmp_path / "duels.sqlite")
    server = Process(path)

    async def kill(n: int) -> None:
        nonlocal server
        server.kill()
        server = await asyncio.to_thread(Process, path, port=server.port)

    async def test() -> None:
        crowd, moves = await through(server.url, kill, times=10)
        assert moves > 50
        assert crowd.reconnected > 10

    try:
        run(test)
    finally:
        server.kill()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs the prlimit of Linux")
def test_a_full_disk_refuses_moves_and_corrupts_nothing(tmp_path: Path) -> None:
    """The system refuses to let the server's files grow for a while, as on a disk that is full."""
    path = tmp_path / "duels.sqlite"
    server = Process(str(path))
    usual = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)

    async def fill_the_disk(n: int) -> None:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, usual[1]))
        await asyncio.sleep(0.3)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, usual)

    async def test() -> None:
        crowd, moves = await through(server.url, fill_the_disk, times=4, pairs=6)
        assert moves > 20
        assert crowd.refused > 0, "the disk was never full"

    try:
        run(test)
    finally:
        server.kill()
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
