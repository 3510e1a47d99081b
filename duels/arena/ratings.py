"""Ratings of all players at once: the Bradley-Terry model on the Elo scale.

In the model a player who is d Elo stronger scores 1 / (1 + 10 ** (-d / 400)) of a pair. Ratings are
maximum likelihood estimates (draws counting half) with mean 0: they make every player's expected
score equal to the actual one. Half a won and half a lost pair are added to every two players who
met, the usual correction of log odds (Haldane, Anscombe), which keeps ratings finite when a player
won everything. Less is added to luck-adjusted scores, as they vary less.

Intervals come from the spread of pair scores (the sandwich estimator), not from the model, since
the two games of a pair are correlated and draws make scores less variable than the model assumes.

A player who never scored against a set of players, or always scored fully, has no finite rating by
the data alone: the interval of such a rating is open on that side. Players who are not connected
by any chain of games cannot be compared; each such group has its own mean of 0.

>>> [str(rated) for rated in rate({("ann", "bob"): Moments.of([0.75] * 80 + [0.25] * 20)})]
['ann +53 [+38, +69]', 'bob -53 [-69, -38]']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp, inf, log, sqrt
from statistics import NormalDist
from typing import NamedTuple

from duels.arena.scores import Moments, student

ELO = 400 / log(10)  # points for one unit of log odds
LEVEL = 0.95
PRIOR = Moments(1, 0.5, 0.5)  # half a won and half a lost pair
SMALLEST = 0.01  # the smallest part of the prior: without any, a rating may be infinite
STEPS, CLOSE = 100, 1e-10
LARGEST_STEP = 2.0  # of log odds, so that the first steps do not overshoot
Matrix = list[list[float]]
Met = Mapping[tuple[str, str], Moments]
Scored = Mapping[tuple[str, str], tuple[bool, bool]]


class Rating(NamedTuple):
    """One player's rating in Elo, from the mean of its group, with an interval."""

    player: str
    elo: float
    low: float  # -inf: no lower limit by the data
    high: float
    error: float
    pairs: int
    group: int  # ratings of different groups are not comparable

    def __str__(self) -> str:
        return f"{self.player} {self.elo:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


def rate(
    met: Met, scored: Scored | None = None, *, level: float = LEVEL, joint: bool = False
) -> list[Rating]:
    """Ratings, the best first, from the pair scores of the first of each two players.

    `scored` is given with luck-adjusted scores: whether each of two players scored anything in the
    games themselves, which adjusted means do not show.
    `joint`: the level holds for all intervals simultaneously instead of for each.
    """
    counted = _scored(met) if scored is None else scored
    takers = {(one, two) for (one, two), (first, _) in counted.items() if first}
    takers |= {(two, one) for (one, two), (_, second) in counted.items() if second}
    met = _merged(met)
    names = sorted({name for pair in met for name in pair})
    found: list[Rating] = []
    for number, group in enumerate(_groups(names, met)):
        inside = {pair: moments for pair, moments in met.items() if pair[0] in group}
        each = 1 - (1 - level) / 2 if not joint else 1 - (1 - level ** (1 / len(group))) / 2
        found += _rated(
            group, inside, takers, NormalDist().inv_cdf(each), number, scored is not None
        )
    return sorted(found, key=lambda rating: (-rating.elo, rating.player))


def _scored(met: Met) -> Scored:
    """Whether each of two players scored anything, from moments of raw scores."""
    return {pair: (found.total > 0, found.total < found.size) for pair, found in met.items()}


def _merged(met: Met) -> dict[tuple[str, str], Moments]:
    """Each pairing once, in either order of names; games against oneself are left out."""
    found: dict[tuple[str, str], Moments] = {}
    for (one, two), moments in met.items():
        if one == two or not moments.size:
            continue
        # A luck-adjusted mean may lie outside of 0 to 1, which no rating explains.
        mean = min(1.0, max(0.0, moments.mean))
        moments = Moments.from_mean(moments.size, mean, moments.error)
        if one > two:
            one, two, moments = two, one, moments.for_opponent()
        found[one, two] = found.get((one, two), Moments()).plus(moments)
    return found


def _rated(
    group: Sequence[str], met: Met, takers: set[tuple[str, str]], width: float, number: int,
    adjusted: bool,
) -> list[Rating]:  # fmt: skip
    priors = {pair: _prior(found) if adjusted else PRIOR for pair, found in met.items()}
    logits, spread = _fitted(group, {pair: m.plus(priors[pair]) for pair, m in met.items()})
    top, bottom = _open_ends(group, takers)
    found = []
    for i, name in enumerate(group):
        elo, error = ELO * logits[i], ELO * sqrt(spread[i][i])
        pairs = int(sum(moments.size for pair, moments in met.items() if name in pair))
        half = student(pairs, width) * error
        low = -inf if name in bottom else elo - half
        high = inf if name in top else elo + half
        found.append(Rating(name, elo, low, high, error, pairs, number))
    return found


def _prior(found: Moments) -> Moments:
    """The prior of adjusted scores: smaller, in proportion to their variance.

    A whole pair would outweigh scores that are as informative as many raw pairs.
    """
    mean = found.plus(PRIOR).mean
    share = found.variance / (mean * (1 - mean))
    return PRIOR.times(min(1.0, max(SMALLEST, share)))


def _fitted(group: Sequence[str], met: Met) -> tuple[list[float], Matrix]:
    """Log odds with mean 0 by Newton's method, and the covariance of their errors."""
    size = len(group)
    place = {name: i for i, name in enumerate(group)}
    rows = [(place[one], place[two], moments) for (one, two), moments in met.items()]
    logits = [0.0] * size
    for _ in range(STEPS):
        gradient = [0.0] * size
        bend = [
            [1 / size] * size for _ in range(size)
        ]  # fixes the mean, which the likelihood leaves free
        for i, j, moments in rows:
            chance = 1 / (1 + exp(logits[j] - logits[i]))
            more = moments.total - moments.size * chance
            gradient[i] += more
            gradient[j] -= more
            _spread(bend, i, j, moments.size * chance * (1 - chance))
        inverse = _inverse(bend)
        steps = [sum(a * b for a, b in zip(row, gradient, strict=True)) for row in inverse]
        longest = max(map(abs, steps))
        shrink = min(1.0, LARGEST_STEP / longest) if longest else 1.0
        logits = [logit + shrink * step for logit, step in zip(logits, steps, strict=True)]
        if longest < CLOSE:
            break
    meat: Matrix = [[0.0] * size for _ in range(size)]
    for i, j, moments in rows:
        _spread(meat, i, j, moments.size * moments.variance)
    # The term that fixed the mean adds no error: the rows of `meat` sum to 0.
    return logits, _product(_product(inverse, meat), inverse)


def _spread(matrix: Matrix, i: int, j: int, weight: float) -> None:
    matrix[i][i] += weight
    matrix[j][j] += weight
    matrix[i][j] -= weight
    matrix[j][i] -= weight


def _product(one: Matrix, two: Matrix) -> Matrix:
    columns = list(zip(*two, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
            for row in one]  # fmt: skip


def _inverse(matrix: Matrix) -> Matrix:
    """The inverse of a positive definite matrix, by elimination."""
    size = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        own = rows[i] = [value / rows[i][i] for value in rows[i]]
        for k, row in enumerate(rows):
            if k != i and row[i]:
                factor = row[i]
                rows[k] = [a - factor * b for a, b in zip(row, own, strict=True)]
    return [row[size:] for row in rows]


def _groups(names: Sequence[str], met: Met) -> list[list[str]]:
    """Players connected by chains of games, in the order of their names."""
    beside: dict[str, set[str]] = {name: set() for name in names}
    for one, two in met:
        beside[one].add(two)
        beside[two].add(one)
    groups, left = [], list(names)
    while left:
        found = _reached(left[0], beside)
        groups.append([name for name in left if name in found])
        left = [name for name in left if name not in found]
    return groups


def _open_ends(group: Sequence[str], scored: set[tuple[str, str]]) -> tuple[set[str], set[str]]:
    """The players without an upper limit by the data alone, and those without a lower one.

    `scored` holds (a, b) where a scored against b. A rating is limited above by a player who scored
    against it, or against another player that is limited. Sets of players that lost nothing to any
    player outside the set have no upper limit.
    """
    takers: dict[str, set[str]] = {
        name: set() for name in group
    }  # by player: those who scored against it
    givers: dict[str, set[str]] = {name: set() for name in group}
    for one, two in scored:
        if one in takers and two in takers:
            takers[two].add(one)
            givers[one].add(two)
    above = {name: _reached(name, takers) for name in group}
    below = {name: _reached(name, givers) for name in group}
    members = set(group)
    top = {name for name in group if above[name] != members}
    bottom = {name for name in group if below[name] != members}
    # Players between such sets are limited on both sides.
    return (
        {name for name in top if above[name] <= below[name]},
        {name for name in bottom if below[name] <= above[name]},
    )


def _reached(start: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    found, waiting = {start}, [start]
    while waiting:
        for name in edges[waiting.pop()]:
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found
