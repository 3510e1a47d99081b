"""How often the arena's 95 % intervals hold the true score, by simulation.

    python3 tools/intervals.py [--runs RUNS] [--pool PAIRS] [--pairs N,N,...] [--planted]

A pool is many pairs between two built-in players, played and adjusted by the arena's own code, or a
synthetic distribution of pair scores. Its mean is the truth. Each run draws pairs from it, with
replacement, and asks for the raw interval, the luck-adjusted one (`adjusted`), and the one in which
luck is known of half of the pairs only (`half`). The luck of a pool is shifted to have mean 0, as
it has in the long run.

A line gives the median over pools, and those with the lowest and the highest coverage. Pools in
which all pairs are alike are left out: every interval holds their mean. Raw scores have five
values, so where few pairs differ from the most common score no coverage can be near 95 %: `varied`
are the pools in which 10 pairs or more are expected to.

`--planted` draws from other pools: adjusted scores are nearly alike there, but for rare ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import inf
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.arena.scores import FEW, Sample, Score, combined
from duels.arena.summary import scaled

SLUGS = ("firewall-breach", "cipher-siege", "number-clash", "digit-duel", "number-wars")
NAMES = (
    ("perfect", "hard"), ("perfect", "greedy"), ("perfect", "random"), ("hard", "easy"),
    ("hard", "greedy"), ("medium", "greedy"), ("easy", "random"), ("greedy", "random"),
)  # fmt: skip
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
PAIRS = (1, 2, 5, 10, 16, 20, 30, 50, 70, 100, 200, 500)
ROUNDING = 1e-9
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


def played(slug: str, names: tuple[str, str], pairs: int) -> Pool:
    """A pool of games; needs the extra `rl`."""
    from duels.arena.compiled_aivat import adjusted
    from duels.core.match import TURN_LIMIT
    from duels.envs.opponents import chooser
    from duels.games import load
    from duels.kernels import NO_WINNER, np
    from duels.kernels.pairs import meet

    game = load(slug)
    one, two = (chooser(game, name) for name in names)
    assert one is not None
    assert two is not None
    met = meet(game, one, two, 1, range(pairs), TURN_LIMIT, watch=True)
    found = adjusted(game, names, met, TURN_LIMIT)
    assert found is not None
    raw = by_pair(np.where(met.winner == NO_WINNER, 0.5, 1.0 - met.winner).tolist())
    without = by_pair(found.score.tolist())
    off = (sum(without) - sum(raw)) / pairs
    return Pool(f"{slug} {' - '.join(names)}", raw, [score - off for score in without])


def by_pair(scores: Sequence[float]) -> list[float]:
    """The first player's score of each pair, from those of Player 1 in each game."""
    return [(one + 1 - two) / 2 for one, two in zip(scores[::2], scores[1::2], strict=True)]


def synthetic() -> Iterator[Pool]:
    for name, weights in SYNTHETIC.items():
        yield Pool(name, [k for k, count in zip(KINDS, weights, strict=True) for _ in range(count)])


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
    """Every interval of one tournament of so many pairs."""
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
    """Intervals of one kind: how many times as wide each must be to hold the truth, and widths."""

    needed: list[float]
    widths: list[float]

    def coverage(self, width: float = 1.0) -> float:
        """How often intervals hold the truth, were they so many times as wide."""
        return sum(needed <= width for needed in self.needed) / len(self.needed)


def tried(pool: Pool, pairs: int, runs: int, seed: int = 1) -> dict[str, Held]:
    """Many draws of so many pairs, by kind of interval."""
    chance, truth = Random(f"{seed} {pool.name} {pairs}"), pool.truth
    found: dict[str, Held] = {}
    for _ in range(runs):
        for kind, (mean, low, high, *_) in draw(pool, pairs, chance).items():
            off, side = abs(truth - mean), high - mean if truth > mean else mean - low
            held = found.setdefault(kind, Held([], []))
            held.needed.append(0.0 if off < ROUNDING else off / side if side else inf)
            held.widths.append(high - low)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="coverage of the arena's intervals")
    parser.add_argument("--runs", type=int, default=1000, help="draws from each pool")
    parser.add_argument("--pool", type=int, default=20_000, help="pairs in a pool")
    parser.add_argument("--pairs", default=",".join(map(str, PAIRS)), help="pairs in a draw")
    parser.add_argument("--planted", action="store_true", help="draw from planted blunders only")
    given = parser.parse_args()
    if given.planted:
        pools = [*planted(given.pool)]
    else:
        games = [played(slug, names, given.pool) for slug in SLUGS for names in NAMES]
        pools = [pool for pool in (*synthetic(), *games) if pool.varied]
    print(f"{len(pools)} pools, {given.runs:,} runs each")
    for pairs in map(int, given.pairs.split(",")):
        found: dict[str, list[tuple[float, float, str]]] = {}
        for pool in pools:
            for kind, held in tried(pool, pairs, given.runs).items():
                row = held.coverage(), sum(held.widths) / given.runs, pool.name
                found.setdefault(kind, []).append(row)
                if pairs * pool.varied >= VARIED:
                    found.setdefault(f"{kind}, varied", []).append(row)
        for kind, some in sorted(found.items()):
            some.sort()
            middle, wide = median(part for part, _, _ in some), sum(w for _, w, _ in some)
            low = ", ".join(f"{part:.3f} {name}" for part, _, name in some[:3])
            high = ", ".join(f"{part:.3f} {name}" for part, _, name in some[:-4:-1])
            print(
                f"{pairs:>5} {kind:<17} median {middle:.3f}  width {wide / len(some):.4f}", end=""
            )
            print(f"  low {low}; high {high}", flush=True)


if __name__ == "__main__":
    main()
