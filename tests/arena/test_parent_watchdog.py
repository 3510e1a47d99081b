"""Nothing of a tournament outlives its main process, however that ends."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.arena.test_command import ENV, ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]
MARK = "DUELS_TEST_LIFELINE"
LINGERING = 60.0  # seconds to wait for the rest to end; idle workers of joblib stay for 300
BOT = """
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        print('{"type": "ready"}', flush=True)
    if asked["type"] == "choose":
        open(sys.argv[1], "w").close()
        time.sleep(600)
"""


def marked(mark: str) -> list[str]:
    """The processes that have a mark in their environment, with their commands."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append(f"{place.name} {(place / 'cmdline').read_bytes()!r}")
    return found


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.extra("arena"))])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_the_command(tmp_path: Path, how: signal.Signals, jobs: str) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    bots = [tmp_path / name for name in ("one", "two")]
    names = [shlex.join([sys.executable, str(tmp_path / "bot.py"), str(bot)]) for bot in bots]
    words = ["arena", *names, "--games", "number-clash", "-n", "50", "--jobs", jobs]
    command = subprocess.Popen(
        [sys.executable, "-m", "duels", *words, "--out", str(tmp_path / "cup")], cwd=ROOT,
        env={**ENV, MARK: str(tmp_path), "DUELS_BOT_ENV": MARK, "DUELS_BOT_SECONDS": "600"},
        text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        while not bots[0].exists():
            assert command.poll() is None, command.communicate()
            time.sleep(0.05)
        assert len(marked(str(tmp_path))) >= 3  # the command, a supervisor and its bot
        command.send_signal(how)
        _, said = command.communicate(timeout=LINGERING)
        until = time.monotonic() + LINGERING
        while (there := marked(str(tmp_path))) and time.monotonic() < until:
            time.sleep(0.05)
        assert there == []
    finally:
        for process in marked(str(tmp_path)):
            with suppress(OSError):
                os.kill(int(process.split()[0]), signal.SIGKILL)
    if how != signal.SIGKILL:
        assert command.returncode == 128 + how
        assert said.splitlines()[-1].startswith("duels: stopped; ")
        assert "Traceback" not in said
