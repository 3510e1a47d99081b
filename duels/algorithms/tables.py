"""Solved tables on disk: one file per game and settings, checked and mapped when opened.

The default rules ship with the package; any other settings are solved on request and kept in the
user's data directory. Reading needs nothing but the standard library, and what is slow to import is
imported late, so that a perfect opponent does not delay the first prompt.

A file is `MAGIC`, a format version, the length of the header, a SHA-256 over all that follows, the
header as JSON (game, settings, kind, payload length, facts), zeros up to a multiple of eight, and
the payload. The option `first` is not among the settings: a table is relative to roles, or the same
for both players.

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
    """A computed table: the payload, the number of states, the largest duality gap of them."""

    payload: bytes
    states: int
    gap: float

    def facts(self) -> dict[str, Any]:
        return {"states": self.states, "gap": self.gap}


def settings(game: AnyGame) -> dict[str, str]:
    """The settings that a table depends on: all options except `first`."""
    return {name: text for name, text in game.settings().items() if name != "first"}


def shipped_path(game: AnyGame) -> str | None:
    """The path of the table of a game's default rules in its package, if it has one."""
    spec = spec_of(game)
    return os.path.join(spec.folder(spec.data), game.slug + ".duels") if spec.data else None


def cached_path(game: AnyGame) -> str:
    """The path of the user's table for exactly these settings."""
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
    """Open the table in a file; TableError if it is for another game or other settings."""
    table = open_table(path)
    if table is None:
        raise TableError(f"{path} does not have format version {VERSION}; solve the game again")
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
        raise TableError(
            f"{path} is damaged: its checksum is wrong; delete it and solve the game again"
        )
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
        raise TableError(
            f"{path} is damaged: its header cannot be read; delete it and solve the game again"
        ) from None


def store(
    game: AnyGame,
    payload: bytes,
    kind: str,
    path: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> str:
    """Write a table, whole or not at all, to `path` or the user's data directory; returns the path.

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


# Tables of games that are solved from their rules


def from_rules(game: AnyGame, kind: str) -> Table | None:
    """The table that ships with a game, else the user's own, if it was solved from these rules."""
    for path in (shipped_path(game), own_path(game)):
        if path is not None and os.path.exists(path):
            table = open_table(path)
            if table is not None and table.kind == kind and matches(table, game):
                facts = table.facts
                if (facts["first"], facts["rules"]) == (game.first, rules_digest(game)):
                    return table
    return None


def own_path(game: AnyGame) -> str:
    """The path of the user's table of a game solved from its rules; `first` is a setting here."""
    return cached_path(game).removesuffix(".duels") + f"-first-{game.first + 1}.duels"


def provenance(game: AnyGame) -> dict[str, Any]:
    """The facts by which `from_rules` recognises a table, and the version that made it."""
    from duels import __version__

    return {"first": game.first, "rules": rules_digest(game), "version": __version__}


def rules_digest(game: AnyGame) -> str:
    """A digest of the source of the rules: a table made before a change is not used."""
    import hashlib
    import sys

    file = getattr(sys.modules.get(type(game).__module__), "__file__", None)
    if file is None:
        return ""
    with open(file, "rb") as source:
        return hashlib.sha256(source.read()).hexdigest()[:16]


def keep(game: AnyGame, payload: bytes, kind: str, facts: dict[str, Any]) -> None:
    """Store a table; without effect if that is not possible."""
    try:
        store(game, payload, kind, own_path(game), facts)
    except TableError:
        return  # the game is solved again the next time


def key_of(text: str) -> int:
    """The key of a row: a digest of a text that identifies it."""
    import hashlib

    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def row_of(keys: memoryview, key: int) -> int | None:
    """The index of a key among sorted keys; None if it is missing."""
    from bisect import bisect_left

    at = bisect_left(keys, key)
    return at if at < len(keys) and keys[at] == key else None


def _aligned(offset: int) -> int:
    return offset + -offset % 8


def _shown(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())
