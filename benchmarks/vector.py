"""Steps a second of the vectorised games, beside the pure rules in the same run.

    python3 benchmarks/vector.py [--fast] [--size N] [--only GAME] [--start]

A step is one action with its chance, autoreset, the next mask and observation; a sealed round
counts once. Random legal actions, one core. Every figure is the median of `WINDOWS` windows of
`SECONDS` of processor time, so that other programs on the machine do not count; the windows of all
columns take turns. `pgx_peer.py` times its peers by the same rule.

The first table plays both sides, the second one side against a built-in opponent: `Versus`, and
`DuelVectorEnv` as a learner gets it. Opponents work some positions out when they first come up, so
each column is warmed up for `WARM` seconds first. Goals: 20 million steps a second in four games
and 5 million in Cipher Siege; every opponent within a factor 3 of `random`; `DuelVectorEnv` within
1.5 of `Versus`. Leduc poker, of `tests/plugins`, has no kernel of its own and is played on the tree
of its positions.

`--start` measures how long a new process takes to its first step, with kernels to be compiled and
with kernels found on disk.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.core.game import AnyGame, Chance, Decide
from duels.envs.vector import Batch, DuelVectorEnv, Versus
from duels.games import BUILT_IN, load
from tests.plugins.leduc_poker import LeducPoker

GOALS = dict.fromkeys(BUILT_IN, 20.0) | {"cipher-siege": 5.0}
BOTH_SIDES = ("full", "packed", "no mask", "bare", "pure")
OPPONENTS = ("random", "greedy", "medium", "perfect")
WINDOWS, SECONDS, WARM = 15, 0.05, 3.0
START = """
import sys
from duels.envs.vector import Versus
games = Versus(sys.argv[1], 4096, seed=1, opponent=sys.argv[2])
games.step(games.random_actions())
games.observation, games.mask
"""

Run = Callable[[], int]  # some steps, and how many


def rates(runs: dict[str, Run], fast: bool, warm: float = 0.2) -> dict[str, float]:
    """Million steps a second of each column: the median of windows that take turns."""
    for run in runs.values():
        run()  # compiled, and past the first deal
        began = time.process_time()
        while not fast and time.process_time() - began < warm:
            run()
    found: dict[str, list[float]] = {column: [] for column in runs}
    for _ in range(2 if fast else WINDOWS):
        for column, run in runs.items():
            done, began = 0, time.process_time()
            while (spent := time.process_time() - began) < (0.001 if fast else SECONDS):
                done += run()
            found[column].append(done / spent / 1e6)
    return {column: statistics.median(each) for column, each in found.items()}


def looking(batch: Batch | Versus, mask: str, observation: bool) -> Run:
    """A step of a batch, with what is looked at after it."""
    size = batch.size if isinstance(batch, Batch) else batch.batch.size

    def run() -> int:
        batch.step(batch.random_actions())
        if mask:
            getattr(batch, mask)
        if observation:
            _ = batch.observation
        return size

    return run


def learning(env: DuelVectorEnv) -> Run:
    """A step as Gymnasium has it; the actions are drawn as for `Versus`."""
    env.reset(seed=1)

    def run() -> int:
        env.step(env.games.random_actions())
        return int(env.num_envs)

    return run


def pure(game: AnyGame) -> Run:
    """Steps of one game by the pure rules, with the same things after each."""
    randomness = Random(1)
    index = {move: number for number, move in enumerate(game.moves())}

    def run() -> int:
        state, done = game.start(), 0
        while done < 50:
            turn = game.turn(state)
            if isinstance(turn, Decide):
                for player, options in turn.options.items():
                    mask = bytearray(len(index))
                    for move in options:
                        mask[index[move]] = 1
                    game.encode(game.observe(state, player), player)
                picks = [randomness.choice(options) for options in turn.options.values()]
                state = game.play(state, *picks)
                done += 1
            elif isinstance(turn, Chance):
                odds = turn.odds
                (outcome,) = randomness.choices(list(odds), [float(odd) for odd in odds.values()])
                state = game.play(state, outcome)
            else:
                state = game.start()
        return done

    return run


def both_sides(game: AnyGame, size: int, fast: bool) -> dict[str, float]:
    batch = Batch(game, size, seed=1)
    return rates(
        {
            "full": looking(batch, "mask", True),
            "packed": looking(batch, "packed_mask", True),
            "no mask": looking(batch, "", True),
            "bare": looking(batch, "", False),
            "pure": pure(game),
        },
        fast,
    )


def one_side(game: AnyGame, size: int, fast: bool) -> tuple[dict[str, float], dict[str, float]]:
    """Million steps a second of `Versus` and of `DuelVectorEnv`, by opponent."""
    sides: dict[str, Run] = {}
    for opponent in OPPONENTS:
        tell(f"{game.slug}: {opponent}")
        sides[opponent] = looking(Versus(game, size, seed=1, opponent=opponent), "mask", True)
        sides[f"env {opponent}"] = learning(DuelVectorEnv(game, size, opponent))
    found = rates(sides, fast, WARM)
    return (
        {opponent: found[opponent] for opponent in OPPONENTS},
        {opponent: found[f"env {opponent}"] for opponent in OPPONENTS},
    )


def tell(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{what:40}", end="\r", file=sys.stderr, flush=True)


def start(slug: str, opponent: str) -> tuple[float, float]:
    """Processor seconds of a process up to its first step: compiling, and finding the kernels."""
    spent = []
    with tempfile.TemporaryDirectory() as kept:
        for _ in range(2):
            before = os.times()
            subprocess.run(
                [sys.executable, "-c", START, slug, opponent],
                env=os.environ | {"XDG_CACHE_HOME": kept}, check=True,
            )  # fmt: skip
            after = os.times()
            spent.append(
                after.children_user - before.children_user
                + after.children_system - before.children_system
            )  # fmt: skip
    return spent[0], spent[1]


def main() -> None:
    parser = argparse.ArgumentParser(description="steps a second of the vectorised games")
    parser.add_argument("--fast", action="store_true", help="a smoke test: figures mean little")
    parser.add_argument("--size", type=int, default=4096, help="games in a batch")
    parser.add_argument("--only", choices=list(GOALS), help="one game")
    parser.add_argument("--start", action="store_true", help="time to a process's first step")
    asked = parser.parse_args()
    games = [slug for slug in GOALS if asked.only in (None, slug)]
    if asked.start:
        print("Processor seconds from the start of a process to its first step\n")
        print("| game | opponent | compiling | kept on disk | ratio |\n|---|---|---:|---:|---:|")
        for slug in games:
            for opponent in ("random", "perfect"):
                cold, kept = start(slug, opponent)
                figures = f"{cold:.1f} | {kept:.1f} | {cold / kept:.1f}"
                print(f"| {slug} | {opponent} | {figures} |", flush=True)
        return
    print(f"Million steps a second, one core, batch of {asked.size}, random legal actions\n")
    print(f"| game | {' | '.join(BOTH_SIDES)} | full / pure | bytes a game |")
    print("|---|" + "---:|" * (len(BOTH_SIDES) + 2))
    played = [load(slug) for slug in games]
    if asked.only is None:
        played.append(LeducPoker())  # has no kernel of its own: on the tree of its positions
    for game in played:
        found = both_sides(game, asked.size, asked.fast)
        cells = [f"{found[column]:.1f}" for column in BOTH_SIDES[:-1]]
        cells += [f"{found['pure']:.4f}", f"{found['full'] / found['pure']:.0f}"]
        cells.append(str(Batch(game, 1).state_bytes))
        print(f"| {game.title} | {' | '.join(cells)} |", flush=True)
    print(
        "\nfull: dense mask and observation after each step; packed: the mask as bits; no mask:\n"
        "the observation only; bare: neither; pure: the pure rules in Python, with both.\n"
    )
    print(f"| one side | {' | '.join(OPPONENTS)} | random / slowest |")
    print("|---|" + "---:|" * (len(OPPONENTS) + 1))
    for slug in games:
        game = load(slug)
        versus, env = one_side(game, asked.size, asked.fast)
        for name, found in (("Versus", versus), ("DuelVectorEnv", env)):
            cells = [f"{found[opponent]:.1f}" for opponent in OPPONENTS]
            cells.append(f"{found['random'] / min(found.values()):.1f}")
            print(f"| {game.title}, {name} | {' | '.join(cells)} |", flush=True)
        ratios = [f"{versus[opponent] / env[opponent]:.2f}" for opponent in OPPONENTS]
        print(f"| {game.title}, Versus / DuelVectorEnv | {' | '.join(ratios)} | |", flush=True)


if __name__ == "__main__":
    main()
