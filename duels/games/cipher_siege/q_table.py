"""Q table of a learned responder: values of its moves by state, at several levels of detail.

The store has an entry for a state at each level of detail: from a coarse abstraction, which has
estimates nearly everywhere, up to everything that is public except the order of events. The mean of
a level is weighted by its number of games; the mean of the coarser levels is the prior, with a
weight of at most `TRUST` games.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.compiled_rules import (
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
from duels.games.cipher_siege.compiled_tables import DEPTH_CAP, PLIES, Tables
from duels.games.cipher_siege.store import Store, hashed, slot_of

DETAIL = 3  # levels: hand and CIs; the strategy's coarse state; everything except the order
TRUST = 30.0
SPREAD = 0.4  # approximate standard deviation of a score
CAUTION = 0.2  # standard errors subtracted from a value when the best move is chosen


@compiled
def q_key(s: Array, level: int, tb: Tables) -> Any:
    """Key of the mover's state at a level of detail.

    In variants that end after a few turns all levels have full detail and the turn, since there are
    few states.
    """
    key = hashed(np.uint64(level + 1), s[HAND_M])
    key = hashed(key, (s[CI_M] * 64 + s[CI_O]) * 8 + tb.size[s[HAND_O]])
    if tb.const[PLIES] == DEPTH_CAP:
        if level == 0:
            return key
        if level == 1:
            return hashed(hashed(key, tb.bucket[s[HAND_M] + s[DISC]]), s[KNOWN_M])
    return hashed(hashed(hashed(hashed(key, s[DISC]), s[KNOWN_M]), s[KNOWN_O]), s[PLY])


@compiled
def estimates(s: Array, tb: Tables, qt: Store, q: Array, n: Array) -> Any:
    """Write values of the mover's moves to `q`, their games to `n`; returns how many moves."""
    actions = legal_count(s, tb)
    for a in range(actions):
        q[a] = 0.5
        n[a] = 0.0
    for level in range(DETAIL):
        slot = slot_of(q_key(s, level, tb), qt.keys)
        if qt.keys[slot] == 0:
            break
        where = qt.where[slot]
        for a in range(actions):
            games = qt.pool[1, where + a]
            if games > 0.0:
                n[a] = games + min(n[a], TRUST)
                q[a] += games / n[a] * (qt.pool[0, where + a] - q[a])
    return actions


@compiled
def lower_confidence_move(actions: int, caution: float, q: Array, n: Array) -> Any:
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
def upper_confidence_move(actions: int, ucb_constant: float, q: Array, n: Array) -> Any:
    """The move with the highest value plus `ucb_constant` times its error."""
    best = 0
    top = -np.inf
    for a in range(actions):
        value = q[a] + ucb_constant * SPREAD / sqrt(n[a] + 0.01)
        if value > top:
            top = value
            best = a
    return best
