"""What identifies the program of a player, so that results of an edited bot are not taken for new.

A command is identified by the files that its command line names, the executable included; a class
by the source files of the module it is named in and of its base classes; a built-in player by the
version of this package. Other files that a program reads or imports are not known.

>>> digest_of("greedy")
'duels 0.1.0'
>>> len(digest_of("duels.players.greedy:Greedy"))
64
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from hashlib import sha256

from duels import __version__
from duels.core.player import Player
from duels.players import CLASS, COMMAND, named
from duels.players.foreign import class_named, command_of

BLOCK = 1 << 20  # bytes read at a time
MAIN = "__main__.py"  # what Python runs in a folder or a package


def digest_of(name: str) -> str:
    """A text that changes with the program of a player, by its name in a tournament."""
    kind = named(name).kind
    if kind == COMMAND:
        paths = command_files(command_of(name))
    elif kind == CLASS:
        paths = class_files(class_named(name), name.partition(":")[0])
    else:
        return f"duels {__version__}"
    found = sha256()
    for path in paths:
        found.update(f"{_digest(path)}\n".encode())
    return found.hexdigest()


def command_files(words: list[str]) -> Iterator[str]:
    """The files that a command line names: as words, as `OPTION=FILE`, and as `-m MODULE`."""
    for before, word in zip(["", *words], words, strict=False):
        module = word.replace(".", "/")
        places = [word, os.path.join(word, MAIN), word.partition("=")[2]]
        if before == "-m":
            places += [f"{module}.py", os.path.join(module, MAIN)]
        yield from filter(os.path.isfile, places)


def class_files(kind: type[Player], module: str) -> Iterator[str]:
    """The source files of a class, of its base classes and of the module that names it."""
    names = dict.fromkeys([module, *(base.__module__ for base in kind.__mro__)])
    for name in names:
        path = getattr(sys.modules.get(name), "__file__", None)
        if path is not None and os.path.isfile(path):
            yield path


def _digest(path: str) -> str:
    """Of a file's contents; of nothing, where it cannot be read: a program may be run unread."""
    found = sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(BLOCK):
                found.update(block)
    except OSError:
        return ""
    return found.hexdigest()
