"""The loops over a batch for one agent: the opponent's moves are played inside.

Compiled once for each kernel and opponent policy, of which `random` is one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from duels.algorithms.compiled.templates import load
from duels.kernels import Array, CompiledPolicy, Kernel, compiled
from duels.kernels.driver import drivers

# How often a game that ends before the agent's first choice is dealt again, at most.
MOST_DEALS = 10_000
BLOCK = 32  # rows whose memory is fetched together


class OpponentLoops(NamedTuple):
    """The compiled loops of one kernel against one opponent."""

    begin: Callable[..., Any]
    step: Callable[..., Any]
    pick: Callable[..., Any]


@cache
def uniform(kernel: Kernel) -> CompiledPolicy:
    """The random opponent of a game."""
    pick, legal = kernel.choose, kernel.legal

    @compiled
    def choose(rules: Any, tables: Any, state: Array, streams: Array, i: int, player: int) -> Any:
        return pick(rules, state, streams, i, player)

    @compiled
    def mixed_strategy(
        rules: Any, tables: Any, state: Array, i: int, player: int, out: Array
    ) -> None:
        n = 0
        for action in range(out.shape[1]):
            n += int(legal(rules, state, i, player, action))
        for action in range(out.shape[1]):
            out[i, action] = int(legal(rules, state, i, player, action)) / n

    return CompiledPolicy(choose, (), mixed_strategy)


@cache
def strategy_loop(mixed_strategy: Callable[..., Any]) -> Callable[..., Any]:
    """The loop that fills the mixed strategies of one seat in every row."""

    loop: Callable[..., Any] = load(
        "duels.kernels.templates.filling", mixed_strategy=mixed_strategy
    ).fill
    return loop


@compiled
def no_prefetch(rules: Any, tables: Any, state: Array, i: int, player: int) -> None:
    """The `prefetch` of a policy that has none."""
    pass


@cache
def opponent_loops(
    kernel: Kernel,
    sealed: bool,
    choose: Callable[..., Any],
    prefetch: Callable[..., Any] = no_prefetch,
) -> OpponentLoops:
    """The loops for one side of a game, with a compiled policy's functions on the other side."""
    run = drivers(kernel, sealed)
    loops = load(
        "duels.kernels.templates.opponent",
        sealed=sealed, mover=kernel.mover, observe=kernel.observe,
        start=run.start, advance=run.advance, paid=run.paid, choose=choose, prefetch=prefetch,
    )  # fmt: skip
    return OpponentLoops(loops.begin, loops.step, loops.pick)
