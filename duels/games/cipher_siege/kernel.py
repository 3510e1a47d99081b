"""Cipher Siege as a kernel: piles of cards as packed counts, moves by a table over hands.

A hand, the deck and the discard pile are each one word with six bits for each card value: the
count and, above it, a bit that stays clear. Playing cards is then one subtraction, and whether a
hand holds them all is one more (`compiled_rules.holds`).
"""

from __future__ import annotations

from duels.core.errors import DuelsError
from duels.games.cipher_siege.compiled_rules import (
    after_move,
    count_in,
    holds,
    refilled,
    remaining_word,
)
from duels.games.cipher_siege.encoding import WIDTH, packed, unpacked
from duels.games.cipher_siege.kernel_tables import (
    CARDS,
    CHOSEN,
    COUNT,
    DEALT,
    FIELDS,
    FIRST,
    GIVE,
    GUARD,
    INTEGRITY,
    KIND,
    LIMIT,
    MOVES,
    NUMBER,
    PASS,
    PLAYED,
    RANKS,
    ROWS,
    VALUES,
    WORTH,
    Rules,
    hand_number,
    rules,
)  # fmt: skip
from duels.games.cipher_siege.rules import ATTACK, DEFEND, SWAP, CipherSiege, State
from duels.kernels import GOING_ON, Array, Kernel, Scalar, compiled, imported_on_call
from duels.kernels.random_streams import CHANCE, PICKS, below

MOVER, PHASE, OFFERED, CI, HAND, SIZE = 1, 2, 3, 4, 6, 8  # CI, HAND and SIZE are two columns each
DECK, DECK_SIZE, DISCARD, DISCARD_SIZE = 10, 11, 12, 13
ROW = 14  # the row of the table that lists the legal moves; computed from the rest
KNOWN = 15  # two columns: cards each player is known to hold because of swaps
LAST = 17  # two columns: each player's last action plus 1, except the card given in a swap
COLUMNS = 19
PHASES = ("act", "swap", "draw")  # `draw` only if there was no card to draw
ACT, SWAPPING, DRY = range(3)


def pack(game: CipherSiege, state: State) -> tuple[int, ...]:
    piles, swapping = (state.deck, state.discard), state.phase == "swap"
    own, other = state.hands[:: -1 if swapping ^ state.mover else 1]
    kind = 2 if swapping else int(len(own) <= game.limit and bool(other))
    return (
        state.mover, PHASES.index(state.phase), state.offered, *state.ci,
        *map(packed, state.hands), *map(len, state.hands),
        *(number for pile in piles for number in (packed(pile), len(pile))),
        3 * hand_number(own, game.values, game.limit + 1) + kind, 0, 0, 0, 0,
    )  # fmt: skip


def unpack(game: CipherSiege, row: tuple[int, ...]) -> State:
    mover, phase, offered, one, two, mine, theirs, few, many, deck, left, discard, used, *_ = row
    hands, piles = (unpacked(mine), unpacked(theirs)), (unpacked(deck), unpacked(discard))
    if (few, many, left, used) != tuple(map(len, hands + piles)):
        raise DuelsError("the row is not a valid state: its cards are not those of the game")
    return State((one, two), hands, *piles, mover, PHASES[phase], offered)


@compiled
def nth_card(rules: Rules, pile: int, k: int) -> Scalar:
    """The value, from 0, of the k-th card of a pile, without branches."""
    value, seen = 0, 0
    for place in range(rules.words[VALUES]):
        seen += count_in(pile, place)
        value += seen <= k
    return value


@compiled
def draw(rules: Rules, state: Array, streams: Array, i: int) -> None:
    """Draw a card for the mover, if there is any."""
    deck, state[i, DISCARD] = refilled(state[i, DECK], state[i, DISCARD], 0)
    left, state[i, DISCARD_SIZE] = refilled(state[i, DECK_SIZE], state[i, DISCARD_SIZE], 0)
    if left == 0:  # the deck was and stays empty
        state[i, PHASE] = DRY
        return
    card = 1 << (WIDTH * nth_card(rules, deck, below(streams, i, CHANCE, left)))
    state[i, DECK] = deck - card
    state[i, DECK_SIZE] = left - 1
    state[i, HAND + state[i, MOVER]] += card
    state[i, SIZE + state[i, MOVER]] += 1
    state[i, PHASE] = ACT


@compiled
def mover(rules: Rules, state: Array, i: int) -> Scalar:
    return state[i, MOVER] ^ (state[i, PHASE] == SWAPPING)


@compiled
def find_row(rules: Rules, state: Array, i: int) -> None:
    """Set the row of the table that lists the legal moves."""
    player = mover(rules, state, i)
    number, room, most = 0, rules.words[LIMIT] + 1, rules.words[LIMIT] + 2
    hand, at = state[i, HAND + player], rules.words[RANKS]
    for value in range(rules.words[VALUES]):
        held = count_in(hand, value)
        number += rules.words[at + (value * most + room) * most + held]
        room -= held
    may_swap = (state[i, SIZE + player] <= rules.words[LIMIT]) & (state[i, SIZE + 1 - player] > 0)
    state[i, ROW] = 3 * number + (2 if state[i, PHASE] == SWAPPING else int(may_swap))


@compiled
def begin(rules: Rules, state: Array, streams: Array, i: int) -> None:
    state[i, OFFERED] = state[i, DISCARD] = state[i, DISCARD_SIZE] = 0
    state[i, CI], state[i, CI + 1] = rules.words[INTEGRITY], rules.words[INTEGRITY + 1]
    state[i, DECK], state[i, DECK_SIZE] = rules.words[CARDS], rules.words[NUMBER]
    for player in range(2):
        state[i, HAND + player] = state[i, SIZE + player] = state[i, KNOWN + player] = 0
        state[i, LAST + player] = 0
    for dealt in range(2 * rules.words[DEALT]):
        state[i, MOVER] = rules.words[FIRST] ^ (dealt & 1)
        draw(rules, state, streams, i)
    state[i, MOVER] = rules.words[FIRST]
    draw(rules, state, streams, i)
    find_row(rules, state, i)


@compiled
def legal(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    at = rules.words[MOVES] + FIELDS * action
    kind = rules.words[at + KIND]
    own, other = state[i, SIZE + player], state[i, SIZE + 1 - player]
    # `&` and `|`, not `and` and `or`: branches on a random move would be mispredicted.
    asked = (kind == GIVE) == (state[i, PHASE] == SWAPPING)
    may_swap = (kind != SWAP) | ((own <= rules.words[LIMIT]) & (other > 0))
    may_pass = (kind != PASS) | (own == 0)
    held = holds(state[i, HAND + player], rules.words[at + PLAYED], rules.words[GUARD])
    return asked & may_swap & may_pass & held


@compiled
def choose(rules: Rules, state: Array, streams: Array, i: int, player: int) -> Scalar:
    at = rules.words[ROWS] + 2 * state[i, ROW]
    begin, end = rules.words[at], rules.words[at + 1]
    return rules.words[begin + below(streams, i, PICKS, end - begin)]


@compiled
def exchange(rules: Rules, state: Array, i: int, mover: int, given: int, taken: int) -> None:
    state[i, HAND + mover] += taken - given
    state[i, HAND + 1 - mover] += given - taken
    state[i, OFFERED] = 0
    guard, known, other = rules.words[GUARD], KNOWN + mover, KNOWN + 1 - mover
    state[i, known] = remaining_word(state[i, known], given, guard) + taken
    state[i, other] = remaining_word(state[i, other], taken, guard) + given


@compiled
def play(rules: Rules, state: Array, streams: Array, i: int, action: int, unused: int) -> Scalar:
    mover = state[i, MOVER]
    other = 1 - mover
    at = rules.words[MOVES] + FIELDS * action
    kind, cards, worth = rules.words[at + KIND], rules.words[at + PLAYED], rules.words[at + WORTH]
    if kind != GIVE:
        state[i, LAST + mover] = action + 1
    if kind == GIVE:
        exchange(rules, state, i, mover, 1 << (WIDTH * (state[i, OFFERED] - 1)), cards)
    elif kind == SWAP and rules.words[CHOSEN]:
        state[i, PHASE] = SWAPPING
        state[i, OFFERED] = worth
        find_row(rules, state, i)
        return GOING_ON
    elif kind == SWAP:
        k = below(streams, i, CHANCE, state[i, SIZE + other])
        taken = 1 << (WIDTH * nth_card(rules, state[i, HAND + other], k))
        exchange(rules, state, i, mover, cards, taken)
    else:
        known = state[i, KNOWN + mover]
        state[i, KNOWN + mover] = remaining_word(known, cards, rules.words[GUARD])
        state[i, HAND + mover] -= cards
        state[i, SIZE + mover] -= rules.words[at + COUNT]
        state[i, DISCARD] += cards
        state[i, DISCARD_SIZE] += rules.words[at + COUNT]
        cap = rules.words[INTEGRITY + mover]
        state[i, CI + mover], state[i, CI + other] = after_move(
            kind, worth, state[i, CI + mover], state[i, CI + other], cap
        )
    state[i, MOVER] = other
    if state[i, CI + other] <= 0:
        state[i, PHASE] = DRY  # no card is left to draw
        return mover
    draw(rules, state, streams, i)
    find_row(rules, state, i)
    return GOING_ON


@compiled
def mask(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    row = out[i, s]  # a separate slice, so that the compiler vectorises the loop
    if rules.masks.shape[0] > 0:
        marks = rules.masks[state[i, ROW]]
        for action in range(marks.shape[0]):
            row[action] = marks[action]
    else:
        row[:] = 0
        at = rules.words[ROWS] + 2 * state[i, ROW]
        for place in range(rules.words[at], rules.words[at + 1]):
            row[rules.words[place]] = 1


@compiled
def packed_mask(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    row = out[i, s]
    if rules.packed.shape[0] > 0:
        marks = rules.packed[state[i, ROW]]
        for byte in range(marks.shape[0]):
            row[byte] = marks[byte]
    else:
        row[:] = 0
        at = rules.words[ROWS] + 2 * state[i, ROW]
        for place in range(rules.words[at], rules.words[at + 1]):
            row[rules.words[place] >> 3] |= 1 << (rules.words[place] & 7)


@compiled
def observe(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    n, mover = rules.words[VALUES], state[i, MOVER]
    hand, discard = state[i, HAND + player], state[i, DISCARD]
    out[i, s, 0] = max(0, state[i, CI + player])
    out[i, s, 1] = max(0, state[i, CI + 1 - player])
    for value in range(n):
        out[i, s, 2 + value] = count_in(hand, value)
        out[i, s, 4 + n + value] = count_in(discard, value)
    out[i, s, 2 + n] = state[i, SIZE + 1 - player]
    out[i, s, 3 + n] = state[i, DECK_SIZE]
    out[i, s, 4 + 2 * n] = mover == player
    out[i, s, 5 + 2 * n] = state[i, OFFERED] if mover == player else 0
    out[i, s, 6 + 2 * n] = state[i, PHASE] == SWAPPING
    if out.shape[2] > 7 + 2 * n:
        recall(rules, state, i, player, out[i, s, 7 + 2 * n :])


@compiled
def recall(rules: Rules, state: Array, i: int, player: int, out: Array) -> None:
    """The numbers of `CipherSiege.recall`, for observations with memory."""
    n = rules.words[VALUES]
    for side in range(2):  # those of the other player first
        who = player ^ 1 ^ side
        known, action = state[i, KNOWN + who], state[i, LAST + who] - 1
        kind, total = PASS, 0
        if action >= 0:
            at = rules.words[MOVES] + FIELDS * action
            kind = rules.words[at + KIND]
            for value in range(n):
                total += (value + 1) * (count_in(rules.words[at + PLAYED], value))
        for value in range(n):
            out[n * side + value] = count_in(known, value)
        out[2 * n + 2 * side] = total * (kind == ATTACK)
        out[2 * n + 2 * side + 1] = total * (kind == DEFEND)
        out[2 * n + 4 + side] = kind == SWAP


KERNEL = Kernel(
    CipherSiege, COLUMNS, "int64", rules, lambda game: False, pack, unpack,
    begin, mover, legal, choose, play, mask, observe,
    imported_on_call("duels.games.cipher_siege.opponents:chooser"), packed_mask,
    aivat_evaluator=imported_on_call("duels.games.cipher_siege.aivat:aivat_evaluator"),
)  # fmt: skip
