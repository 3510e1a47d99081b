"""Compiled policies for simultaneous choices: matrix games, solved on demand and cached.

The mixed strategy of a position is computed at its first visit: solving a whole game would take up
to a minute, and most positions are never visited. The cache is bounded; when it is full, a new
entry replaces an old one. It does not affect the choices.

If a matrix game has several solutions, these opponents play the same one as those in Python
(`duels.algorithms.compiled.matrix_game.solve_canonically`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from duels.algorithms.compiled.matrix_game import STRIDE, scratch, solve_canonically
from duels.algorithms.solution import ROUNDING
from duels.kernels import Array, CompiledPolicy, Scalar, bits, compiled, not_inlined, np
from duels.kernels.policies import CARELESS_SHARE, WHOLE, level_shares, random_number
from duels.kernels.prefetch import fetch
from duels.kernels.random_streams import finalize

SLOTS = 21  # log2 of the capacity of the cache: 128 MB with up to 14 moves
PROBES = 8  # slots in which an entry may be
KEY = 2  # columns of an entry before the probabilities: both halves of the key
LINE = 16  # columns in a cache line of the processor; entries are aligned to it

if np is not None:
    _HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


class ChooserTables(NamedTuple):
    """The table of the game, the cache, and buffers."""

    table: Any
    share: float  # the level's share of a random player's regret
    memory: Array  # u32: a key, then cumulative probabilities by action, in units of 1 / `WHOLE`
    game: Array
    tableau: Array
    strategies: Array
    label: Array
    parts: Array  # options, regrets and shares


def chooser_tables(table: Any, share: float, moves: int, positions: int) -> ChooserTables:
    """The tables of one chooser, with a cache for `positions`, at most 2 ** `SLOTS`."""
    slots = 1 << min(SLOTS, max(8, positions.bit_length() + 1))
    wide = -(-(KEY + moves) // LINE) * LINE
    room = np.zeros(slots * wide + LINE, np.uint32)
    begin = -room.ctypes.data % (4 * LINE) // 4
    memory = room[begin : begin + slots * wide].reshape(slots, wide)
    return ChooserTables(
        table, share, memory, *scratch(),
        np.zeros((2, STRIDE)),
    )  # fmt: skip


def simultaneous_policy(
    options: Callable[..., Any], payoff: Callable[..., Any], key: Callable[..., Any]
) -> CompiledPolicy:
    """An opponent in a game with sealed choices; its tables must be a `ChooserTables`.

    `payoff(rules, table, state, i, one, two)` returns Player 1's expected score after two actions,
    and `key(rules, state, i)` a number below 2**62 that identifies the position.
    """

    @compiled
    def wanted_at(
        rules: Any, own: ChooserTables, state: Array, i: int, player: int
    ) -> tuple[int, int]:
        """The key of a row's mixed strategy, and its first slot in the cache."""
        wanted = np.uint64(2 * (key(rules, state, i) + 1) + player)
        return wanted, np.int64(finalize(wanted) & np.uint64(own.memory.shape[0] - 1))

    @compiled
    def prefetch(rules: Any, own: ChooserTables, state: Array, i: int, player: int) -> None:
        fetch(own.memory, wanted_at(rules, own, state, i, player)[1])

    @compiled
    def choose(
        rules: Any, own: ChooserTables, state: Array, streams: Array, i: int, player: int
    ) -> Scalar:
        wanted, first = wanted_at(rules, own, state, i, player)
        low, high = np.uint32(wanted & _LOW), np.uint32(wanted >> _HALF)
        memory = own.memory
        slot = first
        for probe in range(PROBES):
            slot = (first + probe) & (memory.shape[0] - 1)
            if memory[slot, 0] == low and memory[slot, 1] == high:
                return sample_action(memory, slot, streams, i)
            if memory[slot, 0] == 0 and memory[slot, 1] == 0:
                break
        else:
            slot = first
        memory[slot, 0], memory[slot, 1] = low, high
        solve_position(rules, own, state, i, player)
        store_cumulative(options(rules, state, i, player), own.parts, memory, slot)
        return sample_action(memory, slot, streams, i)

    @compiled
    def mixed_strategy(
        rules: Any, own: ChooserTables, state: Array, i: int, player: int, out: Array
    ) -> None:
        solve_position(rules, own, state, i, player)
        moves = options(rules, state, i, player)
        for k in range(bits.count(moves)):
            out[i, bits.nth(moves, k)] = own.parts[1, k]

    @not_inlined
    def solve_position(rules: Any, own: ChooserTables, state: Array, i: int, player: int) -> None:
        """Write the probabilities of a player's moves in a row to `own.parts[1]`."""
        one, two = options(rules, state, i, 0), options(rules, state, i, 1)
        height, width = np.int64(bits.count(one)), np.int64(bits.count(two))
        for at in range(height):
            for to in range(width):
                mine, theirs = bits.nth(one, at), bits.nth(two, to)
                own.game[at, to] = payoff(rules, own.table, state, i, mine, theirs)
        solve_canonically(own.game, height, width, own.tableau, own.strategies, own.label)
        n = height if player == 0 else width
        if own.share == 0.0:
            for k in range(n):
                own.parts[1, k] = own.strategies[player, k]
            return
        regret(own.game, height, width, player, own.strategies, own.parts[0])
        if own.share < CARELESS_SHARE:
            bar(own.game, height, width, player, own.strategies, own.parts[0])
        level_shares(own.parts[0], n, own.share, own.strategies[player], own.parts[1])

    return CompiledPolicy(choose, (), mixed_strategy, prefetch)


@compiled
def sample_action(memory: Array, slot: int, streams: Array, i: int) -> Scalar:
    """Sample an action from the cumulative probabilities of a slot."""
    at = np.uint32(random_number(streams, i))
    action = 0
    for k in range(KEY, memory.shape[1]):  # without a branch, which could not be predicted
        action += int(at >= memory[slot, k])
    return action


@compiled
def store_cumulative(moves: int, parts: Array, memory: Array, slot: int) -> None:
    """Write the shares of the moves of a set as cumulative probabilities."""
    total, at, last = 0.0, 0, 0
    for action in range(memory.shape[1] - KEY):
        if (moves >> action) & 1:
            total += parts[1, at]
            if np.uint32(np.rint(parts[1, at] * WHOLE)) > 0:
                last = action
            at += 1
        memory[slot, KEY + action] = np.uint32(min(np.rint(total * WHOLE), 1.0 * WHOLE))
    for action in range(last, memory.shape[1] - KEY):
        memory[slot, KEY + action] = np.uint32(WHOLE)


@not_inlined
def regret(game: Array, rows: int, columns: int, player: int, strategy: Array, out: Array) -> None:
    """Write the regret of each move against the other strategy."""
    n = rows if player == 0 else columns
    best = 0.0
    for k in range(n):
        worth = 0.0
        if player == 0:
            for j in range(columns):
                worth += strategy[1, j] * game[k, j]
        else:
            for j in range(rows):
                worth += strategy[0, j] * game[j, k]
            worth = 1.0 - worth
        out[k] = worth
        best = worth if k == 0 else max(best, worth)
    for k in range(n):
        out[k] = 0.0 if strategy[player, k] > 0.0 else best - out[k]


@not_inlined
def bar(game: Array, rows: int, columns: int, player: int, strategy: Array, out: Array) -> None:
    """Write a regret of -1 for each dominated move, as `dominance.dominated_rows` finds them."""
    n, others = (rows, columns) if player == 0 else (columns, rows)
    for k in range(n):
        for better in range(n):
            never, some = True, False
            for j in range(others):
                less = game[better, j] - game[k, j] if player == 0 else game[j, k] - game[j, better]
                never = never and less >= -ROUNDING
                some = some or less > ROUNDING
            if never and some and strategy[player, k] <= 0.0:
                out[k] = -1.0
