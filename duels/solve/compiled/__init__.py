"""Compiled kernels: the big solves, in numba. Nothing that only reads a table comes here.

Every module here can be imported on a bare Python, so that tools which visit all modules need no
exception; calling a kernel without the extra is a one-line error that names it.

>>> @compiled
... def double(number: int) -> int:
...     return 2 * number
>>> have_numba() is False or double(21) == 42
True
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from duels.core.errors import MissingExtra
from duels.solve.compiled.cache import keep

# Arrays are numpy's, whose types would bind this package's checks to numpy being installed.
Array = Any
F = TypeVar("F", bound=Callable[..., Any])

np: Any
_numba: Any
try:
    np = importlib.import_module("numpy")
    _numba = importlib.import_module("numba")
except ImportError:
    np = _numba = None


def have_numba() -> bool:
    return _numba is not None


def need_numba(work: str = "solving this needs", extra: str = "solve") -> None:
    """Say in one line what to install, before any work is begun."""
    if not have_numba():
        raise MissingExtra(f"{work} numba: pip install 'duels[{extra}]'")


def compiled(function: F) -> F:
    """Compile on first call, with plain IEEE arithmetic: no reordering, so results repeat.

    `error_model` only drops the test for division by zero, which keeps loops from being
    vectorised. What is compiled is kept on disk until any source changes (`cache.py`).
    """
    made: F = keep(recursive(function))
    return made


def recursive(function: F) -> F:
    """`compiled` for functions that call each other round about, which are not kept on disk.

    What numba reads back of such functions has no addresses of one another: calling it crashes.
    """
    return built(function, need_numba, error_model="numpy", nogil=True)


def built(function: F, need: Callable[[], None], **options: Any) -> F:
    """A function compiled with numba's options, or one that says what it needs."""
    if _numba is None:

        @functools.wraps(function)
        def missing(*args: Any, **named: Any) -> Any:
            need()

        return missing  # type: ignore[return-value]
    made: F = _numba.njit(**options)(function)
    return made
