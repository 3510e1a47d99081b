"""Data sets of positions: what they say is what the solution says, and splits never mix."""

from __future__ import annotations

import pytest

from duels.algorithms import solve
from duels.algorithms.infostate_tree import InfostateTree
from duels.analysis.datasets import TEST, LabelledPosition, NoPositions, positions
from duels.core.errors import OptionError
from duels.core.game import AnyGame, Decide
from duels.games import load
from tests.measure.test_payoffs import PayingGoofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice
from tests.variants import name

SMALL = [
    load("firewall-breach"),
    load("number-clash", numbers=4, points=2),
    load("digit-duel", digits=3, life="4/3"),
    load("number-wars", lp=9, numbers=3),
]


def drawn(game: AnyGame, n: int, seed: int = 1, split: str | None = None) -> list[LabelledPosition]:
    return list(positions(game, n, seed=seed, split=split))


@pytest.mark.parametrize("game", SMALL, ids=lambda game: game.slug)
def test_a_position_has_the_values_of_the_solution(game: AnyGame) -> None:
    solution, moves = solve(game), game.moves()
    found = drawn(game, 40)
    assert len(found) == 40
    for position in found:
        turn = game.turn(position.state)
        assert isinstance(turn, Decide)
        options = turn.options[position.player]
        assert {m for m, yes in zip(moves, position.mask, strict=True) if yes} == set(options)
        value = float(solution.value(position.state))
        assert position.value == pytest.approx(value)
        own = position.player_value
        assert own == pytest.approx(value if position.player == 0 else 1 - value)
        assert sum(position.mixed_strategy) == pytest.approx(1)
        strategy, worth = position.mixed_strategy, position.player_worth
        chosen = sum(p * w for p, w in zip(strategy, worth, strict=True))
        assert chosen == pytest.approx(own, abs=1e-9)
        assert max(position.player_worth) == pytest.approx(own, abs=1e-9)
        assert all(m or (p == w == 0) for m, p, w in zip(
            position.mask, position.mixed_strategy, position.player_worth, strict=True
        ))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("game", SMALL, ids=lambda game: game.slug)
def test_no_data_set_trains_on_what_another_tests(game: AnyGame) -> None:
    trained: set[tuple[int, ...]] = set()
    tested: set[tuple[int, ...]] = set()
    for seed, n in ((1, 50), (2, 80), (3, 500)):
        for position in drawn(game, n, seed):
            (tested if position.split == "test" else trained).add(position.observation)
        only = drawn(game, 30, seed, "test")
        assert all(position.split == "test" for position in only)
        tested |= {position.observation for position in only}
    assert tested
    assert trained
    assert not tested & trained
    assert abs(len(tested) / len(tested | trained) - TEST) < 0.12


def test_the_same_seed_gives_the_same_positions_and_more_only_add() -> None:
    game = load("digit-duel", digits=4)
    assert drawn(game, 60) == drawn(game, 60)
    assert drawn(game, 90)[:60] == drawn(game, 60)
    assert drawn(game, 60, seed=2) != drawn(game, 60)


def test_each_is_listed_once_and_a_small_game_runs_out() -> None:
    found = drawn(load("firewall-breach", strength=3), 10**6)
    seen = [position.observation for position in found]
    assert len(set(seen)) == len(seen) == 9


@pytest.mark.slow
def test_the_starting_player_does_not_change_the_split_of_a_position() -> None:
    one, two = (
        {p.observation: p.split for p in drawn(load("number-wars", lp=9, numbers=3, first=f), 200)}
        for f in (0, 1)
    )
    shared = one.keys() & two.keys()
    assert len(shared) > 50
    assert all(one[seen] == two[seen] for seen in shared)


def test_hidden_hands_and_unknown_splits_are_refused() -> None:
    with pytest.raises(NoPositions, match="cipher-siege has hidden hands"):
        positions(load("cipher-siege"), 5)
    with pytest.raises(OptionError, match="split takes train or test; got 'dev'"):
        positions(load("number-wars"), 5, split="dev")


@pytest.mark.slow
@pytest.mark.parametrize("game", [KuhnPoker(), LeducPoker(), LiarsDice(faces=3)], ids=name)
def test_information_states_are_labelled_by_the_equilibrium(game: AnyGame) -> None:
    """Every information state once, with the values that the solution gives at its view."""
    tree = InfostateTree(game)
    views = {
        (player, (*game.encode(view.observation, player), *game.recall(view.history, player))): view
        for player in (0, 1)
        for view in tree.views(player)
    }
    found = drawn(game, 10**6)
    assert len(found) <= sum(player.states for player in tree.players)
    observed = {(p.player, p.observation) for p in found}
    assert observed <= views.keys()
    if game.slug == "kuhn-poker":  # in the others, playouts miss the rarest states
        assert observed == views.keys()
    assert len(found) > 0.6 * len(views)
    for position in found:
        view = views[position.player, position.observation]
        if len(views) < sum(player.states for player in tree.players):
            continue  # several information states look alike in numbers
        chosen = solve(game).assess(view)
        assert position.mixed_strategy == tuple(
            float(chosen.mixed_strategy.get(move, 0)) for move in game.moves()
        )
        worth = [chosen.worth(m) if m in view.options else 0 for m in game.moves()]
        assert position.player_worth == pytest.approx([float(w or 0) for w in worth], abs=1e-12)
        assert chosen.value is not None
        assert position.value == pytest.approx(float(chosen.value), abs=1e-12)


def test_values_of_a_game_with_payoffs_are_payoffs() -> None:
    found = drawn(PayingGoofspiel(cards=3, prizes="descending"), 200)
    assert max(abs(position.value) for position in found) > 1
    for position in found:
        sign = 1 if position.player == 0 else -1
        assert position.player_value == sign * position.value
