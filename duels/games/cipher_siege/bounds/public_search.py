"""A best response to a frozen strategy on the public tree, bounded from above and from below.

After Johanson et al., "Accelerating Best Response Calculation in Large Extensive Games" (2011): at
each public history all hands of both players are processed at once. A node is expanded if its two
bounds, weighted by its reach probability, are more than `tau` apart. A move of the responder is
expanded only for the hands for which it has the highest upper bound: the other bounds do not affect
the result. The same applies to lower bounds, whose best moves are the responder's plan.
"""

from __future__ import annotations

from duels.algorithms.compiled import recursive
from duels.games.cipher_siege.bounds.public_leaf import (
    before_draw,
    bound_acts,
    draw_cards,
    leaf,
    list_hands,
    reach_of,
)
from duels.games.cipher_siege.bounds.public_steps import (
    Plan,
    clear,
    drawn_and_may,
    fits,
    list_acts,
    next_act,
    reshuffle,
    step_down,
    store_plan,
    strategy_of,
    too_deep,
    unsearched_best,
)
from duels.games.cipher_siege.bounds.public_tree import (
    BY_NEXT_TURN,
    BY_SEARCH,
    CI,
    DISC,
    I_KNOW,
    LEVELS,
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
    copy_both,
    deck_size,
    event_of,
    fill,
    fill_odds,
    move_of_act,
    set_both,
)
from duels.games.cipher_siege.compiled_rules import after_move, remaining
from duels.games.cipher_siege.compiled_tables import (
    FIRST_CI,
    FULL,
    PLIES,
    VALUES,
    Tables,
)
from duels.games.cipher_siege.rules import ATTACK, DEFEND, SWAP
from duels.games.cipher_siege.store import Store

NEVER = 1e300  # a `tau` with which no node is expanded
LEAVE = 0.25  # fraction of `tau` by which bounds of other moves may exceed those of searched moves
BEST, ITSELF, CEILING = range(3)  # the best move; the strategy's own; only the upper bound


@recursive
def their_turn(
    level: int, tau: float, mode: int, tb: Tables, st: Store, geo: Geometry, wk: Work, qt: Store,
    plan: Plan,
) -> None:  # fmt: skip
    """The opponent draws and follows its strategy: sets `wk.out[level]` for responder hands."""
    p = wk.pub[level]
    m, n, disc = p[MINE], p[THEIRS], p[DISC]
    low, high = geo.first[m], geo.first[m + 1]
    for h in range(low, high):
        set_both(wk.out[level], h, 0.0)
    left = deck_size(p, tb)
    if p[PLY] >= tb.const[PLIES] or (left == 0 and disc > 0 and too_deep(level, wk)):
        count = list_hands(level, geo, wk)
        for h in range(low, high):
            if wk.own[level, h] > 0.0:
                r = reach_of(level, h, count, geo, wk)
                wk.out[level, UPPER, h] = r
                if p[PLY] >= tb.const[PLIES]:
                    set_both(wk.out[level], h, 0.5 * r)
        return
    if left == 0 and disc > 0:
        fill_odds(p[SHUF] + 1, disc, tb, geo)
        for h in range(low, high):
            if wk.own[level, h] > 0.0 and reshuffle(level, h, tb, geo, wk):
                their_turn(level + 1, tau, mode, tb, st, geo, wk, qt, plan)
                copy_both(wk.out[level + 1], wk.out[level], h, h + 1)
        return
    values, hands = tb.const[VALUES], geo.code.shape[0]
    drawn = wk.drawn[level]
    if left > 0:
        draw_cards(wk.other[level], drawn, n, geo)
        n += 1
    else:
        copy(wk.other[level], drawn, geo.first[n], geo.first[n + 1])
    if n == 0:
        step_down(level, -1, wk)
        clear(level + 1, geo, wk)
        copy(wk.own[level], wk.own[level + 1], low, high)
        wk.other[level + 1, 0] = drawn[0]
        if leaf(level + 1, tb, geo, wk, qt) > tau and level + 4 < LEVELS:
            own_turn(level + 1, tau, mode, tb, st, geo, wk, qt, plan)
        copy_both(wk.out[level + 1], wk.out[level], low, high)
        return
    head, event_at, hand_at = wk.head[level], wk.edge_event[level], wk.edge_hand[level]
    next_at, weight_at = wk.edge_next[level], wk.edge_weight[level]
    fill(head, 0, head.shape[0], -1)
    edges = 0
    for g in range(geo.first[n], geo.first[n + 1]):
        code = geo.code[g]
        if drawn[g] <= 0.0 or tb.best[code] >= p[CI] or not fits(g, disc, geo):
            continue
        actions = strategy_of(
            code, p[OCI], p[CI], m, disc, p[THEY_KNOW], p[I_KNOW], p[PLY], tb, st, wk.strategies[0]
        )
        for a in range(actions):
            if wk.strategies[0, a] <= 0.0:
                continue
            row = tb.start[code] + a
            rest = geo.index[code - tb.sub[row]]
            for got in range(values if tb.kind[row] == SWAP else 1):
                after = rest
                if tb.kind[row] == SWAP:
                    after = geo.plus[rest, got]
                    if after < 0:
                        continue
                event = event_of(tb.kind[row], tb.sub[row], tb.radix[got], tb, geo)
                event_at[edges] = event
                hand_at[edges] = after
                weight_at[edges] = drawn[g] * wk.strategies[0, a]
                next_at[edges] = head[event]
                head[event] = edges
                edges += 1
    for event in range(head.shape[0]):
        if head[event] < 0:
            continue
        gave = got = -1
        step_down(level, event, wk)
        q = wk.pub[level + 1]
        if event < hands + values:
            played = event if event < hands else geo.index[tb.radix[event - hands]]
            code = geo.code[played]
            q[THEIRS] = n - tb.size[code]
            q[DISC] += code
            q[I_KNOW] = remaining(p[I_KNOW], code, tb.digit, tb.radix)
            kind = ATTACK if event < hands else DEFEND
            cap = tb.const[FIRST_CI + 1 - geo.const[SEAT]]
            q[OCI], q[CI] = after_move(kind, geo.worth[played], p[OCI], p[CI], cap)
        else:
            gave, got = (event - hands - values) // values, (event - hands - values) % values
            q[THEIRS] = n
            sure, shown = (
                remaining(p[I_KNOW], tb.radix[gave], tb.digit, tb.radix),
                remaining(p[THEY_KNOW], tb.radix[got], tb.digit, tb.radix),
            )
            most = tb.digit[tb.const[FULL], 0]
            if tb.digit[sure, got] >= most or tb.digit[shown, gave] >= most:
                continue  # more such cards than exist
            q[I_KNOW] = sure + tb.radix[got]
            q[THEY_KNOW] = shown + tb.radix[gave]
        clear(level + 1, geo, wk)
        edge = head[event]
        while edge >= 0:
            wk.other[level + 1, hand_at[edge]] += weight_at[edge]
            edge = next_at[edge]
        some = False
        for h in range(low, high):
            if wk.own[level, h] <= 0.0:
                continue
            if gave < 0:
                wk.own[level + 1, h] = wk.own[level, h]
                some = True
            elif geo.minus[h, got] >= 0 and geo.plus[geo.minus[h, got], gave] >= 0:
                part = tb.digit[geo.code[h], got] / m
                wk.own[level + 1, geo.plus[geo.minus[h, got], gave]] = part * wk.own[level, h]
                some = True
        if not some:
            continue
        if leaf(level + 1, tb, geo, wk, qt) > tau and level + 4 < LEVELS:
            own_turn(level + 1, tau, mode, tb, st, geo, wk, qt, plan)
        for h in range(low, high):
            if wk.own[level, h] <= 0.0:
                continue
            if gave < 0:
                wk.out[level, UPPER, h] += wk.out[level + 1, UPPER, h]
                wk.out[level, LOWER, h] += wk.out[level + 1, LOWER, h]
            elif geo.minus[h, got] >= 0 and geo.plus[geo.minus[h, got], gave] >= 0:
                part = tb.digit[geo.code[h], got] / m
                after = geo.plus[geo.minus[h, got], gave]
                wk.out[level, UPPER, h] += part * wk.out[level + 1, UPPER, after]
                wk.out[level, LOWER, h] += part * wk.out[level + 1, LOWER, after]


@recursive
def try_act(
    level: int, act: int, size: int, tau: float, mode: int, tb: Tables, st: Store, geo: Geometry,
    wk: Work, qt: Store, plan: Plan,
) -> None:  # fmt: skip
    """Write the bounds of one move of the responder for the hands `wk.wanted` to `wk.q`."""
    p = wk.pub[level]
    values, hands = tb.const[VALUES], geo.code.shape[0]
    low, high = geo.first[size], geo.first[size + 1]
    theirs, theirs_end = geo.first[p[THEIRS]], geo.first[p[THEIRS] + 1]
    wanted, q = wk.wanted[level], wk.q[level, act]
    if act < hands + values:
        played = act if act < hands else geo.index[tb.radix[act - hands]]
        code = geo.code[played]
        step_down(level, act, wk)
        to = wk.pub[level + 1]
        to[MINE] = size - tb.size[code]
        to[DISC] += code
        to[THEY_KNOW] = remaining(p[THEY_KNOW], code, tb.digit, tb.radix)
        kind = ATTACK if act < hands else DEFEND
        cap = tb.const[FIRST_CI + geo.const[SEAT]]
        to[CI], to[OCI] = after_move(kind, geo.worth[played], p[CI], p[OCI], cap)
        clear(level + 1, geo, wk)
        copy(wk.other[level], wk.other[level + 1], theirs, theirs_end)
        for h in range(low, high):
            if wanted[h] > 0.0:
                wk.own[level + 1, geo.less[h, played]] = wanted[h]
        their_turn(level + 1, tau, mode, tb, st, geo, wk, qt, plan)
        for h in range(low, high):
            if wanted[h] > 0.0:
                q[UPPER, h - low] = wk.out[level + 1, UPPER, geo.less[h, played]]
                q[LOWER, h - low] = wk.out[level + 1, LOWER, geo.less[h, played]]
        return
    gave = act - hands - values
    for h in range(low, high):
        if wanted[h] > 0.0:
            set_both(q, h - low, 0.0)
    for got in range(values):
        step_down(level, hands + values + gave * values + got, wk)
        to = wk.pub[level + 1]
        to[MINE] = size
        clear(level + 1, geo, wk)
        some = 0.0
        for g in range(theirs, theirs_end):
            if wk.other[level, g] > 0.0 and geo.minus[g, got] >= 0:
                after = geo.plus[geo.minus[g, got], gave]
                if after >= 0:
                    part = tb.digit[geo.code[g], got] / p[THEIRS]
                    wk.other[level + 1, after] = part * wk.other[level, g]
                    some += part * wk.other[level, g]
        shown, sure = (
            remaining(p[THEY_KNOW], tb.radix[gave], tb.digit, tb.radix),
            remaining(p[I_KNOW], tb.radix[got], tb.digit, tb.radix),
        )
        most = tb.digit[tb.const[FULL], 0]
        if some <= 0.0 or tb.digit[shown, got] >= most or tb.digit[sure, gave] >= most:
            continue
        to[THEY_KNOW] = shown + tb.radix[got]
        to[I_KNOW] = sure + tb.radix[gave]
        for h in range(low, high):
            if wanted[h] > 0.0 and geo.plus[geo.minus[h, gave], got] >= 0:
                wk.own[level + 1, geo.plus[geo.minus[h, gave], got]] = wanted[h]
        their_turn(level + 1, tau, mode, tb, st, geo, wk, qt, plan)
        for h in range(low, high):
            if wanted[h] > 0.0 and geo.plus[geo.minus[h, gave], got] >= 0:
                after = geo.plus[geo.minus[h, gave], got]
                q[UPPER, h - low] += wk.out[level + 1, UPPER, after]
                q[LOWER, h - low] += wk.out[level + 1, LOWER, after]


@recursive
def own_turn(
    level: int, tau: float, mode: int, tb: Tables, st: Store, geo: Geometry, wk: Work, qt: Store,
    plan: Plan,
) -> None:  # fmt: skip
    """The responder draws and moves: sets `wk.out[level]` for its hands before the draw."""
    p = wk.pub[level]
    m = p[MINE]
    low, high = geo.first[m], geo.first[m + 1]
    left = deck_size(p, tb)
    if left == 0 and p[DISC] > 0:
        if too_deep(level, wk):
            return  # the bounds of the leaf are sufficient
        fill_odds(p[SHUF] + 1, p[DISC], tb, geo)
        for h in range(low, high):
            if wk.own[level, h] > 0.0:
                set_both(wk.out[level], h, 0.0)
                if reshuffle(level, h, tb, geo, wk):
                    if leaf(level + 1, tb, geo, wk, qt) > tau:
                        own_turn(level + 1, tau, mode, tb, st, geo, wk, qt, plan)
                    copy_both(wk.out[level + 1], wk.out[level], h, h + 1)
        return
    drawn, best, pick = wk.drawn[level], wk.best[level], wk.pick[level]
    if left > 0:
        draw_cards(wk.own[level], drawn, m, geo)
        m += 1
    else:
        copy(wk.own[level], drawn, low, high)
    low, high = geo.first[m], geo.first[m + 1]
    wk.count[0] += 1
    count = list_hands(level, geo, wk)
    for h in range(low, high):
        set_both(best, h, 0.0)
        pick[h] = -1
        if drawn[h] > 0.0:
            r = reach_of(level, h, count, geo, wk)
            if r <= 0.0:
                drawn[h] = 0.0
            elif tb.best[geo.code[h]] >= p[OCI] and m > 0:
                set_both(best, h, r)
                drawn[h] = 0.0
    if m == 0:
        if drawn[0] > 0.0:
            step_down(level, -1, wk)
            theirs, end = geo.first[p[THEIRS]], geo.first[p[THEIRS] + 1]
            clear(level + 1, geo, wk)
            wk.own[level + 1, 0] = drawn[0]
            copy(wk.other[level], wk.other[level + 1], theirs, end)
            their_turn(level + 1, tau, mode, tb, st, geo, wk, qt, plan)
            copy_both(wk.out[level + 1], best, 0, 1)
    elif mode == ITSELF:
        follow(level, m, tau, mode, tb, st, geo, wk, qt, plan)
    else:
        choose_best(level, m, tau, mode, tb, st, geo, wk, qt, plan)
        store_plan(level, m, geo, wk, plan)
    if left > 0:
        before_draw(level, m - 1, geo, wk)
    else:
        copy_both(best, wk.out[level], low, high)


@recursive
def follow(
    level: int, m: int, tau: float, mode: int, tb: Tables, st: Store, geo: Geometry, wk: Work,
    qt: Store, plan: Plan,
) -> None:  # fmt: skip
    """Let the responder follow the strategy too."""
    p = wk.pub[level]
    low, high = geo.first[m], geo.first[m + 1]
    for i in range(list_acts(level, m, geo, wk)):
        act = wk.acts[level, i]
        kind, sub = move_of_act(act, tb, geo)
        some = False
        for h in range(low, high):
            wk.wanted[level, h] = 0.0
            if drawn_and_may(level, h, act, geo, wk):
                code = geo.code[h]
                actions = strategy_of(
                    code, p[CI], p[OCI], p[THEIRS], p[DISC], p[I_KNOW], p[THEY_KNOW], p[PLY], tb,
                    st, wk.strategies[1],
                )  # fmt: skip
                for a in range(actions):
                    row = tb.start[code] + a
                    if tb.kind[row] == kind and tb.sub[row] == sub and wk.strategies[1, a] > 0.0:
                        wk.wanted[level, h] = wk.strategies[1, a] * wk.drawn[level, h]
                        some = True
        if not some:
            continue
        try_act(level, act, m, tau, mode, tb, st, geo, wk, qt, plan)
        for h in range(low, high):
            if wk.wanted[level, h] > 0.0:
                part = wk.wanted[level, h] / wk.drawn[level, h]
                wk.best[level, UPPER, h] += part * wk.q[level, act, UPPER, h - low]
                wk.best[level, LOWER, h] += part * wk.q[level, act, LOWER, h - low]


@recursive
def choose_best(
    level: int, m: int, tau: float, mode: int, tb: Tables, st: Store, geo: Geometry, wk: Work,
    qt: Store, plan: Plan,
) -> None:  # fmt: skip
    """Set the highest bounds over the responder's moves.

    Every move has a first bound from the opponent's next draw. Of the unsearched moves, that whose
    upper bounds exceed the searched ones by the largest weight is bounded one turn deep for those
    hands, then searched, until the excess is small. At last, unless only the upper bound is wanted,
    every move is bounded one turn deep, and the moves with the highest lower bounds are searched,
    since the plan plays them.
    """
    low, high = geo.first[m], geo.first[m + 1]
    drawn, best, pick, wanted = wk.drawn[level], wk.best[level], wk.pick[level], wk.wanted[level]
    q, bounded_by = wk.q[level], wk.bounded_by[level]
    count = list_acts(level, m, geo, wk)
    acts = wk.acts[level]
    bound_acts(level, m, count, tb, geo, wk)
    for i in range(0 if mode == CEILING else count):
        act = acts[i]
        for h in range(low, high):
            wanted[h] = drawn[h] if drawn_and_may(level, h, act, geo, wk) else 0.0
            bounded_by[act, h - low] = BY_NEXT_TURN
        try_act(level, act, m, NEVER, mode, tb, st, geo, wk, qt, plan)
    for side in (UPPER, LOWER):
        while tau < NEVER and not (side == LOWER and mode == CEILING):
            act, step = next_act(level, m, count, side, LEAVE * tau, geo, wk)
            if act < 0:
                break
            deep = tau if step == BY_SEARCH else NEVER
            try_act(level, act, m, deep, mode, tb, st, geo, wk, qt, plan)
            for h in range(low, high):
                if wanted[h] > 0.0 and step == BY_SEARCH:
                    best[UPPER, h] = max(best[UPPER, h], q[act, UPPER, h - low])
    for h in range(low, high):
        if drawn[h] > 0.0:
            act = unsearched_best(level, h, h - low, count, UPPER, wk)
            if act >= 0:
                best[UPPER, h] = q[act, UPPER, h - low]
            best[LOWER, h] = -1.0
            for i in range(count):
                if q[acts[i], LOWER, h - low] > best[LOWER, h]:
                    best[LOWER, h] = q[acts[i], LOWER, h - low]
                    pick[h] = acts[i]
