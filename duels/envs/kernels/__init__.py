"""Compiled kernels: the rules of games again, for thousands of games at a time.

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
from duels.solve import compiled as numba
from duels.solve.compiled import have_numba, np
from duels.solve.compiled.cache import keep

__all__ = [
    "DECISIONS", "GOING_ON", "KERNELS", "NOBODY",
    "Array", "Chooser", "Kernel", "NoKernel", "Scalar", "Weigh", "Weighed",
    "apart", "compiled", "have_numba", "keep", "kernel_named", "kernel_of", "need_numba", "nobody",
    "np", "placed", "weighed_by",
]  # fmt: skip

# By slug. A game of another package declares an entry point in the group `duels.kernels`:
# `your-game = "your_package.kernel:KERNEL"`.
KERNELS = {
    "firewall-breach": "duels.envs.kernels.firewall_breach:KERNEL",
    "number-clash": "duels.envs.kernels.number_clash:KERNEL",
    "cipher-siege": "duels.envs.kernels.cipher_siege:KERNEL",
    "digit-duel": "duels.envs.kernels.digit_duel:KERNEL",
    "number-wars": "duels.envs.kernels.number_wars:KERNEL",
}

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


class Chooser(NamedTuple):
    """A built-in opponent as compiled code.

    `choose(rules, tables, state, streams, i, player)` is its action in a row, drawn from the row's
    stream of picks. `tables` is a tuple of what it reads; where it also writes there, to remember
    what it has worked out, the tables are one chooser's own. `mix(rules, tables, state, i, player,
    out)` adds the chance of each action to the zeros of `out[i]`; without it `duels.measure` asks
    in Python. `ahead(rules, tables, state, i, player)` may be called some rows before `choose`, to
    have memory fetched that it will need.
    """

    choose: Callable[..., Any]
    tables: Any = ()
    mix: Callable[..., Any] | None = None
    ahead: Callable[..., Any] | None = None
    # Of one that takes the largest gain in sight: `gain(rules, state, i, player, action)`.
    gain: Callable[..., Any] | None = None


class Weighed(NamedTuple):
    """Choices in rows of a kernel, for taking luck out of scores. Values are Player 1's score."""

    value: Array  # of the row, by exact values or a guess
    expected: Array  # on average over how the players choose and what chance then brings
    regret: Array  # of what was chosen, by seat; NaN for a seat that did not choose, or not known


# From rows in which somebody chooses, and what was chosen.
Weigh = Callable[[Array, Array], Weighed]


def nobody(game: Any, opponent: str) -> Chooser | None:
    """The choosers of a kernel that has none: opponents are asked in Python."""
    return None


def unweighed(game: Any, players: tuple[str, str]) -> Weigh | None:
    """The weigher of a kernel that has none."""
    return None


def placed(place: str) -> Callable[[Any, str], Chooser | None]:
    """The choosers of a module that is built on the kernel's own: `module:function`, found late."""

    def chooser(game: Any, opponent: str) -> Chooser | None:
        made: Chooser | None = located(place)(game, opponent)
        return made

    return chooser


def weighed_by(place: str) -> Callable[[Any, tuple[str, str]], Weigh | None]:
    """A weigher likewise."""

    def weigher(game: Any, players: tuple[str, str]) -> Weigh | None:
        made: Weigh | None = located(place)(game, players)
        return made

    return weigher


def located(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


class Kernel(NamedTuple):
    """One game's kernel: its columns, how its pure states fit into them, and compiled functions.

    The functions take the rules, the array of states, and the row they are about:

    - `begin(rules, state, streams, i)` deals a new game;
    - `mover(rules, state, i)` is who chooses;
    - `legal(rules, state, i, player, action)` is whether that player may choose an action, and
      `choose(rules, state, streams, i, player)` is one of those, each equally likely;
    - `play(rules, state, streams, i, first, second)` plays what was chosen (`second` only if
      sealed), then chance, and says who has won, NOBODY for a draw or GOING_ON;
    - `mask(rules, state, i, player, out, s)` and `observe(...)` fill the row `out[i, s]`, and so
      does `packed`, if there is one: the mask as bits, the lowest of the first byte first.

    `chooser(game, opponent)` is a built-in opponent other than `random` in compiled code, or None:
    it is then asked in Python, which is as right and a hundred times slower. (Where hands are
    secret, what an opponent remembers must be in the state, and the answer is never None.)
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
    chooser: Callable[[Any, str], Chooser | None] = nobody
    packed: Callable[..., Any] | None = None
    # `weigher(game, players)`, where there is a better way than asking the rules (`duels.arena`).
    weigher: Callable[[Any, tuple[str, str]], Weigh | None] = unweighed


need_numba = functools.partial(numba.need_numba, "vectorised games need", "rl")


def compiled(function: F) -> F:
    """Compile on first call.

    Kernels are inlined into the loops over a batch, and the arrays they use are not counted: both
    would cost as much as a step. They allocate nothing, so there is nothing to count; the option is
    numba's own, so a numba without it is served too, at half the speed.

    Only the loops over a batch are kept on disk (`keep`): all the rest is inside them.
    """
    return _built(function, forceinline=True)


def apart(function: F) -> F:
    """As `compiled`, and called instead of inlined: for what is long and seldom needed."""
    return _built(function)


def _built(function: F, **options: Any) -> F:
    options |= {"error_model": "numpy", "nogil": True}
    try:
        return numba.built(function, need_numba, **options, _nrt=False)
    except KeyError:
        return numba.built(function, need_numba, **options)


def registered() -> dict[str, str]:
    """Where the kernel of each game is, by its slug; those of other packages included."""
    return others() | KERNELS


@functools.cache
def others() -> dict[str, str]:
    """The kernels that other packages declare as entry points in the group `duels.kernels`."""
    from importlib.metadata import entry_points  # scanning installed packages takes a while

    return {point.name: point.value for point in entry_points(group="duels.kernels")}


def kernel_named(slug: str) -> Kernel | None:
    """The kernel registered for a slug, if there is one."""
    place = KERNELS.get(slug) or others().get(slug)
    if place is None:
        return None
    kernel: Kernel = located(place)
    return kernel


def kernel_of(game: AnyGame) -> Kernel:
    """The kernel that restates a game's rules, or `NoKernel`."""
    need_numba()
    kernel = kernel_named(game.slug)
    if kernel is None or type(game) is not kernel.game:  # a subclass may have changed any rule
        raise NoKernel(
            f"{type(game).__name__} has no kernel; the games with one are {listed(registered())}"
        )
    return kernel
