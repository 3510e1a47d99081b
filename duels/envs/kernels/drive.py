"""The loops over a batch, the same for all games: each is compiled once for each kernel.

What a single game leaves open is settled here, once: an action that is not legal forfeits, the turn
limit truncates, and a game that has ended begins anew in the same step. It is said a second time
because compiled code cannot ask `duels.envs.coding.Node`, which plays a few hundred times slower
(docs/envs/vector.md); the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from duels.envs.kernels import DECISIONS, GOING_ON, NOBODY, Array, compiled, keep, kernel_named

# How a game ended, as `Batch.ending` says it.
RUNNING, BY_RULES, BY_FORFEIT, BY_LIMIT = range(4)


class Drivers(NamedTuple):
    """The compiled loops of one kernel."""

    start: Callable[..., Any]  # these two are of one game
    advance: Callable[..., Any]
    begin: Callable[..., Any]
    step: Callable[..., Any]
    pick: Callable[..., Any]
    movers: Callable[..., Any]
    masks: Callable[..., Any]
    observations: Callable[..., Any]
    packed: Callable[..., Any] | None
    pick_of: Callable[..., Any]  # these three are of one seat in each game
    masks_of: Callable[..., Any]
    observations_of: Callable[..., Any]


@keep
@compiled
def misplaced(actions: Array, moves: int) -> int:
    """The place of the first action that is no move at all, or -1."""
    wrong = False  # without a branch, so that many are looked at at once
    for place in range(actions.shape[0]):
        wrong |= (actions[place] < 0) | (actions[place] >= moves)
    if wrong:
        for place in range(actions.shape[0]):
            if not 0 <= actions[place] < moves:
                return place
    return -1


@cache
def drivers(slug: str, sealed: bool) -> Drivers:
    """The loops for a game, and for one that seals its choices or not."""
    kernel = kernel_named(slug)
    assert kernel is not None, slug
    deal, play, legal, mover = kernel.begin, kernel.play, kernel.legal, kernel.mover
    choose, mask, observe = kernel.choose, kernel.mask, kernel.observe

    @compiled
    def start(rules: Any, state: Array, streams: Array, i: int) -> None:
        state[i, DECISIONS] = 0
        deal(rules, state, streams, i)

    @compiled
    def advance(
        rules: Any, state: Array, streams: Array, i: int, one: int, two: int, limit: int
    ) -> tuple[int, int]:
        """One decision and the chance after it: how the game ended, and who has won."""
        if sealed:
            wrong_one = not legal(rules, state, i, 0, one)
            wrong_two = not legal(rules, state, i, 1, two)
            if wrong_one or wrong_two:
                return BY_FORFEIT, NOBODY if wrong_one and wrong_two else int(wrong_one)
        else:
            player = mover(rules, state, i)
            if not legal(rules, state, i, player, one):
                return BY_FORFEIT, 1 - player
        winner = play(rules, state, streams, i, one, two)
        state[i, DECISIONS] += 1
        if winner != GOING_ON:
            return BY_RULES, winner
        if state[i, DECISIONS] >= limit:
            return BY_LIMIT, NOBODY
        return RUNNING, NOBODY

    @compiled
    def report(
        rules: Any, state: Array, i: int, ended: int, winner: int, rewards: Array, ending: Array,
        final: Array,
    ) -> None:  # fmt: skip
        ending[i] = ended
        for player in range(2):
            rewards[i, player] = 0 if winner == NOBODY else 1 if winner == player else -1
            observe(rules, state, i, player, final, player)

    @compiled
    def begin(rules: Any, state: Array, streams: Array, where: Array) -> None:
        for i in range(state.shape[0]):
            if where[i]:
                start(rules, state, streams, i)

    @compiled
    def step(
        rules: Any, state: Array, streams: Array, actions: Array, where: Array, limit: int,
        rewards: Array, ending: Array, final: Array,
    ) -> None:  # fmt: skip
        for i in range(state.shape[0]):
            rewards[i, 0] = rewards[i, 1] = ending[i] = 0
            if not where[i]:
                continue
            one, two = actions[i, 0], actions[i, actions.shape[1] - 1]
            ended, winner = advance(rules, state, streams, i, one, two, limit)
            if ended != RUNNING:
                report(rules, state, i, ended, winner, rewards, ending, final)
                start(rules, state, streams, i)

    @compiled
    def pick(rules: Any, state: Array, streams: Array, out: Array) -> None:
        for i in range(state.shape[0]):
            if sealed:
                out[i, 0] = choose(rules, state, streams, i, 0)
                out[i, 1] = choose(rules, state, streams, i, 1)
            else:
                out[i, 0] = choose(rules, state, streams, i, mover(rules, state, i))

    @compiled
    def pick_of(rules: Any, state: Array, streams: Array, seats: Array, out: Array) -> None:
        for i in range(state.shape[0]):
            out[i] = choose(rules, state, streams, i, seats[i])

    @compiled
    def movers(rules: Any, state: Array, out: Array) -> None:
        for i in range(state.shape[0]):
            out[i] = -1 if sealed else mover(rules, state, i)

    def look(fill: Callable[..., Any]) -> Callable[..., Any]:
        """Fill the rows of all who choose."""

        @compiled
        def filled(rules: Any, state: Array, out: Array) -> None:
            for i in range(state.shape[0]):
                if sealed:
                    fill(rules, state, i, 0, out, 0)
                    fill(rules, state, i, 1, out, 1)
                else:
                    fill(rules, state, i, mover(rules, state, i), out, 0)

        return filled

    def look_as(fill: Callable[..., Any]) -> Callable[..., Any]:
        """Fill the row of one seat in each game."""

        @compiled
        def filled(rules: Any, state: Array, seats: Array, out: Array) -> None:
            for i in range(state.shape[0]):
                fill(rules, state, i, seats[i], out, 0)

        return filled

    packed = None if kernel.packed is None else look(kernel.packed)
    looks = look(mask), look(observe), packed, pick_of, look_as(mask), look_as(observe)
    return Drivers(start, advance, *map(keep, (begin, step, pick, movers, *looks)))
