"""The WebSocket endpoint of a room: authentication, commands, a queue for outgoing messages."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any
from urllib.parse import urlsplit

from starlette.types import Message, Receive, Scope, Send

from duels.client.identity import digest, is_key, is_room_id
from duels.core.errors import DuelsError, IllegalMove, MalformedMove
from duels.server import commands, messages
from duels.server.command_handler import CommandHandler
from duels.server.limits import WEBSOCKETS, ConnectionCounter, TokenBucket, address_group
from duels.server.matchmaking import seat_of
from duels.server.room_manager import RoomManager
from duels.server.rooms import Room
from duels.server.settings import Settings
from duels.server.storage.base import Unavailable

# Close codes of WebSockets.
POLICY_VIOLATION, TOO_LARGE, SERVICE_RESTART, TRY_AGAIN_LATER = 1008, 1009, 1012, 1013
DISCONNECT: Message = {"type": "websocket.disconnect"}
CLOSE_WITHIN = 2.0  # seconds for the last message to a client
PATH = re.compile("/ws/([^/]+)")
FORWARDED = "duels.forwarded"  # in the scope of a request that another worker has forwarded
# Tokens, in addition to the one of every message.
MALFORMED_COST = 4.0
LOG_COST = 2.0


class WebSocketConnection:
    """One WebSocket with a bounded queue of outgoing messages.

    A task sends the queued messages, so a slow reader delays no other connection. A reader for
    which more than `Limits.backlog` bytes are queued is disconnected.
    """

    __slots__ = (
        "_close_code", "_manager", "_queue", "_queued", "_reader", "_receive", "_send", "_writer",
        "address", "closing", "current", "digest", "known", "seat", "wants_captions",
        "wants_changes",
    )  # fmt: skip

    def __init__(self, manager: RoomManager, receive: Receive, send: Send, address: str) -> None:
        self._manager, self._receive, self._send = manager, receive, send
        self.address = address
        self._queue: list[bytes] = []
        self._queued = 0  # bytes, with those of the message that is being sent
        self._writer: asyncio.Task[None] | None = None  # while there are messages to send
        self._reader: asyncio.Task[Any] | None = None  # while it waits for a message
        self._close_code: int | None = None  # to be sent after the queued messages
        self.closing = False
        self.digest: str | None = None
        self.seat: int | None = None
        self.known = 0
        self.wants_changes = self.wants_captions = self.current = False

    async def receive(self) -> Message:
        """The next message of the client; a disconnect message while the connection closes."""
        reader = self._reader = asyncio.current_task()
        try:
            return DISCONNECT if self.closing else await self._receive()
        except asyncio.CancelledError:
            if not self.closing or reader is None or reader.uncancel():
                raise  # the server cancels the task
            return DISCONNECT
        finally:
            self._reader = None

    def send(self, message: bytes) -> None:
        """Queue a message; never waits."""
        if self.closing:
            return
        if self._queued > self._manager.settings.limits.backlog:
            self._manager.metrics.dropped += 1
            self._stop()
            return
        self._queue.append(message)
        self._queued += len(message)
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())

    def dismiss(self, message: bytes, code: int) -> None:
        """Queue a last message, then close the connection with a code."""
        self.send(message)
        if not self.closing:
            self._close_code = code
            self._stop()

    async def close(self) -> None:
        """Send what `dismiss` has queued, for at most `CLOSE_WITHIN` seconds; discard the rest."""
        self.closing = True
        if (writer := self._writer) is not None:
            if self._close_code is not None:
                await asyncio.wait([writer], timeout=CLOSE_WITHIN)
            writer.cancel()

    def _stop(self) -> None:
        """Receive no more messages, so that the handler ends after its current command."""
        self.closing = True
        if self._reader is not None:
            self._reader.cancel()

    async def _write(self) -> None:
        try:
            while self._queue:
                batch, self._queue = self._queue, []
                for message in batch:
                    await self._send({"type": "websocket.send", "text": message.decode()})
                    self._queued -= len(message)
            if self._close_code is not None:
                await self._send({"type": "websocket.close", "code": self._close_code})
        except Exception:  # the client has disconnected; `receive` will say so
            self._queue, self._queued = [], 0
        finally:
            self._writer = None


class WebSocketEndpoint:
    """Accepts and serves the WebSocket connections of one process."""

    def __init__(self, manager: RoomManager) -> None:
        self.manager, self.settings = manager, manager.settings
        self.handler = CommandHandler(manager)
        self._keys = ConnectionCounter(self.settings.limits.connections_per_key)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert message["type"] == "websocket.connect"
        address = address_group(address_of(scope, self.settings.proxy))
        metrics, limits, shared = self.manager.metrics, self.settings.limits, self.manager.limits
        found = PATH.fullmatch(scope["path"].removeprefix(scope.get("root_path", "")))
        if (
            found is None
            or not origin_fits(scope, self.settings)
            or metrics.connections >= limits.connections
            or not shared.hold(WEBSOCKETS, address, limits.connections_per_address)
        ):
            metrics.limited += 1
            await send(
                {"type": "websocket.close", "code": POLICY_VIOLATION}
            )  # the server responds with status 403
            return
        metrics.connections += 1
        try:
            await send({"type": "websocket.accept"})
            connection = WebSocketConnection(self.manager, receive, send, address)
            try:
                await self._serve(found[1], connection)
            finally:
                await connection.close()
        finally:
            metrics.connections -= 1
            shared.release(WEBSOCKETS, address)

    async def _serve(self, id: str, connection: WebSocketConnection) -> None:
        try:
            hello = await asyncio.wait_for(self._hello(connection), self.settings.hello_within)
            if hello is None:
                return
            if hello.protocol not in (None, messages.PROTOCOL):
                raise OtherProtocol(
                    f"the server speaks protocol {messages.PROTOCOL}, this client"
                    f" {hello.protocol}: reload the page or update the client"
                )
            connection.wants_changes = hello.changes
            connection.wants_captions = hello.captions
            if not is_room_id(id):
                raise IllegalMove("there is no such match")
            room = await self.manager.room(id)
            if hello.key is not None:
                if not is_key(hello.key):
                    raise MalformedMove("a key must have 43 characters of base64url")
                connection.digest = digest(hello.key)
                if reason := self.manager.notices.ban(connection.digest):
                    raise IllegalMove(reason)
                connection.seat = seat_of(room.row, connection.digest)
        except TimeoutError:
            self._refuse(connection, "expected a hello", POLICY_VIOLATION)
            return
        except OtherProtocol as error:
            connection.dismiss(messages.refusal(str(error), reload=True), POLICY_VIOLATION)
            return
        except Unavailable:
            connection.dismiss(messages.bye("The match cannot be read now.", 2.0), SERVICE_RESTART)
            return
        except DuelsError as error:
            self._refuse(connection, str(error), POLICY_VIOLATION)
            return
        if connection.digest is not None and not self._keys.take(connection.digest):
            self.manager.metrics.limited += 1
            self._refuse(connection, "too many connections with this key", TRY_AGAIN_LATER)
            return
        try:
            await self.manager.enter(room, connection, hello.since)
            await self._listen(room, connection)
        finally:
            self.manager.leave(room, connection)
            if connection.digest is not None:
                self._keys.release(connection.digest)

    async def _hello(self, connection: WebSocketConnection) -> commands.Hello | None:
        message = await connection.receive()
        if message["type"] == "websocket.disconnect":
            return None
        hello = commands.read(self._content(message))
        if not isinstance(hello, commands.Hello):
            raise MalformedMove("expected a hello first")
        return hello

    def _content(self, message: Message) -> bytes | str:
        content: Any = message.get("text") or message.get("bytes") or b""
        if len(content) > self.settings.limits.message_size:
            raise MessageTooLarge(
                f"a message may have at most {self.settings.limits.message_size} bytes"
            )
        found: bytes | str = content
        return found

    async def _listen(self, room: Room, connection: WebSocketConnection) -> None:
        bucket = TokenBucket(*self.settings.limits.messages, now=time.monotonic())
        times = self.manager.metrics.histograms["command_seconds"]
        while True:
            message = await connection.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not bucket.take(time.monotonic()):
                self.manager.metrics.limited += 1
                self._refuse(connection, "too many messages; wait a moment", POLICY_VIOLATION)
                return
            try:
                command = commands.read(self._content(message))
                if isinstance(command, commands.Hello):
                    raise MalformedMove("hello was already sent; send it only once")
            except MessageTooLarge as error:
                self._refuse(connection, str(error), TOO_LARGE)
                return
            except MalformedMove as error:
                bucket.left -= MALFORMED_COST
                connection.send(messages.refused(None, error))
                continue
            if isinstance(command, commands.Log):
                bucket.left -= LOG_COST
            began = time.perf_counter()
            connection.send(await self.handler.execute(room, connection.seat, command))
            times.observe(time.perf_counter() - began)

    def _refuse(self, connection: WebSocketConnection, reason: str, code: int) -> None:
        connection.dismiss(messages.refusal(reason), code)


class OtherProtocol(IllegalMove):
    """The client speaks another version of the protocol."""


class MessageTooLarge(MalformedMove):
    """A message is larger than allowed."""


def origin_fits(scope: Scope, settings: Settings) -> bool:
    """Whether the origin is allowed, so that pages of other sites cannot use a visitor's key.

    Programs other than browsers send no origin.
    """
    headers = dict(scope["headers"])
    origin = headers.get(b"origin")
    if origin is None:
        return True
    text = origin.decode("latin-1")
    if text in settings.origins:
        return True
    host = headers.get(b"host", b"").decode("latin-1")
    try:
        return bool(host) and urlsplit(text).netloc.lower() == host.lower()
    except ValueError:
        return False


def address_of(scope: Scope, proxy: bool) -> str:
    """The address of the client; behind a proxy or another worker, the last one it forwards."""
    if proxy or scope.get(FORWARDED):
        for name, value in reversed(scope["headers"]):
            if name == b"x-forwarded-for":
                return str(value.decode("latin-1").rpartition(",")[2].strip())
    client = scope.get("client")
    return client[0] if client else ""
