"""Liveness (`/healthz`) and readiness (`/readyz`).

A process that is not alive must be restarted. A server that is not ready must not be sent requests;
a restart would not help, since its database is unavailable. Liveness is that of one process,
readiness that of all workers, as any of them may get the next request.
"""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from duels.server.responses import json_response, refusal
from duels.server.room_manager import RoomManager
from duels.server.storage.base import log

WITHIN = 5.0  # seconds for the store to read and write


class Health:
    """The endpoints of liveness and readiness."""

    def __init__(self, manager: RoomManager) -> None:
        self.manager = manager
        self._checking: asyncio.Task[str] | None = None
        self._reason = ""

    def routes(self) -> list[Route]:
        return [Route("/healthz", self.live), Route("/readyz", self.ready)]

    async def live(self, request: Request) -> Response:
        if not self.manager.store.alive:
            return refusal(503, "the store has failed; the process ends")
        return json_response({"ok": True})

    async def ready(self, request: Request) -> Response:
        if self.manager.stopping:
            return refusal(503, "the server is stopping")
        if self._checking is None:  # one check at a time serves all requests
            self._checking = asyncio.create_task(self._check())
        reason = await asyncio.shield(self._checking)
        return refusal(503, reason) if reason else json_response({"ok": True})

    async def _check(self) -> str:
        """The reason why it is not ready, or an empty text. Details are in the log only."""
        reason, error = "", None
        try:
            await asyncio.wait_for(self.manager.store.check(), WITHIN)
        except TimeoutError:
            reason = f"the database has not answered within {WITHIN:g} seconds"
        except Exception as caught:
            reason, error = "the database cannot be read and written now; the log says why", caught
        finally:
            self._checking = None
        if not reason and self.manager.heartbeats is not None:
            reason = self.manager.heartbeats.problem()
        if reason != self._reason:
            log.warning("ready again" if not reason else f"not ready: {error or reason}")
            self._reason = reason
        return reason
