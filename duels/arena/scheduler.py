"""Schedules the unplayed chunks of a tournament on one core, on several, or on a cluster.

joblib runs everything that is parallel: its own processes here, a Dask or Ray cluster through its
backends. Only this process writes. Workers receive the tournament and a chunk and return what is
stored; a chunk that is played twice because a worker was lost is counted once.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import islice
from typing import Any

from duels.algorithms.solution import Progress
from duels.arena.archive import Archive
from duels.arena.chunk_encoding import ChunkResult, results_with_reasons, unpacked_results
from duels.arena.engine import is_ready
from duels.arena.failures import disqualified
from duels.arena.model import Encounter, GameResult, Tournament
from duels.arena.schedule import Chunk, chunks
from duels.arena.sprt import CONTINUE, Sprt, Verdict
from duels.arena.worker import end_programs, play
from duels.core.errors import DuelsError, MissingExtra, OptionError, one_line, quote
from duels.core.extras import install_command
from duels.core.parent_watchdog import end_with

DASK, RAY = "dask://", "ray://"
PATIENCE = 10  # seconds to wait for a cluster
RAY_BATCH = 64  # chunks given to a Ray cluster at a time
GO_ON = "a worker failed; finished games are stored, and the same command continues from there"


class WorkerLost(DuelsError):
    """A worker process or the connection to it failed."""


class SequentialTests:
    """The sequential tests of a tournament; each receives its pairs in order."""

    def __init__(self, tournament: Tournament) -> None:
        self._bounds = tournament.sprt
        self._tests: dict[tuple[int, int], Sprt] = {}
        self._waiting: dict[tuple[int, int], dict[int, ChunkResult]] = {}
        self._next: dict[tuple[int, int], int] = {}

    def add(self, done: ChunkResult) -> None:
        if self._bounds is None:
            return
        key = done.chunk.game, done.chunk.pairing
        test = self._tests.setdefault(key, Sprt(*self._bounds))
        waiting = self._waiting.setdefault(key, {})
        waiting[done.chunk.start] = done
        while test.state == CONTINUE and (at := self._next.get(key, 0)) in waiting:
            chunk, data, _ = waiting.pop(at)
            for score in Encounter(*key, unpacked_results(chunk, data)).pair_scores():
                test.add(score)
            self._next[key] = chunk.stop

    def running(self) -> Iterator[tuple[tuple[int, int], Verdict]]:
        """The state of each test that has begun, by game and pairing."""
        for key, test in sorted(self._tests.items()):
            yield key, test.verdict

    def decided(self, chunk: Chunk) -> bool:
        """Whether the test of the chunk's pairing in its game has reached a verdict."""
        test = self._tests.get((chunk.game, chunk.pairing))
        return test is not None and test.state != CONTINUE


Watch = Callable[[list[GameResult], SequentialTests], None]


def run(
    archive: Archive,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    pairs: int | None = None,
    watch: Watch | None = None,
) -> int:
    """Play the chunks that are not in the archive; returns the number of games played.

    If workers are lost, the remaining chunks are scheduled again. `pairs` limits the pairs to play.
    `watch` gets the results of all games, those in the archive included.
    """
    tournament, there, tests = (
        archive.tournament,
        archive.chunks(),
        SequentialTests(archive.tournament),
    )
    if tournament.sprt is not None:
        for done in archive.everything():
            tests.add(done)
    todo = list(chunks(tournament, there, pairs))
    announced = {
        encounter for encounter in {(chunk.game, chunk.pairing) for chunk in todo}
        if not tournament.compiled or is_ready(tournament, *encounter)
    }  # fmt: skip
    if watch is not None:
        for done in archive.everything():
            watch(unpacked_results(done.chunk, done.results), tests)
    run_id, out = os.urandom(8).hex(), archive.disqualified()
    whole = sum(chunk.games for chunk in todo)
    count = passed = 0
    began = time.monotonic()

    def pending(stored: set[Chunk]) -> Iterator[Chunk]:
        nonlocal passed
        for chunk in todo:
            if chunk in stored:
                continue
            if tests.decided(chunk):
                passed += chunk.games
            else:
                announce(chunk)
                yield chunk

    def announce(chunk: Chunk) -> None:
        """Report what is about to be compiled, since that takes seconds."""
        encounter = chunk.game, chunk.pairing
        if chunk.compiled and encounter not in announced:
            announced.add(encounter)
            one, two = (tournament.players[index] for index in tournament.pairings[chunk.pairing])
            tell(f"compiling {tournament.games[chunk.game].slug}, {one} - {two}")

    def tell(what: str = "") -> None:
        if progress is not None and whole:
            done = min(1.0, (count + passed) / whole)
            rate = count / max(1e-3, time.monotonic() - began)
            speed = f", {rate:,.{0 if rate >= 10 else 1}f} games/s" if count else ""
            progress(done, what or f"{count:,} of {whole:,} games{speed}")

    tell()
    while True:
        before, passed = count, 0
        try:
            for done in workers(tournament, pending(archive.chunks()), jobs, cluster, run_id, out):
                archive.add(done)
                results = results_with_reasons(done)
                for name, why in disqualified(tournament, results).items():
                    out.setdefault(name, why)
                tests.add(done)
                if watch is not None:
                    watch(results, tests)
                count += done.chunk.games
                tell()
            return count
        except WorkerLost:
            if count == before:  # no progress since the last failure
                raise


def workers(
    tournament: Tournament,
    pending: Iterable[Chunk],
    jobs: int,
    cluster: str | None,
    run_id: str = "",
    out: Mapping[str, str] | None = None,
) -> Iterator[ChunkResult]:
    """Finished chunks, in any order; `out` are the players disqualified in the run so far."""
    if cluster is None and jobs == 1:
        try:
            yield from (play(tournament, chunk, run_id, out) for chunk in pending)
        finally:
            end_programs()
        return
    with backend(jobs, cluster) as joblib:
        host = os.getpid()
        tasks = (
            joblib.delayed(serve)(tournament, chunk, run_id, dict(out or {}), host)
            for chunk in pending
        )
        if cluster is None or cluster.startswith(DASK):
            yield from joblib.Parallel(return_as="generator_unordered", batch_size=1)(tasks)
            return
        while batch := list(islice(tasks, RAY_BATCH)):  # Ray returns whole lists only
            yield from joblib.Parallel(batch_size=1)(batch)


def serve(
    tournament: Tournament, chunk: Chunk, run_id: str, out: Mapping[str, str], host: int
) -> ChunkResult:
    """`play` in a worker process, which ignores Ctrl-C: it ends with the command.

    joblib runs tasks in the process of the command itself, `host`, where a cluster has one core.
    """
    if os.getpid() != host and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return play(tournament, chunk, run_id, out)


@contextmanager
def backend(jobs: int, cluster: str | None) -> Iterator[Any]:
    """joblib, configured for this machine or a cluster; its errors become one-line errors."""
    if cluster is None:
        joblib = _needed("joblib", "more than one job needs", "arena", ", or --jobs 1")
    else:
        joblib = _clustered("joblib")
    with ExitStack() as stack:
        if cluster is None:
            stack.push(_end_workers)
            stack.enter_context(
                joblib.parallel_config(
                    "loky",
                    n_jobs=jobs,
                    initializer=end_with,
                    initargs=(os.getpid(), signal.SIGKILL, True),
                )
            )
        elif cluster.startswith(DASK):
            client = _dask(cluster)
            stack.callback(client.close)
            stack.enter_context(joblib.parallel_config("dask", n_jobs=-1, client=client))
        else:
            stack.callback(_ray(cluster).shutdown)
            stack.enter_context(joblib.parallel_config("ray", n_jobs=-1))
        try:
            yield joblib
        except (DuelsError, KeyboardInterrupt, GeneratorExit):
            raise
        except Exception as error:
            raise WorkerLost(f"{GO_ON}: {one_line(error)}") from error


def _end_workers(kind: object, *_: object) -> None:
    """End joblib's processes and the bots that run in them; after an error, at once.

    joblib would reuse them in the next run, but a worker is killed with the thread that started it
    (`end_with`), which may end before that.
    """
    executor = import_module("joblib.externals.loky").get_reusable_executor()
    executor.shutdown(kill_workers=kind is not None)


def _dask(cluster: str) -> Any:
    """A client of a Dask cluster."""
    distributed, address = _clustered("distributed"), _answering(cluster)
    try:
        return distributed.Client(f"tcp://{address}", timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise DuelsError(f"there is no Dask cluster at {cluster}: {one_line(error)}") from None


def _ray(cluster: str) -> Any:
    """Ray, connected to a cluster of which this machine is a node."""
    ray, address = _clustered("ray"), _answering(cluster)
    import_module("ray.util.joblib").register_ray()
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except Exception as error:  # Ray has no common error class
        raise DuelsError(f"there is no Ray cluster at {cluster}: {one_line(error)}") from None
    return ray


def _clustered(module: str) -> Any:
    return _needed(module, "a cluster needs", "cluster")


def _needed(module: str, why: str, extra: str, instead: str = "") -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(f"{why} {module}: {install_command(extra)}{instead}") from None


def address_of(cluster: str) -> str:
    """The HOST:PORT of what `--cluster` names; anything else is refused.

    >>> address_of("dask://127.0.0.1:8786")
    '127.0.0.1:8786'
    """
    for kind in (DASK, RAY):
        address = cluster.removeprefix(kind)
        host, _, port = address.rpartition(":")
        if address != cluster and host and port.isascii() and port.isdigit() and int(port) < 65536:
            return address
    raise OptionError(f"--cluster takes {DASK}HOST:PORT or {RAY}HOST:PORT; got {quote(cluster)}")


def _answering(cluster: str) -> str:
    """HOST:PORT after a test connection: clients of clusters have long timeouts of their own."""
    address = address_of(cluster)
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise DuelsError(f"there is no cluster at {cluster}: {why}") from None
    return address
