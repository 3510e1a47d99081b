"""Figures for Prometheus, in its text format: of one process, or of all workers together.

Each worker copies its figures to shared memory about ten times a second, so that counting costs
nothing else and any worker can answer for all.
"""

from __future__ import annotations

import mmap
from array import array
from bisect import bisect_left
from collections.abc import Callable
from time import perf_counter

from starlette.types import ASGIApp, Receive, Scope, Send

from duels.server.heartbeats import shared_memory

SIZE = 8  # bytes of a figure
# Upper limits of the buckets of all histograms, in seconds.
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
COUNTERS = {
    "moves_total": "Moves that were stored.",
    "created_total": "Matches created.",
    "refusals_total": "Commands refused because the rules or the state of the match forbid them.",
    "unavailable_total": "Commands that could not be stored.",
    "dropped_total": "Connections closed because the client read too slowly.",
    "limited_total": "Requests, connections and messages refused by a limit.",
    "requests_total": "Requests to the HTTP API.",
    "forwarded_total": "Requests and WebSockets forwarded to another worker.",
    "store_jobs_total": "Reads and writes of the store.",
    "store_commits_total": "Transactions of the store.",
    "cpu_seconds_total": "CPU time of the server, without processes for computer players.",
}
GAUGES = {
    "connections": "Open WebSockets.",
    "rooms": "Matches in memory.",
    "workers": "Processes that serve.",
}
HISTOGRAMS = {
    "command_seconds": "Time from receiving a command to its answer.",
    "request_seconds": "Time to answer an HTTP request.",
    "store_commit_seconds": "Time of a transaction of the store.",
    "engine_seconds": "Time of a computer player for a move, with the time in the queue.",
}
NAMES = (*COUNTERS, *GAUGES)
PER_HISTOGRAM = len(BOUNDS) + 2  # the buckets, that above the last bound, and the sum
FIGURES = len(NAMES) + PER_HISTOGRAM * len(HISTOGRAMS)


class Histogram:
    """Counts of durations by bucket, and their sum.

    >>> times = Histogram()
    >>> times.observe(0.0005), times.observe(0.0006), times.observe(99.0)
    (None, None, None)
    >>> times.counts[0], times.counts[1], times.counts[-1], times.sum
    (1, 1, 1, 99.0011)
    """

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts, self.sum = [0] * (len(BOUNDS) + 1), 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds


class SharedFigures:
    """The figures of all workers in shared memory; `own` is the number of this worker."""

    def __init__(self, fd: int, count: int, own: int) -> None:
        self._values = memoryview(mmap.mmap(fd, SIZE * FIGURES * count)).cast("d")
        self.count, self.own = count, own
        # Of former processes with this number. Gauges are those of this process alone.
        self._former = [
            0.0 if number in range(len(COUNTERS), len(NAMES)) else value
            for number, value in enumerate(self._slot(own))
        ]

    def _slot(self, number: int) -> memoryview[float]:
        return self._values[number * FIGURES : (number + 1) * FIGURES]

    def publish(self, values: list[float]) -> None:
        """Copy the figures of this process."""
        sums = map(float.__add__, self._former, values)
        self._slot(self.own)[:] = memoryview(array("d", sums))

    def total(self) -> list[float]:
        """The sums over all workers."""
        return [sum(values) for values in zip(*map(self._slot, range(self.count)), strict=True)]


def new_figures(count: int) -> int:
    """The file descriptor of shared memory for the figures of several workers."""
    return shared_memory("duels-metrics", SIZE * FIGURES * count)


class Metrics:
    """The figures of one process. `look_up` returns those that are counted elsewhere."""

    def __init__(
        self, look_up: Callable[[], dict[str, float]] = dict,
        histograms: dict[str, Histogram] | None = None,
    ) -> None:  # fmt: skip
        self.moves = self.created = self.refusals = self.unavailable = 0
        self.connections = self.dropped = self.limited = self.requests = self.forwarded = 0
        self._look_up = look_up
        self.histograms = {name: Histogram() for name in HISTOGRAMS} | (histograms or {})
        self.shared: SharedFigures | None = None  # if there are several workers

    def values(self) -> list[float]:
        """All figures of this process, in the order of the tables above."""
        found = {"workers": 1, **self._look_up()}
        values = [
            float(found[name] if name in found else getattr(self, name.removesuffix("_total"), 0))
            for name in NAMES
        ]
        for name in HISTOGRAMS:
            values += [*map(float, self.histograms[name].counts), self.histograms[name].sum]
        return values

    def publish(self) -> None:
        """Make the figures of this process visible to the other workers."""
        if self.shared is not None:
            self.shared.publish(self.values())

    def text(self) -> str:
        """The figures of all workers.

        >>> print(*Metrics(lambda: {"rooms": 3}).text().splitlines()[39:42], sep="\\n")
        # HELP duels_workers Processes that serve.
        # TYPE duels_workers gauge
        duels_workers 1
        """
        self.publish()
        values = self.values() if self.shared is None else self.shared.total()
        lines = []
        for (name, about), value in zip({**COUNTERS, **GAUGES}.items(), values, strict=False):
            kind = "counter" if name in COUNTERS else "gauge"
            lines += [*_head(name, about, kind), f"duels_{name} {_number(value)}"]
        for place, (name, about) in enumerate(HISTOGRAMS.items()):
            first = len(NAMES) + place * PER_HISTOGRAM
            *counts, total = values[first : first + PER_HISTOGRAM]
            lines += _head(name, about, "histogram")
            reached = 0.0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
                reached += count
                lines.append(f'duels_{name}_bucket{{le="{bound}"}} {_number(reached)}')
            lines.append(f"duels_{name}_sum {_number(total)}")
            lines.append(f"duels_{name}_count {_number(reached)}")
        return "\n".join(lines) + "\n"


def _head(name: str, about: str, kind: str) -> list[str]:
    return [f"# HELP duels_{name} {about}", f"# TYPE duels_{name} {kind}"]


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


class RequestTimer:
    """ASGI middleware that measures HTTP requests."""

    def __init__(self, app: ASGIApp, times: Histogram) -> None:
        self.app, self.times = app, times

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = perf_counter()
        try:
            await self.app(scope, receive, send)
        finally:
            self.times.observe(perf_counter() - began)
