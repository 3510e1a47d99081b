"""A guest at somebody's server: the protocol from the other side, for terminals and bots.

Connections that are lost are made again, and what was not answered is sent again under the same id,
so that a move counts once. A bot is a few lines:

    visitor = Visitor("http://127.0.0.1:8000", new_key())
    match = visitor.create("number-wars", opponent="perfect")
    table = visitor.sit(match["id"])
    while (view := table.choosing()) is not None:
        table.wish("move", at=view["moment"], move=view["options"][0])
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

from duels.core.errors import DuelsError
from duels.core.fair import verify
from duels.core.record import loads
from duels.core.witness import NOT_BEGUN, Witness
from duels.games import load
from duels.web import notes
from duels.web.keys import is_key, new_key
from duels.web.settings import data_folder

Json = dict[str, Any]
PATIENCE = 60.0  # seconds that a server may be gone
PROTOCOL = 2
FOR_GOOD = 1008


class Refused(DuelsError):
    """The server does not grant it, or is not there."""


def own_key(name: str = "key") -> str:
    """The key of whoever uses this machine, or of a bot here; made when it is first needed."""
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


class Visitor:
    """A client with a key at a server.

    With `keeps`, shares of the dice are kept in the user's data directory, so that another process
    with the same key can go on with a match that has not started.
    """

    def __init__(self, server: str, key: str, keeps: bool = False) -> None:
        self.server, self.key, self.keeps = server.rstrip("/"), key, keeps

    def ask(self, method: str, path: str, body: Json | None = None) -> Json:
        """A request; a refusal is raised with its reason."""
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

    def create(self, game: str, **wish: Any) -> Json:
        return self.ask(
            "POST", "/api/matches", {"game": game, "request": os.urandom(8).hex()} | wish
        )

    def join(self, id: str) -> Json:
        return self.ask("POST", f"/api/matches/{id}/join", {})

    def sit(self, id: str, tell: Callable[[Json], None] | None = None) -> Table:
        return Table(self, id, tell)


class Table:
    """A place at a table. `tell` is given every frame once, as it comes.

    The dice are agreed on as frames are received: a match starts when the tables of both seats
    have been read up to then. `Unfair` is raised where the server contradicts itself.
    """

    def __init__(
        self, visitor: Visitor, id: str, tell: Callable[[Json], None] | None = None
    ) -> None:
        self.visitor, self.id, self.tell = visitor, id, tell
        self.match: Json = {}
        self.log: list[Json] = []  # everything that has happened, as one may know it
        self.view: Json | None = None
        self.moment = 0
        self._unread: list[Json] = []
        self.witness: Witness | None = None  # of one's seat, where this client gives its share
        self._socket: ClientConnection | None = None

    @property
    def over(self) -> bool:
        """Nothing more will come: a match is said to be over before its last events are told."""
        return self.match.get("state") == "closed" or (
            self.view is not None and self.view["result"] is not None
        )

    def receive(self, timeout: float | None = None) -> Json:
        """The next frame; TimeoutError if none comes in time."""
        while True:
            if self._unread:
                frame = self._unread.pop(0)
            else:
                try:
                    frame = json.loads(self._connected().recv(timeout))
                except ConnectionClosed:
                    self._socket = None
                    continue
            self._take(frame)
            return frame

    def unread(self) -> list[Json]:
        """The frames that have come and that `receive` gives next.

        It never waits, so that it can be asked while something else is waited for.
        """
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
        """Whether there is no connection; `receive` makes a new one."""
        return self._socket is None

    def _take(self, frame: Json) -> None:
        if frame["type"] == "refusal":
            raise Refused(frame["reason"])
        if frame["type"] == "welcome" and frame["protocol"] != PROTOCOL:
            server = self.visitor.server
            raise Refused(f"{server} speaks protocol {frame['protocol']}, this client {PROTOCOL}")
        if frame["type"] == "answer":
            self._hear_answer(frame)
        if frame["type"] in ("welcome", "match"):
            self.match = frame["match"]
            self._agree()
        if frame["type"] == "update":
            self.view, self.moment = frame["view"], frame["moment"]
            self.log[frame["since"] :] = frame["events"]
            self.match = frame.get("revealed", {}).get("match", self.match)
        if self.tell is not None:
            self.tell(frame)

    def _agree(self) -> None:
        """Look at what is told of the dice, and give one's own share as far as it is time."""
        match = self.match
        if self.witness is None and match["you"] is not None:
            kept = notes.kept(self.id, match["you"] - 1) if self.visitor.keeps else None
            self.witness = kept or Witness.of(match)
        if self.witness is None:
            return
        command = self.witness.see(match)
        self._keep()
        if command is not None and self._socket is not None:
            # Sent again whenever the match is told until it is granted, which changes nothing.
            id = f"{command['type']}-{os.urandom(8).hex()}"
            with suppress(ConnectionClosed):
                self._socket.send(json.dumps({**command, "id": id}))

    def _hear_answer(self, frame: Json) -> None:
        """Note what became of one's own share of the dice."""
        kind = str(frame["id"]).partition("-")[0]
        if self.witness is None or kind not in self.witness.sent:
            return
        if frame["ok"]:
            self.witness.granted.add(kind)
            self._keep()
        elif frame.get("again") and self._socket is not None:
            time.sleep(1.0)
            self._socket.close()
            self._socket = None  # the new connection is told the match, so the share is sent again
        elif self.match["state"] in NOT_BEGUN:
            raise Refused(f"the server refuses your share of the dice: {frame['reason']}")

    def _keep(self) -> None:
        if self.witness is not None and self.visitor.keeps:
            notes.keep(self.witness)

    def check_dice(self) -> str:
        """Check the record of a finished match, and that its shares are those told before.

        Returns what was checked; raises `Unfair` or a `RecordError` where something is wrong.
        """
        record = self.visitor.ask("GET", f"/api/matches/{self.id}/record")
        match = loads(json.dumps(record), load)
        if self.witness is None:
            played = "; this client gave no share, so it cannot tell whether they were agreed on"
            return verify(match) + played * (self.match["you"] is not None)
        said = self.witness.check(match)
        if self.visitor.keeps:
            notes.forget(self.witness)
        return said

    def _connected(self) -> ClientConnection:
        """The connection; a lost one is made again for as long as it makes sense."""
        until, wait = time.monotonic() + PATIENCE, 0.2
        while self._socket is None:
            try:
                address = self.visitor.server.replace("http", "ws", 1) + f"/ws/{self.id}"
                socket = connect(address, compression=None, open_timeout=10).__enter__()
                hello = {"type": "hello", "key": self.visitor.key, "since": self.moment}
                socket.send(json.dumps(hello))
                self._socket = socket
            except (OSError, WebSocketException, TimeoutError) as error:
                if time.monotonic() > until:
                    raise Refused(f"{self.visitor.server} cannot be reached: {error}") from None
                time.sleep(wait)
                wait = min(2 * wait, 5.0)
        return self._socket

    def wish(self, kind: str, **fields: Any) -> Json:
        """Send a command until it is answered; the answer."""
        id = os.urandom(8).hex()
        frame = json.dumps({"type": kind, "id": id, **fields})
        while True:
            socket = self._connected()
            while self._unread:
                self.receive()
            try:
                socket.send(frame)
                while True:
                    text = socket.recv(30.0)
                    found: Json = json.loads(text)
                    self._take(found)
                    if found["type"] == "answer" and found["id"] == id:
                        return found
            except (ConnectionClosed, TimeoutError):
                self._socket = None

    def choosing(self) -> Json | None:
        """Wait for one's own choice; None once the match is over."""
        while not self.over:
            if self.view is not None and self.view["options"]:
                return self.view
            with suppress(TimeoutError):
                self.receive(30.0)
        return None

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
