"""Subsets of one size in a fixed order: their ranks are the indices of tables."""

from __future__ import annotations

from functools import cache
from math import comb
from typing import Any


@cache
def subset_rank(numbers: tuple[int, ...]) -> int:
    """The place of an ascending set among all of its size, as bit masks in ascending order.

    >>> [subset_rank(pair) for pair in [(1, 2), (1, 3), (2, 3), (1, 4)]]
    [0, 1, 2, 3]
    """
    return sum(comb(number - 1, place) for place, number in enumerate(numbers, 1))


@cache
def ranks(numbers: int) -> tuple[Any, Any]:
    """`subset_rank` and size of every set of the numbers up to this one, as arrays by its bits.

    Among sets of one size the ranks ascend with the bits, read as a number. Needs numpy.
    """
    from duels.algorithms.compiled import np

    words = np.arange(1 << numbers)
    size = sum((words >> bit & 1 for bit in range(numbers)), np.zeros(1 << numbers, np.int64))
    rank = np.zeros(1 << numbers, np.int64)
    for count in range(numbers + 1):
        rank[size == count] = np.arange(np.count_nonzero(size == count))
    return rank, size
