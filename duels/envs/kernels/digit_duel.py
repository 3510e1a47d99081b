"""Digit Duel as a kernel: two steps a turn, or one if attack and defence are hidden."""

from __future__ import annotations

from typing import NamedTuple

from duels.envs.kernels import GOING_ON, Array, Kernel, Scalar, bits, compiled
from duels.games.digit_duel import DigitDuel, State

ATTACKER, ATTACK, LIFE, LEFT = 1, 2, 3, 5  # two columns of life and of unused digits
COLUMNS = 7


class Rules(NamedTuple):
    one: int
    two: int
    digits: int
    hidden: bool
    first: int


def rules(game: DigitDuel) -> Rules:
    return Rules(*game.life, game.digits, game.hidden, game.first)


def pack(game: DigitDuel, state: State) -> tuple[int, ...]:
    return (state.attacker, state.attack or 0, *state.life, *map(bits.word_of, state.digits))


def unpack(game: DigitDuel, row: tuple[int, ...]) -> State:
    left = (bits.numbers_of(row[4]), bits.numbers_of(row[5]))
    return State((row[2], row[3]), left, row[0], row[1] or None)


@compiled
def begin(rules: Rules, state: Array, streams: Array, i: int) -> None:
    state[i, ATTACKER] = rules.first
    state[i, ATTACK] = 0
    state[i, LIFE] = rules.one
    state[i, LIFE + 1] = rules.two
    state[i, LEFT] = state[i, LEFT + 1] = (1 << rules.digits) - 1


@compiled
def mover(rules: Rules, state: Array, i: int) -> Scalar:
    return state[i, ATTACKER] ^ (state[i, ATTACK] != 0)


@compiled
def legal(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    return (state[i, LEFT + player] >> action) & 1 == 1


@compiled
def choose(rules: Rules, state: Array, streams: Array, i: int, player: int) -> Scalar:
    return bits.choose(state[i, LEFT + player], streams, i)


@compiled
def play(rules: Rules, state: Array, streams: Array, i: int, first: int, second: int) -> Scalar:
    attacker = state[i, ATTACKER]
    defender = 1 - attacker
    attack, defence = state[i, ATTACK], first + 1
    if rules.hidden:
        attack, defence = (first, second) if attacker == 0 else (second, first)
        attack, defence = attack + 1, defence + 1
        state[i, LEFT + attacker] ^= 1 << (attack - 1)
    elif attack == 0:
        state[i, ATTACK] = first + 1
        state[i, LEFT + attacker] ^= 1 << first
        return GOING_ON
    left = state[i, LEFT + defender] ^ (1 << (defence - 1))
    life = state[i, LIFE + defender] - max(0, attack - defence)
    state[i, LEFT + defender] = left
    state[i, LIFE + defender] = life
    state[i, ATTACKER] = defender
    state[i, ATTACK] = 0
    if life <= 0:
        return attacker
    if left != 0:
        return GOING_ON
    # All digits are used; whoever attacked last wins if life is equal.
    return attacker if state[i, LIFE + attacker] >= life else defender


@compiled
def mask(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    bits.mark(state[i, LEFT + player], rules.digits, out, i, s)


@compiled
def observe(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    n = rules.digits
    bits.spread(state[i, LEFT + player], n, out, i, s, 0)
    bits.spread(state[i, LEFT + 1 - player], n, out, i, s, n)
    out[i, s, 2 * n] = max(0, state[i, LIFE + player])
    out[i, s, 2 * n + 1] = max(0, state[i, LIFE + 1 - player])
    out[i, s, 2 * n + 2] = state[i, ATTACKER] == player
    out[i, s, 2 * n + 3] = state[i, ATTACK]


KERNEL = Kernel(
    DigitDuel, COLUMNS, "int32", rules, lambda game: game.hidden, pack, unpack,
    begin, mover, legal, choose, play, mask, observe,
)  # fmt: skip
