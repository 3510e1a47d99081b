"""Games as numbers: moves as indices, observations and masks as arrays.

One `GameEncoding` is shared by all environments of a game: its only mutable state is a cache.
Positions that recur (the deal, the first moves, all of a small game) are computed from the rules
once.

>>> from duels.games import load
>>> code = encoding(load("firewall-breach"))
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
from duels.core.extras import Array, need
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
from duels.core.presentation import listed
from duels.envs.sampler import Sampler
from duels.envs.settings import NUMBER

np: Any = need("numpy", extra="rl")

CACHED = 20_000  # turns, sets of options and odds
WIDE = 1500  # positions at one depth beyond which few recur
MOST = 30_000  # cached positions: some tens of megabytes at most

ENCODING = ("moves", "features", "encode")  # the methods that a game needs for environments

EventKey = int | tuple[int, int] | str  # an action, a simultaneous pair, a chance outcome


class NotEncoded(DuelsError, ValueError):
    """A game without an encoding of its moves and observations."""


class GameNode:
    """A position and its turn; a cached node also caches its observations and successors."""

    __slots__ = ("_after", "_seen", "depth", "encoding", "state", "turn")

    def __init__(self, encoding: GameEncoding, state: Any, depth: int) -> None:
        self.encoding = encoding
        self.state = state
        self.depth = depth
        source = encoding.game.turn(state)
        self.turn = encoding.turns.get(id(source)) or encoding.turn(source)
        self._after: dict[EventKey, GameNode] | None = None
        self._seen: dict[int, Array] | None = None

    def remember(self) -> None:
        """Cache observations and successors from now on."""
        self._after, self._seen = {}, {}

    # The transitions of the environments: what an event leads to, and whether that is the end. An
    # `Episode` adds seeded chance, simultaneous picks and forfeits, a `Snapshot` the past.

    def after(self, key: EventKey) -> GameNode:
        """The position after a choice or an outcome."""
        encoding, after = self.encoding, self._after
        if after is None:
            return GameNode(
                encoding, encoding.game.play(self.state, *encoding.picks(key)), self.depth + 1
            )
        found = after.get(key)
        if found is None:
            found = encoding.node(
                encoding.game.play(self.state, *encoding.picks(key)), self.depth + 1
            )
            if found._after is not None:
                after[key] = found
        return found

    def event(self, key: EventKey) -> Event:
        """The event that a key stands for here, unredacted."""
        picks, chance = self.encoding.picks(key), self.turn.chance
        if chance is not None:
            return Outcome(picks[0], chance.by)
        return Pick(tuple(zip(sorted(self.turn.deciders), picks, strict=True)))

    def result(self, decisions: int, limit: int) -> Result | None:
        """The result of a game here after so many decisions; None if it continues."""
        turn = self.turn
        if turn.deciders and decisions >= limit:
            return Result(None, "limit", f"The turn limit of {limit} is reached.")
        return turn.result

    def observation(self, player: int) -> Array:
        """A player's observation in the order of the features, as a new array."""
        found = None if self._seen is None else self._seen.get(player)
        if found is None:
            game = self.encoding.game
            found = np.array(game.encode(game.observe(self.state, player), player), NUMBER)
            if self._seen is None:
                return found
            self._seen[player] = found
        return found.copy()

    def __reduce__(self) -> tuple[Any, tuple[GameEncoding, Any, int]]:
        return _node, (self.encoding, self.state, self.depth)

    def __deepcopy__(self, memo: object) -> GameNode:
        return self


class EncodedTurn:
    """A turn as numbers. Shared by all positions with this turn, so it must not be changed."""

    __slots__ = ("actions", "chance", "deciders", "masks", "options", "result", "sampler", "source")

    def __init__(self, encoding: GameEncoding, source: Decide | Chance | Over) -> None:
        self.source = source
        self.options = source.options if isinstance(source, Decide) else {}
        self.chance = source if isinstance(source, Chance) else None
        self.result: Result | None = None
        if isinstance(source, Over):
            self.result = Result(source.winner, "rules", source.reason, source.payoff)
        self.deciders = tuple(self.options)
        # By player: the legal actions, ascending, and the mask over all actions.
        self.actions: dict[int, list[int]] = {}
        self.masks: dict[int, Array] = {}
        for player, options in self.options.items():
            self.actions[player], self.masks[player] = encoding.choices(options)
        self.sampler = None if self.chance is None else encoding.sampler(self.chance.odds)


class GameEncoding:
    """The encoding of a game's moves and observations; raises `NotEncoded` if it has none."""

    def __init__(self, game: AnyGame) -> None:
        missing = [name for name in ENCODING if getattr(type(game), name) is getattr(Game, name)]
        if missing:
            raise NotEncoded(
                f"{game.slug} has no numerical encoding: it does not define {listed(missing)}"
            )
        self.game = game
        self.moves: tuple[Move, ...] = game.moves()
        self.features: tuple[str, ...] = game.features()
        self.index = {move: number for number, move in enumerate(self.moves)}
        self.turns: dict[int, EncodedTurn] = {}  # by the id of the turn they encode
        self._alike: dict[Any, EncodedTurn] = {}
        self._choices: dict[tuple[Move, ...], tuple[list[int], Array]] = {}
        self.nothing = self.choices(())[1]
        self._samplers: dict[int, Sampler] = {}
        self._remembered = 0
        self._wide = sys.maxsize  # the depth from which nothing is cached
        self._nodes: defaultdict[int, dict[Any, GameNode]] = defaultdict(dict)

    def action(self, given: Any) -> int:
        """An action as an int; raises `IllegalMove` if it is not a number or out of range."""
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

    def picks(self, key: EventKey) -> tuple[Move, ...]:
        """The moves or the outcome that a key stands for."""
        if isinstance(key, str):
            return (key,)
        if isinstance(key, tuple):
            return self.moves[key[0]], self.moves[key[1]]
        return (self.moves[key],)

    def turn(self, source: Decide | Chance | Over) -> EncodedTurn:
        """The encoding of a turn. If the object recurs, `turns` has it by id, which is faster."""
        key: Any = source
        if isinstance(source, Decide):
            key = tuple(source.options.items())
        elif isinstance(source, Chance):
            key = id(source.odds), source.by
        found = self._alike.get(key)
        if found is None:
            if len(self.turns) >= CACHED:
                self.turns.clear()
                self._alike.clear()
            # It keeps its source alive, so that no other object gets the same ids.
            found = self.turns[id(source)] = self._alike[key] = EncodedTurn(self, source)
        return found

    def choices(self, options: tuple[Move, ...]) -> tuple[list[int], Array]:
        """The actions of options, and their mask, which is shared and read-only."""
        found = self._choices.get(options)
        if found is None:
            if len(self._choices) >= CACHED:
                self._choices.clear()
            actions = sorted(self.index[move] for move in options)
            mask = np.zeros(len(self.moves), np.int8)
            mask[actions] = 1
            mask.flags.writeable = False
            found = self._choices[options] = actions, mask
        return found

    def sampler(self, odds: Mapping[str, Fraction]) -> Sampler:
        """The sampler of odds, cached by the identity of the object."""
        found = self._samplers.get(id(odds))
        if found is None:
            if len(self._samplers) >= CACHED:
                self._samplers.clear()
            # The sampler keeps the odds alive, so that no other object gets the same id.
            found = self._samplers[id(odds)] = Sampler(odds)
        return found

    @cached_property
    def start(self) -> GameNode:
        """The initial position."""
        return self.node(self.game.start(), 0)

    def node(self, state: Any, depth: int) -> GameNode:
        """A position reached after so many events, from the cache where there is one.

        Positions are cached up to the first depth with very many of them: until there they recur
        from game to game, beyond few do.
        """
        if depth >= self._wide:
            return GameNode(self, state, depth)
        found = self._nodes[depth].get(state)
        if found is None:
            found = self._nodes[depth][state] = GameNode(self, state, depth)
            found.remember()
            self._remembered += 1
            if len(self._nodes[depth]) >= WIDE or self._remembered >= MOST:
                self._wide = depth
        return found

    # Two encodings of a game differ in their caches only.

    def __reduce__(self) -> tuple[Any, tuple[AnyGame]]:
        return encoding, (self.game,)

    def __deepcopy__(self, memo: object) -> GameEncoding:
        return self


@lru_cache(maxsize=256)
def encoding(game: AnyGame) -> GameEncoding:
    """The encoding of a game with its options."""
    return GameEncoding(game)


def _node(encoding: GameEncoding, state: Any, depth: int) -> GameNode:
    return encoding.node(state, depth)
