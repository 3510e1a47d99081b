"""Classes in processes of their own: they play as they would in this one, and harm nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from duels.core.chance import stream
from duels.core.errors import Misbehaved
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.player import Player
from duels.games import find, load
from duels.players import make_player
from duels.players.check import check
from duels.players.external import ProcessLimits
from duels.players.isolated import Isolated
from duels.players.runner import MatchRunner
from duels.players.uniform import Uniform
from tests.variants import VARIANTS, name

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="supervisors need POSIX")
PATIENT = ProcessLimits(seconds=60.0, start=60.0)
SHORT = PATIENT._replace(seconds=0.5)
CLASSES = """
import os, sys, time
from hashlib import sha256
from duels.core import Player

print("a line at import")

class Hashes(Player):
    '''Chooses by all that it was ever given: its stream, its views, what it heard.'''
    def __init__(self, stream):
        self.heard = [stream]
    def on_event(self, number, entry):
        self.heard.append((number, entry))
    def choose(self, view):
        seen = (self.heard, view.observation, view.history, view.options, view.version, view.player)
        number = int.from_bytes(sha256(repr(seen).encode()).digest()[:8], "big")
        return view.options[number % len(view.options)]

class First(Player):
    def choose(self, view):
        return view.options[0]

class Listens(First):
    def __init__(self):
        self.heard = 0
    def on_event(self, number, entry):
        assert number == self.heard
        self.heard += 1
    def choose(self, view):
        assert self.heard == view.version, f"heard {self.heard} of {view.version}"
        return super().choose(view)

class Mixes(First):
    def mixed_strategy(self, view):
        return {move: 1 / len(view.options) for move in view.options}

class BadMix(First):
    def mixed_strategy(self, view):
        return {"elsewhere": 2.0}

class HangingMix(First):
    def mixed_strategy(self, view):
        time.sleep(600)

class Awaited(First):
    async def choose(self, view):
        return view.options[0]

class Prints(First):
    def choose(self, view):
        print("a line")
        os.write(1, b"bytes")
        os.system("echo a line of a child")
        return super().choose(view)

class Reads(First):
    def choose(self, view):
        return input()

class Leaves(First):
    def choose(self, view):
        sys.exit("enough")

class Exits(First):
    def choose(self, view):
        os._exit(3)

class Hangs(First):
    def choose(self, view):
        time.sleep(600)

class Numbers(First):
    def choose(self, view):
        return 7

class Elsewhere(First):
    def choose(self, view):
        return "elsewhere"

class Deaf(First):
    def on_event(self, number, entry):
        raise OSError("what?\\x1b[2J")

class Needy(First):
    def __init__(self):
        raise RuntimeError("no data")
"""
Named = Callable[..., Isolated]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Named]:
    """Players of these classes, in processes that are ended with the test."""
    module = f"isolated_of_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{module}.py").write_text(CLASSES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    found: list[Isolated] = []

    def make(kind: str, limits: ProcessLimits = PATIENT) -> Isolated:
        found.append(Isolated(f"{module}:{kind}", "", limits))
        return found[-1]

    yield make
    for one in found:
        one.close()


def finished(one: Player, game: AnyGame, seed: int, seat: int = 0) -> Match:
    if isinstance(one, Isolated):
        one.renew(stream(seed, seat), game)
    match = Match(game, seed, turn_limit=60)
    MatchRunner(match, {seat: one, 1 - seat: Uniform(stream(seed, 1 - seat))}).finish()
    return match


@pytest.mark.cases(8)
@pytest.mark.slow
@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_a_class_plays_as_it_does_in_this_process(made: Named, game: AnyGame) -> None:
    apart = made("Hashes")
    for seed in (1, 2):
        for seat in (0, 1):
            here = make_player(apart.name, stream(seed, seat))
            match = finished(apart, game, seed, seat)
            assert match.events == finished(here, game, seed, seat).events
            assert match.result is not None
            assert match.result.by != "forfeit"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["First", "Listens", "Mixes", "BadMix", "Awaited", "Prints"])
def test_what_is_no_fault_is_none(
    made: Named, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    match = finished(made(kind), load("number-clash"), seed=2)
    assert match.result is not None
    assert match.result.by == "rules"
    assert capfd.readouterr().out == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("Reads", "EOFError: EOF when reading a line"),
        ("Leaves", "SystemExit: enough"),
        ("Exits", "its program ended with exit status 3"),
        ("Hangs", r"it did not answer within 0\.5 s"),
        ("Numbers", "expected a move as text; got 7"),
        ("Elsewhere", "'elsewhere' is not an option"),
        ("Deaf", r"OSError: what\? ?\[2J"),
        ("Needy", "cannot be created with a stream or without arguments: RuntimeError: no data"),
    ],
)
def test_a_player_that_fails_forfeits_with_the_reason_and_plays_on(
    made: Named, kind: str, why: str
) -> None:
    one = made(kind, SHORT if kind == "Hangs" else PATIENT)
    for seed in (1, 2):  # the second time in the same process, or in a new one
        match = finished(one, load("cipher-siege"), seed, seat=1)
        assert match.result is not None
        assert (match.result.winner, match.result.by) == (0, "forfeit")
        assert re.search(why, match.result.reason), match.result.reason


@pytest.mark.slow
def test_a_mix_is_that_of_the_class_or_none(made: Named) -> None:
    view = Match(load("firewall-breach"), seed=1).view(0)
    assert made("Mixes").mixed_strategy(view) == {"attack": 0.5, "bypass": 0.5}
    assert made("BadMix").mixed_strategy(view) is None
    assert made("First").mixed_strategy(view) is None
    hanging = made("HangingMix", SHORT)
    with pytest.raises(Misbehaved, match="did not answer"):
        hanging.mixed_strategy(view)
    assert hanging.mixed_strategy(view) is None  # it is not waited for again in this match


@pytest.mark.slow
def test_a_player_that_stalls_is_told_apart_from_one_that_plays_badly(made: Named) -> None:
    for kind, stalled in (("Hangs", True), ("Needy", True), ("Elsewhere", False), ("First", False)):
        one = made(kind, SHORT if kind == "Hangs" else PATIENT)
        finished(one, load("number-clash"), seed=1)
        assert (one.stalled is not None) is stalled, kind


@pytest.mark.parametrize("apart", [True, False])
def test_the_check_tells_a_listener_what_happens(made: Named, apart: bool) -> None:
    one = made("Listens")
    games = [find("number-clash"), find("cipher-siege")]
    if apart:
        assert check(one, games, PATIENT).fine
        return
    deaf = make_player(one.name.replace("Listens", "Deaf"), "")
    found = check(deaf, games[:1], PATIENT).games[0].failure
    assert found is not None
    assert "OSError: what?" in found.why
