"""Bounds where the search of the public tree stops: the responder is about to draw and move."""

from __future__ import annotations

from typing import Any, NamedTuple

from duels.solve.compiled import Array, compiled
from duels.solve.siege import mccfr
from duels.solve.siege.codes import FIRST_CI, FULL, PLIES, SECOND_CI, VALUES, Store, Tables
from duels.solve.siege.public_tree import (
    CI,
    DISC,
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
    odds_of,
)
from duels.solve.siege.search import move_values


class Guide(NamedTuple):
    """What a responder does where the tree ends: the learned values of moves (see `search`)."""

    k: float  # trust in the coarse values; negative: nothing was learned, and a leaf counts 0
    tf: Tables
    tc: Tables
    sf: Store
    sc: Store


@compiled
def draw_cards(source: Array, target: Array, size: int, geo: Geometry) -> None:
    """Weights of hands of a size to those with one more card: a draw of any card, not weighed."""
    target[geo.first[size + 1] : geo.first[size + 2]] = 0.0
    for hand in range(geo.first[size], geo.first[size + 1]):
        if source[hand] > 0.0:
            for v in range(geo.plus.shape[1]):
                if geo.plus[hand, v] >= 0:
                    target[geo.plus[hand, v]] += source[hand]


@compiled
def reach_of(level: int, hand: int, geo: Geometry, wk: Work) -> Any:
    """The chance to be here with an own hand, for one order of the own draws."""
    p = wk.pub[level]
    total = 0.0
    for g in range(geo.first[p[THEIRS]], geo.first[p[THEIRS] + 1]):
        if wk.other[level, g] > 0.0:
            total += wk.other[level, g] * odds_of(hand, g, p[DISC], p[SHUF], geo)
    return total


@compiled
def survivals(level: int, tb: Tables, geo: Geometry, wk: Work) -> None:
    """For each hand of the opponent with its next draw: the weight of those cards that do not win.

    One column for each card the responder may defend with, then one for each it may give away,
    and all of the weight.
    The hand counts before the exchange, since a swap changes nothing about which cards are out.
    """
    p = wk.pub[level]
    values, n, ci = tb.const[VALUES], p[THEIRS], p[CI]
    cap = tb.const[FIRST_CI] if geo.const[SEAT] == 0 else tb.const[SECOND_CI]
    wk.survive[geo.first[n + 1] : geo.first[n + 2]] = 0.0
    for g in range(geo.first[n], geo.first[n + 1]):
        w = wk.other[level, g]
        if w <= 0.0:
            continue
        for v in range(values):
            drawn = geo.plus[g, v]
            if drawn < 0:
                continue
            wk.survive[drawn, 2 * values] += w
            damage = tb.best[geo.code[drawn]]
            for c in range(values):
                if damage < min(cap, ci + c + 1):
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


@compiled
def survival(level: int, hand: int, tb: Tables, geo: Geometry, wk: Work) -> Any:
    """The best chance, times that of being here, to see another turn; `hand` cannot win."""
    p = wk.pub[level]
    values, n = tb.const[VALUES], p[THEIRS]
    wk.total[:] = 0.0
    for g in range(geo.first[n + 1], geo.first[n + 2]):
        if wk.survive[g, 2 * values] > 0.0:
            chance = odds_of(hand, g, p[DISC], p[SHUF], geo)
            if chance > 0.0:
                for c in range(2 * values):
                    wk.total[c] += chance * wk.survive[g, c]
    most = wk.total[geo.top[hand]]
    if n > 0 and p[MINE] + 1 <= geo.const[LIMIT]:
        for c in range(values):
            if geo.minus[hand, c] >= 0:
                most = max(most, wk.total[values + c])
    return most


@compiled
def learned(level: int, hand: int, tb: Tables, geo: Geometry, wk: Work, gd: Guide) -> Any:
    """What the learned responder expects to score with a hand; 0 where it knows nothing."""
    p, s = wk.pub[level], wk.state
    s[mccfr.HAND_M] = geo.code[hand]
    s[mccfr.HAND_O] = geo.code[geo.first[p[THEIRS]]]
    s[mccfr.DISC], s[mccfr.CI_M], s[mccfr.CI_O] = p[DISC], p[CI], p[OCI]
    s[mccfr.KNOWN_M], s[mccfr.KNOWN_O], s[mccfr.PLY] = p[I_KNOW], p[THEY_KNOW], p[PLY]
    a = move_values(s, gd.k, gd.tf, gd.tc, gd.sf, gd.sc, wk.mix[1])
    return min(1.0, max(0.0, wk.mix[1, a]))


@compiled
def leaf(level: int, tb: Tables, geo: Geometry, wk: Work, gd: Guide) -> Any:
    """Bounds for the hands with an own weight, and how far apart they are in all.

    Above: a win at once, or the next turn of the opponent must be survived. Below: a win at once,
    or what the learned responder expects.
    """
    p = wk.pub[level]
    m, n = p[MINE], p[THEIRS]
    low, high = geo.first[m], geo.first[m + 1]
    wk.out[level, :, low:high] = 0.0
    wk.count[1] += 1
    left = tb.size[tb.const[FULL]] - m - n - tb.size[p[DISC]]
    gap = 0.0
    if left <= 0 or p[PLY] >= tb.const[PLIES]:
        for h in range(low, high):
            if wk.own[level, h] > 0.0:
                r = reach_of(level, h, geo, wk)
                if p[PLY] >= tb.const[PLIES]:
                    wk.out[level, :, h] = 0.5 * r
                else:
                    wk.out[level, UPPER, h] = r
                    gap += wk.own[level, h] * r
        return gap
    drawn, best = wk.drawn[level], wk.best[level]
    draw_cards(wk.own[level], drawn, m, geo)
    final = p[PLY] + 1 >= tb.const[PLIES]
    if left > 1 and not final:
        survivals(level, tb, geo, wk)
    for h in range(geo.first[m + 1], geo.first[m + 2]):
        best[:, h] = 0.0
        if drawn[h] <= 0.0:
            continue
        r = reach_of(level, h, geo, wk)
        if r <= 0.0:
            continue
        if tb.best[geo.code[h]] >= p[OCI]:
            best[:, h] = r
            continue
        if final:
            best[:, h] = 0.5 * r
            continue
        best[UPPER, h] = min(r, survival(level, h, tb, geo, wk)) if left > 1 else r
        if gd.k >= 0.0:
            best[LOWER, h] = min(best[UPPER, h], r * learned(level, h, tb, geo, wk, gd))
        gap += drawn[h] * (best[UPPER, h] - best[LOWER, h])
    before_draw(level, m, geo, wk)
    return gap


@compiled
def before_draw(level: int, size: int, geo: Geometry, wk: Work) -> None:
    """The bounds of hands before the draw, from those after it."""
    for h in range(geo.first[size], geo.first[size + 1]):
        wk.out[level, :, h] = 0.0
        if wk.own[level, h] > 0.0:
            for v in range(geo.plus.shape[1]):
                if geo.plus[h, v] >= 0:
                    wk.out[level, UPPER, h] += wk.best[level, UPPER, geo.plus[h, v]]
                    wk.out[level, LOWER, h] += wk.best[level, LOWER, geo.plus[h, v]]
