"""The rules of Cipher Siege in compiled code.

The first part is used by all compiled code: `kernel.py`, `aivat.py`, training and bounds. The
second part plays a game of the training, whose state is a vector: deal, draw and play, on codes.
"""

from __future__ import annotations

from typing import Any

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege import encoding, rules
from duels.games.cipher_siege.compiled_keys import coarse_key, state_key
from duels.games.cipher_siege.compiled_tables import (
    DEALT,
    FIRST_CI,
    FULL,
    SECOND_CI,
    VALUES,
    Tables,
    move_count,
    pick_card,
    uniform,
)
from duels.games.cipher_siege.encoding import FIELD, WIDTH
from duels.games.cipher_siege.rules import SWAP
from duels.kernels import Scalar
from duels.kernels import compiled as inlined

after_move = inlined(rules.after_move)
refilled = inlined(rules.refilled)
remaining = inlined(encoding.remaining)


@inlined
def count_in(word: int, value: int) -> Scalar:
    """How many cards of a value, counted from 0, a packed word has."""
    return (word >> (WIDTH * value)) & FIELD


@inlined
def code_of(word: int, radix: Array) -> Scalar:
    """The code of the cards of a packed word: the only conversion between the two encodings.

    Both are needed. Codes are dense, so that they index tables and fit into the 64-bit keys of
    stored strategies, but taking one value's count out of them is a division; words give it by a
    shift, and compare or subtract all values at once, which the kernel does for every step.
    """
    code = 0
    for value in range(radix.shape[0]):
        code += count_in(word, value) * radix[value]
    return code


@inlined
def holds(hand: int, cards: int, guard: int) -> Scalar:
    """Whether a hand has all these cards (words): no subtraction borrows from a clear bit."""
    return ((hand | guard) - cards) & guard == guard


@inlined
def remaining_word(known: int, gone: int, guard: int) -> Scalar:
    """`remaining` of packed words; `guard` has the clear bits of all values."""
    left = (known | guard) - gone
    enough = left & guard  # set for values of which no more have gone than were known
    return left & (enough - (enough >> (WIDTH - 1)))


# Indices into the state vector of a game.  "M" is the player to move, "O" the other one.
DECK, DISC, HAND_M, HAND_O, CI_M, CI_O, KNOWN_M, KNOWN_O, PLY, CAP_M, CAP_O = range(11)


def new_states() -> Array:
    """A buffer for game states."""
    return np.zeros((6, 11), dtype=np.int64)


@compiled
def deal(s: Array, tb: Tables, rng: Array) -> None:
    """Start a game: two hands and the rest of the deck."""
    deck = tb.const[FULL]
    s[:] = 0
    for i in range(2 * tb.const[DEALT]):
        card = tb.radix[pick_card(deck, tb, rng)]
        deck -= card
        s[HAND_M + (i & 1)] += card
    s[DECK] = deck
    s[CI_M] = s[CAP_M] = tb.const[FIRST_CI]
    s[CI_O] = s[CAP_O] = tb.const[SECOND_CI]


@compiled
def refill(s: Array) -> None:
    """Refill an empty deck from the discard pile (C7)."""
    s[DECK], s[DISC] = refilled(s[DECK], s[DISC], 0)


@compiled
def draw(s: Array, tb: Tables, rng: Array) -> None:
    """The draw phase."""
    refill(s)
    if s[DECK] > 0:
        card = tb.radix[pick_card(s[DECK], tb, rng)]
        s[DECK] -= card
        s[HAND_M] += card


@compiled
def draw_on(s: Array, tb: Tables, rng: Array) -> Any:
    """Draw a card that does not win at once; returns the probability that a draw wins.

    If every draw wins, nothing is drawn.
    """
    refill(s)
    if s[DECK] == 0:
        return 1.0 if tb.best[s[HAND_M]] >= s[CI_O] else 0.0
    cards, wins = tb.size[s[DECK]], 0
    for v in range(tb.const[VALUES]):
        if tb.digit[s[DECK], v] > 0 and tb.best[s[HAND_M] + tb.radix[v]] >= s[CI_O]:
            wins += tb.digit[s[DECK], v]
    if wins == cards:
        return 1.0
    left = int(uniform(rng) * (cards - wins))
    for v in range(tb.const[VALUES]):
        if tb.digit[s[DECK], v] > 0 and tb.best[s[HAND_M] + tb.radix[v]] < s[CI_O]:
            left -= tb.digit[s[DECK], v]
            if left < 0:
                s[DECK] -= tb.radix[v]
                s[HAND_M] += tb.radix[v]
                break
    return wins / cards


@compiled
def turn_over(s: Array) -> None:
    """Make the other player the mover."""
    for i in (HAND_M, CI_M, KNOWN_M, CAP_M):
        x = s[i]
        s[i] = s[i + 1]
        s[i + 1] = x
    s[PLY] += 1


@compiled
def play(s: Array, a: int, tb: Tables, rng: Array) -> None:
    """Make the mover's move number `a` and end the turn.

    KNOWN_M is what the mover knows of the other hand.
    """
    row = tb.start[s[HAND_M]] + a
    sub = tb.sub[row]
    kind = tb.kind[row]
    s[KNOWN_O] = remaining(s[KNOWN_O], sub, tb.digit, tb.radix)
    s[HAND_M] -= sub
    if kind == SWAP:
        got = tb.radix[pick_card(s[HAND_O], tb, rng)]
        s[HAND_O] += sub - got
        s[HAND_M] += got
        s[KNOWN_O] += got
        s[KNOWN_M] = remaining(s[KNOWN_M], got, tb.digit, tb.radix) + sub
    else:
        s[DISC] += sub
        s[CI_M], s[CI_O] = after_move(kind, tb.worth[row], s[CI_M], s[CI_O], s[CAP_M])
    turn_over(s)


@compiled
def legal_count(s: Array, tb: Tables) -> Any:
    """How many moves the mover has."""
    return move_count(s[HAND_M], s[HAND_O], tb)


@compiled
def key_of(s: Array, tb: Tables) -> Any:
    """Key of the mover's information state."""
    return state_key(
        s[HAND_M], s[DISC], s[CI_M], s[CI_O], tb.size[s[HAND_O]], s[KNOWN_M], s[KNOWN_O], s[PLY], tb
    )


@compiled
def coarse_key_of(s: Array, tb: Tables) -> Any:
    """Key of the mover's coarse state."""
    return coarse_key(
        s[HAND_M], s[DISC], s[CI_M], s[CI_O], tb.size[s[HAND_O]], s[KNOWN_M], s[PLY], tb
    )
