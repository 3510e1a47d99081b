"""Forwards requests about a room to the worker that holds its lease.

Each worker also listens on a port of its own for the others, which authenticate with a token.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from duels.client.identity import is_room_id
from duels.server.messages import bye
from duels.server.pages import SecurityHeaders
from duels.server.request_limits import RequestLimits
from duels.server.responses import refusal
from duels.server.room_manager import RoomManager
from duels.server.storage.base import Unavailable
from duels.server.websocket import (
    FORWARDED,
    POLICY_VIOLATION,
    SERVICE_RESTART,
    address_of,
    origin_fits,
)

ROOM = re.compile(r"/(?:ws|api/matches)/([^/]+)(?:/(?:join|leave|record|replay|analysis|fair))?\Z")
TOKEN = b"x-duels-worker"
TRIES, PAUSE = 20, 0.1  # while a worker that has died still holds the lease
CONNECT_WITHIN = 3.0  # seconds; then the lease is checked again, as the worker may hang
LOOK = 1.0  # seconds between two checks of the lease while a response is awaited
ANSWER_WITHIN = 120  # checks


class WorkerProxy:
    """ASGI middleware for one of several workers."""

    def __init__(self, app: ASGIApp, manager: RoomManager, token: str) -> None:
        self.app, self.manager, self.token = app, manager, token
        self.limits = RequestLimits(app, manager)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(TOKEN, b"").decode("latin-1")
        if hmac.compare_digest(given.encode(), self.token.encode()):
            scope[FORWARDED] = True
            await self.app(scope, receive, send)
            return
        if given:  # a client must not forge it
            scope["headers"] = [pair for pair in scope["headers"] if pair[0] != TOKEN]
        if (refused := self.limits.check(scope)) is not None:
            await SecurityHeaders(refused)(scope, receive, send)
            return
        found = ROOM.match(scope["path"])
        if found is None or not is_room_id(found[1]) or found[1] in self.manager.rooms:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(found[1], scope, receive, send)
        else:
            await self._request(found[1], scope, receive, send)

    def _headers(self, scope: Scope) -> dict[str, str]:
        address = address_of(scope, self.manager.settings.proxy)
        return {TOKEN.decode(): self.token, "x-forwarded-for": address}

    # WebSockets.

    async def _socket(self, id: str, scope: Scope, receive: Receive, send: Send) -> None:
        if not origin_fits(scope, self.manager.settings):
            await _refuse(receive, send)
            return
        other: ClientConnection | None = None
        try:
            for _ in range(TRIES):
                holder = await self.manager.store.lease_holder(id)
                if holder is None:
                    await self.app(scope, receive, send)
                    return
                try:
                    other = await connect(
                        f"ws://{holder}/ws/{id}", additional_headers=self._headers(scope),
                        compression=None, ping_interval=None, open_timeout=CONNECT_WITHIN,
                        max_queue=8,
                    )  # fmt: skip
                    break
                except InvalidStatus as error:
                    if error.response.status_code == 403:  # too many connections
                        await _refuse(receive, send)
                        return
                except (OSError, WebSocketException, TimeoutError):
                    pass
                await asyncio.sleep(PAUSE)
        except Unavailable:
            pass
        await receive()
        await send({"type": "websocket.accept"})
        if other is None:
            await send({"type": "websocket.send", "text": bye("Try again.", 1.0).decode()})
            await send({"type": "websocket.close", "code": SERVICE_RESTART})
            return
        self.manager.metrics.forwarded += 1
        upward = asyncio.create_task(_upward(receive, other))
        try:
            await _downward(other, send)
        finally:
            upward.cancel()
            await other.close()

    # HTTP.

    async def _request(self, id: str, scope: Scope, receive: Receive, send: Send) -> None:
        whole = bytearray()
        most = self.manager.settings.limits.message_size
        try:
            holder = await self.manager.store.lease_holder(id)
            if holder is None or scope["path"].endswith(
                id
            ):  # the match itself is read from the store
                await self.app(scope, receive, send)
                return
            while True:
                message = await receive()
                whole += message.get("body", b"")
                if not message.get("more_body") or len(whole) > most:
                    break
            for _ in range(TRIES):
                if holder is None:
                    await self.app(scope, _replay(bytes(whole)), send)
                    return
                with suppress(OSError, EOFError, ValueError):
                    await _forward(
                        holder, scope, self._headers(scope), bytes(whole[: most + 1]), send,
                        partial(self.manager.store.lease_holder, id),
                    )  # fmt: skip
                    self.manager.metrics.forwarded += 1
                    return
                await asyncio.sleep(PAUSE)
                holder = await self.manager.store.lease_holder(id)
        except Unavailable:
            pass
        await refusal(503, "the match is moving; try again")(scope, receive, send)


def _replay(body: bytes) -> Receive:
    """The receive function of a request whose body was read already."""

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _refuse(receive: Receive, send: Send) -> None:
    """Refuse a WebSocket; the server responds with status 403."""
    await receive()
    await send({"type": "websocket.close", "code": POLICY_VIOLATION})


async def _upward(receive: Receive, other: ClientConnection) -> None:
    with suppress(ConnectionClosed):
        while (message := await receive())["type"] != "websocket.disconnect":
            await other.send(message.get("text") or message.get("bytes") or b"")
    await other.close()


async def _downward(other: ClientConnection, send: Send) -> None:
    """Forward messages to the client. `send` waits for a slow reader; then the other worker's queue
    grows, and it disconnects."""
    code = SERVICE_RESTART
    try:
        async for message in other:
            await send({"type": "websocket.send", "text": message})
        code = other.close_code or SERVICE_RESTART
    except ConnectionClosed:
        code = other.close_code or SERVICE_RESTART
    except Exception:
        return  # the client is gone
    with suppress(Exception):
        await send({"type": "websocket.close", "code": SERVICE_RESTART if code == 1006 else code})


async def _forward(
    holder: str, scope: Scope, more: dict[str, str], body: bytes, send: Send,
    find_holder: Callable[[], Awaitable[str | None]],
) -> None:  # fmt: skip
    """Forward a request to another worker, and its response to the client.

    An OSError if the worker loses the lease before it responds, or does not respond.
    """
    host, _, port = holder.rpartition(":")
    reader, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), 5)
    try:
        path = scope["raw_path"].decode("latin-1")
        query = scope["query_string"].decode("latin-1")
        lines = [f"{scope['method']} {path}{'?' + query if query else ''} HTTP/1.1"]
        kept = (b"authorization", b"content-type", b"accept-encoding", b"host")
        lines += [f"{k.decode()}: {v.decode('latin-1')}" for k, v in scope["headers"] if k in kept]
        lines += [f"{name}: {value}" for name, value in more.items()]
        lines += [f"content-length: {len(body)}", "connection: close", "", ""]
        try:
            writer.write("\r\n".join(lines).encode("latin-1") + body)
        except RuntimeError as error:  # raised by uvloop if the connection is closed already
            raise ConnectionResetError(str(error)) from None
        await writer.drain()
        reading = asyncio.create_task(reader.readuntil(b"\r\n\r\n"))
        try:
            for _ in range(ANSWER_WITHIN):
                if (await asyncio.wait([reading], timeout=LOOK))[0]:
                    break
                if await find_holder() != holder:
                    raise ConnectionResetError("the worker has lost the lease")
            else:
                raise TimeoutError
            head = reading.result().split(b"\r\n")
        finally:
            reading.cancel()
        status = int(head[0].split()[1])
        pairs = [line.partition(b": ") for line in head[1:] if line]
        headers = [(name.lower(), value) for name, _, value in pairs]
        hidden = (b"connection", b"date", b"transfer-encoding")
        content = await reader.read()
    finally:
        writer.close()
    await send(
        {
            "type": "http.response.start", "status": status,
            "headers": [pair for pair in headers if pair[0] not in hidden],
        }
    )  # fmt: skip
    await send({"type": "http.response.body", "body": content})
