"""Value network of Cipher Siege: approximate values of states with both hands known.

It is not a solution, since players do not see the other hand. It is used where approximate values
are sufficient, as in AIVAT (`duels.arena.aivat`). It was trained on games of the built-in players
against each other (`tools/luck.py`) and ships for the default options.

It has one hidden layer, whose input is a sum over the parts of a state: each hand, each CI, the
deck. The contribution of each part is cached, so that a value takes a few additions.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from math import exp
from operator import add, mul
from typing import Any

from duels.algorithms import tables
from duels.core.pieces import Cards, counts
from duels.games.cipher_siege.rules import CipherSiege, State

KIND = "guess"  # part of the file format
CACHED = 50_000  # cached contributions of parts
PATH = os.path.join(os.path.dirname(__file__), "data", "value-network.duels")
# The players of the training. A position is worth more to the better player, so the players are
# inputs; any other player counts as `UNKNOWN_PLAYER`.
PLAYERS = ("perfect", "hard", "medium", "easy", "greedy", "random")
UNKNOWN_PLAYER = "hard"
PLAYER_INDEX = {name: index for index, name in enumerate(PLAYERS)}
# Indices of the parts of a state; CIS and PLAYER are two parts each, CONSTANT is always 1.
OWN, OTHER, CIS, DECK, CONSTANT, PLAYER = 0, 1, 2, 4, 5, 6
DAMAGE = 5.0  # divisor of damages, which scales them to about the size of counts


def features(hand: Cards, values: int) -> list[float]:
    """The features of a hand: count of each card, largest attack, and that with each card added.

    >>> features((1, 2, 2), 3)
    [1.0, 2.0, 0.0, 1.0, 1.2, 1.4, 1.8]
    """
    held = counts(hand, values)
    more = [(*held[:v], held[v] + 1, *held[v + 1 :]) for v in range(values)]
    return [*map(float, held), *(largest(h) / DAMAGE for h in (held, *more))]


def largest(held: tuple[int, ...]) -> int:
    """The largest attack of a hand, given the counts of its cards: all of it, or a sequence."""
    top = sum((value + 1) * count for value, count in enumerate(held))
    for low in range(len(held)):
        high = low
        while high < len(held) and held[high]:
            high += 1
        if high - low > 1:
            top = max(top, sum(range(low + 1, high + 1)) + high - low)
    return top


def shape(game: CipherSiege) -> list[int]:
    """The number of features of each part: hands, CIs, the deck, a constant, players."""
    hand, ci = 2 * game.values + 1, max(game.integrity)
    return [hand, hand, ci, ci, game.values, 1, len(PLAYERS), len(PLAYERS)]


class ValueNetwork:
    """The value network of a game; call it with a state for the value."""

    def __init__(self, game: CipherSiege, payload: memoryview) -> None:
        self.game = game
        inputs = sum(shape(game))
        numbers = struct.unpack(f"<{len(payload) // 4}f", payload)
        hidden = (len(numbers) - 1) // (inputs + 1)
        rows = [list(numbers[at * hidden : (at + 1) * hidden]) for at in range(inputs + 1)]
        self.out, self.bias = rows.pop(), numbers[-1]
        self._weights = []
        for size in shape(game):
            self._weights.append(rows[:size])
            rows = rows[size:]
        self._cache: dict[Any, list[float]] = {}

    def __call__(self, state: State, players: Sequence[str]) -> float:
        """Player 1's approximate expected score in a state where a player chooses an action."""
        mover = state.mover
        own, other = state.hands[mover], state.hands[1 - mover]
        mine, theirs = player_index(players[mover]), player_index(players[1 - mover])
        cis = state.ci[mover], state.ci[1 - mover], mine, theirs
        hands = map(add, self._part(OWN, own), self._part(OTHER, other))
        hidden = map(add, hands, map(add, self._part(CIS, cis), self._part(DECK, state.deck)))
        total = self.bias
        for part, weight in zip(hidden, self.out, strict=True):
            if part > 0.0:
                total += part * weight
        chance = 1.0 / (1.0 + exp(-total))
        return chance if mover == 0 else 1.0 - chance

    def _part(self, part: int, of: tuple[int, ...]) -> list[float]:
        found = self._cache.get((part, of))
        if found is None:
            if len(self._cache) > CACHED:
                self._cache.clear()
            found = self._cache[part, of] = self.contribution(part, of)
        return found

    def contribution(self, part: int, of: tuple[int, ...]) -> list[float]:
        """The contribution of a part to the hidden layer: cards, or both CIs with the players."""
        weights, values = self._weights, self.game.values
        if part == CIS:
            own, other, mine, theirs = of
            rows = weights[CIS][own - 1], weights[CIS + 1][other - 1]
            return _sum((1, 1, 1, 1), (*rows, weights[PLAYER][mine], weights[PLAYER + 1][theirs]))
        if part == DECK:
            return _sum((1, *counts(of, values)), (*weights[CONSTANT], *weights[DECK]))
        return _sum(features(of, values), weights[part])


def player_index(player: str) -> int:
    """The index of a player among the players of the training."""
    return PLAYER_INDEX.get(player, PLAYER_INDEX[UNKNOWN_PLAYER])


def _sum(factors: Sequence[float], rows: Sequence[Sequence[float]]) -> list[float]:
    return [sum(map(mul, factors, column)) for column in zip(*rows, strict=True)]


def find_value_network(game: CipherSiege) -> ValueNetwork | None:
    """The network that ships for a game; None for any other options."""
    usual = CipherSiege()
    if tables.settings(game) != tables.settings(usual):
        return None
    return ValueNetwork(game, tables.load(PATH, usual, KIND).payload)
