"""The files in deploy/: the unit of systemd, the image and the compose file.

tests/server/test_nginx.py tests deploy/nginx.conf.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import httpx

from duels.client.identity import new_key
from duels.games import BUILT_IN
from tests.server.server import ROOT, Person, Process, play_out, run
from tests.test_docs import parsed

DEPLOY = ROOT / "deploy"
UNIT = (DEPLOY / "duels.service").read_text("utf-8")
SEARCHED = "digit-duel"
MOST_EXPOSED = 1.5  # the score differs a little between versions of systemd


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_finds_no_fault_in_the_unit_and_little_exposure(tmp_path: Path) -> None:
    unit = tmp_path / "duels.service"
    # The programs must exist; which ones they are is not checked.
    found = re.sub(r"(?m)^(ExecStart\w*=)\S+", rf"\1{sys.executable}", UNIT)
    unit.write_text(found)
    checked = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    about_this = [line for line in checked.stderr.splitlines() if "duels.service" in line]
    assert (checked.returncode, about_this) == (0, []), checked.stderr
    scored = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    score = re.search(r"exposure level for duels.service: ([\d.]+)", scored.stdout)
    assert score is not None, scored.stderr
    assert float(score[1]) <= MOST_EXPOSED, scored.stdout


def test_the_unit_starts_the_program_with_options_that_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = re.sub(r"(?m)^#\s*", "", UNIT).replace("\\\n", " ")  # also the one in a comment
    commands = re.findall(r"(?m)^ExecStart=(.*)$", text)
    assert len(commands) == 2
    for command in commands:
        program, *words = shlex.split(command)
        assert program.endswith("/duels")
        assert parsed(words, monkeypatch), command


def test_the_health_check_of_the_image_asks_the_server(tmp_path: Path) -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    found = re.search(r"HEALTHCHECK .*?CMD (\[.*?\])\n", text, re.DOTALL)
    assert found is not None
    server = Process(str(tmp_path / "duels.sqlite"))
    _, *words = json.loads(found[1].replace("127.0.0.1:8000", f"127.0.0.1:{server.port}"))
    try:
        subprocess.run([sys.executable, *words], check=True)
    finally:
        server.kill()
    assert subprocess.run([sys.executable, *words], stderr=subprocess.DEVNULL).returncode


def test_the_image_copies_files_that_exist_and_that_are_not_ignored() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    kept = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    copied = [word for line in re.findall(r"(?m)^COPY (.*)$", text) for word in line.split()[:-1]]
    assert copied
    for name in copied:
        assert (ROOT / name).exists()
        assert f"!{name}" in kept
    assert re.search(r"(?m)^USER \d+$", text)
    words = json.loads(re.findall(r"(?m)^CMD (.*)$", text)[-1])
    assert words[0] == "serve"


@pytest.fixture
def services() -> Any:
    yaml = pytest.importorskip("yaml", reason="needs the extra: pip install 'duels[docs]'")
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


def test_the_compose_file_passes_the_password_by_a_file_alone(
    services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    duels, database = services["services"]["duels"], services["services"]["database"]
    assert parsed(duels["command"], monkeypatch)
    (name,) = services["secrets"]
    path = f"/run/secrets/{name}"
    assert f"--database-password-file={path}" in duels["command"]
    assert database["environment"]["POSTGRES_PASSWORD_FILE"] == path
    assert duels["secrets"] == database["secrets"] == [name]
    assert not any("PASSWORD" in key for key in database["environment"] if "_FILE" not in key)
    assert "environment" not in duels
    assert not os.path.exists(DEPLOY / name), "a password is not part of the repository"


def test_the_compose_file_gives_the_server_few_rights(services: Any) -> None:
    duels, database = services["services"]["duels"], services["services"]["database"]
    assert duels["read_only"]
    assert duels["cap_drop"] == ["ALL"]
    assert duels["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in duels["ports"])
    assert "ports" not in database
    assert services["networks"]["inside"]["internal"]
    assert database["networks"] == ["inside"]


def sandbox_works() -> bool:
    """Whether this system has systemd's lists, libseccomp and PR_SET_MDWE."""
    tried = [sys.executable, "-c", "from tests.server.sandboxed import apply; apply()"]
    return subprocess.run(tried, cwd=ROOT, capture_output=True, check=False).returncode == 0


@pytest.mark.slow
def test_the_server_plays_under_the_restrictions_of_the_unit(tmp_path: Path) -> None:
    """Also where numba is installed, which must not compile code there."""
    if not sandbox_works():
        pytest.skip("needs systemd-analyze, libseccomp and PR_SET_MDWE (Linux 6.3)")
    written = "import ctypes, mmap; from tests.server.sandboxed import apply; apply(); "
    written += "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)"
    refused = subprocess.run([sys.executable, "-c", written], cwd=ROOT, capture_output=True)
    assert b"PermissionError" in refused.stderr  # the restrictions are in force

    server = Process(
        str(tmp_path / "duels.sqlite"), "--computer-delay", "0.01",
        program=("tests.server.sandboxed",),
    )  # fmt: skip
    try:

        async def test() -> None:
            async with httpx.AsyncClient(base_url=server.url, timeout=120) as http:
                for game, level in [
                    *((game, "perfect") for game in BUILT_IN),
                    (SEARCHED, "ismcts"),
                ]:
                    ada = Person(http, server.ws, new_key())
                    made = await ada.create(game, opponent=level, seat=1)
                    seated = await ada.sit(made["id"])
                    await seated.started()
                    await play_out(seated, min)
                    found = await ada.get(f"/api/matches/{made['id']}")
                    assert found["state"] == "over"

        run(test)
    finally:
        assert server.stop() == 0
