"""Whole games between two choosers, in pairs that share their random numbers.

The two games of a pair begin with the same three streams: of chance, and of each seat's picks. The
choosers sit in each other's seats in the second. Where both choose alike the two games are the
same, move for move; where they do not, the n-th number is still the same and means what the rules
make of it there.

Compiled once for each kernel and two choosers. `retrace` plays given actions again and tells every
state, so that nothing but actions has to be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from duels.core.game import AnyGame
from duels.core.match import TURN_LIMIT
from duels.envs.kernels import NOBODY, Array, Chooser, compiled, keep, kernel_named, kernel_of, np
from duels.envs.kernels.drive import RUNNING, drivers
from duels.envs.kernels.stream import CHANCE, PICKS, keys

ROOM = 1 << 16  # choices in one array, or what the longest game takes if that is more


class Met(NamedTuple):
    """Games in the order in which they were played: two for each pair."""

    winner: Array  # the seat, or NOBODY
    ending: Array  # BY_RULES, BY_LIMIT or BY_FORFEIT
    choices: Array  # that were resolved, a sealed pair counting once
    actions: Array  # of all choices of all games, one after the other; two where they are sealed
    rows: Array  # the state before each of these choices, if it was asked for


@cache
def meeting(slug: str, sealed: bool, one: Any, two: Any) -> Callable[..., Any]:
    """The loop over pairs of games between two choosers' functions."""
    kernel = kernel_named(slug)
    assert kernel is not None, slug
    mover = kernel.mover
    run = drivers(slug, sealed)
    start, advance = run.start, run.advance

    @compiled
    def play(
        rules: Any, first: Any, second: Any, state: Array, streams: Array, keys: Array, limit: int,
        winner: Array, ending: Array, choices: Array, actions: Array, rows: Array, game: int,
    ) -> tuple[int, int]:  # fmt: skip
        """Games from number `game` on while there is room: the next one, and the choices made."""
        made = 0
        while game < winner.shape[0] and made + limit <= actions.shape[0]:
            seat = game & 1  # of the first chooser
            streams[0, CHANCE] = keys[game >> 1, 0]
            mine, theirs = keys[game >> 1, 1 + seat], keys[game >> 1, 2 - seat]
            start(rules, state, streams, 0)
            ended, won, begun = RUNNING, NOBODY, made
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
            game += 1
        return game, made

    kept: Callable[..., Any] = keep(play)
    return kept


def meet(
    game: AnyGame, one: Chooser, two: Chooser, seed: int, pairs: range,
    turn_limit: int = TURN_LIMIT, watch: bool = False,
) -> Met:  # fmt: skip
    """The pairs with these numbers. A pair is a function of the seed, its number and who plays."""
    kernel = kernel_of(game)
    sealed = kernel.sealed(game)
    play = meeting(game.slug, sealed, one.choose, two.choose)
    rules, size = kernel.rules(game), 2 * len(pairs)
    state, streams = np.zeros((1, kernel.columns), kernel.dtype), np.zeros((1, 2), np.uint64)
    begun = keys(seed, len(pairs), streams=3, first=pairs.start)
    winner, ending = np.zeros(size, np.int8), np.zeros(size, np.int8)
    choices, room, at = np.zeros(size, np.int32), max(ROOM, turn_limit), 0
    actions = np.empty((room, 2 if sealed else 1), np.int16)
    rows = np.empty((room if watch else 0, kernel.columns), kernel.dtype)
    parts = []
    while at < size:
        at, made = play(
            rules, one.tables, two.tables, state, streams, begun, turn_limit,
            winner, ending, choices, actions, rows, at,
        )  # fmt: skip
        parts.append((actions[:made].copy(), rows[:made].copy()))
    return Met(winner, ending, choices, *map(np.concatenate, zip(*parts, strict=True)))


@cache
def retracing(slug: str, sealed: bool) -> Callable[..., Any]:
    """The loop over the actions of one game."""
    run = drivers(slug, sealed)
    start, advance = run.start, run.advance

    @compiled
    def play(
        rules: Any, state: Array, streams: Array, actions: Array, limit: int, out: Array
    ) -> tuple[int, int]:
        start(rules, state, streams, 0)
        for column in range(out.shape[1]):
            out[0, column] = state[0, column]
        ended, won = RUNNING, NOBODY
        for choice in range(actions.shape[0]):
            one, two = actions[choice, 0], actions[choice, actions.shape[1] - 1]
            ended, won = advance(rules, state, streams, 0, one, two, limit)
            for column in range(out.shape[1]):
                out[choice + 1, column] = state[0, column]
        return ended, won

    kept: Callable[..., Any] = keep(play)
    return kept


class Retraced(NamedTuple):
    """One game again: the state it began in and the one after each choice, and how it ended."""

    states: list[Any]
    ending: int
    winner: int


def retrace(
    game: AnyGame, actions: Array, seed: int, pair: int, turn_limit: int = TURN_LIMIT
) -> Retraced:
    """The states of the game of a pair in which these actions were played."""
    kernel = kernel_of(game)
    sealed = kernel.sealed(game)
    state, streams = np.zeros((1, kernel.columns), kernel.dtype), np.zeros((1, 2), np.uint64)
    streams[0, CHANCE] = keys(seed, 1, streams=3, first=pair)[0, 0]
    played = np.ascontiguousarray(actions, np.int64)
    rows = np.zeros((len(played) + 1, kernel.columns), kernel.dtype)
    ended, won = retracing(game.slug, sealed)(
        kernel.rules(game), state, streams, played, turn_limit, rows
    )
    states = [kernel.unpack(game, tuple(row[1:])) for row in rows.tolist()]
    return Retraced(states, int(ended), int(won))
