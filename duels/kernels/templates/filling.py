"""Template of the loop that fills the mixed strategies of one seat in every row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duels.algorithms.compiled.templates import unbound
from duels.kernels import Array, cached

mixed_strategy: Callable[..., Any] = unbound


@cached
def fill(rules: Any, tables: Any, state: Array, player: int, out: Array) -> None:
    """Add the mixed strategy of a player in every row to `out`."""
    for i in range(state.shape[0]):
        mixed_strategy(rules, tables, state, i, player, out)
