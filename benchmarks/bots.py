"""What a move of an external bot costs, beside a bare pipe that carries the same bytes.

    python3 benchmarks/bots.py [--fast]

For every game, all choices of a few random matches. The bot reads each request as JSON and answers
with its first option, and nothing is taken off: the time is that of `choose` as a match calls it,
from the view to the checked move, the bot's own reading included. The pipe is a program of two
lines that answers the same lines with a move and looks at neither. Both take turns; medians. The
goal is 200 microseconds a move.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.core.chance import stream
from duels.core.match import Match
from duels.core.player import View
from duels.games import BUILT_IN, load
from duels.players import player
from duels.players.external import External, request
from duels.players.hosting import Host

GOAL = 200.0
BOT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello": print('{"type": "ready"}', flush=True)
    if asked["type"] == "choose":
        print(json.dumps({"type": "move", "move": asked["view"]["options"][0]}), flush=True)
"""
ECHO = """
import sys
for line in sys.stdin.buffer: sys.stdout.buffer.write(b'%s'); sys.stdout.buffer.flush()
"""


class Watched(Match):
    """A match that keeps the views it gave."""

    def view(self, viewer: int | None) -> View:
        found = super().view(viewer)
        VIEWS.append(found)
        return found


VIEWS: list[View] = []


def views_of(slug: str, matches: int) -> list[View]:
    VIEWS.clear()
    for seed in range(matches):
        match = Watched(load(slug), seed)
        Host(match, {seat: player("random", stream(seed, seat)) for seat in (0, 1)}).finish()
    return list(VIEWS)


class Pipe:
    """Lines to a program and back, with nothing in between."""

    def __init__(self) -> None:
        answer = '{"type": "move", "move": "1"}\\n'
        self.process = subprocess.Popen(
            [sys.executable, "-c", ECHO % answer], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.into, self.out = self.process.stdin.fileno(), self.process.stdout.fileno()

    def ask(self, line: bytes) -> None:
        os.write(self.into, line)
        os.read(self.out, 65536)

    def close(self) -> None:
        self.process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description="what a move of an external bot costs")
    parser.add_argument("--fast", action="store_true", help="fewer matches")
    matches = 5 if parser.parse_args().fast else 40
    place = Path(os.environ.get("TMPDIR", "/tmp")) / f"duels-bot-{os.getpid()}.py"
    place.write_text(BOT)
    bot, pipe = External(f"{sys.executable} {place}"), Pipe()
    worst = 0.0
    try:
        print(f"{'microseconds a move':20} {'bot':>8} {'pipe':>8} {'ratio':>6} {'bytes':>7}")
        for slug in BUILT_IN:
            views = views_of(slug, matches)
            lines = [request(view, 10.0, f"{'0' * 64} 99").encode() + b"\n" for view in views]
            taken: list[float] = []
            bare: list[float] = []
            for again in range(2):  # the first round is for getting warm
                for view, line in zip(views, lines, strict=True):
                    began = time.perf_counter()
                    bot.choose(view)
                    between = time.perf_counter()
                    pipe.ask(line)
                    if again:
                        taken.append(between - began)
                        bare.append(time.perf_counter() - between)
            ours, theirs = 1e6 * statistics.median(taken), 1e6 * statistics.median(bare)
            size = statistics.mean(map(len, lines))
            worst = max(worst, ours)
            print(f"{slug:20} {ours:8.0f} {theirs:8.0f} {ours / theirs:6.2f} {size:7.0f}")
    finally:
        bot.close()
        pipe.close()
        place.unlink()
    met = "met" if worst <= GOAL else "missed"
    print(f"the slowest: {worst:.0f} microseconds; goal {GOAL:.0f}: {met}")


if __name__ == "__main__":
    main()
