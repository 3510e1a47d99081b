"""Asks a model: a bounded number of calls at a time, and every answer is stored before it is used.

A dialogue is anything with `messages`, `view`, `done` and `hear`: `duels.llm.dialogue.Dialogue`,
and those of the modes `quiz` and `code`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from duels.algorithms.solution import Progress
from duels.core.errors import DuelsError
from duels.core.player import View
from duels.llm.answers import Answer, Answers, key_of
from duels.llm.dialogue import Message, Reply
from duels.llm.endpoint import Endpoint


class Price(NamedTuple):
    """US dollars for a million tokens."""

    read: float
    written: float

    def of(self, read: int, written: int) -> float:
        return (read * self.read + written * self.written) / 1e6


class Stopped(DuelsError):
    """A run that was ended by its budget; what it asked is stored."""


class Asked(Protocol):
    """A dialogue with a model."""

    messages: list[Message]
    view: View

    @property
    def done(self) -> bool: ...

    def hear(self, reply: Reply) -> None: ...


class Usage(NamedTuple):
    """What some answers cost."""

    calls: int
    read: int
    written: int


class Run:
    """Brings dialogues to their end. `progress` is called when a job is finished."""

    def __init__(
        self, endpoint: Endpoint, *, folder: Path | None = None, concurrency: int = 8,
        price: Price | None = None, budget: float | None = None, progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self.endpoint, self.price, self.budget, self.progress = endpoint, price, budget, progress
        self.answers = Answers(folder)
        self.used: dict[str, Answer] = {}  # by key: what this run's dialogues were answered
        self.asked = 0  # calls of this process, without those that were stored
        self.spent = 0.0  # dollars of these calls
        self._pending: dict[str, asyncio.Task[Answer]] = {}
        self._concurrency, self._gate = concurrency, asyncio.Semaphore(concurrency)

    def together(self, jobs: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Run all jobs; the first error ends the others."""
        try:
            asyncio.run(self._together(jobs))
        finally:
            for job in jobs:
                job.close()

    async def _together(self, jobs: Sequence[Coroutine[Any, Any, None]]) -> None:
        self._gate, self._pending = asyncio.Semaphore(self._concurrency), {}
        finished = 0

        async def counted(job: Coroutine[Any, Any, None]) -> None:
            nonlocal finished
            await job
            finished += 1
            if self.progress is not None:
                money = "" if self.price is None else f", {self.spent:.2f} USD"
                self.progress(finished / len(jobs), f"{finished:,} of {len(jobs):,}{money}")

        try:
            async with asyncio.TaskGroup() as group:
                for job in jobs:
                    group.create_task(counted(job))
        except* DuelsError as errors:
            raise _first(errors) from None
        finally:
            await self.endpoint.close()

    async def finish(self, dialogue: Asked, sample: int) -> None:
        """Bring one dialogue to its end. Equal questions with the same sample are asked once."""
        while not dialogue.done:
            endpoint, messages = self.endpoint, list(dialogue.messages)
            key = key_of(endpoint.name, endpoint.parameters, messages, sample)
            answer = self.answers.get(key)
            if answer is None:
                if key not in self._pending:
                    asking = self._ask(key, messages, sample, dialogue.view)
                    self._pending[key] = asyncio.create_task(asking)
                    self._pending[key].add_done_callback(_noted)
                answer = await self._pending[key]
            self.used[key] = answer
            dialogue.hear(answer.reply)

    async def _ask(
        self, key: str, messages: list[Message], sample: int, view: View
    ) -> Answer:  # fmt: skip
        async with self._gate:
            if self.budget is not None and self.spent >= self.budget:
                raise Stopped(
                    f"the budget of {self.budget:g} USD is spent; the answers are stored, and the "
                    "same command with a larger budget continues"
                )
            answer = await self.endpoint.ask(messages, sample, view)
            self.answers.put(key, answer)
            self.asked += 1
            if self.price is not None:
                self.spent += self.price.of(answer.read, answer.written)
            return answer

    def usage(self, before: set[str]) -> Usage:
        """What the answers cost that were used and are not in `before`, stored ones included."""
        found = [answer for key, answer in self.used.items() if key not in before]
        read, written = (sum(getattr(a, name) for a in found) for name in ("read", "written"))
        return Usage(len(found), read, written)


def _first(errors: BaseExceptionGroup[DuelsError]) -> DuelsError:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, DuelsError)
    return found


def _noted(task: asyncio.Task[Answer]) -> None:
    """Take note of an exception, so that asyncio prints none if all that awaited it have ended."""
    if not task.cancelled():
        task.exception()
