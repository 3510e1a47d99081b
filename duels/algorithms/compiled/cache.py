"""The directory of numba's on-disk cache: compiling takes seconds, loading milliseconds.

Numba's cache compares only the file a function is written in, and misses a change in one that it
calls. Therefore the directory is named by a digest of every source file of the packages in
`PACKAGES` and of the versions of Python, numba, llvmlite and numpy: any change selects an empty
directory.

It is in `duels/` of the user's cache directory (`XDG_CACHE_HOME`, else `~/.cache`). Where it cannot
be written, functions are compiled in every process. Directories of other digests that were not used
for `UNUSED` days are removed.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import pickletools
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

from duels.core.folders import cache_folder

# Every package whose code is compiled, or whose constants are compiled in.
PACKAGES = ("core", "algorithms", "kernels", "games", "measure", "envs")
UNUSED = 30  # days
ROOM = 1 << 26  # bytes that must be free: numba raises when a file cannot be written

_configuration = threading.Lock()


def root() -> Path:
    """The directory that holds those of all digests."""
    return Path(cache_folder())


def digest(package: Path) -> str:
    """A digest of all source files in `PACKAGES` of a package, and of the versions."""
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
    """The directory of this digest, created if missing; None where it cannot be used."""
    import duels

    try:
        path = root() / f"kernels-{digest(Path(duels.__file__).parent)}"
        if not path.is_dir():
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            clear(path)
        if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
            return None  # files of other users are not executed
        if shutil.disk_usage(path).free < ROOM:
            return None
        os.utime(path)
        remove_damaged(path)
    except OSError:
        return None
    return path


def clear(path: Path) -> None:
    """Remove the directories of other digests that were not used for `UNUSED` days."""
    for other in path.parent.glob("kernels-*"):
        if other != path and time.time() - other.stat().st_mtime > 86400 * UNUSED:
            shutil.rmtree(other, ignore_errors=True)


def remove_damaged(path: Path) -> None:
    """Remove unreadable files: numba raises on them, and compiles again if they are missing.

    Only files that were written since the last check are read.
    """
    checked, began = path / "checked", time.time_ns() - 10**9  # file times may lag a little
    last = checked.stat().st_mtime_ns if checked.exists() else 0
    for file in path.rglob("*.nb[ci]"):
        if file.stat().st_mtime_ns >= last and not is_readable(file):
            file.unlink(missing_ok=True)
    checked.touch()
    os.utime(checked, ns=(began, began))


def is_readable(file: Path) -> bool:
    """Whether a file is a sequence of complete pickles; nothing in them is executed."""
    with file.open("rb") as stream:
        try:
            while stream.peek(1):
                for _ in pickletools.genops(stream):
                    pass
        except (ValueError, UnicodeDecodeError):
            return False
    return True


def cached(numba: Any, function: Any, options: dict[str, Any]) -> Any | None:
    """A function compiled with numba's cache in `directory`; None where it cannot be cached.

    Functions from outside this package are not covered by the digest, and closures over other
    functions are not found again.
    """
    path = directory() if function.__module__.startswith("duels.") else None
    if path is None or function.__closure__:
        return None
    with _configuration:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(path)  # read when a function is decorated
        try:
            made = numba.njit(cache=True, **options)(function)
        except RuntimeError:
            return None
        finally:
            numba.config.CACHE_DIR = before
    if numba.config.DISABLE_JIT:
        return made
    # Where numba cannot write, it falls back to directories that are not named by the digest.
    return made if Path(made.stats.cache_path).is_relative_to(path) else None


def identity(value: Any) -> tuple[Any, ...] | None:
    """What identifies a constant or a compiled function, with all that it is a closure over.

    The same in every process; None for a function from outside this package, of which the digest
    knows nothing.
    """
    if isinstance(value, bool | int | float | str | None):
        return (value,)
    function = getattr(value, "py_func", None)
    if function is None or not function.__module__.startswith("duels."):
        return None
    found = [identity(cell.cell_contents) for cell in function.__closure__ or ()]
    return None if None in found else (function.__module__, function.__qualname__, *found)


def mark(label: str) -> None:
    """Record that everything a task compiles is on disk, for `marked` in later processes."""
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
