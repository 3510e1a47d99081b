"""`duels solve cipher-siege`: trains, or continues a training, and writes the table."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from duels.algorithms import tables
from duels.algorithms.compiled import need_numba
from duels.algorithms.solution import Progress
from duels.games.cipher_siege.bounds.certify import certify
from duels.games.cipher_siege.bounds.q_responder import Responder
from duels.games.cipher_siege.compiled_tables import check_size
from duels.games.cipher_siege.infostate import in_turn_order
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.strategy import KIND, payload_of
from duels.games.cipher_siege.training.evaluate import Evaluator
from duels.games.cipher_siege.training.publish import collect, first_player, frozen, valued
from duels.games.cipher_siege.training.run import FINE_PLIES, Trainer, train_until

MINUTES = 10.0
# Valuing the moves takes about a third of the time that the training behind it took.
ITERATIONS_PER_GAME = 4
MOST_GAMES = 1_000_000
RARE = 3  # times as many games, which are faster, for states with few play-outs
TRAINING, VALUING, MEASURING = 0.6, 0.75, 0.98  # parts of the progress bar
MEASURE_EVERY = 60.0  # seconds between two estimates of the exploitability during training
LEARN = 200_000  # games for each of them and each seat: some seconds
MEASURE = 0.2  # fraction of the minutes for each seat's bounds, but at least this many seconds:
LEAST_SECONDS = 5.0


class ProgressReport:
    """Text of the progress bar: the state of the training, and the gain of a learned response.

    Two responders learn during the training, against the current average strategy of the first
    run. They do not affect it.
    """

    def __init__(self, runs: Sequence[Trainer], progress: Progress) -> None:
        self._runs, self._progress = runs, progress
        self._gain, self._due = "", time.monotonic() + MEASURE_EVERY
        self._responders: list[Responder] = []

    def __call__(self, part: float) -> None:
        if time.monotonic() >= self._due:
            self._gain = f", exploitable by at least {self._exploit():.4f}"
            self._due = time.monotonic() + MEASURE_EVERY
        iterations = sum(run.iterations for run in self._runs)
        self._progress(TRAINING * min(1.0, part), f"{iterations:,} iterations{self._gain}")

    def _exploit(self) -> float:
        """The sum of the responders' scores, less both half-widths, minus the value of the game."""
        run = self._runs[0]
        if not self._responders:
            self._responders = [Responder(seat, run.tables, run.store) for seat in (0, 1)]
        low = -1.0
        for responder in self._responders:
            responder.learn(LEARN)
            found = responder.score(LEARN, run.iterations)
            low += found.mean - found.half
        return max(0.0, low)


@contextmanager
def resumable(files: Sequence[str]) -> Iterator[None]:
    """Add the files of the runs to the message of an interruption."""
    try:
        yield
    except KeyboardInterrupt:
        kept = " and ".join(filter(os.path.exists, files))
        if not kept:
            raise
        raise KeyboardInterrupt(
            f"the training is stored in {kept}, and the same command continues it"
        ) from None


def rebuild(
    game: CipherSiege,
    progress: Progress,
    path: str | None = None,
    minutes: float | None = None,
    iterations: int | None = None,
    seed: int = 1,
    measure: float | None = None,
    jobs: int = 1,
) -> dict[str, Any]:
    """Train for some minutes more, or up to an iteration count; measure; write the table.

    `measure` is the time in seconds for the bounds of each seat; with 0 they are not measured and
    not part of the table. `jobs` is the number of parallel runs, with seeds from `seed` on; each
    makes that many iterations, and their sum is the strategy. The runs are stored next to the
    table. The same seed, jobs and number of iterations give the same table, byte for byte, even if
    the runs were interrupted and resumed.
    """
    check_size(game)
    need_numba()
    game = in_turn_order(game)
    path = tables.cached_path(game) if path is None else os.path.abspath(path)
    kept = [f"{path}.training" + (f"-{job + 1}" if job else "") for job in range(jobs)]
    with resumable(kept):
        run = _train(game, progress, kept, minutes, iterations, seed)
        if measure is None:
            measure = max(LEAST_SECONDS, MEASURE * 60 * (minutes or MINUTES))
        facts = _write(game, progress, path, run, measure, {"seed": seed, "runs": jobs})
    return {**facts, "training": ", ".join(kept)}


def _train(
    game: CipherSiege, progress: Progress, kept: Sequence[str], minutes: float | None,
    iterations: int | None, seed: int,
) -> Trainer:  # fmt: skip
    """The sum of the runs, trained as `rebuild` says."""
    progress(0.0, "starting")
    runs = [
        Trainer.load(game, seed + job, file) if os.path.exists(file) else Trainer(game, seed + job)
        for job, file in enumerate(kept)
    ]
    train_until(runs, kept, ProgressReport(runs, progress), minutes or MINUTES, iterations)
    run = runs[0]
    while len(runs) > 1:
        run.add(runs.pop(1))
    return run


def _write(
    game: CipherSiege, progress: Progress, path: str, run: Trainer, measure: float,
    about: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Value the moves, measure, and write the table; `about` is added to its facts."""
    trained = f"{run.iterations:,} iterations"

    states = collect(run)
    evaluator = Evaluator(*frozen(game, states))
    games = min(MOST_GAMES, run.iterations // ITERATIONS_PER_GAME)
    done = 0
    while done < games + RARE * games:
        part = TRAINING + (VALUING - TRAINING) * done / (games + RARE * games)
        progress(part, f"{trained}, valuing moves")
        rare = done >= games
        step = min((RARE * games if rare else 0) + games - done, max(1000, games // 50))
        evaluator.run(step, rare)
        done += step
    states = valued(states, evaluator)
    strategy = frozen(game, states)

    def tell(part: float, what: str) -> None:
        progress(VALUING + (MEASURING - VALUING) * part, what)

    bounds = certify(game, *strategy, measure, tell).facts() if measure else {}
    progress(MEASURING, "writing the table")
    payload = payload_of(states)
    facts = {
        "states": len(states),
        "fine_plies": FINE_PLIES,
        "first player": round(first_player(*strategy), 4),
        "iterations": run.iterations,
        **about,
        **bounds,
    }
    written = tables.store(game, payload, KIND, path, facts)
    measured = (
        "exploitable by {} to {}".format(*list(bounds.values())[:2]) if bounds else "not measured"
    )
    progress(1.0, f"{trained}, {measured}")
    return {"table": written, "bytes": len(payload), **facts}
