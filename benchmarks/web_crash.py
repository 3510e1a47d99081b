"""Kill the server again and again while people play: was anything lost, or played twice?

`python benchmarks/web_crash.py --times 100`; with `--postgres` on a PostgreSQL of its own, which is
restarted in between, and with `--workers N` there.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.server.crashing import Crowd, through
from tests.server.postgres import Postgres
from tests.server.server import Process
from tests.server.test_stores import workers_of


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    cluster = Postgres() if args.postgres else None
    with tempfile.TemporaryDirectory() as folder:
        database = cluster.url if cluster else f"{folder}/duels.sqlite"
        more = ("--workers", str(args.workers)) if cluster else ()
        server = Process(database, *more)

        async def disturb(n: int) -> None:
            nonlocal server
            if cluster is None:
                server.kill()
                server = await asyncio.to_thread(Process, database, port=server.port)
            elif n % 5 == 4:
                await asyncio.to_thread(cluster.restart)
            else:
                workers = workers_of(server)
                os.kill(workers[n % len(workers)], signal.SIGKILL)
            if cluster is not None:  # a new worker takes a moment to be there
                await asyncio.sleep(random.uniform(0.5, 2.5))

        try:
            began = time.monotonic()
            crowd = Crowd(server.url)
            moves = asyncio.run(through(crowd, disturb, args.times, args.pairs))
            took = time.monotonic() - began
        finally:
            server.stop()
            if cluster:
                cluster.remove()
    matches = len(crowd.played)
    over = sum(match.over for match in crowd.played)
    print(
        f"{args.times} times disturbed in {took:.0f} s: {matches} matches, {over} over, "
        f"{moves} moves acknowledged, all kept once; {crowd.reconnected} reconnections, "
        f"{crowd.resent} moves sent again, {crowd.refused} refused for a while"
    )


if __name__ == "__main__":
    main()
