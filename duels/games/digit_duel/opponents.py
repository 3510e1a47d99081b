"""Compiled opponents of the hidden Digit Duel that know its solution, from its table."""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import NamedTuple

from duels.algorithms import solve, tables
from duels.algorithms.backward_induction import enumerate_states
from duels.core.game import Decide
from duels.games.digit_duel import solver as digit_duel
from duels.games.digit_duel.kernel import ATTACKER, LEFT, LIFE, Rules, options
from duels.games.digit_duel.rules import DigitDuel
from duels.kernels import Array, CompiledPolicy, Scalar, bits, compiled, np
from duels.kernels.policies import share_of
from duels.kernels.simultaneous import chooser_tables, simultaneous_policy


class Chances(NamedTuple):
    """The attacker's probabilities to win; see `duels.games.digit_duel.solver`."""

    rank: Array  # of a set among those of its size
    count: Array  # of sets, by size
    start: Array  # of the pairs of sets, by size
    wins: Array  # by pair, attacker's life and defender's life
    spare: Array  # by player: life above that of the table, which does not matter


@compiled
def payoff(rules: Rules, table: Chances, state: Array, i: int, one: int, two: int) -> Scalar:
    attacker = state[i, ATTACKER]
    defender = 1 - attacker
    attack, defence = (one, two) if attacker == 0 else (two, one)
    life = state[i, LIFE + defender] - max(0, attack - defence)
    digits = state[i, LEFT + defender] ^ (1 << defence)
    if life <= 0 or digits == 0:  # the last attacker wins if life is equal
        won = life <= 0 or state[i, LIFE + attacker] >= life
        return 1.0 if won == (attacker == 0) else 0.0
    size = bits.count(digits)
    others = table.rank[state[i, LEFT + attacker] ^ (1 << attack)]
    pair = table.start[size] + table.rank[digits] * table.count[size] + others
    mine = life - 1 - table.spare[defender]
    wins = table.wins[pair, mine, state[i, LIFE + attacker] - 1 - table.spare[attacker]]
    return wins if defender == 0 else 1.0 - wins


@compiled
def key(rules: Rules, state: Array, i: int) -> Scalar:
    digits = np.int64(state[i, LEFT]) << 20 | np.int64(state[i, LEFT + 1])
    life = np.int64(state[i, LIFE]) << 10 | np.int64(state[i, LIFE + 1])
    return (digits << 20 | life) << 1 | np.int64(state[i, ATTACKER])


MIXED = simultaneous_policy(options, payoff, key)


@lru_cache(maxsize=2)
def table(game: DigitDuel) -> Chances:
    covering = digit_duel.table_game(game)
    n, life = game.digits, covering.life[0]
    counts = [comb(n, size) for size in range(n + 1)]
    starts = np.cumsum([0, 0, *(count**2 for count in counts[1:])])
    kept = digit_duel.lives(game)
    spare = [full - part for full, part in zip(game.life, kept, strict=True)]
    ranks, shape = bits.ranks(n), (int(starts[-1]), life, life)
    found = tables.find_table(covering, digit_duel.HIDDEN_KIND)
    if found is not None:
        wins = np.frombuffer(found.payload, "<f8").reshape(shape)
        return Chances(ranks, np.array(counts), starts, wins, np.array(spare))
    wins, known = np.full(shape, np.nan), solve(game)
    for state in enumerate_states(game)[0]:  # a small variant, solved from its rules
        if isinstance(game.turn(state), Decide):
            roles = state.attacker, 1 - state.attacker
            one, two = (int(ranks[bits.word_of(state.digits[player])]) for player in roles)
            size = len(state.digits[0])
            mine, theirs = (state.life[player] - 1 - spare[player] for player in roles)
            value = float(known.value(state))
            wins[starts[size] + one * counts[size] + two, mine, theirs] = (
                value if state.attacker == 0 else 1.0 - value
            )
    wins.setflags(write=False)  # read-only, like a table from a file: numba compiles for one type
    return Chances(ranks, np.array(counts), starts, wins, np.array(spare))


def hidden_chooser(game: DigitDuel, opponent: str) -> CompiledPolicy | None:
    found = table(game)
    return MIXED._replace(
        tables=chooser_tables(found, share_of(opponent), game.digits, found.wins.size)
    )
