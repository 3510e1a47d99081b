"""Information states of Cipher Siege: what the player to move knows, and its key in the strategy.

This is the implementation in pure Python; `compiled_keys.py` computes the same keys in numba.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

from duels.core.game import Event, Pick
from duels.core.player import View
from duels.games.cipher_siege.encoding import CardEncoding
from duels.games.cipher_siege.rules import CipherSiege, SwapMemory

# Why swap=chosen is not solved.
CHOSEN = "the opponent then chooses the card taken, which the training does not support"
# The five steps of `unseen_bucket`, set by hand around the middle value and not fitted. Between
# players of level medium 8, 8, 32, 17 and 36 % of the choices after the sixth turn fall into them.
# They are part of every stored key: other edges need another training.
EDGES = (-0.35, -0.12, 0.12, 0.35)
TAGS = 6  # kinds of keys: coarse 1, or 4 and 5 by turn; fine 2 and 3 by turn


class InfoState(NamedTuple):
    """What the player to move knows; cards are codes."""

    hand: int
    other_size: int
    discards: int
    ci: int
    other_ci: int
    known_other: int  # known cards in the other hand
    known_own: int  # cards in the own hand that the other player knows
    choices: int  # number of choices before; odd for the player who moves second


def in_turn_order(game: CipherSiege) -> CipherSiege:
    """The same rules with Player 1 to begin: a strategy distinguishes first and second mover only.

    >>> in_turn_order(CipherSiege(integrity="7/6", first=1)).settings()["integrity"]
    '6/7'
    """
    if game.first == 0:
        return game
    swapped = "/".join(map(str, reversed(game.integrity)))
    return CipherSiege(**{**game.settings(), "first": "1", "integrity": swapped})


class Memory:
    """What both players know of each other's hands because of swaps, and the number of choices."""

    def __init__(self, history: Sequence[Event], values: int) -> None:
        swaps = SwapMemory(values)
        for event in history:
            swaps.add(event)
        self.known = swaps.known
        self.choices = sum(isinstance(event, Pick) for event in history)


def info_state(encoding: CardEncoding, view: View) -> InfoState:
    """The information state of the player of a view."""
    seen, own = view.observation, view.player
    assert own is not None
    memory = Memory(view.history, len(encoding.radix))
    known = [sum(map(mul, counts, encoding.radix)) for counts in memory.known]
    return InfoState(
        encoding.code(seen.hand), seen.sizes[1 - own], encoding.code(seen.discard),
        seen.ci[own], seen.ci[1 - own], known[1 - own], known[own], memory.choices,
    )  # fmt: skip


def unseen_bucket(counts: Sequence[int], copies: int) -> int:
    """The bucket of the mean of the unseen cards: 1 (low) to 5 (high); 0 if none are unseen."""
    unseen = [copies - count for count in counts]
    total = sum(unseen)
    if total == 0:
        return 0
    mean = sum((v + 1) * u for v, u in enumerate(unseen)) / total
    middle = (len(counts) + 1) / 2
    return 1 + sum(mean > middle + edge for edge in EDGES)


def packed_key(
    head: int, hand: int, ci: int, other_ci: int, other_size: int, known_other: int, tag: int,
    space: int, ci_base: int, tags: int,
) -> int:  # fmt: skip
    """The common fields of fine and coarse keys in a mixed radix; `head` is the leading digit.

    Also compiled (`compiled_keys.py`), where it is taken modulo 2**64.
    """
    key = (head * space + known_other) * space + hand
    key = ((key * ci_base + ci) * ci_base + other_ci) * 8 + other_size
    return key * tags + tag


def fine_key(info: InfoState, encoding: CardEncoding) -> int:
    """The key of the fine abstraction, which includes the discards and `known_own`."""
    head = info.discards * encoding.space + info.known_own
    return _key(info, head, 2 + (info.choices & 1), encoding)


def coarse_key(info: InfoState, encoding: CardEncoding) -> int:
    """The key of the coarse abstraction: `unseen_bucket` instead of discards and `known_own`."""
    one, two = encoding.integrity
    tag = 1 if one == two else 4 + (info.choices & 1)
    bucket = unseen_bucket(encoding.counts(info.hand + info.discards), encoding.copies)
    return _key(info, bucket, tag, encoding)


def _key(info: InfoState, head: int, tag: int, encoding: CardEncoding) -> int:
    return packed_key(
        head, info.hand, info.ci, info.other_ci, info.other_size, info.known_other, tag,
        encoding.space, max(encoding.integrity) + 1, TAGS,
    )  # fmt: skip
