"""Does the time until the others are told of a sealed pick depend on the pick?

Two picks in random order against a real server, each in a match of its own: when do the opponent
and a spectator have the frame? The rank test of Mann and Whitney says how likely it is that times
differ as much by chance alone. So that a high figure means something, the same is done with servers
in which the second pick takes longer by a known time. A TMPDIR in memory leaves out the disk.

`python benchmarks/web_timing.py --count 1000 --delays 0 50 100 200`
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from scipy.stats import mannwhitneyu  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).parents[1]))

from duels.core.match import Match
from duels.games import load
from tests.server.hidden import FIXED, KEYS, prepare
from tests.server.raw import come
from tests.server.server import Process

SEALED = b'"sealed":[1]'
Times = dict[str, list[tuple[float, float]]]


def measured(count: int, picks: tuple[str, str], delay: float) -> Times:
    """For each pick the microseconds until the opponent, and then also a spectator, is told."""
    order = [*picks] * count
    random.shuffle(order)
    game = load("number-clash")
    found: Times = {pick: [] for pick in picks}
    plant = ("--plant", "delay", "--move", picks[1], "--delay", str(delay)) if delay else ()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "duels.sqlite"
        made = [Match(game, 7, now=FIXED.now, id="x", players=("a", "b")) for _ in order]
        ids = prepare(path, made)
        server = Process(str(path), *plant, program=("tests.server.fixed",))
        try:
            for id, pick in zip(ids, order, strict=True):
                keys = KEYS[1], None, KEYS[0]
                opponent, spectator, picker = (come(server.port, id, key) for key in keys)
                opponent.command("ping", "x"), spectator.command("ping", "x")
                began = time.perf_counter()
                picker.send(type="move", id="m", at=0, move=pick)
                opponent.until(SEALED)
                first = time.perf_counter()
                spectator.until(SEALED)
                both = time.perf_counter()
                found[pick].append((1e6 * (first - began), 1e6 * (both - began)))
                for socket in (opponent, spectator, picker):
                    socket.close()
        finally:
            server.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="of each pick")
    parser.add_argument("--picks", nargs=2, default=["1", "10"])
    parser.add_argument("--delays", nargs="+", type=float, default=[0, 50, 100, 200])
    args = parser.parse_args()
    one, two = args.picks
    print(f"{args.count} times {one} and {args.count} times {two}, microseconds")
    for delay in args.delays:
        times = measured(args.count, (one, two), delay)
        for n, who in enumerate(("opponent", "both")):
            sides = [[pair[n] for pair in times[pick]] for pick in (one, two)]
            medians = " ".join(f"{statistics.median(side):.0f}" for side in sides)
            p = mannwhitneyu(*sides).pvalue
            print(f"planted {delay:4.0f}, until {who:8} told: medians {medians}, p = {p:.2g}")


if __name__ == "__main__":
    main()
