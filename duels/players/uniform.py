"""An opponent that chooses uniformly among its options.

>>> from duels.core import Match
>>> from duels.core.chance import stream
>>> from duels.games import load
>>> Uniform(stream(1, 0)).choose(Match(load("firewall-breach"), seed=1).view(0))
'attack'
"""

from __future__ import annotations

from collections.abc import Sequence

from duels.core.game import Move
from duels.core.player import MixedStrategy, View
from duels.players.base import MixedStrategyOpponent


class Uniform(MixedStrategyOpponent):
    def mixed_strategy(self, view: View) -> MixedStrategy:
        candidates = self.candidates(view)
        return dict.fromkeys(candidates, 1 / len(candidates))

    def choose(self, view: View) -> Move:
        """A move drawn by a random integer, which is exactly uniform, without rounding."""
        return self.randomness(view).choice(self.candidates(view))

    def candidates(self, view: View) -> Sequence[Move]:
        """The moves from which it chooses."""
        return view.options
