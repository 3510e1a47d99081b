"""Whether a tree or a graph of states is certainly larger than a limit, from random playouts.

A playout that multiplies the numbers of branches on its way estimates the size of the tree without
bias (Knuth 1975). Wealth that is multiplied by the ratio of such estimates to the limit is a
supermartingale unless the tree is larger, so it reaches `SURE` with a probability of at most
1 / `SURE` (Ville's inequality). A tree that is much larger is recognised after a few playouts.

Where many paths lead to one state, states are counted by coincidences: two draws from n states are
equal with a probability of at least 1/n, whatever their distribution (the birthday problem).

>>> clearly_larger(lambda enough: min(enough, 10**9), most=1000)
True
>>> clearly_larger(lambda enough: min(enough, 900), most=1000)
False
>>> from random import Random
>>> draw = Random(1).randrange
>>> for states in (1000, 20_000):
...     print(clearly_more_states([[draw(states)] for _ in range(1000)], most=2000))
False
True
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from math import sqrt

PLAYOUTS = 1000
STAKE = 0.1  # of the wealth
ENOUGH = 1000  # limits; a larger estimate counts as so many
HOPELESS, SURE = 1e-4, 1e9
FEW = 3  # coincidences that are too few for a ratio
MINOR = 0.02  # of the largest weight; depths below it are left out
ERRORS = 3.5  # standard errors above the estimated probability of a coincidence


def clearly_larger(estimated_size: Callable[[int], float], most: int) -> bool:
    """Whether the tree has more than `most` nodes.

    `estimated_size(enough)` is the estimate of a new playout, which may stop at `enough`. Estimates
    with a mean below the size are allowed: fewer trees are then recognised, and none wrongly.
    """
    wealth = 1.0
    for _ in range(PLAYOUTS):
        wealth *= 1 - STAKE + STAKE * min(estimated_size(ENOUGH * most), ENOUGH * most) / most
        if not HOPELESS < wealth < SURE:
            break
    return wealth >= SURE


def clearly_more_states(playouts: Sequence[Sequence[Hashable]], most: int) -> bool:
    """Whether more than `most` states can be visited, given the states of independent playouts.

    A state is drawn by choosing a playout and a depth. The first half of the playouts determines
    how often a depth is chosen, in proportion to the number of states that it seems to have; the
    second half estimates the probability that two draws are equal.
    """
    first, second = playouts[::2], playouts[1::2]
    weights: list[float] = []
    seems = 0.0
    for depth in range(max(map(len, first), default=0)):
        visited = Counter(playout[depth] for playout in first if depth < len(playout))
        size = visited.total()
        equal = sum(count * (count - 1) // 2 for count in visited.values())
        weights.append(size / (equal + FEW))
        seems += size * (size - 1) / 2 / (equal + 1)
    if seems < most:
        return False
    weights = [weight if weight >= MINOR * max(weights) else 0.0 for weight in weights]
    by_state: dict[Hashable, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for number, playout in enumerate(second):
        for state, weight in zip(playout, weights, strict=False):  # some playouts end earlier
            if weight:
                by_state[state][number] += weight
    drawn = sum(weight for visits in by_state.values() for weight in visits.values()) / len(second)
    pairs: dict[tuple[int, int], float] = defaultdict(float)
    for visits in by_state.values():
        for (one, a), (two, b) in combinations(sorted(visits.items()), 2):
            pairs[one, two] += a * b
    rare = max(weights) ** 2  # as if one more pair had met
    total = sum(pairs.values()) + rare
    error = sqrt(sum(weight**2 for weight in pairs.values()) + rare**2)
    all_pairs = len(second) * (len(second) - 1) / 2
    return drawn**2 * all_pairs > most * (total + ERRORS * error)
