"""The ASGI application: pages, HTTP API and WebSockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from duels.core.wire import Find
from duels.games import load
from duels.server.health import Health
from duels.server.metrics import RequestTimer
from duels.server.openapi import document
from duels.server.pages import Pages, SecurityHeaders
from duels.server.request_limits import RequestLimits
from duels.server.responses import json_response, refusal
from duels.server.room_manager import RoomManager
from duels.server.routes import Api
from duels.server.settings import Settings
from duels.server.storage import default_path, is_postgres
from duels.server.storage.base import RoomStore
from duels.server.websocket import WebSocketEndpoint


def store_of(database: str, reading: bool = False, beside: bool = False) -> RoomStore:
    """The store at an address: PostgreSQL or an SQLite file.

    An SQLite file is opened read-only, or for writing beside a running server, on request.
    """
    if is_postgres(database):
        from duels.server.storage.postgres import PostgresStore

        return PostgresStore(database)
    from duels.server.storage.sqlite import SqliteStore

    return SqliteStore(database or default_path(), reading, beside)


def make_room_manager(settings: Settings, find: Find = load) -> RoomManager:
    """A room manager with the store that the settings name."""
    return RoomManager(settings, store_of(settings.database), find)


def make_app(manager: RoomManager) -> ASGIApp:
    """The application; its lifespan opens and closes the room manager.

    WebSockets bypass Starlette, whose layers would cost memory for each connection and time for
    each message.
    """
    limits = RequestLimits(WebSocketEndpoint(manager), manager)
    http = _http(manager)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await (limits.check(scope) or limits.app)(scope, receive, send)
        else:
            await http(scope, receive, send)

    return app


def _http(manager: RoomManager) -> Starlette:

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await manager.open()
        try:
            yield
        finally:
            await manager.close()

    pages = Pages(manager)

    async def described(request: Request) -> Response:
        return json_response(document())

    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        reader = "text/html" in request.headers.get("accept", "")
        if error.status_code == 404 and reader and not request.url.path.startswith("/api/"):
            found = await pages.page(request)  # the page shows that the address does not exist
            found.status_code = 404
            return found
        return refusal(error.status_code, str(error.detail))

    return Starlette(
        routes=[
            *Api(manager).routes(),
            *Health(manager).routes(),
            Route("/api/openapi.json", described),
            *pages.routes(),
        ],
        middleware=[
            Middleware(RequestTimer, manager.metrics.histograms["request_seconds"]),
            Middleware(SecurityHeaders, pages.version),
            Middleware(RequestLimits, manager),
        ],
        exception_handlers={HTTPException: unknown},
        lifespan=lifespan,
    )
