"""Games, matches, records, views and players. Standard library only.

>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("firewall-breach"), seed=1)
>>> match.submit(0, "bypass")
>>> match.state.strength
(10, 9)
"""

from duels.core.errors import DuelsError, IllegalMove, MalformedMove, OptionError, RecordError
from duels.core.game import Chance, Decide, Event, Game, Outcome, Over, Pick, Result
from duels.core.match import Match
from duels.core.player import Player, View

__all__ = [
    "Chance",
    "Decide",
    "DuelsError",
    "Event",
    "Game",
    "IllegalMove",
    "MalformedMove",
    "Match",
    "OptionError",
    "Outcome",
    "Over",
    "Pick",
    "Player",
    "RecordError",
    "Result",
    "View",
]
