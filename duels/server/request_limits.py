"""The rate limit of requests and WebSocket handshakes, before anything is read from the store."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from duels.server.limits import CREATIONS, HANDSHAKES, HEALTH, REQUESTS, address_group
from duels.server.responses import refusal
from duels.server.room_manager import RoomManager
from duels.server.websocket import FORWARDED, POLICY_VIOLATION, address_of

ADMITTED = "duels.admitted"  # in the scope of a request that was counted already
ANSWERS = "websocket.http.response"  # extension: a handshake may be refused with any status
COMPUTED = ("/api/value/", "/api/learn/", "/api/puzzles/")
FOR_OPERATORS = ("/healthz", "/readyz", "/metrics")


def cost(path: str) -> float:
    """The tokens of a request for a path, by the work that it may cause.

    >>> cost("/static/js/main.js"), cost("/api/games"), cost("/match/ID/picture.png")
    (0.1, 1.0, 4.0)
    """
    if path.startswith("/static/") or path == "/favicon.ico":
        return 0.1
    if path.endswith("/picture.png"):
        return 4.0
    heavy = path.startswith(("/api/value/", "/api/learn/", "/api/puzzles/")) or path.endswith(
        ("/analysis", "/replay")
    )
    return 2.0 if heavy else 1.0


class RequestLimits:
    """ASGI middleware: each address has a rate of requests, of handshakes and of new matches.

    Requests for operators have a rate of their own, so that a health check is not refused because
    of other requests from its address.
    """

    def __init__(self, app: ASGIApp, manager: RoomManager) -> None:
        self.app, self.manager = app, manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self.check(scope)
        if refused is None:
            await self.app(scope, receive, send)
        else:
            await refused(scope, receive, send)

    def check(self, scope: Scope) -> ASGIApp | None:
        """Count a request, once; returns the response if it is refused.

        Another worker has counted the requests that it forwards.
        """
        if scope["type"] == "lifespan" or scope.get(FORWARDED) or scope.get(ADMITTED):
            return None
        scope[ADMITTED] = True
        if self._admits(scope):
            return None
        self.manager.metrics.limited += 1
        if scope["type"] == "websocket" and ANSWERS not in (scope.get("extensions") or {}):
            return _close
        return _refusal()

    def _admits(self, scope: Scope) -> bool:
        settings, limits = self.manager.settings.limits, self.manager.limits
        group = address_group(address_of(scope, self.manager.settings.proxy))
        if scope["type"] == "websocket":
            return limits.take(HANDSHAKES, group, settings.handshakes)
        path = scope["path"]
        if path in FOR_OPERATORS:
            return limits.take(HEALTH, group, settings.requests)
        return limits.take(REQUESTS, group, settings.requests, cost(path)) and (
            scope["method"] != "POST" or limits.take(CREATIONS, group, settings.creations)
        )


def _refusal() -> Response:
    """A refusal that closes the connection, so that requests sent after it are not even parsed."""
    made = refusal(429, "too many requests; wait a moment")
    made.headers["Retry-After"] = "2"
    made.headers["Connection"] = "close"
    return made


async def _close(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a handshake; the server responds with status 403."""
    await receive()
    await send({"type": "websocket.close", "code": POLICY_VIOLATION})
