"""The compiled kernel of Number Clash. A round is one step: both choices are simultaneous."""

from __future__ import annotations

from typing import NamedTuple

from duels.games.number_clash.rules import NumberClash, State
from duels.kernels import (
    GOING_ON,
    NO_WINNER,
    Array,
    Kernel,
    Scalar,
    bits,
    compiled,
    imported_on_call,
    np,
)
from duels.kernels.policies import greedy

LEFT, SCORE = 1, 3  # two columns each; a set of numbers is a word of bits
COLUMNS = 5


class Rules(NamedTuple):
    numbers: int
    points: int


def rules(game: NumberClash) -> Rules:
    return Rules(game.numbers, game.points)


def pack(game: NumberClash, state: State) -> tuple[int, ...]:
    return (*map(bits.word_of, state.numbers), *state.scores)


def unpack(game: NumberClash, row: tuple[int, ...]) -> State:
    return State((bits.numbers_of(row[0]), bits.numbers_of(row[1])), (row[2], row[3]))


@compiled
def begin(rules: Rules, state: Array, streams: Array, i: int) -> None:
    for player in range(2):
        state[i, LEFT + player] = (1 << rules.numbers) - 1
        state[i, SCORE + player] = 0


@compiled
def mover(rules: Rules, state: Array, i: int) -> Scalar:
    return -1


@compiled
def legal(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    return (state[i, LEFT + player] >> action) & 1 == 1


@compiled
def choose(rules: Rules, state: Array, streams: Array, i: int, player: int) -> Scalar:
    return bits.choose(state[i, LEFT + player], streams, i)


@compiled
def play(rules: Rules, state: Array, streams: Array, i: int, mine: int, theirs: int) -> Scalar:
    state[i, LEFT] ^= 1 << mine
    state[i, LEFT + 1] ^= 1 << theirs
    gap = mine - theirs
    # A number beats the one that is larger by one; otherwise the higher number wins. (Integer
    # arithmetic without conditions: a branch would often be mispredicted.)
    one = state[i, SCORE] + (int(gap > 1) | int(gap == -1))
    two = state[i, SCORE + 1] + (int(gap < -1) | int(gap == 1))
    state[i, SCORE], state[i, SCORE + 1] = one, two
    if (max(one, two) < rules.points) & (state[i, LEFT] != 0):
        return GOING_ON
    return NO_WINNER if one == two else 0 if one > two else 1


@compiled
def mask(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    bits.mark(state[i, LEFT + player], rules.numbers, out, i, s)


@compiled
def packed(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    bits.mark_packed(state[i, LEFT + player], out, i, s)


@compiled
def observe(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    n = rules.numbers
    bits.spread(state[i, LEFT + player], n, out, i, s, 0)
    bits.spread(state[i, LEFT + 1 - player], n, out, i, s, n)
    out[i, s, 2 * n] = state[i, SCORE + player]
    out[i, s, 2 * n + 1] = state[i, SCORE + 1 - player]
    out[i, s, 2 * n + 2] = n - bits.count(state[i, LEFT]) + 1


# The built-in opponents


@compiled
def options(rules: Rules, state: Array, i: int, player: int) -> Scalar:
    return state[i, LEFT + player]


@compiled
def gain(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    """Rounds won minus rounds lost, over all numbers that the opponent has left."""
    theirs = state[i, LEFT + 1 - player] << 1  # bit n for number n: there is a bit below each
    at = action + 1
    beaten = bits.count((theirs & ((1 << (at - 1)) - 1)) >> 1) + ((theirs >> (at + 1)) & 1)
    beating = bits.count(theirs >> (at + 2)) + ((theirs >> (at - 1)) & 1)
    return beaten - beating


GREEDY = greedy(options, gain)


def values(game: NumberClash, rows: Array) -> Array | None:
    """Player 1's expected score in each row, from the solved table."""
    from duels.algorithms.solutions import solve
    from duels.algorithms.table_solution import TableSolution
    from duels.games.number_clash.solver import NumberClashTable

    solution = solve(game)
    table = solution.reader if isinstance(solution, TableSolution) else None
    if not isinstance(table, NumberClashTable):
        return None
    columns = (LEFT, LEFT + 1, SCORE, SCORE + 1)
    found: Array = table.values(*(rows[:, column].astype(np.int64) for column in columns))
    return found


KERNEL = Kernel(
    NumberClash, COLUMNS, "int32", rules, lambda game: True, pack, unpack,
    begin, mover, legal, choose, play, mask, observe,
    imported_on_call("duels.games.number_clash.opponents:chooser"), packed, values,
)  # fmt: skip
