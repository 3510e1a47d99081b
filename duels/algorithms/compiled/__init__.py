"""Solvers compiled by numba. Code that only reads a table does not use this package.

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

from duels.algorithms.compiled.cache import cached
from duels.algorithms.compiled.templates import COPY
from duels.core.errors import MissingExtra
from duels.core.extras import install_command

# Arrays are numpy's, whose types would bind this package's checks to numpy being installed.
Array = Any
F = TypeVar("F", bound=Callable[..., Any])

np: Any
_numba: Any
try:
    np = importlib.import_module("numpy")
    _numba = importlib.import_module("numba")
except (ImportError, OSError):  # OSError: code must not be made here, as under deploy/duels.service
    np = _numba = None


def have_numba() -> bool:
    return _numba is not None


def need_numba(work: str = "solving this needs", extra: str = "solve") -> None:
    """Raise a one-line error that names what to install, if numba is missing."""
    if not have_numba():
        raise MissingExtra(f"{work} numba: {install_command(extra)}")


def compiled(function: F) -> F:
    """Compile on first call, with plain IEEE arithmetic: no reordering, so results repeat.

    `error_model` only drops the test for division by zero, which keeps loops from being
    vectorised. The result is cached on disk until any source changes (`cache.py`).
    """
    return built(function, need_numba, error_model="numpy", nogil=True, cache=True)


def recursive(function: F) -> F:
    """`compiled` for mutually recursive functions, which are not cached on disk.

    What numba loads of such functions lacks the addresses of one another: calling it crashes.
    """
    return built(function, need_numba, error_model="numpy", nogil=True)


def built(function: F, need: Callable[[], None], *, cache: bool = False, **options: Any) -> F:
    """A function compiled with numba's options, or one that raises what `need` raises."""
    if _numba is None:

        @functools.wraps(function)
        def missing(*args: Any, **named: Any) -> Any:
            need()

        return missing  # type: ignore[return-value]
    if copy := function.__globals__.get(COPY):
        function.__qualname__ += f"_{copy}"  # by which numba tells functions of one file apart
    made: F | None = cached(_numba, function, options) if cache and copy != "" else None
    return made or _numba.njit(**options)(function)
