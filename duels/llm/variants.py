"""Variants of a game with random options, solved on the spot, which no model has seen.

>>> from duels.games import load
>>> [game.differing() for game in variants(load("firewall-breach"), 2, seed=1)] != [{}, {}]
True
"""

from __future__ import annotations

from random import Random

from duels.algorithms.solutions import ready
from duels.core.errors import DuelsError, OptionError
from duels.core.game import AnyGame
from duels.core.options import Choice, Flag, Number, Option, Pair
from duels.core.spec import spec_of
from duels.llm.items import exact
from duels.llm.policy import Task

TRIES = 400  # draws for each variant
UNCHANGED = 0.3  # the probability that an option keeps its value
HANDICAP = 0.25  # the probability that an option with a value for each player has two
LEAST, MOST = 20, 300  # positions of a variant whose whole policy is asked for


def variants(game: AnyGame, n: int, seed: int) -> list[AnyGame]:
    """`n` different variants with exact values that need no long computation."""
    return _drawn(game, n, seed, lambda found: exact(found) and ready(found))


def small_variants(game: AnyGame, n: int, seed: int) -> list[Task]:
    """`n` different variants whose whole policy can be asked for."""
    limit, found = spec_of(game).small_turns, dict[AnyGame, Task]()

    def fits(variant: AnyGame) -> bool:
        if not variant.private and not ready(variant):
            return False
        try:
            task = Task(variant, limit, largest=MOST)
        except OptionError:
            return False
        found[variant] = task
        return len(task.views) >= LEAST

    return [found[variant] for variant in _drawn(_small(game), n, seed, fits)]


def _small(game: AnyGame) -> AnyGame:
    return type(game)(**spec_of(game).small)


def _drawn(game: AnyGame, n: int, seed: int, fits: object) -> list[AnyGame]:
    assert callable(fits)
    randomness = Random(f"bench variants {game.slug} {seed}")
    found: list[AnyGame] = []
    for _ in range(TRIES * n):
        if len(found) == n:
            return found
        options = {
            name: _value(option, getattr(game, name), randomness)
            for name, option in game.options().items()
            if name != "first"
        }
        try:
            variant = type(game)(**options)
            if variant not in found and variant != game and variant.differing() and fits(variant):
                found.append(variant)
        except DuelsError:
            continue
    raise OptionError(
        f"{game.slug} has no {n} variants that can be solved on the spot; use fewer --variants or "
        "other --games"
    )


def _value(option: Option[object], value: object, randomness: Random) -> object:
    """A random value of an option: numbers from half of `value` to half more."""
    if randomness.random() < UNCHANGED:
        return value
    match option:
        case Number():
            assert isinstance(value, int)
            return _near(value, option.low, option.high, randomness)
        case Pair():
            assert isinstance(value, tuple)
            one = _near(value[0], option.low, option.high, randomness)
            if randomness.random() >= HANDICAP:
                return (one, one)
            return (one, _near(value[1], option.low, option.high, randomness))
        case Flag():
            return randomness.random() < 0.5
        case Choice():
            return randomness.choice(option.words)
    return value


def _near(value: int, low: int, high: int, randomness: Random) -> int:
    return randomness.randint(max(low, (value + 1) // 2), min(high, value + max(1, value // 2)))
