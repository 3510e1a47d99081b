"""A position with its past, never changed and so shared by all copies: what a cloned state holds.

What a player knows is the list of events as that player saw them. It is told as text once for each
position and handed on to those after it.

>>> from duels.envs.coding import coding
>>> from duels.games import load
>>> game = load("cipher-siege")
>>> dealt = begin(coding(game), limit=500).after("4").after("2")
>>> dealt.known(0), dealt.known(1), dealt.known(None)
('chance 1:4; chance 2:?', 'chance 1:?; chance 2:2', 'chance 1:?; chance 2:?')
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from duels.core.game import AnyGame, Chance, Decide, Event, Move, Outcome, Over, Pick
from duels.envs.coding import Coding, Key, Node
from duels.players.belief import Course

PROBES = 40  # random games played to learn what kind of game it is
PROBE_LENGTH = 200  # choices of each


class Position:
    """Where a game stands after a list of events."""

    __slots__ = (
        "_seen",
        "_texts",
        "before",
        "decisions",
        "key",
        "limit",
        "node",
        "result",
    )

    def __init__(self, node: Node, limit: int, before: Position | None, key: Key) -> None:
        self.node = node
        self.limit = limit
        self.before = before
        self.key = key
        self.decisions: int = 0
        if before is not None:
            self.decisions = before.decisions + (not isinstance(key, str))
        self.result = node.result(self.decisions, limit)
        self._seen: dict[int | None, Event] | None = None
        self._texts: dict[int | None, str] | None = None

    def after(self, key: Key) -> Position:
        """The position after an action, a sealed pair of them, or a chance outcome."""
        return Position(self.node.after(key), self.limit, self, key)

    def event(self) -> tuple[Any, Event]:
        """What happened last, and the state it happened in."""
        assert self.before is not None
        return self.before.node.state, self.before.node.event(self.key)

    def redact(self, viewer: int | None) -> Event:
        """What happened last, as a viewer saw it."""
        if self._seen is None:
            self._seen = {}
        found = self._seen.get(viewer)
        if found is None:
            state, event = self.event()
            found = self._seen[viewer] = self.node.coding.game.redact(state, event, viewer)
        return found

    def known(self, viewer: int | None) -> str:
        """All that has happened, as a viewer saw it."""
        text = self._told(viewer)
        if text is None:
            text = ""
            for position in self.path():  # without recursion: games may be long
                told = position._told(viewer)
                if told is None:
                    line = "; ".join(
                        f"{who}:{what}" for who, what in told_as(position.redact(viewer))
                    )
                    told = f"{text}; {line}" if text else line
                    position._texts = {**(position._texts or {}), viewer: told}
                text = told
        return text

    def _told(self, viewer: int | None) -> str | None:
        return None if self._texts is None else self._texts.get(viewer)

    def path(self) -> list[Position]:
        """Every position after the first, up to this one."""
        found: list[Position] = []
        position = self
        while position.before is not None:
            found.append(position)
            position = position.before
        return found[::-1]

    # A copy is the thing itself; a pickle is the list of events.

    def __deepcopy__(self, memo: object) -> Position:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return replay, (self.node.coding, self.limit, [p.key for p in self.path()])


def begin(coding: Coding, limit: int) -> Position:
    return Position(coding.start, limit, None, "")


def replay(coding: Coding, limit: int, keys: list[Key]) -> Position:
    position = begin(coding, limit)
    for key in keys:
        position = position.after(key)
    return position


def told_as(event: Event) -> Iterator[tuple[str, str]]:
    """An event as pairs of who and what: "1", "2" for players, "chance 1" for their luck."""
    if isinstance(event, Outcome):
        yield "chance" if event.by is None else f"chance {event.by + 1}", event.outcome
    else:
        for player, move in event.moves:
            yield str(player + 1), move


def key_of(coding: Coding, event: Event) -> Key:
    """What names an event in `after`."""
    if isinstance(event, Outcome):
        return event.outcome
    picks = [coding.index[move] for _, move in event.moves]
    return picks[0] if len(picks) == 1 else (picks[0], picks[1])


def any_event(turn: Decide | Chance, randomness: Random) -> Event:
    """Something that may happen next: any outcome, or any first word and then any move with it."""
    if isinstance(turn, Chance):
        return Outcome(randomness.choice(list(turn.odds)), turn.by)
    picks = []
    for player, options in sorted(turn.options.items()):
        words: dict[str, list[Move]] = {}
        for move in options:
            words.setdefault(move.split()[0], []).append(move)
        picks.append((player, randomness.choice(words[randomness.choice(list(words))])))
    return Pick(tuple(picks))


def random_turns(game: AnyGame, randomness: Random) -> Iterator[Decide | Chance]:
    """The turns of one random game, cut off where it is long.

    Moves are chosen by their first word, so that the only swap among hundreds of attacks comes up.
    """
    course, decisions = Course(game.start()), 0
    while not isinstance(turn := game.turn(course.state), Over) and decisions < PROBE_LENGTH:
        yield turn
        decisions += isinstance(turn, Decide)
        course = course.after(game, any_event(turn, randomness))


class Kind(NamedTuple):
    """What kind of game it is, as far as random play can tell."""

    sealed: bool  # every choice is made by both at once
    chance: bool
    outcomes: int  # the most there are at a roll, draw or deal
    dealt: int  # chance events before the first choice
    between: int  # the most chance events between two choices


@lru_cache(maxsize=256)
def kind(game: AnyGame) -> Kind:
    """Play some games at random. The same game always gets the same answer.

    Only the rules are asked, so that a game that cannot be played through numbers has a kind too.
    """
    randomness = Random(game.slug)
    outcomes = dealt = between = 0
    for _ in range(PROBES):
        decisions = run = 0
        for turn in random_turns(game, randomness):
            if isinstance(turn, Chance):
                run += 1
                outcomes = max(outcomes, len(turn.odds))
            else:
                dealt, between = (dealt, max(between, run)) if decisions else (run, between)
                decisions += 1
                run = 0
        between = max(between, run)
    return Kind(always_sealed(game), outcomes > 0, outcomes, dealt, between)


@lru_cache(maxsize=256)
def always_sealed(game: AnyGame) -> bool:
    """Whether every choice is made by both players at once, as far as random play can tell."""
    randomness = Random(game.slug)
    games = (random_turns(game, randomness) for _ in range(PROBES))
    turns = (turn for game in games for turn in game)
    return all(len(turn.options) == 2 for turn in turns if isinstance(turn, Decide))
