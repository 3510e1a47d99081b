"""How much one server carries: moves per second, time until both are told, memory per match.

The same client plays the same way against `duels serve` and against a boardgame.io server with a
game like it (benchmarks/boardgame: `npm install` there first), all on one machine:

    python benchmarks/web_load.py --peer benchmarks/boardgame     # both, and ours on two workers
    python benchmarks/web_load.py --live 5000                     # many matches, few moves each
    python benchmarks/web_load.py --postgres --workers 1 2 --worker-ports --matches 40

`--postgres` starts a PostgreSQL for the run; `--database` uses another one. With `--worker-ports`
the client chooses the worker by the id of the match, as a proxy does.

A match is two connections. Who is to move sends; when both players have been told, that is one
sample, and the other moves: at once (`--think 0`), or after a pause.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import uvloop

sys.path.insert(0, str(Path(__file__).parents[1]))

from duels.core.commitment_client import CommitmentClient
from tests.server.postgres import Postgres

ROOT = Path(__file__).parents[1]
IDLE = 3.0  # seconds in which no match moves
AGAIN = 0.05  # seconds after which a move that the peer has dropped is sent again


class Frames(asyncio.Protocol):
    """The least of a WebSocket client: frames of text in both directions, nothing else."""

    def __init__(self, host: str, path: str, on_text: Callable[[bytes], None]) -> None:
        self.host, self.path, self.on_text = host, path, on_text
        self.buffer = bytearray()
        self.open = asyncio.get_running_loop().create_future()
        self.transport: Any = None
        self.closed = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(
            f"GET {self.path} HTTP/1.1\r\nHost: {self.host}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def connection_lost(self, error: Exception | None) -> None:
        self.closed = True
        if not self.open.done():
            self.open.set_exception(ConnectionError("refused"))

    def data_received(self, data: bytes) -> None:
        buffer = self.buffer
        buffer += data
        if not self.open.done():
            end = buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            if b" 101 " not in buffer[:20]:
                self.open.set_exception(ConnectionError(buffer[:200].decode()))
                return
            del buffer[: end + 4]
            self.open.set_result(None)
        while len(buffer) >= 2:
            size, start = buffer[1] & 127, 2
            if size == 126:
                if len(buffer) < 4:
                    return
                size, start = struct.unpack_from(">H", buffer, 2)[0], 4
            elif size == 127:
                if len(buffer) < 10:
                    return
                size, start = struct.unpack_from(">Q", buffer, 2)[0], 10
            if len(buffer) < start + size:
                return
            kind, content = buffer[0] & 15, bytes(buffer[start : start + size])
            del buffer[: start + size]
            if kind == 1:
                self.on_text(content)
            elif kind == 9:
                self._write(0x8A, content)

    def send(self, text: bytes) -> None:
        self._write(0x81, text)

    def _write(self, first: int, text: bytes) -> None:
        if self.closed or self.transport.is_closing():
            return
        # A mask of zeros is a mask too, and costs nothing.
        size = len(text)
        head = bytes([first, 128 | size]) if size < 126 else struct.pack(">BBH", first, 254, size)
        self.transport.write(head + b"\0\0\0\0" + text)


class View(msgspec.Struct):
    """A view or its changes."""

    options: list[str] | None = None
    result: Any = None


class Told(msgspec.Struct):
    type: str
    moment: int = 0
    view: View | None = None
    changes: View | None = None
    ok: bool = True


read_told = msgspec.json.Decoder(Told).decode


class Meter:
    """Samples of one run."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.bytes = 0  # received
        self.running = True
        self.matches: list[Any] = []

    def line(self, took: float) -> dict[str, float]:
        found = sorted(self.seconds)
        p50, p99 = (1000 * found[int(share * len(found))] for share in (0.5, 0.99))
        return {
            "moves/s": round(len(found) / took), "p50 ms": round(p50, 1), "p99 ms": round(p99, 1),
            "moves": len(found), "seconds": round(took, 1),
            "bytes/move": round(self.bytes / len(found)),
        }  # fmt: skip


class Match:
    """Two connections that move in turn; each server's way of speaking is in a subclass."""

    def __init__(self, meter: Meter, think: float) -> None:
        self.meter, self.think = meter, think
        self.sides: list[Frames] = []
        self.told = [0, 0]  # how far each was told
        self.sent, self.at = 0.0, 0  # when the last move was sent, and what it leads to
        meter.matches.append(self)

    def both_told(self) -> None:
        """A move is with both: count it, and let the next one come."""
        if self.sent and min(self.told) >= self.at:
            self.meter.seconds.append(time.perf_counter() - self.sent)
            self.sent = 0.0
            if self.meter.running:
                if self.think:
                    pause = random.uniform(0.5, 1.5) * self.think
                    asyncio.get_running_loop().call_later(pause, self.move)
                else:
                    self.move()

    def move(self) -> None:
        raise NotImplementedError


class Ours(Match):
    def __init__(self, meter: Meter, think: float) -> None:
        super().__init__(meter, think)
        self.options: list[list[str]] = [[], []]
        self.started = asyncio.get_running_loop().create_future()
        self.clients: list[CommitmentClient | None] = [None, None]

    async def begin(self, http: httpx.AsyncClient, host: str, ports: list[int]) -> None:
        keys = [os.urandom(24).hex()[:43] for _ in range(2)]
        headers = [{"Authorization": f"Bearer {key}"} for key in keys]
        body = {"game": "number-wars", "options": {"lp": "999"}, "seat": 1}
        made = (await http.post("/api/matches", json=body, headers=headers[0])).json()
        id = made["id"]
        port = ports[zlib.crc32(id.encode()) % len(ports)]
        join = f"http://{host}:{port}/api/matches/{id}/join"
        await http.post(join, json={}, headers=headers[1])
        loop = asyncio.get_running_loop()
        for seat in (0, 1):
            side = Frames(host, f"/ws/{id}", partial(self.hear, seat))
            self.sides.append(side)
            await loop.create_connection(partial(_same, side), host, port)
            await side.open
            hello = {"type": "hello", "key": keys[seat], "since": 0, "changes": True}
            side.send(msgspec.json.encode(hello))
        await self.started

    def hear(self, seat: int, text: bytes) -> None:
        self.meter.bytes += len(text)
        if text.startswith((b'{"type":"welcome"', b'{"type":"match"')):
            match = msgspec.json.decode(text)["match"]
            client = self.clients[seat] = self.clients[seat] or CommitmentClient.of(match)
            command = None if client is None else client.see(match)
            if command is not None:
                self.sides[seat].send(msgspec.json.encode({**command, "id": command["type"]}))
            return
        if not text.startswith(b'{"type":"update"'):
            if b'"ok":false' in text or text.startswith((b'{"type":"ref', b'{"type":"bye')):
                raise SystemExit(text.decode()[:300])
            return
        frame = read_told(text)
        view = frame.view or frame.changes
        assert view is not None
        self.told[seat] = frame.moment
        if view.options is not None:
            self.options[seat] = view.options
        if not self.started.done() and all(self.sides) and len(self.sides) == 2:
            self.started.set_result(None)
        if view.result is None:
            self.both_told()
        else:
            self.sent = 0.0

    def move(self) -> None:
        seat = 0 if self.options[0] else 1
        if not self.options[seat]:
            return
        self.at, self.sent = self.told[seat] + 1, time.perf_counter()
        move, at = random.choice(self.options[seat]), self.told[seat]
        frame = b'{"type":"move","id":"m%d","at":%d,"move":"%s"}' % (at, at, move.encode())
        self.options[seat] = []
        self.sides[seat].send(frame)


class State(msgspec.Struct):
    id: int = msgspec.field(name="_stateID")


class Theirs(Match):
    """boardgame.io: socket.io by hand over a WebSocket."""

    def __init__(self, meter: Meter, think: float) -> None:
        super().__init__(meter, think)
        self.synced = [asyncio.get_running_loop().create_future() for _ in range(2)]
        self.turn, self.id = 0, ""
        self.unused = [list(range(1, 11)), list(range(1, 11))]
        self.keys: list[str] = []

    async def begin(self, http: httpx.AsyncClient, host: str, ports: list[int]) -> None:
        made = await http.post("/games/wars/create", json={"numPlayers": 2})
        self.id = made.json()["matchID"]
        for seat in (0, 1):
            body = {"playerID": str(seat), "playerName": f"P{seat}"}
            found = await http.post(f"/games/wars/{self.id}/join", json=body)
            self.keys.append(found.json()["playerCredentials"])
        loop = asyncio.get_running_loop()
        path = "/socket.io/?EIO=4&transport=websocket"
        for seat in (0, 1):
            side = Frames(host, path, partial(self.hear, seat))
            self.sides.append(side)
            await loop.create_connection(partial(_same, side), host, ports[0])
            await side.open
            await self.synced[seat]

    def hear(self, seat: int, text: bytes) -> None:
        self.meter.bytes += len(text)
        if text == b"2":
            self.sides[seat].send(b"3")
        elif text.startswith(b"0"):
            self.sides[seat].send(b"40/wars,")
        elif text.startswith(b"40/wars,"):
            message = ["sync", self.id, str(seat), self.keys[seat], 2]
            self.sides[seat].send(b"42/wars," + msgspec.json.encode(message))
        elif text.startswith(b'42/wars,["sync"'):
            if not self.synced[seat].done():
                self.synced[seat].set_result(None)
        elif text.startswith(b'42/wars,["update"'):
            found = msgspec.json.decode(text[8:], type=tuple[str, str, State, Any])
            self.told[seat] = found[2].id
            self.both_told()
        elif text.startswith(b'42/wars,["patch"'):
            self.told[seat] = msgspec.json.decode(text[8:], type=list[Any])[3]
            self.both_told()

    def move(self) -> None:
        seat = self.turn
        self.turn = 1 - seat
        number = self.unused[seat].pop(random.randrange(len(self.unused[seat])))
        self.unused[seat] = self.unused[seat] or list(range(1, 11))
        state = max(self.told)
        payload = {
            "type": "attack", "args": [number], "playerID": str(seat),
            "credentials": self.keys[seat],
        }  # fmt: skip
        action = {"type": "MAKE_MOVE", "payload": payload}
        message = ["update", action, state, self.id, str(seat)]
        self.at, self.sent = state + 1, time.perf_counter()
        frame = b"42/wars," + msgspec.json.encode(message)
        self.sides[seat].send(frame)
        asyncio.get_running_loop().call_later(AGAIN, self.again, seat, self.at, frame)

    def again(self, seat: int, at: int, frame: bytes) -> None:
        """It tells of a move before it is in its files, and drops an answer that comes sooner."""
        if self.sent and self.at == at and min(self.told) < at and self.meter.running:
            self.sides[seat].send(frame)
            asyncio.get_running_loop().call_later(AGAIN, self.again, seat, at, frame)


def _same(side: Frames) -> Frames:
    return side


def memory(pids: list[int]) -> int:
    """Bytes that processes have to themselves, together."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith(("Private_Clean", "Private_Dirty")):
                total += 1024 * int(line.split()[1])
    return total


def processor(pids: list[int]) -> float:
    """Seconds of processor time that processes have used, together: other load does not count."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def database_pid(address: str) -> int | None:
    """The PostgreSQL on this machine that listens on the port of an address."""
    port = str(urlsplit(address).port)
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = place.read_bytes().decode().split("\0")
            if "postgres" in words[0] and "-p" in words and words[words.index("-p") + 1] == port:
                return int(place.parent.name)
    return None


def family(pid: int | None) -> list[int]:
    if pid is None:
        return []
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [pid, *(int(child) for child in found.stdout.split())]


async def drive(
    kind: type[Match], ports: list[int], pid: int, database: int | None, matches: int, think: float,
    seconds: float,
) -> dict[str, float]:  # fmt: skip
    """Set up so many matches, let them be played, and say how that went."""

    def used() -> tuple[float, float, float, float]:
        return (
            processor(family(pid)), processor(family(database)), time.process_time(),
            time.perf_counter(),
        )  # fmt: skip

    meter = Meter()
    empty, began = memory(family(pid)), processor(family(pid))
    limits = httpx.Limits(max_connections=20)
    base = f"http://127.0.0.1:{ports[0]}"
    async with httpx.AsyncClient(base_url=base, limits=limits, timeout=120) as http:
        queue = iter(range(matches))

        async def some() -> None:
            for _ in queue:
                made: Any = kind(meter, think)
                await made.begin(http, "127.0.0.1", ports)

        await asyncio.gather(*(some() for _ in range(10)))
    set_up = processor(family(pid)) - began
    await asyncio.sleep(1.0)
    idle, rest = memory(family(pid)), processor(family(pid))
    await asyncio.sleep(IDLE)
    rest = processor(family(pid)) - rest
    meter.bytes = 0
    before = used()
    for n, match in enumerate(meter.matches):
        pause = think * n / matches
        asyncio.get_running_loop().call_later(pause, match.move)
    if think:
        await asyncio.sleep(think)
        meter.seconds.clear()
        meter.bytes = 0
        before = used()
    await asyncio.sleep(seconds)
    *spent, took = (now - then for now, then in zip(used(), before, strict=True))
    meter.running = False
    line = meter.line(took)
    for name, seconds in zip(("CPU us/move", "database's", "client's"), spent, strict=True):
        line[name] = round(1e6 * seconds / max(1, line["moves"]))
    line["CPU ms/start"] = round(1000 * set_up / matches, 1)
    line["idle CPU ms/s"] = round(1000 * rest / IDLE, 1)
    busy = memory(family(pid))
    await asyncio.sleep(0.5)
    lost = sum(side.closed for match in meter.matches for side in match.sides)
    line |= {
        "matches": matches, "KB/match idle": round((idle - empty) / matches / 1024, 1),
        "KB/match busy": round((busy - empty) / matches / 1024, 1), "lost connections": lost,
    }  # fmt: skip
    for match in meter.matches:
        for side in match.sides:
            side.transport.abort()
    return line


def start(command: list[str], ready: str, **settings: Any) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **settings)
    assert process.stdout is not None
    for line in process.stdout:
        if ready in line:
            return process, line
    raise SystemExit(f"{command[0]} did not start")


def ours(database: str, workers: int, worker_ports: bool, *given: Any) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        where = database or f"{folder}/duels.sqlite"
        command = [sys.executable, "-m", "duels", "serve", "--port", "0", "--no-limits"]
        command += ["--database", where, "--workers", str(workers)]
        worker_ports = worker_ports and workers > 1
        command += ["--worker-ports"] * worker_ports
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        process, line = start(command, "Serving Duels on", env=env, cwd=ROOT)
        time.sleep(2.0)
        try:
            port = int(line.split()[3].rpartition(":")[2])
            ports = [port + 1 + n for n in range(workers)] if worker_ports else [port]
            return uvloop.run(drive(Ours, ports, process.pid, database_pid(database), *given))
        finally:
            process.terminate()
            process.wait()


def theirs(peer: str, kind: str, *given: Any) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        port = 8459
        command = ["node", "server.js", str(port), kind, folder]
        process, _ = start(command, "serving", cwd=peer, stderr=subprocess.DEVNULL)
        time.sleep(1.0)
        try:
            return uvloop.run(drive(Theirs, [port], process.pid, None, *given))
        finally:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matches", type=int, default=100, help="that move without a pause")
    parser.add_argument("--live", type=int, help="matches with pauses instead")
    parser.add_argument("--think", type=float, default=10.0, help="seconds of a pause, with --live")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--peer", help="folder of the boardgame.io server, installed")
    parser.add_argument("--only-peer", action="store_true")
    parser.add_argument("--database", default="")
    parser.add_argument("--postgres", action="store_true", help="start one for this run")
    parser.add_argument("--worker-ports", action="store_true", help="the client chooses the worker")
    parser.add_argument("--workers", type=int, nargs="+", default=[1], help="one run for each")
    parser.add_argument("--rounds", type=int, default=1, help="of all in turn; then the medians")
    args = parser.parse_args()
    if not args.postgres:
        compare(args)
        return
    server = Postgres()
    try:
        args.database = server.url
        compare(args)
    finally:
        server.remove()


def compare(args: argparse.Namespace) -> None:
    """Run all in turn, and print what each did."""
    given = (args.live or args.matches, args.think if args.live else 0.0, args.seconds)
    runs: dict[str, Callable[[], dict[str, float]]] = {}
    if not args.only_peer:
        where = args.database.partition(":")[0] or "sqlite"
        for workers in args.workers:
            name = f"duels, {where}, {workers} worker{'s' * (workers > 1)}"
            runs[name] = partial(ours, args.database, workers, args.worker_ports, *given)
    if args.peer:
        for kind in ("memory", "files"):
            runs[f"boardgame.io, {kind}"] = partial(theirs, args.peer, kind, *given)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in runs}
    for _ in range(args.rounds):
        for name, run in runs.items():
            found[name].append(run())
            show(name, found[name][-1])
    if args.rounds > 1:
        print("medians, and moves per second beside the first of the same round")
        first = next(iter(found.values()))
        for name, lines in found.items():
            ratios = [b["moves/s"] / a["moves/s"] for a, b in zip(first, lines, strict=True)]
            median = {key: statistics.median(line[key] for line in lines) for key in lines[0]}
            show(name, {**median, "ratio": round(statistics.median(ratios), 2)})


def show(name: str, line: dict[str, float]) -> None:
    print(f"{name:32}", *(f"{key} {value:g}" for key, value in line.items()), sep="  ", flush=True)


if __name__ == "__main__":
    main()
