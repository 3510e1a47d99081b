"""Monte Carlo CFR over the information states of `codes.state_key`.

One iteration plays one game for each player as the learner. The opponent follows its current
strategy; the learner's moves are sampled from a slowly changing exploring mix, and at each of its
choices every move is valued by one play-out of the current strategies. (Plain external sampling
walks every branch: with 20 moves a choice that is thousands of times dearer per game here.) A
player who can win at once does so: nothing scores above 1.

Linear weights: iteration t counts t, so that early mistakes fade. Moves far below zero are skipped
on most iterations. Unlike in CFR+, regrets have no floor: values are sampled here, and from a floor
the noise lifts a move that is a little worse above zero again and again, however long it trains.

Whether a draw wins is never left to the dice: its chance is counted, and the game goes on with the
draws that do not win, weighing that much less. Most of the noise of a play-out is gone with that,
and every game reaches the later turns.

What is learned at a fine state is also learned at its coarse state, as if there were no fine ones.
The mean regrets of the coarse state are the prior of the fine one (shrinkage): a play-out is noisy,
and most fine states have few visits. In the finished strategy the coarse state speaks wherever no
fine one is stored.

In some games the opponent slips: a random move, its largest attack, or a defence with its highest
card. What follows teaches with a small weight: too small to bend the strategy where equilibrium
play goes, but regret matching ignores scale, so states that only a mistake can reach are learned.
"""

from __future__ import annotations

from typing import Any

from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.codes import (
    FINE,
    PLIES,
    Store,
    Tables,
    find_or_add,
    slot_of,
    uniform,
)
from duels.solve.siege.moves import (
    FAINT,
    HAND_M,
    PLY,
    deal,
    draw_on,
    key_of,
    legal_count,
    match,
    play,
    play_out,
    regrets,
    rough_key_of,
    sample,
    slip,
    turn_over,
)

# Regrets are in units of what a visit without a slip weighs.
PRUNE_BELOW, PRUNE_CHANCE = -15.0, 0.95
EXPLORE = 0.3  # the learner's share of random moves
SLIPS, SLIP_WEIGHT = 0.2, 0.02  # games in which the opponent slips; the weight of what follows
MEET = 3  # times a fine state is met before it is kept


@compiled
def learn(where: int, last: int, actions: int, w: float, mix: Array, q: Array, st: Store) -> None:
    """Add what was regretted with a `mix`, of the moves that were valued (`q` is not below zero).

    The cell `last` counts visits, and their weights.
    """
    value = 0.0
    for a in range(actions):
        if q[a] >= 0.0:
            value += mix[a] * q[a]
    for a in range(actions):
        if q[a] >= 0.0:
            st.pool[0, where + a] += np.float32(w * (q[a] - value))
    st.pool[0, where + last] += np.float32(1.0)
    st.pool[1, where + last] += np.float32(w)


@compiled
def iterate(
    me: int, w: float, tb: Tables, st: Store, met: Array, scratch: Array, states: Array, rng: Array
) -> None:
    """One game with ``me`` as the learner."""
    s, s2 = states[0], states[1]
    sigma, q, tmp, regret, rough = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    deal(s, tb, rng)
    shaky = uniform(rng) < SLIPS
    weight, scale = w, 1.0
    while s[PLY] < tb.const[PLIES]:
        weight *= 1.0 - draw_on(s, tb, rng)
        if weight < FAINT * scale * w:
            if uniform(rng) * FAINT * scale * w >= weight:
                return
            weight = FAINT * scale * w
        hand = s[HAND_M]
        if hand == 0:
            turn_over(s)
            continue
        actions, last = legal_count(s, tb), tb.total_actions[hand]
        coarse = find_or_add(rough_key_of(s, tb), last + 1, st)
        fine = coarse
        if s[PLY] < tb.const[FINE]:
            fine = find_if_met(key_of(s, tb), last + 1, met, st)
        if coarse < 0:
            return
        regrets(s, tb, st, regret)
        match(0, actions, tb.best_row[hand], regret, sigma)
        if (s[PLY] & 1) != me:
            for a in range(actions):
                part = np.float32(weight * sigma[a])
                st.pool[1, coarse + a] += part
                if fine >= 0 and fine != coarse:
                    st.pool[1, fine + a] += part
            a = sample(sigma, actions, rng)
            if shaky and uniform(rng) < 0.5:
                if scale == 1.0:
                    scale = SLIP_WEIGHT
                    weight *= scale
                a = tb.best_row[hand] if uniform(rng) < 0.25 else slip(s, tb, rng)
            play(s, a, tb, rng)
            continue
        match(coarse, actions, tb.best_row[hand], st.pool[0], rough)
        skip, unit = uniform(rng) < PRUNE_CHANCE, weight / scale
        for a in range(actions):
            played = sigma[a] > 0.0 or rough[a] > 0.0
            if skip and not played and regret[a] < PRUNE_BELOW * unit:
                q[a] = -1.0
                continue
            s2[:] = s
            play(s2, a, tb, rng)
            q[a] = play_out(s2, me, 0, tb, st, tmp, rng)
        learn(coarse, last, actions, weight, rough, q, st)
        known = coarse
        if fine >= 0 and fine != coarse:
            learn(fine, last, actions, weight, sigma, q, st)
            known = fine
        if uniform(rng) < EXPLORE:
            a = slip(s, tb, rng)
        else:
            match(known, actions, tb.best_row[hand], st.pool[1], sigma)
            a = sample(sigma, actions, rng)
        play(s, a, tb, rng)


@compiled
def find_if_met(key: Any, cells: int, met: Array, st: Store) -> Any:
    """Pool offset of a state that was met a few times; -1 before, or when the store is full."""
    slot = slot_of(key, st)
    if st.keys[slot] == key:
        return st.where[slot]
    tally = (key * np.uint64(0xD1342543DE82EF95)) >> np.uint64(40)
    met[tally] += 1
    if met[tally] < MEET:
        return np.int64(-1)
    met[tally] = 0
    return find_or_add(key, cells, st)


@compiled
def train(
    count: Array, stop: int, tb: Tables, st: Store, met: Array, scratch: Array, states: Array,
    rng: Array,
) -> None:  # fmt: skip
    """Iterations up to `stop`. `count` keeps pace, so that a run that is interrupted between two
    calls never mistakes how far it came."""
    while count[0] < stop:
        w = (count[0] + 1) * 1e-6
        iterate(0, w, tb, st, met, scratch, states, rng)
        iterate(1, w, tb, st, met, scratch, states, rng)
        count[0] += 1
