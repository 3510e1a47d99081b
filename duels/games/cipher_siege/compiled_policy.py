"""Strategies in compiled code: the policy of a store, and its play-outs.

Play-outs do not sample whether a draw wins: the probability is computed exactly, and the game
continues with a draw that does not win and a smaller weight. This removes most of the variance.
"""

from __future__ import annotations

from typing import Any

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.compiled_keys import stored_slot
from duels.games.cipher_siege.compiled_rules import (
    CI_M,
    CI_O,
    DISC,
    HAND_M,
    HAND_O,
    KNOWN_M,
    KNOWN_O,
    PLY,
    coarse_key_of,
    deal,
    draw_on,
    key_of,
    legal_count,
    play,
    turn_over,
)
from duels.games.cipher_siege.compiled_tables import FINE, MAX_ACTIONS, PLIES, Tables, uniform
from duels.games.cipher_siege.store import Store, slot_of

STALLS = 0.5  # fraction of mistakes and random moves that are a defence with the highest card
PRIOR = 60.0  # weight of the mean regrets of the coarse state, in visits of the fine state
# Russian roulette: below this weight, a game continues with probability weight / FAINT.
FAINT = 0.15


def new_scratch() -> Array:
    """Buffers for strategies and action values."""
    return np.zeros((5, MAX_ACTIONS), dtype=np.float64)


@compiled
def match(where: int, actions: int, best: Any, pool: Array, out: Array) -> None:
    """Regret matching; the largest attack if no regret is positive."""
    total = 0.0
    for a in range(actions):
        r = pool[where + a]
        out[a] = r if r > 0.0 else 0.0
        total += out[a]
    if total <= 0.0:
        out[best] = 1.0
        total = 1.0
    for a in range(actions):
        out[a] /= total


@compiled
def sample(probabilities: Array, actions: int, rng: Array) -> Any:
    """An index drawn from a distribution."""
    x = uniform(rng)
    last = 0
    for a in range(actions):
        if probabilities[a] > 0.0:
            last = a
            x -= probabilities[a]
            if x < 0.0:
                return a
    return last


@compiled
def choose(s: Array, which: int, tb: Tables, st: Store, sigma: Array, rng: Array) -> Any:
    """Sample a move of the stored strategy; the largest attack if the state is not stored.

    `which` is the row of the pool: 0 the current strategy, 1 the average.
    """
    hand = s[HAND_M]
    slot = stored_slot(
        hand, s[DISC], s[CI_M], s[CI_O], tb.size[s[HAND_O]], s[KNOWN_M], s[KNOWN_O], s[PLY], tb,
        st.keys,
    )  # fmt: skip
    if st.keys[slot] == 0:
        return tb.best_row[hand]
    actions = legal_count(s, tb)
    match(st.where[slot], actions, tb.best_row[hand], st.pool[which], sigma)
    return sample(sigma, actions, rng)


@compiled
def regrets(s: Array, tb: Tables, st: Store, out: Array) -> Any:
    """Regrets of the mover's moves, up to a common factor, into `out`; False if none are stored.

    They are those of the fine state, with those of the coarse state as a prior, or those of the
    coarse state alone.
    """
    hand = s[HAND_M]
    actions, last = legal_count(s, tb), tb.total_actions[hand]
    slot = slot_of(coarse_key_of(s, tb), st.keys)
    if st.keys[slot] == 0:
        return False
    coarse = st.where[slot]
    if s[PLY] < tb.const[FINE]:
        slot = slot_of(key_of(s, tb), st.keys)
        fine = st.where[slot]
        visits = st.pool[0, fine + last]
        if st.keys[slot] != 0 and visits > 0:
            prior = PRIOR * st.pool[1, fine + last] / visits / st.pool[1, coarse + last]
            for a in range(actions):
                out[a] = st.pool[0, fine + a] + prior * st.pool[0, coarse + a]
            return True
    out[:actions] = st.pool[0, coarse : coarse + actions]
    return True


@compiled
def current(s: Array, tb: Tables, st: Store, sigma: Array) -> None:
    """The current mixed strategy of the mover; the largest attack if nothing is stored."""
    actions, best = legal_count(s, tb), tb.best_row[s[HAND_M]]
    if not regrets(s, tb, st, sigma):
        sigma[:actions] = 0.0
    match(0, actions, best, sigma, sigma)


@compiled
def play_out(s: Array, me: int, which: int, tb: Tables, st: Store, sigma: Array, rng: Array) -> Any:
    """The score of seat `me` when both follow the stored strategy from the start of a turn.

    Probabilities to win by a draw are computed, not sampled, so the score is between 0 and 1.
    """
    score, weight = 0.0, 1.0
    while s[PLY] < tb.const[PLIES]:
        chance = draw_on(s, tb, rng)
        if (s[PLY] & 1) == me:
            score += weight * chance
        weight *= 1.0 - chance
        if weight < FAINT:
            if uniform(rng) * FAINT >= weight:
                return score
            weight = FAINT
        if s[HAND_M] == 0:
            turn_over(s)
            continue
        if which == 0:
            current(s, tb, st, sigma)
            a = sample(sigma, legal_count(s, tb), rng)
        else:
            a = choose(s, 1, tb, st, sigma, rng)
        play(s, a, tb, rng)
    return score + 0.5 * weight


@compiled
def mistake(s: Array, tb: Tables, rng: Array) -> Any:
    """A mistake: often a defence with the highest card, else any move."""
    if uniform(rng) < STALLS:
        return tb.plain_actions[s[HAND_M]] - 1
    return np.int64(uniform(rng) * legal_count(s, tb))


@compiled
def self_play(
    games: int, tb: Tables, st: Store, scratch: Array, states: Array, rng: Array
) -> float:
    """The first player's score of the average strategy against itself."""
    total = 0.0
    s = states[0]
    for _ in range(games):
        deal(s, tb, rng)
        total += play_out(s, 0, 1, tb, st, scratch[0], rng)
    return total / games
