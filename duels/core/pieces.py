"""Helpers for rules: replacing one half of a pair; drawing, joining and counting cards.

Cards are whole numbers in ascending tuples, since their order never matters. The same hands and
piles occur often, so results are cached, and equal hands of many matches share one object.

>>> replace_one((10, 9), 1, 7), without((1, 2, 2, 5), (2, 5)), joined((1, 5), (2,))
((10, 7), (1, 2), (1, 2, 5))
>>> counts((1, 2, 2), 3), draw_one((1, 2, 2), by=0).odds["2"]
((1, 2, 0), Fraction(2, 3))
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from duels.core.game import Chance

T = TypeVar("T")
Cards = tuple[int, ...]


def replace_one(pair: tuple[T, T], player: int, new: T) -> tuple[T, T]:
    """A pair with one player's half replaced."""
    return (new, pair[1]) if player == 0 else (pair[0], new)


@lru_cache(maxsize=8192)
def without(cards: Cards, gone: Cards) -> Cards:
    """The cards that are left; `gone` must be among `cards`."""
    for card in gone:
        place = cards.index(card)
        cards = cards[:place] + cards[place + 1 :]
    return cards


@lru_cache(maxsize=8192)
def joined(cards: Cards, more: Cards) -> Cards:
    return tuple(sorted(cards + more))


@lru_cache(maxsize=65536)
def counts(cards: Cards, values: int) -> tuple[int, ...]:
    """How many cards there are of each value, from 1 up."""
    return tuple(cards.count(card) for card in range(1, values + 1))


@lru_cache(maxsize=8192)
def draw_one(cards: Cards, by: int) -> Chance:
    """The chance event of drawing one of the cards for a player, with exact odds."""
    from fractions import Fraction  # late: importing it slows start-up

    share = Fraction(1, len(cards))
    return Chance({str(card): share * cards.count(card) for card in dict.fromkeys(cards)}, by)
