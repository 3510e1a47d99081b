"""Whether a tree is certainly larger than a limit, from a few random playouts.

A playout that multiplies the numbers of branches on its way estimates the size of the tree without
bias (Knuth 1975). Wealth that is multiplied by the ratio of such estimates to the limit is a
supermartingale unless the tree is larger, so it reaches `SURE` with a probability of at most
1 / `SURE` (Ville's inequality). A tree that is much larger is recognised after a few playouts.

>>> clearly_larger(lambda enough: min(enough, 10**9), most=1000)
True
>>> clearly_larger(lambda enough: min(enough, 900), most=1000)
False
"""

from __future__ import annotations

from collections.abc import Callable

PLAYOUTS = 1000
STAKE = 0.1  # of the wealth
ENOUGH = 1000  # limits; a larger estimate counts as so many
HOPELESS, SURE = 1e-4, 1e9


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
