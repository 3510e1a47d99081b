"""Running the server: one process, or several on one port against PostgreSQL."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

import uvicorn
from starlette.types import ASGIApp

from duels.core.errors import DuelsError
from duels.web.app import make_app, make_hall
from duels.web.hall import Hall
from duels.web.settings import Settings
from duels.web.store import log

STOP_WITHIN = 10  # seconds
# Matches are not cyclic and there are many of them: looking through all is for when there is need.
COLLECTED = (100_000, 50, 50)
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def listen(settings: Settings) -> socket.socket:
    """The socket that is served; port 0 takes any that is free."""
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
    made.listen(2048)
    made.set_inheritable(True)
    return made


def address(settings: Settings, listening: socket.socket) -> str:
    """What to open in a browser."""
    host = settings.host if settings.host not in ("0.0.0.0", "::") else "127.0.0.1"
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


class Server(uvicorn.Server):
    """Tells the clients to come back before it closes their connections.

    It ends when its store has failed for good. With `pulse`, a file descriptor, it writes a byte
    there every second for as long as its event loop runs.
    """

    def __init__(self, config: uvicorn.Config, hall: Hall) -> None:
        super().__init__(config)
        self.hall = hall
        self.pulse: int | None = None
        self.failed = False

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        with self.capture_signals():
            await self.hall.open()  # here, so that a failure reaches the caller
            await self._serve(sockets)

    async def on_tick(self, counter: int) -> bool:
        if self.pulse is not None and counter % 10 == 0:
            with suppress(OSError):
                os.write(self.pulse, b".")
        if not self.hall.store.alive:
            log.critical("the server ends, as its store has failed")
            self.failed = True
            return True
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """A signal to stop is obeyed, and is not a failure."""
        usual = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in usual.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.hall.close()
        await super().shutdown(sockets)


def server(settings: Settings, token: str = "") -> Server:
    """A server, not running yet; with a token one of several."""
    hall = make_hall(settings)
    app: ASGIApp = make_app(hall)
    if token:
        from duels.web.forward import Forward

        app = Forward(app, hall, token)
    config = uvicorn.Config(
        app, ws="websockets-sansio", http="httptools", loop="uvloop",
        ws_max_size=settings.limits.frame, ws_per_message_deflate=False, ws_ping_interval=20.0,
        ws_ping_timeout=20.0, access_log=False, proxy_headers=False, log_level="warning",
        server_header=False, timeout_graceful_shutdown=STOP_WITHIN, lifespan="on", backlog=2048,
    )  # fmt: skip
    return Server(config, hall)


def run(
    settings: Settings, listening: socket.socket, token: str = "", pulse: int | None = None
) -> int:
    """Serve until a signal; 0 if it was stopped in order."""
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    logging.getLogger("asyncpg").setLevel(logging.ERROR)  # it tells of each attempt to reconnect
    sys.setswitchinterval(0.001)  # the thread of the store must not wait long for its turn
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED)
    made = server(settings, token)
    if pulse is not None:
        os.set_blocking(pulse, False)
        made.pulse = pulse
    sockets = [listening]
    if token:
        sockets.append(socket.create_server(("127.0.0.1", 0), backlog=2048))
        made.hall.address = f"127.0.0.1:{sockets[1].getsockname()[1]}"
    try:
        import uvloop

        uvloop.run(made.serve(sockets=sockets))
    except ImportError:
        asyncio.run(made.serve(sockets=sockets))
    return 0 if made.started and not made.failed else 1
