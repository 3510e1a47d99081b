"""Games of other packages at the terminal, with and without a solution."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("named", [[""], ["perfect"], ["hard", ""], ["easy", "random"]])
def test_the_menu_seats_only_who_can_play(
    duels: Callable[[str, Sequence[str]], Finished], named: list[str]
) -> None:
    """`perfect`, the usual opponent, is replaced; any other that cannot play is asked for again."""
    done = duels("", ["great", "", *named, "bid 2 20", "liar"])
    assert done.code == 0, done.err
    assert "wins!" in done.out
    assert done.out.count("Who is Player 2?") == len(named)
    assert NOT_SOLVED in " ".join((done.out + done.err).split())


def test_a_hidden_game_is_solved_from_its_rules(
    duels: Callable[[str, Sequence[str]], Finished],
) -> None:
    """By every command that knows perfect play, with the exploitability that it has."""
    said = {
        "value kuhn-poker --after jack king bet": "payoff with open hands: -2.000000",
        "solve kuhn-poker": "value (expected payoff)  -0.0555",
        "explain kuhn-poker": "best responses gain",
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


def test_running_out_of_time_leads_nowhere_that_is_not_solved(tmp_path: Path, paths: str) -> None:
    """The first turn lost without a move: no choice leads there, and perfect must know it."""
    command = "play coin-wars --set lp=9 --set numbers=3 --time-limit 1 --p2 perfect"
    screen = Screen(tmp_path, command, PYTHONPATH=paths)
    screen.wait("Time is up!")
    screen.wait("Player 2 attacks with 3!")
    screen.wait("number")
    screen.type("quit")
    assert screen.end() == 0
