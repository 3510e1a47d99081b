"""Immutable game states with their history, shared by all clones of an OpenSpiel state.

A player's information state is the list of events as that player saw them. Its text is computed
once for each snapshot and extended by its successors.

>>> from duels.envs.encoding import encoding
>>> from duels.games import load
>>> game = load("cipher-siege")
>>> dealt = initial(encoding(game), limit=500).after("4").after("2")
>>> dealt.known(0), dealt.known(1), dealt.known(None)
('chance 1:4; chance 2:?', 'chance 1:?; chance 2:2', 'chance 1:?; chance 2:?')
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.belief import Course
from duels.core.game import AnyGame, Chance, Decide, Event, Move, Outcome, Over, Pick
from duels.envs.encoding import EventKey, GameEncoding, GameNode

PROBES = 40  # random games to determine a game's traits
PROBE_LENGTH = 200  # choices of each


class Snapshot:
    """The state of a game after a list of events."""

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

    def __init__(self, node: GameNode, limit: int, before: Snapshot | None, key: EventKey) -> None:
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

    def after(self, key: EventKey) -> Snapshot:
        """The position after an action, a sealed pair of them, or a chance outcome."""
        return Snapshot(self.node.after(key), self.limit, self, key)

    def event(self) -> tuple[Any, Event]:
        """The last event, and the state before it."""
        assert self.before is not None
        return self.before.node.state, self.before.node.event(self.key)

    def redact(self, viewer: int | None) -> Event:
        """The last event as a viewer saw it."""
        if self._seen is None:
            self._seen = {}
        found = self._seen.get(viewer)
        if found is None:
            state, event = self.event()
            found = self._seen[viewer] = self.node.encoding.game.redact(state, event, viewer)
        return found

    def known(self, viewer: int | None) -> str:
        """All events as a viewer saw them, as text."""
        text = self._known_text(viewer)
        if text is None:
            text = ""
            for snapshot in self.path():  # iterative, since games may be long
                known = snapshot._known_text(viewer)
                if known is None:
                    line = "; ".join(
                        f"{who}:{what}" for who, what in event_items(snapshot.redact(viewer))
                    )
                    known = f"{text}; {line}" if text else line
                    snapshot._texts = {**(snapshot._texts or {}), viewer: known}
                text = known
        return text

    def _known_text(self, viewer: int | None) -> str | None:
        return None if self._texts is None else self._texts.get(viewer)

    def path(self) -> list[Snapshot]:
        """Every position after the first, up to this one."""
        found: list[Snapshot] = []
        snapshot = self
        while snapshot.before is not None:
            found.append(snapshot)
            snapshot = snapshot.before
        return found[::-1]

    # A copy is the same object; a pickle is the list of events.

    def __deepcopy__(self, memo: object) -> Snapshot:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return replay, (self.node.encoding, self.limit, [p.key for p in self.path()])


def initial(encoding: GameEncoding, limit: int) -> Snapshot:
    """The snapshot of the initial state."""
    return Snapshot(encoding.start, limit, None, "")


def replay(encoding: GameEncoding, limit: int, keys: list[EventKey]) -> Snapshot:
    snapshot = initial(encoding, limit)
    for key in keys:
        snapshot = snapshot.after(key)
    return snapshot


def event_items(event: Event) -> Iterator[tuple[str, str]]:
    """An event as (actor, action): actors are "1" and "2", and "chance 1" for a player's draw."""
    if isinstance(event, Outcome):
        yield "chance" if event.by is None else f"chance {event.by + 1}", event.outcome
    else:
        for player, move in event.moves:
            yield str(player + 1), move


def event_key(encoding: GameEncoding, event: Event) -> EventKey:
    """The key of an event, as `after` takes it."""
    if isinstance(event, Outcome):
        return event.outcome
    picks = [encoding.index[move] for _, move in event.moves]
    return picks[0] if len(picks) == 1 else (picks[0], picks[1])


def random_event(turn: Decide | Chance, randomness: Random) -> Event:
    """A random event: any outcome, or any first word and then any move that begins with it."""
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
    """The turns of one random game, up to `PROBE_LENGTH` decisions.

    Moves are chosen by first word, so that a single swap among hundreds of attacks occurs.
    """
    course, decisions = Course(game.start()), 0
    while not isinstance(turn := game.turn(course.state), Over) and decisions < PROBE_LENGTH:
        yield turn
        decisions += isinstance(turn, Decide)
        course = course.after(game, random_event(turn, randomness))


class GameTraits(NamedTuple):
    """Traits of a game, as far as random play shows them."""

    sealed: bool  # every choice is simultaneous
    chance: bool
    outcomes: int  # the largest number of outcomes of a chance event
    dealt: int  # chance events before the first choice
    between: int  # the largest number of chance events between two choices


@lru_cache(maxsize=256)
def traits_of(game: AnyGame) -> GameTraits:
    """The traits of a game by random play, which is seeded by the game's slug.

    Only the rules are used, so that a game without an encoding has traits too.
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
    return GameTraits(always_sealed(game), outcomes > 0, outcomes, dealt, between)


@lru_cache(maxsize=256)
def always_sealed(game: AnyGame) -> bool:
    """Whether every choice is simultaneous, as far as random play shows."""
    randomness = Random(game.slug)
    games = (random_turns(game, randomness) for _ in range(PROBES))
    turns = (turn for game in games for turn in game)
    return all(len(turn.options) == 2 for turn in turns if isinstance(turn, Decide))
