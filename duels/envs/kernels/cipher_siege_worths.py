"""What choices in Cipher Siege gave away by the stored values, compiled: `assess` for many rows.

Players are graded by what they knew, so this has nothing to do with `cipher_siege_luck`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from duels.envs.kernels import Array, Scalar, apart, compiled, keep, np
from duels.envs.kernels.cipher_siege import CI, MOVER, ROW
from duels.envs.kernels.cipher_siege_players import stored
from duels.envs.kernels.cipher_siege_strategy import Playing, blocks, count_keys, playing, slot_of
from duels.envs.kernels.cipher_siege_table import (
    ATTACK,
    FIELDS,
    KIND,
    MOVES,
    ROWS,
    WORTH,
    Rules,
    rules,
)
from duels.games.cipher_siege import CipherSiege
from duels.solve.siege.strategy import SCALE, UNKNOWN

if np is not None:
    _EIGHT, _BYTE = np.uint64(8), np.uint64(255)


class Worths(NamedTuple):
    """The values that the strategy's table has of moves, by the place of a state in `found`."""

    begin: Array
    count: Array
    values: Array


@apart
def regret(rules: Rules, own: Playing, worths: Worths, state: Array, i: int, action: int) -> Scalar:
    """What an action gave away by the stored values, as `assess` says; NaN: not known."""
    row, player = state[i, ROW], state[i, MOVER]
    begin = rules.words[rules.words[ROWS] + 2 * row]
    if own.hands.attacks[row] == 0:  # an empty hand: pass
        return 0.0
    ci = state[i, CI + 1 - player]
    if own.hands.damage[row] >= ci:  # what anything but a win is worth is not stored
        move = rules.words[MOVES] + FIELDS * action
        wins = rules.words[move + KIND] == ATTACK and rules.words[move + WORTH] >= ci
        return 0.0 if wins else np.nan
    slot = stored(own, state, i, player)
    if own.found[slot, 0] == 0:
        return np.nan
    place = 0
    while rules.words[begin + place] != action:
        place += 1
    at = np.int64(own.found[slot, 1] >> _EIGHT)
    for k in range(at, at + np.int64(own.found[slot, 1] & _BYTE) + 1):
        if own.moves[k] == place:
            return 0.0
    top, first = 0, worths.begin[slot]
    for k in range(worths.count[slot]):
        if worths.values[first + k] != UNKNOWN:
            top = max(top, worths.values[first + k])
    found = worths.values[first + place]
    return np.nan if found == UNKNOWN else (top - found) / SCALE


@keep
@apart
def read_block(data: Array, first: Any, count: int, found: Array, worths: Worths, used: int) -> int:
    """The values of one block, as `unpack_block` reads it; how much of `values` is used then."""
    read, key = count_keys(data, count), first
    value, at = read + 2 * count, 0
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
        n = np.int64(data[read + state])
        slot = slot_of(found, key)
        worths.begin[slot], worths.count[slot] = used, n
        for move in range(n):
            worths.values[used + move] = data[value + move]
        value += n
        used += n
    return used


@lru_cache(maxsize=2)
def worths_of(game: CipherSiege) -> Worths:
    """What the strategy's table says that moves are worth: a third of a second, and 20 MB."""
    found, used = playing(game, "perfect").found, 0
    values = np.zeros(0, np.uint8)
    worths = Worths(np.zeros(len(found), np.uint32), np.zeros(len(found), np.uint8), values)
    for first, count, data in blocks(game):
        if used + len(data) > len(worths.values):
            more = np.resize(worths.values, 2 * len(worths.values) + len(data))
            worths = worths._replace(values=more)
        used = read_block(data, first, count, found, worths, used)
    return worths._replace(values=worths.values[:used].copy())


@keep
@compiled
def grade(
    rules: Rules, best: Playing, worths: Worths, state: Array, actions: Array, out: Array
) -> None:
    for i in range(state.shape[0]):
        out[i, state[i, MOVER]] = regret(rules, best, worths, state, i, actions[i, 0])


def regrets(game: CipherSiege, rows: Array, actions: Array) -> Array:
    """By seat; NaN for who did not choose, and for what is not stored."""
    out = np.full((len(rows), 2), np.nan)
    grade(rules(game), playing(game, "perfect"), worths_of(game), rows, actions, out)
    return out
