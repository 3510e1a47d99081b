"""AIVAT values of choices from the exact values of all successors, for games without chance events.

Positions come from a kernel, their values from `duels.measure.perfect_values`. Where players take
turns, perfect play loses nothing, and the mixed strategy of a level is that of its compiled policy.
Where choices are simultaneous, both mixed strategies are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from duels.algorithms.compiled import compiled
from duels.algorithms.compiled.matrix_game import scratch, solve_canonically
from duels.algorithms.compiled.templates import load
from duels.core.game import AnyGame
from duels.envs.opponents import chooser
from duels.kernels import AivatEvaluator, AivatValues, Array, Kernel, kernel_of, np
from duels.kernels.opponent_loops import strategy_loop
from duels.kernels.policies import CARELESS_SHARE, level_shares, share_of
from duels.kernels.simultaneous import bar
from duels.kernels.simultaneous import regret as sealed_regrets
from duels.measure.compiled_enumeration import ChanceInKernel, loops
from duels.measure.perfect_values import ILLEGAL, OPEN, optimal

SOME = 1 << 12  # positions expanded at a time
# How a player chooses: its share of a random player's regret, or one of these.
ANY, LARGEST = -1.0, -2.0


def exact_values(game: AnyGame, players: tuple[str, str]) -> AivatEvaluator:
    """The evaluator of choices; it raises `ChanceInKernel` if the kernel has chance events."""
    kernel = kernel_of(game)
    sealed, rules, moves = kernel.sealed(game), kernel.rules(game), len(game.moves())
    expand = loops(kernel, sealed).leads
    wide = moves if sealed else 1
    shares = np.array([ANY if name == "random" else share_of(name) for name in players])
    found = [chooser(game, name) for name in players]
    gains = [None if player is None else player.gain for player in found]
    shares[[gain is not None for gain in gains]] = LARGEST
    workspace = scratch()

    def evaluate_some(rows: Array, actions: Array) -> AivatValues:
        count = len(rows)
        after = np.zeros((count * moves * wide, rows.shape[1]), rows.dtype)
        payoffs = np.empty((count, moves, wide))
        movers = np.zeros(count, np.int64)
        if expand(rules, rows, moves, after, payoffs, movers):
            raise ChanceInKernel(f"the kernel of {game.slug} has chance events")
        on = payoffs == OPEN
        payoffs[on] = optimal(game, after[on.reshape(-1)])
        gained = np.full((2, count, moves), -np.inf)
        for seat, gain in enumerate(gains):
            if gain is not None:
                gaining(kernel, gain)(rules, rows, seat, gained[seat])
        value, expected = np.empty(count), np.empty(count)
        regret = np.full((count, 2), np.nan)
        if sealed:
            _evaluate_simultaneous(
                payoffs, actions, shares, gained, *workspace, value, expected, regret
            )
        else:
            chances = level_chances(rows, movers)
            _evaluate_turns(
                payoffs, movers, actions, shares, gained, chances, value, expected, regret
            )
        return AivatValues(value, expected, regret)

    def level_chances(rows: Array, movers: Array) -> Array:
        """The probability of each move where a level chooses."""
        chances = np.zeros((len(rows), moves))
        for seat, policy in enumerate(found):
            at = np.flatnonzero(movers == seat)
            if shares[seat] > 0.0 and len(at):
                assert policy is not None
                assert policy.mixed_strategy is not None, "a level of a game without chance has one"
                own = np.zeros((len(at), moves))
                strategy_loop(policy.mixed_strategy)(rules, policy.tables, rows[at], seat, own)
                chances[at] = own
        return chances

    def evaluate(rows: Array, actions: Array) -> AivatValues:
        parts = [evaluate_some(np.ascontiguousarray(rows[at : at + SOME]), actions[at : at + SOME])
                 for at in range(0, len(rows), SOME)]  # fmt: skip
        return AivatValues(*map(np.concatenate, zip(*parts, strict=True)))

    return evaluate


@cache
def gaining(kernel: Kernel, gain: Callable[..., Any]) -> Callable[..., Any]:
    """The loop that computes a game's immediate `gain` of every move."""
    loop: Callable[..., Any] = load(
        "duels.measure.kernel_template", legal=kernel.legal, gain=gain
    ).gains
    return loop


@compiled
def _largest(gained: Array, seat: int, i: int, options: Array, n: int, strategy: Array) -> None:
    """The moves with the largest gain, equally likely."""
    top, count = -np.inf, 0
    for k in range(n):
        top = max(top, gained[seat, i, options[k]])
    for k in range(n):
        strategy[k] = 1.0 if gained[seat, i, options[k]] == top else 0.0
        count += int(strategy[k])
    for k in range(n):
        strategy[k] /= count


@compiled
def _evaluate_turns(
    payoffs: Array, movers: Array, actions: Array, shares: Array, gained: Array, chances: Array,
    value: Array, expected: Array, regret: Array,
) -> None:  # fmt: skip
    """Choices in turn; `chances` are the mixed strategies of levels."""
    options = np.zeros(payoffs.shape[1], np.int64)
    strategy = np.zeros(payoffs.shape[1])
    for i in range(payoffs.shape[0]):
        seat, n, best, total = movers[i], 0, -np.inf, 0.0
        for action in range(payoffs.shape[1]):
            if payoffs[i, action, 0] != ILLEGAL:
                worth = payoffs[i, action, 0] if seat == 0 else 1.0 - payoffs[i, action, 0]
                best, total = max(best, worth), total + worth
                options[n] = action
                n += 1
        if shares[seat] == ANY:
            mean = total / n
        elif shares[seat] == 0.0:
            mean = best
        else:
            if shares[seat] == LARGEST:
                _largest(gained, seat, i, options, n, strategy)
            else:
                for k in range(n):
                    strategy[k] = chances[i, options[k]]
            mean = 0.0
            for k in range(n):
                payoff = payoffs[i, options[k], 0]
                mean += strategy[k] * (payoff if seat == 0 else 1.0 - payoff)
        value[i], expected[i] = (best, mean) if seat == 0 else (1.0 - best, 1.0 - mean)
        chosen = payoffs[i, actions[i, 0], 0]
        regret[i, seat] = best - (chosen if seat == 0 else 1.0 - chosen)


@compiled
def _evaluate_simultaneous(
    payoffs: Array, actions: Array, shares: Array, gained: Array, game: Array,
    tableau: Array, strategies: Array, label: Array, value: Array, expected: Array, regret: Array,
) -> None:  # fmt: skip
    """Simultaneous choices: both mixed strategies in a matrix game."""
    moves = payoffs.shape[1]
    options, counts = np.zeros((2, moves), np.int64), np.zeros(2, np.int64)
    mine, regrets = np.zeros((2, moves)), np.zeros(moves)
    for i in range(payoffs.shape[0]):
        counts[0] = counts[1] = 0
        for action in range(moves):
            legal_one = legal_two = False
            for other in range(moves):
                legal_one = legal_one or payoffs[i, action, other] != ILLEGAL
                legal_two = legal_two or payoffs[i, other, action] != ILLEGAL
            if legal_one:
                options[0, counts[0]] = action
                counts[0] += 1
            if legal_two:
                options[1, counts[1]] = action
                counts[1] += 1
        for a in range(counts[0]):
            for b in range(counts[1]):
                game[a, b] = payoffs[i, options[0, a], options[1, b]]
        solve_canonically(game, counts[0], counts[1], tableau, strategies, label)
        for seat in range(2):
            n = counts[seat]
            sealed_regrets(game, counts[0], counts[1], seat, strategies, regrets)
            for k in range(n):
                if options[seat, k] == actions[i, seat]:
                    regret[i, seat] = regrets[k]
            if shares[seat] == ANY:
                mine[seat, :n] = 1.0 / n
            elif shares[seat] == LARGEST:
                _largest(gained, seat, i, options[seat], n, mine[seat])
            elif shares[seat] == 0.0:
                mine[seat, :n] = strategies[seat, :n]
            else:
                if shares[seat] < CARELESS_SHARE:
                    bar(game, counts[0], counts[1], seat, strategies, regrets)
                level_shares(regrets, n, shares[seat], strategies[seat], mine[seat])
        value[i] = expected[i] = 0.0
        for a in range(counts[0]):
            for b in range(counts[1]):
                value[i] += strategies[0, a] * strategies[1, b] * game[a, b]
                expected[i] += mine[0, a] * mine[1, b] * game[a, b]
