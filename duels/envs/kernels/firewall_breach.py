"""Firewall Breach as a kernel. The die is rolled as part of the attack."""

from __future__ import annotations

from typing import NamedTuple

from duels.envs.kernels import GOING_ON, Array, Kernel, Scalar, compiled
from duels.envs.kernels.stream import CHANCE, PICKS, below
from duels.games.firewall_breach import ACTIONS, FACES, LOWEST_HIT, FirewallBreach, State

MOVER, STRENGTH = 1, 2  # two columns of strength
COLUMNS = 4
ATTACK = ACTIONS.index("attack")
MISSES = LOWEST_HIT - 1


class Rules(NamedTuple):
    one: int
    two: int
    hit: int
    bypass: int
    first: int


def rules(game: FirewallBreach) -> Rules:
    return Rules(*game.strength, game.hit, game.bypass, game.first)


def pack(game: FirewallBreach, state: State) -> tuple[int, ...]:
    return (state.mover, *state.strength)


def unpack(game: FirewallBreach, row: tuple[int, ...]) -> State:
    return State((row[1], row[2]), row[0])


@compiled
def begin(rules: Rules, state: Array, streams: Array, i: int) -> None:
    state[i, MOVER] = rules.first
    state[i, STRENGTH] = rules.one
    state[i, STRENGTH + 1] = rules.two


@compiled
def mover(rules: Rules, state: Array, i: int) -> Scalar:
    return state[i, MOVER]


@compiled
def legal(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    return True


@compiled
def choose(rules: Rules, state: Array, streams: Array, i: int, player: int) -> Scalar:
    return below(streams, i, PICKS, 2)


@compiled
def play(rules: Rules, state: Array, streams: Array, i: int, action: int, unused: int) -> Scalar:
    mover = state[i, MOVER]
    target = 1 - mover
    damage = rules.bypass
    if action == ATTACK:
        damage = rules.hit * (below(streams, i, CHANCE, FACES) >= MISSES)
    left = max(0, state[i, STRENGTH + target] - damage)
    state[i, STRENGTH + target] = left
    state[i, MOVER] = target
    return mover if left == 0 else GOING_ON


@compiled
def mask(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    out[i, s, 0] = True
    out[i, s, 1] = True


@compiled
def observe(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    out[i, s, 0] = state[i, STRENGTH + player]
    out[i, s, 1] = state[i, STRENGTH + 1 - player]
    out[i, s, 2] = state[i, MOVER] == player


KERNEL = Kernel(
    FirewallBreach, COLUMNS, "int32", rules, lambda game: False, pack, unpack,
    begin, mover, legal, choose, play, mask, observe,
)  # fmt: skip
