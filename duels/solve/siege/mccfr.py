"""Monte Carlo CFR over the information states of `kernel.state_key`.

One iteration plays one game for each player as the learner. The opponent follows its current
strategy; the learner's moves are sampled from a slowly changing exploring mix, and at each of its
choices every move is valued by one play-out of the current strategies. (Plain external sampling
walks every branch: with 20 moves a choice that is thousands of times dearer per game here.) Linear
weights: iteration t counts t. Regrets are floored so that a move can come back, and moves far below
zero are skipped on most iterations. A player who can win at once does so: nothing scores above 1.

In some games the opponent slips (a random move or its largest attack). What follows teaches with a
tiny weight: too small to bend the strategy where equilibrium play goes, but regret matching ignores
scale, so states that only a mistake can reach are learned as well.
"""

from __future__ import annotations

from typing import Any

from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.kernel import (
    ATTACK,
    DEALT,
    DEFEND,
    FIRST_CI,
    FULL,
    MAX_ACTIONS,
    PLIES,
    SECOND_CI,
    Store,
    Tables,
    find_or_add,
    forget,
    moves_at,
    pick_card,
    slot_of,
    state_key,
    uniform,
)

# Regrets are in units of the iteration's weight.
PRUNE_BELOW, PRUNE_CHANCE, FLOOR = -30.0, 0.95, -45.0
EXPLORE = 0.3  # the learner's share of random moves
SLIPS, SLIP_WEIGHT = 0.15, 0.02  # games in which the opponent slips; the weight of what follows

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
def draw(s: Array, tb: Tables, rng: Array) -> None:
    """The draw phase; an empty deck is first refilled from the discard pile (C7)."""
    if s[DECK] == 0:
        s[DECK] = s[DISC]
        s[DISC] = 0
    if s[DECK] > 0:
        card = tb.radix[pick_card(s[DECK], tb, rng)]
        s[DECK] -= card
        s[HAND_M] += card


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
def choose(s: Array, which: int, tb: Tables, st: Store, sigma: Array, rng: Array) -> Any:
    """A move of the stored strategy; the largest attack where nothing is stored.

    `which` is the row of the pool: 0 the current strategy, 1 the average.
    """
    hand = s[HAND_M]
    slot = slot_of(key_of(s, tb), st)
    if st.keys[slot] == 0:
        return tb.best_row[hand]
    actions = legal_count(s, tb)
    match(st.where[slot], actions, tb.best_row[hand], st.pool[which], sigma)
    return sample(sigma, actions, rng)


@compiled
def play_out(s: Array, me: int, which: int, tb: Tables, st: Store, sigma: Array, rng: Array) -> Any:
    """The score of seat `me` when both follow the stored strategy from the start of a turn."""
    while s[PLY] < tb.const[PLIES]:
        draw(s, tb, rng)
        if s[HAND_M] == 0:
            turn_over(s)
            continue
        if tb.best[s[HAND_M]] >= s[CI_O]:
            return 1.0 if (s[PLY] & 1) == me else 0.0
        play(s, choose(s, which, tb, st, sigma, rng), tb, rng)
    return 0.5


@compiled
def iterate(
    me: int, w: float, tb: Tables, st: Store, scratch: Array, states: Array, rng: Array
) -> None:
    """One game with ``me`` as the learner."""
    s, s2 = states[0], states[1]
    sigma, q, tmp = scratch[0], scratch[1], scratch[2]
    deal(s, tb, rng)
    shaky = uniform(rng) < SLIPS
    scale = 1.0
    while s[PLY] < tb.const[PLIES]:
        draw(s, tb, rng)
        hand = s[HAND_M]
        if hand == 0:
            turn_over(s)
            continue
        if tb.best[hand] >= s[CI_O]:
            return
        actions = legal_count(s, tb)
        where = find_or_add(key_of(s, tb), actions, st)
        if where < 0:
            return
        match(where, actions, tb.best_row[hand], st.pool[0], sigma)
        if (s[PLY] & 1) != me:
            for a in range(actions):
                st.pool[1, where + a] += np.float32(w * sigma[a])
            a = sample(sigma, actions, rng)
            if shaky and uniform(rng) < 0.5:
                scale = SLIP_WEIGHT
                a = tb.best_row[hand] if uniform(rng) < 0.5 else int(uniform(rng) * actions)
            play(s, a, tb, rng)
            continue
        skip = uniform(rng) < PRUNE_CHANCE
        value = 0.0
        for a in range(actions):
            if skip and sigma[a] == 0.0 and st.pool[0, where + a] < PRUNE_BELOW * w:
                q[a] = -1.0
                continue
            s2[:] = s
            play(s2, a, tb, rng)
            q[a] = play_out(s2, me, 0, tb, st, tmp, rng)
            value += sigma[a] * q[a]
        floor = np.float32(FLOOR * w)
        for a in range(actions):
            if q[a] >= 0.0:
                st.pool[0, where + a] = max(
                    floor, st.pool[0, where + a] + np.float32(scale * w * (q[a] - value))
                )
        if uniform(rng) < EXPLORE:
            a = int(uniform(rng) * actions)
        else:
            match(where, actions, tb.best_row[hand], st.pool[1], sigma)
            a = sample(sigma, actions, rng)
        play(s, a, tb, rng)


@compiled
def train(
    count: Array, stop: int, tb: Tables, st: Store, scratch: Array, states: Array, rng: Array
) -> None:
    """Iterations up to `stop`. `count` keeps pace, so that a run that is interrupted between two
    calls never mistakes how far it came."""
    while count[0] < stop:
        w = (count[0] + 1) * 1e-6
        iterate(0, w, tb, st, scratch, states, rng)
        iterate(1, w, tb, st, scratch, states, rng)
        count[0] += 1


@compiled
def total_regret(tb: Tables, st: Store) -> Any:
    """The largest positive regret of each state, summed over all states."""
    total = 0.0
    for slot in range(st.keys.shape[0]):
        if st.keys[slot] != 0:
            where = st.where[slot]
            total += max(0.0, st.pool[0, where : where + moves_at(st.keys[slot], tb)].max())
    return total


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
    return np.zeros((4, MAX_ACTIONS), dtype=np.float64)


def new_states() -> Array:
    """Room for game states."""
    return np.zeros((6, 11), dtype=np.int64)
