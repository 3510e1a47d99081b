"""Best responders against a frozen strategy: lower bounds on how far it can be exploited.

`learn` fits move values for one seat by play-outs against the frozen strategy, on finer information
states than the strategy itself uses. `duel` then plays fresh games, either with those values alone
or with a search: the exact belief over the opponent's hand (Bayes along the whole history, since
its strategy is known), every promising move expanded over all hidden hands, draws and replies, and
the learned values only at the responder's next choice. All legal moves are open to the responder.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from duels.games.cipher_siege import CipherSiege
from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.belief import (
    Belief,
    new_belief,
    prior,
    see_draw,
    see_reply,
    swap_belief,
)
from duels.solve.siege.kernel import (
    CI_BASE,
    CODES,
    DEFEND,
    PLIES,
    SWAP,
    TAGS,
    Store,
    Tables,
    build_tables,
    find_or_add,
    new_store,
    uniform,
)
from duels.solve.siege.mccfr import (
    CI_O,
    DISC,
    HAND_M,
    HAND_O,
    PLY,
    choose,
    deal,
    draw,
    key_of,
    legal_count,
    new_scratch,
    new_states,
    play,
    turn_over,
)
from duels.solve.siege.search import (
    decide,
    move_values,
)


@compiled
def answer(
    s: Array,
    me: int,
    k: float,
    tb: Tables,
    st: Store,
    tf: Tables,
    tc: Tables,
    sf: Store,
    sc: Store,
    tmp: Array,
    rng: Array,
) -> Any:
    """Play a game out: the learned greedy policy for ``me``, the frozen strategy for the other."""
    while s[PLY] < tb.const[PLIES]:
        draw(s, tb, rng)
        if s[HAND_M] == 0:
            turn_over(s)
            continue
        if tb.best[s[HAND_M]] >= s[CI_O]:
            return 1.0 if (s[PLY] & 1) == me else 0.0
        if (s[PLY] & 1) == me:
            a = move_values(s, k, tf, tc, sf, sc, tmp)
        else:
            a = choose(s, 1, tb, st, tmp, rng)
        play(s, a, tb, rng)
    return 0.5


@compiled
def learn(
    begin: int, end: int, me: int, tb: Tables, st: Store, tf: Tables, tc: Tables, sf: Store,
    sc: Store, states: Array, scratch: Array, rng: Array,
) -> None:  # fmt: skip
    """Games begin..end-1 of learning: at each own choice every promising move gets a play-out."""
    s, s2 = states[0], states[1]
    q, tmp = scratch[0], scratch[1]
    for t in range(begin, end):
        w = (t + 1) * 1e-6
        k = 20.0 * w
        deal(s, tb, rng)
        while s[PLY] < tb.const[PLIES]:
            draw(s, tb, rng)
            if s[HAND_M] == 0:
                turn_over(s)
                continue
            if tb.best[s[HAND_M]] >= s[CI_O]:
                break
            if (s[PLY] & 1) != me:
                play(s, choose(s, 1, tb, st, tmp, rng), tb, rng)
                continue
            actions = legal_count(s, tb)
            fine = find_or_add(key_of(s, tf), actions, sf)
            coarse = find_or_add(key_of(s, tc), actions, sc)
            if fine < 0 or coarse < 0:
                break
            best = move_values(s, k, tf, tc, sf, sc, q)
            brief = uniform(rng) < 0.9
            for a in range(actions):
                if (
                    brief
                    and sf.pool[1, fine + a] + sc.pool[1, coarse + a] > 2.0 * k
                    and q[a] < q[best] - 0.12
                ):
                    continue
                s2[:] = s
                play(s2, a, tb, rng)
                r = answer(s2, me, k, tb, st, tf, tc, sf, sc, tmp, rng)
                sf.pool[0, fine + a] += np.float32(w * r)
                sf.pool[1, fine + a] += np.float32(w)
                sc.pool[0, coarse + a] += np.float32(w * r)
                sc.pool[1, coarse + a] += np.float32(w)
            x = uniform(rng)
            if x < 0.15:
                best = int(uniform(rng) * actions)
            elif x < 0.5:
                best = choose(s, 1, tb, st, tmp, rng)
            play(s, best, tb, rng)


@compiled
def duel(
    games: int, me: int, k: float, margin: float, tb: Tables, st: Store, tf: Tables, tc: Tables,
    sf: Store, sc: Store, bl: Belief, states: Array, scratch: Array, rng: Array,
) -> float:  # fmt: skip
    """Score of the fixed responder over fresh games.

    margin < 0: learned values only; else the moves within `margin` of the best are searched."""
    s = states[0]
    q, tmp = scratch[0], scratch[1]
    total = 0.0
    for _ in range(games):
        deal(s, tb, rng)
        if margin >= 0.0:
            prior(bl, s[HAND_M + me], tb.size[s[HAND_M + 1 - me]], tb)
        result = 0.5
        while s[PLY] < tb.const[PLIES]:
            mine = (s[PLY] & 1) == me
            before, old_disc = s[HAND_M], s[DISC]
            draw(s, tb, rng)
            if mine and margin >= 0.0 and s[HAND_M] != before:
                see_draw(bl, s, s[HAND_M] - before, tb)
            if s[HAND_M] == 0:
                turn_over(s)
                continue
            if tb.best[s[HAND_M]] >= s[CI_O]:
                result = 1.0 if mine else 0.0
                break
            if not mine:
                a = choose(s, 1, tb, st, tmp, rng)
                other = s[HAND_O]
                states[2][:] = s
                play(s, a, tb, rng)
                if margin >= 0.0:
                    see_reply(bl, states[2], a, other - s[HAND_M], old_disc, tb, st, tmp)
                continue
            a = move_values(s, k, tf, tc, sf, sc, q)
            if margin >= 0.0:
                a = decide(s, a, q, margin, k, bl, tb, st, tf, tc, sf, sc, states, tmp)
            row = tb.start[s[HAND_M]] + a
            hand = s[HAND_M]
            play(s, a, tb, rng)
            if margin >= 0.0 and tb.kind[row] == SWAP:
                swap_belief(bl, tb.sub[row], s[HAND_O] - hand + tb.sub[row], tb)
        total += result
    return total / games


class Estimate(NamedTuple):
    """A mean score with the half-width of its 95% confidence interval."""

    mean: float
    half: float
    games: int

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.half:.4f} ({self.games} games)"


def estimate(mean: float, games: int) -> Estimate:
    """For scores of 0 or 1 (a rare half counts as if it were the mean)."""
    return Estimate(mean, 1.96 * sqrt(max(mean * (1 - mean), 1e-9) / games), games)


class Responder:
    """A best responder for one seat (0 moves first) against a frozen strategy."""

    def __init__(
        self, game: CipherSiege, seat: int, tables: Tables, strategy: Store, slots_log2: int = 22
    ) -> None:
        cap, cells = int(tables.const[PLIES]), 10 << slots_log2
        self.seat, self.tables, self.strategy, self.games = seat, tables, strategy, 0
        self.fine = build_tables(game, cap, cap)
        self.coarse = build_tables(game, 0, cap)
        self.fine_store = new_store(slots_log2, cells)
        self.coarse_store = new_store(slots_log2, cells)
        self.rng: Array = np.array([4242 + seat], dtype=np.uint64)
        self.states, self.scratch = new_states(), new_scratch()
        self.belief = new_belief(tables)

    def learn(self, games: int) -> None:
        """Learn from so many more games."""
        learn(
            self.games, self.games + games, self.seat, self.tables, self.strategy, self.fine,
            self.coarse, self.fine_store, self.coarse_store, self.states, self.scratch, self.rng,
        )  # fmt: skip
        self.games += games

    def score(self, games: int, margin: float = -1.0, seed: int = 99) -> Estimate:
        """The score over fresh games, by learned values alone or (margin >= 0) with the search."""
        rng = np.array([seed * 1_000_003 + self.seat], dtype=np.uint64)
        k = 20.0 * self.games * 1e-6
        mean = duel(
            games, self.seat, k, margin, self.tables, self.strategy, self.fine, self.coarse,
            self.fine_store, self.coarse_store, self.belief, self.states, self.scratch, rng,
        )  # fmt: skip
        return estimate(float(mean), games)


@compiled
def face(
    games: int,
    me: int,
    tb: Tables,
    mine: Store,
    other: Any,
    states: Array,
    scratch: Array,
    rng: Array,
) -> Any:
    """Score in seat ``me`` of one stored strategy against another."""
    s = states[0]
    total = 0.0
    for _ in range(games):
        deal(s, tb, rng)
        result = 0.5
        while s[PLY] < tb.const[PLIES]:
            draw(s, tb, rng)
            if s[HAND_M] == 0:
                turn_over(s)
                continue
            if tb.best[s[HAND_M]] >= s[CI_O]:
                result = 1.0 if (s[PLY] & 1) == me else 0.0
                break
            if (s[PLY] & 1) == me:
                play(s, choose(s, 1, tb, mine, scratch[0], rng), tb, rng)
            else:
                play(s, choose(s, 1, tb, other, scratch[0], rng), tb, rng)
        total += result
    return total / games


def plant_leak(tables: Tables, strategy: Store, size: int = 4) -> int:
    """Spoil a strategy on purpose; returns the number of states changed.

    With `size` cards and no win it defends with its largest card half of the time.
    """
    low = 8 * int(tables.const[CI_BASE]) ** 2
    changed = 0
    for slot in np.nonzero(strategy.keys)[0]:
        rest = int(strategy.keys[slot]) // int(tables.const[TAGS])
        hand = rest // low % int(tables.const[CODES])
        if int(tables.size[hand]) != size:
            continue
        # The last move that is not a swap is the largest defence.
        last = int(tables.plain_actions[hand]) - 1
        if int(tables.kind[int(tables.start[hand]) + last]) != DEFEND:
            raise AssertionError("moves are out of order")
        where = int(strategy.where[slot])
        moves = int(tables.total_actions[hand] if rest % 8 else tables.plain_actions[hand])
        strategy.pool[1, where + last] += strategy.pool[1, where : where + moves].sum()
        changed += 1
    return changed
