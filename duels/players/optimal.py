"""Opponents that know the solution: `perfect`, and levels that err by a measured amount.

>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("number-wars"), seed=3)
>>> Perfect(seed=3, player=0).choose(match.view(0))
'10'
"""

from __future__ import annotations

from collections.abc import Mapping

from duels.core.game import Move
from duels.core.player import View
from duels.players.uniform import Uniform
from duels.solve import solve
from duels.solve.levels import level_mix


class Perfect(Uniform):
    """Chooses as the solution says; where that is a mix, at random as the mix says."""

    def choose(self, view: View) -> Move:
        return self.draw(view, self.mix(view))

    def mix(self, view: View) -> Mapping[Move, float]:
        return solve(view.game).assess(view).mix

    def draw(self, view: View, mix: Mapping[Move, float]) -> Move:
        if len(mix) == 1:
            return next(iter(mix))
        return self.randomness(view).choices(list(mix), list(mix.values()))[0]


class Level(Perfect):
    level = ""

    def mix(self, view: View) -> Mapping[Move, float]:
        return level_mix(solve(view.game).assess(view), self.level)


class Easy(Level):
    level = "easy"


class Medium(Level):
    level = "medium"


class Hard(Level):
    level = "hard"
