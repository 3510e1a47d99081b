"""Hash tables of numbers for each move of an information state, for compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

from duels.algorithms.compiled import Array, compiled, np


class Store(NamedTuple):
    """Stored information states: a hash table, and a pool with two floats for each move."""

    keys: Array  # u64[slots], 0 = free
    where: Array  # i64[slots] offset into the pool
    pool: Array  # f32[2, cells]: regrets, and the weighted sum of strategies
    used: Array  # i64[2]: entries, pool cells


def new_store(slots_log2: int, cells: int) -> Store:
    """An empty store; the system allocates its memory only as it fills."""
    slots = 1 << slots_log2
    return Store(
        np.zeros(slots, dtype=np.uint64),
        np.zeros(slots, dtype=np.int64),
        np.zeros((2, cells), dtype=np.float32),
        np.zeros(2, dtype=np.int64),
    )


@compiled
def slot_of(key: int, keys: Array) -> Any:
    """The slot of a key, or the free slot where it would be inserted."""
    mask = np.uint64(keys.shape[0] - 1)
    h = key * np.uint64(0x9E3779B97F4A7C15)
    slot = (h ^ (h >> np.uint64(29))) & mask
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled
def find_or_add(key: int, actions: int, st: Store) -> Any:
    """Pool offset of an information state, added if it is new; -1 if the store is full."""
    slot = slot_of(key, st.keys)
    if st.keys[slot] == key:
        return st.where[slot]
    if st.used[1] + actions > st.pool.shape[1] or st.used[0] * 10 > st.keys.shape[0] * 8:
        return np.int64(-1)
    st.keys[slot] = key
    st.where[slot] = st.used[1]
    st.used[0] += 1
    st.used[1] += actions
    return st.where[slot]


@compiled
def insert_all(keys: Array, where: Array, st: Store) -> None:
    """Refill the hash table of a store from a checkpoint."""
    for i in range(keys.shape[0]):
        slot = slot_of(keys[i], st.keys)
        st.keys[slot] = keys[i]
        st.where[slot] = where[i]
    st.used[0] = keys.shape[0]


@compiled
def hashed(key: Any, field: int) -> Any:
    """Add a field to a hash; the result is never 0, which marks a free slot."""
    z = (key ^ np.uint64(field + 1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return (z ^ (z >> np.uint64(27))) | np.uint64(1)
