"""Players by name: built-in opponents, Python classes (`module:Class`) and external programs.

    greedy                       a built-in opponent, or an unambiguous beginning of its name
    mybots.clever:Clever         a Python class, a subclass of `duels.core.Player`
    ./mybot, node bot.js         a program that implements the protocol of docs/bots.md

`named` parses a name without starting anything; `player` creates the player. The module of a
built-in opponent is imported when its class is first used.

>>> from duels.core import Match
>>> from duels.core.chance import stream
>>> from duels.games import load
>>> match = Match(load("number-wars"), seed=3)
>>> player("greedy", stream(3, 0)).choose(match.view(0))
'10'
>>> named("greed"), named("mybots.clever:Clever").kind, named("python3 bot.py").kind
(Named(kind='built-in', name='greedy'), 'class', 'command')
>>> BUILT_IN["greedy"].about
'takes the largest gain in sight'
>>> needs_solution("greedy"), needs_solution("human", "hard")
(False, True)
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from duels.core.errors import UnknownName, plain, quote
from duels.core.player import Player
from duels.core.presentation import listed

if TYPE_CHECKING:
    from duels.players.base import Opponent
    from duels.players.external import ProcessLimits


class Listed(NamedTuple):
    """The class of a built-in opponent as `module:name`, and its description in menus."""

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
NEXT_STRONGEST = "ismcts"  # the strongest opponent if a variant is not solved
HUMAN = "human"
LONGEST_NAME = 200  # characters, as in records

# The kinds of players besides a human.
OPPONENT, CLASS, COMMAND = "built-in", "class", "command"


class Named(NamedTuple):
    """A parsed name of a player: its kind (`human` is one), and its name in a record."""

    kind: str
    name: str


def named(text: str) -> Named:
    """Parse the name of a player without importing or starting it; the program must exist."""
    text = plain("player", text.strip() if isinstance(text, str) else text, LONGEST_NAME)
    if (kind := outside(text)) is not None:
        if kind == COMMAND:
            from duels.players.references import command_of

            command_of(text)
        return Named(kind, text)
    try:
        found = full_name(text)
    except UnknownName as error:
        more = "" if "could be" in str(error) else ", or a program as ./NAME or a MODULE:CLASS"
        raise UnknownName(f"{error}{more}") from None
    return Named(HUMAN if found == HUMAN else OPPONENT, found)


def outside(text: str) -> str | None:
    """The kind of external code that a text names, a command or a class; None if it names neither.

    With a space or a slash it is a command line; with a colon between dotted names, a class.
    """
    if " " in text or "/" in text:
        return COMMAND
    module, colon, attribute = text.partition(":")
    names = *module.split("."), *attribute.split(".")
    return CLASS if colon and all(name.isidentifier() for name in names) else None


def player(text: str, stream: str, limits: "ProcessLimits | None" = None) -> Player:
    """The player that a text names, with its own random stream (`duels.core.chance.stream`).

    A program is started by `prepare` or its first choice, and ended by `close`; `limits` apply to
    programs only (`duels.players.external.ProcessLimits`).
    """
    kind, name = named(text)
    if kind == COMMAND:
        from duels.players.external import External

        return External(name, stream, limits)
    if kind == CLASS:
        from duels.players.references import made

        return made(name, stream)
    return make(name, stream)


def full_name(name: str) -> str:
    """The full name of an opponent or `human`, from an unambiguous beginning."""
    wanted = name.lower()
    known = [HUMAN, *BUILT_IN]
    fits = [wanted] if wanted in known else [n for n in known if wanted and n.startswith(wanted)]
    if len(fits) > 1:
        raise UnknownName(f"{quote(name)} could be {listed(fits, ' or ')}")
    if not fits:
        raise UnknownName(f"there is no player {quote(name)}; there are {listed(known)}")
    return fits[0]


def class_of(name: str) -> "type[Opponent]":
    """The class of a built-in opponent."""
    found = full_name(name)
    if found == HUMAN:
        raise UnknownName("a human chooses at a keyboard, not through a program")
    module, _, attribute = BUILT_IN[found].place.partition(":")
    made: type[Opponent] = getattr(import_module(module), attribute)
    return made


def make(name: str, stream: str) -> "Opponent":
    """A built-in opponent with its own random stream."""
    return class_of(name)(stream)


def needs_solution(*names: str) -> bool:
    """Whether any of these players plays only games that are solved."""
    return any(_class(name).needs_solution for name in names)


def _class(name: str) -> type[Player]:
    """The class of the player that a text names; the base class if it names none."""
    try:
        kind, name = named(name)
    except UnknownName:
        return Player
    if kind == CLASS:
        from duels.players.references import class_named

        return class_named(name)
    return class_of(name) if kind == OPPONENT else Player
