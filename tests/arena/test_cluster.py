"""A real Dask cluster of two workers on this machine, one of which is killed during the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("joblib", reason="needs the extra duels[cluster]")
pytest.importorskip("distributed", reason="needs the extra duels[cluster]")

from duels.arena.archive import Archive
from duels.arena.schedule import chunks
from duels.arena.scheduler import run
from duels.core.errors import DuelsError
from tests.arena.helpers import contents, make_tournament, played

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
QUIET = ("--no-dashboard", "--host", "127.0.0.1")
MARKS = "DUELS_TEST_MARKS"  # variable with the path of the marks


class Cluster(NamedTuple):
    address: str
    workers: list[subprocess.Popen[bytes]]
    marks: Path  # a line with its process number for each choice that a worker made


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    marks, told = tmp_path / "marks", tmp_path / "scheduler.json"
    env = {**os.environ, "PYTHONPATH": str(ROOT), MARKS: str(marks), "DUELS_BOT_ENV": MARKS}

    def start(*words: str) -> subprocess.Popen[bytes]:
        with open(tmp_path / "log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "distributed.cli." + words[0], *words[1:], *QUIET],
                cwd=tmp_path, env=env, stdout=log, stderr=log,
            )  # fmt: skip

    file = ("--scheduler-file", str(told))
    started = [start("dask_scheduler", "--port", "0", *file)]
    try:
        single = ("--nthreads", "1", "--no-nanny")
        started += [start("dask_worker", *file, *single) for _ in range(2)]
        until = time.monotonic() + 60
        while not told.exists() or not told.read_text():
            assert time.monotonic() < until, (tmp_path / "log").read_text()
            time.sleep(0.1)
        scheduler = json.loads(told.read_text())["address"]
        with import_module("distributed").Client(scheduler) as client:
            client.wait_for_workers(2, timeout=60)
        address = scheduler.replace("tcp://", "dask://")
        yield Cluster(address, started[1:], marks)
    finally:
        for process in started[::-1]:
            process.kill()
            process.wait()


def test_a_lost_worker_costs_nothing(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both workers play; one is killed; every game is counted once, as on one machine."""
    tournament = make_tournament("greedy Elsewhere", "number-wars", pairs=40)
    killed: list[int] = []

    def kill_one(part: float, what: str) -> None:
        if not killed and part >= 0.25:
            os.kill(cluster.workers[0].pid, signal.SIGKILL)
            killed.append(cluster.workers[0].pid)

    with Archive.begin(str(tmp_path / "cluster"), tournament) as archive:
        run(archive, cluster=cluster.address, progress=kill_one)
        assert archive.chunks() == set(chunks(tournament))
        found = list(archive.encounters())
    assert killed
    players = set(map(int, cluster.marks.read_text().split()))
    assert players == {worker.pid for worker in cluster.workers}
    assert [len(encounter.results) for encounter in found] == [80]
    monkeypatch.setenv(MARKS, os.devnull)
    monkeypatch.setenv("DUELS_BOT_ENV", MARKS)
    assert played(tmp_path / "here", tournament) == found
    assert contents(tmp_path / "here") == contents(tmp_path / "cluster")


def test_a_cluster_that_is_not_there_is_said_in_a_line(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random", "number-wars")
    with (
        Archive.begin(str(tmp_path), tournament) as archive,
        pytest.raises(DuelsError, match=r"there is no cluster at dask://127\.0\.0\.1:1: "),
    ):
        run(archive, cluster="dask://127.0.0.1:1")
