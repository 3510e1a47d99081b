"""Difficulty levels: a softmax over the exact values of the moves, with a given expected regret.

At each choice the softmax is as warm as it takes to give away, on average, a fixed share of what a
player choosing at random would give away there. So a level means the same in every game and at
every move, and it errs as people do: often between moves that are nearly as good, rarely by far.

>>> from duels.algorithms.solution import Assessment
>>> choice = Assessment(0, 1.0, {"hold": 1.0, "fold": 0.0}, {"hold": 1.0})
>>> {move: round(chance, 3) for move, chance in level_strategy(choice, "easy").items()}
{'hold': 0.75, 'fold': 0.25}
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp

from duels.algorithms.solution import Assessment
from duels.core.game import Move
from duels.core.player import MixedStrategy

# The share of a random player's mean regret that a level gives away. The shares are a choice, made
# for levels that differ clearly in play; what they come to is in docs/solutions.md.
LEVELS = {"easy": 0.5, "medium": 0.2, "hard": 0.05}
ROUNDING = 1e-12  # of values that are floats
HOTTEST = 1e6  # as good as uniform for regrets up to 1
STEPS = 60  # halvings of the temperature: more than floats can tell apart
# What a level takes an unmeasured move to give away: a coin toss where it passes by a win, else a
# little, since what good play hardly ever chooses is seldom measured.
WIN_PASSED_BY = 0.5
UNMEASURED = 0.05


def level_strategy(choice: Assessment, level: str) -> MixedStrategy:
    """How likely a level is to choose each move.

    Where all moves are equally good nothing can be given away, and any will do; only where all of
    them lose does a level choose as perfect play does, which holds out longest.
    """
    regrets = {move: _regret(choice, move) for move in choice.options}
    uniform = sum(regrets.values()) / len(regrets)
    if uniform < ROUNDING:
        if choice.best == 0:
            return {move: choice.mixed_strategy.get(move, 0.0) for move in choice.options}
        return {move: 1 / len(regrets) for move in regrets}
    target = LEVELS[level] * uniform
    cold, hot = 0.0, HOTTEST
    for _ in range(STEPS):
        middle = (cold + hot) / 2 if hot < 1 else (cold * hot) ** 0.5 if cold else hot / 1000
        strategy = softmax(regrets, middle)
        given_away = sum(chance * regrets[move] for move, chance in strategy.items())
        if given_away < target:
            cold = middle
        else:
            hot = middle
    return softmax(regrets, hot)


def _regret(choice: Assessment, move: Move) -> float:
    """A move's regret; where it was never measured, a guess to choose by that is shown nowhere."""
    regret = choice.regret(move)
    if regret is not None:
        return float(regret)
    if move in choice.mixed_strategy:
        return 0.0
    return WIN_PASSED_BY if choice.best == 1 else UNMEASURED


def softmax(regrets: Mapping[Move, float], temperature: float) -> dict[Move, float]:
    weights = {move: exp(-regret / temperature) for move, regret in regrets.items()}
    total = sum(weights.values())
    return {move: weight / total for move, weight in weights.items()}
