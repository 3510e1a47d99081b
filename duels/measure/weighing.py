"""Choices weighed by the exact values of all they lead to, for games that leave nothing to chance.

The rows come from a kernel, their values from `duels.measure.optimal`. Of players in turn little
has to be known: a level gives away its share of what a random player would (`duels.solve.levels`),
and perfect play nothing. Where choices are sealed both mixes are worked out as the choosers do it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from duels.core.game import AnyGame
from duels.envs.kernels import (
    GOING_ON,
    NOBODY,
    Array,
    Weigh,
    Weighed,
    kernel_named,
    kernel_of,
    np,
)
from duels.envs.kernels.mixing import level_shares, share_of
from duels.envs.kernels.sealed import regret as sealed_regrets
from duels.envs.kernels.sealed import solve as solve_sealed
from duels.envs.opponents import chooser
from duels.measure.optimal import optimal
from duels.measure.rows import ByChance, copy
from duels.solve.compiled import compiled
from duels.solve.compiled.matrix import scratch

SOME = 1 << 12  # rows whose children are looked at at a time
# How a player chooses: what it gives away of what a random player would, or one of these.
ANY, LARGEST = -1.0, -2.0
ILLEGAL, OPEN = -1.0, -2.0  # instead of a payoff: not to be chosen, and not over


def by_values(game: AnyGame, players: tuple[str, str]) -> Weigh:
    """From the exact values of all rows that the choices lead to; `ByChance` where they do not."""
    kernel = kernel_of(game)
    sealed, rules, moves = kernel.sealed(game), kernel.rules(game), len(game.moves())
    leads, fill_gains = leading(game.slug, sealed), gaining(game.slug)
    wide = moves if sealed else 1
    shares = np.array([ANY if name == "random" else share_of(name) for name in players])
    found = [chooser(game, name) for name in players]
    gains = [None if player is None else player.gain for player in found]
    shares[[gain is not None for gain in gains]] = LARGEST
    room = scratch()

    def some(rows: Array, actions: Array) -> Weighed:
        count = len(rows)
        after = np.zeros((count * moves * wide, rows.shape[1]), rows.dtype)
        payoffs = np.empty((count, moves, wide))
        movers = np.zeros(count, np.int64)
        if leads(rules, rows, moves, after, payoffs, movers):
            raise ByChance(f"the kernel of {game.slug} leaves something to chance")
        on = payoffs == OPEN
        payoffs[on] = optimal(game, after[on.reshape(-1)])
        gained = np.full((2, count, moves), -np.inf)
        for seat, gain in enumerate(gains):
            if gain is not None:
                fill_gains(gain)(rules, rows, seat, gained[seat])
        value, expected = np.empty(count), np.empty(count)
        regret = np.full((count, 2), np.nan)
        weigh = _weigh_sealed if sealed else _weigh_turns
        weigh(payoffs, movers, actions, shares, gained, *room, value, expected, regret)
        return Weighed(value, expected, regret)

    def weighed(rows: Array, actions: Array) -> Weighed:
        parts = [some(np.ascontiguousarray(rows[at : at + SOME]), actions[at : at + SOME])
                 for at in range(0, len(rows), SOME)]  # fmt: skip
        return Weighed(*map(np.concatenate, zip(*parts, strict=True)))

    return weighed


@cache
def leading(slug: str, sealed: bool) -> Callable[..., Any]:
    """The loop that finds where every choice leads: rows, or how they end."""
    kernel = kernel_named(slug)
    assert kernel is not None
    play, legal, mover = kernel.play, kernel.legal, kernel.mover

    @compiled
    def leads(
        rules: Any, rows: Array, moves: int, after: Array, payoffs: Array, movers: Array
    ) -> bool:
        """Whether anything was left to chance."""
        streams = np.zeros((1, 2), np.uint64)
        scratch = np.zeros((1, rows.shape[1]), rows.dtype)
        wide = payoffs.shape[2]
        for i in range(rows.shape[0]):
            who = 0 if sealed else mover(rules, rows, i)
            movers[i] = who
            for a in range(moves):
                for b in range(wide):
                    payoffs[i, a, b] = ILLEGAL
                    if not legal(rules, rows, i, who, a):
                        continue
                    if sealed and not legal(rules, rows, i, 1, b):
                        continue
                    copy(rows, i, scratch, 0)
                    winner = play(rules, scratch, streams, 0, a, b if sealed else a)
                    if streams[0, 0] != 0 or streams[0, 1] != 0:
                        return True
                    copy(scratch, 0, after, (i * moves + a) * wide + b)
                    payoffs[i, a, b] = OPEN
                    if winner != GOING_ON:
                        payoffs[i, a, b] = 0.5 if winner == NOBODY else 1.0 - winner
        return False

    return leads


@cache
def gaining(slug: str) -> Callable[..., Any]:
    """The loop over what choices gain in sight, for a game's own `gain`."""
    kernel = kernel_named(slug)
    assert kernel is not None
    legal = kernel.legal

    @cache
    def of(gain: Callable[..., Any]) -> Callable[..., Any]:
        @compiled
        def gains(rules: Any, rows: Array, seat: int, out: Array) -> None:
            for i in range(rows.shape[0]):
                for action in range(out.shape[1]):
                    if legal(rules, rows, i, seat, action):
                        out[i, action] = gain(rules, rows, i, seat, action)

        return gains

    return of


@compiled
def _largest(gained: Array, seat: int, i: int, options: Array, n: int, mix: Array) -> None:
    """The moves that gain most, each equally likely."""
    top, count = -np.inf, 0
    for k in range(n):
        top = max(top, gained[seat, i, options[k]])
    for k in range(n):
        mix[k] = 1.0 if gained[seat, i, options[k]] == top else 0.0
        count += int(mix[k])
    for k in range(n):
        mix[k] /= count


@compiled
def _weigh_turns(
    payoffs: Array, movers: Array, actions: Array, shares: Array, gained: Array, game: Array,
    tableau: Array, mixes: Array, label: Array, value: Array, expected: Array, regret: Array,
) -> None:  # fmt: skip
    """Choices in turn. What a level gives away on average is its share, by how it is made."""
    options = np.zeros(payoffs.shape[1], np.int64)
    mix = np.zeros(payoffs.shape[1])
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
        elif shares[seat] == LARGEST:
            _largest(gained, seat, i, options, n, mix)
            mean = 0.0
            for k in range(n):
                payoff = payoffs[i, options[k], 0]
                mean += mix[k] * (payoff if seat == 0 else 1.0 - payoff)
        else:
            mean = best - shares[seat] * (best - total / n)
        value[i], expected[i] = (best, mean) if seat == 0 else (1.0 - best, 1.0 - mean)
        chosen = payoffs[i, actions[i, 0], 0]
        regret[i, seat] = best - (chosen if seat == 0 else 1.0 - chosen)


@compiled
def _weigh_sealed(
    payoffs: Array, movers: Array, actions: Array, shares: Array, gained: Array, game: Array,
    tableau: Array, mixes: Array, label: Array, value: Array, expected: Array, regret: Array,
) -> None:  # fmt: skip
    """Choices that are sealed: both mixes over a matrix game."""
    moves = payoffs.shape[1]
    options, counts = np.zeros((2, moves), np.int64), np.zeros(2, np.int64)
    mine, regrets = np.zeros((2, moves + 1)), np.zeros(moves + 1)
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
        solve_sealed(game, counts[0], counts[1], tableau, mixes, label)
        for seat in range(2):
            n = counts[seat]
            sealed_regrets(game, counts[0], counts[1], seat, mixes, regrets)
            for k in range(n):
                if options[seat, k] == actions[i, seat]:
                    regret[i, seat] = regrets[k]
            if shares[seat] == ANY:
                mine[seat, :n] = 1.0 / n
            elif shares[seat] == LARGEST:
                _largest(gained, seat, i, options[seat], n, mine[seat])
            elif shares[seat] == 0.0:
                mine[seat, :n] = mixes[seat, :n]
            else:
                hopeless = regrets[n] == 0.0
                level_shares(regrets, n, hopeless, shares[seat], mixes[seat], mine[seat])
        value[i] = expected[i] = 0.0
        for a in range(counts[0]):
            for b in range(counts[1]):
                value[i] += mixes[0, a] * mixes[1, b] * game[a, b]
                expected[i] += mine[0, a] * mine[1, b] * game[a, b]
