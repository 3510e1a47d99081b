"""Plays what is left of a tournament, on one core, on many, or on a cluster.

joblib is the one way to run in parallel: its own processes here, a Dask or Ray cluster through its
backends. Only this process writes. Workers are sent the tournament and a portion, and send back
what is kept; a portion that is played twice, because a worker was lost, is counted once.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import islice
from typing import Any

from duels.arena.engine import is_ready
from duels.arena.failures import disqualified
from duels.arena.keeping import Archive, Done, explained, unpacked
from duels.arena.lifeline import end_with
from duels.arena.played import Encounter, Tournament
from duels.arena.playing import end_programs, play
from duels.arena.schedule import Portion, portions
from duels.arena.sprt import CONTINUE, Sprt
from duels.core.errors import DuelsError, MissingExtra, OptionError, one_line, quote

Progress = Callable[[float, str], None]
DASK, RAY = "dask://", "ray://"
PATIENCE = 10  # seconds until a cluster must have answered
HELPING = 64  # portions that a Ray cluster is given at a time
GO_ON = "a worker failed; what was played is kept, and the same command goes on from there"


class Lost(DuelsError):
    """A worker died, or what connects to it."""


class Tests:
    """The sequential tests of a tournament, each fed with its pairs in order."""

    def __init__(self, cup: Tournament) -> None:
        self._bounds = cup.sprt
        self._tests: dict[tuple[int, int], Sprt] = {}
        self._waiting: dict[tuple[int, int], dict[int, Done]] = {}
        self._next: dict[tuple[int, int], int] = {}

    def add(self, done: Done) -> None:
        if self._bounds is None:
            return
        key = done.portion.game, done.portion.pairing
        test = self._tests.setdefault(key, Sprt(*self._bounds))
        waiting = self._waiting.setdefault(key, {})
        waiting[done.portion.start] = done
        while test.state == CONTINUE and (at := self._next.get(key, 0)) in waiting:
            portion, data, _ = waiting.pop(at)
            for score in Encounter(*key, unpacked(portion, data)).pair_scores():
                test.add(score)
            self._next[key] = portion.stop

    def decided(self, portion: Portion) -> bool:
        """Whether nothing more has to be played of a pairing in a game."""
        test = self._tests.get((portion.game, portion.pairing))
        return test is not None and test.state != CONTINUE


def run(
    archive: Archive,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    pairs: int | None = None,
) -> int:
    """Play all that is not in the archive yet, and say how many games. Where workers are lost,
    others go on. `pairs` is how many pairs to play, where the archive may hold more."""
    cup, there, tests = archive.cup, archive.portions(), Tests(archive.cup)
    if cup.sprt is not None:
        for done in archive.everything():
            tests.add(done)
    todo = list(portions(cup, there, pairs))
    announced = {
        encounter for encounter in {(portion.game, portion.pairing) for portion in todo}
        if not cup.compiled or is_ready(cup, *encounter)
    }  # fmt: skip
    this, out = os.urandom(8).hex(), archive.disqualified()
    whole = sum(portion.games for portion in todo)
    count = passed = 0

    def wanted(skipped: set[Portion]) -> Iterator[Portion]:
        nonlocal passed
        for portion in todo:
            if portion in skipped:
                continue
            if tests.decided(portion):
                passed += portion.games
            else:
                announce(portion)
                yield portion

    def announce(portion: Portion) -> None:
        """Say what is compiled before it is: nothing else happens for seconds."""
        encounter = portion.game, portion.pairing
        if portion.compiled and encounter not in announced:
            announced.add(encounter)
            one, two = (cup.players[index] for index in cup.pairings[portion.pairing])
            tell(f"compiling {cup.games[portion.game].slug}, {one} - {two}")

    def tell(what: str = "") -> None:
        if progress is not None and whole:
            done = min(1.0, (count + passed) / whole)
            progress(done, what or f"{count:,} of {whole:,} games")

    tell()
    while True:
        before, passed = count, 0
        try:
            for done in workers(cup, wanted(archive.portions()), jobs, cluster, this, out):
                archive.add(done)
                for name, why in disqualified(cup, explained(done)).items():
                    out.setdefault(name, why)
                tests.add(done)
                count += done.portion.games
                tell()
            return count
        except Lost:
            if count == before:  # nothing goes on any more
                raise


def workers(
    cup: Tournament,
    wanted: Iterable[Portion],
    jobs: int,
    cluster: str | None,
    this: str = "",
    out: Mapping[str, str] | None = None,
) -> Iterator[Done]:
    """Portions as they are finished, in any order; `this` run, and who is `out` in it so far."""
    if cluster is None and jobs == 1:
        try:
            yield from (play(cup, portion, this, out) for portion in wanted)
        finally:
            end_programs()
        return
    with backend(jobs, cluster) as joblib:
        tasks = (joblib.delayed(serve)(cup, portion, this, dict(out or {})) for portion in wanted)
        if cluster is None or cluster.startswith(DASK):
            yield from joblib.Parallel(return_as="generator_unordered", batch_size=1)(tasks)
            return
        while helping := list(islice(tasks, HELPING)):  # Ray gives back lists only
            yield from joblib.Parallel(batch_size=1)(helping)


def serve(cup: Tournament, portion: Portion, this: str, out: Mapping[str, str]) -> Done:
    """`play` in a worker, which Ctrl-C is not for: it ends when the command does."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return play(cup, portion, this, out)


@contextmanager
def backend(jobs: int, cluster: str | None) -> Iterator[Any]:
    """joblib, set up to run here or on a cluster; what goes wrong there is said in a line."""
    if cluster is None:
        joblib = _needed("joblib", "more than one job needs", "arena", ", or --jobs 1")
    else:
        joblib = _clustered("joblib")
    with ExitStack() as stack:
        if cluster is None:
            stack.push(_end_workers)
            stack.enter_context(
                joblib.parallel_config(
                    "loky", n_jobs=jobs, initializer=end_with, initargs=(os.getpid(),)
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
            raise Lost(f"{GO_ON}: {one_line(error)}") from error


def _end_workers(kind: object, *_: object) -> None:
    """End joblib's own processes with the bots that run in them: at once after an error.

    joblib would keep them for the next run. But a worker is killed with the thread that started
    it (`end_with`), which may end before the next run.
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
    except Exception as error:  # Ray has no one kind of error for it
        raise DuelsError(f"there is no Ray cluster at {cluster}: {one_line(error)}") from None
    return ray


def _clustered(module: str) -> Any:
    return _needed(module, "a cluster needs", "cluster")


def _needed(module: str, why: str, extra: str, instead: str = "") -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(f"{why} {module}: pip install 'duels[{extra}]'{instead}") from None


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
    """HOST:PORT, where something answers: clients of clusters wait long where nothing does."""
    address = address_of(cluster)
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise DuelsError(f"there is no cluster at {cluster}: {why}") from None
    return address
