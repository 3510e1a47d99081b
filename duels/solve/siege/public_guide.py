"""Play-outs that tell a search of the public tree what a simple way of going on scores.

The responder makes random moves up to some turn. From there on it follows the strategy, but up to
some own CI it stalls: it defends with its highest card. What it scores then counts at all its
choices since. Nothing is chosen by these numbers while they are gathered, so that they are means
and not the best of many guesses.
"""

from __future__ import annotations

from typing import Any

from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.codes import CI_BASE, PLIES, Store, Tables, uniform
from duels.solve.siege.mccfr import (
    CI_M,
    CI_O,
    DISC,
    HAND_M,
    HAND_O,
    KNOWN_M,
    KNOWN_O,
    PLY,
    choose,
    deal,
    draw,
    legal_count,
    new_scratch,
    new_states,
    play,
    turn_over,
)
from duels.solve.siege.public_leaf import Guide, guide_slot, new_guide

SLOTS = 24  # log2
STALLS = (0, 3, 5, 7, 9, 11, 13)  # fifteenths of the CI up to which stalling is tried
ASTRAY = 4  # choices of the responder that may be random, at most


@compiled
def go_on(s: Array, tb: Tables, st: Store, gd: Guide, sigma: Array, rng: Array) -> Any:
    """The responder's move where no plan says better."""
    if s[CI_M] <= gd.used[1]:
        return tb.plain_actions[s[HAND_M]] - 1  # defend with the highest card
    return choose(s, 1, tb, st, sigma, rng)


@compiled
def play_outs(
    games: int, me: int, most: int, tb: Tables, st: Store, gd: Guide, states: Array, scratch: Array,
    rng: Array, trail: Array,
) -> Any:  # fmt: skip
    """So many games with the responder in seat `me`; its mean score if it never goes astray."""
    s = states[0]
    total = 0.0
    for _ in range(games):
        deal(s, tb, rng)
        astray = int(uniform(rng) * (most + 1))
        result = 0.5
        seen = 0
        while s[PLY] < tb.const[PLIES]:
            draw(s, tb, rng)
            if s[HAND_M] == 0:
                turn_over(s)
                continue
            mine = (s[PLY] & 1) == me
            if tb.best[s[HAND_M]] >= s[CI_O]:
                result = 1.0 if mine else 0.0
                break
            if mine:
                a = go_on(s, tb, st, gd, scratch[0], rng)
            else:
                a = choose(s, 1, tb, st, scratch[0], rng)
            if mine and s[PLY] // 2 < astray:
                if uniform(rng) < 0.5:
                    a = int(uniform(rng) * legal_count(s, tb))
            elif mine and gd.keys.shape[0] > 0:
                for fine in (False, True):
                    slot = guide_slot(
                        fine, s[HAND_M], s[DISC], s[CI_M], s[CI_O], tb.size[s[HAND_O]],
                        s[KNOWN_M], s[KNOWN_O], s[PLY], True, tb, gd,
                    )  # fmt: skip
                    trail[seen] = slot
                    seen += 1
            play(s, a, tb, rng)
        total += result
        for i in range(seen):
            if gd.keys[trail[i]] != 0:
                gd.sums[trail[i]] += np.float32(result)
                gd.games[trail[i]] += np.float32(1.0)
    return total / games


def play_out_guide(seat: int, tables: Tables, strategy: Store, games: int, seed: int = 5) -> Guide:
    """A guide from so many games, and as many to see how long to stall."""
    rng = np.array([seed * 1_000_003 + seat], dtype=np.uint64)
    trail = np.zeros(2 * int(tables.const[PLIES]) + 2, dtype=np.int64)
    rest = new_states(), new_scratch(), rng, trail
    most = int(tables.const[CI_BASE]) - 1
    tried = []
    for stall in sorted({most * part // 15 for part in STALLS}):
        guide = new_guide(0, stall)
        score = play_outs(games // len(STALLS), seat, 0, tables, strategy, guide, *rest)
        tried.append((float(score), stall))
    guide = new_guide(SLOTS if games > 500_000 else 16, max(tried)[1])
    play_outs(games, seat, ASTRAY, tables, strategy, guide, *rest)
    return guide
