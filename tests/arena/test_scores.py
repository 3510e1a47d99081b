"""Scores from pairs: the interval holds the truth as often as it says."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.arena.scores import UNSEEN, Moments, Sample, estimate, joined
from tests.arena.synthetic import likely, pair_score

KINDS = (0.0, 0.25, 0.5, 0.75, 1.0)
# How often each of the five pair scores comes.
EVEN = (1, 0, 2, 0, 1)
DRAWS = (1, 2, 94, 2, 1)
STRONG = (1, 0, 9, 10, 80)
UNBEATEN = (0, 0, 1, 0, 99)
SELDOM = (1, 0, 999, 0, 0)


def coverage(weights: tuple[int, ...], pairs: int, runs: int = 1000) -> float:
    chance, hits = Random(f"{weights} {pairs}"), 0
    truth = sum(k * w for k, w in zip(KINDS, weights, strict=True)) / sum(weights)
    for _ in range(runs):
        found = estimate(chance.choices(KINDS, weights, k=pairs))
        assert found is not None
        hits += found.low <= truth <= found.high
    return hits / runs


@pytest.mark.slow
@pytest.mark.parametrize("weights", [EVEN, DRAWS, STRONG, UNBEATEN, SELDOM])
@pytest.mark.parametrize("pairs", [1, 2, 5, 20, 100])
def test_an_interval_holds_the_truth_at_least_as_often_as_it_says(
    weights: tuple[int, ...], pairs: int
) -> None:
    assert coverage(weights, pairs) >= 0.93  # 0.95 less what 1000 runs leave open


def test_an_interval_of_many_pairs_is_no_wider_than_needed() -> None:
    assert coverage(EVEN, 400) <= 0.97


def test_pairs_that_all_end_alike_leave_some_doubt() -> None:
    found = estimate([0.5] * 100)
    assert found is not None
    # As much as the rule of three: one more kind of pair may come in 3 of 100.
    assert 0.01 < found.high - 0.5 < 0.025
    assert found.superior == 0.5
    won = estimate([1.0] * 100)
    assert won is not None
    assert won.mean == won.high == 1.0
    assert 0.9 < won.low < 0.97


def test_games_of_a_pair_are_not_counted_as_two() -> None:
    """Taking the games for independent would make intervals too narrow; it is seen here."""
    chance, hits, wrong = Random(1), 0, 0
    for _ in range(1000):
        scores = [pair_score(chance, 0.5) for _ in range(100)]
        found, moments = estimate(scores), Moments.of(scores)
        assert found is not None
        hits += found.low <= 0.5 <= found.high
        half = 1.96 * (moments.mean * (1 - moments.mean) / (2 * moments.size)) ** 0.5
        wrong += abs(moments.mean - 0.5) <= half
    assert likely(hits, 1000, 0.95)
    assert not likely(wrong, 1000, 0.95)


@pytest.mark.slow
def test_superiority_is_right_as_often_as_it_says() -> None:
    """Of those said to be superior with about 90 %, about 90 % are, when all skills are likely."""
    chance, said, right = Random(2), 0.0, 0
    tries = 0
    for _ in range(4000):
        mean = chance.uniform(0.3, 0.7)
        found = estimate([pair_score(chance, mean) for _ in range(30)])
        assert found is not None
        if 0.85 < found.superior < 0.95:
            tries += 1
            said += found.superior
            right += mean > 0.5
    assert tries > 200
    assert abs(right / tries - said / tries) < 0.06


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=50))
def test_an_interval_contains_its_mean_and_turns_with_the_players(scores: list[float]) -> None:
    found, turned = estimate(scores), estimate([1 - score for score in scores])
    assert found is not None
    assert turned is not None
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert turned.low == pytest.approx(1 - found.high)
    assert turned.superior == pytest.approx(1 - found.superior)


def test_no_pairs_no_score() -> None:
    assert estimate([]) is None


def adjusted(scores: list[float]) -> Sample:
    """Adjusted scores of pairs that were won and lost in turn."""
    return Sample.adjusted(scores, [float(n % 2) for n in range(len(scores))])


def test_adjusted_scores_that_are_alike_leave_what_the_rule_of_three_leaves() -> None:
    """A kind of pair that did not come in n may come in 3.7 of n, a tenth as far off as if raw."""
    for pairs in (50, 400):
        found = adjusted([0.6] * pairs).score()
        assert found.high - 0.6 == pytest.approx(3.7 * 0.5 * UNSEEN / pairs, rel=0.05)
        assert found.high - 0.6 == pytest.approx(0.6 - found.low)
    # Over several meetings it is that of all their pairs.
    part, whole = adjusted([0.6] * 50), adjusted([0.6] * 100).score()
    assert joined([(1, part), (1, part)]).score() == pytest.approx(whole)


def test_adjusted_scores_say_more_the_more_raw_scores_vary() -> None:
    """Without any, the interval is that of raw scores; luck that was seen makes it narrower."""
    pairs = 50
    plain = estimate([0.5] * pairs)
    assert plain is not None
    widths = []
    for varied in range(25):
        raw = [float(n % 2) if n < varied else 0.5 for n in range(pairs)]
        found = Sample.adjusted([0.5] * pairs, raw).score()
        widths.append(found.high - found.low)
    # Student's distribution is wider than the normal one.
    assert widths[0] == pytest.approx(plain.high - plain.low, rel=0.04)
    assert widths[0] > plain.high - plain.low
    shares = [max(UNSEEN, 2 / (2 + varied)) for varied in range(25)]
    assert widths == pytest.approx([share * widths[0] for share in shares], rel=0.02)


def test_adjusted_scores_far_off_on_one_side_widen_that_side() -> None:
    """As they do among won and lost pairs."""
    found = adjusted([0.6 + 0.1 * (n % 20 == 0) for n in range(100)])
    assert found.ends == pytest.approx((-0.05, 0.1 * 0.95))  # the higher one is where those few are
    score = found.score()
    assert score.high - score.mean > 1.2 * (score.mean - score.low)
    turned = found.for_opponent().score()
    assert (turned.low, turned.high) == pytest.approx((1 - score.high, 1 - score.low))
