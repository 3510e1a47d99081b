"""Whether the process works (`/healthz`), and whether it can serve matches now (`/readyz`).

A process that does not work is to be restarted. One that is not ready is to be sent no requests: a
restart would not bring back its database.
"""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from duels.web.answers import answer, refusal
from duels.web.hall import Hall
from duels.web.store import log

WITHIN = 5.0  # seconds for the store to read and write


class Health:
    """The two endpoints over one hall."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self._checking: asyncio.Task[str] | None = None
        self._reason = ""

    def routes(self) -> list[Route]:
        return [Route("/healthz", self.live), Route("/readyz", self.ready)]

    async def live(self, request: Request) -> Response:
        if not self.hall.store.alive:
            return refusal(503, "the store has failed; the process ends")
        return answer({"ok": True})

    async def ready(self, request: Request) -> Response:
        if self.hall.stopping:
            return refusal(503, "the server is stopping")
        if self._checking is None:  # one at a time, however many ask
            self._checking = asyncio.create_task(self._check())
        reason = await asyncio.shield(self._checking)
        return refusal(503, reason) if reason else answer({"ok": True})

    async def _check(self) -> str:
        """Why it is not ready, or nothing. What exactly is wrong is told in the log only."""
        reason, error = "", None
        try:
            await asyncio.wait_for(self.hall.store.check(), WITHIN)
        except TimeoutError:
            reason = f"the database has not answered within {WITHIN:g} seconds"
        except Exception as caught:
            reason, error = "the database cannot be read and written now; the log says why", caught
        finally:
            self._checking = None
        if reason != self._reason:
            log.warning("ready again" if not reason else f"not ready: {error or reason}")
            self._reason = reason
        return reason
