"""The sequential test errs as often as it says, and is sure to end."""

from __future__ import annotations

from math import log
from random import Random

import pytest

from duels.arena.sprt import CONTINUE, H0, H1, KINDS, Sprt, bounds, decide, expected, ratio, sprt
from duels.core.errors import DuelsError
from tests.arena.synthetic import likely, pair_score

RUNS = 150


def wrong_verdicts(elo0: float, elo1: float, true: float, scale: float = 1.0) -> int:
    """How often the test says the other thing; `scale` below 1 is a planted fault of its bounds."""
    count = 0
    for seed in range(RUNS):
        chance, test = Random(f"{elo0} {true} {seed}"), Sprt(elo0, elo1)
        test.low, test.high = scale * test.low, scale * test.high
        while test.state == CONTINUE:
            test.add(pair_score(chance, expected(true)))
        count += test.state != (H0 if true == elo0 else H1)
    return count


@pytest.mark.slow
@pytest.mark.parametrize(("elo0", "elo1"), [(0.0, 60.0), (-40.0, 40.0)])
def test_verdicts_are_wrong_as_seldom_as_promised(elo0: float, elo1: float) -> None:
    for true in (elo0, elo1):
        wrong = wrong_verdicts(elo0, elo1, true)
        assert wrong <= 0.05 * RUNS or likely(wrong, RUNS, 0.05)


def test_bounds_that_are_too_close_are_caught() -> None:
    wrong = wrong_verdicts(-40, 40, -40, scale=0.3)
    assert not (wrong <= 0.05 * RUNS)
    assert not (likely(wrong, RUNS, 0.05))


def test_the_ratio_is_the_largest_likelihoods() -> None:
    """Against a search over all chances with the wanted mean, on a grid, for three kinds."""

    def best(counts: list[int], mean: float) -> float:
        found = -1e9
        for k in range(1, 2000):
            draw = k / 2000
            win = mean - draw / 2
            if win > 0 and draw + win < 1:
                chances = (1 - draw - win, draw, win)
                found = max(found, sum(n * log(p) for n, p in zip(counts, chances, strict=True)))
        return found

    counts = [20, 50, 35]
    wanted = best(counts, 0.6) - best(counts, 0.5)
    assert ratio([20, 0, 50, 0, 35], 0.5, 0.6) == pytest.approx(wanted, abs=0.01)


def test_a_decision_is_a_function_of_the_scores_up_to_it() -> None:
    chance = Random(5)
    scores = [pair_score(chance, expected(40)) for _ in range(2000)]
    decided = decide(scores, 0, 40)
    assert decided is not None
    assert decide(scores[:decided], 0, 40) == decided
    assert decide(scores[: decided - 1], 0, 40) is None
    test = Sprt(0, 40)
    states = [test.add(score) for score in scores]
    assert states.index(test.state) == decided - 1
    assert set(states[: decided - 1]) == {CONTINUE}
    assert len(set(states[decided - 1 :])) == 1


def test_pairs_that_all_end_alike_decide_it_too() -> None:
    assert sprt([0.5] * 5000, 0, 20).state == H0
    assert sprt([1.0] * 53, 0, 20).state == H1  # 53 times the log of 0.5288 / 0.5
    assert sprt([1.0] * 52, 0, 20).state == CONTINUE
    assert sprt([0.0] * 50, 0, 20).state == H0
    assert sprt([], 0, 20) == (CONTINUE, 0.0, -log(19), log(19), 0)


@pytest.mark.parametrize("text", ["", "5", "5,1", "a,b", "1,2,3", "nan,1", "0,inf", "0,0"])
def test_bounds_that_make_no_sense_are_refused_in_a_line(text: str) -> None:
    with pytest.raises(DuelsError, match="--sprt takes two Elo bounds"):
        bounds(text)


def test_a_score_that_is_none_is_refused() -> None:
    with pytest.raises(DuelsError, match="a pair score is"):
        Sprt(0, 1).add(0.3)
    assert all(Sprt(0, 1).add(kind) == CONTINUE for kind in KINDS)
