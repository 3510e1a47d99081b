"""Worker pools for computer players, hints and grading.

Looking up a move takes less than a millisecond and runs in a thread. Searching and grading run in
processes, which end with the server even if it is killed. Users take turns at them, and the event
loop has priority over them.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import date
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
from duels.players import BUILT_IN, make_opponent, needs_solution
from duels.players.hints import search_hint, solved_hint
from duels.server import study
from duels.server.explored import explored
from duels.server.fair_queue import FairQueue
from duels.server.metrics import Histogram

SEARCHES = ("ismcts",)  # computer players that search, and therefore run in a process
SEARCH, GRADE = "search", "grade"  # pools
NICENESS = 5  # of the processes


class ComputerPlayers:
    """Computes moves, hints and analyses outside the event loop.

    The user is the address group that waits for the result.
    """

    def __init__(self, most: int) -> None:
        self._pools: dict[str, ProcessPoolExecutor] = {}
        self._queues = {pool: FairQueue(most) for pool in (SEARCH, GRADE)}
        self.times = Histogram()  # of moves, for the metrics

    @property
    def searching(self) -> int:
        """How many users wait for their turn at searching."""
        return self._queues[SEARCH].users

    def full(self, user: str) -> bool:
        """Whether a user waits for as many moves and hints as allowed."""
        return self._queues[SEARCH].full(user)

    @staticmethod
    def searches(level: str) -> bool:
        """Whether a computer player searches."""
        return level in SEARCHES

    async def choose(self, user: str, level: str, stream: str, view: View) -> str:
        """The move of a computer player."""
        began = time.monotonic()
        if self.searches(level):
            move: str = await self._run(SEARCH, user, _choose, level, stream, view)
        else:
            move = await asyncio.to_thread(_choose, level, stream, view)
        self.times.observe(time.monotonic() - began)
        return move

    async def hint(self, user: str, stream: str, view: View) -> tuple[str, str]:
        """A hint as a sentence, and the move it is about."""
        hint = await asyncio.to_thread(solved_hint, view)
        text, move = hint or await self._run(SEARCH, user, search_hint, view, stream)
        return text[0].upper() + text[1:], move

    async def analyse(self, user: str, text: str) -> bytes:
        """The analysis of a record as JSON; a DuelsError if it cannot be graded."""
        graded: bytes = await self._run(GRADE, user, _grade, text)
        return graded

    async def explore(
        self, user: str, slug: str, options: dict[str, str], after: list[str]
    ) -> bytes:
        """The position after these picks and outcomes, as JSON; a DuelsError if it is refused."""
        found: bytes = await self._run(GRADE, user, explored, slug, options, after)
        return found

    async def lesson(self, user: str, slug: str) -> bytes:
        """What Learn shows of a game, as JSON."""
        found: bytes = await self._run(GRADE, user, study.lesson, slug)
        return found

    async def puzzles_of_day(self, user: str, day: date) -> bytes:
        """The puzzles of a day, as JSON."""
        found: bytes = await self._run(GRADE, user, study.puzzles_of_day, day)
        return found

    async def practice(self, user: str, page: int, slug: str | None) -> bytes:
        """A page of puzzles for practice, as JSON."""
        found: bytes = await self._run(GRADE, user, study.practice, page, slug)
        return found

    async def _run(self, pool: str, user: str, work: Any, *given: Any) -> Any:
        """Run a function in the process of a pool, which is started on first use."""
        if pool not in self._pools:
            context = multiprocessing.get_context("spawn")
            self._pools[pool] = ProcessPoolExecutor(
                1, mp_context=context, initializer=_start_process, initargs=(os.getpid(),)
            )
        queue, loop = self._queues[pool], asyncio.get_running_loop()
        await queue.turn(user)
        try:
            job = self._pools[pool].submit(work, *given)
        except BaseException:
            queue.release()
            raise

        def done(_: Any) -> None:  # also if the caller is cancelled and the process continues
            with suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(queue.release)

        job.add_done_callback(done)
        return await asyncio.wrap_future(job)

    def close(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)


def levels(game: AnyGame) -> list[str]:
    """The computer players that can play a game without solving it first, as in `BUILT_IN`."""
    return [name for name in BUILT_IN if _ready(game) or not needs_solution(name)]


@lru_cache(1024)
def _ready(game: AnyGame) -> bool:
    try:
        return ready(game)
    except DuelsError:
        return False


def checked_level(name: str, game: AnyGame) -> str:
    """The name of a computer player; IllegalMove if it cannot play the game."""
    able = levels(game)
    if name in able:
        return name
    why = "is not solved with these options" if name in BUILT_IN else "has no such opponent"
    raise IllegalMove(f"{game.title} {why}; opponents are friend, {', '.join(able)}")


# Functions that run in a thread or a process.


def _start_process(server: int) -> None:
    end_with(server)
    if hasattr(os, "nice"):
        os.nice(NICENESS)


def _choose(level: str, stream: str, view: View) -> str:
    return make_opponent(level, stream).choose(view)


def _grade(text: str) -> bytes:
    analysis = grade(record.loads(text, load))
    worst = [costliest(analysis, player) for player in (0, 1)]
    data = to_json(analysis)
    data["costliest"] = {
        str(player + 1): None if move is None else move.entry for player, move in enumerate(worst)
    }
    return msgspec.json.encode(data)
