"""CFR on information states: known values, and best responses by a second method."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from duels.algorithms.backward_induction import BackwardInduction
from duels.algorithms.best_response import Enumeration
from duels.algorithms.cfr import ALGORITHMS, Cfr, solve_tree, strategies
from duels.algorithms.infostate_tree import InfostateTree
from duels.core.game import AnyGame, Move
from duels.core.player import View
from duels.games import load
from duels.measure.hidden_information import ResponseTree
from duels.measure.policies import QueriedPolicy
from tests.plugins.goofspiel import Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice
from tests.variants import name

SOLVE = pytest.mark.extra("solve")
SIEGE = {"integrity": 3, "values": 2, "copies": 2, "hand": 1, "limit": 2}


def test_kuhn_poker_is_worth_a_loss_of_one_eighteenth() -> None:
    found = solve_tree(InfostateTree(KuhnPoker()), fast=False)
    assert found.exploitability < 1e-6
    assert found.value == pytest.approx(-1 / 18, abs=found.exploitability)
    other = solve_tree(InfostateTree(KuhnPoker(first=1)), fast=False)
    assert other.value == pytest.approx(1 / 18, abs=other.exploitability)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_converges(algorithm: str) -> None:
    tree = InfostateTree(LiarsDice(faces=2))
    found = solve_tree(tree, algorithm=algorithm, target=1e-4, fast=False)
    assert found.exploitability < 1e-4
    again = solve_tree(tree, target=1e-6, fast=False)
    assert found.value == pytest.approx(again.value, abs=1e-4)


@SOLVE
def test_leduc_poker_has_its_known_value() -> None:
    found = solve_tree(InfostateTree(LeducPoker()), target=1e-4, fast=True)
    assert found.exploitability < 1e-4
    assert found.value == pytest.approx(-0.0856, abs=1e-4)


@SOLVE
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_compiled_code_does_the_same_bit_for_bit(algorithm: str) -> None:
    tree = InfostateTree(LeducPoker())
    plain, fast = (Cfr(tree, algorithm, fast=way) for way in (False, True))
    for run in (plain, fast):
        run.run(20)
        run.run(10)
    one, two = plain.average(), fast.average()
    assert [list(own) for own in one.choice] == [list(own) for own in two.choice]
    assert (one.value, one.exploitability) == (two.value, two.exploitability)


@pytest.mark.parametrize(
    "game",
    [
        *(load("digit-duel", hidden=True, digits=3, life=life) for life in ("1/2", "2/3", "3/3")),
        load("number-clash", numbers=3, points=2),
        Goofspiel(cards=3),
    ],
    ids=name,
)
def test_simultaneous_choices_agree_with_backward_induction(game: AnyGame) -> None:
    """Expected scores there, payoffs here."""
    found = solve_tree(InfostateTree(game), target=1e-5, fast=False)
    assert found.exploitability <= 1e-5
    exact = 2 * float(BackwardInduction(game).start_value()) - 1
    assert found.value == pytest.approx(exact, abs=found.exploitability + 1e-12)


@pytest.mark.slow
@SOLVE
@pytest.mark.parametrize(
    ("options", "cap"),
    [
        (SIEGE, 4),
        pytest.param(
            {"values": 3, "copies": 2, "integrity": 4, "hand": 1, "limit": 2},
            4,
            marks=pytest.mark.long,
        ),
    ],
    ids=str,
)
def test_small_cipher_siege_agrees_with_its_own_solver(options: dict[str, Any], cap: int) -> None:
    from tools.cipher_siege.small_exact import Exact

    game = load("cipher-siege", **options)
    found = solve_tree(InfostateTree(game, turn_limit=cap), target=1e-5)
    exact = Exact(game, cap)  # type: ignore[arg-type]
    strategy = exact.solve(2000)
    low, high = 1 - exact.value(strategy, 1, True), exact.value(strategy, 0, True)
    assert high - low < 1e-3
    off = found.exploitability / 2
    assert low - off <= (1 + found.value) / 2 <= high + off


# Best responses by a second method


def some_policy(seed: str) -> Any:
    """An arbitrary policy of what a player has seen, which may never choose a move."""

    def policy(view: View) -> dict[Move, float]:
        randomness = Random(f"{seed} {view.player} {view.history}")
        weights = [randomness.choice((0.0, 1.0, 2.0)) for _ in view.options]
        weights[randomness.randrange(len(weights))] += 1
        total = sum(weights)
        return {m: weight / total for m, weight in zip(view.options, weights, strict=True)}

    return policy


class Asked(QueriedPolicy):
    """A policy of histories, as `ResponseTree` asks for one."""

    def __init__(self, game: AnyGame, policy: Any) -> None:
        super().__init__(game, "random")
        self.policy = policy

    def past(self, view: View) -> Any:
        return view.history

    def strategies(self, views: Sequence[View]) -> list[dict[Move, float]]:
        return [self.policy(view) for view in views]


@pytest.mark.parametrize(
    "game", [KuhnPoker(), LeducPoker(first=1), LiarsDice(faces=3), load("cipher-siege", **SIEGE)],
    ids=name,
)  # fmt: skip
def test_best_responses_are_those_of_a_tree_of_histories(game: AnyGame) -> None:
    limit = 3 if game.slug == "cipher-siege" else 500
    tree = InfostateTree(game, turn_limit=limit)
    plain = game.highest_payoff() == 1
    for seed in ("a", "b"):
        policy = some_policy(seed)
        pair = strategies(tree, policy, policy)
        asked = Asked(game, policy)
        for seat in (0, 1):
            best = ResponseTree(game, 1 - seat, asked, turn_limit=limit).value
            own = pair.best_response(seat)
            assert ((1 + own) / 2 if plain else own) == pytest.approx(best, abs=1e-12)
        itself = ResponseTree(game, 1, asked, asked, turn_limit=limit).value
        assert ((1 + pair.value) / 2 if plain else pair.value) == pytest.approx(itself, abs=1e-12)


def test_best_responses_to_simultaneous_choices_are_those_of_open_states() -> None:
    game = Goofspiel(cards=3)
    tree = InfostateTree(game)

    def of_state(state: Any, seat: int) -> dict[Move, float]:
        options = [str(card) for card in state.hands[seat]]
        weights = {move: 1 + (int(move) * state.prize) % 3 for move in options}
        return {move: weight / sum(weights.values()) for move, weight in weights.items()}

    def policy(view: View) -> dict[Move, float]:
        assert view.player is not None
        return of_state(view.observation, view.player)

    pair = strategies(tree, policy, policy)
    for seat in (0, 1):
        found = Enumeration(game, 1 - seat, lambda s, who: [of_state(state, who) for state in s])
        assert (1 + pair.best_response(seat)) / 2 == pytest.approx(found.value, abs=1e-12)


def test_limits_of_a_solve() -> None:
    tree = InfostateTree(LeducPoker())
    told: list[str] = []
    found = solve_tree(
        tree, lambda part, what: told.append(what), target=0.0, iterations=30, fast=False
    )
    assert told[-1].startswith("30 iterations, exploitability ")
    assert found.exploitability > 0
    assert solve_tree(tree, target=0.0, seconds=0.0, fast=False).exploitability > 0.1
