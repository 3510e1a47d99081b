"""`duels solve cipher-siege`: train, go on training another time, and write the table."""

from __future__ import annotations

import os
import time
from typing import Any

from duels.games.cipher_siege import CipherSiege
from duels.solve import tables
from duels.solve.compiled import need_numba
from duels.solve.siege.certify import certify
from duels.solve.siege.codes import check_size
from duels.solve.siege.evaluate import Evaluator
from duels.solve.siege.knowledge import in_turn_order
from duels.solve.siege.publish import collect, first_player, frozen, valued
from duels.solve.siege.strategy import KIND, payload_of
from duels.solve.siege.train import FINE_PLIES, Trainer, train_until
from duels.solve.solution import Progress

MINUTES = 10.0
# Valuing the moves takes about a third of the time that the training behind it took.
ITERATIONS_PER_GAME = 2
MOST_GAMES = 2_000_000
TRAINING, VALUING, MEASURING = 0.6, 0.75, 0.98  # parts of the progress bar
REGRET_EVERY = 5.0  # seconds; it walks through all that was learned
MEASURE = 0.2  # of the minutes for each seat's bounds, but at least so many seconds:
LEAST_SECONDS = 5.0


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
    measure: float | None = None,
) -> dict[str, Any]:
    """Train for so many minutes more, or up to an iteration count; measure; write the table.

    `measure`: seconds for the bounds of each seat; 0: they are not measured, and not claimed.
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
    trained = f"{run.iterations:,} iterations, average regret {regret:.4f}"

    states = collect(run)
    evaluator = Evaluator(*frozen(game, states))
    games = min(MOST_GAMES, run.iterations // ITERATIONS_PER_GAME)
    done = 0
    while done < games:
        part = TRAINING + (VALUING - TRAINING) * done / games
        progress(part, f"{trained}, valuing moves")
        step = min(games - done, max(1000, games // 50))
        evaluator.run(step)
        done += step
    states = valued(states, evaluator)
    strategy = frozen(game, states)

    def tell(part: float, what: str) -> None:
        progress(VALUING + (MEASURING - VALUING) * part, what)

    seconds = (
        max(LEAST_SECONDS, MEASURE * 60 * (minutes or MINUTES)) if measure is None else measure
    )
    bounds = certify(game, *strategy, seconds, tell).facts() if seconds else {}
    progress(MEASURING, "writing the table")
    payload = payload_of(states)
    facts = {
        "states": len(states),
        "fine_plies": FINE_PLIES,
        "first player": round(first_player(*strategy), 4),
        "iterations": run.iterations,
        "seed": seed,
        "average regret": round(regret, 4),
        **bounds,
    }
    written = tables.store(game, payload, KIND, path, facts)
    progress(1.0, trained)
    return {"table": written, "bytes": len(payload), "training": kept, **facts}
