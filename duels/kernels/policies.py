"""Compiled policies of the built-in opponents, common to all games.

They support games with at most a few dozen moves, so that a set of moves is a word of bits. A game
provides the immediate gain of a move (`gain`) and, if it is solved, the value of a move and the
choices left after it (`move_value`). This module implements the policies: the largest gain, the
preferred optimal move, and levels with a given expected regret (`duels.algorithms.levels`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from duels.algorithms.levels import CARELESS, LEVELS
from duels.algorithms.solution import ROUNDING
from duels.kernels import Array, CompiledPolicy, Scalar, bits, compiled, not_inlined, np
from duels.kernels.random_streams import PICKS, below

WHOLE = 1 << 31  # probabilities are in units of 1 / WHOLE
WON = 1 << 30  # the gain of a move that wins at once, larger than any other

# The value of a move to the player who chooses it, in halves; and an unknown distance.
LOSS, DRAW, WIN = range(3)
UNKNOWN = -1
FAR = 1 << 20  # larger than any distance
# A level with a smaller share never chooses a dominated move.
CARELESS_SHARE = LEVELS[CARELESS]

Jitted = Callable[..., Any]  # a compiled function


def share_of(opponent: str) -> float:
    """The share of a random player's regret that a level gives away; 0 for perfect play."""
    return LEVELS.get(opponent, 0.0)


class SolutionTables(NamedTuple):
    """The tables of an opponent that knows the solution: those of the game, and its level."""

    table: Any
    share: float


@compiled
def random_number(streams: Array, i: int) -> Scalar:
    """A random whole number below `WHOLE`."""
    return below(streams, i, PICKS, WHOLE)


def greedy(options: Jitted, gain: Jitted) -> CompiledPolicy:
    """An opponent that chooses the move with the largest immediate gain.

    `options(rules, state, i, player)` returns the set of moves; `gain(rules, state, i, player,
    action)` returns a number ordered as `Game.gain`, or `WON` if that is infinite.
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
        add_uniform(largest(rules, state, i, player, options(rules, state, i, player)), 1.0, out, i)

    return CompiledPolicy(choose, (), mixed_strategy, gain=gain)


@compiled
def add_uniform(moves: int, chance: float, out: Array, i: int) -> None:
    """Add a probability to `out`, divided equally among the moves of a set."""
    n = bits.count(moves)
    for k in range(n):
        out[i, bits.nth(moves, k)] += chance / n


def largest_gain(gain: Jitted) -> Jitted:
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


class MoveClasses(NamedTuple):
    """Sets of moves by value; `preferred` are the best that win soonest or lose latest."""

    wins: int
    draws: int
    preferred: int


def move_classifier(options: Jitted, move_value: Jitted) -> Jitted:
    """A function that classifies moves by their value: win, draw or loss.

    `move_value(rules, table, state, i, player, action)` returns the value and the distance to the
    end.
    """

    @compiled
    def classify_moves(rules: Any, table: Any, state: Array, i: int, player: int) -> MoveClasses:
        moves = options(rules, state, i, player)
        wins = draws = preferred = 0
        best, order, unsure = -1, -FAR, False
        rest, action = moves, 0
        while rest != 0:
            if rest & 1:
                worth, distance = move_value(rules, table, state, i, player, action)
                wins |= int(worth == WIN) << action
                draws |= int(worth == DRAW) << action
                wanted = -distance if worth == WIN else distance
                if worth > best:
                    best, order, preferred, unsure = worth, wanted, 0, False
                if worth == best:
                    unsure |= distance == UNKNOWN
                    if wanted > order:
                        order, preferred = wanted, 0
                    preferred |= int(wanted == order) << action
            rest >>= 1
            action += 1
        if unsure:
            preferred = wins if wins != 0 else draws if draws != 0 else moves
        return MoveClasses(wins, draws, preferred)

    return classify_moves


@compiled
def never_idle(rules: Any, state: Array, i: int, player: int) -> Scalar:
    """The empty set: no move is idle."""
    return 0


def solution_policy(
    options: Jitted, gain: Jitted, classify_moves: Jitted, end: Jitted, idle: Jitted = never_idle
) -> CompiledPolicy:
    """An opponent that knows the value of each move; its tables must be a `SolutionTables`.

    `classify_moves(rules, table, state, i, player)` returns a `MoveClasses`; among its `preferred`
    moves the largest gain decides. For dominated moves (`Solution.dominated`), `end(rules, state,
    i, player, action)` returns the value of a move that ends the game before the player's next
    choice, whatever the opponent does, else UNKNOWN; `idle(rules, state, i, player)` returns the
    set of moves that have no effect other than ending the turn.
    """
    largest = largest_gain(gain)

    @compiled
    def dominated_moves(
        rules: Any, state: Array, i: int, player: int, moves: int, least: int
    ) -> Scalar:
        """The set of dominated moves; `least` is the set of moves with the lowest value."""
        wins = losses = 0
        for k in range(bits.count(moves)):
            action = bits.nth(moves, k)
            found = end(rules, state, i, player, action)
            wins |= int(found == WIN) << action
            losses |= int(found == LOSS) << action
        if wins != 0:
            return moves & ~wins
        return (losses if losses != moves else 0) | (idle(rules, state, i, player) & least)

    @compiled
    def split(
        rules: Any, known: SolutionTables, state: Array, i: int, player: int
    ) -> tuple[int, int, int, int]:
        """The best moves, and those with a regret of 0, of half a point and of more."""
        moves = options(rules, state, i, player)
        wins, draws, best = classify_moves(rules, known.table, state, i, player)
        if best & (best - 1) != 0:
            best = largest(rules, state, i, player, best)
        good = wins if wins != 0 else draws
        if known.share == 0.0 or good == 0 or good == moves:  # the last two: no move has a regret
            return best, best, 0, 0
        second, third = draws if wins != 0 else 0, moves & ~wins & ~draws
        if known.share < CARELESS_SHARE:
            least = third if third != 0 else second
            kept = ~dominated_moves(rules, state, i, player, moves, least) | best
            good, second, third = good & kept, second & kept, third & kept
        return best, good, second, third

    @compiled
    def choose(
        rules: Any, known: SolutionTables, state: Array, streams: Array, i: int, player: int
    ) -> Scalar:
        best, good, second, third = split(rules, known, state, i, player)
        if second | third == 0:
            return bits.choose(best, streams, i)
        half, whole = error_probabilities(good, second, third, known.share)
        drawn = random_number(streams, i)
        if drawn < np.int64(whole * WHOLE):
            return bits.choose(third, streams, i)
        if drawn < np.int64((half + whole) * WHOLE):
            return bits.choose(second, streams, i)
        return bits.choose(best, streams, i)

    @compiled
    def mixed_strategy(
        rules: Any, known: SolutionTables, state: Array, i: int, player: int, out: Array
    ) -> None:
        best, good, second, third = split(rules, known, state, i, player)
        half, whole = error_probabilities(good, second, third, known.share)
        add_uniform(best, 1.0 - half - whole, out, i)
        add_uniform(second, half, out, i)
        add_uniform(third, whole, out, i)

    return CompiledPolicy(choose, (), mixed_strategy)


@compiled
def error_probabilities(good: int, second: int, third: int, share: float) -> tuple[float, float]:
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


@not_inlined
def level_softmax(regrets: Array, n: int, mean: float, share: float, shares: Array) -> None:
    """Write a softmax whose expected regret is `share` of the mean regret, as `level_strategy`.

    Newton's method on the inverse temperature (`cold`), with bisection if it leaves its bounds.
    Moves with a negative regret are left out.
    """
    target = share * mean
    low, high, cold = 0.0, np.inf, 1.0 / mean
    for _ in range(200):
        whole = first = second = 0.0
        for k in range(n):
            shares[k] = np.exp(-cold * regrets[k]) if regrets[k] >= 0.0 else 0.0
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
def level_shares(regrets: Array, n: int, share: float, strategy: Array, shares: Array) -> None:
    """Write a level's probabilities of n moves to `shares`; `strategy` has those of perfect play.

    A negative regret marks a move that the level does not choose.
    """
    mean, count = 0.0, 0
    for k in range(n):
        if regrets[k] >= 0.0:
            mean += regrets[k]
            count += 1
    mean /= count
    if mean >= ROUNDING:
        level_softmax(regrets, n, mean, share, shares)
    else:
        for k in range(n):
            shares[k] = strategy[k]
    right = 0.0
    for k in range(n):
        right += shares[k] if 0.0 <= regrets[k] < ROUNDING else 0.0
    for k in range(n):
        if 0.0 <= regrets[k] < ROUNDING:
            shares[k] = right * strategy[k]
