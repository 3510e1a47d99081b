"""Several worker processes on one port, with PostgreSQL.

A worker that ends is restarted. One whose event loop is blocked sends no heartbeats any more: it is
killed and restarted.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import fields
from typing import Any

from duels.client.identity import new_key
from duels.core.errors import DuelsError
from duels.core.parent_watchdog import end_with
from duels.server.heartbeats import Heartbeats, new_heartbeats
from duels.server.settings import Limits, Settings

GIVEN = "DUELS_WORKER"  # environment variable with the settings of a worker
SOURCES = ("now", "secret", "room_id", "limits")
TICK = 0.2  # seconds between two checks of the workers
SILENT = 10.0  # seconds without a heartbeat after which a running worker is killed
SLOW = 30.0  # the same while it starts or stops, when it may wait for PostgreSQL
STOP_WITHIN = 40.0  # seconds


def run_workers(settings: Settings, listening: socket.socket, count: int) -> int:
    """Serve with several processes until a signal."""
    given = worker_settings(settings, listening)
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    heartbeats = new_heartbeats(count)
    workers = [Worker(given, heartbeats, place) for place in range(count)]
    while not stopping.wait(TICK):
        for place, worker in enumerate(workers):
            if not worker.check():
                workers[place] = Worker(given, heartbeats, place)
    for worker in workers:
        worker.process.terminate()
    codes = [worker.stop() for worker in workers]
    return 1 if any(codes) else 0


def worker_settings(settings: Settings, listening: socket.socket) -> dict[str, Any]:
    """The settings that are passed to each worker."""
    plain = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in SOURCES}
    limits = {f.name: getattr(settings.limits, f.name) for f in fields(settings.limits)}
    return {
        "settings": plain, "limits": limits, "token": new_key(), "fd": listening.fileno(),
        "parent": os.getpid(),
    }  # fmt: skip


class Worker:
    """A worker process, as seen by the process that starts it."""

    def __init__(self, given: dict[str, Any], heartbeats: Heartbeats, number: int) -> None:
        self._heartbeats, self._number = heartbeats, number
        heartbeats.clear(number)
        self._last = 0.0
        self._silent = 0  # checks; not seconds, which also pass while this process is suspended
        shared = {"heartbeats": (heartbeats.fd, heartbeats.count, number)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "duels.server.workers"], pass_fds=[given["fd"], heartbeats.fd],
            env={**os.environ, GIVEN: json.dumps({**given, **shared})},
        )  # fmt: skip

    def check(self) -> bool:
        """Whether it is running; it is killed if it has sent no heartbeat for too long."""
        last = self._heartbeats.last(self._number)
        self._silent = self._silent + 1 if last == self._last else 0
        self._last = last
        if self._silent * TICK > (SILENT if last else SLOW):
            print(f"worker {self.process.pid} does not respond: it is killed", file=sys.stderr)
            self.process.kill()
            self.process.wait()
        if self.process.poll() is None:
            return True
        self._heartbeats.clear(self._number)
        return False

    def stop(self) -> int:
        """Wait until it stops; returns its exit code."""
        try:
            return self.process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def worker(given: Any) -> int:
    """Run one of several workers."""
    from duels.server.serve import run

    end_with(given["parent"], signal.SIGTERM)
    plain: dict[str, Any] = {k: _tuple(v) for k, v in given["settings"].items()}
    limits: dict[str, Any] = {k: _tuple(v) for k, v in given["limits"].items()}
    settings = Settings(**plain, limits=Limits(**limits))
    heartbeats = Heartbeats(*given["heartbeats"]) if "heartbeats" in given else None
    try:
        return run(settings, socket.socket(fileno=given["fd"]), given["token"], heartbeats)
    except DuelsError as error:
        print(f"duels: {error}", file=sys.stderr)
        return 1


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(worker(json.loads(os.environ.pop(GIVEN))))
