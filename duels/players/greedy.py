"""An opponent that takes the largest immediate gain and wins when it can.

>>> from duels.core import Match
>>> from duels.games import load
>>> Greedy(seed=1, player=0).choose(Match(load("firewall-breach"), seed=1).view(0))
'attack'
"""

from __future__ import annotations

from collections.abc import Mapping

from duels.core.game import Move
from duels.core.player import View
from duels.players.uniform import Uniform


class Greedy(Uniform):
    def mix(self, view: View) -> Mapping[Move, float]:
        gains = {move: view.game.gain(view.observation, view.player, move) for move in view.options}
        largest = max(gains.values())
        best = [move for move in gains if gains[move] == largest]
        return dict.fromkeys(best, 1 / len(best))
