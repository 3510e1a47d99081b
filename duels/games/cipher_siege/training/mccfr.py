"""Monte Carlo CFR over the information states of `compiled_keys.state_key`.

One iteration plays one game for each player as the learner. The opponent samples from its current
strategy. The learner samples from its average strategy, or with probability `EXPLORE` plays a
`mistake`, and at each of its decisions every move is evaluated by one play-out of the current
strategies. (External sampling would traverse all moves of the learner: with 20 moves a decision
that is thousands of times more expensive per game.) A player who can win at once does so.

As in linear CFR, iteration t has weight t. Moves with very negative regret are pruned on most
iterations. Unlike in CFR+, regrets have no floor at zero: values are sampled, and with a floor the
noise would repeatedly raise slightly worse moves above zero.

Whether a draw wins is not sampled: its probability is computed exactly, and the game continues with
a draw that does not win, weighted by the probability of those. This removes most of the variance of
a play-out, and every game reaches the later turns.

Every update of a fine state is also made in its coarse state, as if there were no fine ones. The
mean regrets of the coarse state are the prior of the fine one (shrinkage), since play-outs are
noisy and most fine states have few visits. The finished strategy uses the coarse state where no
fine one is stored.

In some games the opponent makes mistakes: a random move, its largest attack, or a defence with its
highest card. Later updates of that game have a small weight: too small to change the strategy on
the equilibrium path, but regret matching is invariant to scale, so states that only a mistake
reaches are learned too.
"""

from __future__ import annotations

from typing import Any

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.compiled_policy import (
    FAINT,
    match,
    mistake,
    play_out,
    regrets,
    sample,
)
from duels.games.cipher_siege.compiled_rules import (
    HAND_M,
    PLY,
    coarse_key_of,
    deal,
    draw_on,
    key_of,
    legal_count,
    play,
    turn_over,
)
from duels.games.cipher_siege.compiled_tables import FINE, PLIES, Tables, uniform
from duels.games.cipher_siege.store import Store, find_or_add, slot_of

# Regrets are in units of the weight of a visit in a game without mistakes.
PRUNE_BELOW, PRUNE_CHANCE = -15.0, 0.95
EXPLORE = 0.3  # probability of a `mistake` instead of a move of the learner's average strategy
MISTAKES = 0.2  # games in which the opponent makes mistakes
MISTAKE_WEIGHT = 0.02  # of what follows a mistake
MEET = 3  # a fine state is added to the store at this visit


@compiled
def learn(
    where: int, last: int, actions: int, w: float, strategy: Array, q: Array, st: Store
) -> None:
    """Add the regrets of `strategy` for the evaluated moves, those with `q` >= 0.

    The cell `last` holds the number of visits and the sum of their weights.
    """
    value = 0.0
    for a in range(actions):
        if q[a] >= 0.0:
            value += strategy[a] * q[a]
    for a in range(actions):
        if q[a] >= 0.0:
            st.pool[0, where + a] += np.float32(w * (q[a] - value))
    st.pool[0, where + last] += np.float32(1.0)
    st.pool[1, where + last] += np.float32(w)


@compiled
def iterate(
    me: int, w: float, tb: Tables, st: Store, met: Array, scratch: Array, states: Array, rng: Array
) -> None:
    """Play one game with `me` as the learner."""
    s, s2 = states[0], states[1]
    sigma, q, tmp, regret, rough = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    deal(s, tb, rng)
    shaky = uniform(rng) < MISTAKES
    weight, scale = w, 1.0
    while s[PLY] < tb.const[PLIES]:
        weight *= 1.0 - draw_on(s, tb, rng)
        if weight < FAINT * scale * w:  # Russian roulette
            if uniform(rng) * FAINT * scale * w >= weight:
                return
            weight = FAINT * scale * w
        hand = s[HAND_M]
        if hand == 0:
            turn_over(s)
            continue
        actions, last = legal_count(s, tb), tb.total_actions[hand]
        coarse = find_or_add(coarse_key_of(s, tb), last + 1, st)
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
                    scale = MISTAKE_WEIGHT
                    weight *= scale
                a = tb.best_row[hand] if uniform(rng) < 0.25 else mistake(s, tb, rng)
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
            a = mistake(s, tb, rng)
        else:
            match(known, actions, tb.best_row[hand], st.pool[1], sigma)
            a = sample(sigma, actions, rng)
        play(s, a, tb, rng)


@compiled
def find_if_met(key: Any, cells: int, met: Array, st: Store) -> Any:
    """Pool offset of a state; -1 before its `MEET`-th visit, or when the store is full."""
    slot = slot_of(key, st.keys)
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
    """Run iterations up to `stop`; `count` is updated after each, so that a run can be resumed."""
    while count[0] < stop:
        w = (count[0] + 1) * 1e-6
        iterate(0, w, tb, st, met, scratch, states, rng)
        iterate(1, w, tb, st, met, scratch, states, rng)
        count[0] += 1
