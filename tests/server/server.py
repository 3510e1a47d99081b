"""A real server on a free port, and clients that speak the protocol, for the tests."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from websockets.asyncio.client import ClientConnection, connect

from duels.client.identity import new_key
from duels.core.chance import commitment
from duels.core.commitment import nonce_hash
from duels.core.commitment_client import CommitmentClient
from duels.server import commands
from duels.server.app import make_app
from duels.server.room_manager import RoomManager
from duels.server.rooms import Room
from duels.server.settings import MUCH, Limits, Settings
from duels.server.storage.base import RoomStore
from duels.server.storage.sqlite import SqliteStore

ROOT = Path(__file__).parents[2]
NONCE = "0123456789abcdef" * 2
FREELY = Limits(
    connections_per_address=10**6, connections_per_key=10**6, messages=MUCH, requests=MUCH,
    creations=MUCH, connects=MUCH, handshakes=MUCH, searches=10**6, searching=10**6, lag=1e9,
    reports=MUCH, exports=MUCH,
)  # fmt: skip
QUICK = Settings(":memory:", computer_delay=0.0, limits=FREELY)


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test that awaits."""

    async def awaited() -> None:
        await test()

    asyncio.run(awaited())


class Served:
    """A server in this process."""

    def __init__(self, manager: RoomManager, port: int) -> None:
        self.manager, self.port = manager, port
        self.url, self.ws = f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}"
        self.http = httpx.AsyncClient(base_url=self.url, timeout=60)

    def person(self, key: str | None = None) -> Person:
        return Person(self.http, self.ws, key or new_key())


@asynccontextmanager
async def served(
    settings: Settings = QUICK, store: RoomStore | None = None, **changes: Any
) -> AsyncIterator[Served]:
    settings = replace(settings, **changes)
    manager = RoomManager(settings, store or SqliteStore(settings.database))
    config = uvicorn.Config(
        make_app(manager), ws="websockets-sansio", http="httptools", lifespan="on",
        log_level="error", ws_max_size=settings.limits.message_size, ws_per_message_deflate=False,
        timeout_keep_alive=600,  # longer than the client keeps a connection, so that none is cut
    )  # fmt: skip
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started and not task.done():
        await asyncio.sleep(0.01)
    assert not task.done(), "the server did not start"
    made = Served(manager, listening.getsockname()[1])
    try:
        yield made
    finally:
        await made.http.aclose()
        server.should_exit = True
        server.force_exit = True
        await task


class Person:
    """A client with a key."""

    def __init__(self, http: httpx.AsyncClient, ws: str, key: str) -> None:
        self.http, self.ws, self.key = http, ws, key
        self.headers = {"Authorization": f"Bearer {key}"}

    async def get(self, path: str) -> Any:
        found = await self.http.get(path, headers=self.headers)
        assert found.status_code == 200, found.text
        return found.json()

    async def post(self, path: str, **body: Any) -> Any:
        found = await self.http.post(path, headers=self.headers, json=body)
        assert found.status_code in (200, 201), found.text
        return found.json()

    async def create(self, game: str, **fields: Any) -> Any:
        return await self.post("/api/matches", game=game, **fields)

    async def join(self, id: str) -> Any:
        return await self.post(f"/api/matches/{id}/join")

    async def open(self, id: str) -> Seated:
        return Seated(await connect(f"{self.ws}/ws/{id}", compression=None), self.key)

    async def sit(
        self, id: str, since: int = 0, nonce: bool = True, changes: bool = False
    ) -> Seated:
        seated = await self.open(id)
        await seated.hello(since, changes)
        if nonce:
            await seated.agree()
        return seated

    async def sit_quietly(self, id: str) -> Seated:
        """Connect and send a hello, without waiting for the welcome."""
        seated = Seated(await connect(f"{self.ws}/ws/{id}", compression=None), self.key)
        await seated.send(type="hello", key=self.key, since=0)
        return seated


def changed(view: Any, changes: Any, moment: int) -> Any:
    """A view with the changes of an update."""
    parts, fields = changes.get("table", view["table"]), view["observation"]["fields"]
    if isinstance(parts, dict):
        parts = [parts.get(part["id"], part) for part in view["table"]]
    seen = {**view["observation"], "fields": {**fields, **changes.get("observation", {})}}
    return {**view, **changes, "table": parts, "observation": seen, "moment": moment}


class Seated:
    """A connection to a room; received messages are processed at once."""

    def __init__(self, socket: ClientConnection, key: str | None) -> None:
        self.socket, self.key = socket, key
        self.messages: list[Any] = []
        self.raw: list[str] = []
        self.match: Any = None
        self.view: Any = None
        self.moment = 0
        self.events: list[Any] = []
        self.count = 0
        self.commitment_client: CommitmentClient | None = None
        self.refused = 0  # shares that could not be stored, and were given again
        self._waiting: asyncio.Queue[str | Exception] = asyncio.Queue()
        self.reader: asyncio.Task[None] | None = None

    async def hello(self, since: int = 0, changes: bool = False) -> None:
        await self.send(type="hello", key=self.key, since=since, changes=changes)
        await self.until("welcome")

    async def agree(self, commitment_client: CommitmentClient | None = None) -> None:
        """Take part in the commitment scheme, without returning its messages from `receive`."""
        self.commitment_client = commitment_client or CommitmentClient.of(self.match)
        if self.commitment_client is not None:
            await self._share(self.match)
            self.reader = asyncio.create_task(self._read())

    async def _share(self, match: Any) -> None:
        assert self.commitment_client is not None
        command = self.commitment_client.see(match)
        if command is not None:
            await self.send(**command, id=os.urandom(8).hex())

    async def _read(self) -> None:
        """Receive messages until the match has started, and queue them for `receive`."""
        match = self.match
        message = {"type": ""}
        try:
            while message["type"] != "update":
                text = await self.socket.recv()
                assert isinstance(text, str)
                message = json.loads(text)
                match = message.get("match") if message["type"] in ("welcome", "match") else match
                if message.get("again"):
                    self.refused += 1
                    await asyncio.sleep(0.05)
                if message["type"] in ("welcome", "match") or message.get("again"):
                    await self._share(match)
                self._waiting.put_nowait(text)
        except Exception as error:
            self._waiting.put_nowait(error)

    async def send(self, **message: Any) -> None:
        await self.socket.send(json.dumps(message))

    async def _next(self) -> Any:
        if self.reader is not None and not (self.reader.done() and self._waiting.empty()):
            return await self._waiting.get()
        return await self.socket.recv()

    async def receive(self) -> Any:
        text = await asyncio.wait_for(self._next(), 60)
        if isinstance(text, Exception):
            raise text
        assert isinstance(text, str)
        message = json.loads(text)
        self.raw.append(text)
        self.messages.append(message)
        if message["type"] in ("welcome", "match"):
            self.match = message["match"]
        if message["type"] == "update":
            self.moment = message["moment"]
            if "view" in message:
                self.view = message["view"]
            else:
                self.view = changed(self.view, message["changes"], self.moment)
            self.events += [e for e in message["events"] if e["number"] >= len(self.events)]
        return message

    async def until(self, kind: str, **fields: Any) -> Any:
        """The next message of a kind, with these values."""
        while True:
            message = await self.receive()
            if message["type"] == kind and all(message.get(k) == v for k, v in fields.items()):
                return message

    async def command(self, kind: str, id: str | None = None, **fields: Any) -> Any:
        """Send a command; its answer."""
        self.count += 1
        id = id or f"{os.urandom(4).hex()}{self.count}"
        await self.send(type=kind, id=id, **fields)
        return await self.until("answer", id=id)

    async def started(self) -> None:
        while self.view is None:
            await self.receive()

    async def move(self, move: str, id: str | None = None) -> Any:
        return await self.command("move", id, at=self.moment, move=move)

    async def choosing(self) -> bool:
        """Wait for the player's choice; False once the match is over."""
        await self.started()
        while not self.view["options"] and self.view["result"] is None:
            await self.receive()
        return self.view["result"] is None

    async def close(self) -> None:
        await self.socket.close()


def shares(room: Room) -> Iterator[tuple[int, commands.Commit | commands.Reveal]]:
    """What the clients of a room send for its dice, each with its seat."""
    published = commitment(int(room.row.secret)) or ""
    for seat in room.humans:
        yield seat, commands.Commit("commit", nonce_hash(room.row.id, seat, published, NONCE))
    for seat in room.humans:
        yield seat, commands.Reveal("reveal", NONCE)


async def play_out(seated: Seated, pick: Callable[[list[str]], str]) -> None:
    """Choose until the match is over. What a move led to is told before it is answered."""
    while await seated.choosing():
        answer = await seated.move(pick(seated.view["options"]))
        assert answer["ok"], answer


class Process:
    """A server in a process of its own, to be killed."""

    def __init__(
        self, database: str, *more: str, port: int = 0, path: str = "",
        program: tuple[str, ...] = ("duels", "serve"), log: Path | None = None,
        limits: bool = False,
    ) -> None:  # fmt: skip
        """With `path`, what is installed there is found too; with `limits`, it has the usual."""
        command = [sys.executable, "-m", *program, "--port", str(port)]
        self.process = subprocess.Popen(
            [*command, "--database", database, *([] if limits else ["--no-limits"]), *more],
            stdout=subprocess.PIPE, stderr=None if log is None else log.open("w"), text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{path}", "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert "Serving Duels on" in line, line
        self.url = line.split()[3]
        self.port = int(self.url.rpartition(":")[2])
        self.ws = self.url.replace("http", "ws")
        while True:
            try:
                if httpx.get(f"{self.url}/healthz", timeout=5).status_code == 200:
                    return
            except httpx.HTTPError:
                assert self.process.poll() is None, "the server ended"
            time.sleep(0.02)

    def kill(self) -> None:
        """As if the power failed."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """In order."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)
