"""A one-turn search over the exact belief, for a responder to a known strategy.

Learned values stand at its leaves, the responder's next choices.
"""

from __future__ import annotations

from typing import Any

from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.belief import (
    Belief,
    after_draw,
    replies,
    swap_into,
)
from duels.solve.siege.kernel import (
    ATTACK,
    CODES,
    DEFEND,
    FULL,
    PLIES,
    SWAP,
    VALUES,
    Store,
    Tables,
    forget,
    slot_of,
)
from duels.solve.siege.mccfr import (
    CAP_M,
    CI_M,
    CI_O,
    DISC,
    HAND_M,
    HAND_O,
    KNOWN_M,
    KNOWN_O,
    PLY,
    key_of,
    legal_count,
    turn_over,
)


@compiled
def move_values(
    s: Array, k: float, tf: Tables, tc: Tables, sf: Store, sc: Store, out: Array
) -> Any:
    """Learned values of the mover's moves, the fine estimate shrunk towards the coarse one.

    Returns the index of the best.
    """
    actions = legal_count(s, tf)
    fine = slot_of(key_of(s, tf), sf)
    coarse = slot_of(key_of(s, tc), sc)
    best = tf.best_row[s[HAND_M]]
    top = -1.0
    for a in range(actions):
        total, weight = 0.0, 0.0
        if sc.keys[coarse] != 0:
            i = sc.where[coarse] + a
            if sc.pool[1, i] > 0.0:
                total, weight = k * sc.pool[0, i] / sc.pool[1, i], k
        if sf.keys[fine] != 0:
            i = sf.where[fine] + a
            total += sf.pool[0, i]
            weight += sf.pool[1, i]
        out[a] = total / weight if weight > 0.0 else -1.0
        if out[a] > top:
            top = out[a]
            best = a
    return best


@compiled
def reply_phase(
    s: Array, source: int, k: float, bl: Belief, tb: Tables, st: Store, tf: Tables, tc: Tables,
    sf: Store, sc: Store, s3: Array, tmp: Array,
) -> Any:  # fmt: skip
    """Weighted value for the responder when the opponent, its hand spread as row `source`, is to
    draw and move."""
    own, n, values = s[HAND_O], tb.const[CODES], tb.const[VALUES]
    if s[PLY] >= tb.const[PLIES]:
        return 0.5 * bl.weight[source, : bl.n[source]].sum()
    s[DISC] = after_draw(bl, source, 2, own, s[DISC], tb)
    used = 0
    for i in range(bl.n[2]):
        code, w = bl.codes[2, i], bl.weight[2, i]
        if w <= 0.0 or tb.best[code] >= s[CI_O]:
            continue
        s[HAND_M] = code
        actions = 1
        if code > 0:
            actions = replies(s, tb, st, tmp)
        for a in range(actions):
            row = tb.start[code] + a
            seen, sub, kind = np.int64(2 * n + values * values), np.int64(0), ATTACK
            p = 1.0
            if code > 0:
                p, sub, kind = tmp[a], tb.sub[row], tb.kind[row]
                seen = kind * n + sub
            if p <= 0.0:
                continue
            for v in range(values if kind == SWAP else 1):
                pw, got = p * w, np.int64(0)
                if kind == SWAP:
                    if tb.digit[own, v] == 0:
                        continue
                    got = tb.radix[v]
                    pw *= tb.digit[own, v] / tb.size[own]
                    g = 0
                    while tb.radix[g] != sub:
                        g += 1
                    seen = 2 * n + g * values + v
                left = code - sub + got
                slot = bl.slot_of[seen]
                if slot < 0:
                    slot = used
                    used += 1
                    bl.slot_of[seen] = slot
                    bl.reply[slot] = seen
                    bl.slot_weight[slot, :] = 0.0
                    bl.slot_rest[slot] = left
                disc = s[DISC] + (sub if kind != SWAP else 0)
                mine = own if kind != SWAP else own - got + sub
                deck = tb.const[FULL] - disc - mine - left
                if deck == 0:
                    deck = disc
                if deck == 0:
                    bl.slot_weight[slot, values] += pw
                for c in range(values):
                    if tb.digit[deck, c] > 0:
                        bl.slot_weight[slot, c] += pw * tb.digit[deck, c] / tb.size[deck]
    total = 0.0
    for slot in range(used):
        seen = bl.reply[slot]
        bl.slot_of[seen] = -1
        s3[:] = s
        s3[HAND_M] = bl.slot_rest[slot]
        if seen < 2 * n:
            kind, sub = seen // n, seen % n
            s3[KNOWN_O] = forget(s3[KNOWN_O], sub, tb)
            s3[DISC] += sub
            if kind == ATTACK:
                cards = -1
                for r in range(tb.start[sub], tb.start[sub] + tb.plain_actions[sub]):
                    if tb.kind[r] == ATTACK and tb.sub[r] == sub:
                        cards = tb.worth[r]
                s3[CI_O] -= cards
            else:
                v = 0
                while tb.radix[v] != sub:
                    v += 1
                s3[CI_M] = min(s3[CAP_M], s3[CI_M] + v + 1)
        elif seen < 2 * n + values * values:
            sub = tb.radix[(seen - 2 * n) // values]
            got = tb.radix[(seen - 2 * n) % values]
            s3[HAND_O] += sub - got
            s3[KNOWN_O] = forget(s3[KNOWN_O], sub, tb) + got
            s3[KNOWN_M] = forget(s3[KNOWN_M], got, tb) + sub
        turn_over(s3)
        if s3[PLY] >= tb.const[PLIES]:
            total += 0.5 * bl.slot_weight[slot, :].sum()
            continue
        if tb.size[tb.const[FULL]] == tb.size[s3[HAND_M]] + tb.size[s3[HAND_O]] + tb.size[s3[DISC]]:
            s3[DISC] = 0
        mine = s3[HAND_M]
        for c in range(values + 1):
            if bl.slot_weight[slot, c] > 0.0:
                s3[HAND_M] = mine + (tb.radix[c] if c < values else 0)
                if tb.best[s3[HAND_M]] >= s3[CI_O]:
                    total += bl.slot_weight[slot, c]
                else:
                    best = move_values(s3, k, tf, tc, sf, sc, tmp)
                    total += bl.slot_weight[slot, c] * max(0.0, tmp[best])
    return total


@compiled
def decide(
    s: Array, best: int, q: Array, margin: float, k: float, bl: Belief, tb: Tables, st: Store,
    tf: Tables, tc: Tables, sf: Store, sc: Store, states: Array, tmp: Array,
) -> Any:  # fmt: skip
    """The best move by search, of those whose learned value q is within `margin` of the best."""
    s2, s3 = states[3], states[4]
    limit = q[best] - margin
    top = -1.0
    for a in range(legal_count(s, tb)):
        if q[a] < limit:
            continue
        row = tb.start[s[HAND_M]] + a
        sub, kind = tb.sub[row], tb.kind[row]
        value = 0.0
        for v in range(tb.const[VALUES] if kind == SWAP else 1):
            s2[:] = s
            s2[KNOWN_O] = forget(s[KNOWN_O], sub, tb)
            s2[HAND_M] -= sub
            source = 0
            if kind == ATTACK:
                s2[DISC] += sub
                s2[CI_O] -= tb.worth[row]
            elif kind == DEFEND:
                s2[DISC] += sub
                s2[CI_M] = min(s2[CAP_M], s2[CI_M] + tb.worth[row])
            else:
                got = tb.radix[v]
                source = 1
                if swap_into(bl, 1, sub, got, v, tb) <= 0.0:
                    continue
                s2[HAND_M] += got
                s2[KNOWN_O] += got
                s2[KNOWN_M] = forget(s[KNOWN_M], got, tb) + sub
            turn_over(s2)
            value += reply_phase(s2, source, k, bl, tb, st, tf, tc, sf, sc, s3, tmp)
        if value > top:
            top = value
            best = a
    return best
