"""Template of the loops of one side of a batch: loaded by `duels.kernels.opponent_loops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duels.algorithms.compiled.templates import unbound
from duels.kernels import NO_WINNER, Array, apart, cached, compiled
from duels.kernels.driver import RUNNING
from duels.kernels.opponent_loops import BLOCK, MOST_DEALS

sealed = False
mover: Callable[..., Any] = unbound
observe: Callable[..., Any] = unbound
start: Callable[..., Any] = unbound
advance: Callable[..., Any] = unbound
choose: Callable[..., Any] = unbound
ahead: Callable[..., Any] = unbound


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
        skipped[i, 1] += 0 if winner == NO_WINNER else 1 if winner == seat else -1
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
    fair = True
    for i in range(state.shape[0]):
        if where[i]:
            fair &= start_for(rules, tables, state, streams, i, seats[i], limit, skipped)
    return fair


@cached
def step(
    rules: Any, tables: Any, state: Array, streams: Array, seats: Array, actions: Array,
    where: Array, limit: int, rewards: Array, ending: Array, final: Array, skipped: Array,
) -> bool:  # fmt: skip
    """Play the agent's actions, then chance and opponent until the agent must choose again."""
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
            rewards[i] = 0 if winner == NO_WINNER else 1 if winner == seat else -1
            observe(rules, state, i, seat, final, 0)
            fair &= start_for(rules, tables, state, streams, i, seat, limit, skipped)
    return fair


@cached
def pick(rules: Any, tables: Any, state: Array, streams: Array, seats: Array, out: Array) -> None:
    for i in range(state.shape[0]):
        out[i] = choose(rules, tables, state, streams, i, seats[i])
