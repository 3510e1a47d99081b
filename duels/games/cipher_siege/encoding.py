"""Multisets of cards as integers, and the moves of a hand in the order of the strategy.

There are two encodings. Adding or removing cards is addition or subtraction in both.

- A *code* has digits of base `copies + 1`, which count each value (`CardEncoding`). Codes are small
  enough to index tables and to be part of the strategy's keys. Solver, training and bounds use
  them. They are part of the file format.
- A *word* has six bits for each value: the count and, above it, a bit that stays clear (`packed`).
  Words need no division and no table, for any number of copies. The kernel's states use them.

`compiled_rules.code_of` converts a word to a code.

>>> cards = CardEncoding(CipherSiege())
>>> hand = cards.code((1, 2, 2))
>>> cards.cards(hand), cards.cards(hand - cards.code((2,)))
((1, 2, 2), (1, 2))
>>> cards.hand(hand).damage, cards.hand(hand).names[cards.hand(hand).best]
(5, 'attack 1 2')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from duels.core.game import Move
from duels.core.pieces import Cards
from duels.core.presentation import listed
from duels.games.cipher_siege.rules import (
    ATTACK,
    DEFEND,
    KINDS,
    SWAP,
    CipherSiege,
    cards_of,
    worth,
)

WORDS = tuple(KINDS)  # names of the kinds of moves, in the order of their numbers
WIDTH, FIELD, CLEAR = 6, 63, 32  # of one value in a packed word: bits, their mask, the clear bit
Counts = Sequence[int]  # how many cards of each value


def cards_in(counts: Counts) -> Cards:
    """The cards of a hand, from how many it has of each value.

    >>> cards_in((1, 0, 2))
    (1, 3, 3)
    """
    return tuple(value for value, count in enumerate(counts, 1) for _ in range(count))


def packed(cards: Cards) -> int:
    """The word of a multiset of cards.

    >>> packed((1, 1, 2)) == 2 + (1 << WIDTH)
    True
    """
    return sum(1 << WIDTH * (card - 1) for card in cards)


def unpacked(word: int) -> Cards:
    """The cards of a word."""
    return cards_in(
        [word >> WIDTH * value & FIELD for value in range(word.bit_length() // WIDTH + 1)]
    )


def hand_moves(counts: Counts) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The moves of a hand in the strategy's order: the kind, and how many cards of each value.

    Swaps come last: the moves of a hand that may not swap are a prefix of these.
    """
    for played in product(*(range(count + 1) for count in counts)):
        if any(played):
            yield ATTACK, played
    for kind in (DEFEND, SWAP):
        for card, count in enumerate(counts):
            if count:
                yield kind, tuple(int(value == card) for value in range(len(counts)))


@lru_cache(maxsize=4096)
def moves_of(counts: tuple[int, ...], may_swap: bool) -> tuple[tuple[Move, ...], int, int]:
    """The moves of a hand in the strategy's order, the index of the largest attack, its damage."""
    names: list[Move] = []
    best = top = 0
    for kind, played in hand_moves(counts):
        cards = cards_in(played)
        if kind == ATTACK and worth(kind, cards) > top:
            best, top = len(names), worth(kind, cards)
        if kind != SWAP or may_swap:
            names.append(f"{WORDS[kind]} {listed(cards, ' ')}")
    return tuple(names), best, top


def remaining(known: int, gone: int, digits: Any, radix: Any) -> int:
    """The code of the known cards of a hand that are left after the cards `gone` have left it.

    `gone` may contain cards that were not known.
    Also compiled (`compiled_rules.py`). `digits[code]` counts the cards of a code.
    """
    if known == 0:
        return known
    held, left = digits[known], digits[gone]
    rest = known
    for value in range(len(radix)):
        rest -= min(held[value], left[value]) * radix[value]
    return rest


class Digits(dict[int, tuple[int, ...]]):
    """How many cards of each value a code has, computed on first use."""

    def __init__(self, base: int, radix: tuple[int, ...]) -> None:
        super().__init__()
        self._base, self._radix = base, radix

    def __missing__(self, code: int) -> tuple[int, ...]:
        found = self[code] = tuple(code // place % self._base for place in self._radix)
        return found


class HandMoves(NamedTuple):
    """A hand and its moves in the strategy's order, swaps last."""

    names: tuple[Move, ...]
    rows: tuple[tuple[int, int, int], ...]  # kind, cards played, damage or CI
    places: dict[Move, int]
    plain: int  # number of moves that are not swaps
    best: int  # index of the largest attack
    damage: int


class CardEncoding:
    """Card codes for a game with its options."""

    def __init__(self, game: CipherSiege) -> None:
        one, two = game.integrity
        self.limit: int = game.limit
        self.copies: int = game.copies
        self.integrity = (one, two) if game.first == 0 else (two, one)  # in turn order
        base = game.copies + 1
        self.radix: tuple[int, ...] = tuple(base**value for value in range(game.values))
        self.pack: int = game.copies * sum(self.radix)  # the code of all cards
        self.space: int = base**game.values  # how many codes there are
        self.digits = Digits(base, self.radix)
        self._cards: dict[int, Cards] = {}
        self._hands: dict[int, HandMoves] = {}

    def code(self, held: Iterable[int]) -> int:
        return sum(self.radix[card - 1] for card in held)

    def counts(self, code: int) -> tuple[int, ...]:
        return self.digits[code]

    def cards(self, code: int) -> Cards:
        """The cards of a code, in ascending order."""
        found = self._cards.get(code)
        if found is None:
            found = self._cards[code] = cards_in(self.digits[code])
        return found

    def hand(self, code: int) -> HandMoves:
        """The moves of a hand; swaps are among them although a position may not allow them."""
        found = self._hands.get(code)
        if found is None:
            counts = self.digits[code]
            names, best, damage = moves_of(counts, sum(counts) <= self.limit)
            rows = tuple(map(self.row, names))
            plain = sum(kind != SWAP for kind, _, _ in rows)
            places = {name: place for place, name in enumerate(names)}
            found = self._hands[code] = HandMoves(names, rows, places, plain, best, damage)
        return found

    def row(self, name: Move) -> tuple[int, int, int]:
        """A move as its kind, the cards played or given, and its damage or CI."""
        kind, played = KINDS[name.split()[0]], cards_of(name)
        return kind, self.code(played), worth(kind, played)

    def without(self, known: int, gone: int) -> int:
        """See `remaining`."""
        return remaining(known, gone, self.digits, self.radix)
