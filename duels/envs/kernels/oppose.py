"""The loops of one side of a batch: the opponent plays inside, whoever it is.

Compiled once for each kernel and opponent. `random` is an opponent like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from duels.envs.kernels import NOBODY, Array, Chooser, apart, compiled, keep, kernel_named
from duels.envs.kernels.drive import RUNNING, drivers

# A game in which the agent has no choice before it ends is dealt again, but not for ever.
MOST_DEALS = 10_000
BLOCK = 32  # rows whose memory is fetched together


class Opposing(NamedTuple):
    """The compiled loops of one kernel against one opponent."""

    begin: Callable[..., Any]
    step: Callable[..., Any]
    pick: Callable[..., Any]


@cache
def uniform(slug: str) -> Chooser:
    """The random opponent of a game."""
    kernel = kernel_named(slug)
    assert kernel is not None, slug
    pick, legal = kernel.choose, kernel.legal

    @compiled
    def choose(rules: Any, tables: Any, state: Array, streams: Array, i: int, player: int) -> Any:
        return pick(rules, state, streams, i, player)

    @compiled
    def mix(rules: Any, tables: Any, state: Array, i: int, player: int, out: Array) -> None:
        n = 0
        for action in range(out.shape[1]):
            n += int(legal(rules, state, i, player, action))
        for action in range(out.shape[1]):
            out[i, action] = int(legal(rules, state, i, player, action)) / n

    return Chooser(choose, (), mix)


@cache
def filling(mix: Callable[..., Any]) -> Callable[..., Any]:
    """The loop that fills the mixes of one seat in every row."""

    @compiled
    def fill(rules: Any, tables: Any, state: Array, player: int, out: Array) -> None:
        for i in range(state.shape[0]):
            mix(rules, tables, state, i, player, out)

    return keep(fill)  # type: ignore[no-any-return]


@compiled
def nothing(rules: Any, tables: Any, state: Array, i: int, player: int) -> None:
    pass


@cache
def opposing(
    slug: str, sealed: bool, choose: Callable[..., Any], ahead: Callable[..., Any] = nothing
) -> Opposing:
    """The loops for one side of a game, with a chooser's functions on the other side."""
    kernel = kernel_named(slug)
    assert kernel is not None, slug
    mover, observe = kernel.mover, kernel.observe
    run = drivers(slug, sealed)
    start, advance = run.start, run.advance

    @compiled
    def answer(
        rules: Any, tables: Any, state: Array, streams: Array, i: int, seat: int, limit: int
    ) -> tuple[int, int]:
        """Let the opponent play until the agent in `seat` must choose or the game ends."""
        ended, winner = RUNNING, NOBODY
        while not sealed and ended == RUNNING and mover(rules, state, i) != seat:
            action = choose(rules, tables, state, streams, i, 1 - seat)
            ended, winner = advance(rules, state, streams, i, action, action, limit)
        return ended, winner

    @apart
    def start_for(
        rules: Any, tables: Any, state: Array, streams: Array, i: int, seat: int, limit: int,
        skipped: Array,
    ) -> bool:  # fmt: skip
        for _ in range(MOST_DEALS):
            start(rules, state, streams, i)
            ended, winner = answer(rules, tables, state, streams, i, seat, limit)
            if ended == RUNNING:
                return True
            skipped[i, 0] += 1
            skipped[i, 1] += 0 if winner == NOBODY else 1 if winner == seat else -1
            skipped[i, 2] += winner == seat
        return False

    @compiled
    def begin(
        rules: Any, tables: Any, state: Array, streams: Array, seats: Array, where: Array,
        limit: int, skipped: Array,
    ) -> bool:  # fmt: skip
        """Deal anew; False if some game never gave the agent a choice.

        Games that end before the agent had a choice are added to `skipped`: how many, what
        they brought it, and how many it won.
        """
        fair = True
        for i in range(state.shape[0]):
            if where[i]:
                fair &= start_for(rules, tables, state, streams, i, seats[i], limit, skipped)
        return fair

    @compiled
    def step(
        rules: Any, tables: Any, state: Array, streams: Array, seats: Array, actions: Array,
        where: Array, limit: int, rewards: Array, ending: Array, final: Array, skipped: Array,
    ) -> bool:  # fmt: skip
        """The agent's action and all until it must choose again; rewards and views are its own."""
        fair = True
        for i in range(state.shape[0]):
            rewards[i] = ending[i] = 0
            if i % BLOCK == 0 and sealed:
                for k in range(i, min(i + BLOCK, state.shape[0])):
                    ahead(rules, tables, state, k, 1 - seats[k])
            if not where[i]:
                continue
            seat = seats[i]
            one = two = actions[i, 0]
            if sealed:
                theirs = choose(rules, tables, state, streams, i, 1 - seat)
                one, two = (one, theirs) if seat == 0 else (theirs, one)
            ended, winner = advance(rules, state, streams, i, one, two, limit)
            if ended == RUNNING:
                ended, winner = answer(rules, tables, state, streams, i, seat, limit)
            if ended != RUNNING:
                ending[i] = ended
                rewards[i] = 0 if winner == NOBODY else 1 if winner == seat else -1
                observe(rules, state, i, seat, final, 0)
                fair &= start_for(rules, tables, state, streams, i, seat, limit, skipped)
        return fair

    @compiled
    def pick(
        rules: Any, tables: Any, state: Array, streams: Array, seats: Array, out: Array
    ) -> None:
        for i in range(state.shape[0]):
            out[i] = choose(rules, tables, state, streams, i, seats[i])

    return Opposing(keep(begin), keep(step), keep(pick))
