"""Levels give away the share of a random player's regret that they promise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.games import load
from duels.solve import Assessment, solve
from duels.solve.levels import LEVELS, level_mix


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.integers(0, 1))
def test_a_level_gives_away_its_share(values: list[float], player: int) -> None:
    options = {str(number): value for number, value in enumerate(values)}
    best = max(values) if player == 0 else min(values)
    optimal = [move for move, value in options.items() if value == best]
    choice = Assessment(player, best, options, {move: 1 / len(optimal) for move in optimal})
    regrets = {move: float(choice.regret(move) or 0) for move in options}
    uniform = sum(regrets.values()) / len(regrets)
    for level, share in LEVELS.items():
        mix = level_mix(choice, level)
        assert sum(mix.values()) == pytest.approx(1)
        given_away = sum(mix[move] * regrets[move] for move in mix)
        assert given_away == pytest.approx(share * uniform, abs=1e-9)


def test_levels_err_more_on_what_matters_less() -> None:
    game = load("number-clash")
    choice = solve(game).assess_state(game.start(), 0)
    mix = level_mix(choice, "medium")
    assert min(mix, key=lambda move: mix[move]) == min(
        choice.options, key=lambda move: float(choice.options[move] or 0)
    )
