"""Tables of hands and odds of draws, and buffers, for a best response on the public tree.

Both cards of a swap are known to both players, so only dealt and drawn cards are private. The deck
is a random order of single cards, so the probability that the players drew their hands depends only
on how many cards of each value are out of the deck: both hands and the discards together.
`Geometry.odds` has that probability by the code of those cards. The remaining factors of the reach
probability are independent: one vector over the opponent's hands (the probability that its strategy
plays to this node) and one over the responder's hands (the number of orders of its draws).
"""

from __future__ import annotations

from math import factorial
from typing import Any, NamedTuple

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.compiled_tables import (
    CODES,
    DEALT,
    FIRST_CI,
    FULL,
    SECOND_CI,
    VALUES,
    Tables,
)
from duels.games.cipher_siege.encoding import cards_in
from duels.games.cipher_siege.rules import ATTACK, DEFEND, SWAP
from duels.games.cipher_siege.rules import worth as damage

LANE = 7  # bits for each value in `Geometry.wide`: enough for the sum of three multisets
LEVELS = 40  # nested turns; deeper nodes are leaves
SHUFFLES = 5  # nested reshuffles, likewise

# Fields of `Work.pub`: what both players see when one of them is about to draw.
# Sizes of the two hands, discards, CIs, cards each knows in the other's hand, turn, reshuffles.
MINE, THEIRS, DISC, CI, OCI, I_KNOW, THEY_KNOW, PLY, SHUF = range(9)
UPPER, LOWER = 0, 1
# How the bounds of a move were computed: from the opponent's next draw, its next turn, by search.
BY_NEXT_DRAW, BY_NEXT_TURN, BY_SEARCH = range(3)


class Geometry(NamedTuple):
    """Tables of hands, which are numbered in order of size."""

    code: Array  # i64[hands]
    index: Array  # i64[codes] number of a hand, or -1
    first: Array  # i64[sizes + 1] first hand of each size
    plus: Array  # i64[hands, values] hand with one more card, or -1
    minus: Array  # i64[hands, values] hand with one card less, or -1
    less: Array  # i64[hands, hands] hand without the cards of another, or -1
    top: Array  # i64[hands] index of the highest card
    worth: Array  # i64[hands] damage of an attack with the whole hand
    wide: Array  # i64[codes] the digits in lanes of bits
    odds: Array  # f64[SHUFFLES, codes] probability of the cards out of the deck, in their order
    const: Array  # i64[4] seat, most cards at the end of a turn, bias, high bits of the lanes


SEAT, LIMIT, BIAS, HIGH = range(4)


class Work(NamedTuple):
    """Buffers by level."""

    pub: Array  # i64[LEVELS, 9]
    name: Array  # u64[LEVELS] of the public history
    other: Array  # f64[LEVELS, hands] weight of the opponent's hands
    own: Array  # f64[LEVELS, hands] numbers of orders of the responder's draws
    out: Array  # f64[LEVELS, 2, hands] bounds on the responder's score, times all chances
    drawn: Array  # f64[LEVELS, hands] weights of the mover's hands after the draw
    best: Array  # f64[LEVELS, 2, hands] best of the moves so far
    wanted: Array  # f64[LEVELS, hands] weights of the hands for which a move is searched
    pick: Array  # i64[LEVELS, hands] the move of the best lower bound
    q: Array  # f64[LEVELS, acts, 2, widest] bounds of each move of the responder
    bounded_by: Array  # i8[LEVELS, acts, widest] how the move's bounds were computed, see above
    tally: Array  # f64[LEVELS, acts] by how much a move's bound exceeds those of searched moves
    acts: Array  # i64[LEVELS, acts] the moves of all hands of the responder
    edge_event: Array  # i32[LEVELS, edges]
    edge_hand: Array  # i32[LEVELS, edges]
    edge_next: Array  # i32[LEVELS, edges]
    edge_weight: Array  # f64[LEVELS, edges]
    head: Array  # i32[LEVELS, events] first edge of an event, or -1
    survive: Array  # f64[hands, 2 * values + 2]
    total: Array  # f64[2 * values + 1]
    codes: Array  # i64[2, hands] packed lists of the opponent's hands, before and after a draw:
    wides: Array  # i64[2, hands] codes and lanes with the discards,
    weights: Array  # f64[hands] weights before,
    columns: Array  # f64[hands, 2 * values + 1] and after
    strategies: (
        Array  # f64[4, 256] mixed strategies of both players; values of moves, and their games
    )
    state: Array  # i64[11] a state of a game, as a responder sees it
    count: Array  # i64[2] numbers of searched choices of the responder, and of leaves


def geometry(tb: Tables, seat: int, limit: int) -> Geometry:
    """The tables for one variant and one seat of the responder."""
    codes, values = int(tb.const[CODES]), int(tb.const[VALUES])
    hands = sorted((c for c in range(codes) if tb.size[c] <= limit + 1), key=lambda c: tb.size[c])
    code = np.array(hands, dtype=np.int64)
    index = np.full(codes, -1, dtype=np.int64)
    index[code] = np.arange(len(code))
    digit, copies = tb.digit[code], int(tb.digit[tb.const[FULL], 0])
    sizes = tb.size[code]
    first = np.searchsorted(sizes, np.arange(limit + 3))
    plus = np.full((len(code), values), -1, dtype=np.int64)
    minus = plus.copy()
    for v in range(values):
        more = (digit[:, v] < copies) & (sizes <= limit)
        plus[more, v] = index[code[more] + tb.radix[v]]
        some = digit[:, v] > 0
        minus[some, v] = index[code[some] - tb.radix[v]]
    holds = (digit[:, None, :] >= digit[None, :, :]).all(axis=2)
    less = np.where(holds, index[np.where(holds, code[:, None] - code[None, :], 0)], -1)
    top = np.where(digit > 0, np.arange(values)[None, :], 0).max(axis=1)
    worth = [damage(ATTACK, cards_in(held)) if any(held) else 0 for held in digit.tolist()]
    lanes = np.array([1 << LANE * v for v in range(values)], dtype=np.int64)
    wide = (tb.digit * lanes[None, :]).sum(axis=1)
    bias = int((63 - copies) * lanes.sum())
    odds = np.zeros((SHUFFLES, codes))
    made = Geometry(
        code, index, first, plus, minus, less, top, np.array(worth, dtype=np.int64), wide, odds,
        np.array([seat, limit, bias, int(64 * lanes.sum())], dtype=np.int64),
    )  # fmt: skip
    fill_odds(0, int(tb.const[FULL]), tb, made)
    return made


@compiled
def fill_odds(shuffle: int, deck: int, tb: Tables, geo: Geometry) -> None:
    """Fill the odds of draws from a deck: by the cards out of it and those never in it."""
    full = tb.const[FULL]
    n = tb.size[deck]
    for code in range(tb.const[CODES]):
        chance = 1.0
        drawn = 0
        for v in range(tb.const[VALUES]):
            have = tb.digit[deck, v]
            gone = tb.digit[code, v] - (tb.digit[full, v] - have)
            if gone < 0:
                chance = 0.0
                break
            for i in range(gone):
                chance *= (have - i) / (n - drawn)
                drawn += 1
        geo.odds[shuffle, code] = chance


def work(tb: Tables, geo: Geometry) -> Work:
    """Empty buffers; the system allocates memory only for the levels that a search reaches."""
    hands, values = geo.plus.shape
    widest = int(np.diff(geo.first).max())
    acts = hands + 2 * values
    events = hands + values + values * values
    edges = widest * int(tb.total_actions.max() + values * values)
    level = LEVELS
    return Work(
        np.zeros((level, 9), dtype=np.int64), np.zeros(level, dtype=np.uint64),
        np.zeros((level, hands)), np.zeros((level, hands)), np.zeros((level, 2, hands)),
        np.zeros((level, hands)), np.zeros((level, 2, hands)),
        np.zeros((level, hands)), np.zeros((level, hands), dtype=np.int64),
        np.zeros((level, acts, 2, widest)), np.zeros((level, acts, widest), dtype=np.int8),
        np.zeros((level, acts)), np.zeros((level, acts), dtype=np.int64),
        np.zeros((level, edges), dtype=np.int32), np.zeros((level, edges), dtype=np.int32),
        np.zeros((level, edges), dtype=np.int32), np.zeros((level, edges)),
        np.full((level, events), -1, dtype=np.int32),
        np.zeros((hands, 2 * values + 2)), np.zeros(2 * values + 1),
        np.zeros((2, hands), dtype=np.int64), np.zeros((2, hands), dtype=np.int64),
        np.zeros(hands), np.zeros((hands, 2 * values + 1)),
        np.zeros((4, 256)), np.zeros(11, dtype=np.int64), np.zeros(2, dtype=np.int64),
    )  # fmt: skip


def set_root(tb: Tables, geo: Geometry, wk: Work) -> None:
    """Set the root: every deal, in all its orders."""
    seat, dealt = int(geo.const[SEAT]), int(tb.const[DEALT])
    ci = (int(tb.const[FIRST_CI]), int(tb.const[SECOND_CI]))
    wk.pub[0] = dealt, dealt, 0, ci[seat], ci[1 - seat], 0, 0, 0, 0
    wk.name[0] = 1
    wk.other[0] = wk.own[0] = 0.0
    for hand in range(int(geo.first[dealt]), int(geo.first[dealt + 1])):
        orders = factorial(dealt)
        for count in tb.digit[geo.code[hand]]:
            orders //= factorial(int(count))
        wk.other[0, hand] = wk.own[0, hand] = orders


# Loops instead of slices, which would make compiling the search take a quarter longer.


@compiled
def fill(row: Array, begin: int, end: int, value: float) -> None:
    for i in range(begin, end):
        row[i] = value


@compiled
def copy(source: Array, target: Array, begin: int, end: int) -> None:
    for i in range(begin, end):
        target[i] = source[i]


@compiled
def set_both(bounds: Array, hand: int, value: float) -> None:
    """Set both bounds of a hand."""
    bounds[UPPER, hand] = value
    bounds[LOWER, hand] = value


@compiled
def copy_both(source: Array, target: Array, begin: int, end: int) -> None:
    """Copy both bounds of some hands."""
    for hand in range(begin, end):
        target[UPPER, hand] = source[UPPER, hand]
        target[LOWER, hand] = source[LOWER, hand]


@compiled
def odds_of(own: int, other: int, disc: int, shuffle: int, geo: Geometry) -> Any:
    """The probability of both hands and the discards; 0 if there are not enough cards."""
    a, b = geo.code[own], geo.code[other]
    if (geo.wide[a] + geo.wide[b] + geo.wide[disc] + geo.const[BIAS]) & geo.const[HIGH]:
        return 0.0
    return geo.odds[shuffle, a + b + disc]


@compiled
def may_act(hand: int, act: int, geo: Geometry) -> Any:
    """Whether a hand contains the cards of a move."""
    hands, values = geo.plus.shape
    if act < hands:
        return geo.less[hand, act] >= 0
    return geo.minus[hand, (act - hands) % values] >= 0


@compiled
def deck_size(p: Array, tb: Tables) -> Any:
    """How many cards are left to draw in a public state."""
    return tb.size[tb.const[FULL]] - p[MINE] - p[THEIRS] - tb.size[p[DISC]]


@compiled
def move_of_act(act: int, tb: Tables, geo: Geometry) -> tuple[int, int]:
    """A move of the responder as its kind and the code of its cards."""
    hands, values = geo.plus.shape
    if act < hands:
        return ATTACK, geo.code[act]
    return DEFEND if act < hands + values else SWAP, tb.radix[(act - hands) % values]


@compiled
def event_of(kind: int, sub: int, got: int, tb: Tables, geo: Geometry) -> Any:
    """The number of a public event: cards played in an attack, a defence, or a swap's two cards."""
    hands, values = geo.plus.shape
    if kind == ATTACK:
        return geo.index[sub]
    card = geo.top[geo.index[sub]]
    if kind == DEFEND:
        return hands + card
    return hands + values + card * values + geo.top[geo.index[got]]
