"""Compiled enumeration finds the same positions and values as enumeration with the pure rules."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from duels.algorithms import solve
from duels.algorithms.best_response import Enumeration, TooLarge
from duels.algorithms.response_graph import POLICY
from duels.core.game import AnyGame, Decide
from duels.envs.policy import view_of
from duels.games import load
from duels.measure import best_response, exploitability, head_to_head
from duels.measure.dispatch import (
    built_in,
    enumerate_positions,
    optimal_values,
    position_query,
    score_against,
    state_query,
)
from duels.measure.policies import NotMeasurable, QueriedPolicy
from duels.players import make_opponent
from tests.plugins.goofspiel import Goofspiel
from tests.variants import long_unless

np: Any = pytest.importorskip("numpy", reason="needs the extra: pip install 'duels[solve]'")
pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

from duels.algorithms.compiled.mixed_strategies import mixed_strategies  # noqa: E402
from duels.algorithms.matrix_game import solve_matrix  # noqa: E402
from duels.measure.compiled_enumeration import ChanceInKernel, CompiledEnumeration  # noqa: E402
from duels.measure.perfect_values import optimal, simultaneous_strategies  # noqa: E402

VARIANTS: list[AnyGame] = [
    load("number-clash", numbers=4),
    load("number-clash", numbers=5, points=2),
    load("digit-duel", digits=4, life="3/4", first=1),
    load("digit-duel", digits=3, life="2/999"),
    load("digit-duel", digits=4, life=4, hidden=True),
    load("number-wars", numbers=4, lp=15),
    load("number-wars", numbers=3, lp="6/9", refresh=False, first=1),
]
# In the fast tests: a sealed and an alternating game, whose kernels are the quickest to compile.
MOSTLY_LONG = long_unless(lambda game: game in VARIANTS[4:6], VARIANTS)


def noise(observations: Any, masks: Any) -> Any:
    """A mix like no other for each observation, always the same; some moves are never played."""
    rows = []
    for seen, mask in zip(observations.tolist(), masks.tolist(), strict=True):
        randomness = Random(str(seen))
        weights = [m * (randomness.random() < 0.7) * randomness.random() for m in mask]
        rows.append(weights if any(weights) else mask)
    found = np.array(rows, np.float64)
    return found / found.sum(1, keepdims=True)


def both(
    game: AnyGame, seat: int, policy: Any, other: Any = None
) -> tuple[Enumeration, CompiledEnumeration]:
    one, two = QueriedPolicy(game, policy), None if other is None else QueriedPolicy(game, other)
    plain = Enumeration(game, seat, state_query(one), None if two is None else state_query(two))
    return plain, CompiledEnumeration(
        game, seat, position_query(one, None), None if two is None else position_query(two, None)
    )


@pytest.mark.cases(2)
@pytest.mark.parametrize("game", MOSTLY_LONG, ids=lambda game: f"{game.slug}-{game.differing()}")
@pytest.mark.parametrize("seat", [0, 1])
def test_both_walks_find_the_same(game: AnyGame, seat: int) -> None:
    plain, rows = both(game, seat, noise)
    assert {rows.state(number) for number in range(len(rows))} == set(plain.states)
    value, same = rows.values(), plain.values()
    regret, equal = rows.regrets(optimal_values(rows)), plain.regrets(optimal_values(plain))
    visit, often = rows.visits(), plain.visits()
    for number, state in enumerate(plain.states):
        at = rows.find(state)
        assert value[at] == pytest.approx(same[number], abs=1e-12)
        assert regret[at] == pytest.approx(equal[number], abs=1e-12)
        if plain.graph.chooser[number] & POLICY:
            assert rows.mixed_strategy(at) == plain.mixed_strategy(number)
        assert rows.graph.chooser[at] == plain.graph.chooser[number]
    assert sum(visit) == pytest.approx(sum(often))
    assert rows.find(game.start()) == 0


@pytest.mark.parametrize(
    "game",
    long_unless(lambda game: game.slug == "number-wars", VARIANTS),
    ids=lambda game: f"{game.slug}-{game.differing()}",
)
def test_two_mixes_against_each_other_come_to_the_same(game: AnyGame) -> None:
    for other in ("perfect", "greedy", "random"):
        plain, rows = both(game, 0, noise, other)
        assert rows.values()[0] == pytest.approx(plain.values()[0], abs=1e-12)


@pytest.mark.parametrize("game", MOSTLY_LONG, ids=lambda game: f"{game.slug}-{game.differing()}")
@pytest.mark.parametrize("seat", [0, 1])
def test_perfect_play_scores_the_same_on_both_walks(game: AnyGame, seat: int) -> None:
    asked, perfect = QueriedPolicy(game, noise), QueriedPolicy(game, "perfect")
    plain, rows = both(game, seat, noise)
    wanted = score_against(plain, asked, perfect)
    assert score_against(rows, asked, perfect) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("game", MOSTLY_LONG, ids=lambda game: f"{game.slug}-{game.differing()}")
def test_values_read_in_arrays_are_those_of_the_solution(game: AnyGame) -> None:
    _, rows = both(game, 0, "random")
    wanted = [float(solve(game).value(rows.state(number))) for number in range(len(rows))]
    assert optimal(game, rows.rows).tolist() == wanted


@pytest.mark.parametrize(
    ("slug", "options"), [("number-clash", {}), ("digit-duel", {}), ("number-wars", {})]
)
def test_values_of_the_usual_games_are_those_of_their_tables(
    slug: str, options: dict[str, object]
) -> None:
    """Positions met in games at random, with every table that ships."""
    game = load(slug, **options)
    from duels.kernels import DECISIONS, kernel_of

    kernel, randomness = kernel_of(game), Random(1)
    rows, wanted = [], []
    for _ in range(60):
        state = game.start()
        while isinstance(turn := game.turn(state), Decide):
            rows.append((0, *kernel.pack(game, state)))
            wanted.append(float(solve(game).value(state)))
            picks = [randomness.choice(options) for _, options in sorted(turn.options.items())]
            state = game.play(state, *picks)
    assert DECISIONS == 0
    assert optimal(game, np.array(rows, kernel.dtype)).tolist() == wanted


@pytest.mark.cases(4)
@pytest.mark.parametrize("game", MOSTLY_LONG, ids=lambda game: f"{game.slug}-{game.differing()}")
@pytest.mark.parametrize("player", ["random", "greedy", "hard", "perfect"])
def test_compiled_mixes_are_those_of_the_player(game: AnyGame, player: str) -> None:
    _, rows = both(game, 0, "random")
    asked = QueriedPolicy(game, player)
    fill = built_in(game, type(asked.player))
    assert fill is not None
    for seat in (0, 1):
        turns = [game.turn(rows.state(number)) for number in range(len(rows))]
        chosen = [
            n for n, turn in enumerate(turns) if isinstance(turn, Decide) and seat in turn.options
        ]
        found = np.zeros((len(chosen), len(game.moves())))
        fill(rows.rows[chosen], seat, found)
        wanted = asked.strategies([view_of(game, rows.state(number), seat) for number in chosen])
        for mix, row in zip(wanted, found.tolist(), strict=True):
            assert row == pytest.approx([mix.get(move, 0.0) for move in game.moves()], abs=1e-9)


@pytest.mark.parametrize(
    "game",
    long_unless(lambda game: game is VARIANTS[2], [VARIANTS[1], VARIANTS[2]]),
    ids=lambda game: game.slug,
)
def test_levels_are_measured_alike_on_both_walks(game: AnyGame) -> None:
    for seat in (0, 1):
        plain, rows = both(game, seat, "easy")
        assert rows.values()[0] == pytest.approx(plain.values()[0], abs=1e-9)


@pytest.mark.parametrize("seat", [0, 1])
def test_simultaneous_strategies_are_those_of_the_perfect_player_to_the_bit(seat: int) -> None:
    for game in (
        load("number-clash", numbers=5),
        load("digit-duel", digits=4, life=4, hidden=True),
    ):
        _, rows = both(game, 0, "random")
        found = simultaneous_strategies(game, rows.rows, seat)
        for number in range(len(rows)):
            mix = solve(game).assess_state(rows.state(number), seat).mixed_strategy
            assert found[number].tolist() == [mix.get(move, 0.0) for move in game.moves()]


def test_a_matrix_that_is_made_to_be_nasty_is_left_to_the_slow_solver() -> None:
    nasty = [[0.5, 0.5 + 1e-15, 0.25], [0.5 - 1e-15, 0.5, 0.75], [1e-9, 1.0, 0.5]]
    found = solve_matrix(nasty)
    for seat, mix in ((0, found.row_strategy), (1, found.column_strategy)):
        assert mixed_strategies(np.array([nasty]), seat)[0].tolist() == list(mix)


def test_a_large_game_is_walked_by_its_kernel_and_a_small_one_by_its_rules() -> None:
    small = enumerate_positions(
        load("number-clash", numbers=4), 0, QueriedPolicy(load("number-clash", numbers=4), noise)
    )
    game = load("number-clash", numbers=7)
    large = enumerate_positions(game, 0, QueriedPolicy(game, "random"))
    assert isinstance(small, Enumeration)
    assert isinstance(large, CompiledEnumeration)


def test_a_kernel_with_chance_is_noticed() -> None:
    game = load("firewall-breach")
    with pytest.raises(ChanceInKernel):
        CompiledEnumeration(game, 0, position_query(QueriedPolicy(game, "random"), None))
    game = load("firewall-breach", strength=60)  # too large for a quick walk, so the rules go on
    found = enumerate_positions(game, 0, QueriedPolicy(game, "random"))
    assert isinstance(found, Enumeration)


def test_the_responder_of_a_large_game_can_be_played() -> None:
    game = load("number-clash", numbers=6)
    for seat in (0, 1):
        player = best_response(game, "greedy", seat)
        one, two = (
            (player, make_opponent("greedy", ""))
            if seat == 0
            else (make_opponent("greedy", ""), player)
        )
        score = head_to_head(game, one, two)
        assert (score if seat == 0 else 1 - score) == pytest.approx(player.value, abs=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_the_whole_of_number_clash_has_nothing_to_gain_against_perfect_play() -> None:
    found = exploitability(load("number-clash"), "perfect")
    assert list(found.exploitability) == pytest.approx([0, 0], abs=1e-9)
    assert list(found.value_vs_perfect) == pytest.approx([0.5, 0.5])


@pytest.mark.long
@pytest.mark.slow
def test_every_position_of_number_clash_is_looked_at_when_all_moves_are_played() -> None:
    asked = []

    def uniform(observations: Any, masks: Any) -> Any:
        asked.append(len(masks))
        return masks / masks.sum(1, keepdims=True)

    found = enumerate_positions(
        load("number-clash"), 0, QueriedPolicy(load("number-clash"), uniform)
    )
    assert len(found) == 639_536
    assert len(asked) < 40  # many positions at a time


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda seen, masks: masks[:, :1], "shape of the masks"),
        (lambda seen, masks: np.ones(masks.shape), "add up to 1"),
        (lambda seen, masks: np.full(masks.shape, np.nan), "add up to 1"),
        (lambda seen, masks: np.full(masks.shape, 1 / masks.shape[1]), "legal moves"),
    ],
)
def test_probabilities_that_are_none_are_refused(wrong: Any, said: str) -> None:
    with pytest.raises(NotMeasurable, match=said):
        exploitability(load("number-clash", numbers=4), wrong)


def test_the_32_bits_of_a_network_are_good_enough() -> None:
    game = load("number-clash", numbers=4)
    exact = exploitability(game, noise)
    rough = exploitability(game, lambda seen, masks: noise(seen, masks).astype(np.float32))
    assert rough.exploitability == pytest.approx(exact.exploitability, abs=1e-6)


def test_too_many_positions_for_python_are_refused() -> None:
    game = load("number-wars", numbers=4, lp=15)
    with pytest.raises(
        TooLarge, match=r"^number-wars has more than 100 transitions between positions$"
    ):
        Enumeration(game, 0, state_query(QueriedPolicy(game, "random")), largest=100)


def test_a_game_that_begins_with_chance_is_enumerated_by_its_rules() -> None:
    """Its kernel, made of its tree, packs no position before the chance event."""
    policy = QueriedPolicy(Goofspiel(cards=3), "greedy")
    with pytest.raises(ChanceInKernel, match="begins with a chance event"):
        CompiledEnumeration(policy.game, 0, position_query(policy, None))
    found = enumerate_positions(policy.game, 0, policy, large=True)
    assert isinstance(found, Enumeration)
    assert found.value > 0.5
