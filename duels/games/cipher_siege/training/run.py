"""A training run: tables, store, iteration count and checkpoint.

The same seed and number of iterations give the same bytes, whether or not the run was interrupted.
Several runs with different seeds use several cores, and their stores are added: a best response to
the mean of several strategies gains at most the mean of the gains of best responses to each, and
mostly less, since the noise of the runs is independent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from zipfile import BadZipFile

from duels.algorithms.compiled import Array, compiled, need_numba, np
from duels.algorithms.solution import Unsolved
from duels.algorithms.tables import settings
from duels.games.cipher_siege.compiled_keys import hand_at
from duels.games.cipher_siege.compiled_policy import new_scratch
from duels.games.cipher_siege.compiled_rules import new_states
from duels.games.cipher_siege.compiled_tables import CODES, Tables, build_tables
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.store import Store, find_or_add, insert_all, new_store
from duels.games.cipher_siege.training.mccfr import train

FINE_PLIES = 8  # turns with the fine information state
MET = 1 << 24  # counters of visits of fine states that are not in the store yet
FORMAT = "cipher-siege training 4"  # increased when the algorithm changes
LARGE = 1000  # number of codes from which a variant needs the large store
LOOK = 0.5  # seconds between two checks of the clock; the result does not depend on it
SAVE = 120.0  # seconds between two checkpoints


@compiled
def add_all(other: Store, tb: Tables, st: Store) -> None:
    """Add the regrets and strategies of another store, state by state."""
    for slot in range(other.keys.shape[0]):
        key, begin = other.keys[slot], other.where[slot]
        if key == 0:
            continue
        cells = tb.total_actions[hand_at(key, tb)] + 1  # the last one counts visits
        at = find_or_add(key, cells, st)
        if at >= 0:
            st.pool[:, at : at + cells] += other.pool[:, begin : begin + cells]


class Trainer:
    """A training run, which can be saved and resumed. Player 1 of `game` begins."""

    def __init__(self, game: CipherSiege, seed: int = 1, cap: int | None = None) -> None:
        """With a `cap`, games end as a draw after that many turns, and all states are fine.

        Such finite variants are also solved exactly, in tests.
        """
        need_numba()
        self.game, self.seed = game, seed
        self.tables = (
            build_tables(game, FINE_PLIES) if cap is None else build_tables(game, cap, cap)
        )
        slots = 24 if self.tables.const[CODES] > LARGE else 20
        self.store: Store = new_store(slots, 9 << slots)  # a choice has about 15 moves; 0.6 full
        self._count: Array = np.zeros(1, dtype=np.int64)
        self._rng: Array = np.array([seed], dtype=np.uint64)
        self._met: Array = np.zeros(MET, dtype=np.uint8)
        self._scratch, self._states = new_scratch(), new_states()
        self.run(0)  # compiles, so that this is not part of the training time

    @property
    def iterations(self) -> int:
        return int(self._count[0])

    def run(self, iterations: int) -> None:
        """Run more iterations."""
        train(
            self._count, self.iterations + iterations, self.tables, self.store, self._met,
            self._scratch, self._states, self._rng,
        )  # fmt: skip

    def add(self, other: Trainer) -> None:
        """Add another run of the same rules; this run cannot be continued afterwards."""
        add_all(other.store, self.tables, self.store)
        self._count += other._count

    def save(self, path: str) -> None:
        """Write a checkpoint atomically."""
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        used = np.nonzero(self.store.keys)[0]
        # Sorted, because slots depend on the order of insertion and the file must not.
        used = used[np.argsort(self.store.keys[used])]
        part = f"{path}.part"
        with open(part, "wb") as file:
            np.savez(
                file,
                about=np.array(self._about()),
                keys=self.store.keys[used],
                where=self.store.where[used],
                pool=self.store.pool[:, : self.store.used[1]],
                met=self._met,
                rng=self._rng,
                count=self._count,
            )
        os.replace(part, path)

    @classmethod
    def load(cls, game: CipherSiege, seed: int, path: str) -> Trainer:
        """Load a checkpoint; one of other rules or another seed is refused and not changed."""
        need_numba()
        try:
            with np.load(path) as data:
                saved = {name: data[name] for name in data.files}
        except (OSError, ValueError, EOFError, BadZipFile) as error:
            raise Unsolved(f"{path} cannot be read as a training run: {error}") from None
        run = cls(game, seed)
        about = saved["about"].tolist() if "about" in saved else []
        if about != run._about():
            raise Unsolved(
                f"{path} is the training of other rules or another seed or version; move it away, "
                "or write the table to another file"
            )
        cells = saved["pool"].shape[1]
        run._count[:] = saved["count"]
        run._rng[:] = saved["rng"]
        run._met[:] = saved["met"]
        run.store.pool[:, :cells] = saved["pool"]
        insert_all(saved["keys"], saved["where"], run.store)
        run.store.used[1] = cells
        return run

    def _about(self) -> list[str]:
        """The format, seed and rules that a checkpoint must match."""
        rules = [f"{name}={value}" for name, value in settings(self.game).items()]
        return [FORMAT, f"seed={self.seed}", *rules]


def train_until(
    runs: Sequence[Trainer],
    paths: Sequence[str],
    tell: Callable[[float], None],
    minutes: float,
    iterations: int | None = None,
) -> None:
    """Train for a time, or each run up to `iterations` if given; saves checkpoints.

    Each run has its own thread (compiled code releases the GIL). `tell` is called with the part
    done about twice a second.
    """
    began = saved = time.monotonic()
    first, chunk = sum(run.iterations for run in runs), 500
    whole = None if iterations is None else max(1, iterations * len(runs) - first)
    with ThreadPoolExecutor(len(runs)) as pool:
        try:
            while True:
                now = time.monotonic()
                if whole is None or iterations is None:
                    part = (now - began) / (60 * minutes)
                    steps = [chunk for _ in runs]
                else:
                    part = (sum(run.iterations for run in runs) - first) / whole
                    steps = [max(0, min(chunk, iterations - run.iterations)) for run in runs]
                if part >= 1 or not any(steps):
                    break
                tell(part)
                list(pool.map(Trainer.run, runs, steps))
                spent = time.monotonic() - now
                chunk = max(1, int(chunk * min(4.0, LOOK / max(spent, 1e-6))))
                if time.monotonic() - saved > SAVE:
                    save_all(runs, paths)
                    saved = time.monotonic()
        finally:  # an interruption too
            pool.shutdown()
            save_all(runs, paths)


def save_all(runs: Sequence[Trainer], paths: Sequence[str]) -> None:
    for run, path in zip(runs, paths, strict=True):
        run.save(path)
