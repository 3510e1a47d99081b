"""Plays and checks random matches: the figures in docs/explanation/verification.md.

    python3 tools/soak.py [--games N] [--workers N] [GAME…]

Every match must end; its record is replayed for one match in a hundred, with every check of the
conformance suite.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.core.conformance import VIEWERS, check_no_leak, check_replay, check_state, play_randomly
from duels.core.game import Pick
from duels.games import BUILT_IN, load

BATCH = 500


def batch(slug: str, start: int) -> Counter[str]:
    """Play a batch of matches; count how they ended and how long they were."""
    game = load(slug)
    counts: Counter[str] = Counter()
    for seed in range(start, start + BATCH):
        randomness = Random(seed)
        match = play_randomly(game, seed, randomness)
        assert match.result is not None
        winner = "draw" if match.result.winner is None else f"player {match.result.winner + 1}"
        counts[winner if match.result.by == "rules" else match.result.by] += 1
        decisions = sum(isinstance(match.events[number], Pick) for number in match.line)
        counts["decisions"] += decisions
        counts["longest"] = max(counts["longest"], decisions)
        if seed % 100 == 0:
            for number in range(len(match.events)):
                check_state(game, match.state_before(number))
            check_replay(match)
            counts["doubles"] += sum(check_no_leak(match, v, randomness) for v in VIEWERS)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description="play random matches and check them")
    parser.add_argument("--games", type=int, default=100_000, help="matches of each game")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("game", nargs="*", metavar="GAME")
    given = parser.parse_args()
    print("| game | matches | Player 1 | Player 2 | draws | limit | mean choices | longest |")
    print("|---|---|---|---|---|---|---|---|")
    for slug in given.game or BUILT_IN:
        total: Counter[str] = Counter()
        longest, began = 0, time.monotonic()
        starts = range(0, given.games, BATCH)
        with ProcessPoolExecutor(given.workers) as pool:
            jobs = [pool.submit(batch, slug, start) for start in starts]
            for done, job in enumerate(as_completed(jobs), 1):
                counts = job.result()
                longest = max(longest, counts.pop("longest"))
                total += counts
                left = (time.monotonic() - began) / done * (len(jobs) - done)
                bar = "#" * (30 * done // len(jobs))
                print(f"\r{slug} [{bar:<30}] {left:4.0f} s left", end="", file=sys.stderr)
        print(file=sys.stderr)
        games = len(starts) * BATCH
        print(
            f"| {slug} | {games:,} | {total['player 1'] / games:.3f} "
            f"| {total['player 2'] / games:.3f} | {total['draw'] / games:.3f} "
            f"| {total['limit']} | {total['decisions'] / games:.1f} | {longest} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
