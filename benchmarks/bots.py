"""What a move of an external bot costs, beside bare pipes that carry the same bytes.

    python3 benchmarks/bots.py [--fast]

In matches against `random`, the time of each `choose`: from the view to the checked move, with all
that the bot itself takes. Four players play the same matches in turn:

- bot: a program of a few lines that reads a request as JSON and answers with its first option, as
  `duels.players.External` asks it;
- bare: the same program, given the same bytes through pipes, its answers read and not looked at;
- echo: likewise, a program of two lines that looks at nothing;
- class: a class of Python that takes its first option, in a process of its own
  (`duels.players.isolated.Isolated`).

Medians by the clock, and `own`, the processor time of the host in the choices of the bot: all in
microseconds. The goal is 200 for the bot by the clock, with nothing taken off. Whether a program is
woken on the core that wakes it or on one that sleeps is the choice of the system, and can cost more
than all the rest: compare bot and bare over several runs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.core.chance import stream
from duels.core.match import Match
from duels.core.player import Player, View
from duels.games import BUILT_IN, load
from duels.players.external import External, request
from duels.players.isolated import Isolated
from duels.players.runner import MatchRunner
from duels.players.uniform import Uniform

GOAL = 200.0
BOT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello": print('{"type": "ready"}', flush=True)
    if asked["type"] == "choose":
        print(json.dumps({"type": "move", "move": asked["view"]["options"][0]}), flush=True)
"""
CLASS = """
from duels.core import Player

class First(Player):
    def choose(self, view):
        return view.options[0]
"""
ECHO = """
import sys
for line in sys.stdin.buffer: sys.stdout.buffer.write(b'{"move": "1"}\\n'); sys.stdout.flush()
"""


class Timed(Player):
    """A program that is asked; the seconds of each choice."""

    def __init__(self, program: str, folder: str) -> None:
        self.words = [sys.executable, os.path.join(folder, f"bot{id(self)}.py")]
        Path(self.words[1]).write_text(program)
        self.taken: list[float] = []
        self.own: list[float] = []


class Bot(Timed):
    def __init__(self, program: str, folder: str) -> None:
        super().__init__(program, folder)
        self.player = External(" ".join(self.words))

    def prepare(self) -> None:
        self.player.prepare()

    def choose(self, view: View) -> str:
        used, began = time.process_time(), time.perf_counter()
        move = self.player.choose(view)
        self.taken.append(time.perf_counter() - began)
        self.own.append(time.process_time() - used)
        return move

    def close(self) -> None:
        self.player.close()


class Apart(Bot):
    """A class of Python in a process of its own, as tournaments have them."""

    def __init__(self, program: str, folder: str) -> None:
        super().__init__(program, folder)
        self.player = Isolated(f"{Path(self.words[1]).stem}:First")


class Bare(Timed):
    def __init__(self, program: str, folder: str) -> None:
        super().__init__(program, folder)
        self.process = subprocess.Popen(
            self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.into, self.out = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.sizes: list[int] = []

    def choose(self, view: View) -> str:
        line = request(view, 10.0, f"{'0' * 64} 99").encode() + b"\n"
        self.sizes.append(len(line))
        began = time.perf_counter()
        os.write(self.into, line)
        os.read(self.out, 65536)
        self.taken.append(time.perf_counter() - began)
        return view.options[0]

    def close(self) -> None:
        self.process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description="what a move of an external bot costs")
    parser.add_argument("--fast", action="store_true", help="fewer matches")
    matches = 10 if parser.parse_args().fast else 100
    worst = 0.0
    print(f"{'microseconds a move':20}    bot   bare   echo    own  class  bot/bare  bytes")
    with tempfile.TemporaryDirectory() as folder:
        bare = Bare(BOT, folder)
        sys.path.append(folder)
        players: list[Timed] = [
            Bot(BOT, folder), bare, Bare(ECHO, folder), Apart(CLASS, folder)
        ]  # fmt: skip
        try:
            for slug in BUILT_IN:
                for timed in players:
                    timed.taken.clear()
                    timed.own.clear()
                bare.sizes.clear()
                for seed in range(matches):
                    for timed in players:
                        other = Uniform(stream(seed, 1))
                        MatchRunner(Match(load(slug), seed), {0: timed, 1: other}).finish()
                bot, same, echo, apart = (1e6 * statistics.median(timed.taken) for timed in players)
                own = 1e6 * statistics.median(players[0].own)
                size = statistics.mean(bare.sizes)
                worst = max(worst, bot)
                print(
                    f"{slug:20} {bot:6.0f} {same:6.0f} {echo:6.0f} {own:6.0f} {apart:6.0f} "
                    f"{bot / same:9.2f} {size:6.0f}"
                )
        finally:
            for timed in players:
                timed.close()
    met = "met" if worst <= GOAL else "missed"
    print(f"the slowest: {worst:.0f} microseconds; goal {GOAL:.0f}: {met}")


if __name__ == "__main__":
    main()
