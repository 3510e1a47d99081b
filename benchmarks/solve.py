"""How fast the solvers are, as ratios from one run.

    python3 benchmarks/solve.py [--fast]

Needs the extra `duels[solve]` for the kernels; g++, scipy and OpenSpiel (pyspiel) are used where
they are installed, and what is missing is said. Runs that are compared take turns, and each
figure is the fastest of its runs: what else the machine is doing can only add to a time.
"""

from __future__ import annotations

import argparse
import importlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.algorithms import compiled
from duels.algorithms.matrix_game import solve_matrix
from duels.core.game import Decide
from duels.games import load
from duels.games.digit_duel import solver as digit_duel
from duels.games.number_clash import solver as number_clash

HERE = Path(__file__).parent
Rows = list[list[float]]


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def line(name: str, time_each: float | None, ratio: str = "", goal: str = "") -> None:
    shown = "" if time_each is None else amount(time_each)
    print(f"  {name:<50} {shown:>10}  {ratio:<14} {goal}".rstrip())


def amount(time_each: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if time_each >= size:
            return f"{time_each / size:.3g} {unit}"
    return f"{time_each / 1e-9:.3g} ns"


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# Number Clash, kernel against C++


def compiled_programs(folder: str) -> dict[str, str]:
    """The C++ program as compiled by default, and for this very processor as numba does."""
    if shutil.which("g++") is None:
        return {}
    programs = {}
    for flags in (["-O3"], ["-O3", "-march=native"]):
        program = str(Path(folder) / "-".join(["clash", *flags]))
        source = str(HERE / "number_clash.cpp")
        subprocess.run(["g++", *flags, "-o", program, source], check=True)
        programs["C++, g++ " + " ".join(flags)] = program
    return programs


def clash(fast: bool) -> None:
    numbers, runs = (7, 2) if fast else (10, 7)
    game = load("number-clash", numbers=numbers)
    print(f"Number Clash, all states, numbers={numbers}")
    compiling = seconds(lambda: number_clash.solve(load("number-clash", numbers=3)))
    solve_layers = importlib.import_module("duels.games.number_clash.compiled_solver").solve_layers
    with tempfile.TemporaryDirectory() as folder:
        programs = compiled_programs(folder)
        times: dict[str, list[float]] = {name: [] for name in ["kernel", *programs]}
        said = ""
        for _ in range(runs):
            times["kernel"].append(seconds(lambda: solve_layers(numbers, 3)))
            for name, program in programs.items():
                done = subprocess.run(
                    [program, str(numbers), "3"], capture_output=True, text=True, check=True
                )
                *found, took = done.stdout.split()
                said = f"{int(found[0]):,} states, largest gap {found[1]}"
                times[name].append(float(took))
    ours = min(times.pop("kernel"))
    line("numba kernel, after compilation", ours)
    for name, theirs in times.items():
        line(name, min(theirs), f"ratio {ours / min(theirs):.2f}", "goal: at most 3")
    if not times:
        print("  C++: skipped, there is no g++")
    line("import and compilation, once per process", compiling)
    solved = number_clash.solve(game)
    print(
        f"  kernel: {solved.states:,} states, largest gap {solved.gap:.3g}; C++: {said or 'none'}"
    )


# Digit Duel


def duel(fast: bool) -> None:
    digits = 6 if fast else 9
    print(f"\nDigit Duel, all states, digits={digits}")
    for hidden in (False, True):
        game = load("digit-duel", digits=digits, hidden=hidden)
        digit_duel.solve(load("digit-duel", digits=2, hidden=hidden))
        took = min(seconds(partial(digit_duel.solve, game)) for _ in range(3))
        solved = digit_duel.solve(game)
        name = f"{'hidden' if hidden else 'open'}: {solved.states:,} states, table packed"
        line(name, took, "", "" if hidden else "goal: 0.5 s")
        if hidden:
            print(f"  hidden: largest gap {solved.gap:.3g}, {len(solved.payload) / 1e6:.1f} MB")


# One 10x10 matrix game


def matrices(count: int) -> list[Rows]:
    chooser = random.Random(1)
    return [[[chooser.random() for _ in range(10)] for _ in range(10)] for _ in range(count)]


def kernel_matrices(games: list[Rows]) -> float:
    """Time per game within one compiled loop, as the solves run it; no game comes twice."""
    kernel = importlib.import_module("duels.algorithms.compiled.matrix_game")
    stack = compiled.np.array(games)
    solve = kernel.solve

    @compiled.compiled
    def loop(stack: Any, room: Any, table: Any, mix: Any, label: Any) -> float:
        worst = 0.0
        for at in range(len(stack)):
            room[:10, :10] = stack[at]
            worst = max(worst, solve(room, 10, 10, table, mix, label)[1])
        return worst

    loop(stack[:1], *kernel.scratch())
    return seconds(lambda: loop(stack, *kernel.scratch())) / len(games)


def linprog(optimize: Any, rows: Rows) -> object:
    size = len(rows)
    columns = [[-payoff for payoff in column] + [1.0] for column in zip(*rows, strict=True)]
    return optimize.linprog(
        [0.0] * size + [-1.0], A_ub=columns, b_ub=[0.0] * size,
        A_eq=[[1.0] * size + [0.0]], b_eq=[1.0], bounds=[(0, None)] * size + [(None, None)],
    )  # fmt: skip


def matrix(fast: bool) -> None:
    print("\nOne 10x10 matrix game, random payoffs, value and both mixes, checked")
    games = matrices(500 if fast else 10_000)
    ours = None
    if compiled.have_numba():
        ours = min(kernel_matrices(games) for _ in range(3))
        line("numba kernel", ours)
    games = games[:200]
    bare = min(seconds(lambda: [solve_matrix(rows) for rows in games]) for _ in range(3))
    compare("bare Python, duels.algorithms.matrix_game", bare / len(games), ours)
    optimize = optional("scipy.optimize")
    if optimize is None:
        print("  scipy: skipped, not installed")
    else:
        highs = min(
            seconds(lambda: [linprog(optimize, rows) for rows in games[:20]]) for _ in range(3)
        )
        compare("scipy linprog (HiGHS), value and one mix", highs / 20, ours)


def compare(name: str, theirs: float, ours: float | None) -> None:
    line(name, theirs, "" if ours is None else f"{theirs / ours:,.0f} times")


# OpenSpiel's own solver, on the game it has that is most like Number Clash


def goofspiel(fast: bool) -> None:
    print("\nTime per state, OpenSpiel's solver on goofspiel against the kernel on Number Clash")
    missing = [name for name in ("pyspiel", "cvxpy", "ecos") if optional(name) is None]
    if missing:
        print(f"  OpenSpiel: skipped, its solver needs {' and '.join(missing)}, not installed here")
        return
    spiel = optional("pyspiel")
    iteration = optional("open_spiel.python.algorithms.value_iteration")
    cards = 3 if fast else 4
    game = spiel.load_game(
        "goofspiel", {"num_cards": cards, "points_order": "descending", "returns_type": "win_loss"}
    )
    values: dict[str, float] = {}
    took = seconds(lambda: values.update(iteration.value_iteration(game, -1, 1e-9)))
    theirs = took / len(values)
    numbers = 7 if fast else 10
    solved = number_clash.solve(load("number-clash", numbers=numbers))
    ours = seconds(lambda: number_clash.solve(load("number-clash", numbers=numbers)))
    each = ours / solved.states
    line(f"numba kernel, numbers={numbers}, {solved.states:,} states", each)
    name = f"value_iteration, {cards} cards, {len(values):,} states"
    line(name, theirs, f"{theirs / each:,.0f} times")


# What a player waits for, with nothing but the standard library


def moves(fast: bool) -> None:
    print("\nOne perfect move on a bare Python, table open")
    game = load("number-clash")
    table = number_clash.stored_values(game)
    assert table is not None
    open_first = seconds(lambda: number_clash.stored_values(game))
    state = game.play(game.start(), "7", "8")
    count = 200 if fast else 2000
    line("Number Clash, opening the table", open_first)
    each = seconds(lambda: [table.value(state) for _ in range(count)]) / count
    line("Number Clash, one value", each)

    def mix() -> None:
        turn = game.turn(game.start())
        assert isinstance(turn, Decide)
        one, two = turn.options[0], turn.options[1]
        solve_matrix([[table.value(game.play(game.start(), a, b)) for b in two] for a in one])

    line("Number Clash, the opening mix", min(map(seconds, [mix] * 10)), "", "goal: 10 ms")
    other = load("digit-duel")

    def attack() -> None:
        fresh = digit_duel.reader(other, duel_payload)
        turn = other.turn(other.start())
        assert isinstance(turn, Decide)
        for digit in turn.options[0]:
            fresh.value(other.play(other.start(), digit))

    found = digit_duel.stored_values(other)
    assert found is not None
    duel_payload = found.payload
    line("Digit Duel, all nine opening attacks", min(map(seconds, [attack] * 10)), "", "goal: 1 ms")


def main() -> None:
    parser = argparse.ArgumentParser(description="time the solvers")
    parser.add_argument("--fast", action="store_true", help="a smoke run at small sizes")
    fast = parser.parse_args().fast
    if compiled.have_numba():
        clash(fast)
        duel(fast)
    else:
        print("The kernels are skipped: they need the extra duels[solve].")
    matrix(fast)
    if compiled.have_numba():
        goofspiel(fast)
    moves(fast)


if __name__ == "__main__":
    main()
