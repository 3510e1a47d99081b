"""What a responder has learned: values of its moves by state, from the rough to the exact.

A state stands in the store once at each level of detail: with most of it left out, so that
something is known nearly everywhere, up to all that is public but the order of events. The mean of
a finer level counts by its games, that of the rougher ones beside it as `TRUST` games at the most.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.codes import DEPTH_CAP, PLIES, Store, Tables, new_store, slot_of
from duels.solve.siege.moves import (
    CI_M,
    CI_O,
    DISC,
    HAND_M,
    HAND_O,
    KNOWN_M,
    KNOWN_O,
    PLY,
    legal_count,
)

DETAIL = 3  # levels: hand and CIs; with the strategy's rough state; with all but the order
TRUST = 30.0
SPREAD = 0.4  # about the standard deviation of a score
CAUTION = 0.2  # errors by which a value counts less when the best move is chosen


def nothing_learned() -> Store:
    """A store without room."""
    return new_store(0, 1)


@compiled
def mixed(key: Any, field: int) -> Any:
    """A hash with one more field."""
    z = (key ^ np.uint64(field + 1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return (z ^ (z >> np.uint64(27))) | np.uint64(1)


@compiled
def learned_key(s: Array, level: int, tb: Tables) -> Any:
    """Key of what the mover sees, at a level of detail.

    Where games end after a few turns the turn matters, and there are few states: all have all.
    """
    key = mixed(np.uint64(level + 1), s[HAND_M])
    key = mixed(key, (s[CI_M] * 64 + s[CI_O]) * 8 + tb.size[s[HAND_O]])
    if tb.const[PLIES] == DEPTH_CAP:
        if level == 0:
            return key
        if level == 1:
            return mixed(mixed(key, tb.bucket[s[HAND_M] + s[DISC]]), s[KNOWN_M])
    return mixed(mixed(mixed(mixed(key, s[DISC]), s[KNOWN_M]), s[KNOWN_O]), s[PLY])


@compiled
def estimates(s: Array, tb: Tables, ln: Store, q: Array, n: Array) -> Any:
    """Values of the mover's moves into `q`, the games they rest on into `n`; how many moves."""
    actions = legal_count(s, tb)
    for a in range(actions):
        q[a] = 0.5
        n[a] = 0.0
    for level in range(DETAIL):
        slot = slot_of(learned_key(s, level, tb), ln)
        if ln.keys[slot] == 0:
            break
        where = ln.where[slot]
        for a in range(actions):
            games = ln.pool[1, where + a]
            if games > 0.0:
                n[a] = games + min(n[a], TRUST)
                q[a] += games / n[a] * (ln.pool[0, where + a] - q[a])
    return actions


@compiled
def safest(actions: int, caution: float, q: Array, n: Array) -> Any:
    """The move with the highest value less `caution` times its error; -1 if nothing is known."""
    best = -1
    top = -np.inf
    for a in range(actions):
        if n[a] > 0.0:
            value = q[a] - caution * SPREAD / sqrt(n[a])
            if value > top:
                top = value
                best = a
    return best


@compiled
def most_hopeful(actions: int, hope: float, q: Array, n: Array) -> Any:
    """The move with the highest value with `hope` times its error on top."""
    best = 0
    top = -np.inf
    for a in range(actions):
        value = q[a] + hope * SPREAD / sqrt(n[a] + 0.01)
        if value > top:
            top = value
            best = a
    return best
