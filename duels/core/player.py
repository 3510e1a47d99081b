"""What a player is given and what it must answer.

A player gets what it may see, never the state, and returns one of its options.

>>> class Last:
...     def choose(self, view: View) -> str:
...         return view.options[-1]
>>> from duels.core import Match
>>> from duels.games import load
>>> Last().choose(Match(load("firewall-breach"), seed=1).view(0))
'bypass'
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from duels.core.game import AnyGame, Event, Move


class View(NamedTuple):
    """All that a player may know when it must choose."""

    game: AnyGame
    player: int
    observation: Any
    history: tuple[Event, ...]  # what has happened, as this player saw it
    options: tuple[Move, ...]
    clock: float | None = None  # seconds left for this choice; None without a limit
    moment: int = 0  # how many entries the record has; grows even when a move is taken back


class Player(Protocol):
    """Anything that can choose a move."""

    def choose(self, view: View) -> Move: ...
