"""Levels give away the share of a random player's regret that they promise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.algorithms import Assessment, solve
from duels.algorithms.levels import LEVELS, level_strategy
from duels.core.chance import stream
from duels.core.game import Pick
from duels.core.match import Match
from duels.core.player import answer
from duels.games import load
from duels.games.number_wars.rules import State
from duels.players import make


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.integers(0, 1))
def test_a_level_gives_away_its_share(values: list[float], player: int) -> None:
    options = {str(number): value for number, value in enumerate(values)}
    best = max(values) if player == 0 else min(values)
    optimal = [move for move, value in options.items() if value == best]
    choice = Assessment(player, best, options, {move: 1 / len(optimal) for move in optimal})
    regrets = {move: float(choice.regret(move) or 0) for move in options}
    uniform = sum(regrets.values()) / len(regrets)
    for level, share in LEVELS.items():
        mix = level_strategy(choice, level)
        assert sum(mix.values()) == pytest.approx(1)
        given_away = sum(mix[move] * regrets[move] for move in mix)
        assert given_away == pytest.approx(share * uniform, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_that_must_lose_holds_out(level: str) -> None:
    """Player 1 of Number Wars wins next turn: a number that is spent would waste the last turn."""
    game = load("number-wars")
    state = State((40, 10), ((), (8, 9, 10)), 1)
    choice = solve(game).assess_state(state, 1)
    assert set(choice.options.values()) == {1}
    mix = level_strategy(choice, level)
    assert mix["7"] == 1, "the largest free number"
    assert set(mix) == set(choice.options)


def test_a_level_holds_out_as_long_as_perfect_play() -> None:
    """Once all is lost, a match goes on for as long as it can."""
    game = load("number-wars", lp=30)
    for seed in range(8):
        match = Match(game, seed)
        seats = [make(name, stream(seed, at)) for at, name in enumerate(("perfect", "hard"))]
        while match.result is None:
            (player,) = match.deciders
            match.submit(player, answer(seats[player], match.view(player)))
        moves = [e for n in match.line if isinstance(e := match.events[n], Pick)]
        assert len(moves) == solve(game).distance(game.start()) == 7
        assert [move for pick in moves[1::2] for _, move in pick.moves] == ["10", "9", "8"]


def test_levels_err_more_on_what_matters_less() -> None:
    game = load("number-clash")
    choice = solve(game).assess_state(game.start(), 0)
    mix = level_strategy(choice, "medium")
    assert min(mix, key=lambda move: mix[move]) == min(
        choice.options, key=lambda move: float(choice.options[move] or 0)
    )
