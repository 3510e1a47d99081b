"""Regrets of choices in Cipher Siege from the stored values: `assess` for many rows, compiled.

Players are graded by the values of their information states; `aivat.py` has values of full states.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from duels.games.cipher_siege.kernel import CI, MOVER, ROW
from duels.games.cipher_siege.kernel_strategy import (
    CompiledStrategy,
    blocks,
    compiled_strategy,
    count_keys,
    next_key,
)
from duels.games.cipher_siege.kernel_tables import (
    FIELDS,
    KIND,
    MOVES,
    ROWS,
    WORTH,
    Rules,
    rules,
)
from duels.games.cipher_siege.opponents import state_slot
from duels.games.cipher_siege.rules import ATTACK, CipherSiege
from duels.games.cipher_siege.store import slot_of
from duels.games.cipher_siege.strategy import SCALE, UNKNOWN
from duels.kernels import Array, Scalar, cached, not_inlined, np

if np is not None:
    _EIGHT, _BYTE = np.uint64(8), np.uint64(255)


class StoredValues(NamedTuple):
    """The stored values of moves, by the slot of a state in `CompiledStrategy.found`."""

    begin: Array
    count: Array
    values: Array


@not_inlined
def regret(
    rules: Rules, own: CompiledStrategy, table: StoredValues, state: Array, i: int, action: int
) -> Scalar:
    """The regret of an action by the stored values, as in `assess`; NaN if it is not known."""
    row, player = state[i, ROW], state[i, MOVER]
    begin = rules.words[rules.words[ROWS] + 2 * row]
    if own.hands.attacks[row] == 0:  # an empty hand: pass
        return 0.0
    ci = state[i, CI + 1 - player]
    if own.hands.damage[row] >= ci:  # values of moves that miss a win are not stored
        move = rules.words[MOVES] + FIELDS * action
        wins = rules.words[move + KIND] == ATTACK and rules.words[move + WORTH] >= ci
        return 0.0 if wins else np.nan
    slot = state_slot(own, state, i, player)
    if own.found[slot, 0] == 0:
        return np.nan
    place = 0
    while rules.words[begin + place] != action:
        place += 1
    at = np.int64(own.found[slot, 1] >> _EIGHT)
    for k in range(at, at + np.int64(own.found[slot, 1] & _BYTE) + 1):
        if own.moves[k] == place:
            return 0.0
    top, first = 0, table.begin[slot]
    for k in range(table.count[slot]):
        if table.values[first + k] != UNKNOWN:
            top = max(top, table.values[first + k])
    found = table.values[first + place]
    return np.nan if found == UNKNOWN else (top - found) / SCALE


@cached
def read_block(
    data: Array, first: Any, count: int, found: Array, table: StoredValues, used: int
) -> int:
    """Read the values of one block, like `unpack_block`; returns how much of `values` is used."""
    read, key = count_keys(data, count), first
    value, at = read + 2 * count, 0
    for state in range(count):
        value += 2 * np.int64(data[read + count + state])
    for state in range(count):
        key, at = next_key(data, key, at)
        n = np.int64(data[read + state])
        slot = slot_of(key, found[:, 0])
        table.begin[slot], table.count[slot] = used, n
        for move in range(n):
            table.values[used + move] = data[value + move]
        value += n
        used += n
    return used


@lru_cache(maxsize=2)
def stored_values_of(game: CipherSiege) -> StoredValues:
    """The values of the strategy's table as arrays. Takes a third of a second and 20 MB."""
    found, used = compiled_strategy(game, "perfect").found, 0
    values = np.zeros(0, np.uint8)
    table = StoredValues(np.zeros(len(found), np.uint32), np.zeros(len(found), np.uint8), values)
    for first, count, data in blocks(game):
        if used + len(data) > len(table.values):
            more = np.resize(table.values, 2 * len(table.values) + len(data))
            table = table._replace(values=more)
        used = read_block(data, first, count, found, table, used)
    return table._replace(values=table.values[:used].copy())


@cached
def grade(
    rules: Rules, best: CompiledStrategy, table: StoredValues, state: Array, actions: Array,
    out: Array,
) -> None:  # fmt: skip
    for i in range(state.shape[0]):
        out[i, state[i, MOVER]] = regret(rules, best, table, state, i, actions[i, 0])


def regrets(game: CipherSiege, rows: Array, actions: Array) -> Array:
    """Regrets by seat; NaN for a seat that did not choose, and where nothing is stored."""
    out = np.full((len(rows), 2), np.nan)
    best, table = compiled_strategy(game, "perfect"), stored_values_of(game)
    grade(rules(game), best, table, rows, actions, out)
    return out
