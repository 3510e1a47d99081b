"""What a process does in the background: tasks that are logged when they fail, and due matches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Coroutine
from typing import Any

from duels.core.errors import DuelsError
from duels.web.store import Conflict, Store, Unavailable, log

AT_ONCE = 100  # matches that are due


class Tasks:
    """Background tasks, which are kept from being collected and end with `close`."""

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
        """Cancel them, and wait until they have ended, or for so many seconds."""
        for task in list(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=within)


async def look_at_due(
    store: Store, now: float, ours: Container[str], look: Callable[[str], Awaitable[None]]
) -> None:
    """Look at every match that is due and that no other process has.

    A match that fails is reported and left out from then on; the others are looked at.
    """
    try:
        for id in await store.due(now, AT_ONCE):
            if id in store.damage.rooms:
                continue
            try:
                if id in ours or await store.owner(id) is None:
                    await look(id)
            except Unavailable:
                raise
            except Conflict:
                log.warning("the match %s was changed meanwhile", id)
            except Exception as error:
                store.damage.report(id, error)
    except DuelsError as error:
        log.warning("what is due must wait: %s", error)
    except Exception:
        log.exception("looking at what is due failed")
