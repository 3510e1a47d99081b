"""Bounds where the search of the public tree stops: the responder is about to draw and move."""

from __future__ import annotations

from typing import Any, NamedTuple

from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.codes import FIRST_CI, FULL, PLIES, SECOND_CI, VALUES, Tables
from duels.solve.siege.public_tree import (
    BIAS,
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
)

COARSE = 20.0  # games that a rough state counts at most beside an exact one


class Guide(NamedTuple):
    """What the responder scores if it goes on from a state in a simple way, as play-outs told.

    The way: it follows the strategy, but up to some own CI it defends with its highest card. A hash
    table of states as the responder sees them, once with all that is public, once roughly. Without
    a slot nothing was played out, and a leaf counts 0.
    """

    keys: Array  # u64[slots], 0 = free
    sums: Array  # f32[slots] scores
    games: Array  # f32[slots] how many
    used: Array  # i64[2] slots; the own CI up to which it stalls


def new_guide(slots_log2: int, stall: int = 0) -> Guide:
    """An empty guide; 0: none."""
    slots = 1 << slots_log2 if slots_log2 else 0
    return Guide(
        np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.float32),
        np.zeros(slots, dtype=np.float32), np.array([0, stall], dtype=np.int64),
    )  # fmt: skip


@compiled
def mixed(key: Any, field: int) -> Any:
    """A hash with one more field."""
    z = (key ^ np.uint64(field + 1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return (z ^ (z >> np.uint64(27))) | np.uint64(1)


@compiled
def guide_slot(
    fine: bool, hand: int, disc: int, ci: int, oci: int, osize: int, km: int, ko: int, ply: int,
    add: bool, tb: Tables, gd: Guide,
) -> Any:  # fmt: skip
    """Slot of what the mover sees, or the free slot where it belongs."""
    key = mixed(mixed(mixed(np.uint64(1), hand), ci * 64 + oci), osize * 2 + (ply & 1))
    if fine:
        key = mixed(mixed(mixed(mixed(key, disc), km), ko), ply)
    else:
        key = mixed(mixed(key, tb.bucket[hand + disc]), km)
    mask = np.uint64(gd.keys.shape[0] - 1)
    slot = (key >> np.uint64(7)) & mask
    while gd.keys[slot] != 0 and gd.keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    if add and gd.keys[slot] == 0 and gd.used[0] * 10 < gd.keys.shape[0] * 7:
        gd.keys[slot] = key
        gd.used[0] += 1
    return slot


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
def list_hands(level: int, geo: Geometry, wk: Work) -> Any:
    """The opponent's hands that have a weight, packed for `reach_of`; how many."""
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
    """The chance to be here with an own hand, for one order of the own draws."""
    odds, code = geo.odds[wk.pub[level, SHUF]], geo.code[hand]
    wide, high = geo.wide[code], geo.const[HIGH]
    total = 0.0
    for i in range(count):
        if (wk.wides[0, i] + wide) & high == 0:
            total += wk.weights[i] * odds[wk.codes[0, i] + code]
    return total


@compiled
def survivals(level: int, tb: Tables, geo: Geometry, wk: Work) -> Any:
    """For each hand of the opponent with its next draw: the weight of those cards that do not win.

    One column for each card the responder may defend with, then one for each it may give away,
    and all of the weight. Returns how many there are. The hand counts before the exchange, since a
    swap changes nothing about which cards are out.
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
    count = 0
    for g in range(geo.first[n + 1], geo.first[n + 2]):
        if wk.survive[g, 2 * values] > 0.0:
            code = geo.code[g]
            wk.codes[1, count] = code + p[DISC]
            wk.wides[1, count] = geo.wide[code] + geo.wide[p[DISC]] + geo.const[BIAS]
            wk.columns[count, :] = wk.survive[g, : 2 * values]
            count += 1
    return count


@compiled
def survival(level: int, hand: int, count: int, tb: Tables, geo: Geometry, wk: Work) -> Any:
    """The best chance, times that of being here, to see another turn; `hand` cannot win."""
    p = wk.pub[level]
    values, n = tb.const[VALUES], p[THEIRS]
    odds, code, total = geo.odds[p[SHUF]], geo.code[hand], wk.total
    wide, high = geo.wide[code], geo.const[HIGH]
    total[:] = 0.0
    for i in range(count):
        if (wk.wides[1, i] + wide) & high == 0:
            chance = odds[wk.codes[1, i] + code]
            for c in range(total.shape[0]):
                total[c] += chance * wk.columns[i, c]
    most = total[geo.top[hand]]
    if n > 0 and p[MINE] + 1 <= geo.const[LIMIT]:
        for c in range(values):
            if geo.minus[hand, c] >= 0:
                most = max(most, total[values + c])
    return most


@compiled
def expected(level: int, hand: int, tb: Tables, geo: Geometry, wk: Work, gd: Guide) -> Any:
    """What going on so scores from here with a hand; 0 where nobody ever was."""
    p, code = wk.pub[level], geo.code[hand]
    total = weight = 0.0
    for fine in (False, True):
        slot = guide_slot(
            fine, code, p[DISC], p[CI], p[OCI], p[THEIRS], p[I_KNOW], p[THEY_KNOW], p[PLY], False,
            tb, gd,
        )  # fmt: skip
        if gd.games[slot] > 0.0:
            trust = gd.games[slot] if fine else min(gd.games[slot], COARSE)
            total += trust * gd.sums[slot] / gd.games[slot]
            weight += trust
    return total / weight if weight > 0.0 else 0.0


@compiled
def leaf(level: int, tb: Tables, geo: Geometry, wk: Work, gd: Guide) -> Any:
    """Bounds for the hands with an own weight, and how far apart they are in all.

    Above: a win at once, or the next turn of the opponent must be survived. Below: a win at once,
    or what going on as the guide does is expected to score.
    """
    p = wk.pub[level]
    m, n = p[MINE], p[THEIRS]
    low, high = geo.first[m], geo.first[m + 1]
    wk.out[level, :, low:high] = 0.0
    wk.count[1] += 1
    left = tb.size[tb.const[FULL]] - m - n - tb.size[p[DISC]]
    count = list_hands(level, geo, wk)
    gap = 0.0
    if left <= 0 or p[PLY] >= tb.const[PLIES]:
        for h in range(low, high):
            if wk.own[level, h] > 0.0:
                r = reach_of(level, h, count, geo, wk)
                if p[PLY] >= tb.const[PLIES]:
                    wk.out[level, :, h] = 0.5 * r
                else:
                    wk.out[level, UPPER, h] = r
                    gap += wk.own[level, h] * r
        return gap
    drawn, best = wk.drawn[level], wk.best[level]
    draw_cards(wk.own[level], drawn, m, geo)
    final = p[PLY] + 1 >= tb.const[PLIES]
    more = survivals(level, tb, geo, wk) if left > 1 and not final else 0
    for h in range(geo.first[m + 1], geo.first[m + 2]):
        best[:, h] = 0.0
        if drawn[h] <= 0.0:
            continue
        r = reach_of(level, h, count, geo, wk)
        if r <= 0.0:
            continue
        if tb.best[geo.code[h]] >= p[OCI]:
            best[:, h] = r
            continue
        if final:
            best[:, h] = 0.5 * r
            continue
        best[UPPER, h] = min(r, survival(level, h, more, tb, geo, wk)) if left > 1 else r
        if gd.keys.shape[0] > 0:
            best[LOWER, h] = min(best[UPPER, h], r * expected(level, h, tb, geo, wk, gd))
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
