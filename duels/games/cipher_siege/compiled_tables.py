"""Tables of hands and their moves by code (`encoding.py`), for training and bounds."""

from __future__ import annotations

from operator import mul
from typing import Any, NamedTuple

from duels.algorithms.compiled import Array, compiled, np
from duels.algorithms.solution import Unsolved
from duels.games.cipher_siege.encoding import CardEncoding, cards_in, hand_moves
from duels.games.cipher_siege.infostate import CHOSEN, TAGS, unseen_bucket
from duels.games.cipher_siege.rules import ATTACK, SWAP, CipherSiege, worth
from duels.kernels.random_streams import GOLDEN, finalize

DEPTH_CAP = 60  # turns; a game this long counts as a draw in training (practically never reached)
MAX_ACTIONS = 255  # the strategy's table stores the number of a move in a byte

# Indices of `Tables.const`.
VALUES, DEALT, FIRST_CI, SECOND_CI, FULL, FINE, CODES, CI_BASE, PLIES, KEY_TAGS = range(10)


def check_size(game: CipherSiege) -> None:
    """Raise `Unsolved` if the variant is too large for the compiled code."""
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
            "large together: an information state must fit in 64 bits"
        )


class Tables(NamedTuple):
    """Tables by code, of which there are `(copies + 1) ** values`; a hand's moves are rows."""

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
    """The tables of one variant in which Player 1 begins.

    `fine_plies` is the number of turns that use the fine abstraction. After `cap` turns a game
    counts as a draw; with a small cap the game tree is finite, and the turn is part of the
    information state.
    """
    check_size(game)
    encoding = CardEncoding(game)
    codes, radix = encoding.space, [*encoding.radix]
    counts = [encoding.counts(code) for code in range(codes)]
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
    kind, sub, strength = np.array(rows, dtype=np.int64).T
    digit = np.array(counts, dtype=np.int64)
    const = [
        game.values, game.hand, *game.integrity, encoding.pack, fine_plies, codes,
        max(game.integrity) + 1, cap, TAGS if cap == DEPTH_CAP else cap + TAGS,
    ]  # fmt: skip
    return Tables(
        np.array(radix, dtype=np.int64), digit, digit.sum(axis=1), start, total, plain_actions,
        np.ascontiguousarray(kind), np.ascontiguousarray(sub), np.ascontiguousarray(strength),
        largest, largest_row,
        np.array([unseen_bucket(held, game.copies) for held in counts], dtype=np.int64),
        np.array(const, dtype=np.int64),
    )  # fmt: skip


def hand_rows(
    held: tuple[int, ...], radix: list[int], may_swap: bool
) -> tuple[list[tuple[int, int, int]], int, int, int]:
    """A hand's moves (kind, cards, worth), how many are not swaps, and its largest attack."""
    moves = [move for move in hand_moves(held) if may_swap or move[0] != SWAP]
    rows = [(k, sum(map(mul, played, radix)), worth(k, cards_in(played))) for k, played in moves]
    damage = [dealt if kind == ATTACK else 0 for kind, _, dealt in rows]
    best = max(damage)
    return rows, sum(kind != SWAP for kind, _, _ in rows), best, damage.index(best)


@compiled
def next_u64(rng: Array) -> Any:
    """SplitMix64, whose state is one word that fits in a checkpoint."""
    rng[0] += np.uint64(GOLDEN)
    return finalize(rng[0])


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
def move_count(hand: int, other_size: int, tb: Tables) -> Any:
    """How many moves a hand has: swaps come last and need an opposing card."""
    return tb.total_actions[hand] if other_size > 0 else tb.plain_actions[hand]
