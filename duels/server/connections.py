"""uvicorn's protocols with limits of TCP connections, which an ASGI application cannot enforce.

A connection is counted for its address from its start to its end, through the upgrade to a
WebSocket. It is closed if a request is not complete in time or its headers are too large.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from duels.server.limits import CONNECTS, SOCKETS, TokenBucket, address_group
from duels.server.messages import refusal
from duels.server.room_manager import RoomManager

PIPELINED = 8  # requests of a connection that wait for the response to an earlier one
RESERVED = 128  # open files besides connections, at least: the store, other workers, listening
PHRASES = {
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


def raise_file_limit() -> int | None:
    """Raise the limit of open files as far as allowed; returns it, or None if there is none."""
    try:
        import resource
    except ImportError:  # not on this operating system
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (ValueError, OSError):  # some systems have a lower limit besides
            pass
    return None if soft == resource.RLIM_INFINITY else soft


def most_connections(wanted: int, files: int | None) -> int:
    """The connections that a process accepts with a limit of open files.

    >>> most_connections(20_000, 1024), most_connections(20_000, 524_288)
    (896, 20000)
    """
    return wanted if files is None else min(wanted, files - max(RESERVED, files // 16))


class ConnectionLimits:
    """Counts the connections of a process, and refuses those beyond the limits."""

    def __init__(self, manager: RoomManager, files: int | None = None) -> None:
        self.manager = manager
        self.most = most_connections(manager.settings.limits.connections, files)
        self.open = 0

    def group(self, transport: asyncio.BaseTransport) -> str | None:
        """The address group for which a connection counts; None for those of proxies and workers.

        A reverse proxy limits the connections of its clients itself.
        """
        own = transport.get_extra_info("sockname")
        peer = transport.get_extra_info("peername")
        if self.manager.settings.proxy or not isinstance(peer, tuple):
            return None
        if self.manager.address and f"{own[0]}:{own[1]}" == self.manager.address:
            return None
        return address_group(peer[0])

    def enter(self, group: str | None) -> tuple[int, str] | None:
        """Count a connection, or return the status and reason of its refusal."""
        limits, shared = self.manager.settings.limits, self.manager.limits
        if self.open >= self.most:
            return 503, "the server has too many connections; try again later"
        if group is not None:
            if not shared.take(CONNECTS, group, limits.connects):
                return 429, "too many new connections; wait a moment"
            if not shared.hold(SOCKETS, group, 2 * limits.connections_per_address):
                return 429, "too many connections from this address"
        self.open += 1
        return None

    def leave(self, group: str | None) -> None:
        self.open -= 1
        if group is not None:
            self.manager.limits.release(SOCKETS, group)


class Config(uvicorn.Config):
    """uvicorn's settings with limits of connections."""

    def __init__(self, app: Any, limits: ConnectionLimits, **given: Any) -> None:
        super().__init__(app, http=HttpProtocol, ws=WebSocketProtocol, **given)
        self.limits = limits


class HttpProtocol(HttpToolsProtocol):
    """An HTTP connection with limits."""

    config: Config

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._limits = self.config.limits.manager.settings.limits
        self._refused = self._upgraded = False
        self._group: str | None = None
        self._timer: asyncio.TimerHandle | None = None  # while a request is awaited or incomplete
        self._begun = 0  # requests whose headers are complete
        self._in_headers = True
        self._headers_size = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        made = cast(asyncio.Transport, transport)
        self._group = self.config.limits.group(made)
        refused = self.config.limits.enter(self._group)
        if refused is not None:
            self._refused, self.transport = True, made
            self._refuse(*refused)
            return
        super().connection_made(made)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        if self._refused:
            del self.parser  # else a cycle: a flood would cause long garbage collections
        else:
            self.config.limits.leave(self._group)
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data in pieces, so that headers that are too large are not parsed to their end."""
        if self._refused:
            return
        if self._timer is None:
            self._wait()
        while data:
            size = self._limits.header_size - self._headers_size
            piece, data, begun = data[:size], data[size:], self._begun
            super().data_received(piece)
            if self._upgraded or self.transport.is_closing():
                return
            continued = self._in_headers and begun == self._begun
            self._headers_size = self._headers_size + len(piece) if continued else 0
            if self._headers_size >= self._limits.header_size:
                self._refuse(431, f"headers may have at most {self._limits.header_size} bytes")
                return

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= PIPELINED:
            raise ValueError("too many requests at once")  # the parser stops; uvicorn sends 400
        if self._timer is None:
            self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._begun += 1
        self._in_headers = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_headers = True
        self._cancel()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """Pass the connection, and its count, to a WebSocketProtocol."""
        self._upgraded = True
        self._cancel()
        super().handle_websocket_upgrade()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self._limits.request_within, self._late)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        """Close the connection, unless this server has stopped reading from it."""
        self._timer = None
        if self.flow.read_paused:
            self._wait()
        else:
            self.config.limits.manager.metrics.limited += 1
            self.transport.close()

    def _refuse(self, status: int, reason: str) -> None:
        self.config.limits.manager.metrics.limited += 1
        body = refusal(reason)
        head = (
            f"HTTP/1.1 {status} {PHRASES[status]}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\nretry-after: 5\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket connection that HttpProtocol has counted, with a limit of control frames."""

    config: Config

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        limits = self.config.limits.manager.settings.limits
        self._group: str | None = None
        self._timer: asyncio.TimerHandle | None = None  # until the handshake is complete
        self._within, self._piece = limits.request_within, limits.message_size
        self._queued = 4 * limits.messages[1]  # messages that the application has not read yet
        self._pings = TokenBucket(*limits.messages, now=self.loop.time())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._group = self.config.limits.group(transport)
        super().connection_made(transport)
        self._timer = self.loop.call_later(self._within, self._late)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.config.limits.leave(self._group)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data in pieces, so that a flood of small messages is not parsed to its end."""
        while data and not self.transport.is_closing():
            piece, data = data[: self._piece], data[self._piece :]
            super().data_received(piece)
            if self.queue.qsize() > self._queued:
                self._abort()

    def handle_ping(self) -> None:
        if self._pings.take(self.loop.time()):
            super().handle_ping()
        else:
            self._abort()

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True  # refused; else uvicorn logs an error for each refusal

    def _late(self) -> None:
        """Close the connection if there was no complete handshake."""
        self._timer = None
        if not self.handshake_complete:
            self._abort()

    def _abort(self) -> None:
        self.config.limits.manager.metrics.limited += 1
        self.transport.abort()
