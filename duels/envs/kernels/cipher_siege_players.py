"""The built-in opponents of Cipher Siege, in compiled code over the strategy's table.

What `duels.solve.cipher_siege` finds out from a player's history is kept in the state: the cards
that each is known to hold because of swaps, and the decisions so far. The strategy numbers the
moves of a hand as the kernel's table lists them.
"""

from __future__ import annotations

from duels.envs.kernels import DECISIONS, Array, Chooser, Scalar, compiled, np
from duels.envs.kernels.cipher_siege import (
    CI,
    DISCARD,
    HAND,
    KNOWN,
    PHASE,
    ROW,
    SIZE,
    SWAPPING,
    choose,
)
from duels.envs.kernels.cipher_siege_strategy import Hands, Playing, hands, playing, slot_of
from duels.envs.kernels.cipher_siege_table import (
    ATTACK,
    DEFEND,
    FIELD,
    FIELDS,
    INTEGRITY,
    KIND,
    MOVES,
    ROWS,
    WIDTH,
    WORTH,
    Rules,
)
from duels.envs.kernels.mixing import WHOLE, luck
from duels.envs.kernels.stream import PICKS, below
from duels.games.cipher_siege import CipherSiege

if np is not None:
    _EIGHT, _BYTE = np.uint64(8), np.uint64(255)


@compiled
def winning(rules: Rules, row: int, attacks: int, ci: int, nth: int) -> tuple[int, int]:
    """How many attacks of a row win at once, and the nth of them."""
    at, count, found = rules.words[rules.words[ROWS] + 2 * row], 0, 0
    for place in range(at, at + attacks):
        action = rules.words[place]
        if rules.words[rules.words[MOVES] + FIELDS * action + WORTH] >= ci:
            if count == nth:
                found = action
            count += 1
    return count, found


@compiled
def gain(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    at = rules.words[MOVES] + FIELDS * action
    kind, worth = rules.words[at + KIND], rules.words[at + WORTH]
    if kind == ATTACK:
        return worth
    room = rules.words[INTEGRITY + player] - state[i, CI + player]
    return min(worth, room) if kind == DEFEND else 0


@compiled
def greedy(rules: Rules, hands: Hands, state: Array, streams: Array, i: int, player: int) -> Scalar:
    row = state[i, ROW]
    attacks, top = hands.attacks[row], hands.damage[row]
    if state[i, PHASE] == SWAPPING or attacks == 0:
        return choose(rules, state, streams, i, player)
    if top >= state[i, CI + 1 - player]:
        count, _ = winning(rules, row, attacks, state[i, CI + 1 - player], -1)
        nth = below(streams, i, PICKS, count)
        return winning(rules, row, attacks, state[i, CI + 1 - player], nth)[1]
    # An attack with the highest card gains at least what any defence does.
    at = rules.words[ROWS] + 2 * row
    begin, end, count = rules.words[at], rules.words[at + 1], 0
    for place in range(begin, end):
        count += int(gain(rules, state, i, player, rules.words[place]) == top)
    nth = below(streams, i, PICKS, count)
    place = begin
    while True:
        nth -= int(gain(rules, state, i, player, rules.words[place]) == top)
        if nth < 0:
            return rules.words[place]
        place += 1


@compiled
def code_of(own: Playing, cards: int) -> Scalar:
    """Cards in six bits for each value, as the strategy's number for them."""
    code = 0
    for value in range(own.radix.shape[0]):
        code += ((cards >> (WIDTH * value)) & FIELD) * own.radix[value]
    return code


@compiled
def stored(own: Playing, state: Array, i: int, player: int) -> Scalar:
    """The place of what the strategy has for a player: as it is, else for all those like it."""
    other, choices = 1 - player, state[i, DECISIONS]
    hand, discard = code_of(own, state[i, HAND + player]), code_of(own, state[i, DISCARD])
    space, cap = np.uint64(own.bucket.shape[0]), np.uint64(own.cap)
    low = np.uint64(code_of(own, state[i, KNOWN + other])) * space + np.uint64(hand)
    ends = np.uint64(state[i, CI + player]) * cap + np.uint64(state[i, CI + other])
    ends = ends * np.uint64(8) + np.uint64(state[i, SIZE + other])
    turn = np.uint64(choices & 1)
    if choices < own.fine:
        known = np.uint64(code_of(own, state[i, KNOWN + player]))
        fine = (np.uint64(discard) * space + known) * space * space + low
        fine = (fine * cap * cap * np.uint64(8) + ends) * np.uint64(6) + np.uint64(2) + turn
        slot = slot_of(own.found, fine)
        if own.found[slot, 0] != 0:
            return slot
    tag = np.uint64(1) if own.even else np.uint64(4) + turn
    rough = np.uint64(own.bucket[hand + discard]) * space * space + low
    return slot_of(own.found, (rough * cap * cap * np.uint64(8) + ends) * np.uint64(6) + tag)


@compiled
def one_or_other(rules: Rules, row: int, best: int, share: float, streams: Array, i: int) -> Scalar:
    """A level where only the best move is known: the others are all alike."""
    at = rules.words[ROWS] + 2 * row
    begin, n = rules.words[at], rules.words[at + 1] - rules.words[at]
    if share == 0.0 or luck(streams, i) >= np.int64(share * (n - 1) / n * WHOLE):
        return rules.words[begin + best]
    place = below(streams, i, PICKS, n - 1)
    return rules.words[begin + place + int(place >= best)]


@compiled
def win(
    rules: Rules, row: int, attacks: int, ci: int, share: float, streams: Array, i: int
) -> Scalar:
    """A move of somebody who can win at once; a level may pass a win by."""
    at = rules.words[ROWS] + 2 * row
    begin, n = rules.words[at], rules.words[at + 1] - rules.words[at]
    count, _ = winning(rules, row, attacks, ci, -1)
    if share == 0.0 or luck(streams, i) >= np.int64(share * (n - count) / n * WHOLE):
        return winning(rules, row, attacks, ci, below(streams, i, PICKS, count))[1]
    nth = below(streams, i, PICKS, n - count)
    place = begin
    while True:
        action = rules.words[place]
        wins = place < begin + attacks and (
            rules.words[rules.words[MOVES] + FIELDS * action + WORTH] >= ci
        )
        nth -= int(not wins)
        if nth < 0:
            return action
        place += 1


@compiled
def informed(
    rules: Rules, own: Playing, state: Array, streams: Array, i: int, player: int
) -> Scalar:
    row, ci = state[i, ROW], state[i, CI + 1 - player]
    attacks = own.hands.attacks[row]
    if attacks == 0:  # an empty hand: pass
        return choose(rules, state, streams, i, player)
    if own.hands.damage[row] >= ci:
        return win(rules, row, attacks, ci, own.share, streams, i)
    slot = stored(own, state, i, player)
    if own.found[slot, 0] == 0:
        return one_or_other(rules, row, own.hands.best[row], own.share, streams, i)
    place = np.int64(own.found[slot, 1] >> _EIGHT)
    last = place + np.int64(own.found[slot, 1] & _BYTE)
    drawn = below(streams, i, PICKS, own.sums[last])
    while drawn >= own.sums[place]:
        place += 1
    return rules.words[rules.words[rules.words[ROWS] + 2 * row] + own.moves[place]]


def chooser(game: CipherSiege, opponent: str) -> Chooser | None:
    if opponent == "greedy":
        return Chooser(greedy, hands(game))
    return Chooser(informed, playing(game, opponent))
