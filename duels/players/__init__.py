"""Players by name: built-in opponents, Python classes (`module:Class`) and external programs.

    greedy                       a built-in opponent, or an unambiguous beginning of its name
    mybots.clever:Clever         a Python class, a subclass of `duels.core.Player`
    ./mybot, node bot.js         a program that implements the protocol of docs/reference/bots.md
    new=./mybot                  any of these with a name of its own
    ./mybot,time=2,memory=512    a program or class with limits: seconds for an answer, MB

`parse_spec` parses a text without starting anything; `make_player` creates the player. The module
of a built-in opponent is imported when its class is first used.

>>> from duels.core import Match
>>> from duels.core.chance import stream
>>> from duels.games import load
>>> match = Match(load("number-wars"), seed=3)
>>> make_player("greedy", stream(3, 0)).choose(match.view(0))
'10'
>>> [parse_spec(text).kind for text in ("greed", "mybots.clever:Clever", "python3 bot.py")]
['built-in', 'class', 'command']
>>> parse_spec("new=python3 bot.py,time=2")
PlayerSpec(kind='command', name='python3 bot.py', label='new', seconds=2.0, memory=None)
>>> BUILT_IN["greedy"].about
'grabs the biggest immediate gain'
>>> needs_solution("greedy"), needs_solution("human", "hard")
(False, True)
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from duels.core.errors import OptionError, UnknownName, plain, quote
from duels.core.player import Player
from duels.core.presentation import listed

if TYPE_CHECKING:
    from duels.players.base import Opponent
    from duels.players.external import ProcessLimits


class BuiltIn(NamedTuple):
    """The class of a built-in opponent as `module:name`, and its description in menus."""

    place: str
    about: str


BUILT_IN = {
    "easy": BuiltIn("duels.players.optimal:Easy", "makes mistakes often"),
    "medium": BuiltIn("duels.players.optimal:Medium", "makes a mistake now and then"),
    "hard": BuiltIn("duels.players.optimal:Hard", "rarely makes a mistake"),
    "perfect": BuiltIn("duels.players.optimal:Perfect", "plays the solved game perfectly"),
    "greedy": BuiltIn("duels.players.greedy:Greedy", "grabs the biggest immediate gain"),
    "ismcts": BuiltIn("duels.players.ismcts:Ismcts", "looks ahead by playing out random games"),
    "random": BuiltIn("duels.players.uniform:Uniform", "picks any legal move at random"),
}
LEVELS = ("easy", "medium", "hard", "perfect")
DEFAULT, PERFECT = "medium", "perfect"
WITHOUT_SOLUTION = "ismcts"  # the default opponent if a variant is not solved
HUMAN = "human"
LONGEST_NAME = 200  # characters, as in records
LONGEST_LABEL = 24  # characters that a server allows
TIME, MEMORY = "time", "memory"  # limits

# The kinds of players besides a human.
OPPONENT, CLASS, COMMAND = "built-in", "class", "command"


class PlayerSpec(NamedTuple):
    """The parsed text that specifies a player."""

    kind: str  # OPPONENT, CLASS, COMMAND or HUMAN
    name: str  # of a built-in opponent; the reference of a class; a command line
    label: str = ""  # the name that the user gives it
    seconds: float | None = None  # for an answer
    memory: int | None = None  # MB

    @property
    def text(self) -> str:
        """The text that names this player in records, from which it can be parsed again."""
        label = f"{self.label}=" if self.label else ""
        limits = [(TIME, self.seconds), (MEMORY, self.memory)]
        return f"{label}{self.name}" + "".join(
            f",{key}={value:g}" for key, value in limits if value is not None
        )

    @property
    def title(self) -> str:
        """What the player is called: the given name, or the text."""
        return self.label or self.text

    def limits(self, usual: "ProcessLimits | None" = None) -> "ProcessLimits":
        """The limits of its process; those that the text does not set are the usual ones."""
        from duels.players.process import ProcessLimits

        found = ProcessLimits.usual() if usual is None else usual
        if self.memory is not None:
            found = found._replace(memory=self.memory)
        return found if self.seconds is None else found._replace(seconds=self.seconds, always=True)


def parse_spec(text: str) -> PlayerSpec:
    """Parse the text that specifies a player, without starting it; a program must exist."""
    text = plain("player", text.strip() if isinstance(text, str) else text, LONGEST_NAME)
    label, bare, limits = _split(text)
    letters = "".join(character for character in label if character not in "._-")
    if label and (len(label) > LONGEST_LABEL or not letters.isalnum()):
        raise OptionError(
            f"a player's name has up to {LONGEST_LABEL} letters, digits, dots, hyphens and "
            f"underscores; got {quote(label)}"
        )
    if label in (HUMAN, *BUILT_IN):
        raise OptionError(f"a built-in player is called {label}; choose another name")
    seconds, memory = limits.get(TIME), limits.get(MEMORY)
    given = label, _number(TIME, seconds, float), _number(MEMORY, memory, int)
    if (kind := external_kind(bare)) is not None:
        if kind == COMMAND:
            from duels.players.references import command_of

            command_of(bare)
        return PlayerSpec(kind, bare, *given)
    try:
        found = full_name(bare)
    except UnknownName as error:
        more = "" if "could be" in str(error) else ", or a program as ./NAME or a MODULE:CLASS"
        raise UnknownName(f"{error}{more}") from None
    if limits:
        raise OptionError(f"only programs and classes take limits; {found} is built in")
    if found == HUMAN and label:
        raise OptionError("a human cannot be given a name here")
    return PlayerSpec(HUMAN if found == HUMAN else OPPONENT, found, label)


def _split(text: str) -> tuple[str, str, dict[str, str]]:
    """The name, the player and the limits in a text, none of them checked."""
    limits: dict[str, str] = {}
    while True:
        rest, comma, last = text.rpartition(",")
        key, equals, value = last.partition("=")
        if not (comma and equals and key in (TIME, MEMORY)) or value.endswith(("'", '"')):
            break  # in quotes it belongs to the command
        if key in limits:
            raise OptionError(f"{key} is given twice")
        limits[key], text = value, rest
    label, equals, rest = text.partition("=")
    if equals and label and not any(mark in label for mark in " /:'\""):
        return label, rest.strip(), limits
    return "", text, limits


def _number(name: str, text: str | None, kind: type) -> Any:
    """The value of a limit, which is above 0."""
    if text is None:
        return None
    try:
        value = kind(text)
    except ValueError:
        value = 0
    if not 0 < value <= 1e6:
        what = "a number of seconds above 0" if name == TIME else "a whole number of MB above 0"
        raise OptionError(f"{name}: expected {what}; got {quote(text)}")
    return value


def bare(text: str) -> str:
    """The text without the given name and the limits."""
    return _split(text)[1]


def label_of(text: str) -> str:
    """What the player that a record names is called: the given name, or the text."""
    return _split(text)[0] or text


def external_kind(text: str) -> str | None:
    """CLASS or COMMAND if a text specifies external code, else None.

    With a space or a slash it is a command line; with a colon between dotted names, a class.
    """
    text = bare(text)
    if " " in text or "/" in text:
        return COMMAND
    module, colon, attribute = text.partition(":")
    names = *module.split("."), *attribute.split(".")
    return CLASS if colon and all(name.isidentifier() for name in names) else None


def make_player(
    text: str, stream: str, limits: "ProcessLimits | None" = None, *, own_process: bool = False
) -> Player:
    """Create the player that a text specifies.

    `stream` is the label of its random stream (`duels.core.chance.stream`). A program is started by
    `prepare` or its first choice, and ended by `close`. `limits` are those of its process that the
    text does not set. A class runs in a process of its own if `own_process` is set or the text has
    limits.
    """
    found = parse_spec(text)
    if found.kind == COMMAND:
        from duels.players.external import External

        return External(found.name, stream, found.limits(limits))
    if found.kind != CLASS:
        return make_opponent(found.name, stream)
    if own_process or found.seconds is not None or found.memory is not None:
        from duels.players.isolated import isolated

        return isolated(found.name, stream, found.limits(limits))
    from duels.players.references import instantiate

    return instantiate(found.name, stream)


def full_name(name: str) -> str:
    """The full name of an opponent or `human`, from an unambiguous beginning."""
    wanted = name.lower()
    known = [HUMAN, *BUILT_IN]
    fits = [wanted] if wanted in known else [n for n in known if wanted and n.startswith(wanted)]
    if len(fits) > 1:
        raise UnknownName(f"{quote(name)} could be {listed(fits, ' or ')}")
    if not fits:
        raise UnknownName(f"there is no player {quote(name)}; choose from {listed(known)}")
    return fits[0]


def class_of(name: str) -> "type[Opponent]":
    """The class of a built-in opponent."""
    found = full_name(name)
    if found == HUMAN:
        raise UnknownName("a human chooses at a keyboard, not through a program")
    module, _, attribute = BUILT_IN[found].place.partition(":")
    opponent: type[Opponent] = getattr(import_module(module), attribute)
    return opponent


def make_opponent(name: str, stream: str) -> "Opponent":
    """Create a built-in opponent with its own random stream."""
    return class_of(name)(stream)


def needs_solution(*names: str) -> bool:
    """Whether any of these players plays only games that are solved."""
    return any(_class(name).needs_solution for name in names)


def _class(name: str) -> type[Player]:
    """The class of the player that a text specifies; `Player` if there is none."""
    try:
        kind, name, *_ = parse_spec(name)
    except UnknownName:
        return Player
    if kind == CLASS:
        from duels.players.references import class_named

        return class_named(name)
    return class_of(name) if kind == OPPONENT else Player
