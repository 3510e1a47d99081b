"""How fast CFR is beside OpenSpiel's, with ratios from one run.

    python3 benchmarks/cfr.py [--fast]

Leduc poker, suits not told apart, which is the same tree of 288 information states in both. First
CFR+ in all implementations: iterations a second, and the time until a strategy can be exploited by
1e-3 of an ante, the mean over both seats as OpenSpiel counts it (the measurements are not timed).
Then the iterations that each of our algorithms needs in the plug-in games of `tests/plugins`. Times
are of the processor, as the machine may have other work. `--fast` leaves out the larger games, and
the time until 1e-3 of the slowest implementation. Needs the extras `duels[solve]` and
`duels[openspiel]`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.algorithms.cfr import ALGORITHMS, Cfr
from duels.algorithms.compiled import need_numba
from duels.algorithms.infostate_tree import InfostateTree
from duels.core.extras import need
from duels.core.game import AnyGame
from duels.games import load
from tests.plugins.goofspiel import Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice

TARGET = 1e-3
STEP = 25  # iterations between two measurements
MOST = 20_000  # iterations
THEIRS = "leduc_poker(suit_isomorphism=true)"


class Solver(NamedTuple):
    """One implementation of CFR+."""

    name: str
    start: Callable[[], tuple[Callable[[int], None], Callable[[], float]]]
    counted: int  # iterations whose time is taken
    slow: bool = False


class Figures(NamedTuple):
    per_iteration: float
    until_target: float | None
    iterations: int | None


def ours(fast: bool) -> tuple[Callable[[int], None], Callable[[], float]]:
    run = Cfr(InfostateTree(LeducPoker()), "cfr+", fast=fast)
    return run.run, lambda: run.average().exploitability / 2


def theirs(make: Any, game: Any, pyspiel: Any) -> tuple[Callable[[int], None], Callable[[], float]]:
    solver = make(game)

    def run(iterations: int) -> None:
        for _ in range(iterations):
            solver.evaluate_and_update_policy()

    def measured() -> float:
        average = solver.average_policy()
        try:
            return float(pyspiel.exploitability(game, average))
        except TypeError:  # a policy of OpenSpiel in Python
            module = importlib.import_module("open_spiel.python.algorithms.exploitability")
            return float(module.exploitability(game, average))

    return run, measured


def figures(solver: Solver, fast: bool) -> Figures:
    run, _ = solver.start()
    run(1)  # compiles
    best = min(timed(lambda: run(solver.counted)) for _ in range(3)) / solver.counted
    if fast and solver.slow:
        return Figures(best, None, None)
    run, measured = solver.start()
    spent, done = 0.0, 0
    while True:
        spent += timed(lambda: run(STEP))
        done += STEP
        if measured() <= TARGET:
            return Figures(best, spent, done)


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def beside_openspiel(fast: bool) -> None:
    pyspiel: Any = need("pyspiel", extra="openspiel")
    python: Any = importlib.import_module("open_spiel.python.algorithms.cfr")
    game = pyspiel.load_game(THEIRS)
    solvers = [
        Solver("OpenSpiel in Python", lambda: theirs(python.CFRPlusSolver, game, pyspiel), 5, True),
        Solver("OpenSpiel in C++", lambda: theirs(pyspiel.CFRPlusSolver, game, pyspiel), 50),
        Solver("ours in Python", lambda: ours(False), 50),
        Solver("ours, compiled", lambda: ours(True), 2000),
    ]
    found = {solver.name: figures(solver, fast) for solver in solvers}
    print(
        f"Leduc poker, CFR+: iterations a second, and seconds until an exploitability of {TARGET:g}"
    )
    for name, (each, spent, done) in found.items():
        until = "" if spent is None else f"{spent:9.3f} s  ({done} iterations)"
        print(f"  {name:<20} {1 / each:>10,.0f} {until}")
    slow, rival, _, best = found.values()
    assert rival.until_target is not None
    assert best.until_target is not None
    for what, ratio, goal in (
        ("compiled / OpenSpiel in Python", slow.per_iteration / best.per_iteration, 50),
        ("compiled / OpenSpiel in C++", rival.per_iteration / best.per_iteration, 1),
        (f"until {TARGET:g}, C++ / compiled", rival.until_target / best.until_target, 1),
    ):
        print(f"  {what:<32} {ratio:>6,.0f} times (goal {goal})")


def algorithms(fast: bool) -> None:
    games: list[AnyGame] = [
        KuhnPoker(),
        LeducPoker(),
        LiarsDice(faces=3),
        LiarsDice(faces=4),
        Goofspiel(cards=4, prizes="descending"),
        load("cipher-siege", integrity=3, values=2, copies=2, hand=1, limit=2),
    ]
    if not fast:
        games += [LiarsDice(faces=5), Goofspiel(cards=4)]
    targets = (1e-3, 1e-4, 1e-5, 1e-6)
    print(f"\nIterations until an exploitability, both seats together, of {targets}")
    for game in games:
        tree = InfostateTree(game, turn_limit=4 if game.slug == "cipher-siege" else 500)
        print(f"  {game.title} {game.differing() or ''}")
        for algorithm in ALGORITHMS:
            run, reached = Cfr(tree, algorithm), list[int]()
            while len(reached) < len(targets) and run.iterations < MOST:
                run.run(max(STEP, run.iterations // 20))
                now = run.average().exploitability
                reached += [run.iterations for target in targets[len(reached) :] if now <= target]
            shown = [f"{n:,}" for n in reached] + ["-"] * (len(targets) - len(reached))
            print(f"    {algorithm:<8} " + " ".join(f"{n:>8}" for n in shown))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="the fast part")
    given = parser.parse_args()
    need_numba("this benchmark needs")
    beside_openspiel(given.fast)
    algorithms(given.fast)


if __name__ == "__main__":
    main()
