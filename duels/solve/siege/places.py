"""Cipher Siege on whole numbers, on a bare Python: multisets of cards, the moves of a hand.

A multiset of cards is one number whose digits of base `copies + 1` count each value, as in the
compiled kernels. Adding or removing cards is then plain addition or subtraction.

>>> codes = Codes(CipherSiege())
>>> hand = codes.code((1, 2, 2))
>>> codes.cards(hand), codes.cards(hand - codes.code((2,)))
((1, 2, 2), (1, 2))
>>> codes.hand(hand).damage, codes.hand(hand).names[codes.hand(hand).best]
(5, 'attack 1 2')
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import mul
from typing import NamedTuple

from duels.core.game import Move
from duels.core.pieces import Cards
from duels.core.player import View
from duels.games.cipher_siege import CipherSiege, attack_value
from duels.solve.siege.knowledge import Memory, cards, in_turn_order, moves_of

ATTACK, DEFEND, SWAP = range(3)
KINDS = {"attack": ATTACK, "defend": DEFEND, "swap": SWAP}


class Info(NamedTuple):
    """What the player to move knows, in codes."""

    hand: int
    other_size: int
    discards: int
    ci: int
    other_ci: int
    known_other: int  # cards that the other is known to hold
    known_own: int  # own cards that the other knows of
    choices: int  # that went before; whether it is odd says whose turn it is


class Hand(NamedTuple):
    """A hand and its moves in the strategy's order, swaps last."""

    names: tuple[Move, ...]
    rows: tuple[tuple[int, int, int], ...]  # kind, cards played, damage or CI
    places: dict[Move, int]
    plain: int  # moves that are no swaps
    best: int  # place of the largest attack
    damage: int


class Codes:
    """Cards of one set of rules."""

    def __init__(self, game: CipherSiege) -> None:
        ordered = in_turn_order(game)
        self.limit: int = game.limit
        self.base: int = game.copies + 1
        self.integrity: tuple[int, int] = ordered.integrity  # of who is first and second to move
        self.radix: tuple[int, ...] = tuple(self.base**value for value in range(game.values))
        self.pack: int = game.copies * sum(self.radix)
        self.space: int = self.base**game.values  # how many codes there are
        self._cards: dict[int, Cards] = {}
        self._hands: dict[int, Hand] = {}

    def code(self, held: Iterable[int]) -> int:
        return sum(self.radix[card - 1] for card in held)

    def counts(self, code: int) -> tuple[int, ...]:
        return tuple(code // place % self.base for place in self.radix)

    def cards(self, code: int) -> Cards:
        """The cards of a code, in ascending order."""
        found = self._cards.get(code)
        if found is None:
            counts = enumerate(self.counts(code), 1)
            found = tuple(card for card, count in counts for _ in range(count))
            self._cards[code] = found
        return found

    def hand(self, code: int) -> Hand:
        """The moves of a hand; swaps may not be open to it."""
        found = self._hands.get(code)
        if found is None:
            counts = self.counts(code)
            names, best, damage = moves_of(counts, sum(counts) <= self.limit)
            rows = tuple(map(self.row, names))
            plain = sum(kind != SWAP for kind, _, _ in rows)
            places = {name: place for place, name in enumerate(names)}
            found = Hand(names, rows, places, plain, best, damage)
            self._hands[code] = found
        return found

    def info(self, view: View) -> Info:
        """What the player of a view knows."""
        seen, own = view.observation, view.player
        assert own is not None
        memory = Memory(view.history, own, len(self.radix))
        known = [sum(map(mul, counts, self.radix)) for counts in memory.known]
        return Info(
            self.code(seen.hand), seen.sizes[1 - own], self.code(seen.discard),
            seen.ci[own], seen.ci[1 - own], known[1 - own], known[own], memory.choices,
        )  # fmt: skip

    def row(self, name: Move) -> tuple[int, int, int]:
        """A move as its kind, the cards played or given, and its damage or CI."""
        kind, played = KINDS[name.split()[0]], cards(name)
        worth = sum(attack_value(played)) if kind == ATTACK else played[0]
        return kind, self.code(played), worth

    def without(self, known: int, gone: int) -> int:
        """Cards still known to be in a hand after some have left it, known or not."""
        if known == 0:
            return 0
        pairs = zip(self.counts(known), self.counts(gone), self.radix, strict=True)
        return known - sum(min(held, left) * place for held, left, place in pairs)
