"""Base classes of the built-in opponents, each with a random stream of its own.

An opponent is never given the match's seed, so nothing it does can depend on what is coming.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from duels.core.game import Move
from duels.core.player import Player, View

if TYPE_CHECKING:
    from random import Random


class Opponent(Player):
    """A player that answers without being awaited, the same way for the same stream and view."""

    def __init__(self, stream: str) -> None:
        """`stream` is text, as `duels.core.chance.stream` makes it from a seed and a seat."""
        self.stream = stream

    def choose(self, view: View) -> Move:
        raise NotImplementedError

    def randomness(self, view: View) -> Random:
        """Fresh for every choice: a resumed match goes on as it would have, an undone one not."""
        from random import Random  # imported late, as the first prompt does not wait for it

        return Random(f"{self.stream} {view.moment}")


class Mixed(Opponent):
    """An opponent whose mix is known: it chooses as the mix says."""

    def mix(self, view: View) -> Mapping[Move, float]:
        raise NotImplementedError

    def choose(self, view: View) -> Move:
        mix = self.mix(view)
        if len(mix) == 1:
            return next(iter(mix))
        return self.randomness(view).choices(list(mix), list(mix.values()))[0]
