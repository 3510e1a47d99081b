"""Mode `positions`: skill, regret and share of optimal answers over positions at stake.

Skill is 1 - regret / regret of random play: 0 for random and 1 for perfect play.

A dialogue that ends without a usable answer is a forfeit. A forfeit loses the game, so it costs
all that the position was worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from duels.arena.scores import Sample, Score, grouped
from duels.core.player import MixedStrategy
from duels.core.wire import dump_view
from duels.llm.items import PHASES, Item, summed

SHOWN = 6  # of the worst answers
POWER = 2.8  # standard errors of a difference that is found with a probability of 80 %


def positions_result(
    items: Sequence[Item], strategies: Sequence[Sequence[MixedStrategy | None]],
    said: Sequence[Sequence[str]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Skill, regret and share of optimal answers; `said` are the texts of the last answers."""
    rows = [
        [item.regret(strategy) for strategy in row]
        for item, row in zip(items, strategies, strict=True)
    ]
    regrets, stakes = [sum(row) / len(row) for row in rows], [item.at_stake for item in items]
    worst = sum(item.regret({item.worst: 1.0}) for item in items) / len(items)
    skill = ratio(list(zip(regrets, stakes, strict=True)), worst)
    share = Sample.of([sum(r == 0 for r in row) / len(row) for row in rows]).score()
    phases = [item.phase for item in items]
    return {
        "positions": len(items),
        "skill": interval(skill),
        "regret": sum(regrets) / len(items),
        "random_regret": sum(stakes) / len(items),
        "optimal": interval(share),
        "phases": {
            phase: _mean(regrets, stakes, [k for k, p in enumerate(phases) if p == phase])
            for phase in PHASES
            if phase in phases
        },
        "mistakes": {
            kind: regret / len(items)
            for kind, regret in summed(
                {kind: part / len(row) for kind, part in item.mistakes(strategy).items()}
                for item, row in zip(items, strategies, strict=True)
                for strategy in row
            ).items()
        },
        "worst": [
            {
                **shown(items[k], strategies[k]),
                "regret": regrets[k],
                **({} if said is None else {"said": said[k][0]}),
            }
            for k in sorted(range(len(items)), key=lambda k: -regrets[k])[:SHOWN]
            if regrets[k] > 0
        ],
        "units": {item.id: [r, s] for item, r, s in zip(items, regrets, stakes, strict=True)},
    }


def _mean(
    regrets: Sequence[float], stakes: Sequence[float], some: Sequence[int]
) -> dict[str, float]:
    regret, stake = (sum(numbers[k] for k in some) / len(some) for numbers in (regrets, stakes))
    return {"positions": len(some), "regret": regret, "skill": 1 - regret / stake}


def shown(item: Item, strategies: Sequence[MixedStrategy | None]) -> dict[str, Any]:
    """A position with the answers to it, from which a page draws the board."""
    return {
        "view": dump_view(item.view, display=False),
        "player": (item.view.player or 0) + 1,
        "answers": [None if s is None else dict(s) for s in strategies],
        "perfect": dict(item.choice.mixed_strategy),
    }


def ratio(pairs: Sequence[tuple[float, float]], worst: float) -> Score:
    """Skill with its 95 % interval: 1 - regret / random regret, from both for each position.

    A position is the unit: the deviations are those of a ratio, linearised. `worst` is the mean
    regret of the worst moves, the lower end of the scale.

    >>> [round(number, 3) for number in ratio([(0, 0.2), (0.1, 0.2), (0, 0.1)] * 20, 0.5)[:3]]
    [0.8, 0.657, 0.857]
    """
    n, base = len(pairs), sum(b for _, b in pairs)
    mean = base / n
    part = sum(r for r, _ in pairs) / base
    deviations = grouped((-(r - part * b) / mean, 1.0) for r, b in pairs)
    most = max(count for _, count in deviations)
    ends = (min(-worst / mean + part, deviations[0][0]), max(part, deviations[-1][0]))
    return Sample(n, 1 - part, deviations, n - most, ends, n if n > 1 else 0).score()


def interval(score: Score) -> dict[str, float]:
    return {"mean": score.mean, "low": score.low, "high": score.high}


def detectable(items: Sequence[Item], samples: int) -> float:
    """The smallest difference of skill between two models that is found with 80 % probability.

    At a level of 5 %, for models that play half of their moves perfectly and half at random, whose
    skill is 1/2. The same positions are asked, but answers are taken to be independent.
    """
    mean = sum(item.at_stake for item in items) / len(items)
    variance = 0.0
    for item in items:
        regrets = [float(item.choice.regret(move) or 0) for move in item.choice.options]
        square = sum(r * r for r in regrets) / len(regrets) / 2
        variance += square - (item.at_stake / 2) ** 2
    return POWER * sqrt(2 * variance / samples) / mean / len(items)
