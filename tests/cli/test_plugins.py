"""Games of other packages at the terminal, with and without a solution."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from duels.algorithms.estimate import gain
from duels.core.conformance import check
from tests.plugins import install
from tests.plugins.kuhn_poker import KuhnPoker
from tests.terminal_helpers import ROOT, Finished, Screen, run

pytestmark = pytest.mark.slow

GAMES = {
    "kuhn-poker": "tests.plugins.kuhn_poker:KuhnPoker",
    "misleading-kuhn-poker": "tests.plugins.kuhn_poker:MisleadingKuhnPoker",
    "great-liars-dice": "tests.plugins.liars_dice:GreatLiarsDice",
    "coin-wars": "tests.plugins.coin_wars:CoinWars",
}
NOT_SOLVED = "cannot play this: great-liars-dice has more than 300,000 information states"


@pytest.fixture
def paths(tmp_path: Path) -> str:
    """What `PYTHONPATH` must be for the games to be installed."""
    place = tmp_path / "installed"
    place.mkdir()
    install(place, GAMES)
    return f"{ROOT}{os.pathsep}{place}"


@pytest.fixture
def duels(tmp_path: Path, paths: str) -> Callable[[str, Sequence[str]], Finished]:
    return lambda command, typed: run(tmp_path, command, typed=typed, PYTHONPATH=paths)


def test_the_hidden_game_keeps_to_the_contract_of_games() -> None:
    check(KuhnPoker())


@pytest.mark.parametrize("seats", ["", "--p1 ismcts --p2 human"])
def test_a_game_without_a_solution_is_played_to_its_end(
    duels: Callable[[str, Sequence[str]], Finished], seats: str
) -> None:
    """The opponent then searches among what may have happened."""
    typed = ["bid 2 20", "hint", "liar", "liar"]
    done = duels(f"play great-liars-dice {seats} --seed 1", typed)
    assert done.code == 0
    assert "wins!" in done.out
    assert (NOT_SOLVED in " ".join(done.err.split())) == (seats == "")


def test_a_search_that_finds_nothing_to_fit_plays_all_the_same(
    duels: Callable[[str, Sequence[str]], Finished],
) -> None:
    done = duels("play misleading-kuhn-poker --p1 ismcts --p2 human --seed 1", ["bet"])
    assert done.code == 0
    assert "wins" in done.out


@pytest.mark.parametrize("named", [[""], ["medium"], ["hard", ""], ["easy", "random"]])
def test_the_menu_offers_only_players_that_can_play(
    duels: Callable[[str, Sequence[str]], Finished], named: list[str]
) -> None:
    """`medium`, the default, is replaced; any other that cannot play is asked for again."""
    done = duels("", ["great", *named, "1", "bid 2 20", "liar"])
    assert done.code == 0, done.err
    assert "wins!" in done.out
    assert done.out.count("Who is your opponent?") == len(named)
    assert NOT_SOLVED in " ".join((done.out + done.err).split())


def test_a_hidden_game_is_solved_from_its_rules(
    duels: Callable[[str, Sequence[str]], Finished],
) -> None:
    """By every command that knows perfect play, with the exploitability that it has."""
    said = {
        "value kuhn-poker --after jack king bet": "with all hidden information known: -2.000000",
        "solve kuhn-poker": "value (expected payoff)           -0.0555",
        "explain kuhn-poker": "best responses to it gain less than 0.0000001 in expected payoff",
        "exploit kuhn-poker perfect": "exploitable by              0.0000",
        "exploit kuhn-poker random": "against itself it is paid 0.125000",
    }
    for command, expected in said.items():
        done = duels(command, [])
        assert done.code == 0, done.err
        assert expected in done.out, done.out
    played = duels("play kuhn-poker --p2 hard --seed 2", ["hint", "bet", "bet"])
    assert played.code == 0, played.err
    assert "perfect play chooses" in played.out


BUNDLED = """
from duels.core.spec import GameSpec
from tests.plugins.kuhn_poker import KuhnPoker

class Bundled(KuhnPoker):
    slug, title = "bundled-poker", "Bundled Poker"

SPEC = GameSpec(rules="bundled:Bundled", data="data")
"""


def figure(text: str, name: str) -> float:
    return float(next(line.split()[-1] for line in text.splitlines() if line.startswith(name)))


def exploitability_of(value: Finished) -> float:
    assert value.code == 0, value.err
    return float(json.loads(value.out)["at_most"])


def test_what_is_solved_on_request_is_stored_and_used(
    duels: Callable[[str, Sequence[str]], Finished],
) -> None:
    """`solve` goes on to a lower exploitability than a solution on the spot, which tells them."""
    spot = exploitability_of(duels("value kuhn-poker --json", []))
    solved = duels("solve kuhn-poker", [])
    found = figure(solved.out, "exploitability")
    assert found < spot / 10
    for stored in ("value kuhn-poker --json", "value kuhn-poker --after jack king --json"):
        assert exploitability_of(duels(stored, [])) == found
    hinted = duels("play kuhn-poker --seed 2", ["hint", "bet", "bet"])
    assert f"gain {gain(found)} in expected payoff" in hinted.out
    again = duels("solve kuhn-poker --minutes 0.00001", [])
    assert figure(again.out, "exploitability") == found, "a worse table took the place"


def test_a_table_may_ship_with_a_plug_in(tmp_path: Path) -> None:
    place = tmp_path / "installed"
    (place / "bundled").mkdir(parents=True)
    (place / "bundled" / "__init__.py").write_text(BUNDLED)
    install(place, {"bundled-poker": "bundled:SPEC"})
    paths = f"{ROOT}{os.pathsep}{place}"
    maker, user = tmp_path / "maker", tmp_path / "user"
    maker.mkdir()
    user.mkdir()
    file = place / "bundled" / "data" / "bundled-poker.duels"
    solved = run(maker, "solve bundled-poker --out", str(file), PYTHONPATH=paths)
    assert solved.code == 0, solved.err
    assert file.exists()
    assert not list(maker.rglob("*.duels"))
    used = run(user, "value bundled-poker --json", PYTHONPATH=paths)
    assert exploitability_of(used) == figure(solved.out, "exploitability")
    assert "Solving" not in used.err
    file.unlink()
    fresh = run(user, "value bundled-poker --json", PYTHONPATH=paths)
    assert exploitability_of(fresh) > figure(solved.out, "exploitability")


def test_running_out_of_time_leads_nowhere_that_is_not_solved(tmp_path: Path, paths: str) -> None:
    """The first turn lost without a move: no choice leads there, and perfect must know it."""
    command = "play coin-wars --set lp=9 --set numbers=3 --time-limit 1 --p2 perfect"
    screen = Screen(tmp_path, command, PYTHONPATH=paths)
    screen.wait("Time is up!")
    screen.wait("Player 2 attacks with 3!")
    screen.wait("number")
    screen.type("quit")
    assert screen.end() == 0
