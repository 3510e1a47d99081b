"""The built-in opponents. Each sees only what a player may see.

>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("number-wars"), seed=3)
>>> make("greedy", match.seed, 0).choose(match.view(0))
'10'
"""

from __future__ import annotations

from importlib import import_module

from duels.core.errors import UnknownName, quote
from duels.core.game import AnyGame
from duels.core.player import Player
from duels.core.show import listed

BUILT_IN = {
    "random": "duels.players.uniform:Uniform",
    "greedy": "duels.players.greedy:Greedy",
    "ismcts": "duels.players.ismcts:Ismcts",
    "easy": "duels.players.optimal:Easy",
    "medium": "duels.players.optimal:Medium",
    "hard": "duels.players.optimal:Hard",
    "perfect": "duels.players.optimal:Perfect",
}
STRONGEST = "perfect"
NEXT_STRONGEST = "ismcts"  # where a variant is not solved
NEED_SOLUTION = ("easy", "medium", "hard", "perfect")
HUMAN = "human"


def find(name: str) -> str:
    """The full name of an opponent or `human`, from it or from an unambiguous beginning."""
    wanted = name.lower()
    known = [HUMAN, *BUILT_IN]
    fits = [wanted] if wanted in known else [n for n in known if wanted and n.startswith(wanted)]
    if len(fits) > 1:
        raise UnknownName(f"{quote(name)} could be {listed(fits, ' or ')}")
    if not fits:
        raise UnknownName(f"there is no player {quote(name)}; there are {listed(known)}")
    return fits[0]


def make(name: str, seed: int | None, player: int) -> Player:
    """An opponent for one seat. Its own randomness follows from the match's seed."""
    found = find(name)
    if found == HUMAN:
        raise UnknownName("a human chooses at a keyboard, not through a program")
    module, _, kind = BUILT_IN[found].partition(":")
    made: Player = getattr(import_module(module), kind)(seed or 0, player)
    return made


def ships_solved(game: AnyGame) -> bool:
    """Whether the game's solution comes with the package: it does for the usual rules."""
    usual = {name: option.show(option.default) for name, option in game.options().items()}
    return game.settings() | {"first": ""} == usual | {"first": ""}
