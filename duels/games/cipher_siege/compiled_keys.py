"""Keys of information states in compiled code, as `infostate.py` makes them."""

from __future__ import annotations

from typing import Any, Protocol

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege import infostate
from duels.games.cipher_siege.compiled_tables import (
    CI_BASE,
    CODES,
    DEPTH_CAP,
    FINE,
    FIRST_CI,
    KEY_TAGS,
    PLIES,
    SECOND_CI,
    Tables,
    move_count,
)
from duels.games.cipher_siege.infostate import TAGS
from duels.games.cipher_siege.store import slot_of
from duels.kernels import compiled as inlined

packed_key = inlined(infostate.packed_key)


class KeyTables(Protocol):
    """The part of `Tables` that keys are made of."""

    @property
    def bucket(self) -> Array: ...
    @property
    def const(self) -> Array: ...


@compiled
def fine_key(
    hand: int, disc: int, ci: int, oci: int, osize: int, km: int, ko: int, ply: int, tb: KeyTables
) -> Any:
    """Key of the fine abstraction, with nearly all that the player has seen.

    `km` are the cards the mover knows in the other hand, `ko` those the other player knows in the
    mover's hand. In variants that end after a few turns the turn is part of the key.
    """
    tag = 2 + (ply & 1) if tb.const[PLIES] == DEPTH_CAP else TAGS + ply
    c = tb.const
    head = disc * c[CODES] + ko
    key = packed_key(head, hand, ci, oci, osize, km, tag, c[CODES], c[CI_BASE], c[KEY_TAGS])
    return np.uint64(key)


@compiled
def coarse_key(
    hand: int, disc: int, ci: int, oci: int, osize: int, km: int, ply: int, tb: KeyTables
) -> Any:
    """Key of the coarse abstraction: a summary of the unseen cards instead of the discards.

    Of the cards known because of swaps, only those in the other hand are part of the key.
    """
    c = tb.const
    tag = 1 if c[FIRST_CI] == c[SECOND_CI] else 4 + (ply & 1)
    head = tb.bucket[hand + disc]
    key = packed_key(head, hand, ci, oci, osize, km, tag, c[CODES], c[CI_BASE], c[KEY_TAGS])
    return np.uint64(key)


@compiled
def state_key(
    hand: int, disc: int, ci: int, oci: int, osize: int, km: int, ko: int, ply: int, tb: KeyTables
) -> Any:
    """The fine key in the first turns, the coarse key later."""
    if ply < tb.const[FINE]:
        return fine_key(hand, disc, ci, oci, osize, km, ko, ply, tb)
    return coarse_key(hand, disc, ci, oci, osize, km, ply, tb)


@compiled
def stored_slot(
    hand: int, disc: int, ci: int, oci: int, osize: int, km: int, ko: int, ply: int, tb: KeyTables,
    keys: Array,
) -> Any:  # fmt: skip
    """Slot of the mover's state in a finished strategy: that of the fine or else the coarse key."""
    slot = slot_of(state_key(hand, disc, ci, oci, osize, km, ko, ply, tb), keys)
    if keys[slot] == 0 and ply < tb.const[FINE]:
        slot = slot_of(coarse_key(hand, disc, ci, oci, osize, km, ply, tb), keys)
    return slot


@compiled
def is_coarse(key: Any, tb: Tables) -> Any:
    """Whether a key is that of a coarse state."""
    tag = key % np.uint64(tb.const[KEY_TAGS])
    return tag == 1 or tag == 4 or tag == 5


@compiled
def hand_at(key: int, tb: Tables) -> Any:
    """The mover's hand, from the key of a state."""
    low = np.uint64(8 * tb.const[CI_BASE] * tb.const[CI_BASE])
    return key // np.uint64(tb.const[KEY_TAGS]) // low % np.uint64(tb.const[CODES])


@compiled
def moves_at(key: int, tb: Tables) -> Any:
    """Number of moves at a stored state, from the hands inside its key."""
    other_size = key // np.uint64(tb.const[KEY_TAGS]) % np.uint64(8)
    return move_count(hand_at(key, tb), other_size, tb)


@compiled
def coarse_of(key: Any, tb: Tables) -> Any:
    """Coarse key of a stored state, from its fine key, whose digits have mixed bases."""
    if is_coarse(key, tb):
        return key
    tag = key % np.uint64(tb.const[KEY_TAGS])
    rest = key // np.uint64(tb.const[KEY_TAGS])
    low = np.uint64(8) * np.uint64(tb.const[CI_BASE]) * np.uint64(tb.const[CI_BASE])
    small = rest % low
    n = np.uint64(tb.const[CODES])
    hand = (rest // low) % n
    known = (rest // low // n) % n
    disc = rest // low // n // n // n
    k = (np.uint64(tb.bucket[hand + disc]) * n + known) * n + hand
    out = np.uint64(1)
    if tb.const[FIRST_CI] != tb.const[SECOND_CI]:
        out = np.uint64(4) + (tag & np.uint64(1))
    return (k * low + small) * np.uint64(tb.const[KEY_TAGS]) + out
