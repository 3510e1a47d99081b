"""The figures for Prometheus: their format, and that each worker answers for all."""

from __future__ import annotations

import math
import os
import re
import signal
import time
from typing import Any

import httpx
import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.server.metrics import (
    BOUNDS,
    COUNTERS,
    FIGURES,
    GAUGES,
    HISTOGRAMS,
    Metrics,
    SharedFigures,
    new_figures,
)
from tests.server.postgres import Postgres
from tests.server.server import ROOT, Process, play_out, run, served
from tests.server.test_outages import becomes, children
from tests.server.test_restart import people
from tests.server.test_rooms import seated

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf'({NAME})(?:\{{({NAME})="((?:[^"\\\n]|\\["\\n])*)"\}})? (\S+)\Z')
Family = tuple[str, dict[str, float]]  # the type, and the samples by name and label


def parsed(text: str) -> dict[str, Family]:
    """The families of a text in the exposition format 0.0.4; fails if a line does not follow it.

    https://prometheus.io/docs/instrumenting/exposition_formats/
    """
    assert text.endswith("\n")
    found: dict[str, Family] = {}
    helped: set[str] = set()
    name = ""
    for line in text.removesuffix("\n").split("\n"):
        words = line.split(" ", 3)
        if words[:2] == ["#", "HELP"]:
            assert words[2] not in helped
            helped.add(words[2])
            continue
        if words[:2] == ["#", "TYPE"]:
            name, kind = words[2:]
            assert name not in found, "each family once, and its samples together"
            assert name in helped
            assert re.fullmatch(NAME, name)
            assert kind in ("counter", "gauge", "histogram", "summary", "untyped")
            found[name] = kind, {}
            continue
        match = SAMPLE.match(line)
        assert match is not None, line
        sample, label, value, number = match.groups()
        kind, samples = found[name]
        suffix = sample.removeprefix(name)
        assert suffix in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))
        assert (label is not None) == (suffix == "_bucket")
        key = f"{suffix}{value or ''}"
        assert key not in samples
        samples[key] = float(number)
    for kind, samples in found.values():
        assert all(math.isfinite(value) for value in samples.values())
        if kind == "histogram":
            buckets = [(float(k[7:]), v) for k, v in samples.items() if k.startswith("_bucket")]
            assert buckets == sorted(buckets), "cumulative"
            assert buckets[-1] == (math.inf, samples["_count"])
    return found


def test_the_text_follows_the_format_and_has_every_figure() -> None:
    metrics = Metrics(lambda: {"rooms": 12_345_678, "cpu_seconds_total": 0.1})
    for seconds in (0.0, 0.0005, 0.3, 100.0):
        metrics.histograms["command_seconds"].observe(seconds)
    found = parsed(metrics.text())
    names = [f"duels_{name}" for name in (*COUNTERS, *GAUGES, *HISTOGRAMS)]
    assert [*found] == names
    assert found["duels_rooms"] == ("gauge", {"": 12_345_678.0})
    assert found["duels_cpu_seconds_total"] == ("counter", {"": 0.1})
    _, samples = found["duels_command_seconds"]
    assert samples["_sum"] == 100.3005
    assert (samples["_bucket0.0005"], samples["_bucket0.5"], samples["_count"]) == (2, 3, 4)
    assert len(samples) == len(BOUNDS) + 3


def test_the_figures_are_documented() -> None:
    text = (ROOT / "docs" / "guides" / "host-a-server.md").read_text("utf-8")
    for name in (*COUNTERS, *GAUGES, *HISTOGRAMS):
        assert f"`duels_{name}`" in text


def test_what_happens_is_measured() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, id = await seated(server, "number-wars")

            async def count(name: str) -> Any:
                found = await server.http.get("/metrics")
                assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
                return parsed(found.text)[f"duels_{name}"][1]["_count"]

            names = "command_seconds", "store_commit_seconds", "request_seconds", "engine_seconds"
            before = [await count(name) for name in names]
            await one.move("10")
            await one.move("9")  # refused, and measured
            ada = server.person()
            await ada.get(f"/api/matches/{id}")
            made = await ada.create("digit-duel", seat=2, opponent="random")
            await play_out(await ada.sit(made["id"]), min)
            after = [await count(name) for name in names]
            assert all(new > old for new, old in zip(after, before, strict=True)), (before, after)
            assert after[2] >= before[2] + 3
            await two.close()

    run(test)


def test_workers_add_up_and_a_new_process_continues_the_counters_of_the_former() -> None:
    fd = new_figures(2)
    one, two = SharedFigures(fd, 2, 0), SharedFigures(fd, 2, 1)
    one.publish([1.0] * FIGURES)
    two.publish([10.0] * FIGURES)
    assert one.total() == two.total() == [11.0] * FIGURES
    again = SharedFigures(fd, 2, 0)  # the first was restarted
    again.publish([2.0] * FIGURES)
    gauges = range(len(COUNTERS), len(COUNTERS) + len(GAUGES))
    assert two.total() == [12.0 if n in gauges else 13.0 for n in range(FIGURES)]
    metrics = Metrics()
    metrics.shared = again
    metrics.moves = 5
    assert parsed(metrics.text())["duels_moves_total"][1] == {"": 16.0}


@pytest.mark.slow
def test_each_worker_answers_for_all(postgres: Postgres) -> None:
    server = Process(postgres.url, "--workers", "2")

    def asked() -> dict[str, Family]:
        """The figures, from either worker: each time over a new connection."""
        while True:
            try:
                return parsed(httpx.get(f"{server.url}/metrics", timeout=60).text)
            except httpx.HTTPError:
                time.sleep(0.05)

    def until(name: str, value: float, times: int = 12) -> None:
        """Wait until so many answers in a row say it."""
        same = 0
        while same < times:
            same = same + 1 if asked()[f"duels_{name}"][1][""] == value else 0
            time.sleep(0.01)

    async def play() -> None:
        for person in people(server, 6):
            made = await person.create("digit-duel", seat=1, opponent="random")
            await play_out(await person.sit(made["id"]), min)

    try:
        until("workers", 2)
        run(play)
        until("created_total", 6)
        until("connections", 0)
        commands = asked()["duels_command_seconds"][1]["_count"]
        assert commands > 12
        killed = children(server.process.pid)[0]
        os.kill(killed, signal.SIGKILL)
        while killed in (found := children(server.process.pid)) or len(found) < 2:
            time.sleep(0.05)
        becomes(server, 200, 10)
        until("workers", 2)
        until("created_total", 6)
        assert asked()["duels_command_seconds"][1]["_count"] == commands
        assert server.stop() == 0
    finally:
        server.kill()
