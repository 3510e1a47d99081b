"""An opponent that takes the largest immediate gain and wins when it can.

>>> from duels.core import Match
>>> from duels.core.chance import stream
>>> from duels.games import load
>>> Greedy(stream(1, 0)).choose(Match(load("firewall-breach"), seed=1).view(0))
'attack'
"""

from __future__ import annotations

from collections.abc import Sequence

from duels.core.game import Move
from duels.core.player import View
from duels.players.uniform import Uniform


class Greedy(Uniform):
    def candidates(self, view: View) -> Sequence[Move]:
        assert view.player is not None
        gains = {move: view.game.gain(view.observation, view.player, move) for move in view.options}
        largest = max(gains.values())
        return [move for move in gains if gains[move] == largest]
