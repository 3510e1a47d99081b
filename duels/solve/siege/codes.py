"""Cipher Siege on integer codes, for compiled kernels: tables of hands, stores of what is learned.

A multiset of cards (hand, deck, discard pile) is one integer: the digits of base `copies + 1` count
each value. Adding or removing cards is then plain addition or subtraction, and every fact about a
hand is a table lookup.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from duels.games.cipher_siege import CipherSiege, attack_value
from duels.solve.compiled import Array, compiled, np
from duels.solve.siege.knowledge import CHOSEN, unseen_bucket
from duels.solve.solution import Unsolved

ATTACK, DEFEND, SWAP = 0, 1, 2
DEPTH_CAP = 60  # turns; a game this long counts as a draw in training (practically never reached)
MAX_ACTIONS = 255  # the strategy's table keeps a move's number in a byte

# Indices of `Tables.const`.
VALUES, DEALT, FIRST_CI, SECOND_CI, FULL, FINE, CODES, CI_BASE, PLIES, TAGS = range(10)


def check_size(game: CipherSiege) -> None:
    """Refuse before any work what the kernels cannot hold."""
    if game.swap != "random":
        raise Unsolved(f"no strategy can be trained for swap=chosen: {CHOSEN}")
    if max(game.integrity) > 63:
        raise Unsolved(f"no strategy can be trained for CI above 63; got {max(game.integrity)}")
    if game.limit > 6:
        raise Unsolved(f"no strategy can be trained for limit above 6; got {game.limit}")
    codes = (game.copies + 1) ** game.values
    if codes**4 * (max(game.integrity) + 1) ** 2 * 48 >= 2**64:
        raise Unsolved(
            f"values={game.values}, copies={game.copies} and a CI of {max(game.integrity)} are too "
            "many together: what a player knows must fit in 64 bits"
        )


class Tables(NamedTuple):
    """Facts by code, of which there are `(copies + 1) ** values`; a hand's moves are rows."""

    radix: Array  # i64[values] code of one card of each value
    digit: Array  # i64[codes, values] digits
    size: Array  # i64[codes] number of cards
    start: Array  # i64[codes] first row of a hand's moves
    total_actions: Array  # i64[codes] moves with swaps
    plain_actions: Array  # i64[codes] moves without swaps
    kind: Array  # i64[rows]
    sub: Array  # i64[rows] code of the cards played, or given
    worth: Array  # i64[rows] damage, or CI restored
    best: Array  # i64[codes] largest attack of a hand
    best_row: Array  # i64[codes] its row, relative to start
    bucket: Array  # i64[codes] summary of the unseen cards, by the code of the seen ones
    const: Array  # i64[10], see above


def build_tables(game: CipherSiege, fine_plies: int, cap: int = DEPTH_CAP) -> Tables:
    """Every table the kernels need for one set of rules; Player 1 begins.

    `fine_plies`: turns that use the fine information state; `cap`: turns after which a game counts
    as a draw (a small cap makes a variant finite, and the turn then joins the information state).
    """
    check_size(game)
    base = game.copies + 1
    codes = base**game.values
    radix = [base**v for v in range(game.values)]
    counts = [tuple(code // r % base for r in radix) for code in range(codes)]
    rows: list[tuple[int, int, int]] = []
    facts = np.zeros((5, codes), dtype=np.int64)
    for code, held in enumerate(counts):
        facts[0, code] = len(rows)
        if 0 < sum(held) <= game.limit + 1:
            own, plain, best, best_row = hand_rows(held, radix, sum(held) <= game.limit)
            rows += own
            facts[1:, code] = len(own), plain, best, best_row
    if int(facts[1].max()) > MAX_ACTIONS:
        raise Unsolved(f"no strategy can be trained where a hand has over {MAX_ACTIONS} moves")
    start, total, plain_actions, largest, largest_row = facts
    kind, sub, worth = np.array(rows, dtype=np.int64).T
    digit = np.array(counts, dtype=np.int64)
    const = [
        game.values, game.hand, *game.integrity, game.copies * sum(radix), fine_plies, codes,
        max(game.integrity) + 1, cap, 6 if cap == DEPTH_CAP else cap + 6,
    ]  # fmt: skip
    return Tables(
        np.array(radix, dtype=np.int64), digit, digit.sum(axis=1), start, total, plain_actions,
        np.ascontiguousarray(kind), np.ascontiguousarray(sub), np.ascontiguousarray(worth),
        largest, largest_row,
        np.array([unseen_bucket(held, game.copies) for held in counts], dtype=np.int64),
        np.array(const, dtype=np.int64),
    )  # fmt: skip


def hand_rows(
    held: tuple[int, ...], radix: list[int], may_swap: bool
) -> tuple[list[tuple[int, int, int]], int, int, int]:
    """A hand's moves (kind, cards, worth), how many are not swaps, and its largest attack."""
    rows: list[tuple[int, int, int]] = []
    best = best_row = 0
    for picks in product(*(range(count + 1) for count in held)):
        cards = [v + 1 for v, number in enumerate(picks) for _ in range(number)]
        if cards:
            damage = sum(attack_value(tuple(cards)))
            if damage > best:
                best, best_row = damage, len(rows)
            rows.append((ATTACK, sum(p * r for p, r in zip(picks, radix, strict=True)), damage))
    single = [(radix[v], v + 1) for v, count in enumerate(held) if count]
    rows += [(DEFEND, code, card) for code, card in single]
    plain = len(rows)
    rows += [(SWAP, code, card) for code, card in single] if may_swap else []
    return rows, plain, best, best_row


class Store(NamedTuple):
    """Information states met so far: a hash table, and a pool with two floats for each move."""

    keys: Array  # u64[slots], 0 = free
    where: Array  # i64[slots] offset into the pool
    pool: Array  # f32[2, cells]: regrets, and the weighted sum of strategies
    used: Array  # i64[2]: entries, pool cells


def new_store(slots_log2: int, cells: int) -> Store:
    """An empty store; memory is touched only as it fills."""
    slots = 1 << slots_log2
    return Store(
        np.zeros(slots, dtype=np.uint64),
        np.zeros(slots, dtype=np.int64),
        np.zeros((2, cells), dtype=np.float32),
        np.zeros(2, dtype=np.int64),
    )


@compiled
def next_u64(rng: Array) -> Any:
    """splitmix64: one word of state, so a checkpoint can carry it."""
    rng[0] += np.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def uniform(rng: Array) -> Any:
    """A float in [0, 1)."""
    return np.float64(next_u64(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def pick_card(code: int, tb: Tables, rng: Array) -> Any:
    """The index of a uniformly random card of a multiset (0 is the value 1)."""
    left = int(uniform(rng) * tb.size[code])
    for v in range(tb.const[VALUES]):
        left -= tb.digit[code, v]
        if left < 0:
            return v
    return tb.const[VALUES] - 1


@compiled
def forget(known: int, played: int, tb: Tables) -> Any:
    """Cards still certain to be in a hand after ``played`` left it."""
    if known == 0:
        return known
    rest = known
    for v in range(tb.const[VALUES]):
        rest -= min(tb.digit[known, v], tb.digit[played, v]) * tb.radix[v]
    return rest


@compiled
def packed_key(
    k: Any, hand: int, ci: int, oci: int, osize: int, km: int, tag: Any, tb: Tables
) -> Any:
    """One number of what a player knows; `k` is what a fine and a coarse state differ in."""
    n, c = np.uint64(tb.const[CODES]), np.uint64(tb.const[CI_BASE])
    k = (k * n + np.uint64(km)) * n + np.uint64(hand)
    k = ((k * c + np.uint64(ci)) * c + np.uint64(oci)) * np.uint64(8) + np.uint64(osize)
    return k * np.uint64(tb.const[TAGS]) + tag


@compiled
def fine_key(
    hand: int, disc: int, ci: int, oci: int, osize: int, km: int, ko: int, ply: int, tb: Tables
) -> Any:
    """Key of the mover's information state with nearly all the player ever saw.

    km and ko are the cards the mover and the other know. `CipherSiegeSolution` has the same on a
    bare Python.
    """
    tag = np.uint64(2) + np.uint64(ply & 1)
    if tb.const[PLIES] != DEPTH_CAP:
        tag = np.uint64(6 + ply)
    k = np.uint64(disc) * np.uint64(tb.const[CODES]) + np.uint64(ko)
    return packed_key(k, hand, ci, oci, osize, km, tag, tb)


@compiled
def coarse_key(
    hand: int, disc: int, ci: int, oci: int, osize: int, km: int, ply: int, tb: Tables
) -> Any:
    """Key of the mover's state with a summary of the unseen cards instead of the discards.

    Of what is known because of swaps only the other's cards are kept.
    """
    tag = np.uint64(1)
    if tb.const[FIRST_CI] != tb.const[SECOND_CI]:
        tag = np.uint64(4) + np.uint64(ply & 1)
    return packed_key(np.uint64(tb.bucket[hand + disc]), hand, ci, oci, osize, km, tag, tb)


@compiled
def state_key(
    hand: int, disc: int, ci: int, oci: int, osize: int, km: int, ko: int, ply: int, tb: Tables
) -> Any:
    """The fine key early on, the coarse one later."""
    if ply < tb.const[FINE]:
        return fine_key(hand, disc, ci, oci, osize, km, ko, ply, tb)
    return coarse_key(hand, disc, ci, oci, osize, km, ply, tb)


@compiled
def is_coarse(key: Any, tb: Tables) -> Any:
    """Whether a key is that of a coarse state."""
    tag = key % np.uint64(tb.const[TAGS])
    return tag == 1 or tag == 4 or tag == 5


@compiled
def hand_at(key: int, tb: Tables) -> Any:
    """The mover's hand, from the key of a state."""
    low = np.uint64(8 * tb.const[CI_BASE] * tb.const[CI_BASE])
    return key // np.uint64(tb.const[TAGS]) // low % np.uint64(tb.const[CODES])


@compiled
def moves_at(key: int, tb: Tables) -> Any:
    """Number of moves at a stored state, from the hands inside its key."""
    if key // np.uint64(tb.const[TAGS]) % np.uint64(8) > 0:
        return tb.total_actions[hand_at(key, tb)]
    return tb.plain_actions[hand_at(key, tb)]


@compiled
def slot_of(key: int, st: Store) -> Any:
    """Slot holding the key, or the free slot where it belongs."""
    mask = np.uint64(st.keys.shape[0] - 1)
    h = key * np.uint64(0x9E3779B97F4A7C15)
    slot = (h ^ (h >> np.uint64(29))) & mask
    while st.keys[slot] != 0 and st.keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled
def stored_slot(
    hand: int, disc: int, ci: int, oci: int, osize: int, km: int, ko: int, ply: int, tb: Tables,
    st: Store,
) -> Any:  # fmt: skip
    """Slot of the mover's state in a finished strategy: the fine one, or else the coarse one."""
    slot = slot_of(state_key(hand, disc, ci, oci, osize, km, ko, ply, tb), st)
    if st.keys[slot] == 0 and ply < tb.const[FINE]:
        slot = slot_of(coarse_key(hand, disc, ci, oci, osize, km, ply, tb), st)
    return slot


@compiled
def find_or_add(key: int, actions: int, st: Store) -> Any:
    """Pool offset of an information state, made on the first visit; -1 when the store is full."""
    slot = slot_of(key, st)
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
        slot = slot_of(keys[i], st)
        st.keys[slot] = keys[i]
        st.where[slot] = where[i]
    st.used[0] = keys.shape[0]


@compiled
def add_all(other: Store, tb: Tables, st: Store) -> None:
    """Add what another store has learned, state by state."""
    for slot in range(other.keys.shape[0]):
        key, begin = other.keys[slot], other.where[slot]
        if key == 0:
            continue
        cells = tb.total_actions[hand_at(key, tb)] + 1  # the last one counts visits
        at = find_or_add(key, cells, st)
        if at >= 0:
            st.pool[:, at : at + cells] += other.pool[:, begin : begin + cells]
