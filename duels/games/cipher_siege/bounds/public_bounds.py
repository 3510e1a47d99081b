"""Upper and lower bounds on a best response to a strategy, and a player that attains the lower one.

The upper bound is exact arithmetic on the public tree, without sampling. The lower bound is the
score in new games, less the half-width of the 95 % interval, of a player who follows the plan of
the search and plays as a learned responder where the plan has no move.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.bounds.public_search import BEST, CEILING, own_turn, their_turn
from duels.games.cipher_siege.bounds.public_steps import Plan, new_plan, plan_slot
from duels.games.cipher_siege.bounds.public_tree import (
    Geometry,
    event_of,
    geometry,
    move_of_act,
    set_root,
    work,
)
from duels.games.cipher_siege.bounds.q_responder import MeanScore, mean_score, respond
from duels.games.cipher_siege.compiled_policy import choose, new_scratch
from duels.games.cipher_siege.compiled_rules import (
    CI_O,
    DECK,
    DISC,
    HAND_M,
    HAND_O,
    PLY,
    deal,
    draw,
    new_states,
    play,
    turn_over,
)
from duels.games.cipher_siege.compiled_tables import PLIES, Tables
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.store import Store, hashed, new_store

FIRST_TAU, TAU_STEP = 1e-2, 0.3
GAMES = 4_000_000  # for the lower bound after a pass
PLANNED = 18  # log2 of the capacity of a plan, in public histories


@compiled
def planned(s: Array, name: Any, tb: Tables, geo: Geometry, plan: Plan) -> Any:
    """The plan's move for the mover's hand; -1 if it has none."""
    slot = plan_slot(name, plan)
    if plan.names[slot] == 0:
        return -1
    hand = geo.index[s[HAND_M]]
    act = int(plan.acts[plan.where[slot] + hand - geo.first[tb.size[s[HAND_M]]]])
    if act < 0:
        return -1
    kind, sub = move_of_act(act, tb, geo)
    row = tb.start[s[HAND_M]]
    while tb.kind[row] != kind or tb.sub[row] != sub:
        row += 1
    return row - tb.start[s[HAND_M]]


@compiled
def follow_plan(
    games: int, me: int, tb: Tables, st: Store, geo: Geometry, plan: Plan, qt: Store,
    states: Array, scratch: Array, rng: Array,
) -> float:  # fmt: skip
    """Score of the plan in seat `me` over new games against the strategy.

    Where the plan has no move, the learned responder plays.
    """
    s = states[0]
    total = 0.0
    for _ in range(games):
        deal(s, tb, rng)
        name = np.uint64(1)
        result = 0.5
        while s[PLY] < tb.const[PLIES]:
            mine = (s[PLY] & 1) == me
            if s[DECK] == 0 and s[DISC] > 0:
                name = hashed(name, s[HAND_M] if mine else s[HAND_O])
            draw(s, tb, rng)
            if s[HAND_M] == 0:
                name = hashed(name, -1)
                turn_over(s)
                continue
            if tb.best[s[HAND_M]] >= s[CI_O]:
                result = 1.0 if mine else 0.0
                break
            if mine:
                a = planned(s, name, tb, geo, plan)
                if a < 0:
                    a = respond(s, tb, st, qt, scratch, rng)
            else:
                a = choose(s, 1, tb, st, scratch[2], rng)
            row, hand = tb.start[s[HAND_M]] + a, s[HAND_M]
            play(s, a, tb, rng)
            # After the turn the other player is the mover.
            got = s[HAND_O] - hand + tb.sub[row]
            name = hashed(name, event_of(tb.kind[row], tb.sub[row], got, tb, geo))
        total += result
    return total / games


class Bounds(NamedTuple):
    """Bounds after a pass; `score` is the score of the plan in new games."""

    upper: float
    lower: float  # from the lower bounds of leaves, which are estimates with a Q table
    score: MeanScore | None
    tau: float
    choices: int  # choices of the responder at public histories that were searched
    leaves: int
    seconds: float


class PublicResponder:
    """A best responder for one seat (0 moves first) against a frozen strategy."""

    def __init__(
        self, game: CipherSiege, seat: int, tables: Tables, strategy: Store,
        q_table: Store | None = None,
    ) -> None:  # fmt: skip
        """Without a Q table the lower bound of a leaf is 0, so that lower bounds are exact too."""
        self.seat, self.dealt, self.tables, self.strategy = seat, game.hand, tables, strategy
        self.geometry = geometry(tables, seat, game.limit)
        self.work = work(tables, self.geometry)
        self.plan = new_plan(0)
        self.q_table = new_store(0, 1) if q_table is None else q_table

    def search(self, tau: float, mode: int = BEST) -> Bounds:
        """Search public histories whose bounds are more than `tau` apart.

        With CEILING only the upper bound is improved, which is faster.
        """
        began = time.monotonic()
        geo, wk = self.geometry, self.work
        set_root(self.tables, geo, wk)
        wk.count[:] = 0
        self.plan = new_plan(PLANNED if mode == BEST else 0)
        turn = own_turn if self.seat == 0 else their_turn
        turn(0, tau, mode, self.tables, self.strategy, geo, wk, self.q_table, self.plan)
        low, high = int(geo.first[self.dealt]), int(geo.first[self.dealt + 1])
        upper, lower = (wk.out[0, :, low:high] * wk.own[0, low:high]).sum(axis=1).tolist()
        return Bounds(
            upper, lower, None, tau, int(wk.count[0]), int(wk.count[1]), time.monotonic() - began
        )

    def score(self, games: int, seed: int = 7) -> MeanScore:
        """The score of the plan of the last pass in new games."""
        rng = np.array([seed * 1_000_003 + self.seat], dtype=np.uint64)
        mean = follow_plan(
            games, self.seat, self.tables, self.strategy, self.geometry, self.plan, self.q_table,
            new_states(), new_scratch(), rng,
        )  # fmt: skip
        return mean_score(float(mean), games)


def tighten_bounds(
    responder: PublicResponder, seconds: float, games: int = GAMES, tau: float = FIRST_TAU,
    step: float = TAU_STEP,
) -> Iterator[Bounds]:  # fmt: skip
    """Run passes, reducing `tau` by `step` each time, for about `seconds`; yields the best bounds.

    The lower bound is the better of two scores: of the learned responder, and of the plan of the
    first pass. Later passes improve only the upper bound. A pass is started if it is likely to end
    in time; each takes about twice as long as the one before. The last one is finished even if it
    takes longer.
    """
    began = time.monotonic()
    upper, mode = 1.0, BEST
    responder.plan = new_plan(0)
    best = responder.score(games, 7)
    while True:
        start = time.monotonic()
        found = responder.search(tau, mode)
        upper = min(upper, found.upper)
        if mode == BEST:
            planned = responder.score(games, 8)
            if planned.mean - planned.half > best.mean - best.half:
                best = responder.score(games, 9)  # scored again: the maximum of two is biased
        now = time.monotonic()
        yield found._replace(
            upper=upper, lower=best.mean - best.half, score=best, seconds=now - began
        )
        if found.upper - found.lower <= 1e-12 or now - began + 2 * (now - start) > seconds:
            return
        tau *= step
        mode = CEILING
