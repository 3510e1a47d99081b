"""Number Wars as a kernel. Every number may be played; one on the record fails."""

from __future__ import annotations

from typing import NamedTuple

from duels.envs.kernels import GOING_ON, NOBODY, Array, Kernel, Scalar, bits, compiled
from duels.envs.kernels.stream import PICKS, below
from duels.games.number_wars import NumberWars, State

MOVER, LP, USED = 1, 2, 4  # two columns of life points and of records
COLUMNS = 6


class Rules(NamedTuple):
    one: int
    two: int
    numbers: int
    refresh: bool
    first: int


def rules(game: NumberWars) -> Rules:
    return Rules(*game.lp, game.numbers, game.refresh, game.first)


def pack(game: NumberWars, state: State) -> tuple[int, ...]:
    return (state.mover, *state.lp, *map(bits.word_of, state.used))


def unpack(game: NumberWars, row: tuple[int, ...]) -> State:
    used = (bits.numbers_of(row[3]), bits.numbers_of(row[4]))
    return State((row[1], row[2]), used, row[0])


@compiled
def begin(rules: Rules, state: Array, streams: Array, i: int) -> None:
    state[i, MOVER] = rules.first
    state[i, LP] = rules.one
    state[i, LP + 1] = rules.two
    state[i, USED] = state[i, USED + 1] = 0


@compiled
def mover(rules: Rules, state: Array, i: int) -> Scalar:
    return state[i, MOVER]


@compiled
def legal(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    return True


@compiled
def choose(rules: Rules, state: Array, streams: Array, i: int, player: int) -> Scalar:
    return below(streams, i, PICKS, rules.numbers)


@compiled
def play(rules: Rules, state: Array, streams: Array, i: int, action: int, unused: int) -> Scalar:
    mover = state[i, MOVER]
    target = 1 - mover
    full = (1 << rules.numbers) - 1
    fresh = 1 - ((state[i, USED + mover] >> action) & 1)  # 0 for a number on the record
    record = state[i, USED + mover] | (1 << action)
    if rules.refresh and record == full:
        record = 0
    left = state[i, LP + target] - fresh * (action + 1)
    state[i, MOVER] = target
    state[i, USED + mover] = record
    state[i, LP + target] = left
    if left <= 0:
        return mover
    if rules.refresh or state[i, USED] != full or state[i, USED + 1] != full:
        return GOING_ON
    own = state[i, LP + mover]
    return NOBODY if own == left else mover if own > left else target


@compiled
def mask(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    for action in range(rules.numbers):
        out[i, s, action] = True


@compiled
def observe(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    n = rules.numbers
    out[i, s, 0] = max(0, state[i, LP + player])
    out[i, s, 1] = max(0, state[i, LP + 1 - player])
    bits.spread(state[i, USED + player], n, out, i, s, 2)
    bits.spread(state[i, USED + 1 - player], n, out, i, s, 2 + n)
    out[i, s, 2 + 2 * n] = state[i, MOVER] == player


KERNEL = Kernel(
    NumberWars, COLUMNS, "int32", rules, lambda game: False, pack, unpack,
    begin, mover, legal, choose, play, mask, observe,
)  # fmt: skip
