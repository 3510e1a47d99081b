"""Compiled kernels: the rules of the built-in games again, for thousands of games at a time.

A kernel restates a game for speed and is never trusted on its own: the tests walk each against the
pure rules. Every module here can be imported on a bare Python; using one without the extra is a
one-line error that names it.

A game in progress is one row of a small array of whole numbers. What chance brings comes from one
stream of random numbers per row (`stream.py`), so a game does not depend on its neighbours.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from duels.core.errors import DuelsError
from duels.core.game import AnyGame
from duels.core.show import listed
from duels.envs.extras import Array
from duels.games import BUILT_IN
from duels.solve import compiled as numba
from duels.solve.compiled import have_numba, np

__all__ = [
    "DECISIONS", "GOING_ON", "NOBODY",
    "Array", "Kernel", "NoKernel", "Scalar",
    "compiled", "have_numba", "kernel_named", "kernel_of", "need_numba", "np",
]  # fmt: skip

# A whole number or a truth, Python's where kernels are called and numpy's where they are compiled.
Scalar = Any
F = TypeVar("F", bound=Callable[..., Any])

# The first column of every state: decisions resolved so far, a sealed pair counting once.
DECISIONS = 0

# What `play` says: the winner, or one of these.
NOBODY = 2
GOING_ON = -1


class NoKernel(DuelsError, ValueError):
    """A game, or a variant of one, that has not been restated as a kernel."""


class Kernel(NamedTuple):
    """One game's kernel: its columns, how its pure states fit into them, and compiled functions.

    The functions take the rules, the array of states, and the row they are about:

    - `begin(rules, state, streams, i)` deals a new game;
    - `mover(rules, state, i)` is who chooses;
    - `legal(rules, state, i, player, action)` is whether that player may choose an action, and
      `choose(rules, state, streams, i, player)` is one of those, each equally likely;
    - `play(rules, state, streams, i, first, second)` plays what was chosen (`second` only if
      sealed), then chance, and says who has won, NOBODY for a draw or GOING_ON;
    - `mask(rules, state, i, player, out, s)` and `observe(...)` fill the row `out[i, s]`.
    """

    game: type[AnyGame]
    columns: int
    dtype: str
    rules: Callable[[Any], Any]
    sealed: Callable[[Any], bool]
    pack: Callable[[Any, Any], tuple[int, ...]]
    unpack: Callable[[Any, tuple[int, ...]], Any]
    begin: Callable[..., Any]
    mover: Callable[..., Any]
    legal: Callable[..., Any]
    choose: Callable[..., Any]
    play: Callable[..., Any]
    mask: Callable[..., Any]
    observe: Callable[..., Any]


need_numba = functools.partial(numba.need_numba, "vectorised games need", "rl")


def compiled(function: F) -> F:
    """Compile on first call.

    Kernels are inlined into the loops over a batch, and the arrays they use are not counted: both
    would cost as much as a step. They allocate nothing, so there is nothing to count; the option is
    numba's own, so a numba without it is served too, at half the speed.

    Results are not cached on disk: numba does not notice when a function called from another file
    has changed, and stale rules would be worse than a wait of seconds.
    """
    options = {"error_model": "numpy", "nogil": True, "forceinline": True}
    try:
        return numba.built(function, need_numba, **options, _nrt=False)
    except KeyError:
        return numba.built(function, need_numba, **options)


def kernel_named(slug: str) -> Kernel:
    module = importlib.import_module(f"{__name__}.{slug.replace('-', '_')}")
    kernel: Kernel = module.KERNEL
    return kernel


def kernel_of(game: AnyGame) -> Kernel:
    """The kernel that restates a game's rules."""
    need_numba()
    # A subclass may have changed any rule.
    if game.slug not in BUILT_IN or type(game) is not kernel_named(game.slug).game:
        raise NoKernel(
            f"{type(game).__name__} has no kernel; the games with one are {listed(BUILT_IN)}"
        )
    return kernel_named(game.slug)
