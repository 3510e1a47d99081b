"""Background tasks, and the processing of matches whose deadline has passed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Coroutine
from typing import Any

from duels.core.errors import DuelsError
from duels.server.storage.base import Conflict, RoomStore, Unavailable, log

AT_ONCE = 100  # due matches read from the store


class Tasks:
    """Background tasks: referenced until they end, logged if they fail, cancelled by `close`."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            level = logging.WARNING if isinstance(error, Unavailable) else logging.ERROR
            log.log(level, "a task failed: %s", type(error).__name__, exc_info=error)

    async def close(self, within: float) -> None:
        """Cancel all tasks and wait for them, at most `within` seconds."""
        for task in list(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=within)


async def process_due(
    store: RoomStore, now: float, ours: Container[str], process: Callable[[str], Awaitable[None]]
) -> None:
    """Process every due match whose lease no other process holds.

    A match that fails is reported and skipped from then on.
    """
    try:
        for id in await store.due(now, AT_ONCE):
            if id in store.damage.rooms:
                continue
            try:
                if id in ours or await store.lease_holder(id) is None:
                    await process(id)
            except Unavailable:
                raise
            except Conflict:
                log.warning("the match %s was changed by another process", id)
            except Exception as error:
                store.damage.report(id, error)
    except DuelsError as error:
        log.warning("due matches cannot be processed now: %s", error)
    except Exception:
        log.exception("processing due matches failed")
