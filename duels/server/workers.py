"""Several worker processes on one port, with PostgreSQL.

A worker that ends is restarted. A worker whose event loop is blocked sends no heartbeats; it is
killed and restarted. Workers read their settings from standard input, which other processes cannot
read, unlike the environment.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, fields, replace
from typing import Any

from duels.client.identity import new_key
from duels.core.errors import DuelsError
from duels.core.parent_watchdog import end_with
from duels.server.heartbeats import Heartbeats, new_heartbeats
from duels.server.limits import LimitTable, new_memory
from duels.server.metrics import SharedFigures, new_figures
from duels.server.settings import Limits, Retention, Settings

# Functions, and what is passed separately.
NOT_PASSED = ("now", "secret", "room_id", "limits", "retention")
TICK = 0.2  # seconds between two checks of the workers
SILENT = 10.0  # seconds without a heartbeat after which a running worker is killed
SLOW = 30.0  # the same while it starts or stops, when it may wait for PostgreSQL
STOP_WITHIN = 40.0  # seconds after which a worker that is told to stop is killed


def run_workers(settings: Settings, listening: socket.socket, count: int) -> int:
    """Serve with several processes until SIGINT or SIGTERM; returns the exit code."""
    given = worker_settings(settings, listening, count)
    if settings.worker_ports:
        from duels.server.serve import listen

        first = listening.getsockname()[1] + 1
        own = [listen(replace(settings, port=first + place)) for place in range(count)]
        given["own"] = [made.fileno() for made in own]
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


def worker_settings(settings: Settings, listening: socket.socket, count: int = 1) -> dict[str, Any]:
    """The settings that are passed to each of `count` workers, and the memory that they share."""
    passed = [field.name for field in fields(settings) if field.name not in NOT_PASSED]
    plain = {name: getattr(settings, name) for name in passed}
    limits = {f.name: getattr(settings.limits, f.name) for f in fields(settings.limits)}
    return {
        "settings": plain, "limits": limits, "retention": asdict(settings.retention),
        "token": new_key(), "fd": listening.fileno(), "parent": os.getpid(),
        "figures": new_figures(count), "limit_table": new_memory(count),
    }  # fmt: skip


class Worker:
    """A worker process, as seen by the process that starts it."""

    def __init__(self, given: dict[str, Any], heartbeats: Heartbeats, number: int) -> None:
        self._heartbeats, self._number = heartbeats, number
        heartbeats.clear(number)
        self._last = 0.0
        self._silent = 0  # checks; not seconds, which also pass while this process is suspended
        shared = {"heartbeats": (heartbeats.fd, heartbeats.count, number)}
        own = given["own"][number : number + 1] if "own" in given else []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "duels.server.workers"], stdin=subprocess.PIPE,
            pass_fds=[given["fd"], *own, given["figures"], given["limit_table"], heartbeats.fd],
        )  # fmt: skip
        assert self.process.stdin is not None
        with suppress(BrokenPipeError), self.process.stdin as pipe:
            pipe.write(json.dumps({**given, **shared, "own": own}).encode())

    def check(self) -> bool:
        """Whether it is running. Kills it if it has sent no heartbeat for too long."""
        last = self._heartbeats.last(self._number)
        self._silent = self._silent + 1 if last == self._last else 0
        self._last = last
        if self._silent * TICK > (SILENT if last else SLOW):
            print(f"worker {self.process.pid} does not respond and is killed", file=sys.stderr)
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
    """Run a worker in this process until it is stopped; returns its exit code."""
    from duels.server.serve import run

    end_with(given["parent"], signal.SIGTERM)
    plain: dict[str, Any] = {k: _tuple(v) for k, v in given["settings"].items()}
    limits: dict[str, Any] = {k: _tuple(v) for k, v in given["limits"].items()}
    retention = Retention(**given.get("retention", {}))
    settings = Settings(**plain, limits=Limits(**limits), retention=retention)
    heartbeats = figures = table = None
    if "heartbeats" in given:
        heartbeats = Heartbeats(*given["heartbeats"])
        figures = SharedFigures(given["figures"], *given["heartbeats"][1:])
        table = LimitTable(given["limit_table"], *given["heartbeats"][1:])
    listening = [socket.socket(fileno=fd) for fd in (given["fd"], *given.get("own", ()))]
    try:
        return run(settings, listening, given["token"], heartbeats, figures, table)
    except DuelsError as error:
        print(f"duels: {error}", file=sys.stderr)
        return 1


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(worker(json.load(sys.stdin)))
