"""An opponent that takes the largest immediate gain and wins when it can.

>>> from duels.core import Match
>>> from duels.games import load
>>> Greedy(seed=1, player=0).choose(Match(load("firewall-breach"), seed=1).view(0))
'attack'
"""

from __future__ import annotations

from duels.core.game import Move
from duels.core.player import View
from duels.players.uniform import Uniform


class Greedy(Uniform):
    def choose(self, view: View) -> Move:
        gains = {move: view.game.gain(view.observation, view.player, move) for move in view.options}
        best = max(gains.values())
        return self.randomness(view).choice([move for move in gains if gains[move] == best])
