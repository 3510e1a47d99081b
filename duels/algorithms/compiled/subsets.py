"""Sets of numbers of one size as arrays, ranked as `duels.algorithms.subsets` ranks them."""

from __future__ import annotations

from typing import NamedTuple

from duels.algorithms.compiled import Array, np


class Sets(NamedTuple):
    """The sets of one size: their numbers and, for each number, the rank of the set without it."""

    numbers: Array
    without: Array


def subsets(numbers: int, size: int) -> Sets:
    """All sets of a size, numbers counted from 0, in ascending order of their bit masks."""
    masks = [mask for mask in range(1 << numbers) if mask.bit_count() == size]
    smaller = [mask for mask in range(1 << numbers) if mask.bit_count() == size - 1]
    rank = {mask: index for index, mask in enumerate(smaller)}
    inside = [[bit for bit in range(numbers) if mask >> bit & 1] for mask in masks]
    without = [
        [rank[mask ^ 1 << bit] for bit in bits] for mask, bits in zip(masks, inside, strict=True)
    ]
    shape = (len(masks), size)
    return Sets(
        np.array(inside, np.int64).reshape(shape), np.array(without, np.int64).reshape(shape)
    )
