"""Plants a flaw of known size in one seat of a strategy, to test whether responders find it."""

from __future__ import annotations

from duels.algorithms.compiled import np
from duels.games.cipher_siege.compiled_keys import moves_at
from duels.games.cipher_siege.compiled_tables import (
    CI_BASE,
    CODES,
    DEALT,
    DEPTH_CAP,
    KEY_TAGS,
    PLIES,
    Tables,
)
from duels.games.cipher_siege.store import Store


def copied(store: Store) -> Store:
    """A copy of a strategy that can be changed independently."""
    return Store(*(part.copy() for part in store))


def first_choices(tables: Tables, store: Store, seat: int) -> list[tuple[int, int, int]]:
    """(place in the pool, moves, the largest defence) of the stored first choices of a seat."""
    found = []
    codes, ci, tags = (int(tables.const[i]) for i in (CODES, CI_BASE, KEY_TAGS))
    capped = int(tables.const[PLIES]) != DEPTH_CAP
    for slot in np.nonzero(store.keys)[0]:
        key = int(store.keys[slot])
        rest, tag = divmod(key, tags)
        if not (tag >= 6 if capped else tag in (2, 3)):
            continue  # a rough state, of later turns
        rest, others = divmod(rest, 8)
        rest, hand = divmod(rest // (ci * ci), codes)
        discards = rest // codes // codes
        # Every card that is out was dealt, or drawn in a turn.
        out = int(tables.size[hand]) + others + int(tables.size[discards])
        if (tag - 6 if capped else out - 2 * int(tables.const[DEALT]) - 1) == seat:
            last = int(tables.plain_actions[hand]) - 1
            found.append((int(store.where[slot]), int(moves_at(np.uint64(key), tables)), last))
    return found


def plant(tables: Tables, store: Store, seat: int, share: float) -> int:
    """Replace the first choice of a seat by its largest defence, with probability `share`.

    A game has one first choice, so the cost is proportional to `share`. Returns the
    number of states changed.
    """
    states = first_choices(tables, store, seat)
    for where, moves, last in states:
        weights = store.pool[1, where : where + moves]
        total = weights.sum()
        if total > 0:
            weights *= (1 - share) / total
            weights[last] += share
    return len(states)
