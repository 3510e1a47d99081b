"""Several processes on one port against PostgreSQL. One that dies is started again."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import fields
from typing import Any

from duels.web.keys import new_key
from duels.web.settings import Limits, Settings

GIVEN = "DUELS_WORKER"  # in the environment of a worker: its settings, which hold no secret but one
SOURCES = ("now", "secret", "room_id", "limits")


def run_workers(settings: Settings, listening: socket.socket, count: int) -> int:
    """Serve with so many processes until a signal."""
    plain = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in SOURCES}
    limits = {f.name: getattr(settings.limits, f.name) for f in fields(settings.limits)}
    given = json.dumps(
        {
            "settings": plain,
            "limits": limits,
            "token": new_key(),
            "fd": listening.fileno(),
            "parent": os.getpid(),
        }
    )

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "duels.web.workers"], pass_fds=[listening.fileno()],
            env={**os.environ, GIVEN: given},
        )  # fmt: skip

    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    workers = [start() for _ in range(count)]
    while not stopping.wait(0.2):
        workers = [start() if worker.poll() is not None else worker for worker in workers]
    for worker in workers:
        worker.terminate()
    return max(worker.wait() for worker in workers)


def worker(given: Any) -> int:
    """One process among several."""
    from duels.web.serve import run

    threading.Thread(target=_watch, args=(given["parent"],), daemon=True).start()
    plain: dict[str, Any] = {k: _tuple(v) for k, v in given["settings"].items()}
    limits: dict[str, Any] = {k: _tuple(v) for k, v in given["limits"].items()}
    settings = Settings(**plain, limits=Limits(**limits))
    return run(settings, socket.socket(fileno=given["fd"]), given["token"])


def _watch(parent: int) -> None:
    """Stop in order when whoever started this process is gone, even if that was killed."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(worker(json.loads(os.environ.pop(GIVEN))))
