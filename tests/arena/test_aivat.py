"""Luck taken out of scores: the mean stays, exactly; faults in it are seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

import pytest

from duels.algorithms import solve
from duels.algorithms.equilibrium import Equilibrium
from duels.arena.aivat import (
    HistoryValues,
    PositionValues,
    StrategyOf,
    adjusted,
    aivat_score,
    baseline_of,
)
from duels.core import Match, View
from duels.core.chance import stream
from duels.core.game import AnyGame, Chance, Outcome, Over
from duels.core.player import MixedStrategy
from duels.games import load
from duels.players import make_opponent
from tests.measure.test_payoffs import PayingGoofspiel
from tests.plugins.goofspiel import Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice

TINY = [
    load("firewall-breach", strength="2/3"),
    load("number-clash", numbers=3, points=2),
    load("digit-duel", digits=2, life=1),
    load("digit-duel", digits=2, life=2, hidden="yes"),
    load("number-wars", lp=3, numbers=2),
    load("cipher-siege", values=2, copies=2, hand=1, limit=2, integrity=2),
    Goofspiel(cards=2),
]
DEEP = 3  # choices, after which a course is broken off as a draw by the turn limit


def arbitrary(state: Any) -> float:
    """A value that has nothing to do with the game, outside of 0 to 1 too."""
    return Random(repr(state)).uniform(-1, 2)


def lopsided(view: View) -> MixedStrategy:
    """A mix that differs from choice to choice and depends on what its player sees."""
    chance = Random(f"{view.player} {view.observation} {view.options}")
    weights = [chance.random() for _ in view.options]
    return {m: w / sum(weights) for m, w in zip(view.options, weights, strict=True)}


def silent(view: View) -> None:
    return None


@cache
def courses(game: AnyGame) -> list[tuple[Match, float]]:
    """Every course of a game between lopsided players, with how likely it is."""

    def follow(steps: tuple[Any, ...], likely: float) -> Iterator[tuple[Match, float]]:
        match = Match(game, turn_limit=DEEP)
        for step in steps:
            match.enact(step) if isinstance(step, Outcome) else match.submit(*step)
        if match.result is not None:
            yield match, likely
        elif isinstance(match.turn, Chance):
            for outcome, odd in match.turn.odds.items():
                yield from follow((*steps, Outcome(outcome)), likely * float(odd))
        else:
            assert not isinstance(match.turn, Over)
            player = next(p for p in match.deciders if p not in match.sealed)
            for move, chance in lopsided(match.view(player)).items():
                yield from follow((*steps, (player, move)), likely * chance)

    return list(follow((), 1.0))


def raw(match: Match) -> float:
    assert match.result is not None
    winner = match.result.winner
    return 0.5 if winner is None else 1.0 - winner


def bias(
    game: AnyGame,
    mixes: Sequence[StrategyOf],
    make_values: Callable[..., PositionValues] = PositionValues,
) -> float:
    """How far the mean of the adjusted score is from that of the score, over every course."""
    values, total, whole = make_values(game, arbitrary), 0.0, 0.0
    for match, likely in courses(game):
        score = aivat_score(match, mixes, values)
        assert score is not None
        total += likely * (score - raw(match))
        whole += likely
    assert whole == pytest.approx(1, abs=1e-12)
    return total


@pytest.mark.slow
@pytest.mark.parametrize("game", TINY, ids=lambda game: f"{game.slug} {game.differing()}")
@pytest.mark.parametrize(
    "mixes", [(lopsided, lopsided), (lopsided, silent), (silent, lopsided), (silent, silent)]
)
def test_the_mean_stays_exactly_whatever_positions_are_said_to_be_worth(
    game: AnyGame, mixes: Sequence[StrategyOf]
) -> None:
    assert abs(bias(game, mixes)) < 1e-12


# In Leduc poker the courses of two choices, since there are many.
HIDDEN: list[AnyGame] = [KuhnPoker(), KuhnPoker(first=1), LiarsDice(faces=2), LeducPoker()]


@pytest.mark.slow
@pytest.mark.parametrize("game", HIDDEN, ids=lambda game: f"{game.slug} {game.differing()}")
@pytest.mark.parametrize("mixes", [(lopsided, lopsided), (silent, lopsided)])
def test_the_mean_stays_exactly_in_games_with_hidden_information(
    game: AnyGame, mixes: Sequence[StrategyOf]
) -> None:
    assert abs(bias(game, mixes, HistoryValues)) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    [
        KuhnPoker(),
        pytest.param(LiarsDice(faces=3), marks=pytest.mark.long),
        LeducPoker(),
        PayingGoofspiel(cards=3),
    ],
    ids=lambda game: game.slug,
)
def test_between_perfect_players_of_a_game_from_another_package_only_luck_is_left(
    game: AnyGame,
) -> None:
    """Nothing but the value of the game is left: the share of wins, where wins pay differently."""
    known = baseline_of(game, ("perfect", "perfect"))
    assert known is not None
    start = known.values(known.values.position(game.start(), (), ()))
    assert start is not None
    if game.highest_payoff() == 1:
        assert start == pytest.approx(float(solve(game).start_value()), abs=1e-9)
    for seed in range(5):
        match, mixes = played(game, ("perfect", "perfect"), seed)
        found = adjusted(match, mixes, ("perfect", "perfect"))
        assert found.score is not None
        if isinstance(known.solution, Equilibrium):
            assert found.score == pytest.approx(start, abs=1e-9)
        assert found.regret == pytest.approx((0.0, 0.0), abs=1e-9)
        assert found.graded is not None


class WrongOdds(PositionValues):
    """A planted fault: all outcomes taken to be equally likely, but one."""

    def average(self, state: Any, after: Any) -> float | None:
        parts = list(after)
        weights = [2.0 if n == 0 else 1.0 for n in range(len(parts))]
        picks = [(pick, w / sum(weights)) for (pick, _), w in zip(parts, weights, strict=True)]
        return super().average(state, picks)


class ValueAfter(PositionValues):
    """A planted fault: what came is taken for what was expected, of one outcome."""

    def average(self, state: Any, after: Any) -> float | None:
        return super().average(state, [(next(iter(after))[0], 1.0)])


class WrongHiddenOdds(WrongOdds, HistoryValues):
    """The same fault in a game with hidden information."""


@pytest.mark.slow
def test_planted_faults_are_seen_in_games_with_hidden_information() -> None:
    for game in HIDDEN[:3]:
        assert abs(bias(game, (lopsided, lopsided), WrongHiddenOdds)) > 1e-6


def of_the_other(view: View) -> MixedStrategy:
    """A planted fault: the mix that the other player would have here."""
    assert view.player is not None
    return lopsided(view._replace(player=1 - view.player))


@pytest.mark.parametrize("game", TINY, ids=lambda game: f"{game.slug} {game.differing()}")
def test_planted_faults_are_seen(game: AnyGame) -> None:
    assert abs(bias(game, (lopsided, lopsided), WrongOdds)) > 1e-6
    assert abs(bias(game, (lopsided, lopsided), ValueAfter)) > 1e-6
    assert abs(bias(game, (of_the_other, of_the_other))) > 1e-6


def played(game: AnyGame, names: Sequence[str], seed: int) -> tuple[Match, list[StrategyOf]]:
    match = Match(game, seed=seed)
    players = [make_opponent(name, stream(seed, seat)) for seat, name in enumerate(names)]
    while match.result is None:
        for seat in match.deciders:
            if seat not in match.sealed:
                match.submit(seat, players[seat].choose(match.view(seat)))
                break
    return match, [player.mixed_strategy for player in players]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "names"),
    [
        pytest.param(
            slug, names, marks=() if number == 0 or slug == "firewall-breach" else pytest.mark.long
        )
        for slug in ("firewall-breach", "number-clash", "cipher-siege", "digit-duel", "number-wars")
        for number, names in enumerate(
            [("perfect", "random"), ("easy", "greedy"), ("medium", "medium")]
        )
    ],
)
def test_over_many_games_the_means_agree(slug: str, names: Sequence[str]) -> None:
    game, games = load(slug), 30
    raws, scores = [], []
    for seed in range(games):
        match, mixes = played(game, names, seed)
        found = adjusted(match, mixes, (names[0], names[1]))
        assert found.score is not None
        raws.append(raw(match))
        scores.append(found.score)
    mean = min(max(sum(scores) / games, 0.0), 1.0)
    # The error of the raw mean, by the adjusted one: a rare loss may not have come yet.
    error = (mean * (1 - mean) / games) ** 0.5
    assert abs(sum(raws) / games - mean) < 4 * error + 1e-9


@pytest.mark.parametrize("slug", ["firewall-breach", "number-clash", "digit-duel", "number-wars"])
def test_between_perfect_players_with_known_strategies_only_luck_is_left(
    slug: str,
) -> None:
    game = load(slug)
    match, mixes = played(game, ("perfect", "perfect"), 5)
    found = adjusted(match, mixes)
    assert found.score == pytest.approx(float(solve(game).start_value()), abs=1e-9)
    assert found.regret == (0.0, 0.0)
    assert found.graded is not None
    assert min(found.graded) > 0


def test_regrets_are_those_of_the_analysis() -> None:
    from duels.analysis.grade import grade

    for slug in ("firewall-breach", "number-clash", "digit-duel", "number-wars"):
        match, mixes = played(load(slug), ("random", "greedy"), 3)
        found, graded = adjusted(match, mixes), grade(match)
        assert found.regret is not None
        assert found.graded is not None
        for player in (0, 1):
            assert found.regret[player] == pytest.approx(float(graded.regret(player) or 0))
            assert found.graded[player] == len(graded.of(player))


def test_what_is_not_known_is_not_made_up() -> None:
    game = load("cipher-siege", swap="chosen")
    match, mixes = played(game, ("random", "greedy"), 3)
    assert adjusted(match, mixes) == (None, None, None)


def test_a_forfeit_leaves_the_score_and_takes_out_the_luck_before_it() -> None:
    match = Match(load("firewall-breach"), seed=1)
    match.submit(0, "attack")
    match.forfeit(1, "crashed")
    found = adjusted(match, [silent, silent])
    assert found.score is not None
    assert found.score != 1.0
    assert found.score == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize(
    "mix", [{}, {"attack": 0.0}, {"fly": 1.0}, {"attack": 0.5, "fly": 0.5}, {"attack": -1.0},
            {"attack": float("nan"), "bypass": 1.0}, {"attack": float("inf"), "bypass": 1.0}],
)  # fmt: skip
def test_an_invalid_mixed_strategy_counts_as_none(mix: MixedStrategy) -> None:
    match = Match(load("firewall-breach"), seed=1)
    match.submit(0, "attack")
    match.forfeit(1, "crashed")
    assert adjusted(match, [lambda view: mix, silent]) == adjusted(match, [silent, silent])


def test_a_game_that_would_take_long_to_solve_is_left_alone() -> None:
    game = load("number-clash", numbers=11)
    match, mixes = played(game, ("random", "greedy"), 3)
    assert adjusted(match, mixes) == (None, None, None)
    small = Goofspiel(cards=3)
    match, mixes = played(small, ("random", "greedy"), 3)
    assert adjusted(match, mixes).score is not None
