"""A TCP proxy in front of a database, whose connections can be cut or frozen."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress


class Proxy:
    """Passes bytes on to a port of this machine until it is told not to."""

    def __init__(self, target: int) -> None:
        self.target = target
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._server: asyncio.Server | None = None
        self.port = 0
        self.passes_ends = True  # False: when one side ends, the other is not told

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """Reset every connection, as a router that loses its state does."""
        for writer in list(self._writers):
            made = writer.get_extra_info("socket")
            with suppress(OSError):
                made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def freeze(self) -> None:
        """Pass nothing on and say nothing, as when a cable is pulled out."""
        self._flowing.clear()

    def thaw(self) -> None:
        self._flowing.set()

    async def close(self) -> None:
        if self._server is None:
            return
        self._server.close()
        self.thaw()
        self.cut()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._flowing.wait()
        try:
            there = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there[1]}
        await asyncio.gather(self._copy(reader, there[1]), self._copy(there[0], writer))
        self._writers -= {writer, there[1]}

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        if self.passes_ends:
            writer.close()
