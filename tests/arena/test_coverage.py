"""The intervals of scores hold the truth as often as they say: `tools/intervals.py`, smaller."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent
LEAST, MOST = 0.94, 0.97  # of a coverage, as docs/arena-numbers.md says


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


def held(kind: str, names: list[str], pairs: list[int], runs: int, width: float = 1.0) -> float:
    """How often intervals of synthetic pools hold the truth, over all of them."""
    pools = [pool for pool in tool().synthetic() if pool.name in names]
    assert len(pools) == len(names)
    parts = [tool().coverage(p, n, runs, width=width)[kind][0] for p in pools for n in pairs]
    return float(sum(parts) / len(parts))


VARIED = ["five alike", "won or lost, 0.50", "won or lost, 0.80", "split or won, 0.75", "strong"]


def test_raw_intervals_are_as_wide_as_they_have_to_be() -> None:
    assert LEAST < held("raw", VARIED, [50, 100, 400], 400) < MOST


@pytest.mark.parametrize("width", [0.85, 0.9, 1.1, 1.15])
def test_raw_intervals_of_another_width_are_caught(width: float) -> None:
    """The test above, failed by intervals a tenth narrower or wider."""
    assert not LEAST < held("raw", VARIED, [50, 100, 400], 400, width) < MOST


@pytest.mark.parametrize("pairs", [1, 2, 3, 5, 10, 20, 50, 200])
def test_raw_intervals_hold_at_every_score_and_of_few_pairs(pairs: int) -> None:
    for pool in tool().synthetic():
        runs = 1000
        part, _ = tool().coverage(pool, pairs, runs)["raw"]
        assert part > LEAST - 3 * (0.06 * 0.94 / runs) ** 0.5, pool.name


GAMES = (("firewall-breach", "hard", "easy"), ("firewall-breach", "perfect", "random"),
         ("firewall-breach", "medium", "greedy"))  # fmt: skip


@cache
def pools() -> list[object]:
    """Pairs of real games, whose luck the arena has taken out."""
    pytest.importorskip("numba", reason="batches need the extra rl")
    return [tool().played(slug, (one, two), 4000) for slug, one, two in GAMES]


def adjusted(kind: str, width: float = 1.0) -> float:
    parts = [
        tool().coverage(pool, pairs, 300, width=width)[kind][0]
        for pool in pools()
        for pairs in (50, 100, 300)
    ]
    return float(sum(parts) / len(parts))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["adjusted", "half"])
def test_adjusted_intervals_are_as_wide_as_they_have_to_be(kind: str) -> None:
    """Luck known of all pairs, and of half of them."""
    assert LEAST < adjusted(kind) < MOST


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.85, 0.9, 1.1, 1.15])
def test_adjusted_intervals_of_another_width_are_caught(width: float) -> None:
    assert not LEAST < adjusted("adjusted", width) < MOST


@pytest.mark.slow
def test_adjusted_intervals_are_narrower_by_what_luck_was() -> None:
    """As many times as the standard deviations differ, and not held up by pseudo-pairs."""
    for pool in pools():
        found = tool().coverage(pool, 100, 50)
        before, after = (tool().Sample.of(part).variance for part in (pool.raw, pool.adjusted))
        ratio = found["raw"][1] / found["adjusted"][1]
        assert ratio == pytest.approx((before / after) ** 0.5, rel=0.1)
        assert found["half"][1] < 0.9 * found["raw"][1], "half of the luck is better than none"
        assert found["half"][1] < 2 * found["adjusted"][1]
