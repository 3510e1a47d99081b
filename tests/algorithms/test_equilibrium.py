"""Solutions of games with hidden information, from the rules alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from duels.algorithms import equilibrium, tables
from duels.algorithms.backward_induction import enumerate_states
from duels.algorithms.cfr import strategies
from duels.algorithms.equilibrium import KIND, Equilibrium
from duels.algorithms.infostate_tree import InfostateTree
from duels.algorithms.levels import LEVELS, level_strategy
from duels.algorithms.solution import SolveArguments, Unsolved
from duels.algorithms.solutions import ready, solver_of
from duels.algorithms.tables import from_rules, own_path
from duels.analysis import report
from duels.analysis.grade import grade
from duels.analysis.page import page
from duels.analysis.position import HIDDEN, match_after, position_value, text, to_json
from duels.core import Match
from duels.core.game import AnyGame, Move
from duels.core.player import View
from duels.games import load
from duels.measure import exploitability
from duels.players.hints import solved_hint
from duels.plotting import charts
from tests.plugins.goofspiel import Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice
from tests.variants import name

GAMES: list[AnyGame] = [KuhnPoker(), KuhnPoker(first=1), LiarsDice(faces=3)]


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is stored yet, or solved in this process."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("duels.algorithms.solutions._solved", {})


def deal(game: AnyGame, *picks: str) -> Match:
    return match_after(game, list(picks))


def test_kuhn_poker_is_played_as_it_must_be() -> None:
    """What every equilibrium has in common (Kuhn 1950)."""
    game = KuhnPoker()
    solution = Equilibrium(game)
    assert solution.start_value() == pytest.approx(-1 / 18, abs=2e-5)

    def bets(card: str, *before: Move) -> float:
        player = len(before) % 2
        cards = (card, "queen" if card != "queen" else "jack")
        cards = cards if player == 0 else cards[::-1]
        return solution.assess(deal(game, *cards, *before).view(player)).mixed_strategy.get(
            "bet", 0.0
        )

    bluff = bets("jack")
    assert bets("king") == pytest.approx(3 * bluff, abs=0.05)
    assert bets("queen") == 0
    assert bets("queen", "pass", "bet") == pytest.approx(bluff + 1 / 3, abs=0.05)
    assert bets("king", "bet") == bets("king", "pass") == 1
    assert bets("queen", "bet") == pytest.approx(1 / 3, abs=0.02)
    assert bets("jack", "pass") == pytest.approx(1 / 3, abs=0.02)
    assert bets("jack", "bet") == 0


@pytest.mark.parametrize("game", GAMES, ids=name)
def test_the_stated_exploitability_is_that_of_what_perfect_plays(game: AnyGame) -> None:
    """By the best responses on histories, which know nothing of the table."""
    solution = Equilibrium(game)
    assert solution.at_most is not None
    assert solution.at_most < 1e-4
    measured = exploitability(game, "perfect")
    assert measured.total == pytest.approx(solution.at_most, abs=1e-9)
    assert measured.seats[0].optimal == pytest.approx(float(solution.start_value()), abs=1e-9)


@pytest.mark.parametrize("game", GAMES, ids=name)
def test_assessments_are_consistent_with_each_other(game: AnyGame) -> None:
    """The start is the average over what is dealt, and a choice of what is mixed is worth most."""
    solution, unit = Equilibrium(game), Equilibrium(game).unit
    for player in (0, 1):
        for view in InfostateTree(game).views(player):
            choice = solution.assess(view)
            assert sum(choice.mixed_strategy.values()) == pytest.approx(1)
            worth = [choice.worth(move) for move in choice.options]
            assert unit.lowest - 1e-9 <= min(worth) <= max(worth) <= unit.highest + 1e-9  # type: ignore[operator, type-var]
            assert (
                choice.regret(max(choice.mixed_strategy, key=lambda m: choice.mixed_strategy[m]))
                == 0
            )
    opened = charts(game)[0]
    assert opened.note.count("best responses to it gain")


def open_values(game: AnyGame, solution: Equilibrium, match: Match) -> float:
    """The average of the values after a chance event, by the rules."""
    turn: Any = match.turn
    total = 0.0
    for outcome, odd in turn.odds.items():
        events = [event.outcome for event in match.events]  # type: ignore[union-attr]
        value = solution.value_at(deal(game, *events, outcome))
        assert value is not None
        total += float(odd) * float(value)
    return total


@pytest.mark.slow
def test_luck_is_a_fair_game() -> None:
    game = LeducPoker()
    solution = Equilibrium(game)
    before: list[str] = []
    for _ in range(2):
        match = deal(game, *before)
        value = solution.value_at(match)
        assert value == pytest.approx(open_values(game, solution, match), abs=1e-6)
        before.append("king")


def test_a_match_is_graded_and_adds_up() -> None:
    match = Match(KuhnPoker(), seed=3)
    while match.result is None:
        match.submit(match.deciders[0], "bet")
    analysis = grade(match)
    assert match.result.payoff == 2
    final = 2.0 if match.result.winner == 0 else -2.0
    assert analysis.final == final
    assert analysis.luck_of_one is not None
    assert analysis.hidden is not None
    regret = [float(analysis.regret(player) or 0) for player in (0, 1)]
    parts = analysis.luck_of_one + analysis.hidden - regret[0] + regret[1]
    assert float(analysis.start) + float(parts) == pytest.approx(final, abs=1e-9)
    # The other player's bet with a jack loses for certain.
    assert [(m.move, m.verdict) for m in analysis.moves if m.regret == 1.0] == [("bet", "blunder")]


def test_values_are_labelled_as_payoffs() -> None:
    found = position_value(deal(KuhnPoker(), "jack", "king", "bet"))
    lines = text(found)
    assert lines[0] == f"Player 1's expected payoff{HIDDEN}: -2.000000"
    assert "best responses to it gain" in lines[-1]
    data = to_json(found)
    assert data["unit"] == "expected payoff"
    assert data["at_most"] < 1e-4
    assert data["caveat"] == lines[-1]
    assert text(position_value(deal(KuhnPoker())))[0] == "Player 1's expected payoff: -0.055556"
    assert "unit" not in to_json(position_value(deal(LiarsDice(faces=2), "1", "1")))


def test_a_graded_match_is_labelled_with_payoffs() -> None:
    match = deal(KuhnPoker(), "queen", "king", "bet", "bet", "queen and king")
    analysis = grade(match)
    labelled = "Values, regrets and luck are expected payoffs; the most that a win pays is 2."
    assert labelled in report.text(analysis)
    assert labelled in page(analysis)
    data = report.to_json(analysis)
    assert (data["unit"], data["highest_payoff"]) == ("expected payoff", 2.0)
    plain = grade(deal(LiarsDice(faces=2), "1", "1", "bid 1 1", "liar", "1 and 1"))
    assert not any("payoff" in line for line in report.text(plain))


def test_hints_state_the_exploitability() -> None:
    hint = solved_hint(deal(KuhnPoker(), "queen", "king").view(0))
    assert hint is not None
    sentence, move = hint
    assert move == "pass"
    assert sentence == (
        "perfect play chooses pass; best responses to it gain less than 0.00001 in expected "
        "payoff, both seats together."
    )


def test_without_exploitability_a_strategy_is_an_equilibrium() -> None:
    """With two faces the highest bid is always right."""
    solution = Equilibrium(LiarsDice(faces=2))
    assert solution.at_most == 0
    assert solution.caveat == (
        "An equilibrium: best responses to it gain nothing, both seats together, measured over all "
        "information states."
    )


@pytest.mark.parametrize("level", LEVELS)
def test_levels_lose_what_they_should(level: str) -> None:
    game = LiarsDice(faces=2)
    solution = Equilibrium(game)
    tree = InfostateTree(game)

    def perfect(view: View) -> Any:
        return solution.assess(view).mixed_strategy

    def weaker(view: View) -> Any:
        return level_strategy(solution.assess(view), level)

    sound = strategies(tree, perfect, perfect)
    for player in (0, 1):
        pair = [perfect, perfect]
        pair[player] = weaker
        paid = strategies(tree, pair[0], pair[1]).value
        lost = sound.value - paid if player == 0 else paid - sound.value
        assert lost > -1e-5


# Tables


def test_a_stored_table_is_used_and_one_of_other_rules_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = LiarsDice(faces=2)
    facts = Equilibrium.rebuild(game, lambda part, what: None, SolveArguments())
    assert facts["table"] == own_path(game)
    assert from_rules(game, KIND) is not None
    assert from_rules(LiarsDice(faces=2, first=1), KIND) is None
    with monkeypatch.context() as patch:
        patch.setattr(equilibrium, "solved", lambda *given: pytest.fail("solved again"))
        solution = Equilibrium(game)
    assert solution.start_value() == pytest.approx(facts["value (expected score)"])
    fresh = equilibrium.solved(game, None, equilibrium.FINE)
    assert bytes(from_rules(game, KIND).payload) == fresh[0]  # type: ignore[union-attr]
    monkeypatch.setattr(tables, "rules_digest", lambda game: "changed")
    assert from_rules(game, KIND) is None


def test_only_what_takes_a_moment_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    Equilibrium(KuhnPoker())
    assert not os.path.exists(own_path(KuhnPoker()))
    monkeypatch.setattr(equilibrium, "SMALL", 10)
    Equilibrium(KuhnPoker())
    assert os.path.exists(own_path(KuhnPoker()))
    monkeypatch.setattr(tables, "store", lambda *given: (_ for _ in ()).throw(tables.TableError))
    Equilibrium(KuhnPoker(first=1))  # a folder that cannot be written is no error


def test_small_games_are_ready_at_once_and_large_ones_are_refused() -> None:
    assert solver_of(LiarsDice()) is Equilibrium
    assert ready(KuhnPoker())
    assert not ready(LiarsDice(faces=5))
    with pytest.raises(Unsolved, match="more than 300,000 information states"):
        Equilibrium(LiarsDice(faces=20))
    with pytest.raises(Unsolved, match="omit --jobs"):
        Equilibrium.rebuild(KuhnPoker(), lambda part, what: None, SolveArguments(jobs=2))


@pytest.mark.slow
def test_games_somewhat_too_large_are_recognised_without_following_them() -> None:
    """524,288 information states, and an open game with about a million states."""
    nothing_followed = pytest.MonkeyPatch()
    with nothing_followed.context() as patch:
        patch.setattr(InfostateTree, "_build", lambda *given: pytest.fail("the tree is followed"))
        with pytest.raises(Unsolved, match="more than 300,000 information states"):
            InfostateTree(LiarsDice(faces=8))
    told: list[str] = []
    with pytest.raises(Unsolved, match="more than 400,000 states"):
        enumerate_states(Goofspiel(cards=6), 400_000, lambda part, what: told.append(what))
    assert not told, "the states are followed"


def test_a_position_outside_the_tree_has_no_value() -> None:
    game = KuhnPoker()
    solution = Equilibrium(game)
    view = deal(game, "jack", "king").view(0)
    with pytest.raises(Unsolved, match="has left the positions"):
        solution.assess(view._replace(history=view.history[:1]))
    with pytest.raises(Unsolved, match="depends on which player sees it"):
        solution.value(game.play(game.start(), "jack"))
    assert solution.estimate(game.play(game.start(), "jack"), ("greedy", "greedy")) is None


def test_where_a_strategy_never_leads_the_answer_is_a_best_one() -> None:
    """Player 1 never bets the queen; a king answers a bet all the same."""
    solution = Equilibrium(KuhnPoker())
    for one in ("jack", "queen"):
        view = deal(KuhnPoker(), one, "king", "bet").view(1)
        assert solution.assess(view).mixed_strategy == {"bet": 1.0}


def test_a_game_of_this_package_is_solved_by_its_own_solver() -> None:
    assert solver_of(load("cipher-siege")) is not Equilibrium
