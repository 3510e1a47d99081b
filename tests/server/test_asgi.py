"""The application runs under any ASGI server: Starlette's test client, granian, hypercorn."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import httpx
from starlette.testclient import TestClient, WebSocketTestSession

from duels.client.identity import new_key
from duels.core.commitment_client import CommitmentClient
from duels.server.app import make_app, make_room_manager
from tests.server.server import QUICK, ROOT, Person, run

COMMANDS = {
    "granian": ("granian", "--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}"),
    "hypercorn": ("hypercorn", "--bind", "127.0.0.1:{port}"),
}


class Seat:
    """A WebSocket of Starlette's test client that takes part in the start of a match."""

    def __init__(self, socket: WebSocketTestSession, key: str) -> None:
        self.socket = socket
        self.commitment_client: CommitmentClient | None = None
        socket.send_json({"type": "hello", "key": key, "since": 0})

    def until(self, fits: Callable[[Any], bool]) -> Any:
        """The next message that fits; shares of the dice are given on the way."""
        while not fits(message := self.socket.receive_json()):
            if message["type"] in ("welcome", "match"):
                match = message["match"]
                self.commitment_client = self.commitment_client or CommitmentClient.of(match)
                assert self.commitment_client is not None
                command = self.commitment_client.see(match)
                if command is not None:
                    self.socket.send_json({**command, "id": command["type"]})
        return message


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_match_is_played_under_the_test_client() -> None:
    one, two = new_key(), new_key()
    with TestClient(make_app(make_room_manager(QUICK))) as client:
        body = {"game": "number-wars", "seat": 1}
        made = client.post("/api/matches", json=body, headers=bearer(one)).json()
        id = made["id"]
        joined = client.post(f"/api/matches/{id}/join", json={}, headers=bearer(two)).json()
        assert joined["state"] == "starting"
        with (
            client.websocket_connect(f"/ws/{id}") as first,
            client.websocket_connect(f"/ws/{id}") as second,
        ):
            seats = Seat(first, one), Seat(second, two)
            # Each waits for the other's share of the dice, so they are read in turn.
            seats[0].until(lambda message: message.get("id") == "commit")
            seats[1].until(lambda message: message.get("id") == "reveal")
            seats[0].until(lambda message: message["type"] == "update")
            seats[1].until(lambda message: message["type"] == "update")
            first.send_json({"type": "move", "id": "m", "at": 0, "move": "10"})
            told = [seat.until(lambda message: message["type"] == "update") for seat in seats]
            assert [message["moment"] for message in told] == [1, 1]
            answer = seats[0].until(lambda message: message.get("id") == "m")
            assert answer == {"type": "answer", "id": "m", "ok": True}


def test_the_test_client_is_refused_and_closed_in_order() -> None:
    with (
        TestClient(make_app(make_room_manager(QUICK))) as client,
        client.websocket_connect(f"/ws/{'A' * 22}") as socket,
    ):
        socket.send_json({"type": "hello", "key": None, "since": 0})
        assert socket.receive_json() == {"type": "refusal", "reason": "there is no such match"}
        assert socket.receive() == {"type": "websocket.close", "code": 1008}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_move_is_played_under_other_asgi_servers(name: str, tmp_path: Path) -> None:
    if find_spec(name) is None:
        pytest.skip(f"needs {name}: pip install {name}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [word.format(port=port) for word in COMMANDS[name]]
    process = subprocess.Popen(
        [sys.executable, "-m", *words, "tests.server.asgi_app:app"],
        cwd=ROOT, env={**os.environ, "DUELS_TEST_DATABASE": str(tmp_path / "duels.sqlite")},
    )  # fmt: skip
    try:
        until = time.monotonic() + 60
        url = f"http://127.0.0.1:{port}"
        while True:
            try:
                assert httpx.get(f"{url}/readyz", timeout=5).json() == {"ok": True}
                break
            except httpx.TransportError:
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < until, "the server did not start"
                time.sleep(0.05)
        run(lambda: _play_a_move(port))
    finally:
        process.terminate()
        process.wait(30)


async def _play_a_move(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
        one, two = (Person(http, f"ws://127.0.0.1:{port}", new_key()) for _ in range(2))
        id = (await one.create("number-wars", seat=1))["id"]
        await two.join(id)
        seats = [await one.sit(id), await two.sit(id)]
        for seat in seats:
            await seat.started()
        assert (await seats[0].move("10"))["ok"]
        await seats[1].until("update", moment=1)
        assert (await seats[1].command("resign", at=1))["ok"]
        for seat in seats:
            await seat.close()
        page = await http.get("/", headers={"Accept-Encoding": "gzip"})
        assert page.headers["content-encoding"] == "gzip"
        assert page.headers["x-frame-options"] == "DENY"
