"""Charts of perfect play, for the games that have their own and for any other."""

from __future__ import annotations

import json
import os
import sys
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

import duels
from duels.algorithms import Unsolved
from duels.core.game import AnyGame, Chance, Decide
from duels.core.spec import spec_of
from duels.games import BUILT_IN, load
from duels.plotting import charts
from duels.plotting.drawing import Bars, Chart
from duels.plotting.opening import openings
from tests.algorithms.test_backward_induction import toy
from tests.terminal_helpers import run

HALF = Fraction(1, 2)
# Chance opens: a wide gate or a narrow one. Each move leads through a throw of its own.
PLUGIN = """
from fractions import Fraction
from typing import NamedTuple
from duels.core.game import Chance, Decide, Game, Over
from duels.core.presentation import Step


class At(NamedTuple):
    place: str


HALF = Fraction(1, 2)
PLACES = {
    "gate": Chance({"wide": HALF, "narrow": HALF}),
    "wide": Decide({0: ("run", "wait")}),
    "narrow": Decide({0: ("run", "climb")}),
    "run": Chance({"won": HALF, "lost": HALF}),
    "wait": Over(1, "Too late."),
    "climb": Over(0, "Over the wall."),
    "won": Over(0, "Through the gate."),
    "lost": Over(1, "The gate fell shut."),
}


class TwoGates(Game):
    slug, title = "two-gates", "Two Gates"
    summary = rules = "Chance opens a gate."

    def start(self): return At("gate")
    def turn(self, state): return PLACES[state.place]
    def play(self, state, *picks): return At(picks[0])
    def observe(self, state, viewer): return state
    def ask(self, seen, player, so_far):
        return None if so_far else Step("Choose:", PLACES[seen.place].options[player])
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A package that brings a game, as it lies in a user's site-packages."""
    (tmp_path / "two_gates.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "two_gates-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: two-gates\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[duels.games]\ntwo-gates = two_gates:TwoGates\n")
    return tmp_path


def path(plugin: Path) -> str:
    return os.pathsep.join((str(Path(duels.__file__).parent.parent), str(plugin)))


def test_every_built_in_game_has_charts_of_its_own() -> None:
    for slug in BUILT_IN:
        assert spec_of(load(slug)).charts
        for chart in charts(load(slug)):
            assert len(chart.text()) > 4
            assert ElementTree.fromstring(chart.svg()).tag.endswith("svg")


def test_a_plugged_in_game_that_opens_with_chance_is_explained(plugin: Path) -> None:
    done = run(plugin, "explain two-gates", PYTHONPATH=path(plugin))
    assert done.code == 0
    assert done.out.splitlines()[:4] == [
        "Two Gates: what the first moves are worth",
        "  run    ████████████████████ 0.500",
        "  wait    0.000",
        "  climb  ████████████████████████████████████████ 1.000",
    ]
    assert "Two Gates has no chart of its own; this one serves any game." in done.out
    assert "the 2 openings possible by chance" in done.out


def test_a_plugged_in_game_is_valued_and_analysed(plugin: Path) -> None:
    data = json.loads(run(plugin, "value two-gates --json", PYTHONPATH=path(plugin)).out)
    assert (data["to_move"], data["exact"]) == ([], "3/4")
    play = "play two-gates --p1 random --p2 random --seed 3 --save gates.json"
    assert run(plugin, play, PYTHONPATH=path(plugin)).code == 0
    data = json.loads(run(plugin, "analyse gates.json --json", PYTHONPATH=path(plugin)).out)
    assert len(data["moves"]) == 1
    won = data["start"] + data["luck"]["1"] - data["regret"]["1"]
    assert won == data["curve"][-1]


def test_a_games_registration_leads_to_its_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    game = toy(start=Decide({0: ("won", "lost")}))
    spec = spec_of(game)._replace(charts=f"{__name__}:own_charts")
    monkeypatch.setattr(sys.modules[type(game).__module__], "SPEC", spec, raising=False)
    assert [chart.title for chart in charts(game)] == ["a chart of its own"]


def own_charts(game: AnyGame) -> list[Chart]:
    return [Bars("a chart of its own", {"one": 1.0})]


def test_a_die_thrown_again_and_again_still_opens_the_game() -> None:
    game = toy(start=Chance({"start": HALF, "go": HALF}), go=Decide({1: ("won", "lost")}))
    found = openings(game)
    assert sum(chance for chance, _ in found) == pytest.approx(1)
    assert {view.player for _, view in found} == {1}


def test_a_game_without_choices_has_no_chart() -> None:
    with pytest.raises(Unsolved, match="no player ever chooses"):
        charts(toy(start=Chance({"won": HALF, "lost": HALF})))
