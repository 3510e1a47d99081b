"""Base classes of the built-in opponents, each with its own random stream.

An opponent does not know the seed of the match, so its choices cannot depend on future chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from duels.core.game import Move
from duels.core.player import MixedStrategy, Player, View

if TYPE_CHECKING:
    from random import Random


class Opponent(Player):
    """A synchronous player that is deterministic, given its stream and the view."""

    def __init__(self, stream: str) -> None:
        """`stream` is a label made by `duels.core.chance.stream` from a seed and a seat."""
        self.stream = stream

    def choose(self, view: View) -> Move:
        raise NotImplementedError

    def randomness(self, view: View) -> Random:
        """The random numbers of one choice: equal after a resume, different after an undo."""
        from random import Random  # imported late, for a fast first prompt

        return Random(f"{self.stream} {view.version}")


class MixedStrategyOpponent(Opponent):
    """An opponent with a known mixed strategy, from which its moves are drawn."""

    def mixed_strategy(self, view: View) -> MixedStrategy:
        raise NotImplementedError

    def choose(self, view: View) -> Move:
        strategy = self.mixed_strategy(view)
        if len(strategy) == 1:
            return next(iter(strategy))
        return self.randomness(view).choices(list(strategy), list(strategy.values()))[0]
