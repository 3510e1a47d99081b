"""Ratings recover known strengths, and mark what the data do not determine."""

from __future__ import annotations

from itertools import combinations
from math import inf, log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.arena.ratings import ELO, Rating, rate
from duels.arena.scores import Moments
from duels.arena.sprt import expected
from tests.arena.synthetic import likely, round_robin

FIVE = {"a": 250.0, "b": 100.0, "c": 0.0, "d": -100.0, "e": -250.0}
WIDE = {"a": 400.0, "b": 0.0, "c": -400.0}


def by_name(ratings: list[Rating]) -> dict[str, Rating]:
    return {rating.player: rating for rating in ratings}


def halved(rating: Rating) -> Rating:
    """A planted fault: an interval half as wide."""
    middle = rating.elo
    return rating._replace(
        low=middle - (middle - rating.low) / 2, high=middle + (rating.high - middle) / 2
    )


def inside(strengths: dict[str, float], ratings: list[Rating]) -> list[bool]:
    return [rating.low <= strengths[rating.player] <= rating.high for rating in ratings]


@pytest.mark.parametrize(("strengths", "pairs"), [(FIVE, 40), (FIVE, 200), (WIDE, 100)])
def test_strengths_are_recovered_in_95_of_100_seeded_runs(
    strengths: dict[str, float], pairs: int
) -> None:
    runs = [round_robin(strengths, pairs, seed) for seed in range(100)]
    together = sum(all(inside(strengths, rate(met, joint=True))) for met in runs)
    assert together >= 95
    single = [hit for met in runs for hit in inside(strengths, rate(met))]
    # Errors of one run's players go together, so the runs are counted as if they were fewer.
    assert likely(sum(single) // len(strengths), 100, 0.95)


def test_intervals_that_are_too_narrow_are_caught() -> None:
    """The same tests as above, failed by intervals half as wide."""
    runs = [round_robin(FIVE, 200, seed) for seed in range(100)]
    joint = [[*map(halved, rate(met, joint=True))] for met in runs]
    together = sum(all(inside(FIVE, ratings)) for ratings in joint)
    assert not (together >= 95)
    assert not (likely(together, 100, 0.95))
    single = [hit for met in runs for hit in inside(FIVE, [*map(halved, rate(met))])]
    assert not likely(sum(single) // len(FIVE), 100, 0.95)


def test_two_players_are_rated_by_their_score() -> None:
    met = {("a", "b"): Moments.of([1.0] * 750 + [0.0] * 250)}
    found = by_name(rate(met))
    assert found["a"].elo - found["b"].elo == pytest.approx(400 * 0.4771, abs=1)
    # The error of a log odds: 1 / sqrt(n p (1 - p)), half of it for each of the two.
    assert found["a"].error == pytest.approx(ELO * (1000 * 0.75 * 0.25) ** -0.5 / 2, rel=0.01)


def test_the_order_of_the_names_does_not_matter() -> None:
    scores = [1.0, 0.5, 0.25, 1.0, 0.75]
    one = rate({("a", "b"): Moments.of(scores), ("c", "b"): Moments.of([0.5, 0.25])})
    turned = Moments.of([1 - score for score in scores])
    two = rate({("b", "a"): turned, ("b", "c"): Moments.of([0.5, 0.75])})
    for left, right in zip(one, two, strict=True):
        assert left.player == right.player
        assert left.elo == pytest.approx(right.elo)
        assert left.low == pytest.approx(right.low)


def test_a_player_who_won_everything_has_no_upper_limit() -> None:
    met = {
        ("king", "a"): Moments.of([1.0] * 20), ("king", "b"): Moments.of([1.0] * 20),
        ("a", "b"): Moments.of([1.0, 0.0] * 10), ("a", "last"): Moments.of([1.0] * 20),
        ("b", "last"): Moments.of([1.0] * 20),
    }  # fmt: skip
    found = by_name(rate(met))
    assert found["king"].high == inf
    assert found["king"].low > found["a"].elo
    assert found["last"].low == -inf
    assert found["last"].high < found["b"].elo
    for name in ("a", "b"):
        assert -inf < found[name].low < found[name].high < inf


def test_two_players_that_lose_points_only_to_each_other_have_no_upper_limit() -> None:
    met = {
        ("a", "b"): Moments.of([1.0, 0.0] * 10), ("a", "c"): Moments.of([1.0] * 20),
        ("b", "c"): Moments.of([1.0] * 20),
    }  # fmt: skip
    found = by_name(rate(met))
    assert found["a"].high == found["b"].high == inf
    assert found["c"].low == -inf
    assert found["c"].high < inf


def test_players_without_a_chain_of_games_are_in_groups_of_their_own() -> None:
    met = {("a", "b"): Moments.of([1.0, 0.5]), ("c", "d"): Moments.of([0.0, 0.5])}
    found = by_name(rate(met))
    assert found["a"].group == found["b"].group != found["c"].group == found["d"].group
    assert found["a"].elo + found["b"].elo == pytest.approx(0)


@pytest.mark.slow
@given(st.data())
def test_every_player_has_the_expected_score_that_it_achieved(data: st.DataObject) -> None:
    """The equation that ratings solve, on any tournament, with the pseudo pairs counted."""
    names, kinds = "abcdef", (0.0, 0.25, 0.5, 0.75, 1.0)
    met = {}
    for pair in combinations(names, 2):
        scores = data.draw(st.lists(st.sampled_from(kinds), max_size=4)) * data.draw(
            st.sampled_from((1, 100))
        )
        if scores:
            met[pair] = Moments.of(scores)
    elo = {rating.player: rating.elo for rating in rate(met)}
    for name in elo:
        actual = wanted = 0.0
        for (one, two), moments in met.items():
            if name in (one, two):
                side = moments if name == one else moments.for_opponent()
                other = two if name == one else one
                actual += side.total + 0.5
                wanted += (side.size + 1) * expected(elo[name] - elo[other])
        assert wanted == pytest.approx(actual, abs=1e-6)


def test_no_player_played() -> None:
    assert rate({}) == []
    assert rate({("a", "b"): Moments()}) == []


def test_scores_without_luck_may_lie_outside() -> None:
    (one, two) = rate({("a", "b"): Moments.of([1.01] * 50)})
    assert one.player == "a"
    assert one.high == inf
    assert two.low == -inf


def test_an_open_end_is_decided_by_what_was_won_and_lost() -> None:
    """Not by adjusted means: those of scores near 1 are above it as often as below."""
    above = {("a", "b"): Moments.from_mean(50, 1.01, 0.02)}
    one, two = rate(above, {("a", "b"): (True, True)})  # b won something
    assert one.player == "a"
    assert one.high < inf
    assert two.low > -inf
    below = {("a", "b"): Moments.from_mean(50, 0.98, 0.02)}
    one, two = rate(below, {("a", "b"): (True, False)})  # b won nothing
    assert one.high == inf
    assert two.low == -inf


def test_pairs_that_are_added_do_not_outweigh_adjusted_scores() -> None:
    """An error a tenth of that of raw scores gives an interval a tenth as wide."""
    known = {("a", "b"): (True, True)}
    for mean in (0.5, 0.9):
        error = (mean * (1 - mean) / 50) ** 0.5
        wide = rate({("a", "b"): Moments.from_mean(50, mean, error)}, known)[0]
        narrow = rate({("a", "b"): Moments.from_mean(50, mean, error / 10)}, known)[0]
        assert narrow.error < wide.error / 8
        truth = ELO / 2 * log(mean / (1 - mean))
        assert abs(narrow.elo - truth) < narrow.error


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_ratings_of_adjusted_scores_hold_the_truth(noise: float) -> None:
    """Also where scores are far from even and vary little, so that added pairs would shift them."""
    chance, hits, runs = Random(1), 0, 400
    truth = 400.0 / 2
    for _ in range(runs):
        found = Moments.of(expected(400) + chance.gauss(0, noise) for _ in range(50))
        hits += inside(
            {"a": truth, "b": -truth}, rate({("a", "b"): found}, {("a", "b"): (True, True)})
        )[0]
    assert likely(hits, runs, 0.95)
