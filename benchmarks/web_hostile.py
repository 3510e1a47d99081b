"""What a hostile client costs other players: latency of their moves, quiet and during each flood.

A server with its usual limits, players at addresses of their own (127.0.0.2 and following), and a
hostile client at 127.0.0.1, in a process of its own with a low priority, since its processor time
would not be that of the server. Every flood is bounded in time and in what is open at once.

    python benchmarks/web_hostile.py
    python benchmarks/web_hostile.py --only images --seconds 20

The latency of a move is the time until the opponent has it; that of a computer player, until it has
moved. A ratio is that of the values during the flood to those of the quiet time right before it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from websockets.asyncio.client import connect

from duels.client.identity import new_key
from tests.server.server import Person, Process, Seated

HOST = "127.0.0.1"
PAIRS = 6  # matches between players
THINK = 0.15  # seconds on average between two moves of a match
SEARCHER = "ismcts"
GOAL = 3.0
DONE: list[None] = []  # what the hostile client has repeated
HALF = b"GET / HTTP/1.1\r\nHost: duels\r\nX-Header: "


# Players.


def client(port: int, address: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=f"http://{HOST}:{port}", timeout=60,
        transport=httpx.AsyncHTTPTransport(local_address=address),
    )  # fmt: skip


async def sit(port: int, address: str, id: str, key: str) -> Seated:
    opened = await connect(f"ws://{HOST}:{port}/ws/{id}", compression=None, local_addr=(address, 0))
    seated = Seated(opened, key)
    await seated.hello()
    await seated.agree()
    return seated


class Samples:
    """Latencies in milliseconds."""

    def __init__(self) -> None:
        self.running = True
        self.values: list[float] = []

    def add(self, began: float) -> None:
        self.values.append(1000 * (time.perf_counter() - began))

    def quantile(self, share: float) -> float:
        found = sorted(self.values)
        return found[min(len(found) - 1, int(share * len(found)))] if found else float("nan")


async def pair(port: int, address: str, samples: Samples) -> None:
    """Two players of one match, who move in turn with pauses."""
    async with client(port, address) as http:
        one, two = (Person(http, "", new_key()) for _ in range(2))
        id = (await one.create("number-wars", seat=1, options={"lp": "999"}))["id"]
        await two.join(id)
        seats = [await sit(port, address, id, person.key) for person in (one, two)]
        for seat in seats:
            await seat.started()
        while samples.running:
            mover = 0 if seats[0].view["options"] else 1
            at, move = seats[mover].moment, random.choice(seats[mover].view["options"])
            began = time.perf_counter()
            await seats[mover].send(type="move", id=f"m{at}", at=at, move=move)
            await seats[1 - mover].until("update", moment=at + 1)
            samples.add(began)
            await seats[mover].until("answer", id=f"m{at}")
            await asyncio.sleep(random.uniform(0.5, 1.5) * THINK)
        for seat in seats:
            await seat.close()


async def against_searcher(port: int, address: str, samples: Samples) -> None:
    """A player who plays a computer player that searches, match after match."""
    async with client(port, address) as http:
        ada = Person(http, "", new_key())
        while samples.running:
            try:
                made = await ada.create("firewall-breach", opponent=SEARCHER)
            except AssertionError:  # too many matches: refused
                await asyncio.sleep(1.0)
                continue
            seat = await sit(port, address, made["id"], ada.key)
            while samples.running and await seat.choosing():
                began, at = time.perf_counter(), seat.moment
                move = random.choice(seat.view["options"])
                await seat.send(type="move", id=f"m{at}", at=at, move=move)
                await seat.until("answer", id=f"m{at}")
                while not seat.view["options"] and seat.view["result"] is None:
                    await seat.receive()
                samples.add(began)
                DONE.append(None)
                await asyncio.sleep(random.uniform(0.5, 1.5) * THINK)
            await seat.close()


async def played(
    port: int, seconds: float, kind: Callable[[int, str, Samples], Awaitable[None]], count: int
) -> Samples:
    samples = Samples()
    players = [asyncio.ensure_future(kind(port, f"127.0.0.{n + 2}", samples)) for n in range(count)]
    await asyncio.sleep(seconds)
    samples.running = False
    await asyncio.gather(*players)
    return samples


# The hostile client.


async def opened(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.wait_for(asyncio.open_connection(HOST, port), 10)


async def answered(port: int, request: bytes) -> None:
    """Send a request on a new connection, and close it after the headers of the response."""
    reader, writer = await opened(port)
    try:
        writer.write(request)
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    finally:
        writer.close()


async def repeated(count: int, work: Callable[[], Awaitable[Any]]) -> None:
    """Repeat something with `count` clients at once, without end."""

    async def one() -> None:
        while True:
            with suppress(OSError, TimeoutError, EOFError):
                await work()
            DONE.append(None)

    await asyncio.gather(*(one() for _ in range(count)))


async def held(port: int, count: int, start: bytes) -> None:
    """Keep `count` connections open that have sent only the start of a request."""

    async def one() -> None:
        reader, writer = await opened(port)
        try:
            writer.write(start)
            await reader.read()
        finally:
            writer.close()
        await asyncio.sleep(1.0)

    await repeated(count, one)


async def headers(port: int) -> None:
    """Send 16 MB of headers on each of 6 connections."""

    async def one() -> None:
        _, writer = await opened(port)
        try:
            writer.write(HALF)
            for _ in range(256):
                writer.write(b"x" * 65536)
                await writer.drain()
        finally:
            writer.close()

    await repeated(6, one)


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: duels\r\nConnection: close\r\n\r\n".encode()


async def images(port: int) -> None:
    async with client(port, HOST) as http:
        id = (await Person(http, "", new_key()).create("digit-duel"))["id"]
    await repeated(40, lambda: answered(port, get(f"/match/{id}/picture.png")))


async def pipelined(port: int) -> None:
    await repeated(10, lambda: answered(port, 5000 * b"GET / HTTP/1.1\r\nHost: duels\r\n\r\n"))


async def handshakes(port: int) -> None:
    head = (
        f"GET /ws/{'A' * 22} HTTP/1.1\r\nHost: duels\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()
    await repeated(40, lambda: answered(port, head))


async def searchers(port: int) -> None:
    """Play twenty matches at once against a computer player that searches."""
    samples = Samples()
    await asyncio.gather(*(against_searcher(port, HOST, samples) for _ in range(20)))


FLOODS: dict[str, tuple[str, Callable[[int], Awaitable[None]]]] = {
    "idle": ("1,300 idle connections", lambda port: held(port, 1300, b"")),
    "half": ("700 half-sent requests", lambda port: held(port, 700, HALF)),
    "headers": ("16 MB of headers, 6 at once", headers),
    "images": ("one image, 40 clients", images),
    "pages": ("one page, 40 clients", lambda port: repeated(40, lambda: answered(port, get("/")))),
    "pipelined": ("5,000 requests at once, 10 clients", pipelined),
    "handshakes": ("WebSocket handshakes, 40 clients", handshakes),
    "searchers": (f"20 matches with {SEARCHER}", searchers),
}


def attack(name: str, port: int, seconds: float) -> None:
    """Run a flood for a time; called in the process of the hostile client."""
    os.nice(10)

    def stop(*_: Any) -> None:  # `wait_for` may lose a cancellation, so that none is used
        print(f"{len(DONE)} times", flush=True)
        os._exit(0)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    asyncio.run(FLOODS[name][1](port))  # type: ignore[arg-type]


# Measurement.


def measured(name: str, seconds: float) -> list[float]:
    """The p50 and p99 of a quiet time, and of the time of a flood."""
    kind, count = (against_searcher, 1) if name == "searchers" else (pair, PAIRS)
    with tempfile.TemporaryDirectory() as folder:
        server = Process(
            str(Path(folder) / "duels.sqlite"), "--computer-delay", "0.001", limits=True
        )  # fmt: skip
        try:
            asyncio.run(played(server.port, 2.0, kind, count))  # everything is loaded
            quiet = asyncio.run(played(server.port, seconds, kind, count))
            hostile = subprocess.Popen(
                [sys.executable, __file__, "--attack", name, "--port", str(server.port),
                 "--seconds", str(seconds + 6)], stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            time.sleep(4.0)  # until the flood is under way
            flooded = asyncio.run(played(server.port, seconds, kind, count))
            said, _ = hostile.communicate()
            metrics = httpx.get(f"{server.url}/metrics", timeout=60).text
            refused = metrics.partition("\nduels_limited_total ")[2].split()[0]
            print(
                f"  {name}: {len(quiet.values)} and {len(flooded.values)} moves; hostile client:"
                f" {said.strip()}; refused: {float(refused):.0f}", file=sys.stderr,
            )  # fmt: skip
        finally:
            server.stop()
    return [run.quantile(share) for run in (quiet, flooded) for share in (0.5, 0.99)]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--only", choices=FLOODS, nargs="+", default=list(FLOODS))
    parser.add_argument("--attack", choices=FLOODS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.attack:
        attack(given.attack, given.port, given.seconds)
        return 0
    worst = 0.0
    print("| flood | quiet p50 / p99 ms | flood p50 / p99 ms | ratio p50 | ratio p99 |")
    print("|---|---|---|---|---|")
    for name in given.only:
        a, b, c, d = measured(name, given.seconds)
        worst = max(worst, d / b)
        print(
            f"| {FLOODS[name][0]} | {a:.1f} / {b:.1f} | {c:.1f} / {d:.1f} | {c / a:.1f} |"
            f" {d / b:.1f} |", flush=True,
        )  # fmt: skip
    print(f"worst ratio of p99: {worst:.1f}; goal: at most {GOAL:g}")
    return 0 if worst <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
