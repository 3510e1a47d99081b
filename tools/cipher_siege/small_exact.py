"""Solves small variants by a second method: the whole tree, CFR+, exact best responses."""

from __future__ import annotations

from typing import Any

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.compiled_keys import stored_slot
from duels.games.cipher_siege.compiled_policy import match
from duels.games.cipher_siege.compiled_tables import MAX_ACTIONS, Tables, move_count
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.store import Store
from tools.cipher_siege.small_tree import Builder, Cards, Tree


@compiled
def sweep(
    tree: Tree, strategy: Array, me: int, reach: Array, value: Array, q: Array, best: bool
) -> Any:
    """Player `me`'s value against `strategy`; fills q and reach.

    q becomes the counterfactual values of the moves, reach what the others do to come to a node.
    best: `me` picks the best move everywhere, an exact best response; else it follows `strategy`.
    """
    n = tree.level.shape[0]
    reach[0] = 1.0
    for j in range(n - 1, -1, -1):
        i = tree.order[j]
        for c in range(tree.first[i], tree.first[i] + tree.width[i]):
            p = 1.0
            if tree.player[i] == -1:
                p = tree.chance[c]
            elif tree.player[i] != me:
                p = strategy[tree.offset[tree.info[i]] + c - tree.first[i]]
            reach[tree.child[c]] = reach[i] * p
    q[:] = 0.0
    j = 0
    while j < n:
        end = j
        while end < n and tree.level[tree.order[end]] == tree.level[tree.order[j]]:
            i = tree.order[end]
            if tree.player[i] == me:
                at = tree.offset[tree.info[i]]
                for c in range(tree.width[i]):
                    q[at + c] += reach[i] * value[tree.child[tree.first[i] + c]]
            end += 1
        for e in range(j, end):
            i = tree.order[e]
            f = tree.first[i]
            if tree.player[i] == -2:
                value[i] = tree.payoff[i] if me == 0 else 1.0 - tree.payoff[i]
                continue
            total = 0.0
            if tree.player[i] == me and best:
                at = tree.offset[tree.info[i]]
                total = value[tree.child[f + np.argmax(q[at : at + tree.width[i]])]]
            else:
                for c in range(tree.width[i]):
                    p = (
                        tree.chance[f + c]
                        if tree.player[i] == -1
                        else strategy[tree.offset[tree.info[i]] + c]
                    )
                    total += p * value[tree.child[f + c]]
            value[i] = total
        j = end
    return value[0]


@compiled
def cfr_plus(tree: Tree, owner: Array, iterations: int) -> Any:
    """CFR+ with alternating updates and linear averaging; the average strategy."""
    n, cells = tree.level.shape[0], tree.offset[-1]
    regret, average, current = np.zeros(cells), np.zeros(cells), np.zeros(cells)
    reach, value, q = np.zeros(n), np.zeros(n), np.zeros(cells)
    own = np.zeros(tree.offset.shape[0])
    for t in range(iterations):
        for me in range(2):
            for i in range(tree.offset.shape[0] - 1):
                a, b = tree.offset[i], tree.offset[i + 1]
                total = regret[a:b].sum()
                for c in range(a, b):
                    current[c] = regret[c] / total if total > 0 else 1.0 / (b - a)
            sweep(tree, current, 1 - me, reach, value, q, False)  # reach: chance and player me
            own[:] = 0.0
            for i in range(n):
                if (
                    tree.player[i] == me
                ):  # the same within an information set up to chance: sum is proportional
                    own[tree.info[i]] += reach[i]
            for i in range(tree.offset.shape[0] - 1):
                if owner[i] == me:
                    for c in range(tree.offset[i], tree.offset[i + 1]):
                        average[c] += (t + 1) * own[i] * current[c]
            sweep(tree, current, me, reach, value, q, False)
            for i in range(tree.offset.shape[0] - 1):
                if owner[i] == me:
                    a, b = tree.offset[i], tree.offset[i + 1]
                    v = (q[a:b] * current[a:b]).sum()
                    for c in range(a, b):
                        regret[c] = max(0.0, regret[c] + q[c] - v)
    for i in range(tree.offset.shape[0] - 1):
        a, b = tree.offset[i], tree.offset[i + 1]
        total = average[a:b].sum()
        for c in range(a, b):
            average[c] = average[c] / total if total > 0 else 1.0 / (b - a)
    return average


class Exact:
    """A small variant with its game tree: exact values, best responses and equilibria."""

    def __init__(self, game: CipherSiege, cap: int) -> None:
        builder = Builder(game, cap)
        builder.root()
        self.tree, self.builder = builder.finish(), builder
        self.owner = np.array([f[7] % 2 for f in builder.features], dtype=np.int64)

    def value(self, strategy: Array, me: int, best: bool) -> float:
        """Player me's score against a strategy, with the best response or the strategy itself."""
        n = self.tree.level.shape[0]
        q = np.zeros(int(self.tree.offset[-1]))
        return float(sweep(self.tree, strategy, me, np.zeros(n), np.zeros(n), q, best))

    def solve(self, iterations: int) -> Array:
        """An equilibrium strategy."""
        return np.asarray(cfr_plus(self.tree, self.owner, iterations))

    def import_strategy(self, tables: Tables, store: Store) -> Array:
        """A strategy of the compiled code as a strategy of this tree."""
        out = np.zeros(int(self.tree.offset[-1]))
        sigma = np.zeros(MAX_ACTIONS)

        def code(cards: Cards) -> int:
            return int(sum(int(tables.radix[c - 1]) for c in cards))

        for i, (hand, disc, ci, oci, osize, km, ko, ply) in enumerate(self.builder.features):
            h, at = code(hand), int(self.tree.offset[i])
            start = int(tables.start[h])
            actions = int(move_count(h, osize, tables))
            best = int(tables.best_row[h])
            sigma[:] = 0.0
            sigma[best] = 1.0
            if tables.best[h] < oci:
                slot = stored_slot(
                    h, code(disc), ci, oci, osize, code(km), code(ko), ply, tables, store.keys
                )
                if store.keys[slot] != 0:
                    match(store.where[slot], actions, best, store.pool[1], sigma)
            named = {
                (int(tables.kind[start + a]), int(tables.sub[start + a])): a for a in range(actions)
            }
            if tables.best[h] < oci and len(named) != len(self.builder.moves[i]):
                raise AssertionError("the two rule codes disagree on the legal moves")
            if tables.best[h] >= oci:
                out[at] = 1.0
                continue
            for j, (kind, cards) in enumerate(self.builder.moves[i]):
                out[at + j] = sigma[named[(kind, code(cards))]]
        return out
