"""How a game says what it wants shown, without knowing a terminal or a browser.

A game answers in three vocabularies: the `Step`s of a choice with their prompts, lines of text
in rulebook words (some with a tone), and the parts of its table. Each client renders these once,
for all games.

>>> who(0, viewer=0), who(1, viewer=0), who(1, viewer=None)
('You', 'Opponent', 'Player 2')
>>> whose(0, viewer=0), whose(1, viewer=0), whose(1, viewer=None)
('Your', "Opponent's", "Player 2's")
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which is felt at start-up.

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from duels.core.errors import IllegalMove, MalformedMove, quote

Lines = list[str]

# The tones a line may have. A line of the last one says what the table shows too, so that a screen
# that draws the table leaves it out.
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
    """A line that stands above others."""
    return Line(text, HEADING)


def on_table(text: str) -> Line:
    """A line that says what the drawn table shows too."""
    return Line(text, ON_TABLE)


def fortune(text: str, player: int, viewer: int | None, lucky: bool = True) -> Line:
    """A line about a player's luck or lack of it: what is good for the opponent is bad."""
    return Line(text, GOOD if lucky == (viewer in (None, player)) else BAD)


class Step(NamedTuple):
    """One question of a choice: one of `choices`, or with `many` some of them.

    A step with `many` is the last of its move.
    """

    prompt: str
    choices: tuple[str, ...]
    many: bool = False
    refused: Mapping[str, str] = {}  # words that make sense but are not possible now, and why


class Tree(NamedTuple):
    """All the steps of a choice: what is asked, and what after each answer; None ends the move."""

    step: Step
    after: Mapping[str, "Tree | None"] = {}  # empty where `many`: any answer ends the move


def tree(ask: Callable[[str], Step | None], so_far: str = "") -> Tree | None:
    """The whole tree of a choice after `so_far`, for clients that cannot ask step by step.

    >>> steps = {"": Step("Act:", ("attack", "bypass")), "attack": Step("With:", ("2", "3"), True)}
    >>> tree(steps.get).after["attack"].step.prompt, tree(steps.get).after["bypass"]
    ('With:', None)
    """
    step = ask(so_far)
    if step is None or step.many:
        return None if step is None else Tree(step)
    return Tree(step, {word: tree(ask, f"{so_far} {word}".strip()) for word in step.choices})


class Item(NamedTuple):
    """A card or token: what is written on it, and which choice of a step it stands for."""

    face: str
    choice: str = ""  # empty: it stands for none that this viewer could make
    spent: bool = False


class Meter(NamedTuple):
    """A quantity that runs down: strength, life, integrity."""

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
    """Cards; those the viewer may not see are counted in `hidden`."""

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
    """The last roll, and whose it was."""

    label: str
    face: str
    owner: int | None = None


class Sealed(NamedTuple):
    """A choice that is made in secret now; `placed` once the pick is in."""

    label: str
    placed: bool = False
    owner: int | None = None


class Score(NamedTuple):
    """Points against the number that wins."""

    label: str
    points: int
    goal: int
    owner: int | None = None


Part = Meter | Tokens | Hand | Pile | Die | Sealed | Score


def player_name(player: int) -> str:
    """What a player is called, whoever it is."""
    return f"Player {player + 1}"


def who(player: int, viewer: int | None) -> str:
    """How a viewer speaks of a player; a spectator reads in the third person."""
    if viewer is None:
        return player_name(player)
    return "You" if player == viewer else "Opponent"


class Shared(int):
    """A viewer who shares the screen, or reads a transcript: called by name where the book does.

    >>> called(0, viewer=0), called(0, viewer=Shared(0)), who(0, viewer=Shared(0))
    ('You', 'Player 1', 'You')
    """


def called(player: int, viewer: int | None) -> str:
    """A player's name, where the rulebooks use names; the viewer alone at a screen is "You"."""
    alone = viewer == player and not isinstance(viewer, Shared)
    return "You" if alone else player_name(player)


def does(player: int, viewer: int | None, verb: str) -> str:
    """Who does something, with the verb as it goes with a name.

    >>> does(0, None, "wins"), does(0, 0, "wins"), does(0, 0, "has used")
    ('Player 1 wins', 'You win', 'You have used')
    """
    name = called(player, viewer)
    if name != "You":
        return f"{name} {verb}"
    first, _, rest = verb.partition(" ")
    first = "have" if first == "has" else first.removesuffix("s")
    return f"{name} {first} {rest}".rstrip()


def label(player: int, viewer: int | None) -> str:
    """The name before something of a player's: "Player 1 LP" or "Your LP"."""
    name = called(player, viewer)
    return "Your" if name == "You" else name


def belonging(player: int, viewer: int | None) -> str:
    """The same with an apostrophe: "Player 1's Turn" or "Your Turn"."""
    name = called(player, viewer)
    return "Your" if name == "You" else f"{name}'s"


def whose(player: int, viewer: int | None) -> str:
    """The possessive of `who`."""
    return "Your" if player == viewer else who(player, viewer) + "'s"


def tokens(numbers: Iterable[int], spent: Iterable[int], own: bool) -> tuple[Item, ...]:
    """Numbers in order as tokens; those of the viewer's own stand for choices, spent or not."""
    gone = set(spent)
    return tuple(
        Item(str(number), str(number) if own else "", number in gone)
        for number in sorted({*numbers, *gone})
    )


def part_line(part: Part) -> str:
    """A part of a table in one plain line; nothing for what has no contents to show.

    >>> part_line(Meter("Firewall", 7, 10, owner=0)), part_line(Hand("Hand", (), hidden=3))
    ('Player 1 Firewall: 7 of 10', 'Hand: 3 hidden')
    """
    name = part.label if part.owner is None else f"{player_name(part.owner)} {part.label}"
    match part:
        case Meter(_, value, top) | Score(_, value, top):
            return f"{name}: {value} of {top}"
        case Tokens(_, items):
            return f"{name}: {listed((i.face for i in items if not i.spent), ' ') or 'none left'}"
        case Hand(_, cards, hidden):
            known = [card.face for card in cards]
            return f"{name}: {listed(known + [f'{hidden} hidden'] * bool(hidden), ' ') or 'empty'}"
        case Pile(_, size, cards):
            known = [card.face for card in cards]
            return f"{name}: {listed(known, ' ') or size or 'none'}"
        case Die(_, face):
            return f"{name}: {face}"
        case Sealed(_, placed):
            return f"{name}: sealed" if placed else ""


def listed(items: Iterable[object], separator: str = ", ") -> str:
    """Items in a row, as text."""
    return separator.join(str(item) for item in items)


def read_move(
    ask: Callable[[str], Step | None], text: str, so_far: str = ""
) -> tuple[str, Step | None]:
    """Read typed words as answers to a game's steps, as generously as is safe.

    Returns the move so far and the next step, None when the move is complete. Words may be
    shortened while unambiguous; numbers never are, so that "1" cannot turn into "10".

    >>> steps = {"": Step("Act:", ("attack", "bypass")), "attack": Step("With:", ("2", "3"), True)}
    >>> read_move(steps.get, "A 3,2")
    ('attack 2 3', None)
    """
    words = text.lower().replace(",", " ").split()
    step = ask(so_far)
    if not words:
        raise MalformedMove(f"Nothing was typed. {expected(step)}")
    while words:
        if step is None:
            raise MalformedMove(f"{quote(' '.join(words))} is too much after {quote(so_far)}.")
        if step.many:
            chosen = _some_of(step, words)
            words = []
        else:
            chosen = [_one_of(step, words.pop(0))]
        so_far = " ".join([so_far, *chosen]).strip()
        step = ask(so_far)
    return so_far, step


def expected(step: Step | None) -> str:
    """What a player may type, as a sentence."""
    if step is None or not step.choices:
        return ""
    distinct = list(dict.fromkeys(step.choices))
    return f"Choose {'some' if step.many else 'one'} of: {listed(distinct)}."


def _one_of(step: Step, word: str) -> str:
    if word.isascii() and word.isdigit():
        word = word.lstrip("0") or "0"
        fits = [choice for choice in step.choices if choice == word]
    else:
        fits = [choice for choice in step.choices if choice == word] or list(
            dict.fromkeys(choice for choice in step.choices if choice.startswith(word))
        )
    if len(fits) > 1 and len(set(fits)) > 1:
        raise MalformedMove(f"{quote(word)} could be {listed(fits, ' or ')}.")
    if fits:
        return fits[0]
    known = [word] if word in step.refused else _begun(step.refused, word)
    if len(known) == 1:
        raise IllegalMove(f"{step.refused[known[0]]} {expected(step)}".strip())
    raise MalformedMove(f"{quote(word)} is not possible. {expected(step)}".strip())


def _begun(words: Iterable[str], start: str) -> list[str]:
    return [] if start.isdigit() else [word for word in words if word.startswith(start)]


def _some_of(step: Step, words: list[str]) -> list[str]:
    left = list(step.choices)
    chosen = []
    for word in words:
        choice = _one_of(step, word)
        if choice not in left:
            held = step.choices.count(choice)
            raise IllegalMove(f"There {'is' if held == 1 else 'are'} only {held} of {choice}.")
        left.remove(choice)
        chosen.append(choice)
    return sorted(chosen, key=step.choices.index)
