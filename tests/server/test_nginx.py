"""Behind nginx with TLS, with the file deploy/nginx.conf itself."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import httpx
from websockets.asyncio.client import connect

from duels.client.identity import new_key
from tests.server.postgres import Postgres
from tests.server.server import ROOT, Person, Process, Seated, play_out, run

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
HANGS = 120.0  # seconds after which a test fails instead of waiting for good
pytestmark = pytest.mark.skipif(
    NGINX is None or not shutil.which("openssl"), reason="needs nginx and openssl"
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A key and a certificate of its own for `localhost`."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key),
         "-out", str(certificate)], check=True, capture_output=True,
    )  # fmt: skip
    return key, certificate


class Front:
    """nginx with the shipped file, other ports and a certificate of its own."""

    def __init__(
        self, folder: Path, tls: tuple[Path, Path], target: int, more: str = "",
        changes: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        """`more` is added to the block `http`; `changes` replaces parts of the file."""
        key, certificate = tls
        self.port, self.plain = _free(), _free()
        text = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
        for old, new in {
            "127.0.0.1:8000": f"127.0.0.1:{target}",
            "    listen [::]:80;\n": "",
            "    listen [::]:443 ssl;\n": "",
            "listen 80": f"listen 127.0.0.1:{self.plain}",
            "listen 443": f"listen 127.0.0.1:{self.port}",
            "https://duels.example.org$": f"https://localhost:{self.port}$",
            "duels.example.org": "localhost",
            "/etc/ssl/duels/fullchain.pem": str(certificate),
            "/etc/ssl/duels/privkey.pem": str(key),
            **(changes or {}),
        }.items():
            assert old in text, old
            text = text.replace(old, new)
        paths = "".join(
            f"{kind}_temp_path {folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        config, log = folder / "nginx.conf", folder / "error.log"
        config.write_text(
            f"daemon off; pid {folder}/pid; error_log {log};\n"
            + ("user root;\n" if os.getuid() == 0 else "")
            + f"events {{}}\nhttp {{\naccess_log off;\n{paths}{more}{text}\n}}\n"
        )
        assert NGINX is not None
        self.process = subprocess.Popen([NGINX, "-c", str(config), "-e", str(log)])
        self.trusted = ssl.create_default_context(cafile=str(certificate))
        self.base = f"https://localhost:{self.port}"
        until = time.monotonic() + HANGS
        while True:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            assert self.process.poll() is None, log.read_text()
            assert time.monotonic() < until
            time.sleep(0.05)

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.base, verify=self.trusted, timeout=HANGS)

    def opened(self) -> ssl.SSLSocket:
        """A connection of which a test sends the bytes itself."""
        made = socket.create_connection(("127.0.0.1", self.port), HANGS)
        return self.trusted.wrap_socket(made, server_hostname="localhost")


def _free(count: int = 1) -> int:
    """The first of so many free ports in a row."""
    while True:
        with ExitStack() as stack, suppress(OSError):
            free = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            port: int = free.getsockname()[1]
            for more in range(1, count):
                stack.enter_context(socket.create_server(("127.0.0.1", port + more)))
            return port


@contextmanager
def front(
    folder: Path, tls: tuple[Path, Path], target: int, more: str = "", **changes: dict[str, str]
) -> Iterator[Front]:
    made = Front(folder, tls, target, more, **changes)
    try:
        yield made
    finally:
        made.process.terminate()
        made.process.wait()


def answered(connection: ssl.SSLSocket, requests: bytes) -> bytes:
    """All that nginx sends until it ends the connection."""
    with connection:
        connection.sendall(requests)
        parts = []
        with suppress(ConnectionResetError):
            while part := connection.recv(65536):
                parts.append(part)
    return b"".join(parts)


def statuses(connection: ssl.SSLSocket, path: str, count: int, header: str = "") -> list[bytes]:
    """The statuses of so many requests on one connection, the last of which ends it."""
    one = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}"
    requests = f"{one}\r\n" * (count - 1) + f"{one}Connection: close\r\n\r\n"
    found = answered(connection, requests.encode()).split(b"HTTP/1.1 ")[1:]
    assert len(found) == count
    return [response[:3] for response in found]


def test_a_match_is_played_behind_nginx_over_tls(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    server = Process(str(tmp_path / "duels.sqlite"), "--proxy")

    async def test(nginx: Front) -> None:
        base, trusted = nginx.base, nginx.trusted
        async with nginx.client() as http:
            healthy = await http.get("/healthz")
            assert healthy.json() == {"ok": True}
            assert healthy.headers["strict-transport-security"]
            assert (await http.get("/metrics")).status_code == 403
            assert (await http.get("/readyz")).status_code == 403
            ada = Person(http, base.replace("http", "ws"), new_key())
            made = await ada.create("digit-duel", opponent="greedy")
            url = f"{ada.ws}/ws/{made['id']}"
            page = (await http.get(f"/match/{made['id']}")).text
            assert f"{base}/match/{made['id']}/picture.png" in page
            socket = await connect(url, ssl=trusted, origin=base)  # type: ignore[arg-type]
            seated = Seated(socket, ada.key)
            await seated.hello()
            await seated.agree()
            await play_out(seated, lambda options: options[0])
            assert (await ada.get(f"/api/matches/{made['id']}"))["state"] == "over"
            evil = asyncio.ensure_future(
                connect(url, ssl=trusted, origin="https://evil.example").__aenter__()  # type: ignore[arg-type]
            )
            with pytest.raises(Exception, match="403"):
                await evil

    try:
        with front(tmp_path, certificate, server.port) as nginx:
            run(lambda: test(nginx))
    finally:
        server.kill()


def test_each_match_goes_to_one_worker(
    tmp_path: Path, certificate: tuple[Path, Path], postgres: Postgres
) -> None:
    base = _free(3)
    server = Process(
        postgres.url, "--proxy", "--workers", "2", "--worker-ports", port=base, limits=False
    )
    workers = "".join(f"    server 127.0.0.1:{base + n};\n" for n in (1, 2))
    hashed = f"    hash $duels_match consistent;\n{workers}"

    ids: list[str] = []

    def forwarded() -> int:
        text = httpx.get(f"{server.url}/metrics").text
        return int(text.partition("\nduels_forwarded_total ")[2].partition("\n")[0])

    async def sit(person: Person, url: str, id: str, **tls: Any) -> Seated:
        seated = Seated(await connect(f"{url}/ws/{id}", **tls), person.key)
        await seated.hello()
        return seated

    async def test(nginx: Front) -> None:
        async with nginx.client() as http:
            url = nginx.base.replace("http", "ws")
            for _ in range(12):  # too many to reach only one of the workers by chance
                ada, bob = (Person(http, url, new_key()) for _ in "ab")
                made = await ada.create("number-wars", seat=1)
                ids.append(made["id"])
                await bob.join(made["id"])
                both = [await sit(p, url, made["id"], ssl=nginx.trusted) for p in (ada, bob)]
                for seated in both:
                    await seated.agree()
                assert await both[0].choosing()
                assert (await both[0].move("7"))["ok"]
                await both[1].until("update", moment=1)
                await both[0].close()
            for port in (1, 2):  # every worker serves every match
                direct = f"ws://127.0.0.1:{base + port}"
                assert (await sit(ada, direct, made["id"])).match["moment"] == 1
            # Only the last of these connections, of all in this test, was forwarded. A worker
            # learns of the others' figures within a tenth of a second.
            async with asyncio.timeout(10):
                while not forwarded():
                    await asyncio.sleep(0.05)
            await asyncio.sleep(0.5)
            assert forwarded() == 1

    try:
        change = {f"    server 127.0.0.1:{base};\n": hashed}
        with front(tmp_path, certificate, base, changes=change) as nginx:
            run(lambda: test(nginx))
            assert len(set(asyncio.run(_holders(postgres.url, ids)))) == 2
    finally:
        server.kill()


async def _holders(url: str, ids: list[str]) -> list[int]:
    """The workers that hold the leases of matches."""
    import asyncpg

    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch("SELECT worker FROM owners WHERE room = ANY($1)", ids)
    finally:
        await connection.close()
    return [row["worker"] for row in rows]


class Upstream:
    """Stands in the place of the server and keeps the headers that nginx sends."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.answers = True
        self.port = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                self.requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
                if self.answers:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async def open(self) -> asyncio.Server:
        made = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = made.sockets[0].getsockname()[1]
        return made


def test_plain_http_is_redirected_and_forged_addresses_are_replaced(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    async def test() -> None:
        upstream = Upstream()
        await upstream.open()
        with front(tmp_path, certificate, upstream.port) as nginx:
            async with nginx.client() as http:
                for host in ("localhost", "evil.example"):
                    found = await http.get(
                        f"http://127.0.0.1:{nginx.plain}/match/x?y=1", headers={"Host": host}
                    )
                    assert found.status_code == 308
                    assert found.headers["location"] == f"{nginx.base}/match/x?y=1"
                assert upstream.requests == []
                forged = {
                    "X-Forwarded-For": "6.6.6.6", "X-Duels-Worker": "token",
                    "X-Forwarded-Proto": "http",
                }  # fmt: skip
                assert (await http.get("/", headers=forged)).text == "ok"
                (request,) = upstream.requests
                lines = {line.lower() for line in request.splitlines()}
                assert "x-forwarded-for: 127.0.0.1" in lines
                assert "x-forwarded-proto: https" in lines
                assert not any("6.6.6.6" in line or "token" in line for line in lines)

    run(test)


def test_requests_above_the_rate_are_refused_for_their_address_alone(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    """Clients of other addresses are played with an address in a header, which nginx trusts here.

    The page that is asked for is refused by nginx (403) without asking the server.
    """
    more = "set_real_ip_from 127.0.0.1; real_ip_header X-Client;\n"

    def asked(nginx: Front, address: str, count: int) -> list[bytes]:
        return statuses(nginx.opened(), "/metrics", count, f"X-Client: {address}\r\n")

    with front(tmp_path, certificate, 1, more) as nginx:
        found = asked(nginx, "192.0.2.1", 900)
        assert found[:200] == [b"403"] * 200
        assert b"429" in found[200:]
        assert asked(nginx, "192.0.2.2", 100) == [b"403"] * 100
        found = asked(nginx, "2001:db8::1", 900)
        assert found[:200] == [b"403"] * 200
        assert asked(nginx, "2001:db8:0:0:ffff::2", 100)[-1] == b"429", "the same network"
        assert asked(nginx, "2001:db8:0:1::1", 100) == [b"403"] * 100


def test_connections_above_the_limit_are_refused(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    async def test() -> None:
        upstream = Upstream()
        upstream.answers = False
        await upstream.open()
        with front(tmp_path, certificate, upstream.port) as nginx:

            def open_many() -> list[ssl.SSLSocket]:
                made = [nginx.opened() for _ in range(100)]
                for one in made:
                    one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return made

            held = await asyncio.to_thread(open_many)
            while len(upstream.requests) < 100:
                await asyncio.sleep(0.01)
            refused = await asyncio.to_thread(statuses, nginx.opened(), "/", 1)
            assert refused == [b"429"]
            for one in held:
                one.close()
            upstream.answers = True
            while await asyncio.to_thread(statuses, nginx.opened(), "/", 1) != [b"200"]:
                await asyncio.sleep(0.05)

    run(test)


def test_large_and_slow_requests_are_ended(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    changes = {"client_header_timeout       10s": "client_header_timeout 1s"}
    with front(tmp_path, certificate, 1, changes=changes) as nginx:
        large = f"GET / HTTP/1.1\r\nHost: localhost\r\nX: {'x' * 5000}\r\n\r\n"
        assert b" 400 " in answered(nginx.opened(), large.encode())
        many = "".join(f"X{n}: {'x' * 3000}\r\n" for n in range(10))
        assert b" 400 " in answered(
            nginx.opened(), f"GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n".encode()
        )
        body = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
        assert b" 413 " in answered(nginx.opened(), body.encode())
        half = b"GET / HTTP/1.1\r\nHost: localhost\r\n"  # it never ends: nginx ends the connection
        found = answered(nginx.opened(), half)
        assert found == b"" or b" 408 " in found
