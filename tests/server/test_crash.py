"""Killed at any moment, or with a full disk: nothing acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from tests.server.crashing import Crowd, through, until_moves
from tests.server.faults import PAIRS, POSTGRES, SQLITE, Unusable, run_fault
from tests.server.postgres import Postgres
from tests.server.server import Process, run


@pytest.mark.slow
@pytest.mark.parametrize("times", [2, pytest.param(10, marks=pytest.mark.long)])
def test_matches_go_on_though_the_server_is_killed_again_and_again(
    tmp_path: Path, times: int
) -> None:
    path = str(tmp_path / "duels.sqlite")
    server = Process(path)
    crowd = Crowd(server.url)

    async def kill(n: int) -> None:
        nonlocal server
        server.kill()
        server = await asyncio.to_thread(Process, path, port=server.port)
        if n % 2 == 0:  # else killed while clients come back
            await until_moves(crowd)

    async def test() -> None:
        moves = await through(crowd, kill, times=times)
        assert moves > 5 * times
        assert crowd.reconnected > times

    try:
        run(test)
    finally:
        server.kill()


async def until_refused(crowd: Crowd) -> None:
    before = crowd.refused
    while crowd.refused < before + 3:
        await asyncio.sleep(0.05)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs the prlimit of Linux")
@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.long)])
def test_a_full_disk_refuses_moves_and_corrupts_nothing(tmp_path: Path, times: int) -> None:
    """The system refuses to let the server's files grow for a while, as on a disk that is full."""
    path = tmp_path / "duels.sqlite"
    server = Process(str(path))
    usual = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)

    crowd = Crowd(server.url)

    async def fill_the_disk(n: int) -> None:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, usual[1]))
        await until_refused(crowd)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, usual)
        await until_moves(crowd)

    async def test() -> None:
        assert await through(crowd, fill_the_disk, times=times, pairs=6) > 10 * times

    try:
        run(test)
    finally:
        server.kill()
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of its own, which can be filled."""
    folder = tempfile.mkdtemp(prefix="duels-disk-")  # not in pytest's, which is closed to others
    os.chmod(folder, 0o755)
    mount = ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", folder]
    try:
        made = subprocess.run(mount, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            pytest.skip(f"needs the right to mount a small disk: {made.stderr.strip()}")
        yield Path(folder)
        subprocess.run(["umount", folder], check=True)
    finally:
        os.rmdir(folder)


@pytest.mark.usefixtures("postgres")  # where there is none, that says so
@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.long)])
def test_a_full_disk_of_postgresql_refuses_moves_and_corrupts_nothing(
    small_disk: Path, times: int
) -> None:
    cluster = Postgres(str(small_disk))
    ballast = small_disk / "ballast"
    server = Process(cluster.url, "--workers", "2")

    crowd = Crowd(server.url)

    async def fill_the_disk(n: int) -> None:
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(2**16))
        await until_refused(crowd)
        ballast.unlink()
        await until_moves(crowd)

    async def test() -> None:
        assert await through(crowd, fill_the_disk, times=times, pairs=6) > 10 * times

    try:
        run(test)
        assert server.stop() == 0
        cluster.check()
    finally:
        server.kill()
        cluster.remove()


# All other repeatable faults. benchmarks/web_crash.py repeats each of them more often.

# By the tests above, tests/server/test_stores.py and tests/server/test_postgres_outages.py.
COVERED = {
    ("server killed", SQLITE), ("disk full", SQLITE), ("disk full", POSTGRES),
    *((name, POSTGRES) for name in (
        "worker killed", "PostgreSQL restarted (smart)", "PostgreSQL restarted (fast)",
        "PostgreSQL restarted (immediate)", "backends ended", "database connections cut",
    )),
}  # fmt: skip
# The others are long.
QUICK = {
    ("server killed", POSTGRES), ("process stopped and revived", SQLITE), ("row damaged", SQLITE),
    ("clients cut", SQLITE), ("file deleted, moved or replaced", SQLITE),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("postgres")  # where there is none, that says so
@pytest.mark.parametrize(
    ("name", "store"),
    [
        pair if pair in QUICK else pytest.param(*pair, marks=pytest.mark.long)
        for pair in PAIRS
        if pair not in COVERED
    ],
)
@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.long)])
def test_nothing_is_lost_and_play_goes_on_after_a_fault(name: str, store: str, times: int) -> None:
    async def test() -> None:
        try:
            crowd = await run_fault(name, store, times, pairs=6)
        except Unusable as error:
            pytest.skip(str(error))
        assert crowd.moves > 10 * times

    run(test)
