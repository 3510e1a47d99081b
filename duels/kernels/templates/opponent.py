"""Template of the loops of one side of a batch: loaded by `duels.kernels.opponent_loops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duels.algorithms.compiled.templates import unbound
from duels.kernels import NO_WINNER, Array, cached, compiled, not_inlined
from duels.kernels.driver import RUNNING
from duels.kernels.opponent_loops import BLOCK, MOST_DEALS

sealed = False
mover: Callable[..., Any] = unbound
observe: Callable[..., Any] = unbound
start: Callable[..., Any] = unbound
advance: Callable[..., Any] = unbound
paid: Callable[..., Any] = unbound
choose: Callable[..., Any] = unbound
prefetch: Callable[..., Any] = unbound


@compiled
def answer(
    rules: Any, tables: Any, state: Array, streams: Array, i: int, seat: int, limit: int
) -> tuple[int, int]:
    """Let the opponent play until the agent in `seat` must choose or the game ends."""
    ended, winner = RUNNING, NO_WINNER
    while not sealed and ended == RUNNING and mover(rules, state, i) != seat:
        action = choose(rules, tables, state, streams, i, 1 - seat)
        ended, winner = advance(rules, state, streams, i, action, action, limit)
    return ended, winner


@not_inlined
def start_for(
    rules: Any, tables: Any, state: Array, streams: Array, i: int, seat: int, limit: int,
    skipped: Array,
) -> bool:  # fmt: skip
    """Start games until the agent in `seat` has a choice; False after `MOST_DEALS` games."""
    for _ in range(MOST_DEALS):
        start(rules, state, streams, i)
        ended, winner = answer(rules, tables, state, streams, i, seat, limit)
        if ended == RUNNING:
            return True
        skipped[i, 0] += 1
        skipped[i, 1] += paid(rules, state, i, ended, winner, seat)
        skipped[i, 2] += winner == seat
    return False


@cached
def begin(
    rules: Any, tables: Any, state: Array, streams: Array, seats: Array, where: Array,
    limit: int, skipped: Array,
) -> bool:  # fmt: skip
    """Restart games; False if a game never reaches a choice of the agent.

    Games that end before the agent's first choice are added to `skipped`: their number, the agent's
    total return, and its wins.
    """
    playable = True
    for i in range(state.shape[0]):
        if where[i]:
            playable &= start_for(rules, tables, state, streams, i, seats[i], limit, skipped)
    return playable


@cached
def step(
    rules: Any, tables: Any, state: Array, streams: Array, seats: Array, actions: Array,
    where: Array, limit: int, rewards: Array, ending: Array, final: Array, skipped: Array,
) -> bool:  # fmt: skip
    """Play the agent's actions, then chance and opponent until the agent must choose again."""
    playable = True
    for i in range(state.shape[0]):
        rewards[i] = ending[i] = 0
        if i % BLOCK == 0 and sealed:
            for k in range(i, min(i + BLOCK, state.shape[0])):
                prefetch(rules, tables, state, k, 1 - seats[k])
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
            rewards[i] = paid(rules, state, i, ended, winner, seat)
            observe(rules, state, i, seat, final, 0)
            playable &= start_for(rules, tables, state, streams, i, seat, limit, skipped)
    return playable


@cached
def pick(rules: Any, tables: Any, state: Array, streams: Array, seats: Array, out: Array) -> None:
    """Write the opponent policy's action for one seat in each game."""
    for i in range(state.shape[0]):
        out[i] = choose(rules, tables, state, streams, i, seats[i])
