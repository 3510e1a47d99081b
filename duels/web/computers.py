"""Computer players, hints and grading, away from the event loop.

Looking a choice up takes a thread well under a millisecond; searching and grading take a process of
their own, which ends with the server however the server ends.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import Any

import msgspec

from duels.analysis.grade import grade
from duels.analysis.report import costliest, to_json
from duels.core import record
from duels.core.errors import DuelsError, IllegalMove
from duels.core.game import AnyGame
from duels.core.player import View
from duels.games import load
from duels.players import BUILT_IN, make, needs_solution
from duels.players.ismcts import Ismcts
from duels.solve.catalogue import ready, solve

HINT_ITERATIONS = 300  # of a search: an answer in a moment
SEARCHES = ("ismcts",)  # opponents that compute for long


class Computers:
    """Whoever thinks for the server."""

    def __init__(self) -> None:
        self._pools: dict[str, ProcessPoolExecutor] = {}
        self.thought = 0.0  # seconds, for the metrics

    async def choose(self, level: str, stream: str, view: View) -> str:
        """A level's move, from what it may see."""
        began = time.monotonic()
        if level in SEARCHES:
            move: str = await self._run("search", _choose, level, stream, view)
        else:
            move = await asyncio.to_thread(_choose, level, stream, view)
        self.thought += time.monotonic() - began
        return move

    async def hint(self, stream: str, view: View) -> tuple[str, str]:
        """A sentence, and the move it is about."""
        advice = await asyncio.to_thread(_look_up, view)
        return advice or await self._run("search", _search_hint, stream, view)

    async def analyse(self, text: str) -> bytes:
        """The graded match of a record, as JSON; a DuelsError where it cannot be graded."""
        graded: bytes = await self._run("grade", _grade, text)
        return graded

    async def _run(self, pool: str, work: Any, *given: Any) -> Any:
        if pool not in self._pools:
            context = multiprocessing.get_context("spawn")
            self._pools[pool] = ProcessPoolExecutor(
                1, mp_context=context, initializer=_watch, initargs=(os.getpid(),)
            )
        return await asyncio.get_running_loop().run_in_executor(self._pools[pool], work, *given)

    def close(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)


def levels(game: AnyGame) -> list[str]:
    """The names of the opponents that can play a game at once, weakest first."""
    return [name for name in BUILT_IN if _ready(game) or not needs_solution(name)]


@lru_cache(1024)
def _ready(game: AnyGame) -> bool:
    try:
        return ready(game)
    except DuelsError:
        return False


def checked_level(name: str, game: AnyGame) -> str:
    """A level that can play a game, or a refusal that names those that can."""
    able = levels(game)
    if name in able:
        return name
    why = "is not solved with these options" if name in BUILT_IN else "has no such opponent"
    raise IllegalMove(f"{game.title} {why}; opponents are friend, {', '.join(able)}")


# In a thread or a process.


def _watch(parent: int) -> None:
    """End with the server, even if that was killed."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


def _choose(level: str, stream: str, view: View) -> str:
    return make(level, stream).choose(view)


def _look_up(view: View) -> tuple[str, str] | None:
    """What perfect play chooses, where that is known at once."""
    try:
        choice = solve(view.game).assess(view) if ready(view.game) else None
    except DuelsError:
        choice = None
    if choice is None or choice.rough or not choice.mix:
        return None
    mix = choice.mix
    likely = sorted(mix, key=lambda move: -mix[move])[:4]
    if len(mix) == 1:
        return f"Perfect play chooses {likely[0]}.", likely[0]
    shown = ", ".join(f"{move} ({100 * mix[move]:.0f} %)" for move in likely)
    return f"Perfect play chooses {shown}.", likely[0]


def _search_hint(stream: str, view: View) -> tuple[str, str]:
    move = Ismcts(stream, HINT_ITERATIONS).choose(view)
    return f"A short search chooses {move}.", move


def _grade(text: str) -> bytes:
    analysis = grade(record.loads(text, load))
    worst = [costliest(analysis, player) for player in (0, 1)]
    data = to_json(analysis)
    data["costliest"] = {
        str(player + 1): None if move is None else move.entry for player, move in enumerate(worst)
    }
    return msgspec.json.encode(data)
