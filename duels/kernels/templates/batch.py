"""Template of the loops over a batch: loaded once for each kernel by `duels.kernels.driver`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duels.algorithms.compiled.templates import unbound
from duels.kernels import DECISIONS, GOING_ON, NO_WINNER, Array, cached, compiled
from duels.kernels.driver import BY_FORFEIT, BY_LIMIT, BY_RULES, RUNNING

sealed = False
deal: Callable[..., Any] = unbound
mover: Callable[..., Any] = unbound
legal: Callable[..., Any] = unbound
choose: Callable[..., Any] = unbound
play: Callable[..., Any] = unbound
mask: Callable[..., Any] = unbound
observe: Callable[..., Any] = unbound
pack_mask: Callable[..., Any] = unbound
payoff: Callable[..., Any] = unbound


@compiled
def start(rules: Any, state: Array, streams: Array, i: int) -> None:
    """Start a new game in a row."""
    state[i, DECISIONS] = 0
    deal(rules, state, streams, i)


@compiled
def advance(
    rules: Any, state: Array, streams: Array, i: int, one: int, two: int, limit: int
) -> tuple[int, int]:
    """Play one decision and the chance events after it; returns the kind of end and the winner."""
    if sealed:
        wrong_one = not legal(rules, state, i, 0, one)
        wrong_two = not legal(rules, state, i, 1, two)
        if wrong_one or wrong_two:
            return BY_FORFEIT, NO_WINNER if wrong_one and wrong_two else int(wrong_one)
    else:
        player = mover(rules, state, i)
        if not legal(rules, state, i, player, one):
            return BY_FORFEIT, 1 - player
    winner = play(rules, state, streams, i, one, two)
    state[i, DECISIONS] += 1
    if winner != GOING_ON:
        return BY_RULES, winner
    if state[i, DECISIONS] >= limit:
        return BY_LIMIT, NO_WINNER
    return RUNNING, NO_WINNER


@compiled
def paid(rules: Any, state: Array, i: int, ended: int, winner: int, player: int) -> Any:
    """What a player is paid at the end of a game."""
    if winner == NO_WINNER:
        return payoff(rules, state, i, ended) * 0
    return payoff(rules, state, i, ended) * (1 if winner == player else -1)


@compiled
def report(
    rules: Any, state: Array, i: int, ended: int, winner: int, rewards: Array, ending: Array,
    final: Array,
) -> None:  # fmt: skip
    """Write rewards, kind of end and final observations of a game that has ended."""
    ending[i] = ended
    for player in range(2):
        rewards[i, player] = paid(rules, state, i, ended, winner, player)
        observe(rules, state, i, player, final, player)


@cached
def begin(rules: Any, state: Array, streams: Array, where: Array) -> None:
    """Start new games in the rows selected by `where`."""
    for i in range(state.shape[0]):
        if where[i]:
            start(rules, state, streams, i)


@cached
def step(
    rules: Any, state: Array, streams: Array, actions: Array, where: Array, limit: int,
    rewards: Array, ending: Array, final: Array,
) -> None:  # fmt: skip
    """Play one decision in the rows selected by `where`; games that end are started again."""
    for i in range(state.shape[0]):
        rewards[i, 0] = rewards[i, 1] = ending[i] = 0
        if not where[i]:
            continue
        one, two = actions[i, 0], actions[i, actions.shape[1] - 1]
        ended, winner = advance(rules, state, streams, i, one, two, limit)
        if ended != RUNNING:
            report(rules, state, i, ended, winner, rewards, ending, final)
            start(rules, state, streams, i)


@cached
def pick(rules: Any, state: Array, streams: Array, out: Array) -> None:
    """Sample a random legal action for each player who chooses."""
    for i in range(state.shape[0]):
        if sealed:
            out[i, 0] = choose(rules, state, streams, i, 0)
            out[i, 1] = choose(rules, state, streams, i, 1)
        else:
            out[i, 0] = choose(rules, state, streams, i, mover(rules, state, i))


@cached
def pick_of(rules: Any, state: Array, streams: Array, seats: Array, out: Array) -> None:
    """Sample a random legal action for one seat in each game."""
    for i in range(state.shape[0]):
        out[i] = choose(rules, state, streams, i, seats[i])


@cached
def movers(rules: Any, state: Array, out: Array) -> None:
    """Write the player who chooses in each game; -1 if choices are simultaneous."""
    for i in range(state.shape[0]):
        out[i] = -1 if sealed else mover(rules, state, i)


@compiled
def fill_rows(fill: Callable[..., Any], rules: Any, state: Array, out: Array) -> None:
    """Fill the rows of all players who choose."""
    for i in range(state.shape[0]):
        if sealed:
            fill(rules, state, i, 0, out, 0)
            fill(rules, state, i, 1, out, 1)
        else:
            fill(rules, state, i, mover(rules, state, i), out, 0)


@cached
def masks(rules: Any, state: Array, out: Array) -> None:
    """Write the masks of legal actions of the players who choose."""
    fill_rows(mask, rules, state, out)


@cached
def observations(rules: Any, state: Array, out: Array) -> None:
    """Write the observations of the players who choose."""
    fill_rows(observe, rules, state, out)


@cached
def packed(rules: Any, state: Array, out: Array) -> None:
    """Write the masks of the players who choose as bits."""
    fill_rows(pack_mask, rules, state, out)


@compiled
def fill_rows_of(
    fill: Callable[..., Any], rules: Any, state: Array, seats: Array, out: Array
) -> None:
    """Fill the row of one seat in each game."""
    for i in range(state.shape[0]):
        fill(rules, state, i, seats[i], out, 0)


@cached
def masks_of(rules: Any, state: Array, seats: Array, out: Array) -> None:
    """Write the mask of one seat in each game."""
    fill_rows_of(mask, rules, state, seats, out)


@cached
def observations_of(rules: Any, state: Array, seats: Array, out: Array) -> None:
    """Write the observation of one seat in each game."""
    fill_rows_of(observe, rules, state, seats, out)
