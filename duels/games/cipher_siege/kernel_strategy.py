"""The strategy table of Cipher Siege as arrays, for compiled code."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from duels.algorithms import tables
from duels.algorithms.levels import UNMEASURED, WIN_PASSED_BY
from duels.games.cipher_siege import strategy
from duels.games.cipher_siege.compiled_tables import MAX_ACTIONS, build_tables
from duels.games.cipher_siege.infostate import in_turn_order
from duels.games.cipher_siege.kernel_tables import (
    FIELDS,
    KIND,
    MOVES,
    ROWS,
    WORTH,
    hands_of,
    rules,
)
from duels.games.cipher_siege.rules import ATTACK, CipherSiege
from duels.games.cipher_siege.store import slot_of
from duels.kernels import Array, cached, not_inlined, np
from duels.kernels.policies import WHOLE, level_shares, share_of


class HandAttacks(NamedTuple):
    """By row of the kernel's table of hands: the largest attack and the number of attacks."""

    damage: Array
    best: Array  # its index in the row
    attacks: Array


class CompiledStrategy(NamedTuple):
    """A strategy: a hash table of information states, and moves with the sums of their weights."""

    hands: HandAttacks
    radix: Array  # these three are those of `compiled_tables.Tables`
    bucket: Array
    const: Array
    found: Array  # u64, by slot: the key, 0 if the slot is free; the first move; how many moves
    moves: Array
    sums: Array
    share: float


@cached
def measure_hands(words: Array, damage: Array, best: Array, attacks: Array) -> None:
    for row in range(damage.shape[0]):
        at = words[ROWS] + 2 * row
        for place in range(words[at], words[at + 1]):
            move = words[MOVES] + FIELDS * words[place]
            if words[move + KIND] != ATTACK:
                break
            attacks[row] += 1
            if words[move + WORTH] > damage[row]:
                damage[row], best[row] = words[move + WORTH], place - words[at]


@cached
def unpack_block(
    data: Array, first: Any, count: int, share: float, found: Array, moves: Array, sums: Array,
    used: int, parts: Array,
) -> int:  # fmt: skip
    """Read the states of one block, as `duels.games.cipher_siege.strategy.StateBlock` does.

    Returns how much of `moves` and `sums` is used afterwards. `parts` is a buffer.
    """
    read, key = count_keys(data, count), first
    pair, at = read + 2 * count, 0
    value = pair
    for state in range(count):
        value += 2 * np.int64(data[read + count + state])
    for state in range(count):
        key, at = next_key(data, key, at)
        n, played = np.int64(data[read + state]), np.int64(data[read + count + state])
        chances, begun = parts[0], used
        chances[:n] = 0.0
        for number in range(played):
            chances[data[pair + 2 * number]] = data[pair + 2 * number + 1]
        if share > 0.0:
            level_softmax_state(data[value : value + n], n, share, parts)
        # The most probable move first, so that few are compared when sampling.
        whole = 0.0
        for _ in range(n):
            top = 0
            for move in range(n):
                top = move if chances[move] > chances[top] else top
            if chances[top] <= 0.0:
                break
            whole += chances[top]
            chances[top] = 0.0
            moves[used], sums[used] = top, np.uint32(np.rint(whole))
            used += 1
        slot = slot_of(key, found[:, 0])
        found[slot, 0] = key
        found[slot, 1] = np.uint64((begun << 8) + used - 1 - begun)
        pair += 2 * played
        value += n
    return used


@not_inlined
def count_keys(data: Array, count: int) -> int:
    """The offset at which the keys of a block end."""
    read = 0
    while count > 0:
        count -= int(data[read] < 128)
        read += 1
    return read


@not_inlined
def next_key(data: Array, key: Any, at: int) -> tuple[Any, int]:
    """The key after `key`, from the difference at offset `at`, and the offset after it."""
    shift = np.uint64(0)
    while True:
        byte = np.uint64(data[at])
        at += 1
        key += (byte & np.uint64(127)) << shift
        shift += np.uint64(7)
        if byte < 128:
            return key, at


@not_inlined
def level_softmax_state(values: Array, n: int, share: float, parts: Array) -> None:
    """Replace the mixed strategy in `parts[0]` by that of a level, in units of 1 / `WHOLE`."""
    chances, regrets, shares = parts[0], parts[1], parts[2]
    total, best = 0.0, -1.0
    for move in range(n):
        total += chances[move]
        if values[move] != strategy.UNKNOWN:
            best = max(best, values[move] / strategy.SCALE)
    for move in range(n):
        chances[move] /= total
        regrets[move] = WIN_PASSED_BY if best == 1.0 else UNMEASURED
        if values[move] != strategy.UNKNOWN:
            regrets[move] = best - values[move] / strategy.SCALE
        if chances[move] > 0.0:
            regrets[move] = 0.0
    level_shares(regrets, n, share, chances, shares)
    for move in range(n):
        chances[move] = np.rint(shares[move] * WHOLE)


@lru_cache(maxsize=8)
def hand_attacks(game: CipherSiege) -> HandAttacks:
    found = HandAttacks(*(np.zeros(3 * hands_of(game), np.int64) for _ in range(3)))
    measure_hands(rules(game).words, *found)
    return found


def table_of(game: CipherSiege) -> tables.Table:
    table = tables.find_table(in_turn_order(game), strategy.KIND)
    assert table is not None, "solve() raises if there is no table"
    return table


def states_of(game: CipherSiege) -> int:
    """How many information states the table has."""
    states: int = struct.unpack_from("<I", table_of(game).payload)[0]
    return states


def blocks(game: CipherSiege) -> Iterator[tuple[Any, int, Array]]:
    """The blocks of the table: the first key, how many states, and the bytes."""
    payload = table_of(game).payload
    states, number = struct.unpack_from("<II", payload)
    index = np.frombuffer(payload, [("first", "<u8"), ("at", "<u4")], number, 8)
    packed, begins = payload[8 + 12 * number :], index["at"].tolist()
    for block, (first, begin, end) in enumerate(
        zip(index["first"], begins, [*begins[1:], len(packed)], strict=True)
    ):
        count = min(strategy.BLOCK, states - block * strategy.BLOCK)
        yield first, count, np.frombuffer(zlib.decompress(packed[begin:end]), np.uint8)


@lru_cache(maxsize=4)
def compiled_strategy(game: CipherSiege, opponent: str) -> CompiledStrategy:
    """A strategy's table as arrays. Takes half a second and 10 MB, or 40 MB for a level."""
    share, facts = share_of(opponent), table_of(game).facts
    found = np.zeros((1 << (states_of(game).bit_length() + 1), 2), np.uint64)
    moves, sums = np.zeros(0, np.uint8), np.zeros(0, np.uint32)
    parts, used = np.zeros((3, MAX_ACTIONS + 1)), 0
    for first, count, data in blocks(game):
        if used + len(data) > len(moves):
            room = 2 * len(moves) + len(data)
            moves, sums = np.resize(moves, room), np.resize(sums, room)
        used = unpack_block(data, first, count, share, found, moves, sums, used, parts)
    table = build_tables(in_turn_order(game), facts["fine_plies"])
    return CompiledStrategy(
        hand_attacks(game), table.radix, table.bucket, table.const, found, moves[:used].copy(),
        sums[:used].copy(), share,
    )  # fmt: skip
