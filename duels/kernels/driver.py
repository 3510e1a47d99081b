"""The loops over a batch of games, compiled once for each kernel.

They implement what is common to all games: an illegal action forfeits, the turn limit truncates,
and a game that has ended is dealt again in the same step. This duplicates
`duels.envs.encoding.GameNode`, because numba cannot call Python code; the tests compare the two
(docs/reference/envs/vector.md).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from duels.algorithms.compiled.templates import load
from duels.kernels import Array, Kernel, cached, compiled

# How a game ended: the values of `Batch.ending`.
RUNNING, BY_RULES, BY_FORFEIT, BY_LIMIT = range(4)


class Drivers(NamedTuple):
    """The compiled loops of one kernel."""

    start: Callable[..., Any]  # this and the next two are for one game
    advance: Callable[..., Any]
    paid: Callable[..., Any]
    begin: Callable[..., Any]
    step: Callable[..., Any]
    pick: Callable[..., Any]
    movers: Callable[..., Any]
    masks: Callable[..., Any]
    observations: Callable[..., Any]
    packed: Callable[..., Any] | None
    pick_of: Callable[..., Any]  # this and the next two are for one seat in each game
    masks_of: Callable[..., Any]
    observations_of: Callable[..., Any]


@compiled
def plain_payoff(rules: Any, state: Array, i: int, ended: int) -> Any:
    """What a win pays where every win pays the same."""
    return 1


@cached
def first_invalid(actions: Array, moves: int) -> int:
    """The index of the first action outside the action space, or -1."""
    wrong = False  # without a branch, so that the loop is vectorised
    for place in range(actions.shape[0]):
        wrong |= (actions[place] < 0) | (actions[place] >= moves)
    if wrong:
        for place in range(actions.shape[0]):
            if not 0 <= actions[place] < moves:
                return place
    return -1


@cache
def drivers(kernel: Kernel, sealed: bool) -> Drivers:
    """The loops for a kernel, with sealed choices or not."""
    loops = load(
        "duels.kernels.templates.batch",
        sealed=sealed, deal=kernel.begin, mover=kernel.mover, legal=kernel.legal,
        choose=kernel.choose, play=kernel.play, mask=kernel.mask, observe=kernel.observe,
        pack_mask=kernel.packed, payoff=kernel.payoff or plain_payoff,
    )  # fmt: skip
    found = {name: getattr(loops, name) for name in Drivers._fields}
    return Drivers(**found | ({} if kernel.packed else {"packed": None}))
