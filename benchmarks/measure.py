"""How fast exact exploitability is, with ratios from one run.

    python3 benchmarks/measure.py [--fast]

Number Clash, all positions, both seats, regrets and the worst positions included, for a policy over
arrays that plays any number. The policy's own time is told apart. `Response` walks the pure rules;
it is compared on a variant small enough for it. Needs the extra `duels[solve]`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.algorithms.best_response import Enumeration, by_state
from duels.algorithms.compiled import need_numba
from duels.core.game import AnyGame, Decide
from duels.games import load
from duels.measure import exploitability
from duels.measure.dispatch import enumerate_positions
from duels.measure.policies import QueriedPolicy


class Timed:
    """A policy that plays any legal move, and the seconds that were its own."""

    def __init__(self) -> None:
        self.seconds, self.positions, self.calls = 0.0, 0, 0

    def __call__(self, observations: Any, masks: Any) -> Any:
        began = time.perf_counter()
        found = masks / masks.sum(1, keepdims=True)
        self.seconds += time.perf_counter() - began
        self.positions += len(masks)
        self.calls += 1
        return found


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - used


def variant(game: AnyGame) -> str:
    """The title of a game with the options that differ from the default."""
    return " ".join([game.title, *(f"{name}={value}" for name, value in game.differing().items())])


def whole(game: AnyGame) -> None:
    for which in ("first call, compiling", "second call"):
        policy = Timed()
        clock, used = timed(lambda policy=policy: exploitability(game, policy).worst())  # type: ignore[misc]
        print(
            f"{variant(game)}, {which}: {clock:.1f} s ({used:.1f} s of "
            f"processor time); {policy.positions:,} positions asked in {policy.calls} calls, which "
            f"took the policy {policy.seconds:.1f} s of that"
        )


def against_response(game: AnyGame) -> None:
    """The best response alone, one seat, by both."""

    def uniform(state: Any) -> dict[str, float]:
        turn = game.turn(state)
        assert isinstance(turn, Decide)
        return {move: 1 / len(turn.options[0]) for move in turn.options[0]}

    found: list[float] = []
    asked = QueriedPolicy(game, Timed())

    def ours() -> None:
        found.append(float(enumerate_positions(game, 0, asked, large=True).values()[0]))

    ours()  # compiles
    fast = min(timed(ours)[0] for _ in range(3))
    slow, _ = timed(lambda: found.append(Enumeration(game, 0, by_state(uniform)).value))
    assert abs(found[0] - found[-1]) < 1e-9, found
    print(
        f"{variant(game)}, a best response: {fast:.3f} s compiled, {slow:.1f} s by "
        f"the rules: {slow / fast:.0f} times as fast"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="how fast exact exploitability is")
    parser.add_argument("--fast", action="store_true", help="smaller variants")
    given = parser.parse_args()
    need_numba()
    whole(load("number-clash", numbers=8) if given.fast else load("number-clash"))
    against_response(load("number-clash", numbers=6 if given.fast else 7))


if __name__ == "__main__":
    main()
