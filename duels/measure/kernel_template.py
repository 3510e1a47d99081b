"""Template of compiled loops over a kernel's rows; `compiled_enumeration.loops` loads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duels.algorithms.compiled import Array, compiled, np
from duels.algorithms.compiled.templates import unbound
from duels.algorithms.response_graph import DRAWN, LOST, POLICY, RESPONDER, WON
from duels.kernels import GOING_ON, NO_WINNER
from duels.measure.compiled_enumeration import BY_CHANCE, FULL
from duels.measure.perfect_values import ILLEGAL, OPEN

sealed = False
play: Callable[..., Any] = unbound
legal: Callable[..., Any] = unbound
mover: Callable[..., Any] = unbound
gain: Callable[..., Any] = unbound


@compiled
def copy(source: Array, i: int, to: Array, j: int) -> None:
    """Copy a row; written as a loop, since slices take seconds to compile."""
    for column in range(source.shape[1]):
        to[j, column] = source[i, column]


@compiled
def slot_of(given: Array, i: int, rows: Array, table: Array) -> Any:
    """The slot of the row `given[i]` in the hash table, or the free slot for it."""
    key = np.uint64(0x9E3779B97F4A7C15)
    for column in range(1, given.shape[1]):
        key = (key ^ np.uint64(given[i, column])) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    at = np.int64(key & np.uint64(table.shape[0] - 1))
    while table[at] >= 0:
        same = True
        for column in range(1, given.shape[1]):
            same = same and rows[table[at], column] == given[i, column]
        if same:
            break
        at = (at + 1) & (table.shape[0] - 1)
    return at


@compiled
def refill(rows: Array, count: int, table: Array) -> None:
    """Insert the first `count` rows into an empty hash table."""
    for number in range(count):
        table[slot_of(rows, number, rows, table)] = number


@compiled
def expand(
    rules: Any, seat: int, moves: int, begin: int, end: int, wave: int, count: int, rows: Array,
    table: Array, mine: Array, my_line: Array, theirs: Array, their_line: Array, fixed: bool,
    at_own: Array, chance: Array, act: Array, at_child: Array, child: Array, chooser: Array,
    scratch: Array, streams: Array,
) -> Any:  # fmt: skip
    """Append the successors of positions `begin` to `end`.

    Returns the position at which it stopped, the number of positions known, whether a successor was
    in this wave or an earlier one, and FULL, BY_CHANCE or 0.
    """
    other = 1 - seat
    again = False
    options = np.empty(moves, np.int64)
    weights = np.empty(moves, np.float64)
    for i in range(begin, end):
        who = mover(rules, rows, i)
        own, filled = at_own[i], at_child[i]
        room = moves * moves
        if (
            own + room > chance.shape[0]
            or filled + room > child.shape[0]
            or count + room > rows.shape[0]
            or 2 * (count + room) > table.shape[0]
        ):
            return i, count, again, FULL
        i_choose, they_choose = sealed or who == seat, sealed or who == other
        answers = 1
        options[0], weights[0] = 0, 1.0
        if they_choose:
            answers = 0
            for b in range(moves):
                if legal(rules, rows, i, other, b):
                    q = theirs[their_line[i - wave], b] if fixed else 1.0
                    if q > 0.0:
                        options[answers], weights[answers] = b, q
                        answers += 1
        for a in range(moves if i_choose else 1):
            p = mine[my_line[i - wave], a] if i_choose else 1.0
            if p <= 0.0:
                continue
            if not fixed:
                chance[own], act[own] = p, a
                own += 1
            for k in range(answers):
                b = options[k]
                if fixed:
                    chance[own], act[own] = p * weights[k], a
                    own += 1
                copy(rows, i, scratch, 0)
                if sealed:
                    one, two = (a, b) if seat == 0 else (b, a)
                else:
                    one = two = a if i_choose else b
                winner = play(rules, scratch, streams, 0, one, two)
                if streams[0, 0] != 0 or streams[0, 1] != 0:
                    return i, count, again, BY_CHANCE
                if winner != GOING_ON:
                    found = DRAWN if winner == NO_WINNER else WON if winner == other else LOST
                else:
                    at = slot_of(scratch, 0, rows, table)
                    if table[at] < 0:
                        table[at] = count
                        copy(scratch, 0, rows, count)
                        count += 1
                    found = table[at]
                    again = again or found < wave + my_line.shape[0]
                child[filled] = found
                filled += 1
        at_own[i + 1], at_child[i + 1] = own, filled
        chooser[i] = (POLICY if i_choose else 0) + (RESPONDER if they_choose else 0)
    return end, count, again, 0


@compiled
def leads(rules: Any, rows: Array, moves: int, after: Array, payoffs: Array, movers: Array) -> bool:
    """Write successors and Player 1's payoffs of all combinations of moves; True on chance."""
    streams = np.zeros((1, 2), np.uint64)
    scratch = np.zeros((1, rows.shape[1]), rows.dtype)
    wide = payoffs.shape[2]
    for i in range(rows.shape[0]):
        who = 0 if sealed else mover(rules, rows, i)
        movers[i] = who
        for a in range(moves):
            for b in range(wide):
                payoffs[i, a, b] = ILLEGAL
                if not legal(rules, rows, i, who, a):
                    continue
                if sealed and not legal(rules, rows, i, 1, b):
                    continue
                copy(rows, i, scratch, 0)
                winner = play(rules, scratch, streams, 0, a, b if sealed else a)
                if streams[0, 0] != 0 or streams[0, 1] != 0:
                    return True
                copy(scratch, 0, after, (i * moves + a) * wide + b)
                payoffs[i, a, b] = OPEN
                if winner != GOING_ON:
                    payoffs[i, a, b] = 0.5 if winner == NO_WINNER else 1.0 - winner
    return False


@compiled
def gains(rules: Any, rows: Array, seat: int, out: Array) -> None:
    """The immediate gain of every move."""
    for i in range(rows.shape[0]):
        for action in range(out.shape[1]):
            if legal(rules, rows, i, seat, action):
                out[i, action] = gain(rules, rows, i, seat, action)
