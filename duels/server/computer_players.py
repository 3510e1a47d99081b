"""Worker pools for computer players, hints and grading.

Looking up a move takes less than a millisecond and runs in a thread; searching and grading run in
processes, which end with the server even if it is killed.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import Any

import msgspec

from duels.algorithms.solutions import ready
from duels.analysis.grade import grade
from duels.analysis.report import costliest, to_json
from duels.core import record
from duels.core.errors import DuelsError, IllegalMove
from duels.core.game import AnyGame
from duels.core.parent_watchdog import end_with
from duels.core.player import View
from duels.games import load
from duels.players import BUILT_IN, make, needs_solution
from duels.players.hints import search_hint, solved_hint

SEARCHES = ("ismcts",)  # computer players that run in a process


class ComputerPlayers:
    """Computes moves, hints and analyses outside the event loop."""

    def __init__(self) -> None:
        self._pools: dict[str, ProcessPoolExecutor] = {}
        self.thought = 0.0  # seconds spent on moves

    async def choose(self, level: str, stream: str, view: View) -> str:
        """The move of a computer player."""
        began = time.monotonic()
        if level in SEARCHES:
            move: str = await self._run("search", _choose, level, stream, view)
        else:
            move = await asyncio.to_thread(_choose, level, stream, view)
        self.thought += time.monotonic() - began
        return move

    async def hint(self, stream: str, view: View) -> tuple[str, str]:
        """A hint as a sentence, and the move it is about."""
        hint = await asyncio.to_thread(solved_hint, view)
        text, move = hint or await self._run("search", search_hint, view, stream)
        return text[0].upper() + text[1:], move

    async def analyse(self, text: str) -> bytes:
        """The analysis of a record as JSON; a DuelsError if it cannot be graded."""
        graded: bytes = await self._run("grade", _grade, text)
        return graded

    async def _run(self, pool: str, work: Any, *given: Any) -> Any:
        if pool not in self._pools:
            context = multiprocessing.get_context("spawn")
            self._pools[pool] = ProcessPoolExecutor(
                1, mp_context=context, initializer=end_with, initargs=(os.getpid(),)
            )
        return await asyncio.get_running_loop().run_in_executor(self._pools[pool], work, *given)

    def close(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)


def levels(game: AnyGame) -> list[str]:
    """The computer players that can play a game without solving it first, weakest first."""
    return [name for name in BUILT_IN if _ready(game) or not needs_solution(name)]


@lru_cache(1024)
def _ready(game: AnyGame) -> bool:
    try:
        return ready(game)
    except DuelsError:
        return False


def checked_level(name: str, game: AnyGame) -> str:
    """The name of a computer player, if it can play the game."""
    able = levels(game)
    if name in able:
        return name
    why = "is not solved with these options" if name in BUILT_IN else "has no such opponent"
    raise IllegalMove(f"{game.title} {why}; opponents are friend, {', '.join(able)}")


# Functions that run in a thread or a process.


def _choose(level: str, stream: str, view: View) -> str:
    return make(level, stream).choose(view)


def _grade(text: str) -> bytes:
    analysis = grade(record.loads(text, load))
    worst = [costliest(analysis, player) for player in (0, 1)]
    data = to_json(analysis)
    data["costliest"] = {
        str(player + 1): None if move is None else move.entry for player, move in enumerate(worst)
    }
    return msgspec.json.encode(data)
