"""What the environments need beyond Python, each thing behind the extra that brings it.

>>> need("math", extra="rl").floor(2.5)
2
>>> need("a_library_nobody_has", extra="rl")
Traceback (most recent call last):
duels.core.errors.MissingExtra: a_library_nobody_has is not installed: pip install 'duels[rl]'
"""

from __future__ import annotations

from importlib import import_module
from operator import index
from typing import Any

from duels.core.errors import MissingExtra, OptionError, quote

# Numpy's arrays: naming their type would bind this package's checks to numpy being installed.
Array = Any


def need(module: str, extra: str) -> Any:
    """A module that an extra brings, or one line that says which extra is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise  # the library is there and broken: its own message says more
    top = module.partition(".")[0]
    raise MissingExtra(f"{top} is not installed: pip install 'duels[{extra}]'")


def whole(name: str, value: Any, low: int | None = None) -> int:
    """A whole number of any kind, numpy's too, as Python's own.

    >>> whole("turn_limit", 0, low=1)
    Traceback (most recent call last):
    duels.core.errors.OptionError: turn_limit is a whole number from 1 up; got 0
    """
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or (low is not None and number < low):
        least = "" if low is None else f" from {low} up"
        raise OptionError(f"{name} is a whole number{least}; got {quote(value)}")
    return number
