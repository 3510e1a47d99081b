"""Limits of connections, requests and engine work: one address is refused, another is served."""

from __future__ import annotations

import asyncio
import gc
import os
import select
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from duels.client.identity import new_key
from duels.server import pages
from duels.server.computer_players import ComputerPlayers
from duels.server.connections import Config, HttpProtocol
from duels.server.fair_queue import Busy, FairQueue
from duels.server.limits import (
    CREATIONS,
    REQUESTS,
    SOCKETS,
    WEBSOCKETS,
    LimitTable,
    address_group,
    new_memory,
)
from duels.server.metrics import Metrics
from duels.server.overload import Overload
from duels.server.preview_image import picture
from duels.server.request_limits import FOR_OPERATORS, cost
from duels.server.serve import Server, server
from duels.server.settings import Limits
from tests.server.postgres import Postgres
from tests.server.server import FREELY, QUICK, Person, Process, Seated, Served, run

HOSTILE, INNOCENT = "127.0.0.1", "127.0.0.2"
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: duels\r\n"
UPGRADE = (
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
PATIENCE = 60  # seconds, only for hanging


@asynccontextmanager
async def limited(limits: Limits, **settings: Any) -> AsyncIterator[tuple[Server, int]]:
    """The server of `duels serve` in this process, and its port."""
    made = server(replace(QUICK, limits=limits, **settings))
    listening = socket.create_server(("0.0.0.0", 0), backlog=2048)
    task = asyncio.create_task(made.serve(sockets=[listening]))
    while not made.started:
        assert not task.done()
        await asyncio.sleep(0.01)
    try:
        yield made, listening.getsockname()[1]
    finally:
        made.should_exit = made.force_exit = True
        await task


class Client:
    """A connection by hand from an address."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @staticmethod
    async def of(port: int, address: str = HOSTILE) -> Client:
        opened = asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
        return Client(*await asyncio.wait_for(opened, PATIENCE))

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def rest(self) -> bytes:
        """All that comes until the server closes the connection."""
        found = b""
        try:
            while data := await asyncio.wait_for(self.reader.read(65536), PATIENCE):
                found += data
        except ConnectionError:
            pass
        self.writer.close()
        return found

    async def status(self) -> int:
        """The status of the next response, which is read to the end of its headers."""
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), PATIENCE)
        return int(head.split()[1])

    async def ask(self, path: str = "/healthz") -> int:
        """The status of a request; 0 if the connection is closed instead."""
        self.send(f"GET {path} HTTP/1.1\r\nHost: duels\r\nConnection: close\r\n\r\n".encode())
        found = await self.rest()
        return int(found.split()[1]) if found else 0


async def served_at(port: int, address: str = INNOCENT, path: str = "/healthz") -> bool:
    return await (await Client.of(port, address)).ask(path) == 200


async def until(fits: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not fits():
            await asyncio.sleep(0.01)


async def count_of(made: Server, count: int) -> None:
    """Wait until a server has this number of connections."""
    assert isinstance(made.config, Config)
    limits = made.config.limits
    await until(lambda: limits.open == count)


# Connections.


def test_idle_connections_of_one_address_are_limited_and_another_address_is_served() -> None:
    async def test() -> None:
        async with limited(replace(FREELY, connections_per_address=5)) as (made, port):
            held = [await Client.of(port) for _ in range(10)]
            await count_of(made, 10)
            refused = [await (await Client.of(port)).rest() for _ in range(20)]
            assert all(one.startswith(b"HTTP/1.1 429 ") for one in refused)
            assert b"too many connections from this address" in refused[0]
            assert await served_at(port)
            held[0].writer.close()
            await count_of(made, 9)
            assert await served_at(port, HOSTILE)
            for one in held:
                one.writer.close()
            await count_of(made, 0)

    run(test)


def test_refused_connections_are_freed_without_garbage_collection() -> None:
    async def test() -> None:
        async with limited(replace(FREELY, connections_per_address=1)) as (made, port):
            held = [await Client.of(port) for _ in range(2)]
            await count_of(made, 2)
            gc.collect()
            gc.disable()
            try:
                for _ in range(50):
                    assert b" 429 " in await (await Client.of(port)).rest()
                await asyncio.sleep(0.1)
                kept = [one for one in gc.get_objects() if isinstance(one, HttpProtocol)]
                assert len(kept) <= len(held) + 1  # and the last one
            finally:
                gc.enable()
            for one in held:
                one.writer.close()

    run(test)


def test_a_websocket_counts_as_one_connection_from_its_start_to_its_end() -> None:
    async def test() -> None:
        async with limited(replace(FREELY, connections_per_address=2)) as (made, port):
            url = f"ws://127.0.0.1:{port}/ws/{'A' * 22}"
            for _ in range(3):
                held = [await connect(url) for _ in range(2)]
                idle = [await Client.of(port) for _ in range(2)]
                await count_of(made, 4)
                assert await (await Client.of(port)).ask() == 429
                for one in held:
                    await one.close()
                for client in idle:
                    client.writer.close()
                await count_of(made, 0)

    run(test)


def test_a_process_has_a_limit_of_connections_below_its_limit_of_files() -> None:
    async def test() -> None:
        async with limited(replace(FREELY, connections=3), proxy=True) as (made, port):
            held = [await Client.of(port) for _ in range(3)]
            await count_of(made, 3)
            refused = await (await Client.of(port)).rest()
            assert refused.startswith(b"HTTP/1.1 503 ")
            assert b"too many connections; try again later" in refused
            held.pop().writer.close()
            await count_of(made, 2)
            assert await served_at(port)

    run(test)


def test_connections_of_a_proxy_are_not_limited_by_its_address_but_its_clients_are() -> None:
    async def test() -> None:
        limits = replace(FREELY, connections_per_address=2, requests=(0.001, 3))
        async with limited(limits, proxy=True) as (made, port):
            held = [await Client.of(port) for _ in range(20)]
            await count_of(made, 20)

            async def ask(address: str) -> int:
                client = await Client.of(port)
                head = f"GET / HTTP/1.1\r\nHost: duels\r\nX-Forwarded-For: {address}\r\n"
                client.send(f"{head}Connection: close\r\n\r\n".encode())
                return int((await client.rest()).split()[1])

            assert [await ask("192.0.2.1") for _ in range(4)] == [200, 200, 200, 429]
            prefix = "2001:db8:0:1:"
            assert [await ask(f"{prefix}:{n}") for n in range(4)] == [200, 200, 200, 429]
            assert await ask("2001:db8:0:2::1") == 200
            for one in held:
                one.writer.close()

    run(test)


@pytest.mark.parametrize(
    "start", [b"", b"\r\n", REQUEST, REQUEST + b"X: y", REQUEST + b"Content-Length: 9\r\n\r\nx"]
)
def test_a_request_that_is_not_completed_in_time_is_closed(start: bytes) -> None:
    async def test() -> None:
        async with limited(replace(FREELY, request_within=0.3)) as (_, port):
            slow = await Client.of(port)
            slow.send(start)
            if start.endswith(b"x"):
                assert await slow.status() == 200  # the response does not wait for the body
            await slow.rest()
            assert await served_at(port)

    run(test)


def test_a_client_that_sends_a_byte_at_a_time_has_no_more_time() -> None:
    async def test() -> None:
        async with limited(replace(FREELY, request_within=0.5)) as (_, port):
            for sent in (b"\r\n", b"x"):  # empty lines before a request, and a header without end
                slow = await Client.of(port)
                slow.send(b"" if sent == b"\r\n" else REQUEST)
                rest = asyncio.create_task(slow.rest())
                while not rest.done():
                    slow.send(sent)
                    await asyncio.sleep(0.05)

    run(test)


def test_a_handshake_that_cannot_be_answered_is_closed() -> None:
    async def test() -> None:
        async with limited(replace(FREELY, request_within=0.3)) as (made, port):
            client = await Client.of(port)
            many = b"".join(b"x%d: y\r\n" % n for n in range(300))
            client.send(b"GET /ws/x HTTP/1.1\r\nHost: duels\r\n" + many + UPGRADE + b"\r\n")
            await client.rest()
            await count_of(made, 0)

    run(test)


def test_a_response_may_take_longer_than_a_request() -> None:
    async def test() -> None:
        limits = replace(FREELY, request_within=0.2)
        async with (
            limited(limits, hello_within=0.6) as (_, port),
            connect(f"ws://127.0.0.1:{port}/ws/{'A' * 22}") as open,
        ):
            assert "expected a hello" in str(await open.recv())

    run(test)


def test_headers_that_are_too_large_are_refused_without_being_kept() -> None:
    async def test() -> None:
        async with limited(replace(FREELY, header_size=4096)) as (_, port):
            for unit in (b"x" * 1000, b"x: y\r\n"):  # one long header, and many short ones
                client = await Client.of(port)
                client.send(REQUEST + b"A: b\r\n" + unit * (10**6 // len(unit)))
                assert (await client.rest()).startswith((b"HTTP/1.1 431 ", b""))
            client = await Client.of(port)
            client.send(REQUEST + b"A: " + b"x" * 4096)
            found = await client.rest()
            assert found.startswith(b"HTTP/1.1 431 ")
            assert b"headers may have at most 4096 bytes" in found
            client = await Client.of(port)
            for _ in range(3):  # each request of a connection may have as much
                client.send(REQUEST + b"A: " + b"x" * 3900 + b"\r\n\r\n")
                assert await client.status() == 200
                await client.reader.readexactly(len(b'{"ok":true}'))
            assert await served_at(port)

    run(test)


def test_a_connection_with_too_many_requests_at_once_is_closed() -> None:
    async def test() -> None:
        async with limited(FREELY) as (_, port):
            few, many = await Client.of(port), await Client.of(port)
            few.send(8 * (REQUEST + b"\r\n"))
            for _ in range(8):
                assert await few.status() == 200
                await few.reader.readexactly(len(b'{"ok":true}'))
            many.send(10_000 * (REQUEST + b"\r\n"))
            assert (await many.rest()).count(b"HTTP/1.1 200") < 20
            assert await served_at(port)

    run(test)


@pytest.mark.parametrize("frame", [b"\x89\x80\0\0\0\0", b"\x81\x80\0\0\0\0"])
def test_a_flood_of_control_frames_or_small_messages_ends_the_connection(frame: bytes) -> None:
    async def test() -> None:
        async with limited(replace(FREELY, messages=(10.0, 40))) as (made, port):
            client = await Client.of(port)
            client.send(b"GET /ws/x HTTP/1.1\r\nHost: duels\r\n" + UPGRADE + b"\r\n")
            assert await client.status() == 101
            client.send(20_000 * frame)
            await client.rest()
            await count_of(made, 0)
            assert made.manager.metrics.limited >= 1
            assert await served_at(port)

    run(test)


@pytest.mark.slow
def test_the_soft_limit_of_files_is_raised_and_a_flood_of_connections_is_survived(
    tmp_path: Path,
) -> None:
    """1,300 idle connections at a soft limit of 256 files, from one address."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("needs 2,048 files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, hard))
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 2048));"
        "from duels.cli.main import main; sys.exit(main())"
    )
    (tmp_path / "few_files.py").write_text(code)
    process = Process(
        str(tmp_path / "duels.sqlite"), "--max-per-address", "60",
        program=("few_files", "serve"), path=str(tmp_path),
    )  # fmt: skip
    held = []
    try:
        limits = Path(f"/proc/{process.process.pid}/limits")
        if limits.exists():
            line = next(line for line in limits.read_text().splitlines() if "open files" in line)
            assert line.split()[3:5] == ["2048", "2048"]
        for _ in range(1300):
            held.append(socket.create_connection(("127.0.0.1", process.port)))
        with httpx.Client(transport=httpx.HTTPTransport(local_address=INNOCENT)) as innocent:
            assert innocent.get(f"{process.url}/readyz", timeout=PATIENCE).status_code == 200
    finally:
        for one in held:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert process.stop() == 0


# Rates.


def test_a_rate_refills_with_time_and_addresses_are_independent() -> None:
    now = [100.0]
    table = LimitTable(clock=lambda: now[0])
    limit = (2.0, 5)
    assert [table.take(REQUESTS, "a", limit) for _ in range(6)] == [True] * 5 + [False]
    assert table.take(REQUESTS, "b", limit)
    assert table.take(CREATIONS, "a", limit)
    now[0] += 1.0
    assert [table.take(REQUESTS, "a", limit) for _ in range(3)] == [True, True, False]
    now[0] += 100.0
    assert table.take(REQUESTS, "a", limit, cost=5.0)
    assert not table.take(REQUESTS, "a", limit, cost=0.1)


def test_workers_share_rates_and_counts_and_a_new_worker_forgets_its_predecessors() -> None:
    fd = new_memory(2)
    try:
        one, two = LimitTable(fd, 2, 0), LimitTable(fd, 2, 1)
        limit = (0.001, 4)
        assert [t.take(REQUESTS, "a", limit) for t in (one, two, one, two, one)] == [True] * 4 + [
            False
        ]
        assert [t.hold(SOCKETS, "a", 3) for t in (one, two, two, one)] == [True] * 3 + [False]
        assert one.hold(WEBSOCKETS, "a", 3)
        again = LimitTable(fd, 2, 1)  # the second worker was killed and is started again
        assert [t.hold(SOCKETS, "a", 3) for t in (again, one, one)] == [True, True, False]
        one.release(SOCKETS, "a")
        assert again.hold(SOCKETS, "a", 3)
    finally:
        os.close(fd)


def test_addresses_of_one_ipv6_network_count_as_one() -> None:
    assert address_group("2001:db8::1") == address_group("2001:db8::ffff:1:2:3")
    assert address_group("2001:db8::1") != address_group("2001:db8:0:1::1")
    assert address_group("::ffff:192.0.2.1") == address_group("192.0.2.1") == "192.0.2.1"
    assert address_group("fe80::1%eth0") == address_group("fe80::2")
    assert address_group("not an address:") == "not an address:"


def test_every_kind_of_request_is_limited_and_health_checks_have_a_limit_of_their_own() -> None:
    async def test() -> None:
        limits = replace(FREELY, requests=(0.001, 4))
        async with (
            limited(limits, proxy=True) as (made, port),
            httpx.AsyncClient(base_url=f"http://{HOSTILE}:{port}", timeout=PATIENCE) as http,
        ):
            id = "A" * 22
            paths = ("/", "/history", f"/match/{id}", f"/match/{id}/picture.png", "/nothing",
                     "/static/index.html", "/favicon.ico", "/api/games", "/api/openapi.json",
                     f"/api/matches/{id}/replay", "/metrics", "/readyz")  # fmt: skip
            for number, path in enumerate(paths):

                async def get(path: str, address: str) -> httpx.Response:
                    return await http.get(path, headers={"X-Forwarded-For": address})

                hostile, innocent = f"192.0.2.{number}", f"198.51.100.{number}"
                codes = [(await get(path, hostile)).status_code]
                while codes[-1] != 429:
                    assert len(codes) < 100, path
                    codes.append((await get(path, hostile)).status_code)
                assert len(codes) - 1 == round(4 / cost(path))
                refused = await get(path, hostile)
                assert refused.json()["reason"] == "too many requests; wait a moment"
                assert refused.headers["x-content-type-options"] == "nosniff"
                assert int(refused.headers["retry-after"]) > 0
                assert (await get(path, innocent)).status_code == codes[0]
                if path not in FOR_OPERATORS:
                    assert (await get("/healthz", hostile)).status_code == 200
            assert made.manager.metrics.limited == 2 * len(paths)

    run(test)


def test_refused_requests_do_not_reach_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with limited(replace(FREELY, requests=(0.001, 8))) as (made, port):
            asked = 0
            usual = made.manager.store.row

            async def row(id: str) -> Any:
                nonlocal asked
                asked += 1
                return await usual(id)

            monkeypatch.setattr(made.manager.store, "row", row)
            async with httpx.AsyncClient(base_url=f"http://{HOSTILE}:{port}") as http:
                for _ in range(50):
                    await http.get(f"/match/{'A' * 22}/picture.png")
            assert asked == 2

    run(test)


def test_handshakes_are_limited_with_a_status_and_fill_no_log(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async def test() -> None:
        async with limited(replace(FREELY, handshakes=(0.001, 3))) as (_, port):
            url = f"ws://127.0.0.1:{port}/ws/{'A' * 22}"
            held = [await connect(url) for _ in range(3)]
            with pytest.raises(InvalidStatus) as refused:
                await connect(url)
            assert refused.value.response.status_code == 429
            assert b"too many requests" in (refused.value.response.body or b"")
            async with connect(url, local_addr=(INNOCENT, 0)):
                pass
            for one in held:
                await one.close()
        assert "ERROR" not in capfd.readouterr().err

    run(test)


def test_new_connections_are_limited() -> None:
    async def test() -> None:
        async with limited(replace(FREELY, connects=(0.001, 5))) as (_, port):
            codes = [await (await Client.of(port)).ask() for _ in range(8)]
            assert codes == [200] * 5 + [429] * 3
            assert await served_at(port)

    run(test)


# Images.


def test_an_image_is_drawn_once_for_all_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    def drawing(title: str, row: Any) -> bytes:
        drawn.append(row.state)
        assert threading.current_thread() is not threading.main_thread()
        return picture(title, row)

    monkeypatch.setattr(pages, "picture", drawing)

    async def test() -> None:
        async with (
            limited(FREELY) as (made, port),
            httpx.AsyncClient(base_url=f"http://{HOSTILE}:{port}") as http,
        ):
            ada, bob = (Person(http, "", new_key()) for _ in range(2))
            id = (await ada.create("digit-duel"))["id"]
            path = f"/match/{id}/picture.png"
            found = await asyncio.gather(*(http.get(path) for _ in range(40)))
            assert {one.status_code for one in found} == {200}
            assert len({one.content for one in found}) == 1
            assert drawn == ["waiting"]
            again = await http.get(path, headers={"If-None-Match": found[0].headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            await bob.join(id)
            changed = await http.get(path, headers={"If-None-Match": found[0].headers["etag"]})
            assert changed.status_code == 200
            assert changed.content != found[0].content
            assert drawn == ["waiting", "starting"]
            assert len(made.manager.rooms) == 1

    run(test)


# Engine work.


def test_users_take_turns_however_many_jobs_one_of_them_has() -> None:
    async def test() -> None:
        queue, all_wait = FairQueue(most=100), asyncio.Event()
        order: list[str] = []

        async def work(user: str) -> None:
            await queue.turn(user)
            order.append(user)
            await all_wait.wait()
            queue.release()

        hog = [asyncio.create_task(work("hog")) for _ in range(20)]
        await asyncio.sleep(0)
        others = [asyncio.create_task(work(user)) for user in ("a", "b", "a")]
        await asyncio.sleep(0)
        all_wait.set()
        await asyncio.gather(*hog, *others)
        assert order[:6] == ["hog", "a", "b", "hog", "a", "hog"]
        assert order.count("hog") == 20
        assert queue.users == 0
        await asyncio.wait_for(queue.turn("next"), PATIENCE)

    run(test)


def test_a_queue_is_bounded_per_user_and_cancelled_turns_are_passed_on() -> None:
    async def test() -> None:
        queue = FairQueue(most=2)
        await queue.turn("hog")
        waiting = [asyncio.create_task(queue.turn("hog")) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="wait"):
            await queue.turn("hog")
        other = asyncio.create_task(queue.turn("other"))
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        queue.release()
        await other
        assert not waiting[1].done()
        queue.release()
        waiting[1].cancel()  # at the moment at which it gets the turn
        await asyncio.sleep(0)
        await asyncio.wait_for(queue.turn("last"), PATIENCE)
        assert queue.users == 0

    run(test)


def test_twenty_matches_of_one_address_delay_another_players_computer_by_one_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The order in which moves are computed, with the real searching computer player."""

    async def test() -> None:
        async with limited(FREELY) as (made, port):
            order: list[str] = []
            usual = made.manager.computers.choose

            async def choose(user: str, *given: Any) -> str:
                move = await usual(user, *given)
                order.append(user)
                return move

            monkeypatch.setattr(made.manager.computers, "choose", choose)
            url = f"http://127.0.0.1:{port}"
            transport = httpx.AsyncHTTPTransport(local_address=INNOCENT)
            async with (
                httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http,
                httpx.AsyncClient(base_url=url, timeout=PATIENCE, transport=transport) as other,
            ):
                served = Served(made.manager, port)
                hogs = [served.person() for _ in range(20)]
                for hog in hogs:
                    match = await Person(http, served.ws, hog.key).create(
                        "number-wars", opponent="ismcts", seat=2, options={"first": "1"}
                    )
                    await hog.sit(match["id"])
                await until(lambda: made.manager.computers.searching == 1)
                ada = Person(other, served.ws, new_key())
                match = await ada.create(
                    "number-wars", opponent="ismcts", seat=2, options={"first": "1"}
                )
                before = len(order)
                room = await made.manager.room(match["id"])
                seated = await sit_at(ada, match["id"])
                assert await seated.choosing()
                assert room.user == INNOCENT
                assert INNOCENT in order
                assert order[before:].index(INNOCENT) <= 3  # moves that were being computed
                await served.http.aclose()

    run(test)


async def sit_at(person: Person, id: str) -> Seated:
    """Take a seat from the innocent address."""
    socket = await connect(f"{person.ws}/ws/{id}", compression=None, local_addr=(INNOCENT, 0))
    seated = Seated(socket, person.key)
    await seated.hello()
    await seated.agree()
    return seated


# Overload.


def test_under_overload_new_matches_are_refused_and_those_in_progress_go_on() -> None:
    async def test() -> None:
        limits = replace(FREELY, rooms=2, lag=0.5)
        async with limited(limits) as (made, port):
            served = Served(made.manager, port)
            ada, bob = served.person(), served.person()
            match = await ada.create("number-wars", seat=1)
            await bob.join(match["id"])
            one, two = await ada.sit(match["id"]), await bob.sit(match["id"])
            await one.started()
            await two.started()

            async def refused(game: str = "digit-duel", **fields: Any) -> str:
                found = await ada.http.post(
                    "/api/matches", headers=ada.headers, json={"game": game, **fields}
                )
                assert found.status_code == 503
                return str(found.json()["reason"])

            made.manager.overload.lag = 1e6
            assert await refused() == (
                "the server is busy: it responds too slowly; try again later"
            )
            assert (await one.move("10"))["ok"]
            await two.until("update", moment=1)
            made.manager.overload.lag = 0.0
            await ada.create("digit-duel", request="again")
            assert await refused() == (
                "the server is busy: too many matches are in progress; try again later"
            )
            await ada.create("digit-duel", request="again")  # is that match, and creates none
            assert (await two.move("10"))["ok"]
            await one.until("update")
            assert (await one.command("resign", at=one.moment))["ok"]
            await two.command("rematch")
            answer = await one.command("rematch")
            assert not answer["ok"]
            assert answer["reason"].startswith("the server is busy")
            for seat in (one, two):
                await seat.close()
            await served.http.aclose()

    run(test)


def test_matches_with_searching_players_are_refused_while_too_many_users_wait() -> None:
    async def test() -> None:
        limits = replace(FREELY, searching=2, searches=3)
        async with limited(limits) as (made, port):
            served = Served(made.manager, port)
            ada = served.person()
            queue = made.manager.computers._queues["search"]
            await queue.turn("one")
            waiting = [asyncio.create_task(queue.turn(HOSTILE)) for _ in range(3)]
            await asyncio.sleep(0)

            async def reason(opponent: str) -> str:
                body = {"game": "number-wars", "opponent": opponent}
                found = await ada.http.post("/api/matches", headers=ada.headers, json=body)
                return "" if found.status_code == 201 else str(found.json()["reason"])

            assert await reason("random") == ""
            assert "in your matches" in await reason("ismcts")
            waiting.append(asyncio.create_task(queue.turn("two")))
            await asyncio.sleep(0)
            assert await reason("random") == ""
            assert "busy: too many computer players" in await reason("ismcts")
            for task in waiting:
                task.cancel()
            await asyncio.sleep(0)
            assert await reason("ismcts") == ""
            queue.release()
            await served.http.aclose()

    run(test)


def test_the_lag_of_the_event_loop_is_averaged() -> None:
    overload = Overload(Limits(), {}, ComputerPlayers(1), Metrics())
    for _ in range(100):
        overload.add(0.001)
    assert overload.lag < 0.002
    overload.add(1.0)  # one pause is not overload
    assert overload.lag < Limits().lag
    for _ in range(10):
        overload.add(0.8)
    assert overload.lag > Limits().lag
    for _ in range(100):
        overload.add(0.0)
    assert overload.lag < Limits().lag


# Several workers.


def test_the_connections_of_an_address_are_limited_for_all_workers_together(
    postgres: Postgres,
) -> None:
    process = Process(postgres.url, "--workers", "2", "--max-per-address", "3")
    held = [socket.create_connection(("127.0.0.1", process.port)) for _ in range(40)]
    try:
        refused: set[socket.socket] = set()
        while len(refused) < 32:  # of the rest, each worker may let one too many in
            said = select.select(set(held) - refused, [], [], PATIENCE)[0]
            assert said, "each worker has let the address have all its connections"
            for one in said:
                assert one.recv(100).startswith(b"HTTP/1.1 429")
            refused.update(said)
        with httpx.Client(transport=httpx.HTTPTransport(local_address=INNOCENT)) as innocent:
            assert innocent.get(f"{process.url}/api/games", timeout=PATIENCE).status_code == 200
    finally:
        for one in held:
            one.close()
        process.stop()
