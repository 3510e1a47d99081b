"""Connections by hand over plain sockets, which keep every byte that comes."""

from __future__ import annotations

import json
import re
import socket
import struct
from typing import Any

DATE = re.compile(rb"(?i)\r\ndate: [^\r]*")


class Raw:
    """A WebSocket. What it sends is masked with zeros, as a random mask would hide nothing."""

    def __init__(self, port: int, id: str, key: str | None, captions: bool = False) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.socket.sendall(
            f"GET /ws/{id} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.file.readline()
        assert head.startswith(b"HTTP/1.1 101"), head
        self.bytes = DATE.sub(b"", head)
        self.send(type="hello", key=key, since=0, captions=captions, changes=captions)

    def send(self, **message: Any) -> None:
        data = json.dumps(message).encode()
        size = bytes([128 | len(data)]) if len(data) < 126 else struct.pack(">BH", 254, len(data))
        self.socket.sendall(b"\x81" + size + bytes(4) + data)

    def receive(self) -> bytes:
        """The content of the next frame."""
        head = self.file.read(2)
        size, more = head[1], b""
        if size > 125:
            more = self.file.read(2 if size == 126 else 8)
            size = int.from_bytes(more, "big")
        data = self.file.read(size)
        self.bytes += head + more + data
        return data

    def until(self, mark: bytes) -> bytes:
        while mark not in (data := self.receive()):
            pass
        return data

    def command(self, type: str, id: str, **fields: Any) -> bytes:
        """The answer to a command, after all that came before it."""
        self.send(type=type, id=id, **fields)
        return self.until(b'{"type":"answer","id":"%s"' % id.encode())

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def come(port: int, id: str, key: str | None) -> Raw:
    """A client that is there, and all others have been told so."""
    socket = Raw(port, id, key)
    socket.command("ping", "here")
    return socket


def got(port: int, path: str, key: str | None) -> bytes:
    """Every byte of an answer over HTTP, but the date."""
    bearer = "" if key is None else f"Authorization: Bearer {key}\r\n"
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}Connection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as made, made.makefile("rb") as file:
        made.sendall(request.encode())
        return DATE.sub(b"", file.read())
