"""The built-in opponents of Cipher Siege, in compiled code over the strategy's table.

The kernel's state contains what `CipherSiegeSolution` computes from a player's history: the cards
that each player is known to hold because of swaps, and the number of decisions. The strategy
numbers the moves of a hand in the order of the kernel's table.
"""

from __future__ import annotations

from duels.games.cipher_siege.compiled_keys import stored_slot
from duels.games.cipher_siege.compiled_rules import after_move, code_of
from duels.games.cipher_siege.kernel import (
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
from duels.games.cipher_siege.kernel_strategy import (
    CompiledStrategy,
    HandAttacks,
    compiled_strategy,
    hand_attacks,
)
from duels.games.cipher_siege.kernel_tables import (
    FIELDS,
    INTEGRITY,
    KIND,
    MOVES,
    ROWS,
    WORTH,
    Rules,
)
from duels.games.cipher_siege.rules import CipherSiege
from duels.kernels import DECISIONS, Array, CompiledPolicy, Scalar, compiled, np
from duels.kernels.policies import CARELESS_SHARE, WHOLE, random_number
from duels.kernels.random_streams import PICKS, below

if np is not None:
    _EIGHT, _BYTE = np.uint64(8), np.uint64(255)


@compiled
def winning(rules: Rules, row: int, attacks: int, ci: int, nth: int) -> tuple[int, int]:
    """The number of attacks in a row that win at once, and the action of the nth of them."""
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
    """Damage dealt or CI restored, as in `CipherSiege.gain`."""
    at = rules.words[MOVES] + FIELDS * action
    ci, cap = state[i, CI + player], rules.words[INTEGRITY + player]
    own, other = after_move(rules.words[at + KIND], rules.words[at + WORTH], ci, 0, cap)
    return own - ci - other


@compiled
def greedy(
    rules: Rules, hands: HandAttacks, state: Array, streams: Array, i: int, player: int
) -> Scalar:
    """The action of `greedy`: one with the largest gain, or one that wins at once."""
    row = state[i, ROW]
    attacks, top = hands.attacks[row], hands.damage[row]
    if state[i, PHASE] == SWAPPING or attacks == 0:
        return choose(rules, state, streams, i, player)
    if top >= state[i, CI + 1 - player]:
        count, _ = winning(rules, row, attacks, state[i, CI + 1 - player], -1)
        nth = below(streams, i, PICKS, count)
        return winning(rules, row, attacks, state[i, CI + 1 - player], nth)[1]
    # No defence gains more than the largest attack.
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
def state_slot(own: CompiledStrategy, state: Array, i: int, player: int) -> Scalar:
    """The slot of the player's information state in the strategy: by the fine or the coarse key."""
    other, radix = 1 - player, own.radix
    return stored_slot(
        code_of(state[i, HAND + player], radix), code_of(state[i, DISCARD], radix),
        state[i, CI + player], state[i, CI + other], state[i, SIZE + other],
        code_of(state[i, KNOWN + other], radix), code_of(state[i, KNOWN + player], radix),
        state[i, DECISIONS], own, own.found[:, 0],
    )  # fmt: skip


@compiled
def best_or_other(
    rules: Rules, row: int, best: int, share: float, streams: Array, i: int
) -> Scalar:
    """The action of a level where only the best move is known: that, or any other by chance."""
    at = rules.words[ROWS] + 2 * row
    begin, n = rules.words[at], rules.words[at + 1] - rules.words[at]
    if share == 0.0 or random_number(streams, i) >= np.int64(share * (n - 1) / n * WHOLE):
        return rules.words[begin + best]
    place = below(streams, i, PICKS, n - 1)
    return rules.words[begin + place + int(place >= best)]


@compiled
def win(
    rules: Rules, row: int, attacks: int, ci: int, share: float, streams: Array, i: int
) -> Scalar:
    """The action of a level that can win at once; only a careless one may miss the win."""
    at = rules.words[ROWS] + 2 * row
    begin, n = rules.words[at], rules.words[at + 1] - rules.words[at]
    count, _ = winning(rules, row, attacks, ci, -1)
    erring = share * (n - count) / n
    if share < CARELESS_SHARE or random_number(streams, i) >= np.int64(erring * WHOLE):
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
def solution_policy(
    rules: Rules, own: CompiledStrategy, state: Array, streams: Array, i: int, player: int
) -> Scalar:
    """The action of perfect play or of a level, from the strategy's table."""
    row, ci = state[i, ROW], state[i, CI + 1 - player]
    attacks = own.hands.attacks[row]
    if attacks == 0:  # an empty hand: pass
        return choose(rules, state, streams, i, player)
    if own.hands.damage[row] >= ci:
        return win(rules, row, attacks, ci, own.share, streams, i)
    slot = state_slot(own, state, i, player)
    if own.found[slot, 0] == 0:
        return best_or_other(rules, row, own.hands.best[row], own.share, streams, i)
    place = np.int64(own.found[slot, 1] >> _EIGHT)
    last = place + np.int64(own.found[slot, 1] & _BYTE)
    drawn = below(streams, i, PICKS, own.sums[last])
    while drawn >= own.sums[place]:
        place += 1
    return rules.words[rules.words[rules.words[ROWS] + 2 * row] + own.moves[place]]


def chooser(game: CipherSiege, opponent: str) -> CompiledPolicy | None:
    """The compiled policy of a built-in opponent."""
    if opponent == "greedy":
        return CompiledPolicy(greedy, hand_attacks(game))
    return CompiledPolicy(solution_policy, compiled_strategy(game, opponent))
