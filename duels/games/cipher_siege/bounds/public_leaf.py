"""Bounds where the search of the public tree stops: the responder is about to draw and move."""

from __future__ import annotations

from typing import Any

from duels.algorithms.compiled import Array, compiled
from duels.games.cipher_siege import compiled_rules
from duels.games.cipher_siege.bounds.public_tree import (
    BIAS,
    BY_NEXT_DRAW,
    CI,
    DISC,
    HIGH,
    I_KNOW,
    LIMIT,
    LOWER,
    MINE,
    OCI,
    PLY,
    SEAT,
    SHUF,
    THEIRS,
    THEY_KNOW,
    UPPER,
    Geometry,
    Work,
    copy,
    deck_size,
    fill,
    may_act,
    set_both,
)
from duels.games.cipher_siege.compiled_rules import after_move
from duels.games.cipher_siege.compiled_tables import (
    FIRST_CI,
    PLIES,
    VALUES,
    Tables,
)
from duels.games.cipher_siege.q_table import CAUTION, estimates, lower_confidence_move
from duels.games.cipher_siege.rules import DEFEND
from duels.games.cipher_siege.store import Store


@compiled
def draw_cards(source: Array, target: Array, size: int, geo: Geometry) -> None:
    """Weights of hands after a draw, from those of hands of a size; each card counts once."""
    fill(target, geo.first[size + 1], geo.first[size + 2], 0.0)
    for hand in range(geo.first[size], geo.first[size + 1]):
        if source[hand] > 0.0:
            for v in range(geo.plus.shape[1]):
                if geo.plus[hand, v] >= 0:
                    target[geo.plus[hand, v]] += source[hand]


@compiled
def list_hands(level: int, geo: Geometry, wk: Work) -> Any:
    """List the opponent's hands with a positive weight for `reach_of`; returns their number."""
    p = wk.pub[level]
    count = 0
    for g in range(geo.first[p[THEIRS]], geo.first[p[THEIRS] + 1]):
        if wk.other[level, g] > 0.0:
            code = geo.code[g]
            wk.codes[0, count] = code + p[DISC]
            wk.wides[0, count] = geo.wide[code] + geo.wide[p[DISC]] + geo.const[BIAS]
            wk.weights[count] = wk.other[level, g]
            count += 1
    return count


@compiled
def reach_of(level: int, hand: int, count: int, geo: Geometry, wk: Work) -> Any:
    """The probability of this node with a hand of the responder, for one order of its draws."""
    odds, code = geo.odds[wk.pub[level, SHUF]], geo.code[hand]
    wide, high = geo.wide[code], geo.const[HIGH]
    total = 0.0
    for i in range(count):
        if (wk.wides[0, i] + wide) & high == 0:
            total += wk.weights[i] * odds[wk.codes[0, i] + code]
    return total


@compiled
def survivals(level: int, tb: Tables, geo: Geometry, wk: Work) -> Any:
    """For each hand of the opponent after its next draw: the weight of draws that do not win.

    Columns: one for each card the responder may defend with, one for each card it may give in a
    swap, one for an attack, and the total weight. Returns the number of hands. Hands are taken
    before the swap, since a swap does not change which cards are out of the deck.
    """
    p = wk.pub[level]
    values, n, ci = tb.const[VALUES], p[THEIRS], p[CI]
    cap = tb.const[FIRST_CI + geo.const[SEAT]]
    for g in range(geo.first[n + 1], geo.first[n + 2]):
        fill(wk.survive[g], 0, 2 * values + 2, 0.0)
    for g in range(geo.first[n], geo.first[n + 1]):
        w = wk.other[level, g]
        if w <= 0.0:
            continue
        for v in range(values):
            drawn = geo.plus[g, v]
            if drawn < 0:
                continue
            wk.survive[drawn, 2 * values + 1] += w
            damage = tb.best[geo.code[drawn]]
            if damage < ci:
                wk.survive[drawn, 2 * values] += w
            for c in range(values):
                if damage < after_move(DEFEND, c + 1, ci, 0, cap)[0]:
                    wk.survive[drawn, c] += w
            if n == 0 or p[MINE] + 1 > geo.const[LIMIT]:
                continue
            for got in range(values):
                if geo.minus[g, got] < 0:
                    continue
                part = w * tb.digit[geo.code[g], got] / n
                rest = geo.plus[geo.minus[g, got], v]
                for c in range(values):
                    after = geo.plus[rest, c] if rest >= 0 else rest
                    if after < 0 or tb.best[geo.code[after]] < ci:
                        wk.survive[drawn, values + c] += part
    count = 0
    for g in range(geo.first[n + 1], geo.first[n + 2]):
        if wk.survive[g, 2 * values + 1] > 0.0:
            code = geo.code[g]
            wk.codes[1, count] = code + p[DISC]
            wk.wides[1, count] = geo.wide[code] + geo.wide[p[DISC]] + geo.const[BIAS]
            copy(wk.survive[g], wk.columns[count], 0, 2 * values + 1)
            count += 1
    return count


@compiled
def survive(level: int, hand: int, count: int, geo: Geometry, wk: Work) -> None:
    """Probabilities that the responder, who cannot win now, gets another turn: into `wk.total`."""
    odds, code, total = geo.odds[wk.pub[level, SHUF]], geo.code[hand], wk.total
    wide, high = geo.wide[code], geo.const[HIGH]
    fill(total, 0, total.shape[0], 0.0)
    for i in range(count):
        if (wk.wides[1, i] + wide) & high == 0:
            chance = odds[wk.codes[1, i] + code]
            for c in range(total.shape[0]):
                total[c] += chance * wk.columns[i, c]


@compiled
def survival(level: int, hand: int, count: int, tb: Tables, geo: Geometry, wk: Work) -> Any:
    """The largest probability of another turn, times that of the node; `hand` cannot win."""
    p = wk.pub[level]
    values, n, total = tb.const[VALUES], p[THEIRS], wk.total
    survive(level, hand, count, geo, wk)
    most = total[geo.top[hand]]
    if n > 0 and p[MINE] + 1 <= geo.const[LIMIT]:
        for c in range(values):
            if geo.minus[hand, c] >= 0:
                most = max(most, total[values + c])
    return most


@compiled
def bound_acts(level: int, size: int, count: int, tb: Tables, geo: Geometry, wk: Work) -> None:
    """First bounds of `count` moves of the responder: it must survive the opponent's next draw.

    `size` is that of the responder's hands, which include the drawn card and cannot win.
    """
    p, q = wk.pub[level], wk.q[level]
    values, hands, low = tb.const[VALUES], geo.code.shape[0], geo.first[size]
    left = deck_size(p, tb) - size + p[MINE]
    known = left > 0 and size > p[MINE] and p[PLY] + 1 < tb.const[PLIES]
    others = list_hands(level, geo, wk)
    more = survivals(level, tb, geo, wk) if known else 0
    for h in range(low, geo.first[size + 1]):
        if wk.drawn[level, h] <= 0.0:
            continue
        if known:
            survive(level, h, more, geo, wk)
        else:
            fill(wk.total, 0, wk.total.shape[0], reach_of(level, h, others, geo, wk))
        for i in range(count):
            act = wk.acts[level, i]
            may = may_act(h, act, geo)
            q[act, UPPER, h - low] = (
                wk.total[act - hands if act >= hands else 2 * values] if may else -1.0
            )
            q[act, LOWER, h - low] = 0.0 if may else -1.0
            wk.bounded_by[level, act, h - low] = BY_NEXT_DRAW


@compiled
def expected(level: int, hand: int, tb: Tables, geo: Geometry, wk: Work, qt: Store) -> Any:
    """The expected score of the learned responder with a hand; 0 where it has no estimate."""
    p, s, q, n = wk.pub[level], wk.state, wk.strategies[2], wk.strategies[3]
    s[compiled_rules.HAND_M] = geo.code[hand]
    s[compiled_rules.HAND_O] = geo.code[geo.first[p[THEIRS]]]  # any hand of that size
    s[compiled_rules.DISC], s[compiled_rules.PLY] = p[DISC], p[PLY]
    s[compiled_rules.CI_M], s[compiled_rules.CI_O] = p[CI], p[OCI]
    s[compiled_rules.KNOWN_M], s[compiled_rules.KNOWN_O] = p[I_KNOW], p[THEY_KNOW]
    best = lower_confidence_move(estimates(s, tb, qt, q, n), CAUTION, q, n)
    return q[best] if best >= 0 else 0.0


@compiled
def leaf(level: int, tb: Tables, geo: Geometry, wk: Work, qt: Store) -> Any:
    """Bounds for the responder's hands with a positive weight; returns their total gap.

    Upper bound: the responder wins now or survives the opponent's next turn. Lower bound: it wins
    now or scores what the learned responder is expected to score.
    """
    p = wk.pub[level]
    m = p[MINE]
    low, high = geo.first[m], geo.first[m + 1]
    for h in range(low, high):
        set_both(wk.out[level], h, 0.0)
    wk.count[1] += 1
    left = deck_size(p, tb)
    count = list_hands(level, geo, wk)
    gap = 0.0
    if left <= 0 or p[PLY] >= tb.const[PLIES]:
        for h in range(low, high):
            if wk.own[level, h] > 0.0:
                r = reach_of(level, h, count, geo, wk)
                if p[PLY] >= tb.const[PLIES]:
                    set_both(wk.out[level], h, 0.5 * r)
                else:
                    wk.out[level, UPPER, h] = r
                    gap += wk.own[level, h] * r
        return gap
    drawn, best = wk.drawn[level], wk.best[level]
    draw_cards(wk.own[level], drawn, m, geo)
    final = p[PLY] + 1 >= tb.const[PLIES]
    more = survivals(level, tb, geo, wk) if left > 1 and not final else 0
    for h in range(geo.first[m + 1], geo.first[m + 2]):
        set_both(best, h, 0.0)
        if drawn[h] <= 0.0:
            continue
        r = reach_of(level, h, count, geo, wk)
        if r <= 0.0:
            continue
        if tb.best[geo.code[h]] >= p[OCI]:
            set_both(best, h, r)
            continue
        if final:
            set_both(best, h, 0.5 * r)
            continue
        best[UPPER, h] = min(r, survival(level, h, more, tb, geo, wk)) if left > 1 else r
        if qt.keys.shape[0] > 1:
            best[LOWER, h] = min(best[UPPER, h], r * expected(level, h, tb, geo, wk, qt))
        gap += drawn[h] * (best[UPPER, h] - best[LOWER, h])
    before_draw(level, m, geo, wk)
    return gap


@compiled
def before_draw(level: int, size: int, geo: Geometry, wk: Work) -> None:
    """The bounds of hands before the draw, from those after it."""
    for h in range(geo.first[size], geo.first[size + 1]):
        set_both(wk.out[level], h, 0.0)
        if wk.own[level, h] > 0.0:
            for v in range(geo.plus.shape[1]):
                if geo.plus[h, v] >= 0:
                    wk.out[level, UPPER, h] += wk.best[level, UPPER, geo.plus[h, v]]
                    wk.out[level, LOWER, h] += wk.best[level, LOWER, geo.plus[h, v]]
