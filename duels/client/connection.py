"""A client of a server, for terminals and bots.

Lost connections are opened again, and commands without a response are repeated with the same id, so
that a move counts once. A bot is a few lines:

    client = Client("http://127.0.0.1:8000", new_key())
    match = client.create("number-wars", opponent="perfect")
    connection = client.connect(match["id"])
    while (view := connection.choosing()) is not None:
        connection.command("move", at=view["moment"], move=view["options"][0])
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from duels.client import nonces
from duels.client.identity import is_key, new_key
from duels.core.commitment import verify
from duels.core.commitment_client import NOT_BEGUN, CommitmentClient
from duels.core.entries import Logged, Timeout, Undo
from duels.core.errors import DuelsError
from duels.core.folders import data_folder
from duels.core.game import AnyGame, Event, Outcome, Pick
from duels.core.record import loads
from duels.games import load

Json = dict[str, Any]
PATIENCE = 60.0  # seconds of trying to reconnect
PROTOCOL = 3


class Refused(DuelsError):
    """The server refuses a request, or cannot be reached."""


def own_key(name: str = "key") -> str:
    """The key of the user of this machine, or of a bot; created on first use."""
    path = os.path.join(data_folder(), name)
    with suppress(OSError), open(path, encoding="ascii") as file:
        if is_key(key := file.read().strip()):
            return key
    key = new_key()
    try:
        os.makedirs(data_folder(), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(key)
    except OSError as error:
        raise DuelsError(f"your key cannot be kept in {path}: {error.strerror}") from None
    return key


class Client:
    """A client of a server, identified by a key.

    With `keeps`, shares of the dice are stored in the user's data directory, so that another
    process with the same key can continue a match that has not started.
    """

    def __init__(self, server: str, key: str, keeps: bool = False) -> None:
        self.server, self.key, self.keeps = server.rstrip("/"), key, keeps

    def ask(self, method: str, path: str, body: Json | None = None) -> Json:
        """Send a request; a refusal is raised as `Refused`."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        try:
            request = Request(self.server + path, data, headers, method=method)
            with urlopen(request, timeout=30) as found:
                answer: Json = json.load(found)
                return answer
        except HTTPError as error:
            with suppress(ValueError, KeyError, TypeError):
                raise Refused(json.load(error)["reason"]) from None
            raise Refused(f"{self.server} answers {error.code}") from None
        except (URLError, OSError, ValueError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise Refused(f"{self.server} cannot be reached: {reason}") from None

    def create(self, game: str, **fields: Any) -> Json:
        return self.ask(
            "POST", "/api/matches", {"game": game, "request": os.urandom(8).hex()} | fields
        )

    def join(self, id: str) -> Json:
        return self.ask("POST", f"/api/matches/{id}/join", {})

    def connect(self, id: str, on_message: Callable[[Json], None] | None = None) -> MatchConnection:
        return MatchConnection(self, id, on_message)


class MatchConnection:
    """A connection to a match. `on_message` is called with every message that is received.

    The shares of the dice are exchanged as messages are received, so a match starts only while both
    players receive. `Unfair` is raised if the server contradicts itself.
    """

    def __init__(
        self, client: Client, id: str, on_message: Callable[[Json], None] | None = None
    ) -> None:
        self.client, self.id, self._on_message = client, id, on_message
        self.match: Json = {}
        self._events: list[Json] = []  # as seen by this client, without the first `_missing` ones
        self._missing = 0
        self.view: Json | None = None
        self.version = 0
        self._unread: list[Json] = []
        self.commitment_client: CommitmentClient | None = (
            None  # if this client gives the share of its seat
        )
        self._socket: ClientConnection | None = None

    @property
    def over(self) -> bool:
        """Whether the match is over and its last update received, which follows that message."""
        return self.match.get("state") == "closed" or (
            self.view is not None and self.view["result"] is not None
        )

    @property
    def log(self) -> list[Json]:
        """All events, as seen by this client; those that the server left out are requested."""
        while (before := self._missing) > 0:
            answer = self.command("log", before=before)
            if answer["ok"] and self._missing == before:  # else a new connection left out others
                self._events[:0], self._missing = answer["events"], answer["since"]
            elif answer.get("again"):
                time.sleep(1.0)
            elif not answer["ok"]:
                raise Refused(answer["reason"])
        return self._events

    def _keep(self, since: int, events: list[Json]) -> None:
        """Add the events of an update; an update to a new connection may leave out earlier ones."""
        if not self._missing <= since <= self._missing + len(self._events):
            self._events, self._missing = [], since
        self._events[since - self._missing :] = events

    def receive(self, timeout: float | None = None) -> Json:
        """The next message; TimeoutError if none arrives in time."""
        while True:
            if self._unread:
                message = self._unread.pop(0)
            else:
                try:
                    message = json.loads(self._connect().recv(timeout))
                except ConnectionClosed:
                    self._socket = None
                    continue
            self._handle(message)
            return message

    def unread(self) -> list[Json]:
        """The messages that have arrived and that `receive` returns next; never waits."""
        try:
            while self._socket is not None:
                self._unread.append(json.loads(self._socket.recv(0)))
        except TimeoutError:
            pass
        except ConnectionClosed:
            self._socket = None
        return self._unread

    @property
    def lost(self) -> bool:
        """Whether the connection is lost; `receive` opens a new one."""
        return self._socket is None

    def _handle(self, message: Json) -> None:
        if message["type"] == "refusal":
            raise Refused(message["reason"])
        if message["type"] == "welcome" and message["protocol"] != PROTOCOL:
            server = self.client.server
            raise Refused(f"{server} speaks protocol {message['protocol']}, this client {PROTOCOL}")
        if message["type"] == "answer":
            self._handle_answer(message)
        if message["type"] in ("welcome", "match"):
            self.match = message["match"]
            self._share_dice()
        if message["type"] == "update":
            self.view, self.version = message["view"], message["moment"]
            self._keep(message["since"], message["events"])
            self.match = message.get("revealed", {}).get("match", self.match)
        if self._on_message is not None:
            self._on_message(message)

    def _share_dice(self) -> None:
        """Check what the server says of the dice, and send this client's share when it is due."""
        match = self.match
        if self.commitment_client is None and match["you"] is not None:
            stored = nonces.load(self.id, match["you"] - 1) if self.client.keeps else None
            self.commitment_client = stored or CommitmentClient.of(match)
        if self.commitment_client is None:
            return
        command = self.commitment_client.see(match)
        self._store_commitment_client()
        if command is not None and self._socket is not None:
            # Sent again with every message about the match until granted; repeats have no effect.
            id = f"{command['type']}-{os.urandom(8).hex()}"
            with suppress(ConnectionClosed):
                self._socket.send(json.dumps({**command, "id": id}))

    def _handle_answer(self, message: Json) -> None:
        """Handle the response to a command about the dice."""
        kind = str(message["id"]).partition("-")[0]
        if self.commitment_client is None or kind not in self.commitment_client.sent:
            return
        if message["ok"]:
            self.commitment_client.granted.add(kind)
            self._store_commitment_client()
        elif message.get("again") and self._socket is not None:
            time.sleep(1.0)
            self._socket.close()
            self._socket = None  # the new connection gets the match, so the share is sent again
        elif self.match["state"] in NOT_BEGUN:
            raise Refused(f"the server refuses your share of the dice: {message['reason']}")

    def _store_commitment_client(self) -> None:
        if self.commitment_client is not None and self.client.keeps:
            nonces.save(self.commitment_client)

    def check_dice(self) -> str:
        """Check the record of a finished match against the shares received before.

        Returns what was checked; raises `Unfair` or a `RecordError` if the check fails.
        """
        record = self.client.ask("GET", f"/api/matches/{self.id}/record")
        match = loads(json.dumps(record), load)
        if self.commitment_client is None:
            played = "; this client gave no share, so it cannot tell whether they were agreed on"
            return verify(match) + played * (self.match["you"] is not None)
        said = self.commitment_client.check(match)
        if self.client.keeps:
            nonces.delete(self.commitment_client)
        return said

    def _connect(self) -> ClientConnection:
        """The connection; a lost one is opened again, for at most `PATIENCE` seconds."""
        until, wait = time.monotonic() + PATIENCE, 0.2
        while self._socket is None:
            try:
                address = self.client.server.replace("http", "ws", 1) + f"/ws/{self.id}"
                socket = connect(address, compression=None, open_timeout=10).__enter__()
                hello = {"type": "hello", "key": self.client.key, "since": self.version}
                socket.send(json.dumps(hello))
                self._socket = socket
            except (OSError, WebSocketException, TimeoutError) as error:
                if time.monotonic() > until:
                    raise Refused(f"{self.client.server} cannot be reached: {error}") from None
                time.sleep(wait)
                wait = min(2 * wait, 5.0)
        return self._socket

    def command(self, kind: str, **fields: Any) -> Json:
        """Send a command, repeatedly if necessary; returns the response."""
        id = os.urandom(8).hex()
        message = json.dumps({"type": kind, "id": id, **fields})
        while True:
            socket = self._connect()
            while self._unread:
                self.receive()
            try:
                socket.send(message)
                while True:
                    text = socket.recv(30.0)
                    found: Json = json.loads(text)
                    self._handle(found)
                    if found["type"] == "answer" and found["id"] == id:
                        return found
            except (ConnectionClosed, TimeoutError):
                self._socket = None

    def choosing(self) -> Json | None:
        """Wait for a choice of this client; returns the view, None once the match is over."""
        while not self.over:
            if self.view is not None and self.view["options"]:
                return self.view
            with suppress(TimeoutError):
                self.receive(30.0)
        return None

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


def history(game: AnyGame, log: list[Logged]) -> tuple[Event, ...]:
    """The picks and outcomes that were not undone, from a viewer's log of an unfinished match."""
    standing: list[tuple[int, Event]] = []
    for number, entry, _ in log:
        match entry:
            case Pick() | Outcome():
                standing.append((number, entry))
            case Timeout(players) if game.timeout_move is not None:
                moves = tuple((player, game.timeout_move) for player in players)
                standing.append((number, Pick(moves)))
            case Undo(_, to):
                standing = [(n, event) for n, event in standing if n < to]
    return tuple(event for _, event in standing)
