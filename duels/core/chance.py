"""Chance outcomes as a public function of the seed, which a program in any language can check.

The n-th chance outcome of a match is a function of its seed and n alone: take SHA-256 of the text
"duels SEED N TRY" as a big-endian integer; if it is not below the largest multiple of the common
denominator of the odds, discard it and increase TRY; the remainder selects the outcome, in the
order of the game's list. Every outcome has exactly its odds.

>>> from fractions import Fraction
>>> die = {str(face): Fraction(1, 6) for face in range(1, 7)}
>>> [draw(seed=2024, n=n, odds=die) for n in range(1, 9)]
['2', '4', '5', '2', '4', '6', '6', '5']
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

SPAN = 2**256
GUESSABLE = 100  # bits; a random seed of 128 bits is shorter with probability 2**-29


def draw(seed: int, n: int, odds: Mapping[str, Fraction]) -> str:
    """The n-th chance outcome, counted from 1, of the match with this seed."""
    whole = lcm(*(odd.denominator for odd in odds.values()))
    return holder(_below(whole, f"{seed} {n}"), whole, odds)


def holder(ticket: int, whole: int, odds: Mapping[str, Fraction]) -> str:
    """The outcome whose interval contains a ticket; intervals follow in listed order."""
    for outcome, odd in odds.items():
        ticket -= odd.numerator * (whole // odd.denominator)
        if ticket < 0:
            return outcome
    raise ValueError("the odds do not add up to 1")


def _below(bound: int, label: str) -> int:
    """A uniformly distributed number from 0 to bound - 1, determined by the label."""
    from hashlib import sha256  # imported late: most games reach their first prompt without it

    last = SPAN - SPAN % bound
    attempt = 0
    while True:
        digest = sha256(f"duels {label} {attempt}".encode()).digest()
        number = int.from_bytes(digest, "big")
        if number < last:
            return number % bound
        attempt += 1


def new_seed() -> int:
    """A random seed of 128 bits from the operating system."""
    return int.from_bytes(os.urandom(16), "big")


def new_id() -> str:
    """A unique id of a match."""
    return os.urandom(16).hex()


def commitment(seed: int) -> str | None:
    """A digest that commits to a seed without revealing it: published first, checked at the end.

    None for a seed that is small enough to be found by trying all.

    >>> commitment(2**127)[:16], commitment(7)
    ('3839dcee15e3be26', None)
    """
    from hashlib import sha256

    if seed.bit_length() < GUESSABLE:
        return None
    return sha256(f"duels commitment {seed}".encode()).hexdigest()


def first_player(seed: int) -> int:
    """The player who starts a match with a random start, as a function of the seed."""
    return _below(2, f"{seed} first")


def stream(seed: int, player: int) -> str:
    """The label of a player's own random stream, independent of the match's chance."""
    from hashlib import sha256

    return sha256(f"duels {seed} player {player + 1}".encode()).hexdigest()
