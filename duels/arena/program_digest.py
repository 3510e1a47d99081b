"""Digests of players' programs, by which results of an edited bot are told from current ones.

A command is identified by the files that its command line names, the executable included; a class
by the source file of its module; a built-in player by the version of this package. For Python
files, the modules beside them that they import are included. Nothing is imported or run. Other
files that a program reads are not detected.

>>> digest_of("greedy")
'duels 0.1.0'
>>> len(digest_of("mybots.clever:Clever"))
64
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from hashlib import sha256

from duels import __version__
from duels.players import CLASS, COMMAND, parse_spec
from duels.players.references import command_of

BLOCK = 1 << 20  # bytes read at a time
MAIN, PACKAGE = "__main__.py", "__init__.py"  # what Python runs of a folder and of a package
INSTALLED = ("site-packages", "dist-packages")


def digest_of(text: str) -> str:
    """A text that changes with the program of the player that `text` names."""
    kind, name, *_ = parse_spec(text)
    if kind == COMMAND:
        paths = command_files(command_of(name))
    elif kind == CLASS:
        paths = class_files(name.partition(":")[0])
    else:
        return f"duels {__version__}"
    found = sha256()
    for path in dict.fromkeys(paths):
        found.update(f"{_digest(path)}\n".encode())
    return found.hexdigest()


def command_files(words: list[str]) -> Iterator[str]:
    """The files that a command line names: as words, as `OPTION=FILE`, and as `-m MODULE`."""
    for before, word in zip(["", *words], words, strict=False):
        places = [word, os.path.join(word, MAIN), word.partition("=")[2]]
        for path in filter(os.path.isfile, places):
            yield from with_imports(path, os.path.dirname(path))
        if before == "-m":
            for path in located(word, "", MAIN):
                yield from with_imports(path, "")


def class_files(module: str) -> Iterator[str]:
    """The files of a module on Python's path; the working directory is searched last."""
    for root in (*sys.path, os.getcwd()):
        if any(found := list(located(module, root))):
            for path in found:
                yield from with_imports(path, root)
            return


def with_imports(path: str, root: str) -> Iterator[str]:
    """A file and, for a Python file, the modules that it imports from `root`, recursively.

    For an installed package only its own modules: others are identified by their versions.
    """
    waiting, seen = [path], {path}
    while waiting:
        yield (path := waiting.pop())
        for module in sorted(_imported(path, root)):
            if os.path.basename(root) not in INSTALLED or _top(module) == _top(_module(path, root)):
                for found in located(module, root):
                    if found not in seen:
                        seen.add(found)
                        waiting.append(found)


def located(module: str, root: str, main: str = PACKAGE) -> Iterator[str]:
    """The files of a module below a folder, including those of its parent packages."""
    parts = module.split(".")
    for count in range(1, len(parts)):
        yield from filter(os.path.isfile, [os.path.join(root, *parts[:count], PACKAGE)])
    path = os.path.join(root, *parts)
    yield from filter(os.path.isfile, [f"{path}.py", os.path.join(path, main)])


def _imported(path: str, root: str) -> set[str]:
    """The modules that a Python file imports; none for other files."""
    try:
        with open(path, "rb") as file:
            first = file.readline()
            if not (path.endswith(".py") or (first.startswith(b"#!") and b"python" in first)):
                return set()
            tree = ast.parse(first + file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return set()
    found: set[str] = set()
    package = _module(path, root).split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)}
    return {name for name in found if name and _top(name) != "duels"}


def _module(path: str, root: str) -> str:
    """The name of the module in a file below a folder; of a package, with `.__init__`."""
    return os.path.relpath(path, root or os.curdir).removesuffix(".py").replace(os.sep, ".")


def _top(module: str) -> str:
    return module.partition(".")[0]


def _digest(path: str) -> str:
    """The digest of a file's contents; empty if it is not readable, as executables may be."""
    found = sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(BLOCK):
                found.update(block)
    except OSError:
        return ""
    return found.hexdigest()
