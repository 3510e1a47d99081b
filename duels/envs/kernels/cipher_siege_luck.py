"""What choices in Cipher Siege are worth with both hands open, compiled: `duels.solve.siege.guess`.

The network's hidden layer is a sum over the parts of a state, so the parts are tables: of every
hand on either side, of both CIs with who plays, and of a card in the deck. What a choice is worth
is an average over the card that a swap brings and the one that is drawn then.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import NamedTuple

from duels.envs.kernels import Array, Scalar, Weigh, Weighed, apart, compiled, keep, np
from duels.envs.kernels.cipher_siege import (
    CI,
    DECK,
    DECK_SIZE,
    DISCARD,
    DISCARD_SIZE,
    HAND,
    MOVER,
    ROW,
    SIZE,
)
from duels.envs.kernels.cipher_siege_players import gain, stored
from duels.envs.kernels.cipher_siege_strategy import Hands, Playing, hands, playing
from duels.envs.kernels.cipher_siege_table import (
    ATTACK,
    COUNT,
    DEFEND,
    FIELD,
    FIELDS,
    INTEGRITY,
    KIND,
    MOVES,
    PLAYED,
    ROWS,
    SWAP,
    VALUES,
    WIDTH,
    WORTH,
    Rules,
    rules,
)
from duels.envs.kernels.cipher_siege_worths import regrets
from duels.games.cipher_siege import CipherSiege
from duels.solve.siege.guess import CIS, OTHER, OWN, Guess, find_guess, kind
from duels.solve.siege.guess import DECK as DECKED

RANDOM, GREEDY, KNOWS = range(3)  # how a player chooses

if np is not None:
    _EIGHT, _BYTE = np.uint64(8), np.uint64(255)


class Net(NamedTuple):
    """What each part of a state adds to the hidden layer, and how that makes a value."""

    own: Array  # by the code of a hand: its counts as digits of base `copies + 1`
    other: Array
    cis: Array  # by the seat that moves, its CI and the other CI, with who plays and the one
    card: Array  # of one card in the deck, by its value; the last row is no card
    out: Array
    shift: float
    base: int


@compiled
def code_of(net: Net, cards: int) -> Scalar:
    code = 0
    for place in range(net.card.shape[0] - 1):
        code = code * net.base + ((cards >> (WIDTH * place)) & FIELD)
    return code


@compiled
def lay(net: Net, mover: int, other: int, ci: int, other_ci: int, deck: int, room: Array) -> None:
    """What all parts of a state but the mover's hand add to the hidden layer."""
    theirs = code_of(net, other)
    for unit in range(room.shape[0]):
        room[unit] = net.other[theirs, unit] + net.cis[mover, ci, other_ci, unit]
    for place in range(net.card.shape[0] - 1):
        held = (deck >> (WIDTH * place)) & FIELD
        for unit in range(room.shape[0]):
            room[unit] += held * net.card[place, unit]


@compiled
def guess(net: Net, own: int, drawn: int, room: Array) -> Scalar:
    """What a state is worth to who moves; `drawn` is a card that is no longer in the deck."""
    mine, total = code_of(net, own), net.shift
    for unit in range(room.shape[0]):
        hidden = room[unit] + net.own[mine, unit] - net.card[drawn, unit]
        total += max(hidden, 0.0) * net.out[unit]
    return 1.0 / (1.0 + np.exp(-total))


@apart
def drawing(
    net: Net, mover: int, own: int, other: int, ci: int, other_ci: int, deck: int, size: int,
    discard: int, used: int, room: Array,
) -> Scalar:  # fmt: skip
    """What a state is worth to a player who is about to draw, on average over the card."""
    if size == 0:
        deck, size = discard, used
    lay(net, mover, other, ci, other_ci, deck, room)
    values = net.card.shape[0] - 1
    if size == 0:
        return guess(net, own, values, room)
    total = 0.0
    for place in range(values):
        held = (deck >> (WIDTH * place)) & FIELD
        if held > 0:
            total += held * guess(net, own + (1 << (WIDTH * place)), place, room)
    return total / size


@apart
def worth(rules: Rules, net: Net, state: Array, i: int, action: int, room: Array) -> Scalar:
    """What an action is worth to who plays it, on average over what chance then brings."""
    mover = state[i, MOVER]
    other = 1 - mover
    at = rules.words[MOVES] + FIELDS * action
    kind, cards, strength = (
        rules.words[at + KIND], rules.words[at + PLAYED], rules.words[at + WORTH]
    )  # fmt: skip
    own, theirs = state[i, HAND + mover], state[i, HAND + other]
    ci, target = state[i, CI + mover], state[i, CI + other]
    deck, size = state[i, DECK], state[i, DECK_SIZE]
    discard, used = state[i, DISCARD], state[i, DISCARD_SIZE]
    if kind == SWAP:
        total = 0.0
        for place in range(rules.words[VALUES]):
            held = (theirs >> (WIDTH * place)) & FIELD
            if held > 0:
                moved = (1 << (WIDTH * place)) - cards
                total += held * drawing(
                    net, other, theirs - moved, own + moved, target, ci, deck, size, discard, used,
                    room,
                )  # fmt: skip
        return 1.0 - total / state[i, SIZE + other]
    if kind == ATTACK:
        target -= strength
        if target <= 0:
            return 1.0
    elif kind == DEFEND:
        ci = min(rules.words[INTEGRITY + mover], ci + strength)
    return 1.0 - drawing(
        net, other, theirs, own - cards, target, ci, deck, size, discard + cards,
        used + rules.words[at + COUNT], room,
    )  # fmt: skip


@apart
def shares(
    rules: Rules, kind: int, hands: Hands, own: Playing, state: Array, i: int, out: Array
) -> Scalar:
    """How likely each move of a row's list is; how many there are."""
    row, player = state[i, ROW], state[i, MOVER]
    at = rules.words[ROWS] + 2 * row
    begin, n = rules.words[at], rules.words[at + 1] - rules.words[at]
    attacks, ci = hands.attacks[row], state[i, CI + 1 - player]
    wins = top = 0
    for k in range(n):
        action = rules.words[begin + k]
        out[k] = 0.0
        strength = rules.words[rules.words[MOVES] + FIELDS * action + WORTH]
        if k < attacks and strength >= ci:
            wins += 1
            out[k] = 1.0
    if kind == RANDOM or attacks == 0:
        out[:n] = 1.0 / n
    elif wins > 0:  # `win`, or the greedy one
        erring = 0.0 if kind == GREEDY or wins == n else own.share * (n - wins) / n
        for k in range(n):
            out[k] = (1.0 - erring) / wins if out[k] > 0.0 else erring / max(1, n - wins)
    elif kind == GREEDY:
        for k in range(n):
            if gain(rules, state, i, player, rules.words[begin + k]) == hands.damage[row]:
                top += 1
                out[k] = 1.0
        for k in range(n):
            out[k] /= top
    else:
        slot = stored(own, state, i, player)
        if own.found[slot, 0] == 0:  # `one_or_other`
            out[:n] = own.share / n
            out[hands.best[row]] = 1.0 - own.share * (n - 1) / n
        else:
            place = np.int64(own.found[slot, 1] >> _EIGHT)
            last = place + np.int64(own.found[slot, 1] & _BYTE)
            whole, below = np.float64(own.sums[last]), np.float64(0.0)
            while place <= last:
                out[own.moves[place]] = (own.sums[place] - below) / whole
                below = np.float64(own.sums[place])
                place += 1
    return n


@keep
@compiled
def weigh(
    rules: Rules, net: Net, kinds: Array, hands: Hands, one: Playing, two: Playing, state: Array,
    mix: Array, room: Array, value: Array, expected: Array,
) -> None:  # fmt: skip
    for i in range(state.shape[0]):
        mover = state[i, MOVER]
        own, theirs = state[i, HAND + mover], state[i, HAND + 1 - mover]
        lay(
            net, mover, theirs, state[i, CI + mover], state[i, CI + 1 - mover], state[i, DECK], room
        )
        value[i] = guess(net, own, net.card.shape[0] - 1, room)
        n = shares(rules, kinds[mover], hands, one if mover == 0 else two, state, i, mix)
        begin = rules.words[rules.words[ROWS] + 2 * state[i, ROW]]
        total = 0.0
        for k in range(n):
            if mix[k] > 0.0:
                total += mix[k] * worth(rules, net, state, i, rules.words[begin + k], room)
        expected[i] = total
        if mover == 1:
            value[i], expected[i] = 1.0 - value[i], 1.0 - total


@lru_cache(maxsize=64)
def net_of(game: CipherSiege, players: tuple[str, str]) -> Net:
    """The network between two players, as tables."""
    found = find_guess(game)
    assert found is not None
    return tabled(game, found, players)


def tabled(game: CipherSiege, found: Guess, players: tuple[str, str]) -> Net:
    base, most, kinds = game.copies + 1, max(game.integrity), [*map(kind, players)]
    held = [*product(range(base), repeat=game.values)]
    cards = [tuple(v + 1 for v, count in enumerate(h) for _ in range(count)) for h in held]
    own, other = (np.array([found.added(side, hand) for hand in cards]) for side in (OWN, OTHER))
    empty = np.array(found.added(DECKED, ()))
    cis = np.zeros((2, most + 1, most + 1, len(empty)))
    for mover, one, two in product((0, 1), range(1, most + 1), range(1, most + 1)):
        cis[mover, one, two] = found.added(CIS, (one, two, kinds[mover], kinds[1 - mover]))
    each = [found.added(DECKED, (value,)) for value in range(1, game.values + 1)]
    card = np.array([*each, empty]) - empty
    return Net(own, other, cis + empty, card, np.array(found.out), found.shift, base)


def weigher(game: CipherSiege, players: tuple[str, str]) -> Weigh | None:
    """Compiled, between built-in players, where there is a guess."""
    if find_guess(game) is None:
        return None
    net, table = net_of(game, players), rules(game)
    kinds = np.array([RANDOM if p == "random" else GREEDY if p == "greedy" else KNOWS
                      for p in players])  # fmt: skip
    one, two = (playing(game, p if k == KNOWS else "perfect")
                for p, k in zip(players, kinds, strict=True))  # fmt: skip
    mix, room = np.zeros(len(game.moves())), np.zeros(len(net.out))

    def weighed(rows: Array, actions: Array) -> Weighed:
        value, expected = np.empty(len(rows)), np.empty(len(rows))
        weigh(table, net, kinds, hands(game), one, two, rows, mix, room, value, expected)
        return Weighed(value, expected, regrets(game, rows, actions))

    return weighed
