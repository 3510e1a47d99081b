"""The application: pages, HTTP and WebSockets over one hall."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from duels.core.wire import Find
from duels.games import load
from duels.web.answers import answer, refusal
from duels.web.api import Api
from duels.web.hall import Hall
from duels.web.health import Health
from duels.web.openapi import document
from duels.web.pages import Pages, Safe
from duels.web.settings import Settings, data_folder
from duels.web.sockets import Sockets
from duels.web.store import Store


def store_of(database: str, reading: bool = False) -> Store:
    """The store at an address: PostgreSQL or an SQLite file, opened read-only on request."""
    if database.startswith(("postgresql://", "postgres://")):
        from duels.web.postgres import PostgresStore

        return PostgresStore(database)
    from duels.web.sqlite import SqliteStore

    return SqliteStore(database or f"{data_folder()}/duels.sqlite", reading)


def make_hall(settings: Settings, find: Find = load) -> Hall:
    return Hall(settings, store_of(settings.database), find)


def make_app(hall: Hall) -> Starlette:
    """The application over a hall, which is opened and closed with it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await hall.open()
        try:
            yield
        finally:
            await hall.close()

    pages = Pages(hall)

    async def described(request: Request) -> Response:
        return answer(document())

    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        reader = "text/html" in request.headers.get("accept", "")
        if error.status_code == 404 and reader and not request.url.path.startswith("/api/"):
            found = await pages.page(request)  # it says so itself
            found.status_code = 404
            return found
        return refusal(error.status_code, str(error.detail))

    return Starlette(
        routes=[
            *Api(hall).routes(),
            *Health(hall).routes(),
            Route("/api/openapi.json", described),
            *pages.routes(),
            WebSocketRoute("/ws/{id}", Sockets(hall)),
        ],
        middleware=[Middleware(Safe)],
        exception_handlers={HTTPException: unknown},
        lifespan=lifespan,
    )
