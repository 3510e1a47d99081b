"""Measures by simulation how often the arena's 95 % intervals contain the true score.

    python3 tools/intervals.py [--runs RUNS] [--pool PAIRS] [--pairs N,N,...] [--only TEXT]
                               [--others | --skewed | --planted]

A pool is many pairs between two built-in players, played and adjusted by the arena's own code, or a
synthetic distribution of pair scores. Its mean is the truth. Each run draws pairs from it, with
replacement, and computes the raw interval, the luck-adjusted one (`adjusted`), and the one in which
luck is known of half of the pairs only (`half`). The luck of a pool is shifted to have mean 0, as
it has in the long run.

A line gives the median over pools, and those with the lowest and the highest coverage. Pools in
which all pairs are equal are left out: every interval contains it. No interval that holds in 95 %
of cases elsewhere can be near that in samples that are nearly all alike. `varied` are the pools in
which 10 raw scores or more are expected to differ from the most common one and, of adjusted scores,
1.96 standard errors are more than the width that is left if all of them are alike.

The table at the end is that of docs/explanation/statistics.md.

`--others` draws from pools of the other pairings of built-in players, on which no constant of the
intervals was chosen. `--skewed` draws from synthetic pools whose adjusted scores have a skewed or a
heavy-tailed distribution, `--planted` from those whose adjusted scores are nearly alike, but for
rare ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import inf, sqrt
from pathlib import Path
from random import Random
from statistics import median, pstdev
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.arena.scores import CONFIDENCE, FEW, Sample, Score, combined
from duels.arena.summary import scaled

SLUGS = ("firewall-breach", "cipher-siege", "number-clash", "digit-duel", "number-wars")
NAMES = (
    ("perfect", "hard"), ("perfect", "greedy"), ("perfect", "random"), ("hard", "easy"),
    ("hard", "greedy"), ("medium", "greedy"), ("easy", "random"), ("greedy", "random"),
)  # fmt: skip
OTHERS = [
    names
    for names in combinations(("perfect", "hard", "medium", "easy", "greedy", "random"), 2)
    if names not in NAMES
]
KINDS = (0.0, 0.25, 0.5, 0.75, 1.0)
SYNTHETIC = {
    "won or lost, 0.50": (50, 0, 0, 0, 50),
    "won or lost, 0.80": (20, 0, 0, 0, 80),
    "won or lost, 0.95": (5, 0, 0, 0, 95),
    "won or lost, 0.99": (1, 0, 0, 0, 99),
    "split or won, 0.75": (0, 0, 50, 0, 50),
    "split or won, 0.98": (0, 0, 4, 0, 96),
    "split, rarely lost": (1, 0, 99, 0, 0),
    "draws": (1, 2, 94, 2, 1),
    "five alike": (20, 20, 20, 20, 20),
    "strong": (1, 0, 9, 10, 80),
}
RATES, SIZES = (10, 20, 50), (0.02, 0.06, 0.2)  # of planted blunders: one pair in so many
ALIKE = 0.004  # how much other pairs vary
SKEWED: dict[str, Callable[[Random], float]] = {  # with a standard deviation of about 1
    "normal": lambda chance: chance.gauss(0, 1),
    "uniform": lambda chance: chance.uniform(-1.7, 1.7),
    "exponential, skewness 2": lambda chance: chance.expovariate(1),
    "gamma, skewness 2.8": lambda chance: chance.gammavariate(0.5, 1.4),
    "log-normal, skewness 6": lambda chance: chance.lognormvariate(0, 1) / 2,
    "Student, 4 degrees of freedom": lambda chance: (
        chance.gauss(0, 1) / sqrt(chance.gammavariate(2, 1))
    ),
    "one of two values, 0.9": lambda chance: 3.0 * (chance.random() < 0.1),
}
PAIRS = (1, 2, 5, 10, 16, 20, 30, 50, 70, 100, 200, 500)
ROUNDING = 1e-9
HIGHEST = 0.97  # coverage that intervals from 50 pairs on should not exceed
VARIED = 10  # pairs that differ from the most common score


class Pool(NamedTuple):
    """Pairs to draw from: raw scores and, where luck is known, adjusted ones."""

    name: str
    raw: Sequence[float]
    adjusted: Sequence[float] | None = None

    @property
    def truth(self) -> float:
        return sum(self.raw) / len(self.raw)

    @property
    def varied(self) -> float:
        """The part of pairs that differ from the most common score."""
        return 1 - max(map([*self.raw].count, KINDS)) / len(self.raw)

    def varies(self, pairs: int, adjusted: bool) -> bool:
        """Whether few samples of so many pairs are nearly all alike."""
        if pairs * self.varied < VARIED or not adjusted or self.adjusted is None:
            return pairs * self.varied >= VARIED
        alike = Sample.adjusted([0.5] * pairs, [float(n % 2) for n in range(pairs)]).score()
        spread = pstdev(scaled([*zip(self.raw, self.adjusted, strict=True)]))
        return CONFIDENCE * spread / sqrt(pairs) > alike.high - alike.low


def played(slug: str, names: tuple[str, str], pairs: int) -> Pool:
    """A pool of games; needs the extra `rl`."""
    from duels.arena.compiled_aivat import adjusted
    from duels.core.match import TURN_LIMIT
    from duels.envs.opponents import chooser
    from duels.games import load
    from duels.kernels import NO_WINNER, np
    from duels.kernels.pairs import play_pairs

    game = load(slug)
    one, two = (chooser(game, name) for name in names)
    assert one is not None
    assert two is not None
    met = play_pairs(game, one, two, 1, range(pairs), TURN_LIMIT, watch=True)
    found = adjusted(game, names, met, TURN_LIMIT)
    assert found is not None
    raw = by_pair(np.where(met.winner == NO_WINNER, 0.5, 1.0 - met.winner).tolist())
    without = by_pair(found.score.tolist())
    off = (sum(without) - sum(raw)) / pairs
    return Pool(pool_name(slug, names), raw, [score - off for score in without])


def pool_name(slug: str, names: tuple[str, str]) -> str:
    return f"{slug} {' - '.join(names)}"


def by_pair(scores: Sequence[float]) -> list[float]:
    """The first player's score of each pair, from those of Player 1 in each game."""
    return [(one + 1 - two) / 2 for one, two in zip(scores[::2], scores[1::2], strict=True)]


def synthetic() -> Iterator[Pool]:
    for name, weights in SYNTHETIC.items():
        yield Pool(name, [k for k, count in zip(KINDS, weights, strict=True) for _ in range(count)])


def skewed(pairs: int) -> Iterator[Pool]:
    """Pools with a tenth of the raw standard deviation, which luck does not explain."""
    for name, of in SKEWED.items():
        chance = Random(name)
        raw = chance.choices(KINDS, (1, 0, 2, 0, 1), k=pairs)
        found = [0.035 * of(chance) for _ in raw]
        off = (sum(raw) - sum(found)) / pairs
        yield Pool(name, raw, [score + off for score in found])


def planted(pairs: int) -> Iterator[Pool]:
    """Pools in which one of two players blunders now and then, and either may.

    A blunder costs from half to one and a half of its size.
    """
    for sides in (1, 2):
        for rate in RATES:
            for size in SIZES:
                chance = Random(f"{sides} {rate} {size}")
                raw = chance.choices(KINDS, (1, 0, 2, 0, 1), k=pairs)
                found = [chance.gauss(0, ALIKE) for _ in raw]
                for place in range(0, pairs, rate):
                    side = chance.choice((-1, 1)) if sides == 2 else 1
                    found[place] += side * size * chance.uniform(0.5, 1.5)
                off = (sum(raw) - sum(found)) / pairs
                name = f"one in {rate} is {size} off, {('one side', 'both sides')[sides - 1]}"
                yield Pool(name, raw, [score + off for score in found])


_scored = lru_cache(maxsize=100_000)(Sample.score)  # few raw samples differ


def draw(pool: Pool, pairs: int, chance: Random) -> dict[str, Score]:
    """The intervals of one simulated tournament, by kind."""
    places = chance.choices(range(len(pool.raw)), k=pairs)
    scores = [pool.raw[place] for place in places]
    raw = Sample.of(sorted(scores))
    found = {"raw": _scored(raw)}
    if pool.adjusted is not None:
        known = [(pool.raw[place], pool.adjusted[place]) for place in places]
        for kind, count in (("adjusted", pairs), ("half", pairs // 2)):
            if count >= 2 * FEW:
                best = Sample.adjusted(scaled(known[:count]), scores[:count])
                if count < pairs:
                    best = combined(best, Sample.of(scores[count:]), raw)
                found[kind] = best.score()
    return found


class Held(NamedTuple):
    """Intervals of one kind: the factors by which they must grow to hold the truth; widths."""

    needed: list[float]
    widths: list[float]

    def coverage(self, width: float = 1.0) -> float:
        """The fraction of intervals that contain the truth when widened by a factor."""
        return sum(needed <= width for needed in self.needed) / len(self.needed)


def tried(pool: Pool, pairs: int, runs: int, seed: int = 1) -> dict[str, Held]:
    """The intervals of `runs` simulated tournaments, by kind."""
    chance, truth = Random(f"{seed} {pool.name} {pairs}"), pool.truth
    found: dict[str, Held] = {}
    for _ in range(runs):
        for kind, (mean, low, high, *_) in draw(pool, pairs, chance).items():
            off, side = abs(truth - mean), high - mean if truth > mean else mean - low
            held = found.setdefault(kind, Held([], []))
            held.needed.append(0.0 if off < ROUNDING else off / side if side else inf)
            held.widths.append(high - low)
    return found


Coverage = list[tuple[float, float, str]]  # of each pool, with the mean width and its name


def line(pairs: int, kind: str, found: Coverage) -> str:
    """The coverage of one kind of interval: the median, and the lowest and highest pools."""
    found = sorted(found)
    middle, wide = median(part for part, _, _ in found), sum(width for _, width, _ in found)
    low = ", ".join(f"{part:.3f} {name}" for part, _, name in found[:3])
    high = ", ".join(f"{part:.3f} {name}" for part, _, name in found[:-4:-1])
    about = f"{pairs:>5} {kind:<17} median {middle:.3f}  width {wide / len(found):.4f}"
    return f"{about}  low {low}; high {high}"


def table(found: dict[int, dict[str, Coverage]]) -> list[str]:
    """The coverage of all kinds of intervals by pairs, for docs/explanation/statistics.md."""
    heads = ["pairs", "raw: lowest", "raw: median"]
    for kind in ("adjusted", "`half`"):
        heads += [f"{kind}: lowest", f"{kind}: median"]
        heads += [f"{kind}, `varied`: {what}" for what in ("highest", f"above {HIGHEST}")]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for pairs, kinds in found.items():
        cells = []
        for kind in ("raw", "adjusted", "half"):
            parts = [part for part, _, _ in kinds.get(kind, [])]
            cells += [f"{of(parts):.3f}" if parts else "" for of in (min, median)]
            if kind != "raw":
                some_vary = [part for part, _, _ in kinds.get(f"{kind}, varied", [])]
                above = sum(part > HIGHEST for part in some_vary)
                cells.append(f"{max(some_vary):.3f}" if some_vary else "")
                cells.append(f"{above} of {len(some_vary)}" if some_vary else "")
        lines.append(f"| {pairs} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="coverage of the arena's intervals")
    parser.add_argument("--runs", type=int, default=1000, help="draws from each pool")
    parser.add_argument("--pool", type=int, default=20_000, help="pairs in a pool")
    parser.add_argument("--pairs", default=",".join(map(str, PAIRS)), help="pairs in a draw")
    parser.add_argument("--only", default="", help="pools whose name has this text")
    parser.add_argument("--others", action="store_true", help="other pairings of built-in players")
    parser.add_argument("--skewed", action="store_true", help="draw from skewed scores only")
    parser.add_argument("--planted", action="store_true", help="draw from planted blunders only")
    given = parser.parse_args()
    if given.planted or given.skewed:
        made = planted(given.pool) if given.planted else skewed(given.pool)
        pools = [pool for pool in made if given.only in pool.name]
    else:
        pools = [] if given.others else [pool for pool in synthetic() if given.only in pool.name]
        for slug in SLUGS:
            for names in OTHERS if given.others else NAMES:
                if given.only in pool_name(slug, names):
                    pools.append(played(slug, names, given.pool))
        pools = [pool for pool in pools if pool.varied]
    print(f"{len(pools)} pools, {given.runs:,} runs each")
    found: dict[int, dict[str, Coverage]] = {}
    for pairs in map(int, given.pairs.split(",")):
        kinds = found.setdefault(pairs, {})
        for pool in pools:
            for kind, held in tried(pool, pairs, given.runs).items():
                row = held.coverage(), sum(held.widths) / given.runs, pool.name
                kinds.setdefault(kind, []).append(row)
                known = pairs // 2 if kind == "half" else pairs
                if pool.varies(known, kind != "raw"):
                    kinds.setdefault(f"{kind}, varied", []).append(row)
        for kind, some in sorted(kinds.items()):
            print(line(pairs, kind, some), flush=True)
    print("", *table(found), sep="\n")


if __name__ == "__main__":
    main()
