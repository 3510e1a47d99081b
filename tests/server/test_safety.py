"""Keys, origins, headers and limits: what a stranger can try, tried."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from duels.client.identity import new_key
from duels.server.settings import Limits
from tests.server.server import FREELY, QUICK, Person, Seated, run, served
from tests.server.test_rooms import seated


def test_a_seat_is_played_only_with_its_key() -> None:
    async def test() -> None:
        async with served() as server:
            one, _, id = await seated(server, "number-wars")
            eve = await server.person().sit(id, nonce=False)
            for kind in ("move", "resign", "undo", "accept", "decline", "hint"):
                assert not (await eve.command(kind, at=0, move="10"))["ok"]
            for kind in ("claim", "rematch"):
                assert not (await eve.command(kind))["ok"]
            assert not (await eve.command("commit", hash="a" * 64))["ok"]
            assert not (await eve.command("reveal", nonce="a" * 32))["ok"]
            room = await server.manager.room(id)
            assert room.match is not None
            assert room.match.events == []
            assert (await one.move("10"))["ok"]

    run(test)


def test_the_store_has_no_key_in_it_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    async def test() -> None:
        path = tmp_path / "deep" / "duels.sqlite"
        async with served(replace(QUICK, database=str(path))) as server:
            one, two, _ = await seated(server, "number-wars")
            await one.move("10")
        content = "\n".join(sqlite3.connect(path).iterdump())
        assert "number-wars" in content
        for key in (one.key, two.key):
            assert key is not None
            assert key not in content
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent.stat().st_mode & 0o077 == 0

    run(test)


def test_ids_cannot_be_guessed_and_wrong_ones_are_refused_with_a_reason() -> None:
    async def test() -> None:
        async with served() as server:
            for id in ("A" * 22, "x", "..", "A" * 500, "%00"):
                found = await server.http.get(f"/api/matches/{id}")
                assert found.status_code == 404
                with pytest.raises(AssertionError, match="refusal"):
                    await closed_after_hello(f"{server.ws}/ws/{id}")

    async def closed_after_hello(url: str) -> None:
        try:
            async with connect(url) as socket:
                await socket.send(json.dumps({"type": "hello", "key": None}))
                first = json.loads(await socket.recv())
                assert first["type"] != "refusal", first
        except (InvalidStatus, ConnectionClosed):
            raise AssertionError("refusal") from None

    run(test)


def test_another_site_cannot_connect_and_a_program_without_an_origin_can() -> None:
    async def test() -> None:
        settings = replace(QUICK, origins=("https://duels.example",))
        async with served(settings) as server:
            made = await server.person().create("digit-duel")
            url = f"{server.ws}/ws/{made['id']}"
            own: Any
            for own in (server.url, "https://duels.example", None):
                async with connect(url, origin=own) as socket:
                    await socket.send(json.dumps({"type": "hello", "key": None}))
                    assert json.loads(await socket.recv())["type"] == "welcome"
            other: Any
            for other in ("https://evil.example", "null", f"{server.url}.evil", "http://["):
                with pytest.raises(InvalidStatus) as refused:
                    async with connect(url, origin=other):
                        pass
                assert refused.value.response.status_code == 403

    run(test)


def test_every_page_and_answer_has_the_safe_headers() -> None:
    async def test() -> None:
        async with served() as server:
            made = await server.person().create("digit-duel")
            paths = ("/", f"/match/{made['id']}", "/static/index.html", "/api/games", "/nothing",
                     "/healthz", "/metrics", f"/match/{made['id']}/picture.png")  # fmt: skip
            for path in paths:
                found = await server.http.get(path)
                policy = found.headers["content-security-policy"]
                assert "script-src 'self';" in policy
                assert "unsafe" not in policy
                assert found.headers["x-content-type-options"] == "nosniff"
                assert found.headers["referrer-policy"] == "no-referrer"
                assert "set-cookie" not in found.headers
            page = (await server.http.get("/")).text
            assert "<script>" not in page
            assert " style=" not in page

    run(test)


def test_files_outside_the_folder_of_static_files_are_not_served() -> None:
    async def test() -> None:
        async with served() as server:
            for path in ("../app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd", "js", ""):
                assert (await server.http.get(f"/static/{path}")).status_code == 404

    run(test)


def test_a_flood_of_frames_ends_the_connection_and_no_other() -> None:
    async def test() -> None:
        limits = replace(FREELY, messages=(10.0, 40))
        async with served(limits=limits) as server:
            one, two, id = await seated(server, "number-wars")
            for n in range(100):
                await two.send(type="ping", id=str(n))
            with pytest.raises(ConnectionClosed):
                await two.until("nothing")
            assert two.messages[-1] == {
                "type": "refusal", "reason": "too many messages; wait a moment",
            }  # fmt: skip
            assert (await one.move("10"))["ok"]
            again = await Person(server.http, server.ws, two.key or "").sit(id, nonce=False)
            assert (await again.command("ping"))["ok"]

    run(test)


def test_a_flood_of_requests_and_of_connections_is_refused() -> None:
    async def test() -> None:
        limits = replace(
            FREELY, requests=(1.0, 30), creations=(0.1, 5), connections_per_address=4,
            connections_per_key=2,
        )  # fmt: skip
        async with served(limits=limits) as server:
            ada = server.person()
            made = [
                await ada.http.post(
                    "/api/matches", headers=ada.headers, json={"game": "digit-duel"}
                )
                for _ in range(8)
            ]
            codes = [one.status_code for one in made]
            assert codes == [201] * 5 + [429] * 3
            codes = [(await server.http.get("/api/games")).status_code for _ in range(60)]
            assert codes.count(429) >= 25
            assert (await server.http.get("/healthz")).status_code == 200
            url = f"{server.ws}/ws/{made[0].json()['id']}"
            key = new_key()
            held = [Seated(await connect(url), key) for _ in range(3)]
            for seat in held[:2]:
                await seat.hello()
            with pytest.raises(ConnectionClosed):
                await held[2].hello()
            assert "too many" in held[2].messages[-1]["reason"]
            for _ in range(2):
                held.append(Seated(await connect(url), None))
            with pytest.raises(InvalidStatus):
                await connect(url)
            await held[0].close()
            await held[1].close()
            await asyncio.sleep(0.1)
            held.append(Seated(await connect(url), key))
            await held[-1].hello()
            for seat in held:
                await seat.close()

    run(test)


def test_frames_and_bodies_that_are_too_large_are_refused() -> None:
    async def test() -> None:
        async with served(limits=FREELY) as server:
            one, _, _ = await seated(server, "number-wars")
            await one.send(type="move", id="x", at=0, move="9" * 5000)
            with pytest.raises(ConnectionClosed) as closed:
                await one.until("nothing")
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
            ada = server.person()
            body = {"game": "x" * 5000}
            refused = await ada.http.post("/api/matches", headers=ada.headers, json=body)
            assert refused.status_code == 413
            assert refused.json()["reason"]

    run(test)


def test_a_client_that_says_nothing_first_is_not_kept() -> None:
    async def test() -> None:
        async with served(hello_within=0.1) as server:
            made = await server.person().create("digit-duel")
            async with connect(f"{server.ws}/ws/{made['id']}") as socket:
                assert json.loads(await socket.recv())["reason"] == "expected a hello"
                with pytest.raises(ConnectionClosed):
                    await socket.recv()

    run(test)


def test_a_slow_reader_is_dropped_and_does_not_hold_up_the_others() -> None:
    async def test() -> None:
        limits = replace(FREELY, backlog=64 * 1024)
        async with served(limits=limits) as server:
            one, two, id = await seated(server, "number-wars")
            slow = await connect(f"{server.ws}/ws/{id}", max_queue=1)
            await slow.send(json.dumps({"type": "hello", "key": None}))
            slow.transport.pause_reading()
            room = await server.manager.room(id)
            while not (watching := [c for c in room.connections if c.seat is None]):
                await asyncio.sleep(0.01)
            sent, message = 0, b'"' + b"x" * 8000 + b'"'
            while not server.manager.metrics.dropped:
                watching[0].send(message)
                sent += len(message)
                assert sent < 100 * 2**20, "all of it is buffered"
                await asyncio.sleep(0.001)
            assert (await one.move("10"))["ok"]
            await two.until("update", moment=1)
            while watching[0] in room.connections:
                await asyncio.sleep(0.01)
            slow.transport.abort()

    run(test)


def test_limits_are_on_by_default() -> None:
    usual = Limits()
    assert usual.messages[0] <= 50
    assert usual.requests[0] <= 50
    assert usual.connections_per_address <= 100
    assert usual.message_size <= 2**14
