"""Solved tables on disk: one file per game and settings, checked and mapped when opened.

The default rules ship with the package; any other settings are solved on request and kept in the
user's data directory. Reading needs nothing but the standard library, and what is slow to import is
imported late, because a perfect opponent must not make the first prompt wait.

A file is `MAGIC`, a format version, the length of the header, a SHA-256 over all that follows, the
header as JSON (game, settings, kind, payload length, facts), zeros up to a multiple of eight, and
the payload. Who moves first is left out of the settings: a table is relative to roles, or the same
for both players, so one serves both.

>>> from duels.games import load
>>> settings(load("digit-duel", life="9/10", first=1))
{'life': '9/10', 'digits': '9', 'hidden': 'no'}
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from duels.core.errors import DuelsError
from duels.core.folders import data_folder
from duels.core.game import AnyGame
from duels.core.spec import spec_of

MAGIC = b"\x89DUELS\r\n"  # a first byte and line ends that any text conversion would break
VERSION = 1
_DIGEST_AT = 16  # after the magic and two 4-byte numbers
_HEADER_AT = 48


class TableError(DuelsError):
    """A table that is damaged, belongs to other settings, or would be too large to make."""


class Table(NamedTuple):
    """An open table. `payload` is a read-only view of the mapped file."""

    slug: str
    settings: dict[str, str]
    kind: str
    facts: dict[str, Any]
    payload: memoryview
    path: str


class Solved(NamedTuple):
    """What a builder found: the payload, the states solved, the largest duality gap over them."""

    payload: bytes
    states: int
    gap: float

    def facts(self) -> dict[str, Any]:
        return {"states": self.states, "gap": self.gap}


def settings(game: AnyGame) -> dict[str, str]:
    """The settings a table depends on: all but who moves first."""
    return {name: text for name, text in game.settings().items() if name != "first"}


def shipped_path(game: AnyGame) -> str | None:
    """Where the table of a game's default rules lies in its package, if it has one."""
    spec = spec_of(game)
    return os.path.join(spec.folder(spec.data), game.slug + ".duels") if spec.data else None


def cached_path(game: AnyGame) -> str:
    """Where the user's table for exactly these settings is kept."""
    import hashlib

    text = "\n".join(f"{name}={value}" for name, value in sorted(settings(game).items()))
    short = hashlib.sha256(text.encode()).hexdigest()[:12]
    return os.path.join(data_folder(), f"{game.slug}-{short}.duels")


def find_table(game: AnyGame, kind: str) -> Table | None:
    """The shipped table, else the user's own, else None.

    A table of the user's in an older layout counts as missing, so that it is made again. A damaged
    one is an error: it is the user's file, and quietly solving for a minute instead would hide it.
    """
    for path in (shipped_path(game), cached_path(game)):
        if path is not None and os.path.exists(path):
            table = open_table(path)
            if table is not None and table.kind == kind and matches(table, game):
                return table
    return None


def matches(table: Table, game: AnyGame) -> bool:
    return table.slug == game.slug and table.settings == settings(game)


def load(path: str, game: AnyGame, kind: str) -> Table:
    """The table in this very file; an error if it is not the one for this game and settings."""
    table = open_table(path)
    if table is None:
        raise TableError(f"{path} has another format version than {VERSION}; solve it again")
    if not matches(table, game) or table.kind != kind:
        raise TableError(
            f"{path} holds {table.kind} of {table.slug} with {_shown(table.settings)}; "
            f"expected {kind} of {game.slug} with {_shown(settings(game))}"
        )
    return table


def open_table(path: str) -> Table | None:
    """Map and check a table file. None if a different version of this package wrote it."""
    import hashlib
    import json
    import mmap

    try:
        with open(path, "rb") as file:
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
        raise TableError(f"{path} cannot be read as a table: {error}") from None
    if bytes(view[:8]) != MAGIC or len(view) < _HEADER_AT:
        raise TableError(f"{path} is not a table of solved positions")
    if int.from_bytes(view[8:12], "little") != VERSION:
        return None
    if hashlib.sha256(view[_HEADER_AT:]).digest() != view[_DIGEST_AT:_HEADER_AT]:
        raise TableError(f"{path} is damaged: its checksum is wrong; delete it and solve again")
    end = _HEADER_AT + int.from_bytes(view[12:16], "little")
    try:
        head = json.loads(bytes(view[_HEADER_AT:end]))
        payload = view[_aligned(end) :]
        if len(payload) != head["length"]:
            raise ValueError("length")
        return Table(
            head["game"], head["settings"], head["kind"], head["facts"], payload, str(path)
        )
    except (ValueError, KeyError, TypeError):
        raise TableError(f"{path} is damaged: its header makes no sense") from None


def store(
    game: AnyGame,
    payload: bytes,
    kind: str,
    path: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> str:
    """Write a table, whole or not at all, to `path` or the user's data directory; say where.

    The same payload and facts give the same bytes, so that a rebuilt table can be compared.
    """
    import hashlib
    import json
    import tempfile

    path = cached_path(game) if path is None else os.path.abspath(path)
    head = {
        "game": game.slug,
        "settings": settings(game),
        "kind": kind,
        "length": len(payload),
        "facts": dict(facts or {}),
    }
    text = json.dumps(head).encode()
    end = _HEADER_AT + len(text)
    body = text + bytes(_aligned(end) - end) + payload
    start = MAGIC + VERSION.to_bytes(4, "little") + len(text).to_bytes(4, "little")
    folder = os.path.dirname(path)
    part = None
    try:
        os.makedirs(folder, exist_ok=True)
        number, part = tempfile.mkstemp(prefix=os.path.basename(path), suffix=".part", dir=folder)
        with os.fdopen(number, "wb") as file:
            file.write(start + hashlib.sha256(body).digest())
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, 0o644)  # mkstemp's 0600 would make a shared installation unreadable
        os.replace(part, path)
        part = None
    except OSError as error:
        raise TableError(f"the table cannot be written to {path}: {error.strerror}") from None
    finally:
        if part is not None:
            os.unlink(part)
    return path


def _aligned(offset: int) -> int:
    return offset + -offset % 8


def _shown(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())
