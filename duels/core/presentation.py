"""Presentation types that games return to clients: lines with tones, table parts, choice steps.

A game describes itself by the `Step`s of a choice with their prompts, by lines of text in the words
of the rulebook (some with a tone), by short `Caption`s of its events, and by the parts of its
table. Each client renders these for all games.

>>> who(0, viewer=0), who(1, viewer=0), who(1, viewer=None)
('You', 'Opponent', 'Player 2')
>>> whose(0, viewer=0), whose(1, viewer=0), whose(1, viewer=None)
('Your', "Opponent's", "Player 2's")
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

Lines = list[str]

# The tones of lines. A line with the last one repeats what the table shows, so a client that draws
# the table omits it.
HEADING, GOOD, BAD, RESULT, ON_TABLE = "heading", "good", "bad", "result", "table"


class Line(str):
    """A line of text with a tone; a line without one is a plain string.

    >>> line = Line("Round 1", HEADING)
    >>> line == "Round 1", tone(line), tone("Round 1")
    (True, 'heading', '')
    """

    __slots__ = ("tone",)
    tone: str

    def __new__(cls, text: str, tone: str) -> "Line":
        line = super().__new__(cls, text)
        line.tone = tone
        return line

    def __reduce__(self) -> tuple[type["Line"], tuple[str, str]]:
        return Line, (str(self), self.tone)


def tone(line: str) -> str:
    """The tone of a line; empty for a plain one."""
    return line.tone if isinstance(line, Line) else ""


def heading(text: str) -> Line:
    """A heading."""
    return Line(text, HEADING)


def on_table(text: str) -> Line:
    """A line that repeats what the table shows."""
    return Line(text, ON_TABLE)


def fortune(text: str, player: int, viewer: int | None, lucky: bool = True) -> Line:
    """A line about a player's good or bad luck; its tone is reversed for the opponent."""
    return Line(text, GOOD if lucky == (viewer in (None, player)) else BAD)


_NONE: Mapping[str, str] = {}


class Step(NamedTuple):
    """One question of a choice: one of `choices`, or with `many` some of them.

    A step with `many` is the last of its move. `prompt` is the whole text; `question`, `name` and
    `listing` are its parts, for clients that leave out what they show in another way.
    """

    prompt: str
    choices: tuple[str, ...]
    many: bool = False
    refused: Mapping[str, str] = _NONE  # words that make sense but are not possible now, and why
    kind: str = ""  # what is chosen, as one word: "action", "attack", "card"
    question: str = ""  # the prompt without name and listing; empty: the same as the prompt
    name: str = ""  # the player the prompt addresses; empty: it addresses none
    listing: str = ""  # the choices as the prompt lists them; empty: it does not list them
    brief: str = ""  # what is asked, for clients with buttons; empty: the question
    # What a choice brings, as far as the player can know it: "−3". With `many` the keys are whole
    # answers: "2 3". Choices without a known consequence have no entry.
    effects: Mapping[str, str] = _NONE

    def worded(self, name: str, listing: str) -> str:
        """The prompt with another name and another listing of the choices, or without them.

        >>> step = question("Enter your bid", ("1", "2"), player=0, listing="[1,2]")
        >>> step.prompt, step.worded("", step.listing), step.worded(step.name, "")
        ('Player 1, enter your bid [1,2]:', 'Enter your bid [1,2]:', 'Player 1, enter your bid:')
        """
        return _worded(self.question or self.prompt, name, listing)


def _worded(text: str, name: str, listing: str) -> str:
    if name:
        text = f"{name}, {text[0].lower()}{text[1:]}"
    return f"{text.removesuffix(':')} {listing}:" if listing else text


def question(
    text: str, choices: tuple[str, ...], *, kind: str = "", player: int | None = None,
    listing: str = "", many: bool = False, refused: Mapping[str, str] = _NONE,
    brief: str = "", effects: Mapping[str, str] = _NONE,
) -> Step:  # fmt: skip
    """A step from the parts of its prompt: a question, the player addressed, the choices listed."""
    short = f"{text}:"
    name = "" if player is None else player_name(player)
    prompt = _worded(short, name, listing)
    return Step(prompt, choices, many, refused, kind, short, name, listing, brief or text, effects)


class Tree(NamedTuple):
    """All steps of a choice: a step, and the tree after each answer; None completes the move."""

    step: Step
    after: Mapping[str, "Tree | None"] = {}  # empty for `many`: any answer completes the move


def tree(ask: Callable[[str], Step | None], so_far: str = "") -> Tree | None:
    """The whole tree of a choice after `so_far`, for clients that cannot ask step by step.

    >>> steps = {"": Step("Act:", ("attack", "bypass")), "attack": Step("With:", ("2", "3"), True)}
    >>> tree(steps.get).after["attack"].step.prompt, tree(steps.get).after["bypass"]
    ('With:', None)
    """
    step = ask(so_far)
    if step is None or step.many:
        return None if step is None else Tree(step)
    before = f"{so_far} " if so_far else ""
    return Tree(step, {word: tree(ask, before + word) for word in step.choices})


class Item(NamedTuple):
    """A card or token: its face, and the choice of a step that it represents."""

    face: str
    choice: str = ""  # empty: the viewer cannot choose it
    spent: bool = False
    last: bool = False  # it was played last


class Meter(NamedTuple):
    """A quantity that decreases: strength, life, integrity."""

    label: str
    value: int
    top: int
    owner: int | None = None


class Tokens(NamedTuple):
    """Numbers a player may use once; the spent ones stay visible."""

    label: str
    items: tuple[Item, ...]
    owner: int | None = None


class Hand(NamedTuple):
    """Cards of a player; `hidden` counts those that the viewer may not see."""

    label: str
    cards: tuple[Item, ...]
    hidden: int = 0
    owner: int | None = None


class Pile(NamedTuple):
    """A stack of cards, of which a viewer may know some."""

    label: str
    size: int
    cards: tuple[Item, ...] = ()
    owner: int | None = None


class Die(NamedTuple):
    """The last roll, and the player who rolled."""

    label: str
    face: str
    owner: int | None = None


class Sealed(NamedTuple):
    """A sealed choice; `placed` if the pick has been made."""

    label: str
    placed: bool = False
    owner: int | None = None


class Played(NamedTuple):
    """A move in the open that the opponent has to answer."""

    label: str
    face: str
    owner: int | None = None


class Points(NamedTuple):
    """Points of a player, and the number that wins."""

    label: str
    points: int
    goal: int
    owner: int | None = None


Part = Meter | Tokens | Hand | Pile | Die | Sealed | Played | Points


class Caption(NamedTuple):
    """An event in a few words, for clients that draw the table.

    A minor event, such as a draw, does not replace the caption of the event before it.
    """

    text: str
    detail: str = ""  # what the event led to, if the text does not say so
    favours: int | None = None  # the player for whom it is good
    minor: bool = False


class Names(NamedTuple):
    """The names of the players as one viewer reads them: a player is "You" to themselves.

    >>> names = Names(("Ada", "James"), viewer=0)
    >>> names.of(0), names.of(1), names.whose(1), names.does(0, "passes"), names.does(1, "wins")
    ('You', 'James', 'James’', 'You pass', 'James wins')
    >>> names.put("Player 2's code is cracked."), names.put("Player 1 ran out of time.")
    ('James’ code is cracked.', 'You ran out of time.')
    """

    names: tuple[str, str] = ("Player 1", "Player 2")
    viewer: int | None = None

    def of(self, player: int) -> str:
        """The name of a player."""
        return "You" if player == self.viewer else self.names[player]

    def whose(self, player: int) -> str:
        """The possessive of the name of a player."""
        if player == self.viewer:
            return "Your"
        name = self.names[player]
        return f"{name}’" if name.endswith("s") else f"{name}’s"

    def does(self, player: int, verb: str) -> str:
        """A player and a verb, given in the third person and conjugated for the viewer."""
        own = player == self.viewer
        return f"You {second_person(verb)}" if own else f"{self.names[player]} {verb}"

    def put(self, text: str) -> str:
        """A text with the names by seat, such as the reason of a result, with these names."""
        text = addressed(text, self.viewer)
        marks = ("\0", "\1")  # so that a name that contains the name of a seat is kept
        for player, mark in enumerate(marks):
            text = text.replace(player_name(player), mark)
        for player, mark in enumerate(marks):
            text = text.replace(f"{mark}'s", self.whose(player)).replace(mark, self.names[player])
        return text


def player_name(player: int) -> str:
    """The name of a player by seat."""
    return f"Player {player + 1}"


def who(player: int, viewer: int | None) -> str:
    """A player from the viewpoint of a viewer: "You", "Opponent" or, for a spectator, the name."""
    if viewer is None:
        return player_name(player)
    return "You" if player == viewer else "Opponent"


class Shared(int):
    """A viewer who shares the screen or reads a transcript: `called` uses the name, not "You".

    >>> called(0, viewer=0), called(0, viewer=Shared(0)), who(0, viewer=Shared(0))
    ('You', 'Player 1', 'You')
    """


def called(player: int, viewer: int | None) -> str:
    """A player's name, for texts in which the rulebooks use names; "You" for a single viewer."""
    alone = viewer == player and not isinstance(viewer, Shared)
    return "You" if alone else player_name(player)


def does(player: int, viewer: int | None, verb: str) -> str:
    """A player and a verb, given in the third person and conjugated for the viewer.

    >>> does(0, None, "wins"), does(0, 0, "wins"), does(0, 0, "has used")
    ('Player 1 wins', 'You win', 'You have used')
    """
    name = called(player, viewer)
    return f"You {second_person(verb)}" if name == "You" else f"{name} {verb}"


def second_person(verb: str) -> str:
    """A verb in the third person, with what follows it, in the second.

    >>> second_person("has used"), second_person("passes"), second_person("attacks with 3")
    ('have used', 'pass', 'attack with 3')
    """
    first, space, rest = verb.partition(" ")
    if first == "has":
        first = "have"
    else:
        first = first.removesuffix("es" if first.endswith(("sses", "shes", "ches", "xes")) else "s")
    return f"{first}{space}{rest}"


def addressed(text: str, viewer: int | None) -> str:
    """A text with names of players, rewritten in the second person for a single viewer.

    >>> addressed("Player 1's code has been cracked.", 0), addressed("Player 1 has none.", 0)
    ('Your code has been cracked.', 'You have none.')
    >>> addressed("All are used, and Player 2 attacked last.", 1), addressed("Player 1 ran.", 1)
    ('All are used, and you attacked last.', 'Player 1 ran.')
    """
    if viewer is None or called(viewer, viewer) != "You":
        return text
    name = player_name(viewer)
    before, named, after = text.partition(name)
    if not named:
        return text
    if after.startswith("'s "):
        said = "Your" + after[2:]
    else:
        verb, space, rest = after.lstrip().partition(" ")
        said = does(viewer, viewer, verb) + space + rest
    return before + (said[0].lower() + said[1:] if before else said)


def acts(player: int, viewer: int | None, verb: str) -> str:
    """A verb as a sentence; for a single viewer who is the player it begins with "You".

    >>> acts(0, None, "Draws"), acts(0, 0, "Draws")
    ('Draws', 'You draw')
    """
    spoken = does(player, viewer, verb.lower())
    return spoken if spoken.startswith("You") else verb


def label(player: int, viewer: int | None) -> str:
    """The name before a value of a player, as in "Player 1 LP" or "Your LP"."""
    name = called(player, viewer)
    return "Your" if name == "You" else name


def belonging(player: int, viewer: int | None) -> str:
    """As `label`, in the possessive: "Player 1's Turn" or "Your Turn"."""
    name = called(player, viewer)
    return "Your" if name == "You" else f"{name}'s"


def whose(player: int, viewer: int | None) -> str:
    """The possessive of `who`."""
    return "Your" if player == viewer else who(player, viewer) + "'s"


def signed(change: int) -> str:
    """A change with its sign.

    >>> signed(2), signed(-3), signed(0)
    ('+2', '−3', '±0')
    """
    return f"+{change}" if change > 0 else f"−{-change}" if change else "±0"


def tokens(numbers: Iterable[int], spent: Iterable[int], own: bool) -> tuple[Item, ...]:
    """Numbers in order as tokens; the viewer's own represent choices, spent or not."""
    return _tokens(tuple(numbers), tuple(spent), own)


@lru_cache(4096)  # few are distinct, and a server needs them for every move
def _tokens(numbers: tuple[int, ...], spent: tuple[int, ...], own: bool) -> tuple[Item, ...]:
    gone = set(spent)
    return tuple(
        Item(str(number), str(number) if own else "", number in gone)
        for number in sorted({*numbers, *gone})
    )


def part_line(part: Part) -> str:
    """A table part as one line of text; empty for a part without contents to show.

    >>> part_line(Meter("Firewall", 7, 10, owner=0)), part_line(Hand("Hand", (), hidden=3))
    ('Player 1 Firewall: 7 of 10', 'Hand: 3 hidden')
    """
    name = part.label if part.owner is None else f"{player_name(part.owner)} {part.label}"
    contents = part_contents(part)
    return f"{name}: {contents}" if contents else ""


def part_contents(part: Part) -> str:
    """The contents of a table part as text; empty if there is nothing to show."""
    match part:
        case Meter(_, value, top) | Points(_, value, top):
            return f"{value} of {top}"
        case Tokens(_, items):
            return listed((i.face for i in items if not i.spent), " ") or "none left"
        case Hand(_, cards, hidden):
            known = [card.face for card in cards]
            return listed(known + [f"{hidden} hidden"] * bool(hidden), " ") or "empty"
        case Pile(_, size, cards):
            return listed((card.face for card in cards), " ") or str(size or "none")
        case Die(_, face) | Played(_, face):
            return face
        case Sealed(_, placed):
            return "sealed" if placed else ""


def pile_lines(parts: Iterable[Part]) -> Lines:
    """The piles of a table as lines, for plain text: the status of a game does not mention them."""
    return [on_table(part_line(part)) for part in parts if isinstance(part, Pile)]


def listed(items: Iterable[object], separator: str = ", ") -> str:
    """Items joined to a text."""
    return separator.join(str(item) for item in items)
