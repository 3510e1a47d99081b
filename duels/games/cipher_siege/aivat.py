"""Compiled values of Cipher Siege states and moves with both hands open, for AIVAT.

The values are those of `value_network`. Its hidden layer is a sum over the parts of a state, so the
contribution of each part is tabulated: every hand of either player, both CIs with the kinds of
players, and each card in the deck. The value of a move is an expectation over the card that a swap
takes and the card drawn next.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import NamedTuple

from duels.games.cipher_siege.compiled_rules import after_move, code_of, count_in, refilled
from duels.games.cipher_siege.encoding import WIDTH, CardEncoding
from duels.games.cipher_siege.kernel import (
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
from duels.games.cipher_siege.kernel_strategy import (
    CompiledStrategy,
    HandAttacks,
    compiled_strategy,
    hand_attacks,
)
from duels.games.cipher_siege.kernel_tables import (
    COUNT,
    FIELDS,
    INTEGRITY,
    KIND,
    MOVES,
    PLAYED,
    ROWS,
    VALUES,
    WORTH,
    Rules,
    rules,
)
from duels.games.cipher_siege.opponents import gain, state_slot
from duels.games.cipher_siege.rules import SWAP, CipherSiege
from duels.games.cipher_siege.stored_values import regrets
from duels.games.cipher_siege.value_network import (
    CIS,
    OTHER,
    OWN,
    ValueNetwork,
    find_value_network,
    player_index,
)
from duels.games.cipher_siege.value_network import DECK as DECKED
from duels.kernels import (
    AivatEvaluator,
    AivatValues,
    Array,
    Scalar,
    cached,
    compiled,
    not_inlined,
    np,
)
from duels.kernels.policies import CARELESS_SHARE

RANDOM, GREEDY, KNOWS = range(3)  # kinds of policies; KNOWS follows the strategy table

if np is not None:
    _EIGHT, _BYTE = np.uint64(8), np.uint64(255)


class NetworkTables(NamedTuple):
    """The contribution of each part of a state to the hidden layer, and the output layer."""

    own: Array  # by the code of a hand
    other: Array
    cis: Array  # by the mover's seat, its CI and the other CI; players and bias included
    card: Array  # of one card in the deck, by its value; the last row is no card
    out: Array
    bias: float  # bias of the output
    radix: Array  # of the codes


@compiled
def add_parts(
    net: NetworkTables, mover: int, other: int, ci: int, other_ci: int, deck: int, layer: Array
) -> None:
    """Set the hidden layer to the contributions of all parts of a state except the mover's hand."""
    theirs = code_of(other, net.radix)
    for unit in range(layer.shape[0]):
        layer[unit] = net.other[theirs, unit] + net.cis[mover, ci, other_ci, unit]
    for place in range(net.card.shape[0] - 1):
        held = count_in(deck, place)
        for unit in range(layer.shape[0]):
            layer[unit] += held * net.card[place, unit]


@compiled
def state_value(net: NetworkTables, own: int, drawn: int, layer: Array) -> Scalar:
    """The value of a state to the mover; `drawn` is a card that is no longer in the deck."""
    mine, total = code_of(own, net.radix), net.bias
    for unit in range(layer.shape[0]):
        hidden = layer[unit] + net.own[mine, unit] - net.card[drawn, unit]
        total += max(hidden, 0.0) * net.out[unit]
    return 1.0 / (1.0 + np.exp(-total))


@not_inlined
def value_before_draw(
    net: NetworkTables, mover: int, own: int, other: int, ci: int, other_ci: int, deck: int,
    size: int, discard: int, used: int, layer: Array,
) -> Scalar:  # fmt: skip
    """The value of a state to a player who is about to draw, on average over the card."""
    deck, size = refilled(deck, discard, 0)[0], refilled(size, used, 0)[0]
    add_parts(net, mover, other, ci, other_ci, deck, layer)
    values = net.card.shape[0] - 1
    if size == 0:
        return state_value(net, own, values, layer)
    total = 0.0
    for place in range(values):
        held = count_in(deck, place)
        if held > 0:
            total += held * state_value(net, own + (1 << (WIDTH * place)), place, layer)
    return total / size


@not_inlined
def move_value(
    rules: Rules, net: NetworkTables, state: Array, i: int, action: int, layer: Array
) -> Scalar:
    """The value of an action to its player, averaged over the chance events that follow."""
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
            held = count_in(theirs, place)
            if held > 0:
                moved = (1 << (WIDTH * place)) - cards
                total += held * value_before_draw(
                    net, other, theirs - moved, own + moved, target, ci, deck, size, discard, used,
                    layer,
                )  # fmt: skip
        return 1.0 - total / state[i, SIZE + other]
    ci, target = after_move(kind, strength, ci, target, rules.words[INTEGRITY + mover])
    if target <= 0:
        return 1.0
    return 1.0 - value_before_draw(
        net, other, theirs, own - cards, target, ci, deck, size, discard + cards,
        used + rules.words[at + COUNT], layer,
    )  # fmt: skip


@not_inlined
def move_probabilities(
    rules: Rules,
    kind: int,
    hands: HandAttacks,
    own: CompiledStrategy,
    state: Array,
    i: int,
    out: Array,
) -> Scalar:
    """Write the probability of each legal move of a row to `out`; returns the number of moves."""
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
    elif wins > 0:  # as `opponents.win`, or greedy
        sure = kind == GREEDY or wins == n or own.share < CARELESS_SHARE
        erring = 0.0 if sure else own.share * (n - wins) / n
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
        slot = state_slot(own, state, i, player)
        if own.found[slot, 0] == 0:  # as `opponents.best_or_other`
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


@cached
def fill_values(
    rules: Rules, net: NetworkTables, kinds: Array, hands: HandAttacks, one: CompiledStrategy,
    two: CompiledStrategy, state: Array, chances: Array, layer: Array, value: Array,
    expected: Array,
) -> None:  # fmt: skip
    for i in range(state.shape[0]):
        mover = state[i, MOVER]
        own, theirs = state[i, HAND + mover], state[i, HAND + 1 - mover]
        ci, target, deck = state[i, CI + mover], state[i, CI + 1 - mover], state[i, DECK]
        add_parts(net, mover, theirs, ci, target, deck, layer)
        value[i] = state_value(net, own, net.card.shape[0] - 1, layer)
        strategy = one if mover == 0 else two
        n = move_probabilities(rules, kinds[mover], hands, strategy, state, i, chances)
        begin = rules.words[rules.words[ROWS] + 2 * state[i, ROW]]
        total = 0.0
        for k in range(n):
            if chances[k] > 0.0:
                action = rules.words[begin + k]
                total += chances[k] * move_value(rules, net, state, i, action, layer)
        expected[i] = total
        if mover == 1:
            value[i], expected[i] = 1.0 - value[i], 1.0 - total


@lru_cache(maxsize=64)
def net_of(game: CipherSiege, players: tuple[str, str]) -> NetworkTables:
    """The network between two players, as tables."""
    found = find_value_network(game)
    assert found is not None
    return network_tables(game, found, players)


def network_tables(
    game: CipherSiege, found: ValueNetwork, players: tuple[str, str]
) -> NetworkTables:
    encoding, most = CardEncoding(game), max(game.integrity)
    indices = [*map(player_index, players)]
    cards = [encoding.cards(code) for code in range(encoding.space)]
    own, other = (
        np.array([found.contribution(side, hand) for hand in cards]) for side in (OWN, OTHER)
    )
    empty = np.array(found.contribution(DECKED, ()))
    cis = np.zeros((2, most + 1, most + 1, len(empty)))
    for mover, one, two in product((0, 1), range(1, most + 1), range(1, most + 1)):
        both = one, two, indices[mover], indices[1 - mover]
        cis[mover, one, two] = found.contribution(CIS, both)
    each = [found.contribution(DECKED, (value,)) for value in range(1, game.values + 1)]
    card = np.array([*each, empty]) - empty
    out, radix = np.array(found.out), np.array(encoding.radix)
    return NetworkTables(own, other, cis + empty, card, out, found.bias, radix)


def aivat_evaluator(game: CipherSiege, players: tuple[str, str]) -> AivatEvaluator | None:
    """Compiled AIVAT values between built-in players; None without a value network."""
    if find_value_network(game) is None:
        return None
    net, table = net_of(game, players), rules(game)
    kinds = np.array([RANDOM if p == "random" else GREEDY if p == "greedy" else KNOWS
                      for p in players])  # fmt: skip
    one, two = (compiled_strategy(game, p if k == KNOWS else "perfect")
                for p, k in zip(players, kinds, strict=True))  # fmt: skip
    chances, layer = np.zeros(len(game.moves())), np.zeros(len(net.out))

    def evaluate(rows: Array, actions: Array) -> AivatValues:
        value, expected = np.empty(len(rows)), np.empty(len(rows))
        fill_values(
            table,
            net,
            kinds,
            hand_attacks(game),
            one,
            two,
            rows,
            chances,
            layer,
            value,
            expected,
        )
        return AivatValues(value, expected, regrets(game, rows, actions))

    return evaluate
