"""Steps of the search of the public tree: its plan, and the changes between two turns."""

from __future__ import annotations

from typing import Any, NamedTuple

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.bounds.public_tree import (
    BY_SEARCH,
    DISC,
    LEVELS,
    LIMIT,
    LOWER,
    MINE,
    PLY,
    SHUF,
    SHUFFLES,
    THEIRS,
    UPPER,
    Geometry,
    Work,
    copy,
    fill,
    may_act,
    odds_of,
)
from duels.games.cipher_siege.compiled_keys import stored_slot
from duels.games.cipher_siege.compiled_policy import match
from duels.games.cipher_siege.compiled_tables import FULL, Tables, move_count
from duels.games.cipher_siege.store import Store, hashed


class Plan(NamedTuple):
    """The responder's moves at searched public histories: a hash table by hash of the history."""

    names: Array  # u64[slots], 0 = free
    where: Array  # i64[slots]
    acts: Array  # i16[cells], -1 = no plan
    used: Array  # i64[2] entries, cells


def new_plan(slots_log2: int) -> Plan:
    """An empty plan; without slots nothing is planned."""
    slots = 1 << slots_log2
    return Plan(
        np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.int64),
        np.full(80 * slots if slots > 1 else 1, -1, dtype=np.int16), np.zeros(2, dtype=np.int64),
    )  # fmt: skip


@compiled
def plan_slot(name: Any, plan: Plan) -> Any:
    """The slot of a public history, or the free slot where it would be inserted."""
    mask = np.uint64(plan.names.shape[0] - 1)
    slot = (name >> np.uint64(7)) & mask
    while plan.names[slot] != 0 and plan.names[slot] != name:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled
def store_plan(level: int, size: int, geo: Geometry, wk: Work, plan: Plan) -> None:
    """Store the moves with the best lower bounds, for the hands that were searched."""
    low, high = geo.first[size], geo.first[size + 1]
    if plan.names.shape[0] < 2:
        return
    slot = plan_slot(wk.name[level], plan)
    if plan.names[slot] == 0:
        full = plan.used[0] * 10 > plan.names.shape[0] * 7
        if full or plan.used[1] + high - low > plan.acts.shape[0]:
            return
        plan.names[slot] = wk.name[level]
        plan.where[slot] = plan.used[1]
        plan.used[0] += 1
        plan.used[1] += high - low
    for h in range(low, high):
        if wk.drawn[level, h] > 0.0:
            plan.acts[plan.where[slot] + h - low] = wk.pick[level, h]


@compiled
def strategy_of(
    hand: int, ci: int, oci: int, osize: int, disc: int, km: int, ko: int, ply: int,
    tb: Tables, st: Store, out: Array,
) -> Any:  # fmt: skip
    """Write the mixed strategy of a hand that cannot win at once; returns how many moves it has."""
    actions = move_count(hand, osize, tb)
    slot = stored_slot(hand, disc, ci, oci, osize, km, ko, ply, tb, st.keys)
    out[:actions] = 0.0
    if st.keys[slot] == 0:
        out[tb.best_row[hand]] = 1.0
    else:
        match(st.where[slot], actions, tb.best_row[hand], st.pool[1], out)
    return actions


@compiled
def step_down(level: int, event: int, wk: Work) -> None:
    """Copy the public state to the next level; the caller applies the changes of the event."""
    copy(wk.pub[level], wk.pub[level + 1], 0, wk.pub.shape[1])
    wk.pub[level + 1, PLY] += 1
    wk.name[level + 1] = hashed(wk.name[level], event)


@compiled
def clear(level: int, geo: Geometry, wk: Work) -> None:
    """Set the weights of all hands of the current sizes to 0."""
    p = wk.pub[level]
    fill(wk.own[level], geo.first[p[MINE]], geo.first[p[MINE] + 1], 0.0)
    fill(wk.other[level], geo.first[p[THEIRS]], geo.first[p[THEIRS] + 1], 0.0)


@compiled
def reshuffle(level: int, hand: int, tb: Tables, geo: Geometry, wk: Work) -> Any:
    """Continue with one pair of hands after the deck is empty, when both hands are known.

    Returns False if the pair is impossible.
    """
    p = wk.pub[level]
    other = geo.index[tb.const[FULL] - p[DISC] - geo.code[hand]]
    weight = wk.other[level, other] * odds_of(hand, other, p[DISC], p[SHUF], geo)
    if weight <= 0.0:
        return False
    step_down(level, geo.code[hand], wk)
    q = wk.pub[level + 1]
    q[PLY] -= 1
    q[DISC] = 0
    q[SHUF] += 1
    clear(level + 1, geo, wk)
    wk.own[level + 1, hand] = wk.own[level, hand]
    wk.other[level + 1, other] = weight
    return True


@compiled
def fits(hand: int, disc: int, geo: Geometry) -> Any:
    """Whether a hand is possible given the discards."""
    return odds_of(hand, 0, disc, 0, geo) > 0.0


@compiled
def too_deep(level: int, wk: Work) -> Any:
    return level + 4 >= LEVELS or wk.pub[level, SHUF] + 1 >= SHUFFLES


@compiled
def list_acts(level: int, size: int, geo: Geometry, wk: Work) -> Any:
    """List the moves of the responder's hands with a positive weight; returns their number."""
    hands, values = geo.plus.shape
    swaps = wk.pub[level, THEIRS] > 0 and size <= geo.const[LIMIT]
    count = 0
    for act in range(1, hands + (2 if swaps else 1) * values):
        if act < geo.first[size + 1] or act >= hands:
            for h in range(geo.first[size], geo.first[size + 1]):
                if wk.drawn[level, h] > 0.0 and may_act(h, act, geo):
                    wk.acts[level, count] = act
                    count += 1
                    break
    return count


@compiled
def drawn_and_may(level: int, hand: int, act: int, geo: Geometry, wk: Work) -> Any:
    """Whether a hand has a positive weight and allows a move."""
    return wk.drawn[level, hand] > 0.0 and may_act(hand, act, geo)


@compiled
def unsearched_best(level: int, hand: int, at: int, count: int, side: int, wk: Work) -> Any:
    """The move with the highest bound if it is not searched yet, else -1."""
    found = -1
    top = wk.best[level, UPPER, hand] if side == UPPER else -1.0
    for i in range(count):
        act = wk.acts[level, i]
        if wk.q[level, act, side, at] > top:
            done = wk.bounded_by[level, act, at] == BY_SEARCH
            if side == LOWER or not done:
                top = wk.q[level, act, side, at]
                found = -1 if done else act
    return found


@compiled
def next_act(
    level: int, size: int, count: int, side: int, least: float, geo: Geometry, wk: Work
) -> tuple[int, int]:
    """The move whose bounds exceed those of searched moves most, summed over hands, and its depth.

    The move is -1 if the sum is at most `least`. `wk.wanted` is set to the hands for which it
    exceeds them and that were searched least deeply.
    """
    drawn, best, wanted = wk.drawn[level], wk.best[level], wk.wanted[level]
    q, bounded_by, tally, acts = wk.q[level], wk.bounded_by[level], wk.tally[level], wk.acts[level]
    low, high = geo.first[size], geo.first[size + 1]
    for i in range(count):
        tally[acts[i]] = 0.0
    total = 0.0
    for h in range(low, high):
        if drawn[h] > 0.0:
            act = unsearched_best(level, h, h - low, count, side, wk)
            wanted[h] = act + 1.0
            if act >= 0:
                floor = best[UPPER, h] if side == UPPER else q[act, LOWER, h - low]
                excess = drawn[h] * (q[act, UPPER, h - low] - floor)
                tally[act] += excess
                total += excess
    chosen = -1
    for i in range(count):
        if tally[acts[i]] > 0.0 and (chosen < 0 or tally[acts[i]] > tally[chosen]):
            chosen = acts[i]
    if chosen < 0 or total <= least:
        return -1, BY_SEARCH
    step = BY_SEARCH
    for h in range(low, high):
        if drawn[h] > 0.0 and wanted[h] == chosen + 1.0:
            step = min(step, bounded_by[chosen, h - low] + 1)
    for h in range(low, high):
        if drawn[h] > 0.0 and wanted[h] == chosen + 1.0 and bounded_by[chosen, h - low] < step:
            wanted[h] = drawn[h]
            bounded_by[chosen, h - low] = step
        else:
            wanted[h] = 0.0
    return chosen, step
