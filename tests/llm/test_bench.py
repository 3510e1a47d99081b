"""Measurements of players whose skill and exploitability are known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import pytest

from duels.core.errors import OptionError
from duels.core.game import AnyGame
from duels.core.player import MixedStrategy
from duels.games import load
from duels.llm.bench import POLICY, POSITIONS, Plan, Run, Wanted, run_plan
from duels.llm.dialogue import MIX, MOVE, Question
from duels.llm.endpoint import BuiltInPlayer
from duels.llm.items import Item, items_at_stake
from duels.llm.policy import Task, views_of_policy
from duels.llm.positions import detectable, positions_result
from duels.measure import exploitability

DUEL = load("digit-duel", digits=5, life=6)
CLASH = load("number-clash", numbers=5, points=2)


@cache
def items(game: AnyGame, n: int = 60) -> list[Item]:
    return items_at_stake(game, n)


def plan(game: AnyGame, wanted: Wanted) -> Plan:
    made = Plan(wanted, [game])
    if wanted.mode == POSITIONS:
        made.items = items(game)
    else:
        made.tasks = [Task(game)]
    return made


def measured(game: AnyGame, player: str, answer: str, mode: str = POSITIONS) -> dict[str, Any]:
    question = Question(answer)
    made = plan(game, Wanted(mode, question))
    return run_plan(made, Run(BuiltInPlayer(player, question)))


@pytest.mark.parametrize("game", [DUEL, CLASH], ids=lambda game: game.slug)
def test_random_has_skill_0_and_perfect_1(game: AnyGame) -> None:
    for player, skill in (("random", 0.0), ("perfect", 1.0)):
        found = measured(game, player, MIX)["skill"]
        assert found["mean"] == pytest.approx(skill, abs=1e-9)
        found = measured(game, player, MOVE)["skill"]
        assert found["low"] <= skill <= found["high"]


def test_positions_are_at_stake_the_same_each_time_and_in_all_quarters() -> None:
    chosen = items(DUEL)
    assert chosen == items_at_stake(DUEL, 60)
    assert all(item.at_stake > 0 for item in chosen)
    assert len({item.view.observation for item in chosen}) == len(chosen)
    assert items_at_stake(DUEL, 60, seed=2) != chosen


def test_low_regret_does_not_hide_that_greedy_is_predictable() -> None:
    skill = measured(CLASH, "greedy", MIX)["skill"]
    assert skill["mean"] > 0.9
    found = measured(CLASH, "greedy", MIX, POLICY)["exploitability"]
    assert found["exploitability"] == pytest.approx({"1": 0.5, "2": 0.5})


@pytest.mark.parametrize("player", ["random", "greedy", "easy", "perfect"])
def test_a_policy_that_is_stated_is_as_exploitable_as_the_player(player: str) -> None:
    game = load("firewall-breach", strength=5)
    found = measured(game, player, MIX, POLICY)["exploitability"]
    one, two = exploitability(game, player).exploitability
    expected = pytest.approx({"1": one, "2": two}, abs=1e-9)
    assert found["exploitability"] == expected


def test_both_seats_of_an_even_game_cost_one_call() -> None:
    found = measured(load("firewall-breach"), "random", MIX, POLICY)
    assert found["positions"] == 200
    assert found["calls"] == 100


def test_games_without_exact_values_and_large_policies_are_refused() -> None:
    with pytest.raises(OptionError, match="not known exactly"):
        items_at_stake(load("cipher-siege"), 10)
    with pytest.raises(OptionError, match="choose a smaller variant"):
        views_of_policy(load("number-clash"))


def erring(part: float, chosen: Sequence[Item], randomness: Random) -> list[list[MixedStrategy]]:
    """The answers of a model that plays at random with a probability, else perfectly."""
    found: list[list[MixedStrategy]] = []
    for item in chosen:
        options = list(item.choice.options)
        if randomness.random() >= part:
            options = list(item.choice.mixed_strategy)
        found.append([{randomness.choice(options): 1.0}])
    return found


@pytest.mark.parametrize(
    ("part", "runs"),
    [
        pytest.param(0.3, 300, marks=pytest.mark.slow),
        *(pytest.param(part, 1000, marks=pytest.mark.long) for part in (0.1, 0.3, 0.6, 1.0)),
    ],
)
def test_intervals_contain_the_known_skill(part: float, runs: int) -> None:
    """A model that errs with probability p has skill 1 - p over any positions."""
    hits = 0
    pool = items_at_stake(DUEL, 400)
    for seed in range(runs):
        randomness = Random(seed)
        chosen = randomness.sample(pool, 80)
        skill = positions_result(chosen, erring(part, chosen, randomness))["skill"]
        hits += skill["low"] <= 1 - part <= skill["high"]
    assert hits >= 0.9 * runs


def test_the_smallest_detectable_difference_falls_with_the_root_of_the_answers() -> None:
    chosen = items(DUEL)
    assert detectable(chosen, 4) == pytest.approx(detectable(chosen, 1) / 2)
    assert 0 < detectable(chosen, 1) < 2
