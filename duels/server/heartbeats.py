"""Heartbeats of the workers in shared memory: when the event loop of each last ran.

A time of 0 means that the worker is starting or stopping, or has died and is not restarted yet.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import time

LATE = 3.0  # seconds without a heartbeat after which a worker counts as not responding
SIZE = 8  # bytes of a time


class Heartbeats:
    """The times of all workers; `own` is the number of this process, if it is a worker."""

    def __init__(self, fd: int, count: int, own: int | None = None) -> None:
        self.fd, self.count, self.own = fd, count, own
        # Read and written eight bytes at a time, so that no partly written time is read.
        self._times = memoryview(mmap.mmap(fd, SIZE * count)).cast("d")

    def beat(self) -> None:
        """Record that the event loop of this worker runs."""
        assert self.own is not None
        self._times[self.own] = time.monotonic()  # the same clock in all processes of a machine

    def clear(self, number: int | None = None) -> None:
        """Record that a worker, by default this one, is starting or stopping."""
        number = self.own if number is None else number
        assert number is not None
        self._times[number] = 0.0

    def last(self, number: int) -> float:
        return self._times[number]

    def problem(self) -> str:
        """Which of the other workers are not ready, as a text; empty if all are."""
        others = [self._times[number] for number in range(self.count) if number != self.own]
        before = time.monotonic() - LATE
        stopped = sum(last == 0.0 for last in others)
        late = sum(last < before for last in others) - stopped
        found = (late, "not responding"), (stopped, "starting or stopping")
        return ", ".join(f"{n} of {self.count} workers {what}" for n, what in found if n)


def new_heartbeats(count: int) -> Heartbeats:
    """Heartbeats of workers that have not started."""
    return Heartbeats(shared_memory("duels-heartbeats", SIZE * count), count)


def shared_memory(name: str, size: int) -> int:
    """The file descriptor of memory that is passed to workers, filled with zeros."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(name)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, size)
    return fd
