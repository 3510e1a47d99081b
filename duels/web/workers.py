"""Several processes on one port against PostgreSQL.

One that dies is started again, and so is one whose event loop does not run any more: each sends a
byte every second through a pipe of its own.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import fields
from typing import Any

from duels.core.errors import DuelsError
from duels.web.keys import new_key
from duels.web.settings import Limits, Settings

GIVEN = "DUELS_WORKER"  # in the environment of a worker: its settings, which hold no secret but one
SOURCES = ("now", "secret", "room_id", "limits")
TICK = 0.2  # seconds between two looks at the workers
SILENT = 30.0  # seconds without a sign of life, starting included
STOP_WITHIN = 40.0  # seconds


def run_workers(settings: Settings, listening: socket.socket, count: int) -> int:
    """Serve with so many processes until a signal."""
    given = described(settings, listening)
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    workers = [Worker(given) for _ in range(count)]
    while not stopping.wait(TICK):
        workers = [worker if worker.works() else Worker(given) for worker in workers]
    for worker in workers:
        worker.process.terminate()
    codes = [worker.stop() for worker in workers]
    return 1 if any(codes) else 0


def described(settings: Settings, listening: socket.socket) -> dict[str, Any]:
    """What each worker of a server is told."""
    plain = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in SOURCES}
    limits = {f.name: getattr(settings.limits, f.name) for f in fields(settings.limits)}
    return {
        "settings": plain, "limits": limits, "token": new_key(), "fd": listening.fileno(),
        "parent": os.getpid(),
    }  # fmt: skip


class Worker:
    """One of the processes, as the one that starts it sees it."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._pulse, end = os.pipe()
        os.set_blocking(self._pulse, False)
        self._silent = 0  # looks; not seconds, which also pass while this process is suspended
        self.process = subprocess.Popen(
            [sys.executable, "-m", "duels.web.workers"], pass_fds=[given["fd"], end],
            env={**os.environ, GIVEN: json.dumps({**given, "pulse": end})},
        )  # fmt: skip
        os.close(end)

    def works(self) -> bool:
        """Look at it; False once it has ended. One that was silent for too long is killed."""
        self._silent += 1
        with suppress(BlockingIOError):
            if os.read(self._pulse, 4096):
                self._silent = 0
        if self._silent * TICK > SILENT:
            print(f"worker {self.process.pid} does not answer: it is killed", file=sys.stderr)
            self.process.kill()
            self.process.wait()
        if self.process.poll() is None:
            return True
        os.close(self._pulse)
        return False

    def stop(self) -> int:
        """Wait for it to stop in order; its exit code."""
        try:
            return self.process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def worker(given: Any) -> int:
    """One process among several."""
    from duels.web.serve import run

    threading.Thread(target=_watch, args=(given["parent"],), daemon=True).start()
    plain: dict[str, Any] = {k: _tuple(v) for k, v in given["settings"].items()}
    limits: dict[str, Any] = {k: _tuple(v) for k, v in given["limits"].items()}
    settings = Settings(**plain, limits=Limits(**limits))
    try:
        return run(settings, socket.socket(fileno=given["fd"]), given["token"], given.get("pulse"))
    except DuelsError as error:
        print(f"duels: {error}", file=sys.stderr)
        return 1


def _watch(parent: int) -> None:
    """Stop in order when whoever started this process is gone, even if that was killed."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(worker(json.loads(os.environ.pop(GIVEN))))
