"""What a server for many players needs, from the measured costs of a move and of a match.

    python benchmarks/capacity.py              # the table, from benchmarks/data/capacity.json
    python benchmarks/capacity.py --measure    # measure the costs on this machine, and record them

Rooms are placed on workers by consistent hashing, as nginx does it, so that the busiest worker has
more than its share. Workers are added until the busiest one is within all limits.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import sys
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

DATA = Path(__file__).parent / "data" / "capacity.json"
SIZES = (1_000, 10_000, 100_000, 1_000_000)  # players at the same time
SECONDS_PER_MOVE, MOVES = 10.0, 40  # of a match
BUSY = 0.6  # share of a processor's time that may be used: the rest is for peaks
CORES, MEMORY = 8, 16e9  # of a machine for workers, with a worker per core
DATABASE_CORES = 16
CONNECTIONS = 20_000  # of a worker, the default limit
NETWORK = 1e9  # bits per second of a machine
POINTS = 160  # of a worker on the ring of nginx


class Costs(NamedTuple):
    """What was measured."""

    move: float  # microseconds of a worker's CPU time, without what an idle worker uses
    database_move: float  # microseconds of the database's CPU time
    start: float  # milliseconds of a worker's CPU time to begin a match
    idle: float  # milliseconds of CPU time that a worker without moves uses in a second
    memory: float  # KB of a match with two connections
    sent: float  # bytes per move, to both clients
    stored: float  # bytes in the database per move
    rated: float  # milliseconds to rate a match: one at a time, in all workers together
    two: float  # microseconds of CPU time per move of two workers, idle time included
    two_rate: float  # moves per second of these


class Plan(NamedTuple):
    """What one size needs, and the share of each limit that it uses."""

    players: int
    moves: float  # per second
    workers: int
    machines: int
    share: float  # of the rooms, on the busiest worker, as a multiple of the mean
    wait: float  # mean milliseconds for which a move waits there
    uses: dict[str, float]

    @property
    def first(self) -> str:
        """The limit that is reached first."""
        return max(self.uses, key=lambda name: self.uses[name])


@cache
def busiest(workers: int) -> float:
    """The share of all rooms that the busiest worker gets from consistent hashing."""
    ring = sorted(
        (int.from_bytes(hashlib.md5(f"{worker}-{point}".encode()).digest()[:4], "big"), worker)
        for worker in range(workers)
        for point in range(POINTS)
    )
    arcs = [0] * workers
    before = ring[-1][0] - 2**32
    for place, worker in ring:
        arcs[worker] += place - before
        before = place
    return max(arcs) / 2**32


def plan(costs: Costs, players: int) -> Plan:
    """Workers are added until the busiest one is within its limits."""
    matches = players / 2
    moves = matches / SECONDS_PER_MOVE
    starts = moves / MOVES  # and as many ends
    cpu = moves * costs.move / 1e6 + starts * costs.start / 1e3
    workers = 1
    while True:
        share = busiest(workers)
        busy = cpu * share + costs.idle / 1e3
        on_machine = min(1.0, share * CORES)
        uses = {
            "CPU of a worker": busy / BUSY,
            "connections of a worker": players * share / CONNECTIONS,
            "memory of a machine": matches * on_machine * costs.memory * 1024 / MEMORY,
            "network of a machine": moves * on_machine * costs.sent * 8 / NETWORK,
        }
        if max(uses.values()) <= 1:
            break
        workers = max(workers + 1, math.floor(workers * min(max(uses.values()), 2) * 0.9))
    uses["CPU of the database"] = moves * costs.database_move / 1e6 / DATABASE_CORES / BUSY
    uses["ratings"] = starts * costs.rated / 1e3 / BUSY
    wait = costs.move / 1e3 * busy / (2 * (1 - busy))  # a queue with equal service times
    machines = math.ceil(workers / CORES)
    return Plan(players, moves, workers, machines, share * workers, wait, uses)


def two_workers(costs: Costs) -> float:
    """The CPU time per move that the simulation expects of two workers, at the measured rate."""
    return costs.move + 2 * costs.idle * 1e3 / costs.two_rate


def table(costs: Costs) -> str:
    """The plans of all sizes as a table."""
    plans = [plan(costs, players) for players in SIZES]
    rows = [["players at the same time", *(f"{one.players:,}" for one in plans)]]
    rows.append(["moves per second", *(f"{one.moves:,.0f}" for one in plans)])
    rows.append(["workers", *(f"{one.workers}" for one in plans)])
    rows.append([f"machines of {CORES} cores", *(f"{one.machines}" for one in plans)])
    rows.append(["rooms of the busiest worker", *(f"{one.share:.2f} × mean" for one in plans)])
    rows.append(["mean wait of a move there", *(f"{one.wait:.1f} ms" for one in plans)])
    day = 86400 * costs.stored / 1e9
    rows.append(["stored per day", *(f"{one.moves * day:,.1f} GB" for one in plans)])
    for name in plans[0].uses:
        rows.append([f"{name}, used", *(f"{one.uses[name]:.0%}" for one in plans)])
    rows.append(["first limit", *(one.first for one in plans)])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    expected = two_workers(costs)
    return "\n".join(
        [
            lines[0], "|---|" + "---:|" * len(SIZES), *lines[1:], "",
            f"Two workers at {costs.two_rate:.0f} moves per second: {expected:.0f} µs of CPU time"
            f" per move expected, {costs.two:.0f} µs measured.",
        ]
    )  # fmt: skip


def measure(matches: int, seconds: float, rounds: int) -> Costs:
    """Measure the costs with PostgreSQL, which this starts."""
    from statistics import median

    from web_load import ours

    from tests.server.postgres import Postgres

    server = Postgres()
    try:
        given = matches, 0.0, seconds
        one, two = [], []
        for _ in range(rounds):
            one.append(ours(server.url, 1, False, *given))
            two.append(ours(server.url, 2, True, *given))
        rated = asyncio.run(rating(server.new_database()))
    finally:
        server.remove()
    found = {name: median(line[name] for line in one) for name in one[0]}
    idle = found["idle CPU ms/s"]
    return Costs(
        move=round(found["CPU us/move"] - idle * 1e3 / found["moves/s"], 1),
        database_move=found["database's"], start=found["CPU ms/start"], idle=idle,
        memory=found["KB/match idle"], sent=found["bytes/move"],
        stored=round(asyncio.run(stored()), 1), rated=round(rated, 2),
        two=median(line["CPU us/move"] for line in two),
        two_rate=median(line["moves/s"] for line in two),
    )  # fmt: skip


async def rating(database: str, matches: int = 100) -> float:
    """Milliseconds to rate a finished match."""
    from duels.client.identity import digest, new_room_id, public_id
    from duels.games import load
    from duels.server.app import store_of
    from duels.server.ratings import rate_all
    from duels.server.storage.base import HUMAN, OVER, Row, Save, StoredSeat

    store = store_of(database)
    await store.open()
    result = {"type": "result", "winner": 1, "by": "rules", "reason": ""}
    for number in range(matches):
        seats: list[StoredSeat | None] = []
        for seat in (0, 1):
            key = digest(f"{number} {seat}")
            seats.append(StoredSeat(HUMAN, "Guest", public_id(key), key))
        row = Row(new_room_id(), "number-wars", {}, 0.0, "1", seats, state=OVER, result=result)
        row.ended = float(number)
        await store.save(Save(row))
    began = time.perf_counter()
    counted = await rate_all(store, load)
    took = time.perf_counter() - began
    await store.close()
    assert counted == matches
    return 1e3 * took / matches


async def stored(matches: int = 40) -> float:
    """Bytes of a database per move of matches with `MOVES` moves, with all that is stored."""
    import os
    import sqlite3
    import tempfile

    from web_memory import some

    from duels.server.room_manager import RoomManager
    from duels.server.settings import Settings
    from duels.server.storage.sqlite import SqliteStore

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/duels.sqlite"
        manager = RoomManager(Settings(path), SqliteStore(path))
        await manager.open()
        made: list[str] = []
        await some(manager, "number-wars", matches, made, MOVES)
        moves = sum(manager.rooms[id].row.moment for id in made)
        await manager.close()
        with sqlite3.connect(path) as connection:
            connection.execute("VACUUM")
        connection.close()
        return os.path.getsize(path) / moves


def read() -> Costs:
    """The recorded costs."""
    return Costs(**json.loads(DATA.read_text()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--matches", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if args.measure:
        costs = measure(args.matches, args.seconds, args.rounds)
        DATA.write_text(json.dumps(costs._asdict(), indent=2) + "\n")
    print(table(read()))


if __name__ == "__main__":
    main()
