"""A game as numbers: its moves as indices, what a player sees and may do as arrays.

One `Coding` serves all environments of a game, since nothing in it changes but what it remembers:
positions that come up again and again (the deal, the first moves, a small game as a whole) are
asked of the rules once.

>>> from duels.games import load
>>> code = coding(load("firewall-breach"))
>>> code.moves[1], code.choices(("bypass",))[1].tolist()
('bypass', [0, 1])
>>> code.start.observation(0).tolist()
[10, 10, 1]
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property, lru_cache
from operator import index
from typing import Any

from duels.core.errors import DuelsError, IllegalMove, quote
from duels.core.game import (
    AnyGame,
    Chance,
    Decide,
    Event,
    Game,
    Move,
    Outcome,
    Over,
    Pick,
    Result,
)
from duels.core.show import listed
from duels.envs.extras import Array, need
from duels.envs.sampler import Sampler
from duels.envs.settings import NUMBER

np: Any = need("numpy", extra="rl")

KEPT = 20_000  # turns, sets of options and odds remembered
WIDE = 1500  # positions at one depth beyond which hardly any comes up twice
MOST = 30_000  # positions remembered: some tens of megabytes at the most

ENCODING = ("moves", "features", "encode")  # what a game must say to be played through numbers

Key = int | tuple[int, int] | str  # an action, a sealed pair of them, a chance outcome


class NotEncoded(DuelsError, ValueError):
    """A game that does not say how its moves and what a player sees are numbered."""


class Node:
    """A position and its turn, and, where it is remembered, what was ever asked about it."""

    __slots__ = ("_after", "_seen", "coding", "depth", "state", "turn")

    def __init__(self, coding: Coding, state: Any, depth: int) -> None:
        self.coding = coding
        self.state = state
        self.depth = depth
        source = coding.game.turn(state)
        self.turn = coding.turns.get(id(source)) or coding.turn(source)
        self._after: dict[Key, Node] | None = None
        self._seen: dict[int, Array] | None = None

    def remember(self) -> None:
        """Keep answers from now on: this position will come up again."""
        self._after, self._seen = {}, {}

    # The referee of the environments: what an event leads to, and whether that is the end. An
    # `Episode` adds seeded chance, sealed picks and forfeits to it, a `Position` its past.

    def after(self, key: Key) -> Node:
        """The position after a choice or an outcome."""
        coding, after = self.coding, self._after
        if after is None:
            return Node(coding, coding.game.play(self.state, *coding.picks(key)), self.depth + 1)
        found = after.get(key)
        if found is None:
            found = coding.node(coding.game.play(self.state, *coding.picks(key)), self.depth + 1)
            if found._after is not None:
                after[key] = found
        return found

    def event(self, key: Key) -> Event:
        """What happens here, in full."""
        picks, chance = self.coding.picks(key), self.turn.chance
        if chance is not None:
            return Outcome(picks[0], chance.by)
        return Pick(tuple(zip(sorted(self.turn.deciders), picks, strict=True)))

    def result(self, decisions: int, limit: int) -> Result | None:
        """How a game ends here, when so many decisions have been resolved; None if it goes on."""
        turn = self.turn
        if turn.deciders and decisions >= limit:
            return Result(None, "limit", f"The turn limit of {limit} is reached.")
        return turn.result

    def observation(self, player: int) -> Array:
        """What a player sees, in the order of the features, as an array of the caller's own."""
        found = None if self._seen is None else self._seen.get(player)
        if found is None:
            game = self.coding.game
            found = np.array(game.encode(game.observe(self.state, player), player), NUMBER)
            if self._seen is None:
                return found
            self._seen[player] = found
        return found.copy()

    def __reduce__(self) -> tuple[Any, tuple[Coding, Any, int]]:
        return _node, (self.coding, self.state, self.depth)

    def __deepcopy__(self, memo: object) -> Node:
        return self


class Turn:
    """What happens next, as numbers. Shared by all positions with this turn: not to be changed."""

    __slots__ = ("actions", "chance", "deciders", "masks", "options", "result", "sampler", "source")

    def __init__(self, coding: Coding, source: Decide | Chance | Over) -> None:
        self.source = source
        self.options = source.options if isinstance(source, Decide) else {}
        self.chance = source if isinstance(source, Chance) else None
        self.result: Result | None = None
        if isinstance(source, Over):
            self.result = Result(source.winner, "rules", source.reason)
        self.deciders = tuple(self.options)
        # By player: which actions are options, ascending, and 1 or 0 for each action there is.
        self.actions: dict[int, list[int]] = {}
        self.masks: dict[int, Array] = {}
        for player, options in self.options.items():
            self.actions[player], self.masks[player] = coding.choices(options)
        self.sampler = None if self.chance is None else coding.sampler(self.chance.odds)


class Coding:
    """How one game's moves and observations are numbered; `NotEncoded` if it does not say so."""

    def __init__(self, game: AnyGame) -> None:
        missing = [name for name in ENCODING if getattr(type(game), name) is getattr(Game, name)]
        if missing:
            raise NotEncoded(
                f"{game.slug} cannot be played through numbers: it lacks {listed(missing)}"
            )
        self.game = game
        self.moves: tuple[Move, ...] = game.moves()
        self.features: tuple[str, ...] = game.features()
        self.index = {move: number for number, move in enumerate(self.moves)}
        self.turns: dict[int, Turn] = {}  # by the id of what they were made of
        self._alike: dict[Any, Turn] = {}
        self._choices: dict[tuple[Move, ...], tuple[list[int], Array]] = {}
        self.nothing = self.choices(())[1]
        self._samplers: dict[int, Sampler] = {}
        self._remembered = 0
        self._wide = sys.maxsize  # the depth from which on nothing is remembered
        self._nodes: defaultdict[int, dict[Any, Node]] = defaultdict(dict)

    def action(self, given: Any) -> int:
        """An action as a plain number; what is no number, or out of range, is an error."""
        try:
            action = index(given)
            if 0 <= action < len(self.moves):
                return action
        except TypeError:
            pass
        last = len(self.moves) - 1
        raise IllegalMove(f"an action is a number from 0 to {last}; got {quote(given)}")

    def move(self, action: Any) -> Move:
        """The move an action stands for."""
        return self.moves[self.action(action)]

    def picks(self, key: Key) -> tuple[Move, ...]:
        """What the rules call what a key names."""
        if isinstance(key, str):
            return (key,)
        if isinstance(key, tuple):
            return self.moves[key[0]], self.moves[key[1]]
        return (self.moves[key],)

    def turn(self, source: Decide | Chance | Over) -> Turn:
        """A turn as numbers. One that is the same object again is found in `turns`, faster."""
        key: Any = source
        if isinstance(source, Decide):
            key = tuple(source.options.items())
        elif isinstance(source, Chance):
            key = id(source.odds), source.by
        found = self._alike.get(key)
        if found is None:
            if len(self.turns) >= KEPT:
                self.turns.clear()
                self._alike.clear()
            # Its source, kept alive in it, keeps both ids from naming others.
            found = self.turns[id(source)] = self._alike[key] = Turn(self, source)
        return found

    def choices(self, options: tuple[Move, ...]) -> tuple[list[int], Array]:
        """The actions that options stand for, and their mask, read-only: copy it to hand it out."""
        found = self._choices.get(options)
        if found is None:
            if len(self._choices) >= KEPT:
                self._choices.clear()
            actions = sorted(self.index[move] for move in options)
            mask = np.zeros(len(self.moves), np.int8)
            mask[actions] = 1
            mask.flags.writeable = False
            found = self._choices[options] = actions, mask
        return found

    def sampler(self, odds: Mapping[str, Fraction]) -> Sampler:
        """The sampler of odds. Games that give the same object again are served from memory."""
        found = self._samplers.get(id(odds))
        if found is None:
            if len(self._samplers) >= KEPT:
                self._samplers.clear()
            # Keeping the odds alive in their sampler keeps their id from naming others.
            found = self._samplers[id(odds)] = Sampler(odds)
        return found

    @cached_property
    def start(self) -> Node:
        """Where every game begins."""
        return self.node(self.game.start(), 0)

    def node(self, state: Any, depth: int) -> Node:
        """A position reached after so many events, from memory where it is worth remembering.

        It is up to the first depth with very many positions: until there the same ones come up in
        game after game, and beyond hardly any does.
        """
        if depth >= self._wide:
            return Node(self, state, depth)
        found = self._nodes[depth].get(state)
        if found is None:
            found = self._nodes[depth][state] = Node(self, state, depth)
            found.remember()
            self._remembered += 1
            if len(self._nodes[depth]) >= WIDE or self._remembered >= MOST:
                self._wide = depth
        return found

    # Two codings of a game differ in nothing but what they remember.

    def __reduce__(self) -> tuple[Any, tuple[AnyGame]]:
        return coding, (self.game,)

    def __deepcopy__(self, memo: object) -> Coding:
        return self


@lru_cache(maxsize=256)
def coding(game: AnyGame) -> Coding:
    """The coding of a game with its options."""
    return Coding(game)


def _node(coding: Coding, state: Any, depth: int) -> Node:
    return coding.node(state, depth)
