"""Levels give away the share of a random player's regret that they promise, and err as people."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.algorithms import Assessment, solve
from duels.algorithms.backward_induction import enumerate_states
from duels.algorithms.best_response import Enumeration, by_state
from duels.algorithms.cfr import strategies
from duels.algorithms.infostate_tree import Behaviour, InfostateTree
from duels.algorithms.levels import CARELESS, LEVELS, level_strategy
from duels.analysis.position import match_after
from duels.core.chance import stream
from duels.core.game import AnyGame, Decide, Pick
from duels.core.match import Match
from duels.core.player import View, answer
from duels.games import load
from duels.games.number_wars.rules import State
from duels.players import make_opponent
from duels.players.base import MixedStrategyOpponent
from tests.plugins.goofspiel import Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.liars_dice import LiarsDice
from tests.variants import name as label


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
        seats = [
            make_opponent(name, stream(seed, at)) for at, name in enumerate(("perfect", "hard"))
        ]
        while match.result is None:
            (player,) = match.deciders
            match.submit(player, answer(seats[player], match.view(player)))
        moves = [e for n in match.line if isinstance(e := match.events[n], Pick)]
        assert len(moves) == solve(game).distance(game.start()) == 7
        assert [move for pick in moves[1::2] for _, move in pick.moves] == ["10", "9", "8"]


@pytest.mark.parametrize("level", LEVELS)
def test_levels_err_more_on_what_matters_less(level: str) -> None:
    choice = Assessment(0, 0.6, {"a": 0.6, "b": 0.55, "c": 0.5, "d": 0.1}, {"a": 1.0})
    mix = level_strategy(choice, level)
    assert mix["a"] > mix["b"] > mix["c"] > mix["d"] > 0


def test_moves_without_regret_are_chosen_as_perfect_play_does() -> None:
    choice = Assessment(0, 0.6, {"a": 0.6, "b": 0.6, "c": 0.6, "d": 0.1}, {"a": 0.75, "b": 0.25})
    mix = level_strategy(choice, "hard")
    assert mix["a"] == pytest.approx(3 * mix["b"])
    assert mix["c"] == 0
    assert mix["d"] > 0


# Dominated moves

CAREFUL = [level for level in LEVELS if level != CARELESS]


def view_of(game: AnyGame, *picks: str) -> View:
    match = match_after(game, list(picks))
    return match.view(match.deciders[0])


# Choices and the moves that another one is never worse than, whatever is hidden and follows.
DOMINATED: dict[str, tuple[View, set[str]]] = {
    "spent numbers": (view_of(load("number-wars"), "10", "10", "9", "9"), {"9", "10"}),
    "a win passed by": (view_of(load("number-wars", lp=9)), set("12345678")),
    "an attack that may miss": (view_of(load("firewall-breach", strength=1)), {"attack"}),
    "a digit too low to survive": (
        view_of(load("digit-duel", digits=4, life=3), "4"), {"1"},
    ),
    "a call with the lowest card": (view_of(KuhnPoker(), "queen", "jack", "bet"), {"bet"}),
    "giving up the highest card": (view_of(KuhnPoker(), "queen", "king", "bet"), {"pass"}),
    "passing with the highest card at the end": (
        view_of(KuhnPoker(), "queen", "king", "pass"), {"pass"},
    ),
    "doubting a bid that is true, and one that cannot be": (
        view_of(LiarsDice(faces=3), "1", "2", "bid 1 2"), {"liar", "bid 2 3"},
    ),
}  # fmt: skip


def faults(level: str, view: View, dominated: set[str]) -> set[str]:
    """The dominated moves that a level may choose."""
    player = make_opponent(level, "")
    assert isinstance(player, MixedStrategyOpponent)
    mix = player.mixed_strategy(view)
    assert sum(mix.values()) == pytest.approx(1)
    return {move for move in dominated if mix.get(move, 0.0) > 0}


@pytest.mark.parametrize("case", DOMINATED)
def test_dominated_moves_occur_on_the_careless_level_only(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, dominated = DOMINATED[case]
    solution = solve(view.game)
    choice = solution.assess(view)
    assert solution.dominated(view, choice) == dominated
    for level in CAREFUL:
        assert faults(level, view, dominated) == set()
    wrong = {move for move in dominated if choice.regret(move)}
    assert faults(CARELESS, view, dominated) == wrong
    # A level that does not know them is noticed.
    monkeypatch.setattr(type(solution), "dominated", lambda self, view, choice: frozenset())
    assert all(faults(level, view, dominated) == wrong for level in CAREFUL)


def test_in_simultaneous_choices_dominated_moves_are_never_worth_more() -> None:
    """Against every answer, by the values of the positions after it."""
    game = Goofspiel(cards=4)
    solution, met, states = solve(game), 0, enumerate_states(game)[0]
    for state in list(states)[:3000]:
        turn = game.turn(state)
        if not isinstance(turn, Decide) or len(turn.options[0]) < 2:
            continue
        for player in (0, 1):
            view = View(game, player, game.observe(state, player), (), turn.options[player])
            choice = solution.assess(view)

            def worth(move: str, answer: str, state: Any = state, player: int = player) -> float:
                picks = (move, answer) if player == 0 else (answer, move)
                value = float(solution.value(game.play(state, *picks)))
                return value if player == 0 else -value

            for move in solution.dominated(view, choice):
                met += 1
                assert move not in choice.mixed_strategy
                assert any(
                    all(worth(move, a) <= worth(other, a) + 1e-9 for a in turn.options[1 - player])
                    for other in turn.options[player]
                    if other != move
                )
    assert met > 10


# The order of the levels, exactly

OPEN: list[AnyGame] = [
    load("firewall-breach", strength=5),
    load("digit-duel", digits=5, life=4),
    load("number-wars", numbers=4, lp=16),
    Goofspiel(cards=4),
]
PRIVATE: list[AnyGame] = [KuhnPoker(), LiarsDice(faces=3)]
ORDER = ["random", *LEVELS, "perfect"]


def against_perfect(game: AnyGame, name: str) -> float:
    """A player's exact score, or payoff, against perfect play over both seats."""

    def strategy_of(name: str) -> Behaviour:
        player = make_opponent(name, "")
        assert isinstance(player, MixedStrategyOpponent)
        return player.mixed_strategy

    def by_position(strategy: Behaviour, seat: int) -> Any:
        def ask(state: Any) -> Mapping[str, float]:
            turn = game.turn(state)
            assert isinstance(turn, Decide)
            found = strategy(View(game, seat, state, (), turn.options[seat]))
            return {move: chance for move, chance in found.items() if chance}

        return by_state(ask)

    own, perfect = strategy_of(name), strategy_of("perfect")
    if game.private:
        tree = InfostateTree(game)
        return (strategies(tree, own, perfect).value - strategies(tree, perfect, own).value) / 2
    return (
        sum(
            1
            - Enumeration(game, seat, by_position(own, seat), by_position(perfect, 1 - seat)).value
            for seat in (0, 1)
        )
        / 2
    )


@pytest.mark.slow
@pytest.mark.parametrize("game", [*OPEN, *PRIVATE], ids=label)
def test_the_levels_are_in_order_against_perfect_play(game: AnyGame) -> None:
    scores = [against_perfect(game, name) for name in ORDER]
    assert scores[4] == pytest.approx(0 if game.private else 0.5, abs=1e-4)
    assert all(low < high + 1e-9 for low, high in pairwise(scores)), scores
    assert scores[0] < scores[1] < scores[2] < scores[3], scores
