"""Imports of optional libraries, and the command that installs a missing one.

>>> need("math", extra="rl").floor(2.5)
2
>>> need("a_missing_library", extra="rl")  # doctest: +ELLIPSIS
Traceback (most recent call last):
duels.core.errors.MissingExtra: a_missing_library is not installed: ...
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from operator import index
from shlex import quote as shell_quote
from typing import Any

from duels.core.errors import MissingExtra, OptionError, quote

# The type of numpy arrays: `Any`, so that type checking does not need numpy.
Array = Any
# The directory that contains the package: a source checkout if it has a pyproject.toml.
CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAME = "duels"
PIPX = "pipx_metadata.json"  # which pipx writes to the root of its virtual environments
VENV = ".venv"


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation: by pipx, from a checkout or by name."""
    if os.path.isfile(os.path.join(sys.prefix, PIPX)):
        return f"pipx inject {NAME} {' '.join(map(shell_quote, requirements(extra)))}"
    python, source = _interpreter(), NAME
    if not os.path.isfile(os.path.join(CHECKOUT, "pyproject.toml")):
        return f"{python} -m pip install {shell_quote(f'{source}[{extra}]')}"
    source = _relative(CHECKOUT)
    if os.sep not in source and source not in (os.curdir, os.pardir):
        source = os.path.join(os.curdir, source)  # else pip takes it for a package's name
    install = f"-m pip install -e {shell_quote(f'{source}[{extra}]')}"
    if not _managed():
        return f"{python} {install}"
    folder = VENV if source == os.curdir else os.path.join(source, VENV)
    own = shell_quote(os.path.join(folder, "bin", "python"))
    return f"{python} -m venv {shell_quote(folder)} && {own} {install}, and run {own} -m {NAME}"


def requirements(extra: str) -> list[str]:
    """The requirements of an extra on this system, with those of extras that it includes."""
    from importlib.metadata import requires

    found: dict[str, None] = {}
    for line in requires(NAME) or ():
        requirement, _, marker = line.replace('"', "'").partition(";")
        if f"extra == '{extra}'" not in marker or f"sys_platform != '{sys.platform}'" in marker:
            continue
        name, _, others = requirement.strip().removesuffix("]").partition("[")
        if name == NAME:
            found |= dict.fromkeys(r for other in others.split(",") for r in requirements(other))
        else:
            found[requirement.strip()] = None
    return list(found)


def _interpreter() -> str:
    """The running interpreter as a shell in this directory finds it."""
    from shutil import which

    if not sys.executable:
        return "python3"
    folder, name = os.path.split(sys.executable)
    for word in ("python3", "python", name):
        if (found := which(word)) is not None and os.path.dirname(found) == folder:
            return word
    return shell_quote(_relative(sys.executable))


def _relative(path: str) -> str:
    """A path from the current directory, unless that is further than from the root."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):  # no current directory, or one on another drive
        return path
    return relative if len(relative) < len(path) else path


def _managed() -> bool:
    """Whether the system's package manager reserves this interpreter's packages (PEP 668)."""
    from sysconfig import get_path

    mark = os.path.join(get_path("stdlib"), "EXTERNALLY-MANAGED")
    return sys.prefix == sys.base_prefix and os.path.isfile(mark)


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
