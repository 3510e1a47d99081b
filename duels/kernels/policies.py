"""Compiled policies of the built-in opponents, common to all games.

They support games with at most a few dozen moves, so that a set of moves is a word of bits. A game
provides the immediate gain of a move (`gain`) and, if it is solved, the value of a move and the
choices left after it (`look`). This module implements the policies: the largest gain, the preferred
optimal move, and levels that err by a measured amount (`duels.algorithms.levels`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from duels.algorithms.levels import LEVELS, ROUNDING
from duels.kernels import Array, CompiledPolicy, Scalar, apart, bits, compiled, np
from duels.kernels.random_streams import PICKS, below

WHOLE = 1 << 31  # probabilities are in units of 1 / WHOLE
WON = 1 << 30  # the gain of a move that wins at once, larger than any other

# The value of a move to the player who chooses it, in halves; and an unknown distance.
LOSS, DRAW, WIN = range(3)
UNKNOWN = -1
FAR = 1 << 20  # larger than any distance

Fill = Callable[..., Any]


def share_of(opponent: str) -> float:
    """The share of a random player's regret that a level gives away; 0 for perfect play."""
    return LEVELS.get(opponent, 0.0)


class Known(NamedTuple):
    """The tables of an opponent that knows the solution: those of the game, and its level."""

    table: Any
    share: float


@compiled
def luck(streams: Array, i: int) -> Scalar:
    """A random whole number below `WHOLE`."""
    return below(streams, i, PICKS, WHOLE)


def greedy(options: Fill, gain: Fill) -> CompiledPolicy:
    """An opponent that chooses the move with the largest immediate gain.

    `options(rules, state, i, player)` returns the set of moves; `gain(rules, state, i, player,
    action)` a number with the order of `Game.gain`, and `WON` if that is infinite.
    """
    largest = largest_gain(gain)

    @compiled
    def choose(
        rules: Any, tables: Any, state: Array, streams: Array, i: int, player: int
    ) -> Scalar:
        best = largest(rules, state, i, player, options(rules, state, i, player))
        return bits.choose(best, streams, i)

    @compiled
    def mixed_strategy(
        rules: Any, tables: Any, state: Array, i: int, player: int, out: Array
    ) -> None:
        evenly(largest(rules, state, i, player, options(rules, state, i, player)), 1.0, out, i)

    return CompiledPolicy(choose, (), mixed_strategy, gain=gain)


@compiled
def evenly(moves: int, chance: float, out: Array, i: int) -> None:
    """Add a probability to `out`, divided equally among the moves of a set."""
    n = bits.count(moves)
    for k in range(n):
        out[i, bits.nth(moves, k)] += chance / n


def largest_gain(gain: Fill) -> Fill:
    """A function that selects the moves of a set with the largest gain."""

    @compiled
    def largest(rules: Any, state: Array, i: int, player: int, moves: int) -> Scalar:
        best, top = 0, -WON
        for k in range(bits.count(moves)):  # without branches, which could not be predicted
            action = bits.nth(moves, k)
            found = gain(rules, state, i, player, action)
            best = (0 if found > top else best) | (int(found >= top) << action)
            top = max(top, found)
        return best

    return largest


class Worth(NamedTuple):
    """The moves that win, those that draw, and the best ones by their distance to the end."""

    wins: int
    draws: int
    lasting: int


def weighing(options: Fill, look: Fill) -> Fill:
    """A function that divides the moves by their value: win, draw or loss.

    `look(rules, table, state, i, player, action)` returns the value and the distance to the end.
    """

    @compiled
    def weigh(rules: Any, table: Any, state: Array, i: int, player: int) -> Worth:
        moves = options(rules, state, i, player)
        wins = draws = lasting = 0  # `lasting`: best moves that win soonest or lose latest
        best, order, unsure = -1, -FAR, False
        rest, action = moves, 0
        while rest != 0:
            if rest & 1:
                worth, distance = look(rules, table, state, i, player, action)
                wins |= int(worth == WIN) << action
                draws |= int(worth == DRAW) << action
                wanted = -distance if worth == WIN else distance
                if worth > best:
                    best, order, lasting, unsure = worth, wanted, 0, False
                if worth == best:
                    unsure |= distance == UNKNOWN
                    if wanted > order:
                        order, lasting = wanted, 0
                    lasting |= int(wanted == order) << action
            rest >>= 1
            action += 1
        if unsure:
            lasting = wins if wins != 0 else draws if draws != 0 else moves
        return Worth(wins, draws, lasting)

    return weigh


def informed(options: Fill, gain: Fill, weigh: Fill) -> CompiledPolicy:
    """An opponent that knows the value of each move; its tables must be a `Known`.

    `weigh(rules, table, state, i, player)` returns a `Worth`; among its `lasting` moves the largest
    gain decides.
    """
    largest = largest_gain(gain)

    @compiled
    def split(rules: Any, known: Known, state: Array, i: int, player: int) -> tuple[int, int, int]:
        """Three sets of equally likely moves: with a regret of 0, of half a point, of more."""
        moves = options(rules, state, i, player)
        wins, draws, best = weigh(rules, known.table, state, i, player)
        if known.share > 0.0:
            good = wins if wins != 0 else draws
            if good == moves:  # no move has a regret
                return good, 0, 0
            if good != 0:
                return good, draws if wins != 0 else 0, moves & ~wins & ~draws
        if best & (best - 1) != 0:
            best = largest(rules, state, i, player, best)
        return best, 0, 0

    @compiled
    def choose(
        rules: Any, known: Known, state: Array, streams: Array, i: int, player: int
    ) -> Scalar:
        good, second, third = split(rules, known, state, i, player)
        if second | third == 0:
            return bits.choose(good, streams, i)
        return erring(good, second, third, known.share, streams, i)

    @compiled
    def mixed_strategy(
        rules: Any, known: Known, state: Array, i: int, player: int, out: Array
    ) -> None:
        good, second, third = split(rules, known, state, i, player)
        half, whole = erring_chances(good, second, third, known.share)
        evenly(good, 1.0 - half - whole, out, i)
        evenly(second, half, out, i)
        evenly(third, whole, out, i)

    return CompiledPolicy(choose, (), mixed_strategy)


@compiled
def erring(good: int, second: int, third: int, share: float, streams: Array, i: int) -> Scalar:
    """A level's move: with no regret, with half a point (`second`) or with one point (`third`)."""
    half, whole = erring_chances(good, second, third, share)
    drawn = luck(streams, i)
    if drawn < np.int64(whole * WHOLE):
        return bits.choose(third, streams, i)
    if drawn < np.int64((half + whole) * WHOLE):
        return bits.choose(second, streams, i)
    return bits.choose(good, streams, i)


@compiled
def erring_chances(good: int, second: int, third: int, share: float) -> tuple[float, float]:
    """The probabilities that a level chooses from `second` and from `third`.

    A softmax gives moves with the same regret the same weight: 1 for none, x for a regret of 1/2
    and x * x for a regret of 1, where x is the root of a quadratic equation.
    """
    a, b, c = bits.count(good), bits.count(second), bits.count(third)
    n = a + b + c
    if b == 0:  # only one positive regret: the share times a random player's probability to err
        return 0.0, share * c / n
    given = share * (0.5 * b + c) / n
    p, q = c * (1.0 - given), b * (0.5 - given)
    x = given * a / q if p == 0.0 else (np.sqrt(q * q + 4.0 * p * given * a) - q) / (2.0 * p)
    total = a + b * x + c * x * x
    return b * x / total, c * x * x / total


@apart
def soften(regrets: Array, n: int, share: float, shares: Array) -> None:
    """A softmax whose expected regret is `share` of the mean regret, as `level_strategy`.

    Newton's method on the inverse temperature (`cold`), with bisection if it leaves its bounds.
    """
    mean = 0.0
    for k in range(n):
        mean += regrets[k]
    mean /= n
    target = share * mean
    low, high, cold = 0.0, np.inf, 1.0 / mean
    for _ in range(200):
        whole = first = second = 0.0
        for k in range(n):
            shares[k] = np.exp(-cold * regrets[k])
            whole += shares[k]
            first += shares[k] * regrets[k]
            second += shares[k] * regrets[k] * regrets[k]
        for k in range(n):
            shares[k] /= whole
        given = first / whole
        if abs(given - target) <= 1e-14 * mean:
            return
        if given > target:
            low = cold
        else:
            high = cold
        spread = second / whole - given * given
        after = cold + (given - target) / spread if spread > 0.0 else np.inf
        if not low < after < high:
            after = 2.0 * cold if high == np.inf else 0.5 * (low + high)
        if after == cold:
            return
        cold = after


@compiled
def level_shares(
    regrets: Array, n: int, hopeless: bool, share: float, strategy: Array, shares: Array
) -> None:
    """A level's probabilities of n moves from their regrets; `strategy` is perfect play's."""
    mean = 0.0
    for k in range(n):
        mean += regrets[k]
    mean /= n
    if mean >= ROUNDING:
        soften(regrets, n, share, shares)
        return
    for k in range(n):
        shares[k] = strategy[k] if hopeless else 1.0 / n
