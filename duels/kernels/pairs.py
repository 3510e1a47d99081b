"""Whole games between two compiled policies, in pairs that share their random numbers.

The two games of a pair begin with the same three streams: of chance, and of each seat's picks. The
policies swap seats in the second game. As long as both choose the same moves, the two games are
equal; after that, the n-th random number is still the same.

Compiled once for each kernel and pair of policies. `replay_game` plays given actions again and
returns every state, so that only actions have to be stored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from duels.algorithms.compiled.templates import load
from duels.core.game import AnyGame
from duels.core.match import TURN_LIMIT
from duels.kernels import Array, CompiledPolicy, Kernel, kernel_of, np
from duels.kernels.driver import drivers
from duels.kernels.random_streams import CHANCE, keys

ROOM = 1 << 16  # choices in one array, or the length of the longest game if that is larger


class PlayedGames(NamedTuple):
    """Games in the order in which they were played: two for each pair."""

    winner: Array  # the seat, or NO_WINNER
    ending: Array  # BY_RULES, BY_LIMIT or BY_FORFEIT
    choices: Array  # number of resolved choices, a sealed pair counting once
    actions: Array  # of all choices, game after game; two columns if choices are sealed
    rows: Array  # the state before each of these choices, if requested
    payoff: Array  # by game: what seat 0 was paid


@cache
def pairs_loop(kernel: Kernel, sealed: bool, one: Any, two: Any) -> Callable[..., Any]:
    """The loop over pairs of games between two policies' functions."""
    run = drivers(kernel, sealed)
    loop: Callable[..., Any] = load(
        "duels.kernels.templates.pairs",
        sealed=sealed, mover=kernel.mover, start=run.start, advance=run.advance, paid=run.paid,
        one=one, two=two,
    ).play_pairs  # fmt: skip
    return loop


def play_pairs(
    game: AnyGame, one: CompiledPolicy, two: CompiledPolicy, seed: int, pairs: range,
    turn_limit: int = TURN_LIMIT, watch: bool = False,
) -> PlayedGames:  # fmt: skip
    """Play the pairs with these numbers; each depends on the seed, its number and the policies."""
    kernel = kernel_of(game)
    sealed = kernel.sealed(game)
    play = pairs_loop(kernel, sealed, one.choose, two.choose)
    rules, size = kernel.rules(game), 2 * len(pairs)
    state, streams = np.zeros((1, kernel.columns), kernel.dtype), np.zeros((1, 2), np.uint64)
    begun = keys(seed, len(pairs), streams=3, first=pairs.start)
    winner, ending, payoff = np.zeros(size, np.int8), np.zeros(size, np.int8), np.zeros(size)
    choices, room, at = np.zeros(size, np.int32), max(ROOM, turn_limit), 0
    actions = np.empty((room, 2 if sealed else 1), np.int16)
    rows = np.empty((room if watch else 0, kernel.columns), kernel.dtype)
    parts = []
    while at < size:
        at, made = play(
            rules, one.tables, two.tables, state, streams, begun, turn_limit,
            winner, ending, payoff, choices, actions, rows, at,
        )  # fmt: skip
        parts.append((actions[:made].copy(), rows[:made].copy()))
    actions, rows = map(np.concatenate, zip(*parts, strict=True))
    return PlayedGames(winner, ending, choices, actions, rows, payoff)


@cache
def replay_loop(kernel: Kernel, sealed: bool) -> Callable[..., Any]:
    """The loop over the actions of one game."""
    run = drivers(kernel, sealed)
    loop: Callable[..., Any] = load(
        "duels.kernels.templates.pairs", start=run.start, advance=run.advance
    ).replay_game
    return loop


class ReplayedGame(NamedTuple):
    """A replayed game: its first state and the state after each choice, and how it ended."""

    states: list[Any]
    ending: int
    winner: int


def replay_game(
    game: AnyGame, actions: Array, seed: int, pair: int, turn_limit: int = TURN_LIMIT
) -> ReplayedGame:
    """Replay one game of a pair from its actions."""
    kernel = kernel_of(game)
    sealed = kernel.sealed(game)
    state, streams = np.zeros((1, kernel.columns), kernel.dtype), np.zeros((1, 2), np.uint64)
    streams[0, CHANCE] = keys(seed, 1, streams=3, first=pair)[0, 0]
    played = np.ascontiguousarray(actions, np.int64)
    rows = np.zeros((len(played) + 1, kernel.columns), kernel.dtype)
    ended, won = replay_loop(kernel, sealed)(
        kernel.rules(game), state, streams, played, turn_limit, rows
    )
    states = [kernel.unpack(game, tuple(row[1:])) for row in rows.tolist()]
    return ReplayedGame(states, int(ended), int(won))
