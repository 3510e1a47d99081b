"""Values of moves when both sides follow the frozen average strategy: the pass after training.

The opponent plays the strategy, so that its hidden cards have the distribution of equilibrium play.
The player whose moves are valued also explores, which does not change that distribution.
"""

from __future__ import annotations

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.compiled_keys import coarse_of
from duels.games.cipher_siege.compiled_policy import FAINT, choose, mistake, new_scratch, play_out
from duels.games.cipher_siege.compiled_rules import (
    HAND_M,
    PLY,
    coarse_key_of,
    deal,
    draw_on,
    key_of,
    legal_count,
    new_states,
    play,
    turn_over,
)
from duels.games.cipher_siege.compiled_tables import (
    FINE,
    PLIES,
    Tables,
    uniform,
)
from duels.games.cipher_siege.store import Store, find_or_add, new_store, slot_of

ENOUGH = 2000.0  # sufficient weight of the play-outs of a move: standard error about 0.005
SHRINK = 4.0  # weight of the coarse estimate, in play-outs
MISTAKES = 0.3  # games with mistakes of the opponent, which value the states after them
MISTAKE_WEIGHT = 0.1  # of play-outs after a mistake: they hardly change values of other states
EXPLORE = 0.3
FEW = 2.0  # sufficient weight of the play-outs of a move at a rare state


@compiled
def evaluate(
    games: int, me: int, rare: bool, tb: Tables, st: Store, sf: Store, sc: Store, states: Array,
    scratch: Array, rng: Array,
) -> None:  # fmt: skip
    """Add play-outs by fine (sf) and coarse (sc) state: pool[0] sums results, pool[1] counts.

    With `rare` the opponent makes mistakes in every game, and moves are played out only at
    coarse states of the strategy with few play-outs so far. Such games are fast.
    """
    s, s2 = states[0], states[1]
    tmp = scratch[0]
    for _ in range(games):
        deal(s, tb, rng)
        shaky = rare or uniform(rng) < MISTAKES
        w, live = np.float32(1.0), 1.0
        while s[PLY] < tb.const[PLIES]:
            live *= 1.0 - draw_on(s, tb, rng)
            if live < FAINT:
                if uniform(rng) * FAINT >= live:
                    break
                live = FAINT
            if s[HAND_M] == 0:
                turn_over(s)
                continue
            if (s[PLY] & 1) == me:
                actions = legal_count(s, tb)
                # only states of the strategy are stored; other states update the coarse table
                fine = np.int64(-1)
                if (
                    not rare
                    and s[PLY] < tb.const[FINE]
                    and st.keys[slot_of(key_of(s, tb), st.keys)] != 0
                ):
                    fine = find_or_add(key_of(s, tb), actions, sf)
                coarse = np.int64(-1)
                key = coarse_key_of(s, tb)
                if not rare or st.keys[slot_of(key, st.keys)] != 0:
                    coarse = find_or_add(key, actions, sc)
                if rare and (coarse < 0 or sc.pool[1, coarse] >= FEW):
                    actions = 0
                # the probability of the hidden cards, given that neither player has won yet
                odds = w * np.float32(live)
                for a in range(actions):
                    if fine >= 0 and sf.pool[1, fine + a] >= ENOUGH:
                        continue
                    s2[:] = s
                    play(s2, a, tb, rng)
                    r = odds * np.float32(play_out(s2, me, 1, tb, st, tmp, rng))
                    if fine >= 0:
                        sf.pool[0, fine + a] += r
                        sf.pool[1, fine + a] += odds
                    if coarse >= 0:
                        sc.pool[0, coarse + a] += r
                        sc.pool[1, coarse + a] += odds
                if uniform(rng) < EXPLORE:
                    play(s, mistake(s, tb, rng), tb, rng)
                    continue
            elif shaky and uniform(rng) < 0.5:
                w = np.float32(1.0 if rare else MISTAKE_WEIGHT)
                play(s, mistake(s, tb, rng), tb, rng)
                continue
            play(s, choose(s, 1, tb, st, tmp, rng), tb, rng)


class Evaluator:
    """Estimates move values of a frozen strategy; every call of `run` adds play-outs."""

    def __init__(self, tables: Tables, strategy: Store, seed: int = 5) -> None:
        self.tables, self.strategy = tables, strategy
        slots = max(16, int(strategy.used[0]).bit_length() + 1)
        self.fine_store = new_store(slots, int(strategy.used[1]) + 1024)
        self.coarse_store = new_store(slots, int(strategy.used[1]) + 10_000_000)
        self.states, self.scratch = new_states(), new_scratch()
        self.rng: Array = np.array([seed], dtype=np.uint64)

    def run(self, games: int, rare: bool = False) -> None:
        """Play `games` for each player; with `rare`, only for states that have few play-outs."""
        for me in (0, 1):
            evaluate(
                games, me, rare, self.tables, self.strategy, self.fine_store, self.coarse_store,
                self.states, self.scratch, self.rng,
            )  # fmt: skip

    def values(self, keys: Array, where: Array) -> Array:
        """The values of the moves of state i, from index where[i] on; -1 without play-outs."""
        found = np.full(int(where[-1]), -1.0)
        stored_values(keys, where, self.tables, self.fine_store, self.coarse_store, found)
        return found


@compiled
def stored_values(keys: Array, where: Array, tb: Tables, sf: Store, sc: Store, out: Array) -> None:
    """Values of the moves at stored states: state i fills out[where[i] : where[i + 1]].

    The mean of the fine state is shrunk towards that of the coarse state, and replaced by it if the
    fine state has no play-outs; -1 if neither has any.
    """
    for j in range(keys.shape[0]):
        fine = slot_of(keys[j], sf.keys)
        coarse = slot_of(coarse_of(keys[j], tb), sc.keys)
        for a in range(where[j + 1] - where[j]):
            total, weight = 0.0, 0.0
            if sc.keys[coarse] != 0 and sc.pool[1, sc.where[coarse] + a] > 0.0:
                i = sc.where[coarse] + a
                weight = min(SHRINK, float(sc.pool[1, i]))
                total = weight * sc.pool[0, i] / sc.pool[1, i]
            if sf.keys[fine] != 0:
                i = sf.where[fine] + a
                total += sf.pool[0, i]
                weight += sf.pool[1, i]
            out[where[j] + a] = total / weight if weight > 0.0 else -1.0
