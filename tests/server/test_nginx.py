"""Behind nginx with TLS, with the very file that docs/deploy.md shows."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import httpx
from websockets.asyncio.client import connect

from duels.client.identity import new_key
from tests.server.server import ROOT, Person, Process, Seated, play_out, run

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@pytest.mark.skipif(NGINX is None or not shutil.which("openssl"), reason="needs nginx and openssl")
def test_a_match_is_played_behind_nginx_over_tls(tmp_path: Path) -> None:
    assert NGINX is not None
    server = Process(str(tmp_path / "duels.sqlite"), "--proxy")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key),
         "-out", str(certificate)], check=True, capture_output=True,
    )  # fmt: skip
    page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    found = re.search(r"```nginx\n(.*?)```", page, re.DOTALL)
    assert found is not None
    site = found[1].replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    site = site.replace("listen 443", f"listen 127.0.0.1:{port}")
    site = site.replace("duels.example.org", "localhost")
    site = site.replace("/etc/ssl/duels/fullchain.pem", str(certificate))
    site = site.replace("/etc/ssl/duels/privkey.pem", str(key))
    paths = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log;\n"
        + ("user root;\n" if os.getuid() == 0 else "")
        + f"events {{}}\nhttp {{\naccess_log off;\n{paths}{site}\n}}\n"
    )
    nginx = subprocess.Popen([NGINX, "-c", str(config), "-e", str(tmp_path / "error.log")])
    trusted = ssl.create_default_context(cafile=str(certificate))
    base = f"https://localhost:{port}"

    async def test() -> None:
        async with httpx.AsyncClient(base_url=base, verify=trusted, timeout=20) as http:
            for _ in range(100):
                try:
                    healthy = await http.get("/healthz")
                    break
                except httpx.HTTPError:
                    time.sleep(0.05)
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
        run(test)
    finally:
        nginx.terminate()
        nginx.wait()
        server.kill()
