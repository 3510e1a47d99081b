"""Difficulty levels: opponents that err by a given share of a random player's regret.

At each choice a level plays a softmax over the regrets of the moves. Its temperature is such that
the expected regret is a fixed share of the expected regret of a random player: small mistakes are
frequent and large ones rare. Three properties make the errors similar to those of people:

- The probability of moves without regret is divided among them as by perfect play. So where no move
  has a regret, since all of them win or all of them lose, a level plays perfectly.
- Dominated moves (`Solution.dominated`), such as missing a win, occur on `easy` only.
- The random player of the other levels does not choose them either.

>>> from duels.algorithms.solution import Assessment
>>> choice = Assessment(0, 1.0, {"hold": 1.0, "fold": 0.0}, {"hold": 1.0})
>>> {move: round(chance, 3) for move, chance in level_strategy(choice, "easy").items()}
{'hold': 0.75, 'fold': 0.25}
>>> level_strategy(choice, "hard", dominated={"fold"})
{'hold': 1.0, 'fold': 0.0}
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import exp

from duels.algorithms.solution import ROUNDING, Assessment
from duels.core.game import Move
from duels.core.player import MixedStrategy

# The share of a random player's mean regret that a level gives away. The shares are a choice, made
# for levels that differ clearly in play; what they come to is in docs/explanation/solutions.md.
LEVELS = {"easy": 0.5, "medium": 0.2, "hard": 0.02}
CARELESS = "easy"  # the level that may choose dominated moves
HOTTEST = 1e6  # a temperature at which regrets up to 1 give uniform play
STEPS = 60  # halvings of the temperature: enough for the precision of floats
# What a level takes an unmeasured move to give away: a coin toss where it passes by a win, else a
# little, since what good play hardly ever chooses is seldom measured.
WIN_PASSED_BY = 0.5
UNMEASURED = 0.05


def level_strategy(
    choice: Assessment, level: str, dominated: Collection[Move] = ()
) -> MixedStrategy:
    """The mixed strategy of a level; `dominated` are the moves of `Solution.dominated`."""
    regrets = {
        move: _regret(choice, move)
        for move in choice.options
        if level == CARELESS or move not in dominated
    }
    optimal = {move: choice.mixed_strategy.get(move, 0.0) for move in choice.options}
    mean = sum(regrets.values()) / len(regrets)
    if mean < ROUNDING:
        return optimal
    found = dict.fromkeys(choice.options, 0.0) | _erring(regrets, LEVELS[level] * mean)
    faultless = [move for move, regret in regrets.items() if regret < ROUNDING]
    left = sum(found[move] for move in faultless)
    return found | {move: left * optimal[move] for move in faultless}


def _erring(regrets: Mapping[Move, float], target: float) -> dict[Move, float]:
    """The softmax whose expected regret is `target`."""
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
    """A move's regret; an assumed one if it was not measured, which is used only for choosing."""
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
