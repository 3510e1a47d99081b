"""Several processes on one PostgreSQL: one has a room, the others pass on to it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, replace

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from duels.client.identity import new_key
from duels.core.commitment import verify
from duels.core.game import Pick
from duels.core.record import loads
from duels.games import load
from duels.server.settings import Limits
from duels.server.worker_proxy import _forward
from duels.server.workers import NOT_PASSED
from tests.server.postgres import Postgres
from tests.server.server import FREELY, QUICK, ROOT, Person, Seated, run

TOKEN = "t" * 43


class Worker:
    """One of several processes, on a port of its own, so that a test can choose the worker."""

    def __init__(self, database: str, limits: Limits = FREELY) -> None:
        settings = replace(QUICK, database=database)
        plain = {f.name: getattr(settings, f.name) for f in fields(settings)}
        listening = socket.create_server(("127.0.0.1", 0), backlog=100)
        given = {
            "settings": {k: v for k, v in plain.items() if k not in NOT_PASSED},
            "limits": {f.name: getattr(limits, f.name) for f in fields(limits)},
            "token": TOKEN, "fd": listening.fileno(), "parent": os.getpid(),
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "duels.server.workers"], pass_fds=[listening.fileno()], cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdin is not None
        with self.process.stdin as pipe:
            pipe.write(json.dumps(given).encode())
        port = listening.getsockname()[1]
        listening.close()
        self.url, self.ws = f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}"
        while httpx.get(f"{self.url}/healthz", timeout=60).status_code != 200:
            time.sleep(0.05)

    def person(self, key: str | None = None) -> Person:
        return Person(httpx.AsyncClient(base_url=self.url, timeout=60), self.ws, key or new_key())

    def rooms(self) -> int:
        """How many it has in memory."""
        lines = httpx.get(f"{self.url}/metrics").text.splitlines()
        return int(next(line for line in lines if line.startswith("duels_rooms ")).split()[1])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def workers(database: str, count: int, limits: Limits = FREELY) -> Iterator[list[Worker]]:
    made: list[Worker] = []
    try:
        for _ in range(count):
            made.append(Worker(database, limits))
        yield made
        for worker in made:
            if worker.process.poll() is None:
                worker.process.send_signal(signal.SIGTERM)
                assert worker.process.wait() == 0
    finally:
        for worker in made:
            worker.kill()


async def cut(seated: Seated) -> int | None:
    """Read until the connection is closed; the code."""
    try:
        await seated.until("nothing")
    except ConnectionClosed as closed:
        return None if closed.rcvd is None else closed.rcvd.code
    raise AssertionError


async def play(seated: Seated, told: list[str], least: int = 10**6) -> None:
    """Choose until so much has happened, or it is over."""
    await seated.started()
    while seated.moment < least and seated.view["result"] is None:
        if seated.view["options"]:
            move = seated.view["options"][0]
            assert (await seated.move(move))["ok"]
            told.append(move)
        else:
            await seated.receive()


@pytest.mark.parametrize(
    "slug", ["number-clash", pytest.param("cipher-siege", marks=pytest.mark.long)]
)
def test_a_match_goes_on_elsewhere_when_the_process_that_has_it_is_killed(
    postgres: Postgres, slug: str
) -> None:
    """One is at the owner, the others at a process that passes on; then all are elsewhere."""

    async def test() -> None:
        with workers(postgres.url, 3) as (first, second, third):
            ada, bob = first.person(), second.person()
            id = (await ada.create(slug, seat=1))["id"]
            assert (await bob.join(id))["you"] == 2  # passed on over HTTP
            one, two = await ada.sit(id), await bob.sit(id)
            watching = await second.person().sit(id, nonce=False)
            told: tuple[list[str], list[str]] = [], []
            await asyncio.gather(play(one, told[0], 4), play(two, told[1], 4))
            assert (first.rooms(), second.rooms(), third.rooms()) == (1, 0, 0)
            mover = 0 if one.view["options"] else 1
            player = (one, two)[mover]
            at, move = player.moment, player.view["options"][-1]
            assert (await player.command("move", "last", at=at, move=move))["ok"]
            told[mover].append(move)
            first.kill()
            assert await cut(two) == 1012
            assert await cut(watching) == 1012
            again = await second.person(ada.key).sit(id, one.moment)
            other = await third.person(bob.key).sit(id, two.moment)
            late = await third.person().sit(id, 2, nonce=False)
            caught = await late.until("update")
            assert [event["number"] for event in caught["events"]][:2] == [2, 3]
            assert caught["moment"] >= max(at, watching.moment)
            assert second.rooms() + third.rooms() == 1
            # As if the answer had been lost: sent again, to a process that was never told of it.
            sent = await (again, other)[mover].command("move", "last", at=at, move=move)
            assert sent["ok"]
            await asyncio.gather(play(again, told[0]), play(other, told[1]))
            while late.view["result"] is None:
                await late.receive()
            assert late.view["result"] == again.view["result"] == other.view["result"]
            match = loads((await ada.http.get(f"{third.url}/api/matches/{id}/record")).text, load)
            assert verify(match)
            picks = [entry.moves for entry in match.events if isinstance(entry, Pick)]
            for seat in (0, 1):
                assert [move for p in picks for s, move in p if s == seat] == told[seat]

    run(test)


def test_a_match_goes_on_elsewhere_when_the_process_that_has_it_hangs(postgres: Postgres) -> None:
    """It keeps its connections, also that to PostgreSQL. When it goes on, it has lost the match."""

    async def test() -> None:
        with workers(postgres.url, 2) as (first, second):
            ada, bob = first.person(), second.person()
            id = (await ada.create("number-wars", seat=1))["id"]
            await bob.join(id)
            one, two = await ada.sit(id), await bob.sit(id)
            told: tuple[list[str], list[str]] = [], []
            await asyncio.gather(play(one, told[0], 4), play(two, told[1], 4))
            assert (first.rooms(), second.rooms()) == (1, 0)
            mover = 0 if one.view["options"] else 1
            player = (one, two)[mover]
            at, move = player.moment, player.view["options"][0]
            os.kill(first.process.pid, signal.SIGSTOP)
            try:
                # Sent to the process that hangs, and then, with the same id, to the other.
                await player.send(type="move", id="repeated", at=at, move=move)
                asking = asyncio.create_task(bob.http.get(f"/api/matches/{id}/record"))
                again = await second.person(ada.key).sit(id, one.moment)
                other = await second.person(bob.key).sit(id, two.moment)
                assert (await asking).status_code == 200
                assert second.rooms() == 1
                seats = again, other
                assert (await seats[mover].command("move", "repeated", at=at, move=move))["ok"]
                told[mover].append(move)
                await asyncio.gather(play(again, told[0], at + 4), play(other, told[1], at + 4))
            finally:
                os.kill(first.process.pid, signal.SIGCONT)
            assert [await cut(seated) for seated in (one, two)] == [1012, 1012]
            answers = [message for message in player.messages if message.get("id") == "repeated"]
            assert not any(answer["ok"] for answer in answers)
            while first.rooms():
                await asyncio.sleep(0.05)
            back = await first.person(ada.key).sit(id, again.moment)  # forwarded
            assert (first.rooms(), second.rooms()) == (0, 1)
            await asyncio.gather(play(back, told[0]), play(other, told[1]))
            match = loads((await ada.http.get(f"/api/matches/{id}/record")).text, load)
            assert verify(match)
            picks = [entry.moves for entry in match.events if isinstance(entry, Pick)]
            for seat in (0, 1):
                assert [move for p in picks for s, move in p if s == seat] == told[seat]

    run(test)


def test_nothing_is_kept_of_rooms_that_do_not_exist(postgres: Postgres) -> None:
    async def test() -> None:
        with workers(postgres.url, 1) as (worker,):
            for n in range(3):
                found = await worker.person().http.get(f"/api/matches/{n:022d}/record")
                assert found.status_code == 404
        found = await asyncpg.connect(postgres.url)
        count = "SELECT count(*) FROM owners WHERE room NOT IN (SELECT id FROM rooms)"
        assert await found.fetchval(count) == 0
        await found.close()

    import asyncpg

    run(test)


def test_a_process_that_passes_on_answers_with_the_bytes_of_the_owner(postgres: Postgres) -> None:
    async def test() -> None:
        with workers(postgres.url, 2) as (owner, other):
            ada = owner.person()
            made = await ada.create("number-wars", seat=1, opponent="random")
            path = f"/api/matches/{made['id']}"
            seated = await ada.sit(made["id"])
            await seated.started()
            await seated.command("resign", at=0)
            for ask in (
                "",
                "/record",
                "/record?download=1",
                "/replay",
                "/fair",
                "/nothing",
                "/join",
            ):
                found = []
                for worker in (owner, other):
                    answer = await ada.http.get(f"{worker.url}{path}{ask}", headers=ada.headers)
                    headers = sorted(h for h in answer.headers.multi_items() if h[0] != "date")
                    found.append((answer.status_code, headers, answer.content))
                assert found[0] == found[1]
            large = await ada.http.post(
                f"{other.url}{path}/leave", headers=ada.headers, content=b" " * 10_000
            )
            assert large.status_code == 409  # it has no body to be read

    run(test)


def test_only_another_process_is_believed_where_a_client_comes_from(postgres: Postgres) -> None:
    async def test() -> None:
        limits = replace(FREELY, connections_per_address=2)
        with workers(postgres.url, 2, limits) as (owner, other):
            id = (await owner.person().create("digit-duel"))["id"]
            held = []
            for n in range(2):
                lies = {"x-forwarded-for": f"10.0.0.{n}", "x-duels-worker": "wrong"}
                held.append(await connect(f"{other.ws}/ws/{id}", additional_headers=lies))
                await held[-1].send(json.dumps({"type": "hello", "key": None}))
                assert json.loads(await held[-1].recv())["type"] == "welcome"
            lies = {"x-forwarded-for": "10.0.0.9", "x-duels-worker": "wrong"}
            for worker in (owner, other):  # the refusal is passed on too
                with pytest.raises(InvalidStatus) as refused:
                    await connect(f"{worker.ws}/ws/{id}", additional_headers=lies)
                assert refused.value.response.status_code == 403
            for socket in held:
                await socket.close()
            with pytest.raises(InvalidStatus) as refused:
                await connect(f"{other.ws}/ws/{id}", origin="https://evil.example")  # type: ignore[arg-type]
            assert refused.value.response.status_code == 403

    run(test)


def test_a_process_that_dies_while_it_is_asked_is_like_one_that_is_gone() -> None:
    uvloop = pytest.importorskip("uvloop", reason="needs uvloop, which says it in its own way")
    listening = socket.create_server(("127.0.0.1", 0))

    def hang_up() -> None:
        with suppress(OSError):
            while True:
                made, _ = listening.accept()
                made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                made.close()

    async def busy() -> None:  # so that the end is noticed before anything is sent
        while True:
            time.sleep(0.003)
            await asyncio.sleep(0)

    async def unsent(message: object) -> None:
        raise AssertionError

    async def unasked() -> None:
        raise AssertionError

    async def test() -> None:
        scope = {"raw_path": b"/", "query_string": b"", "method": "GET", "headers": []}
        port, other = listening.getsockname()[1], asyncio.create_task(busy())
        for _ in range(50):
            with pytest.raises((OSError, EOFError)):
                await _forward(f"127.0.0.1:{port}", scope, {}, b"", unsent, unasked)
        other.cancel()

    threading.Thread(target=hang_up, daemon=True).start()
    uvloop.run(test())
    listening.close()
