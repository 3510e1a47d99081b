"""Faults of a server, its database, its disk and its connections, each of which can be repeated.

`run_fault` lets pairs of players play while one of them happens again and again. After each time
the players must be able to go on. At the end it compares what was acknowledged with what is stored.

benchmarks/web_crash.py repeats each of them a hundred times; the tests, a few times.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import NamedTuple

from tests.server.crashing import Crowd, Played, through, until_moves
from tests.server.postgres import Postgres
from tests.server.proxy import Proxy
from tests.server.server import Process
from tests.server.test_stores import workers_of

SQLITE, POSTGRES = "sqlite", "postgres"
HANGS = 240.0  # seconds after which a run fails instead of waiting for good
PAGE = 4096  # bytes of a page of SQLite
BLOCK = 8192  # bytes of a page of PostgreSQL
INTERIOR, LEAF = 5, 13  # kinds of pages of a table
END_ALL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
ROOMS_OF_BLOCK = "SELECT DISTINCT room FROM entries WHERE ctid >= $1::tid AND ctid < $2::tid"


class Unusable(Exception):
    """This machine cannot produce the fault."""


class Site:
    """A server with its store and its players."""

    def __init__(self, folder: Path, cluster: Postgres | None, workers: int) -> None:
        self.folder, self.cluster, self.workers = folder, cluster, workers
        self.path = folder / "duels.sqlite"
        self.database = str(self.path) if cluster is None else cluster.url
        self.ports = Proxy(0), Proxy(0)  # in front of the server, and of the database
        self.randomness = random.Random(1)
        self.block = 0  # the next page of PostgreSQL to damage
        self.server: Process
        self.crowd: Crowd

    def start(self, port: int = 0) -> None:
        more = () if self.cluster is None else ("--workers", str(self.workers))
        self.server = Process(self.database, *more, port=port, log=self.folder / "log")

    async def restart(self) -> None:
        await asyncio.to_thread(self.start, self.server.port)

    def processes(self) -> list[int]:
        """The processes that serve."""
        return workers_of(self.server) if self.workers > 1 else [self.server.process.pid]

    async def until_refused(self) -> None:
        """Wait until clients were refused, or their connections closed, as there is no store."""
        crowd = self.crowd
        before = crowd.refused + crowd.reconnected
        while crowd.refused + crowd.reconnected < before + 3:
            await asyncio.sleep(0.05)

    def undamaged(self) -> dict[str, Played]:
        """The finished matches that were not damaged yet."""
        over = (match for match in self.crowd.played if match.over)
        return {match.id: match for match in over if match.id not in self.crowd.damaged}


# The server.


async def killed(site: Site, n: int) -> None:
    """`kill -9` of all processes, and a restart."""
    site.server.kill()
    await site.restart()


async def stopped(site: Site, n: int) -> None:
    """A process is stopped (SIGSTOP) for a while and goes on; the supervisor may kill it before."""
    pid = site.randomness.choice(site.processes())
    os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(site.randomness.choice((0.2, 1.0, 4.0)))
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


async def worker_killed(site: Site, n: int) -> None:
    """`kill -9` of one of several workers, which the supervisor restarts."""
    if workers := site.processes():  # else they are being restarted
        with suppress(ProcessLookupError):
            os.kill(site.randomness.choice(workers), signal.SIGKILL)


async def clients_cut(site: Site, n: int) -> None:
    """All connections between clients and server are reset."""
    site.ports[0].cut()


# The disk and the file.


async def disk_full(site: Site, n: int) -> None:
    """Files cannot grow for a while."""
    if site.cluster is not None:
        ballast = site.cluster.folder.parent / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(2**16))
        await site.until_refused()
        ballast.unlink()
        return
    pid = site.server.process.pid
    usual = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, usual[1]))
    await site.until_refused()
    resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)


async def file_gone(site: Site, n: int) -> None:
    """The file or its log is deleted, moved away or replaced by a copy; then it comes back."""
    path = Path(f"{site.path}-wal") if n % 4 == 3 else site.path
    kept = site.folder / "kept"
    if n % 2:
        os.link(path, kept)  # so that it can come back
        os.unlink(path)
    else:
        os.rename(path, kept)
    if n % 4 == 2:
        shutil.copyfile(kept, path)
    await site.until_refused()
    os.rename(kept, path)


async def row_damaged(site: Site, n: int) -> None:
    """The row of a finished match is damaged; no other match may be affected."""
    while not (matches := site.undamaged()):
        await asyncio.sleep(0.05)
    id = site.randomness.choice([*matches])
    site.crowd.damaged.add(id)
    if site.cluster is None:
        with closing(sqlite3.connect(site.path, timeout=60)) as other, other:
            other.execute("UPDATE rooms SET data = '{' WHERE id = ?", (id,))
        return
    import asyncpg

    connection = await asyncpg.connect(site.database)
    await connection.execute("UPDATE rooms SET data = '{' WHERE id = $1", id)
    await connection.close()


async def page_damaged(site: Site, n: int) -> None:
    """A page with entries of finished matches is overwritten; no other match may be affected."""
    if site.cluster is not None:
        await _damage_block(site)
        return
    while (found := await asyncio.to_thread(_leaf, site)) is None:
        await asyncio.sleep(0.2)
    number, rooms = found
    site.crowd.damaged |= rooms
    with open(site.path, "r+b") as file:
        file.seek((number - 1) * PAGE)
        file.write(site.randomness.randbytes(PAGE))


def _leaf(site: Site) -> tuple[int, set[str]] | None:
    """A page of the table of entries with entries of finished matches only, and their ids."""
    with closing(sqlite3.connect(site.path, timeout=60)) as other:
        # So that the page is read from the file and not from the log.
        if other.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0]:
            return None
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'entries'"
        waiting = [int(other.execute(query).fetchone()[0])]
    whole = site.path.read_bytes()
    over = {id.encode() for id in site.undamaged()}
    others = {match.id.encode() for match in site.crowd.played} - over
    while waiting:
        number = waiting.pop(0)
        page = whole[(number - 1) * PAGE : number * PAGE]
        if page[:1] == bytes([INTERIOR]):
            (count,) = struct.unpack_from(">H", page, 3)
            cells = struct.unpack_from(f">{count}H", page, 12)
            waiting += [struct.unpack_from(">I", page, cell)[0] for cell in cells]
            # Not the last page, to which entries are added.
        elif page[:1] == bytes([LEAF]):
            rooms = {id for id in over if id in page}
            if rooms and not any(id in page for id in others):
                return number, {id.decode() for id in rooms}
    return None


async def _damage_block(site: Site) -> None:
    """Damage a page of PostgreSQL while it is stopped, so that no copy is in memory."""
    import asyncpg

    cluster = site.cluster
    assert cluster is not None
    connection = await asyncpg.connect(site.database)
    while True:
        span = (site.block, 0), (site.block + 1, 0)
        last = await connection.fetchval("SELECT pg_relation_size('entries')") // BLOCK - 1
        rooms = {row["room"] for row in await connection.fetch(ROOMS_OF_BLOCK, *span)}
        finished = {*site.undamaged()} | site.crowd.damaged
        if site.block < last and rooms and rooms <= finished:
            break
        await asyncio.sleep(0.2)
    name = await connection.fetchval("SELECT pg_relation_filepath('entries')")
    await connection.close()
    site.crowd.damaged |= rooms
    await asyncio.to_thread(cluster.stop, "fast")
    with open(cluster.folder / name, "r+b") as file:
        file.seek(site.block * BLOCK)
        file.write(site.randomness.randbytes(BLOCK))
    await asyncio.to_thread(cluster.start)
    site.block += 1


# PostgreSQL.


def restarted(mode: str) -> Callable[[Site, int], Awaitable[None]]:
    async def restart(site: Site, n: int) -> None:
        assert site.cluster is not None
        await asyncio.to_thread(site.cluster.restart, mode)

    restart.__doc__ = f"PostgreSQL is restarted in mode {mode}."
    return restart


async def backends_ended(site: Site, n: int) -> None:
    """PostgreSQL ends all connections."""
    import asyncpg

    assert site.cluster is not None
    connection = await asyncpg.connect(site.cluster.url)
    await connection.execute(END_ALL)
    await connection.close()


async def database_cut(site: Site, n: int) -> None:
    """All connections between server and PostgreSQL are reset."""
    site.ports[1].cut()


async def database_frozen(site: Site, n: int) -> None:
    """Nothing passes between server and PostgreSQL for a while."""
    site.ports[1].freeze()
    await asyncio.sleep(site.randomness.choice((0.2, 1.0, 4.0)))
    site.ports[1].thaw()


class Fault(NamedTuple):
    """A fault, and the stores that have it."""

    happen: Callable[[Site, int], Awaitable[None]]
    stores: tuple[str, ...] = (SQLITE, POSTGRES)
    alone: bool = False  # players of other matches notice nothing
    workers: int = 2  # on PostgreSQL


FAULTS = {
    "server killed": Fault(killed),
    "process stopped and revived": Fault(stopped),
    "worker killed": Fault(worker_killed, (POSTGRES,)),
    "clients cut": Fault(clients_cut),
    "disk full": Fault(disk_full),
    "file deleted, moved or replaced": Fault(file_gone, (SQLITE,)),
    "row damaged": Fault(row_damaged, alone=True),
    "page damaged, SQLite": Fault(page_damaged, (SQLITE,), alone=True),
    "page damaged, PostgreSQL restarted": Fault(page_damaged, (POSTGRES,)),
    "PostgreSQL restarted (smart)": Fault(restarted("smart"), (POSTGRES,)),
    "PostgreSQL restarted (fast)": Fault(restarted("fast"), (POSTGRES,)),
    "PostgreSQL restarted (immediate)": Fault(restarted("immediate"), (POSTGRES,)),
    "backends ended": Fault(backends_ended, (POSTGRES,)),
    "database connections cut": Fault(database_cut, (POSTGRES,)),
    "database connections frozen": Fault(database_frozen, (POSTGRES,)),
}
PAIRS = [(name, store) for name, fault in FAULTS.items() for store in fault.stores]


@asynccontextmanager
async def opened(name: str, store: str, folder: Path) -> AsyncIterator[Site]:
    """A server for one fault."""
    disk = None
    cluster = None
    try:
        if store == POSTGRES:
            if name == "disk full":
                disk = _small_disk()
            cluster = await asyncio.to_thread(Postgres, None if disk is None else str(disk))
        site = Site(folder, cluster, FAULTS[name].workers if cluster else 1)
        if cluster is not None and name.startswith("database connections"):
            site.ports[1].target = cluster.port
            await site.ports[1].open()
            site.database = f"postgresql://duels@127.0.0.1:{site.ports[1].port}/duels"
        await asyncio.to_thread(site.start)
        url = site.server.url
        if name == "clients cut":
            site.ports[0].target = site.server.port
            await site.ports[0].open()
            url = f"http://127.0.0.1:{site.ports[0].port}"
        site.crowd = Crowd(url)
        try:
            yield site
        finally:
            site.server.kill()
            for proxy in site.ports:
                await proxy.close()
    finally:
        if cluster is not None:
            await asyncio.to_thread(cluster.remove)
        if disk is not None:
            subprocess.run(["umount", str(disk)], check=True)
            disk.rmdir()


def _small_disk() -> Path:
    """A disk of its own, which can be filled."""
    folder = tempfile.mkdtemp(prefix="duels-disk-")
    os.chmod(folder, 0o755)
    mount = ["mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", folder]
    made = subprocess.run(mount, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        os.rmdir(folder)
        raise Unusable(f"needs the right to mount a small disk: {made.stderr.strip()}")
    return Path(folder)


async def run_fault(name: str, store: str, times: int, pairs: int = 8) -> Crowd:
    """Let a fault happen so many times while pairs play; fails if anything was lost or repeated.

    A fault of single matches must not be noticed by the players of the others.
    """
    fault = FAULTS[name]
    with tempfile.TemporaryDirectory(prefix="duels-faults-") as folder:
        async with opened(name, store, Path(folder)) as site:
            crowd = site.crowd

            async def disturb(n: int) -> None:
                if n == 0:  # the players are there
                    await asyncio.wait_for(until_moves(crowd), HANGS)
                before = crowd.refused, crowd.reconnected
                await asyncio.wait_for(fault.happen(site, n), HANGS)
                await asyncio.wait_for(until_moves(crowd), HANGS)
                assert not fault.alone or (crowd.refused, crowd.reconnected) == before

            await through(crowd, disturb, times, pairs)
            if crowd.damaged:  # nothing of it is in memory any more
                assert await asyncio.to_thread(site.server.stop) == 0
                await site.restart()
                await crowd.check()
                assert crowd.lost_to_damage > 0
            assert await asyncio.to_thread(site.server.stop) == 0
            if store == POSTGRES and not crowd.damaged:
                assert site.cluster is not None
                await asyncio.to_thread(site.cluster.check)
            elif store == SQLITE and "page" not in name:
                with closing(sqlite3.connect(site.path)) as other:
                    assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return crowd
