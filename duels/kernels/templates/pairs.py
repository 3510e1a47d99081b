"""Templates of the loops over whole games: loaded by `duels.kernels.pairs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duels.algorithms.compiled.templates import unbound
from duels.kernels import NO_WINNER, Array, cached
from duels.kernels.driver import RUNNING
from duels.kernels.random_streams import CHANCE, PICKS

sealed = False
mover: Callable[..., Any] = unbound
start: Callable[..., Any] = unbound
advance: Callable[..., Any] = unbound
paid: Callable[..., Any] = unbound
one: Callable[..., Any] = unbound
two: Callable[..., Any] = unbound


@cached
def play_pairs(
    rules: Any, first: Any, second: Any, state: Array, streams: Array, keys: Array, limit: int,
    winner: Array, ending: Array, payoff: Array, choices: Array, actions: Array, rows: Array,
    game: int,
) -> tuple[int, int]:  # fmt: skip
    """Play games from number `game` on while the arrays have room.

    Returns the number of the next game, and the number of choices.
    """
    made = 0
    while game < winner.shape[0] and made + limit <= actions.shape[0]:
        seat = game & 1  # of the first policy
        streams[0, CHANCE] = keys[game >> 1, 0]
        mine, theirs = keys[game >> 1, 1 + seat], keys[game >> 1, 2 - seat]
        start(rules, state, streams, 0)
        ended, won, begun = RUNNING, NO_WINNER, made
        while ended == RUNNING:
            if rows.shape[0] > 0:
                for column in range(rows.shape[1]):
                    rows[made, column] = state[0, column]
            player = seat if sealed else mover(rules, state, 0)
            a = b = 0
            if player == seat:
                streams[0, PICKS] = mine
                a = one(rules, first, state, streams, 0, seat)
                mine = streams[0, PICKS]
            if sealed or player != seat:
                streams[0, PICKS] = theirs
                b = two(rules, second, state, streams, 0, 1 - seat)
                theirs = streams[0, PICKS]
            if sealed:
                a, b = (a, b) if seat == 0 else (b, a)
                actions[made, 1] = b
            elif player != seat:
                a = b
            actions[made, 0] = a
            made += 1
            ended, won = advance(rules, state, streams, 0, a, b, limit)
        winner[game], ending[game], choices[game] = won, ended, made - begun
        payoff[game] = paid(rules, state, 0, ended, won, 0)
        game += 1
    return game, made


@cached
def replay_game(
    rules: Any, state: Array, streams: Array, actions: Array, limit: int, out: Array
) -> tuple[int, int]:
    """Play given actions and write every state to `out`; returns the kind of end and the winner."""
    start(rules, state, streams, 0)
    for column in range(out.shape[1]):
        out[0, column] = state[0, column]
    ended, won = RUNNING, NO_WINNER
    for choice in range(actions.shape[0]):
        first, second = actions[choice, 0], actions[choice, actions.shape[1] - 1]
        ended, won = advance(rules, state, streams, 0, first, second, limit)
        for column in range(out.shape[1]):
            out[choice + 1, column] = state[0, column]
    return ended, won
