"""Firewall Breach as a kernel. The die is rolled as part of the attack."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from duels.games.firewall_breach.rules import (
    ACTIONS,
    FACES,
    HITS,
    LOWEST_HIT,
    FirewallBreach,
    State,
)
from duels.kernels import GOING_ON, Array, CompiledPolicy, Kernel, Scalar, compiled, np
from duels.kernels.policies import WHOLE, WON, greedy, random_number
from duels.kernels.random_streams import CHANCE, PICKS, below

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
def packed(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    out[i, s, 0] = (1 << len(ACTIONS)) - 1


@compiled
def observe(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    out[i, s, 0] = state[i, STRENGTH + player]
    out[i, s, 1] = state[i, STRENGTH + 1 - player]
    out[i, s, 2] = state[i, MOVER] == player


# The built-in opponents


@compiled
def options(rules: Rules, state: Array, i: int, player: int) -> Scalar:
    return (1 << len(ACTIONS)) - 1


@compiled
def gain(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    target = state[i, STRENGTH + 1 - player]
    if action == ATTACK:
        return min(rules.hit, target) * HITS
    return WON if rules.bypass >= target else rules.bypass * FACES


@compiled
def attack_or_bypass(
    rules: Rules, tables: tuple[Array], state: Array, streams: Array, i: int, player: int
) -> Scalar:
    """Attack with the probability in the table, in units of 1 / `WHOLE`, for these strengths."""
    own, other = state[i, STRENGTH + player], state[i, STRENGTH + 1 - player]
    return ATTACK ^ int(random_number(streams, i) >= tables[0][player, own, other])


@lru_cache(maxsize=32)
def table(game: FirewallBreach, opponent: str) -> Array:
    """Probabilities to attack by strengths, computed in Python for the few hundred positions."""
    from duels.algorithms.solutions import solve
    from duels.games.firewall_breach.solver import FirewallBreachSolution

    solution = solve(game)
    assert isinstance(solution, FirewallBreachSolution)
    attack = np.zeros((2, *(max(game.strength) + 1,) * 2), np.int64)
    for player in range(2):
        for own in range(1, game.strength[player] + 1):
            for other in range(1, game.strength[1 - player] + 1):
                strength = (own, other) if player == 0 else (other, own)
                state = State(strength, player)
                choice = solution.assess_state(state, player)
                strategy = (
                    choice.mixed_strategy
                    if opponent == "perfect"
                    else solution.level_at(state, choice, opponent)
                )
                attack[player, own, other] = round(WHOLE * strategy.get(ACTIONS[ATTACK], 0.0))
    return attack


GREEDY = greedy(options, gain)


def chooser(game: FirewallBreach, opponent: str) -> CompiledPolicy | None:
    if opponent == "greedy":
        return GREEDY
    return CompiledPolicy(attack_or_bypass, (table(game, opponent),))


KERNEL = Kernel(
    FirewallBreach, COLUMNS, "int32", rules, lambda game: False, pack, unpack,
    begin, mover, legal, choose, play, mask, observe, chooser, packed,
)  # fmt: skip
