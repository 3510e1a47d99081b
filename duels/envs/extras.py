"""What the environments need beyond Python, each thing behind the extra that brings it.

>>> need("math", extra="rl").floor(2.5)
2
>>> need("a_library_nobody_has", extra="rl")
Traceback (most recent call last):
duels.core.errors.MissingExtra: a_library_nobody_has is not installed: pip install 'duels[rl]'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from duels.core.errors import MissingExtra

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
