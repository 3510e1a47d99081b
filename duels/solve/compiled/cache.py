"""Compiled functions kept on disk between processes: compiling takes seconds, reading milliseconds.

What is kept is stale as soon as anything changes that could change it: the directory is named by a
digest over every source file of the packages in `PACKAGES` and the versions of Python, numba,
llvmlite and numpy, and a file in it by the function, what it is built over, its argument types and
the processor. So nothing stale is ever found, and nothing has to be compared. (Numba's own cache
looks only at the file a function is written in, and misses a change in one it calls.)

It is in `duels/` of the user's cache directory (`XDG_CACHE_HOME`, else `~/.cache`). Files appear
whole, under their final name; two processes may write the same one. Where nothing can be written or
read, functions are compiled as without it. Directories of other digests that nobody used for
`UNUSED` days are removed.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import pickle
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# Every package whose code is compiled, or whose constants are compiled in.
PACKAGES = ("core", "games", "solve", "measure", "envs")
UNUSED = 30  # days


def root() -> Path:
    """Where all digests have their directories."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "duels"


def digest(package: Path) -> str:
    """What changes with any source file in `PACKAGES` of a package, or any version."""
    found = hashlib.sha256()
    for library in ("numba", "llvmlite", "numpy"):
        found.update(f"{library} {importlib.import_module(library).__version__}\n".encode())
    found.update(f"python {sys.version} {sys.implementation.cache_tag}\n".encode())
    for part in PACKAGES:
        for path in sorted((package / part).rglob("*.py")):
            text = path.read_bytes()
            found.update(f"{path.relative_to(package).as_posix()} {len(text)}\n".encode() + text)
    return found.hexdigest()[:24]


@functools.cache
def directory() -> Path | None:
    """This version's directory, made if it was not there; None where there can be none."""
    import duels

    try:
        path = root() / f"kernels-{digest(Path(duels.__file__).parent)}"
        if not path.is_dir():
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            clear(path)
        if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
            return None  # what is read here is run
        os.utime(path)
    except OSError:
        return path if path.is_dir() else None  # perhaps it can be read
    return path


def clear(path: Path) -> None:
    """Remove what other versions left and nobody used for long."""
    for other in path.parent.glob("kernels-*"):
        if other != path and time.time() - other.stat().st_mtime > 86400 * UNUSED:
            shutil.rmtree(other, ignore_errors=True)


def identity(function: Any) -> tuple[Any, ...] | None:
    """A compiled function's name and what it is built over; None if that is not all ours."""
    plain = getattr(function, "py_func", function)
    if not plain.__module__.startswith("duels."):
        return None
    over: list[Any] = []
    for cell in plain.__closure__ or ():
        value = cell.cell_contents
        if hasattr(value, "py_func"):
            value = identity(value)
            if value is None:
                return None
        elif not isinstance(value, bool | int | float | str):
            return None
        over.append(value)
    return (plain.__module__, plain.__qualname__, *over)


class Kept:
    """The cache of one function, as numba asks it: `numba.core.caching._Cache`."""

    def __init__(self, function: Any) -> None:
        self.function = function

    @property
    def cache_path(self) -> str | None:
        return None if (path := directory()) is None else str(path)

    def _file(self, sig: Any, codegen: Any) -> Path | None:
        about, path = identity(self.function), directory()
        if about is None or path is None:
            return None
        key = repr((about, [str(kind) for kind in sig], codegen.magic_tuple()))
        return path / (hashlib.sha256(key.encode()).hexdigest() + ".nbc")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        path = self._file(sig, target_context.codegen())
        try:
            payload = None if path is None else pickle.loads(path.read_bytes())
            compiler = importlib.import_module("numba.core.compiler")
            return payload and compiler.CompileResult._rebuild(target_context, *payload)
        except Exception:  # whatever is wrong with a file, there is another way
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        path = self._file(sig, data.codegen)
        if path is None or data.library.has_dynamic_globals:
            return
        dumps = importlib.import_module("numba.core.serialize").dumps
        try:
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as written:
                written.write(dumps(data._reduce()))
            os.replace(written.name, path)
        except OSError:
            return

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...


def keep(function: Any) -> Any:
    """Let a compiled function be kept; one that is not compiled, or not ours, is as it was."""
    if hasattr(function, "_cache"):
        function._cache = Kept(function)
    return function


def mark(label: str) -> None:
    """Note that everything a task compiles is on disk, for `marked` in later processes."""
    if (path := _mark(label)) is not None:
        try:
            path.touch()
        except OSError:
            return


def marked(label: str) -> bool:
    """Whether a task was marked since the last change of any source."""
    path = _mark(label)
    return path is not None and path.exists()


def _mark(label: str) -> Path | None:
    folder = directory()
    return folder and folder / (hashlib.sha256(label.encode()).hexdigest() + ".mark")
