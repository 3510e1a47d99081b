"""Opponents that know the solution: `perfect`, and levels that err by a measured amount.

>>> from duels.core import Match
>>> from duels.core.chance import stream
>>> from duels.games import load
>>> match = Match(load("number-wars", lp=10), seed=3)
>>> Perfect(stream(3, 0)).choose(match.view(0))
'10'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from duels.core.player import MixedStrategy, View
from duels.players.base import MixedStrategyOpponent

if TYPE_CHECKING:
    from duels.algorithms import Assessment, Solution


class Perfect(MixedStrategyOpponent):
    """Plays the optimal mixed strategy of the solution."""

    needs_solution = True

    def mixed_strategy(self, view: View) -> MixedStrategy:
        return self.assess(view).mixed_strategy

    def assess(self, view: View) -> Assessment:
        return self.solution(view).assess(view)

    def solution(self, view: View) -> Solution:
        from duels.algorithms import (
            solve,  # imported late, as the first prompt does not wait for it
        )

        return solve(view.game)


class Level(Perfect):
    level = ""

    def mixed_strategy(self, view: View) -> MixedStrategy:
        from duels.algorithms.levels import level_strategy

        choice = self.assess(view)
        return level_strategy(choice, self.level, self.solution(view).dominated(view, choice))


class Easy(Level):
    level = "easy"


class Medium(Level):
    level = "medium"


class Hard(Level):
    level = "hard"
