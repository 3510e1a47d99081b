"""Sets of numbers of one size, in order: the places that tables and their solvers agree on."""

from __future__ import annotations

from functools import cache
from math import comb


@cache
def subset_rank(numbers: tuple[int, ...]) -> int:
    """The place of an ascending set among all of its size, as bit masks in ascending order.

    >>> [subset_rank(pair) for pair in [(1, 2), (1, 3), (2, 3), (1, 4)]]
    [0, 1, 2, 3]
    """
    return sum(comb(number - 1, place) for place, number in enumerate(numbers, 1))
