"""What a bot gets of its host, and which memory counts for its limit."""

from __future__ import annotations

import json
import os
import sys

import pytest

from duels.core.errors import Misbehaved
from duels.players.process import MARK, MORE, PASSED, Process, ProcessLimits

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
MB = 2**20
TELLS = "import json, os; input(); print(json.dumps(dict(os.environ)), flush=True); input()"
# Each answers the first line after it has taken the memory, and the second a while later.
ANSWERS = "input(); print('done', flush=True); input(); time.sleep(1); print('done', flush=True)"
START = f"import mmap, os, time\nMB = {MB}\n"
FILE = "file = os.memfd_create('x')\nfor _ in range(100): os.write(file, bytes(MB))\n"
HELD = f"{START}{FILE}{ANSWERS}"
# In small pieces, as a private copy of the whole would count too.
FILL = "[shared.write(bytes(MB)) for _ in range(100)]; shared.seek(0)"
SHARED = f"{START}{FILE}shared = mmap.mmap(file, 100 * MB); {FILL}\n"
TWO = f"{SHARED}if not os.fork(): {FILL}; time.sleep(60)\n{ANSWERS}"
CLOSED = f"{SHARED}os.close(file)\n"
BOTH = f"{CLOSED}{FILE}{ANSWERS}"
IN_FOLDER = (
    f"{START}file = open('/dev/shm/duels-' + str(os.getpid()), 'wb', buffering=0)\n"
    f"os.unlink(file.name)\nfor _ in range(100): file.write(bytes(MB))\n{ANSWERS}"
)


def process(script: str, memory: int = 1024) -> Process:
    return Process([sys.executable, "-c", script], ProcessLimits(memory=memory))


def asked_twice(bot: Process) -> list[bytes]:
    return [bot.ask(b"", 60.0) for _ in range(2)]


def environment() -> dict[str, str]:
    bot = process(TELLS)
    found: dict[str, str] = json.loads(bot.ask(b"", 60.0))
    bot.end()
    return found


def test_a_bot_gets_no_secrets_of_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "DUELS_WORKER", "SSH_AUTH_SOCK", MORE):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    found = environment()
    assert set(found) <= {*PASSED, MARK, "LC_CTYPE"}  # Python itself sets the last one
    assert "secret" not in found.values()
    assert (found["PATH"], found["LANG"]) == (os.environ["PATH"], "C.UTF-8")


def test_an_operator_passes_further_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MORE, "MODEL_DIR, THREADS MISSING")
    monkeypatch.setenv("MODEL_DIR", "/models")
    monkeypatch.setenv("THREADS", "2")
    found = environment()
    assert (found["MODEL_DIR"], found["THREADS"]) == ("/models", "2")
    assert MORE not in found


@LINUX
@pytest.mark.parametrize(
    ("script", "limit"),
    [(HELD, 80), (f"{SHARED}{ANSWERS}", 80), (f"{CLOSED}{ANSWERS}", 80), (BOTH, 150), (TWO, 80),
     (IN_FOLDER, 80)],
    ids=["written", "mapped", "mapped and closed", "both", "of two processes", "in a folder"],
)  # fmt: skip
def test_files_in_memory_count_for_the_limit(script: str, limit: int) -> None:
    with pytest.raises(Misbehaved, match=f"it took more than {limit} MB of memory"):
        asked_twice(process(script, limit))


@LINUX
@pytest.mark.parametrize(
    ("script", "limit"),
    [(HELD, 160), (f"{SHARED}{ANSWERS}", 160), (BOTH, 260), (TWO, 160)],
    ids=["written", "mapped", "both", "of two processes"],
)
def test_memory_counts_once(script: str, limit: int) -> None:
    bot = process(script, limit)
    assert asked_twice(bot) == [b"done", b"done"]
    bot.kill()
