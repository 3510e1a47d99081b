"""References to players outside this package: `module:Class`, or the words of a command.

>>> command_of("python3 -u 'my bot.py'")[1:]
['-u', 'my bot.py']
>>> class_named("duels.players.greedy:Greedy").__name__
'Greedy'
>>> class_named("fractions:Fraction")
Traceback (most recent call last):
duels.core.errors.UnknownName: fractions:Fraction is not a subclass of duels.core.Player
"""

from __future__ import annotations

import os
import shlex
import sys
from importlib import import_module
from shutil import which

from duels.core.errors import OptionError, UnknownName, one_line, quote
from duels.core.player import Player


def command_of(text: str) -> list[str]:
    """The words of a command line, with the path of the program first; no shell is used."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise OptionError(f"{quote(text)} is not a valid command line: {error}") from None
    program = os.path.expanduser(words[0]) if words else ""
    found = which(program) if program else None
    if found is not None:
        return [found, *words[1:]]
    if os.path.isfile(program):
        raise UnknownName(
            f"{quote(program)} cannot be run: make it executable (chmod +x), or name what runs it, "
            f"as in 'python3 {program}'"
        )
    raise UnknownName(f"there is no program {quote(program)}")


def class_named(name: str) -> type[Player]:
    """The class that `module:Class` names; modules in the working folder are found as well."""
    module, _, attribute = name.partition(":")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)  # last, so that a file here hides no module of Python
    try:
        found: object = import_module(module)
    except Exception as error:  # an external module may raise anything
        raise UnknownName(f"{name} cannot be imported: {one_line(error)}") from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and issubclass(found, Player)):
        raise UnknownName(f"{name} is not a subclass of duels.core.Player")
    return found


def instantiate(name: str, stream: str) -> Player:
    """An instance of the class that `module:Class` names; `stream` is passed if it takes one."""
    from inspect import signature

    kind = class_named(name)
    given = {"stream": stream} if "stream" in signature(kind).parameters else {}
    try:
        return kind(**given)
    except Exception as error:
        raise UnknownName(
            f"{name} cannot be created with a stream or without arguments: {one_line(error)}"
        ) from error
