"""Modules of compiled functions that are loaded once for each set of functions they call.

Compiled loops call functions that are only known at run time, such as those of a kernel. Numba
compiles these as closures or as globals, but its cache finds only globals again in another process.
So such loops are functions of a template module, which declares the names that they use:

    play: Callable[..., Any] = unbound

and `load` gives a copy of the module with these names bound to functions or constants.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from typing import Any

from duels.algorithms.compiled.cache import identity

# The global name of a loaded copy that tells it from others: "" if it must not be cached.
COPY = "TEMPLATE_COPY"


def unbound(*values: Any) -> Any:
    """Stands in a template for a function that `load` binds."""
    raise NotImplementedError


def load(template: str, **bound: Any) -> Any:
    """A new copy of a template module with names bound to compiled functions and constants."""
    spec = importlib.import_module(template).__spec__
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    setattr(copy, COPY, copy_name(bound))  # for the decorators of its functions
    spec.loader.exec_module(copy)
    vars(copy).update(bound)  # before the first call, which compiles
    return copy


def copy_name(bound: dict[str, Any]) -> str:
    """A name for what is bound, the same in every process; "" if a part is not identified."""
    parts = {name: identity(value) for name, value in sorted(bound.items())}
    return "" if None in parts.values() else hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
