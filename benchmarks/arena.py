"""Games a second of a tournament, on one core and on two, beside OpenSpiel's own evaluation loop.

    python3 benchmarks/arena.py [--fast]

Every row is games between two players whose choices are tables: one core, processor time, so that
other programs on the machine do not count, the median of `TURNS`, with kernels compiled and tables
loaded. `compiled` is what `duels arena` runs, storing the records included; `watched` are the
first pairs of a meeting, whose luck and regrets are worked out as well; `rules` is the same players
by the pure rules, as any program or class plays.

The peer is `evaluate_bots` of OpenSpiel (`open_spiel.python.algorithms.evaluate_bots`), its own
loop for a match between two bots: with uniformly random bots on its kuhn_poker and tic_tac_toe,
which are written in C++ and shorter than any of these games, and on Number Clash through
`duels.envs.openspiel`. It runs in the same process, after the others.

Goals: 20,000 games a second where both seats are tables, 10,000 in Cipher Siege; at least 1.8 times
with two jobs on two cores (by the clock: run it on a quiet machine).
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

from duels.arena.archive import Archive
from duels.arena.model import Setting, Tournament
from duels.arena.schedule import ADJUSTED_PAIRS, COMPILED_PAIRS, Chunk, checked
from duels.arena.scheduler import run
from duels.arena.worker import play
from duels.core.extras import install_command
from duels.games import BUILT_IN

GOALS = dict.fromkeys(BUILT_IN, 20_000) | {"cipher-siege": 10_000}
PLAYERS = (("perfect", "greedy"), ("perfect", "medium"), ("random", "greedy"))
TURNS = 5
Work = Callable[[], int]  # some games, and how many


def rate(work: Work, turns: int, seconds: float) -> float:
    """Games a second of processor time: the median of some turns."""
    work()
    found = []
    for _ in range(turns):
        began, games = time.process_time(), 0
        while (passed := time.process_time() - began) < seconds or not games:
            games += work()
        found.append(games / max(passed, 1e-9))
    return statistics.median(found)


def chunk_of(tournament: Tournament, start: int, pairs: int, compiled: bool) -> Work:
    """Portions one after the other, from a pair on."""
    at = [start]

    def work() -> int:
        chunk = Chunk(0, 0, at[0], at[0] + pairs, compiled)
        if start:  # what is watched is the same pairs again
            at[0] += pairs
        play(tournament, chunk)
        return chunk.games

    return work


def games(slugs: Iterable[str], turns: int, seconds: float) -> None:
    """One core, both ways."""
    print("Games a second of processor time, one core\n")
    print("| game, players | compiled | watched | rules |\n|---|---:|---:|---:|")
    for slug in slugs:
        for players in PLAYERS:
            tournament = checked(Tournament(players, (Setting(slug),), 10**6, 1, compiled=True))
            fast = rate(chunk_of(tournament, ADJUSTED_PAIRS, COMPILED_PAIRS, True), turns, seconds)
            watched = rate(chunk_of(tournament, 0, ADJUSTED_PAIRS, True), turns, seconds)
            slow = rate(chunk_of(tournament, ADJUSTED_PAIRS, 2, False), 1, seconds)
            told = f"{slug}, {players[0]} - {players[1]}"
            print(f"| {told} | {fast:,.0f} | {watched:,.0f} | {slow:,.0f} |", flush=True)
            if fast < GOALS[slug]:
                print(f"{told}: the goal is {GOALS[slug]:,}", file=sys.stderr)


def peer(turns: int, seconds: float) -> None:
    """OpenSpiel's loop, with its uniformly random bots."""
    try:
        spiel: Any = importlib.import_module("pyspiel")
        loop: Any = importlib.import_module("open_spiel.python.algorithms.evaluate_bots")
        bots: Any = importlib.import_module("open_spiel.python.bots.uniform_random")
        importlib.import_module("duels.envs.openspiel")
    except ImportError:
        missing = f"OpenSpiel is not installed: {install_command('openspiel')}"
        print(missing, file=sys.stderr)
        return
    import numpy as np

    for name in ("kuhn_poker", "tic_tac_toe", "python_duels_number_clash"):
        game, luck = spiel.load_game(name), np.random.RandomState(1)
        seats = [bots.UniformRandomBot(seat, luck) for seat in (0, 1)]

        def work(game: Any = game, luck: Any = luck, seats: Any = seats) -> int:
            for _ in range(10):
                loop.evaluate_bots(game.new_initial_state(), seats, luck)
            return 10

        found = rate(work, turns, seconds)
        print(f"| OpenSpiel `evaluate_bots`, {name}, random bots | | | {found:,.0f} |", flush=True)


def jobs(pairs: int) -> None:
    """The clock of whole tournaments with one job and with two."""
    tournament = checked(
        Tournament(("perfect", "greedy", "random"), tuple(map(Setting, BUILT_IN)), pairs, 1)
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, count in enumerate((2, 1, 2, 1)):  # the first two only warm up
            with Archive.begin(f"{folder}/{number}", tournament) as archive:
                began = time.perf_counter()
                run(archive, jobs=count)
                found.append(time.perf_counter() - began)
    total = len(tournament.pairings) * len(tournament.games) * pairs * 2
    two, one = found[2:]
    print(f"\n{total:,} games by the rules: {one:.1f} s with one job, {two:.1f} s with two: "
          f"{one / two:.2f} times as fast")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="games a second of a tournament")
    parser.add_argument("--fast", action="store_true", help="one short turn: a smoke test")
    fast = parser.parse_args().fast
    turns, seconds = (1, 0.01) if fast else (TURNS, 0.3)
    games(list(BUILT_IN)[:1] if fast else BUILT_IN, turns, seconds)
    peer(turns, seconds)
    if importlib.util.find_spec("joblib") is not None:
        jobs(5 if fast else 80)


if __name__ == "__main__":
    main()
