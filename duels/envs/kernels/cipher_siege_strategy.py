"""The table of Cipher Siege's strategy as arrays that compiled code can read."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from duels.envs.kernels import Array, Scalar, apart, compiled, keep, np
from duels.envs.kernels.cipher_siege_table import (
    ATTACK,
    FIELDS,
    KIND,
    MOVES,
    ROWS,
    WORTH,
    hands_of,
    rules,
)
from duels.envs.kernels.mixing import WHOLE, level_shares, share_of
from duels.games.cipher_siege import CipherSiege
from duels.solve import tables
from duels.solve.levels import UNMEASURED, WIN_PASSED_BY
from duels.solve.siege import strategy
from duels.solve.siege.codes import MAX_ACTIONS
from duels.solve.siege.knowledge import in_turn_order, unseen_bucket
from duels.solve.siege.places import Codes

if np is not None:
    _SPREAD, _FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class Hands(NamedTuple):
    """Of each row of the kernel's table of hands: its largest attack, and how many attacks."""

    damage: Array
    best: Array  # its place in the row
    attacks: Array


class Playing(NamedTuple):
    """A strategy: a hash table of information states, and moves with the sums of their weights."""

    hands: Hands
    radix: Array  # codes of one card, by value
    bucket: Array  # summary of the unseen cards, by the code of those seen
    found: Array  # u64: a key, 0 where the place is free; where its moves begin, and how many
    moves: Array
    sums: Array
    cap: int  # one more than the largest CI
    fine: int  # decisions before which the fine states count
    even: bool  # whether both begin with the same CI
    share: float


@compiled
def slot_of(found: Array, key: Any) -> Scalar:
    """Where a key is, or a free place if it is not there."""
    mask = np.uint64(found.shape[0] - 1)
    spread = key * _SPREAD
    slot = (spread ^ (spread >> _FOLD)) & mask
    while found[slot, 0] != 0 and found[slot, 0] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@keep
@apart
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


@keep
@apart
def unpack_block(
    data: Array, first: Any, count: int, share: float, found: Array, moves: Array, sums: Array,
    used: int, parts: Array,
) -> int:  # fmt: skip
    """The states of one block, as `duels.solve.siege.strategy.Block` reads them.

    Gives how much of `moves` and `sums` is used then. `parts` is room to work in.
    """
    read, key = count_keys(data, count), first
    pair, at = read + 2 * count, 0
    value = pair
    for state in range(count):
        value += 2 * np.int64(data[read + count + state])
    for state in range(count):
        shift = np.uint64(0)
        while True:
            byte = np.uint64(data[at])
            at += 1
            key += (byte & np.uint64(127)) << shift
            shift += np.uint64(7)
            if byte < 128:
                break
        n, played = np.int64(data[read + state]), np.int64(data[read + count + state])
        mix, begun = parts[0], used
        mix[:n] = 0.0
        for number in range(played):
            mix[data[pair + 2 * number]] = data[pair + 2 * number + 1]
        if share > 0.0:
            soften_state(data[value : value + n], n, share, parts)
        # The likeliest first, so that few have to be looked at.
        whole = 0.0
        for _ in range(n):
            top = 0
            for move in range(n):
                top = move if mix[move] > mix[top] else top
            if mix[top] <= 0.0:
                break
            whole += mix[top]
            mix[top] = 0.0
            moves[used], sums[used] = top, np.uint32(np.rint(whole))
            used += 1
        slot = slot_of(found, key)
        found[slot, 0] = key
        found[slot, 1] = np.uint64((begun << 8) + used - 1 - begun)
        pair += 2 * played
        value += n
    return used


@apart
def count_keys(data: Array, count: int) -> int:
    """Where the keys of a block end."""
    read = 0
    while count > 0:
        count -= int(data[read] < 128)
        read += 1
    return read


@apart
def soften_state(values: Array, n: int, share: float, parts: Array) -> None:
    """A level's chances of the moves of a state, of `WHOLE`, instead of the mix in `parts[0]`."""
    mix, regrets, shares = parts[0], parts[1], parts[2]
    total, best = 0.0, -1.0
    for move in range(n):
        total += mix[move]
        if values[move] != strategy.UNKNOWN:
            best = max(best, values[move] / strategy.SCALE)
    for move in range(n):
        mix[move] /= total
        regrets[move] = WIN_PASSED_BY if best == 1.0 else UNMEASURED
        if values[move] != strategy.UNKNOWN:
            regrets[move] = best - values[move] / strategy.SCALE
        if mix[move] > 0.0:
            regrets[move] = 0.0
    level_shares(regrets, n, best == 0.0, share, mix, shares)
    for move in range(n):
        mix[move] = np.rint(shares[move] * WHOLE)


@lru_cache(maxsize=8)
def hands(game: CipherSiege) -> Hands:
    found = Hands(*(np.zeros(3 * hands_of(game), np.int64) for _ in range(3)))
    measure_hands(rules(game).words, *found)
    return found


def table_of(game: CipherSiege) -> tables.Table:
    table = tables.find_table(in_turn_order(game), strategy.KIND)
    assert table is not None, "solve() has said so"
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
def playing(game: CipherSiege, opponent: str) -> Playing:
    """A strategy's table as arrays: half a second, and 10 MB, or 40 MB for a level."""
    share, facts = share_of(opponent), table_of(game).facts
    found = np.zeros((1 << (states_of(game).bit_length() + 1), 2), np.uint64)
    moves, sums = np.zeros(0, np.uint8), np.zeros(0, np.uint32)
    parts, used = np.zeros((3, MAX_ACTIONS + 1)), 0
    for first, count, data in blocks(game):
        if used + len(data) > len(moves):
            room = 2 * len(moves) + len(data)
            moves, sums = np.resize(moves, room), np.resize(sums, room)
        used = unpack_block(data, first, count, share, found, moves, sums, used, parts)
    codes = Codes(game)
    bucket = [unseen_bucket(codes.counts(code), game.copies) for code in range(codes.space)]
    return Playing(
        hands(game), np.array(codes.radix), np.array(bucket), found, moves[:used].copy(),
        sums[:used].copy(), max(game.integrity) + 1, facts["fine_plies"],
        game.integrity[0] == game.integrity[1], share,
    )  # fmt: skip
