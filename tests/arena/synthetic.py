"""Synthetic pair scores of players with known strengths, without games."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb
from random import Random

from duels.arena.scores import Moments
from duels.arena.sprt import expected

SHARED = 0.5  # how often both games of a pair are decided by the same luck


def pair_score(chance: Random, mean: float) -> float:
    """A pair score whose two games are correlated, as shared chance makes them."""
    one = chance.random()
    two = one if chance.random() < SHARED else chance.random()
    return ((one < mean) + (two < mean)) / 2


def round_robin(
    strengths: Mapping[str, float], pairs: int, seed: int
) -> dict[tuple[str, str], Moments]:
    chance = Random(seed)
    return {
        (one, two): Moments.of(
            pair_score(chance, expected(strengths[one] - strengths[two])) for _ in range(pairs)
        )
        for one, two in combinations(strengths, 2)
    }


def likely(hits: int, tries: int, chance: float, doubt: float = 1e-4) -> bool:
    """Whether so many hits are what so many tries bring: neither tail below `doubt`."""
    parts = [comb(tries, k) * chance**k * (1 - chance) ** (tries - k) for k in range(tries + 1)]
    return sum(parts[: hits + 1]) > doubt and sum(parts[hits:]) > doubt
