"""The WebSocket of a match: who comes, what they say, and that nobody holds up the others."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from struct import pack
from typing import Any
from urllib.parse import urlsplit

from starlette.types import Message, Receive, Scope, Send

from duels.core.errors import DuelsError, IllegalMove, MalformedMove
from duels.web import commands as say
from duels.web import frames
from duels.web.desk import Desk
from duels.web.hall import Hall
from duels.web.keys import digest, is_key, is_room_id
from duels.web.limits import Bucket, Counts
from duels.web.lobby import place
from duels.web.room import Room
from duels.web.settings import Settings
from duels.web.store import Unavailable

FOR_GOOD, TOO_LARGE, TOO_MANY, COME_BACK = 1008, 1009, 1013, 1012
TEXT = 0x81  # the first byte of a frame: text, and the last of its message
GARBAGE = 4.0  # what a frame that makes no sense costs, in frames


class Socket:
    """One connection. What a reader is too slow for is not kept: its connection is cut.

    Frames are written straight to the transport that the server gives away in its scope, and those
    of one turn of the event loop together: a task for each, or a system call for each, would take
    longer than all the rest of sending it.
    """

    __slots__ = ("_closing", "_hall", "_send", "_transport", "_waiting", "digest", "known", "seat")

    def __init__(self, hall: Hall, send: Send, transport: Any) -> None:
        self._hall, self._send, self._transport = hall, send, transport
        self._closing: asyncio.Task[None] | None = None
        self._waiting: list[bytes] = []
        self.digest: str | None = None
        self.seat: int | None = None
        self.known = 0

    def send(self, frame: bytes) -> None:
        """Nobody waits for it."""
        if self._closing is not None:
            return
        waiting = self._waiting
        if not waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        size = len(frame)
        if size < 126:
            waiting.append(bytes((TEXT, size)))
        elif size < 65536:
            waiting.append(pack(">BBH", TEXT, 126, size))
        else:
            waiting.append(pack(">BBQ", TEXT, 127, size))
        waiting.append(frame)

    def _flush(self) -> None:
        transport, content = self._transport, b"".join(self._waiting)
        self._waiting.clear()
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > self._hall.settings.limits.backlog:
            self._hall.metrics.dropped += 1
            transport.abort()
            return
        transport.write(content)

    def dismiss(self, frame: bytes, code: int) -> None:
        """A last frame, then the connection is closed."""
        self.send(frame)
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(code))

    async def _close(self, code: int) -> None:
        with suppress(Exception):  # the connection is gone; its reader will notice
            await self._send({"type": "websocket.close", "code": code})

    async def finish(self, frame: bytes, code: int) -> None:
        """The same, waited for as long as it makes sense."""
        self.dismiss(frame, code)
        assert self._closing is not None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing, 2.0)

    @property
    def closing(self) -> bool:
        return self._closing is not None


class Sockets:
    """All connections of one process."""

    def __init__(self, hall: Hall) -> None:
        self.hall, self.settings, self.desk = hall, hall.settings, Desk(hall)
        limits = self.settings.limits
        self._addresses = Counts(limits.connections_per_address)
        self._keys = Counts(limits.connections_per_key)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert message["type"] == "websocket.connect"
        address = address_of(scope, self.settings.proxy)
        metrics = self.hall.metrics
        full = metrics.connections >= self.settings.limits.connections
        if not origin_fits(scope, self.settings) or full or not self._addresses.take(address):
            metrics.limited += 1
            await send({"type": "websocket.close", "code": FOR_GOOD})  # answered as 403
            return
        metrics.connections += 1
        try:
            await send({"type": "websocket.accept"})
            await self._serve(
                scope["path_params"]["id"], receive, Socket(self.hall, send, scope["transport"])
            )
        finally:
            metrics.connections -= 1
            self._addresses.give_back(address)

    async def _serve(self, id: str, receive: Receive, socket: Socket) -> None:
        try:
            hello = await asyncio.wait_for(self._hello(receive), self.settings.hello_within)
            if hello is None:
                return
            if not is_room_id(id):
                raise IllegalMove("there is no such match")
            room = await self.hall.room(id)
            if hello.key is not None:
                if not is_key(hello.key):
                    raise MalformedMove("a key has 43 characters of base64url")
                socket.digest = digest(hello.key)
                socket.seat = place(room.row, socket.digest)
        except TimeoutError:
            await self._refuse(socket, "expected a hello", FOR_GOOD)
            return
        except Unavailable:
            await socket.finish(frames.bye("The match cannot be read now.", 2.0), COME_BACK)
            return
        except DuelsError as error:
            await self._refuse(socket, str(error), FOR_GOOD)
            return
        if socket.digest is not None and not self._keys.take(socket.digest):
            self.hall.metrics.limited += 1
            await self._refuse(socket, "too many connections with this key", TOO_MANY)
            return
        try:
            await self.hall.enter(room, socket, hello.since)
            await self._listen(room, receive, socket)
        finally:
            self.hall.leave(room, socket)
            if socket.digest is not None:
                self._keys.give_back(socket.digest)

    async def _hello(self, receive: Receive) -> say.Hello | None:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return None
        frame = say.read(self._content(message))
        if not isinstance(frame, say.Hello):
            raise MalformedMove("expected a hello first")
        return frame

    def _content(self, message: Message) -> bytes | str:
        content: Any = message.get("text") or message.get("bytes") or b""
        if len(content) > self.settings.limits.frame:
            raise TooLarge(f"a frame has at most {self.settings.limits.frame} bytes")
        found: bytes | str = content
        return found

    async def _listen(self, room: Room, receive: Receive, socket: Socket) -> None:
        bucket = Bucket(*self.settings.limits.frames, now=time.monotonic())
        while not socket.closing:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                return
            if not bucket.take(time.monotonic()):
                self.hall.metrics.limited += 1
                await self._refuse(socket, "too many frames; wait a moment", FOR_GOOD)
                return
            try:
                wish = say.read(self._content(message))
                if isinstance(wish, say.Hello):
                    raise MalformedMove("there was a hello already")
            except TooLarge as error:
                await self._refuse(socket, str(error), TOO_LARGE)
                return
            except MalformedMove as error:
                bucket.left -= GARBAGE
                socket.send(frames.refused(None, error))
                continue
            socket.send(await self.desk.command(room, socket.seat, wish))

    async def _refuse(self, socket: Socket, reason: str, code: int) -> None:
        await socket.finish(frames.refusal(reason), code)


class TooLarge(MalformedMove):
    """More than a frame may hold."""


def origin_fits(scope: Scope, settings: Settings) -> bool:
    """A page of another site must not speak for whoever looks at it; programs have no origin."""
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
    """Where a request comes from; behind a proxy or another process, what that says last."""
    if proxy or scope.get("inside"):
        for name, value in reversed(scope["headers"]):
            if name == b"x-forwarded-for":
                return str(value.decode("latin-1").rpartition(",")[2].strip())
    client = scope.get("client")
    return client[0] if client else ""
