"""Games between the strategy and simple opponents: random, greedy, and a tree search (ISMCTS)."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.bounds.q_responder import MeanScore, mean_score
from duels.games.cipher_siege.compiled_policy import choose, new_scratch
from duels.games.cipher_siege.compiled_rules import (
    CAP_M,
    CI_M,
    CI_O,
    DECK,
    HAND_M,
    HAND_O,
    KNOWN_M,
    PLY,
    after_move,
    deal,
    draw,
    key_of,
    legal_count,
    new_states,
    play,
    turn_over,
)
from duels.games.cipher_siege.compiled_tables import PLIES, Tables, build_tables, pick_card, uniform
from duels.games.cipher_siege.rules import ATTACK, CipherSiege
from duels.games.cipher_siege.store import Store, find_or_add, new_store, slot_of

STRATEGY, RANDOM, GREEDY, ISMCTS = range(4)
NAMES = ("strategy", "random", "greedy", "ismcts")


@compiled
def greedy(s: Array, tb: Tables, rng: Array) -> Any:
    """The largest immediate gain: damage, or CI restored; a swap counts nothing; ties at random."""
    start = tb.start[s[HAND_M]]
    best, top, ties = np.int64(0), np.int64(-1), 0
    for a in range(legal_count(s, tb)):
        kind, worth = tb.kind[start + a], tb.worth[start + a]
        own, other = after_move(kind, worth, s[CI_M], 0, s[CAP_M])
        gain = own - s[CI_M] - other
        if gain > top:
            best, top, ties = np.int64(a), gain, 1
        elif gain == top:
            ties += 1
            if uniform(rng) * ties < 1.0:
                best = np.int64(a)
    return best


@compiled
def any_move(s: Array, tb: Tables, rng: Array) -> Any:
    """A uniformly random legal move."""
    return np.int64(uniform(rng) * legal_count(s, tb))


@compiled
def clear(st: Store) -> None:
    """Clear a search tree."""
    st.keys[:] = np.uint64(0)
    st.pool[:, : st.used[1]] = np.float32(0.0)
    st.used[:] = 0


@compiled
def redeal(s: Array, tb: Tables, rng: Array) -> None:
    """Determinise: draw the cards of the opponent that the mover does not know."""
    unseen = s[DECK] + s[HAND_O] - s[KNOWN_M]
    hidden = tb.size[s[HAND_O]] - tb.size[s[KNOWN_M]]
    s[HAND_O] = s[KNOWN_M]
    for _ in range(hidden):
        card = tb.radix[pick_card(unseen, tb, rng)]
        unseen -= card
        s[HAND_O] += card
    s[DECK] = unseen


@compiled
def ismcts(
    root: Array, budget: int, tf: Tables, tree: Store, s: Array, path: Array, rng: Array
) -> Any:
    """Multiple-observer ISMCTS: a player's nodes are its own information states; UCB1, greedy
    play-outs."""
    clear(tree)
    for _ in range(budget):
        s[:] = root
        redeal(s, tf, rng)
        steps = 0
        growing = True
        winner = -1
        drawn = True  # the root mover has drawn already
        while s[PLY] < tf.const[PLIES]:
            if not drawn:
                draw(s, tf, rng)
            drawn = False
            if s[HAND_M] == 0:
                turn_over(s)
                continue
            if tf.best[s[HAND_M]] >= s[CI_O]:
                winner = s[PLY] & 1
                break
            if not growing:
                play(s, greedy(s, tf, rng), tf, rng)
                continue
            actions = legal_count(s, tf)
            before = tree.used[0]
            where = find_or_add(key_of(s, tf), actions, tree)
            if where < 0:
                growing = False
                play(s, greedy(s, tf, rng), tf, rng)
                continue
            growing = tree.used[0] == before
            visits = 0.0
            for a in range(actions):
                visits += tree.pool[1, where + a]
            best, top = 0, -1.0
            for a in range(actions):
                n = tree.pool[1, where + a]
                u = 10.0 + uniform(rng)
                if n > 0.0:
                    u = tree.pool[0, where + a] / n + 0.7 * sqrt(log(visits) / n)
                if u > top:
                    top, best = u, a
            path[steps, 0] = where + best
            path[steps, 1] = s[PLY] & 1
            steps += 1
            play(s, best, tf, rng)
        for i in range(steps):
            tree.pool[1, path[i, 0]] += np.float32(1.0)
            if winner < 0:
                tree.pool[0, path[i, 0]] += np.float32(0.5)
            elif winner == path[i, 1]:
                tree.pool[0, path[i, 0]] += np.float32(1.0)
    slot = slot_of(key_of(root, tf), tree.keys)
    best, most = 0, -1.0
    for a in range(legal_count(root, tf)):
        n = tree.pool[1, tree.where[slot] + a]
        if n > most:
            best, most = a, float(n)
    return best


@compiled
def contest(
    games: int, one: int, two: int, budget: int, tb: Tables, st: Store, tf: Tables, tree: Store,
    states: Array, scratch: Array, path: Array, rng: Array,
) -> float:  # fmt: skip
    """The mean score of the first player over games between two policies."""
    s = states[0]
    total = 0.0
    for _ in range(games):
        deal(s, tb, rng)
        result = 0.5
        while s[PLY] < 500:
            draw(s, tb, rng)
            if s[HAND_M] == 0:
                turn_over(s)
                continue
            who = one if (s[PLY] & 1) == 0 else two
            if who == RANDOM:
                a = any_move(s, tb, rng)
                row = tb.start[s[HAND_M]] + a
                if tb.kind[row] == ATTACK and tb.worth[row] >= s[CI_O]:
                    result = 1.0 if (s[PLY] & 1) == 0 else 0.0
                    break
            elif tb.best[s[HAND_M]] >= s[CI_O]:
                result = 1.0 if (s[PLY] & 1) == 0 else 0.0
                break
            elif who == STRATEGY:
                a = choose(s, 1, tb, st, scratch[0], rng)
            elif who == GREEDY:
                a = greedy(s, tb, rng)
            else:
                a = ismcts(s, budget, tf, tree, states[1], path, rng)
            play(s, a, tb, rng)
        total += result
    return total / games


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


def contest_score(
    game: CipherSiege, tables: Tables, store: Store, seat: int, foe: int, games: int, budget: int
) -> MeanScore:
    """The strategy's score in one seat against one opponent."""
    fine = build_tables(game, int(tables.const[PLIES]))
    tree = new_store(13, 400_000)
    path = np.zeros((600, 2), dtype=np.int64)
    rng = np.array([1000 * foe + seat], dtype=np.uint64)
    one, two = (STRATEGY, foe) if seat == 0 else (foe, STRATEGY)
    score = contest(
        games, one, two, budget, tables, store, fine, tree, new_states(), new_scratch(), path, rng
    )
    return mean_score(float(score) if seat == 0 else 1.0 - float(score), games)
