"""Steps a second of the vectorised games, beside the pure rules in the same run.

    python3 benchmarks/vector.py [--fast] [--size N]

A step is one action with its chance, autoreset, the next mask and observation; a sealed round
counts once. Random legal actions, one core. Runs of all columns take turns; they are short, so that
some fit between the turns of other programs, and the best of each counts. Goals: 20 million steps a
second in four games and 5 million in Cipher Siege, at a batch of 4096.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from random import Random

from duels.core.game import AnyGame, Chance, Decide
from duels.envs.vector import Batch, Versus
from duels.games import BUILT_IN, load

GOALS = dict.fromkeys(BUILT_IN, 20.0) | {"cipher-siege": 5.0}
COLUMNS = ("full", "no mask", "bare", "versus", "pure")


def looking(batch: Batch | Versus, mask: bool, observation: bool) -> Callable[[int], int]:
    """Steps of a batch, with what is looked at after each."""
    size = batch.size if isinstance(batch, Batch) else batch.batch.size

    def run(steps: int) -> int:
        for _ in range(steps):
            batch.step(batch.random_actions())
            if mask:
                _ = batch.mask
            if observation:
                _ = batch.observation
        return steps * size

    return run


def pure(game: AnyGame) -> Callable[[int], int]:
    """Steps of one game by the pure rules, with the same things after each."""
    randomness = Random(1)
    index = {move: number for number, move in enumerate(game.moves())}

    def run(steps: int) -> int:
        state, done = game.start(), 0
        while done < steps:
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


def measure(game: AnyGame, size: int, fast: bool) -> dict[str, float]:
    """Million steps a second of each column, the best of several turns."""
    batch = Batch(game, size, seed=1)
    runs = {
        "full": (looking(batch, True, True), 8),
        "no mask": (looking(batch, False, True), 8),
        "bare": (looking(batch, False, False), 8),
        "versus": (looking(Versus(game, size, seed=1), True, True), 8),
        "pure": (pure(game), 200),
    }
    best = dict.fromkeys(runs, 0.0)
    for run, _ in runs.values():
        run(2)  # compiled, and past the first deal
    for _ in range(5 if fast else 300):
        for column, (run, steps) in runs.items():
            began = time.perf_counter()
            done = run(steps)
            best[column] = max(best[column], done / (time.perf_counter() - began) / 1e6)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="steps a second of the vectorised games")
    parser.add_argument("--fast", action="store_true", help="a smoke test: figures mean little")
    parser.add_argument("--size", type=int, default=4096, help="games in a batch")
    asked = parser.parse_args()
    print(f"Million steps a second, one core, batch of {asked.size}, random legal actions\n")
    print(f"| game | {' | '.join(COLUMNS)} | full / pure | goal | bytes a game |")
    print("|---|" + "---:|" * (len(COLUMNS) + 3))
    for slug, goal in GOALS.items():
        game = load(slug)
        best = measure(game, asked.size, asked.fast)
        cells = [f"{best[column]:.1f}" for column in COLUMNS[:-1]]
        cells += [f"{best['pure']:.4f}", f"{best['full'] / best['pure']:.0f}", f"{goal:.0f}"]
        cells.append(str(Batch(game, 1).state_bytes))
        print(f"| {game.title} | {' | '.join(cells)} |", flush=True)
    print(
        "\nfull: dense mask and observation after each step; no mask: the observation only;\n"
        "bare: neither; versus: full, one side against the random opponent, whose moves are not\n"
        "counted; pure: the pure rules in Python, with mask and observation."
    )


if __name__ == "__main__":
    main()
