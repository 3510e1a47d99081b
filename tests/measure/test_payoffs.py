"""Measures of games with payoffs, open and hidden, by a second method: the information states."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from duels.algorithms import solve
from duels.algorithms.cfr import strategies
from duels.algorithms.infostate_tree import InfostateTree
from duels.core.game import AnyGame, Chance, Decide, Move, Over
from duels.core.player import Player, View
from duels.measure import best_response, exploitability, head_to_head
from tests.plugins.goofspiel import Goofspiel, State
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice
from tests.variants import name


class PayingGoofspiel(Goofspiel):
    """The winner is paid the difference of points; nothing is hidden."""

    slug = "paying-goofspiel"

    def turn(self, state: State) -> Decide | Chance | Over:
        turn = super().turn(state)
        one, two = state.scores
        return (
            turn._replace(payoff=abs(one - two)) if isinstance(turn, Over) and one != two else turn
        )

    def highest_payoff(self) -> int:
        return self.cards * (self.cards + 1) // 2


class Lopsided(Player):
    """A mixed strategy that depends on what its player sees now."""

    def choose(self, view: View) -> Move:
        return view.options[0]

    def mixed_strategy(self, view: View) -> dict[Move, float]:
        chance = Random(f"{view.player} {view.observation} {view.options}")
        weights = [chance.random() for _ in view.options]
        return {m: w / sum(weights) for m, w in zip(view.options, weights, strict=True)}


OPEN = [PayingGoofspiel(cards=3), PayingGoofspiel(cards=3, prizes="descending")]
HIDDEN = [KuhnPoker(), LeducPoker(first=1), LiarsDice(faces=3)]


def second_method(game: AnyGame, one: Any, two: Any) -> tuple[float, float, float]:
    """Player 1's value of two policies, and of each against the best response."""
    found = strategies(InfostateTree(game), one.mixed_strategy, two.mixed_strategy)
    values = found.value, -found.best_response(1), found.best_response(0)
    if game.highest_payoff() == 1:
        values = tuple((1 + value) / 2 for value in values)  # type: ignore[assignment]
    return values


@pytest.mark.slow
@pytest.mark.parametrize("game", [*OPEN, *HIDDEN], ids=name)
def test_values_are_those_of_the_information_states(game: AnyGame) -> None:
    player = Lopsided()
    itself, first, second = second_method(game, player, player)
    total = 1 if game.highest_payoff() == 1 else 0
    assert head_to_head(game, player, player) == pytest.approx(itself, abs=1e-9)
    found = exploitability(game, player)
    assert found.value_vs_best_response == pytest.approx((first, total - second), abs=1e-9)
    for seat, worth in ((1, total - first), (0, second)):
        response = best_response(game, player, seat)
        assert response.value == pytest.approx(worth, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("game", [*OPEN, *HIDDEN], ids=name)
def test_the_value_against_perfect_play_is_known(game: AnyGame) -> None:
    from duels.players import make_opponent

    player, perfect = Lopsided(), make_opponent("perfect", stream="")
    found = exploitability(game, player)
    total = 1 if game.highest_payoff() == 1 else 0
    first, _, _ = second_method(game, player, perfect)
    second, _, _ = second_method(game, perfect, player)
    assert found.value_vs_perfect == pytest.approx((first, total - second), abs=1e-9)
    data = json.loads(json.dumps(found.to_json()))
    assert data["value_vs_perfect"]["1"] == pytest.approx(first, abs=1e-9)
    assert ("unit" in data) == (total == 0)
    assert not any("not known" in line for line in found.text())


def test_perfect_play_of_an_open_game_with_payoffs_is_not_exploitable() -> None:
    game = PayingGoofspiel(cards=3)
    found = exploitability(game, "perfect")
    assert found.total == pytest.approx(0, abs=1e-9)
    assert found.seats[0].optimal == pytest.approx(float(solve(game).start_value()), abs=1e-9)
    assert found.text()[0] == "Values are expected payoffs; the most that a win pays is 6."


def test_regrets_of_an_open_game_with_payoffs_are_payoffs() -> None:
    """A bid of 1 for the first prize loses 2 and wins 1 later; random play does that by half."""
    game = PayingGoofspiel(cards=2, prizes="descending")
    found = exploitability(game, "random")
    assert found.exploitability == pytest.approx((0.5, 0.5), abs=1e-9)
    assert [p.regret for p in found.worst(2)] == pytest.approx([0.5, 0.5], abs=1e-9)
