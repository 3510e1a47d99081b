"""Running the server: one process, or several on one port against PostgreSQL."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from duels.core.errors import DuelsError
from duels.server.app import make_app, make_room_manager
from duels.server.connections import Config, ConnectionLimits, raise_file_limit
from duels.server.heartbeats import Heartbeats
from duels.server.limits import LimitTable
from duels.server.metrics import SharedFigures
from duels.server.room_manager import RoomManager
from duels.server.settings import Settings
from duels.server.storage.base import log

STOP_WITHIN = 10  # seconds
UNREAD_WITHIN = 60_000  # milliseconds for a client to read data in the send buffer
# Matches form no cycles, and there are many: collections of old objects are rare. Those of new
# objects are short (100,000 would take 80 ms).
COLLECTED = (10_000, 500, 50)
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def listen(settings: Settings) -> socket.socket:
    """A listening socket; port 0 takes any free port."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.port))
    except OSError as error:
        made.close()
        raise DuelsError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror}"
        ) from None
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # else a client that reads nothing is never closed
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_WITHIN)
    made.listen(2048)
    made.set_inheritable(True)
    return made


def address(settings: Settings, listening: socket.socket) -> str:
    """The address to open in a browser."""
    host = settings.host if settings.host not in ("0.0.0.0", "::") else "127.0.0.1"
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


class Server(uvicorn.Server):
    """Asks the clients to reconnect before it closes their connections.

    It ends when its store has failed permanently. As one of several workers it sends heartbeats
    until it stops.
    """

    def __init__(self, config: uvicorn.Config, manager: RoomManager) -> None:
        super().__init__(config)
        self.manager = manager
        self.failed = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.manager.open()  # before the lifespan, so that the caller gets its exceptions
        await super().startup(sockets)

    async def on_tick(self, counter: int) -> bool:
        if self.manager.heartbeats is not None:
            self.manager.heartbeats.beat()
            self.manager.metrics.publish()
        if not self.manager.store.alive:
            log.critical("the server is stopping because its store has failed")
            self.failed = True
            return True
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop at a signal, without raising it again at the end as uvicorn does."""
        usual = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in usual.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.manager.heartbeats is not None:
            self.manager.heartbeats.clear()
        await self.manager.close()
        await super().shutdown(sockets)
        self.manager.metrics.publish()


def server(settings: Settings, token: str = "", files: int | None = None) -> Server:
    """A server that is not running yet; with a token it is one of several workers.

    It accepts fewer connections than `files`, the limit of open files.
    """
    manager = make_room_manager(settings)
    app: ASGIApp = make_app(manager)
    if token:
        from duels.server.worker_proxy import WorkerProxy

        app = WorkerProxy(app, manager, token)
    config = Config(
        app, ConnectionLimits(manager, files), loop="uvloop",
        ws_max_size=settings.limits.message_size, ws_per_message_deflate=False,
        ws_ping_interval=20.0, ws_ping_timeout=20.0, access_log=False, proxy_headers=False,
        log_level="error",  # any client can cause warnings
        server_header=False, timeout_graceful_shutdown=STOP_WITHIN, lifespan="on", backlog=2048,
    )  # fmt: skip
    return Server(config, manager)


def run(
    settings: Settings,
    listening: list[socket.socket],
    token: str = "",
    heartbeats: Heartbeats | None = None,
    figures: SharedFigures | None = None,
    limits: LimitTable | None = None,
) -> int:
    """Serve until a signal; returns 0 if there was no failure."""
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    logging.getLogger("asyncpg").setLevel(logging.ERROR)  # it logs each attempt to reconnect
    sys.setswitchinterval(0.001)  # the thread of the store must not wait long for the GIL
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED)
    made = server(settings, token, raise_file_limit())
    made.manager.heartbeats, made.manager.metrics.shared = heartbeats, figures
    if limits is not None:
        made.manager.limits = limits
    sockets = [*listening]
    if token:
        sockets.append(socket.create_server(("127.0.0.1", 0), backlog=2048))
        made.manager.address = f"127.0.0.1:{sockets[-1].getsockname()[1]}"
    try:
        import uvloop

        uvloop.run(made.serve(sockets=sockets))
    except ImportError:
        asyncio.run(made.serve(sockets=sockets))
    return 0 if made.started and not made.failed else 1
