"""What really goes over a socket from a real server, byte by byte: it depends on no secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.core.game import AnyGame
from duels.core.match import Match
from duels.games import load
from tests.server.hidden import FIXED, KEYS, PATHS, Told, differing, pairs, prepare, sealed
from tests.server.raw import Raw, come, got
from tests.server.server import NONCE, Process
from tests.variants import VARIANTS, long_unless, name

STAMP = re.compile(r"^\S+ \S+ ", re.MULTILINE)
SIEGES = [load("cipher-siege"), load("cipher-siege", values=9, copies=20, hand=5, limit=6)]


@contextmanager
def serving(path: Path, *more: str) -> Iterator[Process]:
    server = Process(
        str(path), *more, program=("tests.server.fixed",), log=path.with_suffix(".log")
    )
    try:
        yield server
        assert server.stop() == 0
    finally:
        server.kill()


def visit(port: int, id: str, viewer: int | None) -> Told:
    """All bytes of a visit of a client that also tries things."""
    key = None if viewer is None else KEYS[viewer]
    socket = Raw(port, id, key, captions=True)
    for n, fields in enumerate(
        (
            {"type": "move", "at": 0, "move": "nonsense"}, {"type": "move", "at": 10**6},
            {"type": "move", "at": 1, "text": "attack 9 9 9"}, {"type": "accept", "at": 0},
            {"type": "claim"}, {"type": "rematch"}, {"type": "reveal", "nonce": NONCE},
            {"type": "commit", "hash": "a" * 64},
            {"type": "ping"},
        )
    ):  # fmt: skip
        socket.command(id=str(n), **fields)  # type: ignore[arg-type]
    socket.close()
    return {"socket": socket.bytes, **{p: got(port, p.format(id), key) for p in PATHS}}


def sieges(count: int) -> list[tuple[int | None, Match, Match]]:
    """Viewers with matches that they cannot tell apart, without clocks: the time is constant."""
    found: list[tuple[int | None, Match, Match]] = []
    for game in SIEGES:
        hidden = (p for p in pairs(game, range(1, 200)) if p[1].events != p[2].events)
        found += islice((pair for pair in hidden if not pair[1].time_control), count)
    return found


def told_of_sieges(folder: Path, count: int, *more: str) -> list[Told]:
    """What a server with the one courses and a server with the others tell, each with its log."""
    both = sieges(count)
    found = []
    for n in (1, 2):
        path = folder / f"{n}.sqlite"
        ids = prepare(path, [(one, two)[n - 1] for _, one, two in both])
        told: Told = {}
        with serving(path, *more) as server:
            for id, (viewer, _, _) in zip(ids, both, strict=True):
                visited = visit(server.port, id, viewer)
                told |= {f"{where} {id}": content for where, content in visited.items()}
        log = path.with_suffix(".log").read_text("utf-8")
        found.append({**told, "log": STAMP.sub("", log)})
    return found


def test_hidden_cards_change_no_byte_on_the_wire(tmp_path: Path) -> None:
    one, two = told_of_sieges(tmp_path, 10)
    assert len(one) == 1 + 20 * (1 + len(PATHS))
    assert all(content.startswith(b"HTTP/1.1 ") for where, content in one.items() if where != "log")
    assert not differing(one, two)


@pytest.mark.parametrize(
    ("plant", "where"),
    [("length", "socket"), pytest.param("header", PATHS[1], marks=pytest.mark.long)],
)
def test_hidden_cards_that_leak_are_found_on_the_wire(
    tmp_path: Path, plant: str, where: str
) -> None:
    found = differing(*told_of_sieges(tmp_path, 4, "--plant", plant))
    assert found
    assert {one.rpartition(" ")[0] for one in found} == {where}


def told_of_picks(folder: Path, game: AnyGame, *more: str) -> list[Told]:
    """What the opponent and a spectator receive of each pick that is sealed."""
    options = Match(game, 7).view(0).options
    made = [Match(game, 7, now=FIXED.now, id="x", players=("a", "b")) for _ in options]
    ids = prepare(folder / "picks.sqlite", made)
    found = []
    with serving(folder / "picks.sqlite", *more) as server:
        for id, pick in zip(ids, options, strict=True):
            opponent, spectator, picker = (
                come(server.port, id, k) for k in (KEYS[1], None, KEYS[0])
            )
            assert b'"ok":true' in picker.command("move", "m", at=0, move=pick)
            told: Told = {}
            for socket, key, who in ((opponent, KEYS[1], "two"), (spectator, None, "none")):
                socket.until(b'"sealed":[1]')
                socket.command("move", "wrong", at=0, move="nonsense")
                told[f"socket {who}"] = socket.bytes
                for path in (path for path in PATHS if "{}" in path):  # not of all matches
                    told[f"{path} {who}"] = got(server.port, path.format(id), key)
            found.append({k: v.replace(id.encode(), b"ID") for k, v in told.items()})
            for socket in (opponent, spectator, picker):
                socket.close()
    return found


@pytest.mark.parametrize(
    "game",
    long_unless(
        lambda game: name(game) in ("number-clash-numbers=4", "digit-duel-hidden=yes"),
        [game for game in VARIANTS if sealed(game)],
    ),
    ids=name,
)
def test_a_sealed_pick_changes_no_byte_on_the_wire(tmp_path: Path, game: AnyGame) -> None:
    first, *others = told_of_picks(tmp_path, game)
    assert others
    for other in others:
        assert not differing(first, other)


def test_a_sealed_pick_that_leaks_is_found_on_the_wire(tmp_path: Path) -> None:
    first, *others = told_of_picks(tmp_path, load("number-clash"), "--plant", "length")
    for other in others:
        assert differing(first, other) == {"socket two", "socket none"}
