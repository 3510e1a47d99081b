"""`duels solve cipher-siege`: train, go on training another time, and write the table."""

from __future__ import annotations

import os
import time
from typing import Any

from duels.games.cipher_siege import CipherSiege
from duels.solve import tables
from duels.solve.compiled import need_numba
from duels.solve.siege.evaluate import Evaluator
from duels.solve.siege.kernel import check_size
from duels.solve.siege.knowledge import in_turn_order
from duels.solve.siege.publish import collect, first_player, frozen
from duels.solve.siege.strategy import KIND, payload_of
from duels.solve.siege.train import FINE_PLIES, Trainer, train_until
from duels.solve.solution import Progress

MINUTES = 10.0
# Valuing the moves takes about a third of the time that the training behind it took.
ITERATIONS_PER_GAME = 7
MOST_GAMES = 5_000_000
TRAINING, VALUING = 0.75, 0.98  # parts of the progress bar
REGRET_EVERY = 5.0  # seconds; it walks through all that was learned


class Teller:
    """What the progress bar says: how far the training is, and the regret, now and then."""

    def __init__(self, run: Trainer, progress: Progress) -> None:
        self._run, self._progress = run, progress
        self._regret, self._due = "", 0.0

    def __call__(self, part: float) -> None:
        now = time.monotonic()
        if self._run.iterations and now >= self._due:
            self._regret = f", average regret {self._run.regret():.4f}"
            self._due = now + REGRET_EVERY
        what = f"{self._run.iterations:,} iterations{self._regret}"
        self._progress(TRAINING * min(1.0, part), what)


def rebuild(
    game: CipherSiege,
    progress: Progress,
    path: str | None = None,
    minutes: float | None = None,
    iterations: int | None = None,
    seed: int = 1,
) -> dict[str, Any]:
    """Train for so many minutes more, or up to an iteration count; write the table.

    The training run is kept beside the table. The same seed and number of iterations give the same
    table, byte for byte, however often the run was left and resumed.
    """
    check_size(game)
    need_numba()
    game = in_turn_order(game)
    path = tables.cached_path(game) if path is None else os.path.abspath(path)
    kept = f"{path}.training"
    progress(0.0, "starting")
    run = Trainer.load(game, seed, kept) if os.path.exists(kept) else Trainer(game, seed)
    train_until(run, kept, Teller(run, progress), minutes or MINUTES, iterations)
    regret = run.regret()

    evaluator = Evaluator(game, run.tables, run.store)
    games = min(MOST_GAMES, run.iterations // ITERATIONS_PER_GAME)
    done = 0
    while done < games:
        progress(
            TRAINING + (VALUING - TRAINING) * done / games,
            f"{run.iterations:,} iterations, average regret {regret:.4f}, valuing moves",
        )
        step = min(games - done, max(1000, games // 50))
        evaluator.run(step)
        done += step
    progress(VALUING, "writing the table")
    states = collect(run, evaluator)
    payload = payload_of(states)
    facts = {
        "states": len(states),
        "fine_plies": FINE_PLIES,
        "first player": round(first_player(*frozen(game, states)), 4),
        "iterations": run.iterations,
        "seed": seed,
        "average regret": round(regret, 4),
    }
    written = tables.store(game, payload, KIND, path, facts)
    progress(1.0, f"{run.iterations:,} iterations, average regret {regret:.4f}")
    return {"table": written, "bytes": len(payload), "training": kept, **facts}
