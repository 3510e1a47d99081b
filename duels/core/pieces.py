"""Helpers for rules: replacing one half of a pair; drawing, joining and counting cards.

Cards are whole numbers in ascending tuples, since their order never matters. Hands and piles
repeat, so what is asked about them is worked out once and remembered; and of equal ones that many
matches hold there is one.

>>> both((10, 9), 1, 7), without((1, 2, 2, 5), (2, 5)), joined((1, 5), (2,))
((10, 7), (1, 2), (1, 2, 5))
>>> counts((1, 2, 2), 3), any_of((1, 2, 2), by=0).odds["2"]
((1, 2, 0), Fraction(2, 3))
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from duels.core.game import Chance

T = TypeVar("T")
Cards = tuple[int, ...]


def both(pair: tuple[T, T], player: int, new: T) -> tuple[T, T]:
    """A pair with one player's half replaced."""
    return (new, pair[1]) if player == 0 else (pair[0], new)


@lru_cache(maxsize=8192)
def without(cards: Cards, gone: Cards) -> Cards:
    """The cards that are left; what is gone must be among them."""
    for card in gone:
        place = cards.index(card)
        cards = cards[:place] + cards[place + 1 :]
    return cards


@lru_cache(maxsize=8192)
def joined(cards: Cards, more: Cards) -> Cards:
    return tuple(sorted(cards + more))


@lru_cache(maxsize=65536)
def counts(cards: Cards, values: int) -> tuple[int, ...]:
    """How many there are of each value, from 1 up."""
    return tuple(cards.count(card) for card in range(1, values + 1))


@lru_cache(maxsize=8192)
def any_of(cards: Cards, by: int) -> Chance:
    """A card drawn or taken at random on a player's behalf, with the exact odds of each value."""
    from fractions import Fraction  # late: importing it slows start-up

    share = Fraction(1, len(cards))
    return Chance({str(card): share * cards.count(card) for card in dict.fromkeys(cards)}, by)
