"""Cipher Siege as the kernels play it: a game is a vector of numbers; draws, moves, play-outs.

Whether a draw wins is not left to the dice where a score is wanted: its chance is counted, and the
game goes on with the draws that do not win, weighing that much less. Most of the noise of a
play-out is gone with that.
"""

from __future__ import annotations

from typing import Any

from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.codes import (
    ATTACK,
    DEALT,
    DEFEND,
    FINE,
    FIRST_CI,
    FULL,
    MAX_ACTIONS,
    PLIES,
    SECOND_CI,
    VALUES,
    Store,
    Tables,
    coarse_key,
    forget,
    pick_card,
    slot_of,
    state_key,
    stored_slot,
    uniform,
)

STALLS = 0.5  # the share of slips and random moves that are a defence with the highest card
PRIOR = 60.0  # visits of a fine state that the mean regrets of its coarse state count for
FAINT = 0.15  # play with less weight than this goes on only now and then, with this weight

# Indices into the state vector of a game.  "M" is the player to move, "O" the other one.
DECK, DISC, HAND_M, HAND_O, CI_M, CI_O, KNOWN_M, KNOWN_O, PLY, CAP_M, CAP_O = range(11)


@compiled
def match(where: int, actions: int, best: Any, pool: Array, out: Array) -> None:
    """Regret matching: in proportion to positive regret; the largest attack if there is none."""
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
def deal(s: Array, tb: Tables, rng: Array) -> None:
    """Start a game: two hands and the rest of the deck."""
    deck = tb.const[FULL]
    s[:] = 0
    for i in range(2 * tb.const[DEALT]):
        card = tb.radix[pick_card(deck, tb, rng)]
        deck -= card
        s[HAND_M + (i & 1)] += card
    s[DECK] = deck
    s[CI_M] = s[CAP_M] = tb.const[FIRST_CI]
    s[CI_O] = s[CAP_O] = tb.const[SECOND_CI]


@compiled
def refill(s: Array) -> None:
    """An empty deck is refilled from the discard pile (C7)."""
    if s[DECK] == 0:
        s[DECK] = s[DISC]
        s[DISC] = 0


@compiled
def draw(s: Array, tb: Tables, rng: Array) -> None:
    """The draw phase."""
    refill(s)
    if s[DECK] > 0:
        card = tb.radix[pick_card(s[DECK], tb, rng)]
        s[DECK] -= card
        s[HAND_M] += card


@compiled
def draw_on(s: Array, tb: Tables, rng: Array) -> Any:
    """The draw phase of a mover who does not win at once; the chance that it would have.

    If every draw wins, nothing is drawn.
    """
    refill(s)
    if s[DECK] == 0:
        return 1.0 if tb.best[s[HAND_M]] >= s[CI_O] else 0.0
    cards, wins = tb.size[s[DECK]], 0
    for v in range(tb.const[VALUES]):
        if tb.digit[s[DECK], v] > 0 and tb.best[s[HAND_M] + tb.radix[v]] >= s[CI_O]:
            wins += tb.digit[s[DECK], v]
    if wins == cards:
        return 1.0
    left = int(uniform(rng) * (cards - wins))
    for v in range(tb.const[VALUES]):
        if tb.digit[s[DECK], v] > 0 and tb.best[s[HAND_M] + tb.radix[v]] < s[CI_O]:
            left -= tb.digit[s[DECK], v]
            if left < 0:
                s[DECK] -= tb.radix[v]
                s[HAND_M] += tb.radix[v]
                break
    return wins / cards


@compiled
def turn_over(s: Array) -> None:
    """The other player becomes the mover."""
    for i in (HAND_M, CI_M, KNOWN_M, CAP_M):
        x = s[i]
        s[i] = s[i + 1]
        s[i + 1] = x
    s[PLY] += 1


@compiled
def play(s: Array, a: int, tb: Tables, rng: Array) -> None:
    """Make the mover's move number `a` and end the turn.

    KNOWN_M is what the mover knows of the other hand.
    """
    row = tb.start[s[HAND_M]] + a
    sub = tb.sub[row]
    s[KNOWN_O] = forget(s[KNOWN_O], sub, tb)
    s[HAND_M] -= sub
    if tb.kind[row] == ATTACK:
        s[DISC] += sub
        s[CI_O] -= tb.worth[row]
    elif tb.kind[row] == DEFEND:
        s[DISC] += sub
        s[CI_M] = min(s[CAP_M], s[CI_M] + tb.worth[row])
    else:
        got = tb.radix[pick_card(s[HAND_O], tb, rng)]
        s[HAND_O] += sub - got
        s[HAND_M] += got
        s[KNOWN_O] += got
        s[KNOWN_M] = forget(s[KNOWN_M], got, tb) + sub
    turn_over(s)


@compiled
def legal_count(s: Array, tb: Tables) -> Any:
    """How many moves the mover has: swaps come last and need an opposing card."""
    if s[HAND_O] > 0:
        return tb.total_actions[s[HAND_M]]
    return tb.plain_actions[s[HAND_M]]


@compiled
def key_of(s: Array, tb: Tables) -> Any:
    """Key of the mover's information state."""
    return state_key(
        s[HAND_M], s[DISC], s[CI_M], s[CI_O], tb.size[s[HAND_O]], s[KNOWN_M], s[KNOWN_O], s[PLY], tb
    )


@compiled
def rough_key_of(s: Array, tb: Tables) -> Any:
    """Key of the mover's coarse state."""
    return coarse_key(
        s[HAND_M], s[DISC], s[CI_M], s[CI_O], tb.size[s[HAND_O]], s[KNOWN_M], s[PLY], tb
    )


@compiled
def choose(s: Array, which: int, tb: Tables, st: Store, sigma: Array, rng: Array) -> Any:
    """A move of the stored strategy; the largest attack where nothing is stored.

    `which` is the row of the pool: 0 the current strategy, 1 the average.
    """
    hand = s[HAND_M]
    slot = stored_slot(
        hand, s[DISC], s[CI_M], s[CI_O], tb.size[s[HAND_O]], s[KNOWN_M], s[KNOWN_O], s[PLY], tb, st
    )
    if st.keys[slot] == 0:
        return tb.best_row[hand]
    actions = legal_count(s, tb)
    match(st.where[slot], actions, tb.best_row[hand], st.pool[which], sigma)
    return sample(sigma, actions, rng)


@compiled
def regrets(s: Array, tb: Tables, st: Store, out: Array) -> Any:
    """The regrets of the mover's moves, in any unit; false where nothing is known.

    Those of the fine state with those of the coarse one as a prior, or of the coarse one alone.
    """
    hand = s[HAND_M]
    actions, last = legal_count(s, tb), tb.total_actions[hand]
    slot = slot_of(rough_key_of(s, tb), st)
    if st.keys[slot] == 0:
        return False
    coarse = st.where[slot]
    if s[PLY] < tb.const[FINE]:
        slot = slot_of(key_of(s, tb), st)
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
    """The current mix of the mover; the largest attack where nothing is known."""
    actions, best = legal_count(s, tb), tb.best_row[s[HAND_M]]
    if not regrets(s, tb, st, sigma):
        sigma[:actions] = 0.0
    match(0, actions, best, sigma, sigma)


@compiled
def play_out(s: Array, me: int, which: int, tb: Tables, st: Store, sigma: Array, rng: Array) -> Any:
    """The score of seat `me` when both follow the stored strategy from the start of a turn.

    Chances to win by a draw are counted, not sampled: the score is anything from 0 to 1.
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
def slip(s: Array, tb: Tables, rng: Array) -> Any:
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


def new_scratch() -> Array:
    """Room for strategies and action values."""
    return np.zeros((5, MAX_ACTIONS), dtype=np.float64)


def new_states() -> Array:
    """Room for game states."""
    return np.zeros((6, 11), dtype=np.int64)
