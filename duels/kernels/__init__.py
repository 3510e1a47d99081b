"""Compiled kernels: the rules of games restated in numba, for thousands of games at a time.

The tests compare every kernel with the pure rules. Every module here can be imported without numba;
using one then raises a one-line error that names the missing extra.

A game in progress is one row of a small array of integers. Chance outcomes come from one stream of
random numbers per row (`random_streams.py`), so a game does not depend on the others in its batch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from duels.algorithms import compiled as numba
from duels.algorithms.compiled import have_numba, np
from duels.algorithms.solution import Progress
from duels.core.errors import DuelsError
from duels.core.extras import Array
from duels.core.game import AnyGame
from duels.core.spec import located, spec_of

__all__ = [
    "DECISIONS", "GOING_ON", "NO_WINNER",
    "AivatEvaluator", "AivatValues", "Array", "CompiledPolicy", "Kernel", "NoKernel", "Scalar",
    "cached", "compiled", "have_numba", "imported_on_call", "kernel_of", "need_numba", "no_policy",
    "not_inlined", "np", "registered_kernel",
]  # fmt: skip

# An integer or a bool: Python's where kernels are called, numpy's where they are compiled.
Scalar = Any
F = TypeVar("F", bound=Callable[..., Any])

# The first column of every state: decisions resolved so far, a sealed pair counting once.
DECISIONS = 0

# What `play` returns: the winner, or one of these.
NO_WINNER = 2
GOING_ON = -1


BY_TREE = "duels.kernels.tree:tree_kernel"  # makes the kernel of a game without its own


class NoKernel(DuelsError, ValueError):
    """The game, or this variant of it, has no kernel."""


class CompiledPolicy(NamedTuple):
    """A built-in opponent as compiled code.

    `choose(rules, tables, state, streams, i, player)` returns its action in a row, drawn from the
    row's stream of picks. `tables` is a tuple of arrays that it reads; a policy that also caches
    results in them has its own tables. `mixed_strategy(rules, tables, state, i, player, out)` adds
    the probability of each action to `out[i]`, which contains zeros; without it `duels.measure`
    queries the player in Python. `prefetch(rules, tables, state, i, player)` may be called some
    rows before `choose`, to load the memory that it reads.
    """

    choose: Callable[..., Any]
    tables: Any = ()
    mixed_strategy: Callable[..., Any] | None = None
    prefetch: Callable[..., Any] | None = None
    # Only for the greedy policy: `gain(rules, state, i, player, action)`.
    gain: Callable[..., Any] | None = None


class AivatValues(NamedTuple):
    """Values of choices in rows of a kernel, as Player 1's score, for AIVAT correction terms."""

    value: Array  # of the row: exact, or an estimate
    expected: Array  # over the players' mixed strategies and the chance events that follow
    regret: Array  # of the choice, by seat; NaN if the seat did not choose or it is not known


# A function of rows in which a player chooses, and of the chosen actions.
AivatEvaluator = Callable[[Array, Array], AivatValues]


def no_policy(game: Any, opponent: str) -> CompiledPolicy | None:
    """The policies of a kernel that has none: opponents are queried in Python."""
    return None


def no_values(game: Any, rows: Array) -> None:
    """The values of a kernel that has none."""


def no_evaluator(game: Any, players: tuple[str, str]) -> AivatEvaluator | None:
    """The AIVAT evaluator of a kernel that has none."""
    return None


def imported_on_call(place: str) -> Callable[..., Any]:
    """A function that imports `module:function` when it is called.

    For functions whose module imports the module of the kernel.
    """

    def call(*values: Any) -> Any:
        return located(place)(*values)

    return call


class Kernel(NamedTuple):
    """One game's kernel: its columns, the conversion of pure states, and compiled functions.

    The functions take the rules, the array of states, and the index of a row:

    - `begin(rules, state, streams, i)` deals a new game;
    - `mover(rules, state, i)` returns the player who chooses;
    - `legal(rules, state, i, player, action)` returns whether that player may choose an action, and
      `choose(rules, state, streams, i, player)` a random legal action;
    - `play(rules, state, streams, i, first, second)` plays the chosen actions (`second` only if
      sealed), then chance, and returns the winner, NO_WINNER for a draw or GOING_ON;
    - `mask(rules, state, i, player, out, s)` and `observe(...)` fill the row `out[i, s]`, and so
      does `packed`, if there is one: the mask as bits, the lowest of the first byte first.

    `chooser(game, opponent)` returns a built-in opponent other than `random` in compiled code, or
    None: the opponent then plays in Python, a hundred times slower. (If hands are secret, the state
    must contain what an opponent remembers, and the result is never None.)
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
    chooser: Callable[[Any, str], CompiledPolicy | None] = no_policy
    packed: Callable[..., Any] | None = None
    # `values(game, rows)`: Player 1's expected score under perfect play in rows where a player
    # chooses, as an array; None if the solution must be queried row by row.
    values: Callable[[Any, Array], Array | None] = no_values
    # `aivat_evaluator(game, players)`: AIVAT values, if that is faster than by the rules.
    aivat_evaluator: Callable[[Any, tuple[str, str]], AivatEvaluator | None] = no_evaluator
    # `payoff(rules, state, i, ended)`: what the winner is paid in a row that has ended.
    payoff: Callable[..., Any] | None = None


need_numba = functools.partial(numba.need_numba, "vectorised games need", "rl")


def compiled(function: F) -> F:
    """Compile on first call.

    Kernels are inlined into the loops over a batch, and arrays are not reference counted: calls and
    counting would each take as long as a step. Kernels allocate nothing, so counting is not needed.
    `_nrt` is not a documented option of numba. Without it the code works, but games with chance
    events run at half the speed: numba does not remove the counting of an array that is used only
    in a branch.

    Only functions that are called from Python are cached on disk (`cached`); they include the rest.
    """
    return _built(function, forceinline=True)


def cached(function: F) -> F:
    """As `compiled`, and cached on disk: for loops over a batch, which are called from Python."""
    return _built(function, forceinline=True, cache=True)


def not_inlined(function: F) -> F:
    """As `compiled`, but not inlined: for long functions that are rarely called."""
    return _built(function)


def _built(function: F, **options: Any) -> F:
    options |= {"error_model": "numpy", "nogil": True}
    try:
        return numba.built(function, need_numba, **options, _nrt=False)
    except KeyError:
        return numba.built(function, need_numba, **options)


def kernel_of(game: AnyGame, progress: Progress | None = None) -> Kernel:
    """The kernel of a game: its own, else one made from its tree; raises `NoKernel` without any.

    `progress` is called while the tree is made.
    """
    need_numba()
    kind: type = type(game)  # mypy mistakes type[Game] for something with the hash of a game
    kernel = registered_kernel(kind)
    if kernel is None:
        kernel = located(BY_TREE)(game, progress)
        assert isinstance(kernel, Kernel)
    return kernel


@functools.cache  # called several times in each step of a batch
def registered_kernel(kind: type[AnyGame]) -> Kernel | None:
    """The kernel of the registration of a class of rules, if it has one."""
    reference = spec_of(kind).kernel
    if not reference:
        return None
    kernel: Kernel = located(reference)
    return kernel if kernel.game is kind else None
