"""Imports of optional libraries, and the command that installs a missing one.

>>> need("math", extra="rl").floor(2.5)
2
>>> need("a_missing_library", extra="rl")  # doctest: +ELLIPSIS
Traceback (most recent call last):
duels.core.errors.MissingExtra: a_missing_library is not installed: python3 -m pip install '...[rl]'
"""

from __future__ import annotations

import os
from importlib import import_module
from operator import index
from shlex import quote as shell_quote
from typing import Any

from duels.core.errors import MissingExtra, OptionError, quote

# The type of numpy arrays: `Any`, so that type checking does not need numpy.
Array = Any
# The directory that contains the package: a source checkout if it has a pyproject.toml.
CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def install_command(extra: str) -> str:
    """The command that installs an extra: from the source checkout if this is one, else by name."""
    source = "duels"
    if os.path.isfile(os.path.join(CHECKOUT, "pyproject.toml")):
        try:
            source = os.path.relpath(CHECKOUT)
        except (OSError, ValueError):  # no current directory, or one on another drive
            source = CHECKOUT
        if os.sep not in source and source not in (os.curdir, os.pardir):
            source = os.path.join(os.curdir, source)  # else pip takes it for a package's name
    return f"python3 -m pip install {shell_quote(f'{source}[{extra}]')}"


def need(module: str, extra: str) -> Any:
    """Import a module of an extra; `MissingExtra` names the command that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise  # the library is installed and broken: its own message is more helpful
    top = module.partition(".")[0]
    raise MissingExtra(f"{top} is not installed: {install_command(extra)}")


def whole(name: str, value: Any, low: int | None = None) -> int:
    """Convert an integer of any type, such as numpy's, to `int`.

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
