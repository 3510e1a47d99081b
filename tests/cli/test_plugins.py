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
    "coin-wars": "tests.plugins.coin_wars:CoinWars",
}
NOT_SOLVED = "cannot play this: kuhn-poker has hidden information"


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
@pytest.mark.parametrize("game", ["kuhn-poker", "misleading-kuhn-poker"])
def test_a_game_without_a_solution_is_played_to_its_end(
    duels: Callable[[str, Sequence[str]], Finished], game: str, seats: str
) -> None:
    """The opponent then searches among what may have happened, if anything can be found."""
    done = duels(f"play {game} {seats} --seed 1", ["bet", "hint", "bet"])
    assert done.code == 0
    assert "wins!" in done.out
    assert (f"cannot play this: {game} has hidden information" in done.err) == (seats == "")


@pytest.mark.parametrize("named", [[""], ["perfect"], ["hard", ""], ["easy", "random"]])
def test_the_menu_seats_only_who_can_play(
    duels: Callable[[str, Sequence[str]], Finished], named: list[str]
) -> None:
    """`perfect`, the usual opponent, is replaced; any other that cannot play is asked for again."""
    done = duels("", ["kuhn", "", *named, "bet", "bet"])
    assert done.code == 0, done.err
    assert "wins!" in done.out
    assert done.out.count("Who is Player 2?") == len(named)
    assert NOT_SOLVED in " ".join((done.out + done.err).split())


def test_running_out_of_time_leads_nowhere_that_is_not_solved(tmp_path: Path, paths: str) -> None:
    """The first turn lost without a move: no choice leads there, and perfect must know it."""
    command = "play coin-wars --set lp=9 --set numbers=3 --time-limit 1 --p2 perfect"
    screen = Screen(tmp_path, command, PYTHONPATH=paths)
    screen.wait("Time is up!")
    screen.wait("Player 2 attacks with 3!")
    screen.wait("number")
    screen.type("quit")
    assert screen.end() == 0
