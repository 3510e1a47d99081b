"""The catalogue of built-in opponents. Each sees only what a player may see.

Names and what is said about them cost no import; an opponent's own module is loaded when its class
is asked for.

>>> from duels.core import Match
>>> from duels.core.chance import stream
>>> from duels.games import load
>>> match = Match(load("number-wars"), seed=3)
>>> make("greedy", stream(3, 0)).choose(match.view(0))
'10'
>>> BUILT_IN["greedy"].about
'takes the largest gain in sight'
>>> needs_solution("greedy"), needs_solution("human", "hard")
(False, True)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from duels.core.errors import UnknownName, quote
from duels.core.show import listed

if TYPE_CHECKING:
    from duels.players.opponent import Opponent


class Listed(NamedTuple):
    """Where an opponent's class is, and what a menu says about it."""

    place: str
    about: str


BUILT_IN = {
    "random": Listed("duels.players.uniform:Uniform", "plays any option at random"),
    "greedy": Listed("duels.players.greedy:Greedy", "takes the largest gain in sight"),
    "ismcts": Listed("duels.players.ismcts:Ismcts", "searches ahead, knowing only the rules"),
    "easy": Listed("duels.players.optimal:Easy", "knows perfect play and errs often"),
    "medium": Listed("duels.players.optimal:Medium", "knows perfect play and errs now and then"),
    "hard": Listed("duels.players.optimal:Hard", "knows perfect play and errs rarely"),
    "perfect": Listed("duels.players.optimal:Perfect", "plays as the solution of the game says"),
}
STRONGEST = "perfect"
NEXT_STRONGEST = "ismcts"  # where a variant is not solved
HUMAN = "human"


def full_name(name: str) -> str:
    """The full name of an opponent or `human`, from it or from an unambiguous beginning."""
    wanted = name.lower()
    known = [HUMAN, *BUILT_IN]
    fits = [wanted] if wanted in known else [n for n in known if wanted and n.startswith(wanted)]
    if len(fits) > 1:
        raise UnknownName(f"{quote(name)} could be {listed(fits, ' or ')}")
    if not fits:
        raise UnknownName(f"there is no player {quote(name)}; there are {listed(known)}")
    return fits[0]


def class_of(name: str) -> type[Opponent]:
    """The class of an opponent, which says what it needs."""
    found = full_name(name)
    if found == HUMAN:
        raise UnknownName("a human chooses at a keyboard, not through a program")
    module, _, attribute = BUILT_IN[found].place.partition(":")
    made: type[Opponent] = getattr(import_module(module), attribute)
    return made


def make(name: str, stream: str) -> Opponent:
    """An opponent with randomness of its own: `duels.core.chance.stream` of a seed and a seat."""
    return class_of(name)(stream)


def needs_solution(*names: str) -> bool:
    """Whether any of these players plays only games that are solved."""
    return any(name in BUILT_IN and class_of(name).needs_solution for name in names)
