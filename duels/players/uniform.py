"""An opponent that picks any of its options, each equally likely.

>>> from duels.core import Match
>>> from duels.games import load
>>> Uniform(seed=1, player=0).choose(Match(load("firewall-breach"), seed=1).view(0))
'attack'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from duels.core.chance import stream
from duels.core.game import Move
from duels.core.player import View

if TYPE_CHECKING:
    from random import Random


class Uniform:
    def __init__(self, seed: int, player: int) -> None:
        self.seed, self.player = seed, player

    def choose(self, view: View) -> Move:
        return self.randomness(view).choice(list(self.mix(view)))

    def mix(self, view: View) -> Mapping[Move, float]:
        """How likely each move is."""
        return dict.fromkeys(view.options, 1 / len(view.options))

    def randomness(self, view: View) -> Random:
        """Fresh for every choice: a resumed match goes on as it would have, an undone one not."""
        from random import Random  # imported late, as the first prompt does not wait for it

        return Random(f"{stream(self.seed, self.player)} {view.moment}")
