"""A game as numbers: its moves as indices, what a player sees and may do as arrays.

One `Coding` serves all environments of a game, since nothing in it changes but what it remembers:
positions that come up again and again (the deal, the first moves, a small game as a whole) are
asked of the rules once.

>>> from duels.games import load
>>> code = coding(load("firewall-breach"))
>>> code.moves[1], code.mask(("bypass",)).tolist()
('bypass', [0, 1])
>>> code.start().observation(0).tolist()
[10, 10, 1]
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from math import lcm
from typing import Any

from duels.core.chance import SPAN, draw, holder
from duels.core.errors import IllegalMove, quote
from duels.core.game import AnyGame, Chance, Decide, Move, Over
from duels.envs.extras import Array, need

np: Any = need("numpy", extra="rl")

NUMBER = np.int16  # of every feature; the largest rule option is 999
TOP = int(np.iinfo(NUMBER).max)
MASKS = 10_000  # distinct sets of options, and of odds, remembered
WIDE = 1500  # positions at one depth beyond which hardly any comes up twice
MOST = 30_000  # positions remembered: some tens of megabytes at the most
LARGEST_WHOLE = 1000  # odds with a larger common denominator are drawn the plain way

Key = int | tuple[int, int] | str  # an action, a sealed pair of them, a chance outcome


class Node:
    """A position: its turn and masks, and, where it is remembered, what was ever asked about it."""

    __slots__ = (
        "_after", "_seen", "chance", "coding", "deciders", "depth", "masks", "options", "over",
        "state", "tickets",
    )  # fmt: skip

    def __init__(self, coding: Coding, state: Any, depth: int) -> None:
        self.coding, self.state, self.depth = coding, state, depth
        self.options: Any = {}
        self.deciders: tuple[int, ...] = ()
        self.masks: dict[int, Array] = {}
        self.over: Over | None = None
        self.chance: Chance | None = None
        self._after: dict[Key, Node] | None = None
        self._seen: dict[int, Array] | None = None
        self.tickets: Tickets | None = None
        turn = coding.game.turn(state)
        if isinstance(turn, Decide):
            self.options = turn.options
            self.deciders = tuple(turn.options)
            for player in self.deciders:
                self.masks[player] = coding.mask(turn.options[player])
        elif isinstance(turn, Chance):
            self.chance = turn
            self.tickets = coding.tickets(turn.odds)
        else:
            self.over = turn

    def remember(self) -> None:
        """Keep answers from now on: this position will come up again."""
        self._after, self._seen = {}, {}

    def actions(self, player: int) -> list[int]:
        """The actions a player may choose, ascending. Shared: not to be changed."""
        return self.coding.actions(self.options[player])

    def roll(self, seed: int, n: int) -> str:
        """The n-th chance outcome of the match with this seed."""
        assert self.tickets is not None
        return self.tickets.draw(seed, n)

    def after(self, key: Key, *picks: str) -> Node:
        """The position after a choice or an outcome; `key` names it more briefly than the picks."""
        found = None if self._after is None else self._after.get(key)
        if found is None:
            state = self.coding.game.play(self.state, *picks)
            found = self.coding.node(state, self.depth + 1)
            if self._after is not None and found._after is not None:
                self._after[key] = found
        return found

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


class Tickets:
    """Odds laid out, from their second use on, so that a draw takes one lookup.

    The outcome is that of `duels.core.chance.draw`: the same function of seed and n.
    """

    __slots__ = ("_last", "_owners", "_shares", "_used", "odds", "outcomes")

    def __init__(self, odds: Mapping[str, Fraction]) -> None:
        self.odds = odds
        self.outcomes = tuple(odds)
        self._shares: list[tuple[int, float]] | None = None
        self._used = False
        self._owners: list[str] = []
        self._last = 0

    def draw(self, seed: int, n: int) -> str:
        owners = self._owners
        if owners:
            number = int.from_bytes(sha256(f"duels {seed} {n} 0".encode()).digest(), "big")
            if number < self._last:
                return owners[number % len(owners)]
        elif self._used:
            self._lay_out()
        self._used = True
        return draw(seed, n, self.odds)

    def numbered(self) -> list[tuple[int, float]]:
        """Each outcome's place in the list, with its probability. Shared: not to be changed."""
        if self._shares is None:
            self._shares = [(place, float(odd)) for place, odd in enumerate(self.odds.values())]
        return self._shares

    def _lay_out(self) -> None:
        whole = lcm(*(odd.denominator for odd in self.odds.values()))
        if whole <= LARGEST_WHOLE:
            self._owners = [holder(ticket, whole, self.odds) for ticket in range(whole)]
            self._last = SPAN - SPAN % whole


class Coding:
    """How one game's moves and observations are numbered."""

    def __init__(self, game: AnyGame) -> None:
        self.game = game
        self.moves: tuple[Move, ...] = game.moves()
        self.features: tuple[str, ...] = game.features()
        self.index = {move: number for number, move in enumerate(self.moves)}
        self.nothing = self._frozen(())
        self._masks: dict[tuple[Move, ...], Array] = {}
        self._actions: dict[tuple[Move, ...], list[int]] = {}
        self._tickets: dict[int, Tickets] = {}
        self._remembered = 0
        self._narrow: dict[int, dict[Any, Node] | None] = {}

    def move(self, action: int) -> Move:
        """The move an action stands for; an index out of range is an error."""
        if action is None or not 0 <= action < len(self.moves):
            last = len(self.moves) - 1
            raise IllegalMove(f"an action is a number from 0 to {last}; got {quote(action)}")
        return self.moves[action]

    def mask(self, options: tuple[Move, ...]) -> Array:
        """Which actions are options, 1 or 0 for each. Shared and read-only: copy to hand out."""
        found = self._masks.get(options)
        if found is None:
            if len(self._masks) >= MASKS:
                self._masks.clear()
            found = self._masks[options] = self._frozen(options)
        return found

    def actions(self, options: tuple[Move, ...]) -> list[int]:
        """The actions that options stand for, ascending. Shared: not to be changed."""
        found = self._actions.get(options)
        if found is None:
            if len(self._actions) >= MASKS:
                self._actions.clear()
            found = self._actions[options] = sorted(self.index[move] for move in options)
        return found

    def tickets(self, odds: Mapping[str, Fraction]) -> Tickets:
        """The tickets of odds. Games that give the same object again are served from memory."""
        found = self._tickets.get(id(odds))
        if found is None:
            if len(self._tickets) >= MASKS:
                self._tickets.clear()
            # Keeping the odds alive in their tickets keeps their id from naming others.
            found = self._tickets[id(odds)] = Tickets(odds)
        return found

    def start(self) -> Node:
        return self.node(self.game.start(), 0)

    def node(self, state: Any, depth: int) -> Node:
        """A position reached after so many events, from memory where it is worth remembering.

        Only depths with few positions are: there the same ones come up in game after game.
        """
        narrow = self._narrow.setdefault(depth, {})
        if narrow is None:
            return Node(self, state, depth)
        found = narrow.get(state)
        if found is None:
            found = Node(self, state, depth)
            if self._remembered < MOST:
                narrow[state] = found
                found.remember()
                self._remembered += 1
            if len(narrow) >= WIDE:
                self._narrow[depth] = None
        return found

    def _frozen(self, options: tuple[Move, ...]) -> Array:
        mask = np.zeros(len(self.moves), np.int8)
        mask[[self.index[move] for move in options]] = 1
        mask.flags.writeable = False
        return mask

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
