"""The `Game` interface: pure rules over immutable states.

A game never rolls, asks, prints or remembers. `turn` returns what must happen next and `play` the
state after it; a `duels.core.match.Match` provides the moves and the chance outcomes.

>>> from duels.games import load
>>> game = load("firewall-breach")
>>> game.turn(game.start())
Decide(options={0: ('attack', 'bypass')})
>>> rolling = game.play(game.start(), "attack")
>>> sum(game.turn(rolling).odds.values())
Fraction(1, 1)
>>> game.play(rolling, "5").strength
(10, 7)
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar, Union

from duels.core.errors import OptionError, quote
from duels.core.options import First, Option
from duels.core.presentation import (
    RESULT,
    Caption,
    Line,
    Lines,
    Meter,
    Names,
    Part,
    Points,
    Step,
    addressed,
    does,
    listed,
    signed,
)

if TYPE_CHECKING:
    from fractions import Fraction  # importing it slows start-up

Payoff = Union["Fraction", float]  # of a win; whole numbers where possible

# Plain strings: the ones a person types, a bot sends and a record stores.
Move = str

S = TypeVar("S", bound=tuple[Any, ...])  # a game's states: NamedTuples of plain values
O = TypeVar("O", bound=tuple[Any, ...])  # its observations  # noqa: E741

# A field of an observation that holds a player: 0 or 1 here, 1 or 2 on the wire.
Seat = Annotated[int, "seat"]

HIDDEN = "?"  # in place of what a viewer may not know of an event


class Decide(NamedTuple):
    """A choice of one player, or a simultaneous choice of both: one key per player who chooses."""

    options: Mapping[int, tuple[Move, ...]]


class Chance(NamedTuple):
    """A chance event with exact odds; `by` is the player for whom it is rolled or drawn."""

    odds: Mapping[str, "Fraction"]
    by: int | None = None


class Over(NamedTuple):
    """The end of the game by its rules; a draw has no winner.

    The loser pays the winner `payoff`, in units of a plain win; a draw pays nothing.
    """

    winner: int | None
    reason: str
    payoff: "Payoff" = 1


class Result(NamedTuple):
    """The result of a match, and what decided it: rules, resignation, time, forfeit or limit."""

    winner: int | None
    by: str
    reason: str
    payoff: "Payoff" = 1  # as in `Over`


class Pick(NamedTuple):
    """A resolved choice, by player; a simultaneous choice is one event."""

    moves: tuple[tuple[int, Move], ...]


class Outcome(NamedTuple):
    """The outcome of a chance event."""

    outcome: str
    by: int | None = None


Event = Pick | Outcome
History = tuple[Event, ...]  # what has happened, as one viewer saw it


_options: dict[type, dict[str, Option[Any]]] = {}  # cache, by class of rules


class Game(Generic[S, O]):
    """The rules of one game. Its `Option` attributes are its rule options, fixed at creation.

    A game is described in four parts, in this order below:

    - options: `Option` attributes, `check`, `words`;
    - rules, which every game has: `start`, `turn`, `play`, `observe`, `redact` if events are hidden
      from a viewer, and `highest_payoff` if some wins pay more than others;
    - encoding for programs, which environments and agents need: `moves`, `features`, `encode`,
      `bounds`, `recalled`, `recall`, `longest`, and `gain` for the greedy opponent; for authors of
      bots `about_fields`, `about_moves`, `about_chance`;
    - input and presentation, from observations: `ask`; for plain text `opening`, `status`, `tell`,
      `ending`; for clients that draw the game `table` and `caption`.
    """

    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    rules: ClassVar[str]  # a text with {names} of options and `words`; see `rules_text`
    # The move that replaces the choice of a player who runs out of time; None if that loses the
    # game, as it must in a game with sealed choices.
    timeout_move: ClassVar[Move | None] = None
    # Whether players have private cards: at one keyboard the screen is cleared between turns.
    private: ClassVar[bool] = False
    # Whether `table` shows all that `status` says, so that clients with a table need no status.
    status_on_table: ClassVar[bool] = False
    # For authors of bots: what each field of an observation holds, what each form of a move does
    # (words in capitals stand for numbers, and "…" for more of them), what chance outcomes are.
    about_fields: ClassVar[Mapping[str, str]] = {}
    about_moves: ClassVar[Mapping[str, str]] = {}
    about_chance: ClassVar[str] = ""

    # Options

    first = First(0, "the player who starts")

    def __init__(self, /, **options: object) -> None:
        # Not a dataclass: importing dataclasses would take half of the start-up time allowed.
        known = self.options()
        for name in options:
            if name not in known:
                raise OptionError(
                    f"{self.slug} has no option {quote(name)}; it has {listed(known)}"
                )
        for name, option in known.items():
            self.__dict__[name] = option.read(options.get(name, option.default))
        self.check()

    @classmethod
    def options(cls) -> dict[str, Option[Any]]:
        """The rule options by name, the game's own before the common ones. Do not modify."""
        known = _options.get(cls)
        if known is None:
            known = _options[cls] = {}
            for kind in cls.__mro__:
                for name, value in vars(kind).items():
                    if isinstance(value, Option):
                        known.setdefault(name, value)  # a subclass may replace an option
        return known

    def check(self) -> None:
        """Raise `OptionError` if the values of several options contradict each other."""

    def settings(self) -> dict[str, str]:
        """Every option as text, as `--set` takes it and a record stores it."""
        return {name: option.show(self.__dict__[name]) for name, option in self.options().items()}

    def usual(self) -> bool:
        """Whether all options except `first` have their default values."""
        return not self.differing()

    def differing(self) -> dict[str, str]:
        """The options except `first` that do not have their default values, as text."""
        options = self.options()
        return {
            name: text
            for name, text in self.settings().items()
            if name != "first" and text != options[name].show(options[name].default)
        }

    def differing_line(self) -> str:
        """The options that do not have their default values, for people; empty if all have."""
        changed = listed(f"{name}={value}" for name, value in self.differing().items())
        return f"Options: {changed}" if changed else ""

    def words(self) -> dict[str, str]:
        """Further values that the text of the rules contains, computed from the options."""
        return {}

    def rules_text(self) -> str:
        """The rules and rulings with the values of the options filled in."""
        described = {n: option.describe(self.__dict__[n]) for n, option in self.options().items()}
        return self.rules.format(**described, **self.words())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a game's options are fixed; make a new {type(self).__name__}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.settings().items())))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.options())
        return f"{type(self).__name__}({shown})"

    # Rules

    def start(self) -> S:
        """The initial state."""
        raise NotImplementedError

    def turn(self, state: S) -> Decide | Chance | Over:
        """What must happen in a state: a choice, a chance event, or the end of the game."""
        raise NotImplementedError

    def play(self, state: S, *picks: Move) -> S:
        """The state after one pick per decider, lower player first, or after a chance outcome.

        Only what `turn` lists may be passed (and `timeout_move`); a `Match` checks that.
        """
        raise NotImplementedError

    def highest_payoff(self) -> Payoff:
        """The most that a win pays: 1 where every win is a plain win, else more than 1.

        It decides in which unit the values of the game are (`duels.core.payoffs`), and is what a
        player pays who resigns, forfeits or runs out of time: giving up is never better than
        playing on.
        """
        return 1

    def observe(self, state: S, viewer: int | None) -> O:
        """What a player, or a spectator (None), may know of a state."""
        raise NotImplementedError

    def redact(self, state: S, event: Event, viewer: int | None) -> Event:
        """What a viewer learns of an event that happens in `state`. Default: all of it.

        The events a player has seen must determine all that the player may know.
        """
        return event

    # Encoding for programs: environments, agents, opponents that look one move ahead

    def gain(self, seen: O, player: int, move: Move) -> float:
        """The immediate expected gain of a move, given an observation; infinite if it wins."""
        return 0.0

    def moves(self) -> tuple[Move, ...]:
        """Every move that these options allow, in a fixed order: an action is an index into it."""
        raise NotImplementedError

    def features(self) -> tuple[str, ...]:
        """The names of the numbers that `encode` returns, in order."""
        raise NotImplementedError

    def encode(self, seen: O, player: int) -> tuple[int, ...]:
        """An observation as whole numbers from 0 up, the player's own side first."""
        raise NotImplementedError

    def bounds(self) -> tuple[int, ...]:
        """The largest value of each number of `encode`, in any seat; empty if not declared."""
        return ()

    def recalled(self) -> dict[str, int]:
        """The names of the numbers that `recall` returns, with the largest value of each.

        Empty if an observation contains everything that a player needs to know of the past.
        """
        return {}

    def recall(self, history: History, player: int) -> tuple[int, ...]:
        """What a player knows of the past beyond the observation, as whole numbers from 0 up."""
        return ()

    def longest(self) -> int | None:
        """The most choices a game can have, a sealed pair counting once; None if unbounded."""
        return None

    # Input and presentation, from observations and never from states. `history` are the events as
    # the viewer saw them, for what an observation does not contain: the last roll, the order in
    # which numbers were used.

    def opening(self, seen: O, viewer: int | None = None) -> Lines:
        """Lines before the first turn."""
        return []

    def status(self, seen: O, viewer: int | None, history: History = ()) -> Lines:
        """Lines before a choice."""
        return []

    def ask(self, seen: O, player: int, so_far: Move) -> Step | None:
        """The next question of a player's choice after `so_far`; None when the move is complete."""
        raise NotImplementedError

    def tell(self, before: O, event: Event, after: O, viewer: int | None) -> Lines:
        """Lines that tell an event, in the second person for a player, third for a spectator."""
        return []

    def ending(self, seen: O, result: Result, viewer: int | None = None) -> Lines:
        """Lines after the last turn, however the match ended."""
        return ["", *verdict(result, viewer, pays=self.highest_payoff() != 1)]

    def table(self, seen: O, viewer: int | None, history: History = ()) -> list[Part]:
        """The parts of the table, for clients that draw them."""
        return []

    def caption(self, before: O, event: Event, after: O, names: Names) -> Caption:
        """An event in a few words, for clients that draw the table.

        Default: the move or the outcome, and the values on the table that it changes.
        """
        viewer = names.viewer
        changed, favours = changes(self.table(before, viewer), self.table(after, viewer), names)
        if isinstance(event, Outcome):
            what = "a hidden one" if event.outcome == HIDDEN else event.outcome
            who = "Chance:" if event.by is None else names.does(event.by, "gets")
            return Caption(f"{who} {what}", changed, favours, minor=not changed)
        picks = sorted(event.moves, key=lambda pick: pick[0] != viewer)  # "You" comes first
        return Caption(listed(chosen(*pick, names) for pick in picks), changed, favours)


AnyGame = Game[Any, Any]


def chosen(player: int, move: Move, names: Names) -> str:
    """A player's move in a few words, whatever the game.

    >>> chosen(0, "7", Names(viewer=0)), chosen(1, "raise 2", Names(viewer=0))
    ('You play 7', 'Player 2: raise 2')
    """
    if move[:1].isalpha():
        return f"{names.of(player)}: {move}"
    return names.does(player, f"plays {move}")


def changes(before: list[Part], after: list[Part], names: Names) -> tuple[str, int | None]:
    """The meters and points that differ between two tables, and the player whom that favours.

    >>> changes([Points("Points", 0, 3, 1)], [Points("Points", 2, 3, 1)], Names(("Ada", "Bob")))
    ('Bob’s Points +2', 1)
    """
    known = {
        (type(part), part.label, part.owner): part[1]
        for part in before
        if isinstance(part, Meter | Points)
    }
    words, balance = [], 0  # above zero: good for player 0
    for part in after:
        if part.owner is None or not isinstance(part, Meter | Points):
            continue
        if change := part[1] - known.get((type(part), part.label, part.owner), part[1]):
            words.append(f"{names.whose(part.owner)} {part.label} {signed(change)}")
            balance += change if part.owner == 0 else -change
    return listed(words), None if not balance else int(balance < 0)


def verdict(
    result: Result,
    viewer: int | None,
    wins: str = "wins!",
    draw: str = "The game is a draw.",
    pays: bool = False,
) -> Lines:
    """Lines with the reason for the end of a match and its winner, in the words of the game.

    Where some wins pay more than others (`pays`), every win is told with its payoff.
    """
    if result.winner is None:
        words = draw if result.by != "limit" else "There is no winner."
    else:
        verb, end = wins[:4], wins[4:]
        paid = f" {result.payoff}" if pays or result.payoff != 1 else ""
        words = does(result.winner, viewer, verb) + paid + end
    return [addressed(result.reason, viewer), Line(words, RESULT)]


def state_to_json(state: tuple[Any, ...]) -> list[Any]:
    """A state as JSON values. States contain only plain values, so no conversion is needed."""
    return [state_to_json(item) if isinstance(item, tuple) else item for item in state]


def state_from_json(game: Game[S, O], values: list[Any]) -> S:
    """The state that `state_to_json` wrote.

    >>> from duels.games import load
    >>> game = load("digit-duel")
    >>> state_from_json(game, state_to_json(game.start())) == game.start()
    True
    """

    def tuples(items: list[Any]) -> tuple[Any, ...]:
        return tuple(tuples(item) if isinstance(item, list) else item for item in items)

    kind = type(game.start())
    return kind._make(tuples(values))  # type: ignore[attr-defined, no-any-return]
