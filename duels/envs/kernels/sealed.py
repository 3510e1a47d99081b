"""Opponents that know the solution where both choose at once: matrix games, solved as they come up.

A position's mix is worked out when it is first met and remembered: the whole of Number Clash would
take seconds to work out, and the hidden Digit Duel a minute, while most positions are never met.
The memory is bounded; where it is full, a new mix takes the place of an old one. It never changes
what is played.

The solver is `duels.solve.matrix` again, operation for operation: where a matrix game has many
solutions both find the same one. Where that one would turn to exact rationals, this one tries other
paths (`duels.solve.compiled.matrix`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from duels.envs.kernels import Array, Chooser, Scalar, apart, bits, compiled, np
from duels.envs.kernels.fetching import fetch
from duels.envs.kernels.mixing import WHOLE, level_shares, luck
from duels.envs.kernels.stream import mix as scrambled
from duels.solve.compiled import matrix as another
from duels.solve.matrix import CERTAIN, DUST, ENTER, WANTED

SLOTS = 21  # the most mixes remembered, as a power of two: 128 MB with up to 14 moves
PROBES = 8  # places in which a mix may be
KEY = 2  # columns of the memory before the chances: both halves of the key
LINE = 16  # columns in a line of the processor's cache: a row begins with one

if np is not None:
    _HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


class Sealed(NamedTuple):
    """What is read, what is remembered, and room to work in."""

    table: Any
    share: float  # of a random player's regret that is given away
    memory: Array  # u32: a key, then the sums of the chances up to each action, of `WHOLE`
    game: Array
    tableau: Array
    mix: Array
    label: Array
    parts: Array  # options, regrets and shares


def sealed(table: Any, share: float, moves: int, positions: int) -> Sealed:
    """The tables of one chooser, with room for so many positions if they are not too many."""
    slots = 1 << min(SLOTS, max(8, positions.bit_length() + 1))
    wide = -(-(KEY + moves) // LINE) * LINE
    room = np.zeros(slots * wide + LINE, np.uint32)
    begin = -room.ctypes.data % (4 * LINE) // 4
    memory = room[begin : begin + slots * wide].reshape(slots, wide)
    return Sealed(
        table, share, memory, *another.scratch(),
        np.zeros((2, another.STRIDE)),
    )  # fmt: skip


def mixed(
    options: Callable[..., Any], payoff: Callable[..., Any], key: Callable[..., Any]
) -> Chooser:
    """An opponent in a game with sealed choices; its tables are to be a `Sealed`.

    `payoff(rules, table, state, i, one, two)` is what Player 1 expects after two actions, and
    `key(rules, state, i)` a number below 2**62 of what it depends on.
    """

    @compiled
    def wanted_at(rules: Any, own: Sealed, state: Array, i: int, player: int) -> tuple[int, int]:
        """The key of a row's mix, and where in the memory to look for it first."""
        wanted = np.uint64(2 * (key(rules, state, i) + 1) + player)
        return wanted, np.int64(scrambled(wanted) & np.uint64(own.memory.shape[0] - 1))

    @compiled
    def ahead(rules: Any, own: Sealed, state: Array, i: int, player: int) -> None:
        fetch(own.memory, wanted_at(rules, own, state, i, player)[1])

    @compiled
    def choose(
        rules: Any, own: Sealed, state: Array, streams: Array, i: int, player: int
    ) -> Scalar:
        wanted, first = wanted_at(rules, own, state, i, player)
        low, high = np.uint32(wanted & _LOW), np.uint32(wanted >> _HALF)
        memory = own.memory
        slot = first
        for probe in range(PROBES):
            slot = (first + probe) & (memory.shape[0] - 1)
            if memory[slot, 0] == low and memory[slot, 1] == high:
                return drawn(memory[slot], streams, i)
            if memory[slot, 0] == 0 and memory[slot, 1] == 0:
                break
        else:
            slot = first
        memory[slot, 0], memory[slot, 1] = low, high
        work_out(rules, own, state, i, player)
        add_up(options(rules, state, i, player), own.parts[1], memory[slot])
        return drawn(memory[slot], streams, i)

    @compiled
    def mix(rules: Any, own: Sealed, state: Array, i: int, player: int, out: Array) -> None:
        work_out(rules, own, state, i, player)
        moves = options(rules, state, i, player)
        for k in range(bits.count(moves)):
            out[i, bits.nth(moves, k)] = own.parts[1, k]

    @apart
    def work_out(rules: Any, own: Sealed, state: Array, i: int, player: int) -> None:
        """The chances of a player's moves in a row, into `own.parts[1]`."""
        one, two = options(rules, state, i, 0), options(rules, state, i, 1)
        height, width = np.int64(bits.count(one)), np.int64(bits.count(two))
        for at in range(height):
            for to in range(width):
                mine, theirs = bits.nth(one, at), bits.nth(two, to)
                own.game[at, to] = payoff(rules, own.table, state, i, mine, theirs)
        solve(own.game, height, width, own.tableau, own.mix, own.label)
        n = height if player == 0 else width
        if own.share == 0.0:
            for k in range(n):
                own.parts[1, k] = own.mix[player, k]
            return
        regret(own.game, height, width, player, own.mix, own.parts[0])
        best = own.parts[0, n]
        level_shares(own.parts[0], n, best == 0.0, own.share, own.mix[player], own.parts[1])

    return Chooser(choose, (), mix, ahead)


@compiled
def drawn(row: Array, streams: Array, i: int) -> Scalar:
    at = np.uint32(luck(streams, i))
    action = 0
    for k in range(KEY, row.shape[0]):  # without a branch, which could not be predicted
        action += int(at >= row[k])
    return action


@compiled
def add_up(moves: int, shares: Array, row: Array) -> None:
    """The shares of the moves of a set as sums of chances up to each action."""
    total, at, last = 0.0, 0, 0
    for action in range(row.shape[0] - KEY):
        if (moves >> action) & 1:
            total += shares[at]
            if np.uint32(np.rint(shares[at] * WHOLE)) > 0:
                last = action
            at += 1
        row[KEY + action] = np.uint32(min(np.rint(total * WHOLE), 1.0 * WHOLE))
    for action in range(last, row.shape[0] - KEY):
        row[KEY + action] = np.uint32(WHOLE)


@apart
def regret(game: Array, rows: int, columns: int, player: int, mix: Array, out: Array) -> None:
    """What each move gives away against the other's mix; after them, the worth of the best."""
    n = rows if player == 0 else columns
    best = 0.0
    for k in range(n):
        worth = 0.0
        if player == 0:
            for j in range(columns):
                worth += mix[1, j] * game[k, j]
        else:
            for j in range(rows):
                worth += mix[0, j] * game[j, k]
            worth = 1.0 - worth
        out[k] = worth
        best = worth if k == 0 else max(best, worth)
    for k in range(n):
        out[k] = 0.0 if mix[player, k] > 0.0 else best - out[k]
    out[n] = best


@apart
def solve(game: Array, rows: int, columns: int, table: Array, mix: Array, label: Array) -> None:
    """Both mixes, as `duels.solve.matrix.solve_matrix` finds them."""
    low = high = game[0, 0]
    value, least, one, two = -np.inf, np.inf, 0, 0
    for i in range(rows):
        earned = game[i, 0]
        for j in range(columns):
            earned = min(earned, game[i, j])
            high = max(high, game[i, j])
        low = min(low, earned)
        if earned > value:
            value, one = earned, i
    for j in range(columns):
        yielded = game[0, j]
        for i in range(rows):
            yielded = max(yielded, game[i, j])
        if yielded < least:
            least, two = yielded, j
    if value >= least:  # a saddle point
        for i in range(rows):
            mix[0, i] = 1.0 if i == one else 0.0
        for j in range(columns):
            mix[1, j] = 1.0 if j == two else 0.0
        return
    size = high - low
    rounding = 1e-14 * max(abs(low), abs(low + size))
    for bland in (False, True):
        if simplex(game, rows, columns, low, size, bland, table, mix, label):
            earned, yielded = another.guarantees(game, rows, columns, mix)
            if yielded - earned <= (CERTAIN if bland else WANTED) * size + rounding:
                return
    another.solve(game, rows, columns, table, mix, label)


@apart
def simplex(
    game: Array, rows: int, columns: int, low: float, size: float, bland: bool,
    table: Array, mix: Array, label: Array,
) -> bool:  # fmt: skip
    """`duels.solve.matrix._simplex` in floats; False where only rounding could lead."""
    for i in range(rows):
        for j in range(columns):
            table[i, j] = (game[i, j] - low) / size + 1.0
        table[i, columns] = 1.0
        label[0, i] = i
    enter = 0
    least = np.inf
    for j in range(columns):
        table[rows, j] = -1.0
        label[1, j] = rows + j
        most = table[0, j]
        for i in range(rows):
            most = max(most, table[i, j])
        if most < least:
            enter = j
            least = most
    table[rows, columns] = 0.0
    for turn in range((100 if bland else 4) * (rows + columns)):
        if turn > 0:
            enter = -1
            for j in range(columns):
                if table[rows, j] < -ENTER and (
                    enter < 0
                    or (bland and label[1, j] < label[1, enter])
                    or (not bland and table[rows, j] < table[rows, enter])
                ):
                    enter = j
            if enter < 0:
                break
        leave = -1
        lowest = np.inf
        for i in range(rows):
            if table[i, enter] > 100 * ENTER:
                ratio = table[i, columns] / table[i, enter]
                if ratio < lowest or (ratio == lowest and label[0, i] < label[0, leave]):
                    leave = i
                    lowest = ratio
        if leave < 0:
            return False
        swap(table, rows, columns, leave, enter)
        label[0, leave], label[1, enter] = label[1, enter], label[0, leave]
    for i in range(rows):
        mix[0, i] = 0.0
    for j in range(columns):
        mix[1, j] = 0.0
    for j in range(columns):
        if label[1, j] < rows:
            mix[0, label[1, j]] = max(table[rows, j], 0.0)
    for i in range(rows):
        if label[0, i] >= rows:
            mix[1, label[0, i] - rows] = max(table[i, columns], 0.0)
    return to_shares(mix[0], rows) and to_shares(mix[1], columns)


@compiled
def to_shares(weights: Array, n: int) -> bool:
    """Scaled to one, without what rounding left; False if there is nothing to scale."""
    whole = 0.0
    for k in range(n):
        whole += weights[k]
    if whole == 0.0:
        return False
    kept = 0.0
    for k in range(n):
        if weights[k] <= DUST * whole:
            weights[k] = 0.0
        kept += weights[k]
    for k in range(n):
        weights[k] /= kept
    return True


@apart
def swap(table: Array, rows: int, columns: int, leave: int, enter: int) -> None:
    pivot = table[leave, enter]
    for j in range(columns + 1):
        table[leave, j] = 1.0 / pivot if j == enter else table[leave, j] / pivot
    for i in range(rows + 1):
        factor = table[i, enter]
        if i != leave and factor != 0.0:
            table[i, enter] = 0.0
            for j in range(columns + 1):
                table[i, j] -= factor * table[leave, j]
