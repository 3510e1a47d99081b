"""The exact belief of a responder about its opponent's hand, by Bayes along a game.

The opponent's strategy is known to the responder, so what it did says what it may hold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.codes import (
    CODES,
    FULL,
    SWAP,
    VALUES,
    Store,
    Tables,
    stored_slot,
)
from duels.solve.siege.mccfr import (
    CI_M,
    CI_O,
    DISC,
    HAND_M,
    HAND_O,
    KNOWN_M,
    KNOWN_O,
    PLY,
    legal_count,
    match,
)

SLOTS = 1024  # distinct replies met in one expansion


class Belief(NamedTuple):
    """Weights over hands, and the buffers of the search; row 0 is the belief itself."""

    codes: Array  # i64[4, n] hands with a weight
    weight: Array  # f64[4, n] their weights, by position
    n: Array  # i64[4] how many
    at: Array  # i64[n codes] position of a code in the list being built, or -1
    slot_of: Array  # i64[observations] slot of a reply, or -1
    reply: Array  # i64[SLOTS] the reply in each slot
    slot_weight: (
        Array  # f64[SLOTS, values + 1]: weight of each own draw after that reply; last: no draw
    )
    slot_rest: Array  # i64[SLOTS] one hand the opponent may hold after it


def new_belief(tb: Tables) -> Belief:
    """Empty buffers."""
    n, v = int(tb.const[CODES]), int(tb.const[VALUES])
    return Belief(
        np.zeros((4, n), dtype=np.int64), np.zeros((4, n)), np.zeros(4, dtype=np.int64),
        np.full(n, -1, dtype=np.int64), np.full(2 * n + v * v + 1, -1, dtype=np.int64),
        np.zeros(SLOTS, dtype=np.int64), np.zeros((SLOTS, v + 1)), np.zeros(SLOTS, dtype=np.int64),
    )  # fmt: skip


@compiled
def add(bl: Belief, row: int, code: int, w: float) -> None:
    """Add weight to a hand of the list being built (``at`` must belong to this row)."""
    i = bl.at[code]
    if i < 0:
        i = bl.n[row]
        bl.n[row] += 1
        bl.at[code] = i
        bl.codes[row, i] = code
        bl.weight[row, i] = 0.0
    bl.weight[row, i] += w


@compiled
def close(bl: Belief, row: int) -> None:
    """Finish building a list: clear the positions."""
    for i in range(bl.n[row]):
        bl.at[bl.codes[row, i]] = -1


@compiled
def normalise(bl: Belief, row: int) -> None:
    """Scale the weights to sum to one."""
    total = 0.0
    for i in range(bl.n[row]):
        total += bl.weight[row, i]
    if total > 0.0:
        for i in range(bl.n[row]):
            bl.weight[row, i] /= total


@compiled
def prior(bl: Belief, own: int, size: int, tb: Tables) -> None:
    """Before anything happens: every deal of ``size`` cards from those the player does not hold."""
    unseen = tb.const[FULL] - own
    bl.n[0] = 0
    for code in range(tb.const[CODES]):
        if tb.size[code] != size:
            continue
        ways = 1.0
        for v in range(tb.const[VALUES]):
            have, take = tb.digit[unseen, v], tb.digit[code, v]
            for i in range(take):
                ways = ways * (have - i) / (i + 1)
        if ways > 0.0:
            add(bl, 0, code, ways)
    close(bl, 0)
    normalise(bl, 0)


@compiled
def see_draw(bl: Belief, s: Array, card: int, tb: Tables) -> None:
    """The responder drew `card`, which is in its hand by now: the more of it a hand of the other
    leaves in the deck, the likelier that hand."""
    v = 0
    while tb.radix[v] != card:
        v += 1
    base = tb.const[FULL] - (s[HAND_M] - card) - s[DISC]
    for i in range(bl.n[0]):
        bl.weight[0, i] *= tb.digit[base, v] - tb.digit[bl.codes[0, i], v]
    normalise(bl, 0)


@compiled
def after_draw(bl: Belief, source: int, target: int, own: int, disc: int, tb: Tables) -> Any:
    """Belief after the opponent's draw, from one row into another; the discard pile then."""
    bl.n[target] = 0
    if bl.n[source] == 0:
        return disc
    cards = tb.size[tb.const[FULL]] - tb.size[own] - tb.size[disc] - tb.size[bl.codes[source, 0]]
    if cards == 0:
        cards = tb.size[disc]
        disc = np.int64(0)
    base = tb.const[FULL] - own - disc
    for i in range(bl.n[source]):
        code, w = bl.codes[source, i], bl.weight[source, i]
        if cards == 0:
            add(bl, target, code, w)
            continue
        for v in range(tb.const[VALUES]):
            c = tb.digit[base, v] - tb.digit[code, v]
            if c > 0 and w > 0.0:
                add(bl, target, code + tb.radix[v], w * c / cards)
    close(bl, target)
    return disc


@compiled
def replies(s: Array, tb: Tables, st: Store, out: Array) -> Any:
    """The frozen strategy's move probabilities for the mover of ``s``; how many moves there are."""
    actions = legal_count(s, tb)
    slot = stored_slot(
        s[HAND_M], s[DISC], s[CI_M], s[CI_O], tb.size[s[HAND_O]], s[KNOWN_M], s[KNOWN_O], s[PLY],
        tb, st,
    )  # fmt: skip
    if st.keys[slot] == 0:
        for a in range(actions):
            out[a] = 0.0
        out[tb.best_row[s[HAND_M]]] = 1.0
    else:
        match(st.where[slot], actions, tb.best_row[s[HAND_M]], st.pool[1], out)
    return actions


@compiled
def see_reply(
    bl: Belief, s: Array, a: int, moved: int, old_disc: int, tb: Tables, st: Store, tmp: Array
) -> None:
    """Bayes after the opponent's move `a` in `s`; its true hand only serves to name the move."""
    row = tb.start[s[HAND_M]] + a
    kind, sub = tb.kind[row], tb.sub[row]
    truth, disc = s[HAND_M], s[DISC]
    after_draw(bl, 0, 1, s[HAND_O], old_disc, tb)
    bl.n[0] = 0
    for i in range(bl.n[1]):
        code = bl.codes[1, i]
        if bl.weight[1, i] <= 0.0 or tb.best[code] >= s[CI_O]:
            continue
        s[HAND_M] = code
        actions = replies(s, tb, st, tmp)
        for b in range(actions):
            r = tb.start[code] + b
            if tmp[b] > 0.0 and tb.kind[r] == kind and tb.sub[r] == sub:
                left = code - sub if kind != SWAP else code + moved
                add(bl, 0, left, bl.weight[1, i] * tmp[b])
    close(bl, 0)
    normalise(bl, 0)
    s[HAND_M] = truth
    s[DISC] = disc


@compiled
def swap_into(bl: Belief, target: int, gave: int, got: int, v: int, tb: Tables) -> Any:
    """Belief, from row 0, after a swap of `gave` for `got` (card index v); the chance of it."""
    bl.n[target] = 0
    total = 0.0
    for i in range(bl.n[0]):
        code = bl.codes[0, i]
        c = tb.digit[code, v]
        if c > 0 and bl.weight[0, i] > 0.0:
            w = bl.weight[0, i] * c / tb.size[code]
            total += w
            add(bl, target, code - got + gave, w)
    close(bl, target)
    return total


@compiled
def swap_belief(bl: Belief, gave: int, got: int, tb: Tables) -> None:
    """The responder really swapped."""
    v = 0
    while tb.radix[v] != got:
        v += 1
    swap_into(bl, 1, gave, got, v, tb)
    bl.n[0] = bl.n[1]
    for i in range(bl.n[1]):
        bl.codes[0, i] = bl.codes[1, i]
        bl.weight[0, i] = bl.weight[1, i]
    normalise(bl, 0)
