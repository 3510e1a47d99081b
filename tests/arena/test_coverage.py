"""The intervals of scores hold the truth as often as they say: `tools/intervals.py`, smaller."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from duels.arena.summary import saved, scaled

ROOT = Path(__file__).parent.parent.parent
LEAST = 0.94  # of any coverage, as docs/explanation/statistics.md says
BAND = 0.94, 0.965  # of the coverage over several pools, luck known of 50 pairs or more
FAULTS = (0.85, 0.9, 1.1, 1.15)  # widths that are wrong


@cache
def tool() -> ModuleType:
    """`tools/intervals.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("intervals", ROOT / "tools" / "intervals.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["intervals"] = module
    spec.loader.exec_module(module)
    return module


def within(held: Sequence[Any], width: float = 1.0) -> bool:
    """Whether intervals, all together, hold the truth as often as they should."""
    parts = [some.coverage(width) for some in held]
    return bool(BAND[0] < sum(parts) / len(parts) < BAND[1])


@cache
def raw() -> list[Any]:
    names = {"five alike", "won or lost, 0.50", "won or lost, 0.80", "split or won, 0.75", "strong"}
    pools = [pool for pool in tool().synthetic() if pool.name in names]
    assert len(pools) == len(names)
    return [tool().tried(pool, n, 500)["raw"] for pool in pools for n in (50, 100, 400)]


@pytest.mark.slow
def test_raw_intervals_are_as_wide_as_they_have_to_be() -> None:
    assert within(raw())


@pytest.mark.slow
@pytest.mark.parametrize("width", FAULTS)
def test_raw_intervals_of_another_width_are_caught(width: float) -> None:
    """The test above, failed by intervals a tenth narrower or wider."""
    assert not within(raw(), width)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 2, 3, 5, 10, 20, 50, 200])
def test_raw_intervals_hold_at_every_score_and_of_few_pairs(pairs: int) -> None:
    runs = 1000
    for pool in tool().synthetic():
        found = tool().tried(pool, pairs, runs)["raw"].coverage()
        assert found > LEAST - 3 * (LEAST * (1 - LEAST) / runs) ** 0.5, pool.name


# Pairings in which many raw scores vary; where few do, intervals are wider on purpose.
GAMES = (("firewall-breach", "perfect", "random"), ("firewall-breach", "medium", "random"),
         ("firewall-breach", "greedy", "random"))  # fmt: skip


@cache
def pools() -> list[Any]:
    return [tool().played(slug, (one, two), 2000) for slug, one, two in GAMES]


@cache
def games() -> list[tuple[Any, int, dict[str, Any]]]:
    """Pairs of real games, whose luck the arena has taken out: what was drawn from, and what came.

    Each with a number of pairs.
    """
    return [(pool, n, tool().tried(pool, n, 400)) for pool in pools() for n in (100, 200, 300)]


@pytest.mark.extra("solve")
@pytest.mark.long
@pytest.mark.parametrize("kind", ["adjusted", "half"])
def test_adjusted_intervals_are_as_wide_as_they_have_to_be(kind: str) -> None:
    """Luck known of all pairs, and of half of them."""
    assert within([found[kind] for _, _, found in games()])


@pytest.mark.extra("solve")
@pytest.mark.long
@pytest.mark.parametrize("kind", ["adjusted", "half"])
@pytest.mark.parametrize("width", FAULTS)
def test_adjusted_intervals_of_another_width_are_caught(kind: str, width: float) -> None:
    assert not within([found[kind] for _, _, found in games()], width)


@pytest.mark.extra("solve")
@pytest.mark.slow
def test_adjusted_intervals_are_narrower_by_what_luck_was() -> None:
    """As many times as the standard deviations differ, and not held up by pseudo-pairs."""
    for pool in pools():
        found = tool().tried(pool, 100, 200)
        widths = {kind: sum(held.widths) for kind, held in found.items()}
        saving = saved(pool.raw, scaled([*zip(pool.raw, pool.adjusted, strict=True)]))
        assert saving is not None
        assert widths["raw"] / widths["adjusted"] == pytest.approx(saving.times**0.5, rel=0.1)
        # Half of the pairs say at least what they say alone.
        assert widths["half"] < 1.1 * 2**0.5 * widths["adjusted"]
        assert widths["half"] < widths["raw"]


# In these, adjusted scores are nearly alike but for rare ones; with a number of pairs in which a
# sample often has none of those, or only one, whose raw score luck explains.
RARE = (
    ("digit-duel", "hard", "greedy", 30),
    ("digit-duel", "hard", "greedy", 100),
    ("digit-duel", "medium", "greedy", 16),
    ("number-clash", "perfect", "greedy", 50),
)


@pytest.mark.extra("solve")
@pytest.mark.long
@pytest.mark.parametrize(("slug", "one", "two", "pairs"), RARE)
def test_adjusted_intervals_hold_where_a_sample_misses_rare_pairs(
    slug: str, one: str, two: str, pairs: int
) -> None:
    runs = 2000
    pool = tool().played(slug, (one, two), 10_000)
    found = tool().tried(pool, pairs, runs)["adjusted"].coverage()
    assert found > LEAST - 2 * (LEAST * (1 - LEAST) / runs) ** 0.5


@cache
def planted() -> list[tuple[str, Any]]:
    """Synthetic scores that are nearly alike, but for one of fifty: most samples have none."""
    pools = [pool for pool in tool().planted(10_000) if pool.name.startswith("one in 50 ")]
    assert len(pools) == 6
    return [(pool.name, tool().tried(pool, 30, 400)["adjusted"]) for pool in pools]


@pytest.mark.slow
def test_adjusted_intervals_hold_where_a_sample_misses_planted_pairs() -> None:
    least = LEAST - 2 * (LEAST * (1 - LEAST) / 400) ** 0.5
    for name, held in planted():
        assert held.coverage() > least, name
    assert min(held.coverage(0.85) for _, held in planted()) < least  # narrower ones are caught


@cache
def skewed(*sizes: int) -> list[tuple[str, Any]]:
    """Adjusted scores of synthetic distributions, of so many pairs."""
    return [
        (pool.name, tool().tried(pool, pairs, 400)["adjusted"])
        for pool in tool().skewed(10_000)
        for pairs in sizes
    ]


SIZES = pytest.mark.parametrize("sizes", [(50,), pytest.param((50, 100), marks=pytest.mark.long)])


@pytest.mark.slow
@SIZES
def test_adjusted_intervals_hold_for_skewed_scores(sizes: tuple[int, ...]) -> None:
    assert within([held for _, held in skewed(*sizes)])
    for name, held in skewed(*sizes):
        # A log-normal distribution has tails that no 50 pairs show.
        least = 0.9 if "log-normal" in name else LEAST - 3 * (LEAST * (1 - LEAST) / 400) ** 0.5
        assert held.coverage() > least, name


@pytest.mark.slow
@pytest.mark.parametrize("width", FAULTS)
@SIZES
def test_adjusted_intervals_of_skewed_scores_and_another_width_are_caught(
    sizes: tuple[int, ...], width: float
) -> None:
    assert not within([held for _, held in skewed(*sizes)], width)


@pytest.mark.extra("solve")
@pytest.mark.long
def test_a_biased_adjustment_is_caught() -> None:
    """Luck whose mean is not 0, by a hundredth of a pair: as wrong odds make it."""
    held = []
    for pool in pools():
        wrong = pool._replace(adjusted=[score + 0.01 for score in pool.adjusted])
        held.append(tool().tried(wrong, 300, 400)["adjusted"])
    assert not within(held)
