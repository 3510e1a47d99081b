"""Files of saved matches: paths, locks, and writing that never overwrites another match."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from duels.core.errors import DuelsError, RecordError, file_error, quote
from duels.core.folders import state_folder
from duels.core.match import Match

TRIES, PAUSE = 100, 0.02  # attempts to take a lock, and seconds between them


class WouldOverwrite(RecordError):
    """The file contains something other than this match, and is not overwritten."""


class UnfinishedMatch(NamedTuple):
    """An unfinished match in the state directory."""

    path: str
    title: str
    players: tuple[str, str]
    moves: int
    when: float  # time of the last save, in seconds since 1970

    @property
    def line(self) -> str:
        """Description of the match in one line, for a list."""
        moves = f"{self.moves} move{'' if self.moves == 1 else 's'}"
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.when))
        return f"{self.title}, {self.players[0]} against {self.players[1]}, {moves}, {day}"


class UnfinishedMatches(list[UnfinishedMatch]):
    """The matches that can be resumed, newest first."""

    damaged = 0  # number of files that cannot be read


def shown(path: str) -> str:
    """A path in a printable form."""
    return path if path and path.isprintable() else quote(path)


def checked_path(path: str) -> str:
    """The path for a name given by the user; RecordError if it is not a valid file name."""
    try:
        full = os.path.expanduser(path)
        os.fsencode(full)
    except ValueError:
        full = "\0"
    if "\0" in full:
        raise RecordError(f"{shown(path)} is not a valid file name here; choose another")
    if full.startswith("~"):
        raise RecordError(f"{shown(path)}: there is no such user; choose another name")
    if full.endswith(("/", os.sep)) or not full:
        raise RecordError(f"{shown(path)} is not the name of a file; choose another")
    return full


def default_paths(match: Match) -> Iterator[str]:
    """Paths for a match without a named file, in order of preference."""
    name = match.id
    if not (name.isascii() and name.replace("-", "").isalnum() and len(name) <= 40):
        from hashlib import sha256  # an id of another program may be any text

        name = sha256(name.encode()).hexdigest()[:32]
    day = time.strftime("%Y-%m-%d", time.localtime(match.begun))
    name = f"{match.game.slug}-{day}-{name}.json"
    if os.path.isabs(folder := state_folder()):
        yield os.path.join(folder, name)
    from tempfile import gettempdir

    with suppress(OSError):
        yield os.path.join(gettempdir(), name)


def read_from(path: str) -> Match:
    """Load the match in a file named by the user, or `FOLDER#NUMBER` for one of a tournament."""
    from duels.core.record import read
    from duels.games import load

    folder, mark, number = path.rpartition("#")
    if mark and number.isascii() and number.isdigit() and not os.path.exists(path):
        from duels.arena.archive import Archive
        from duels.arena.records import record

        with Archive.open(checked_path(folder)) as archive:
            return record(archive, int(number[:20]))
    return read(checked_path(path), load)


def save_match(match: Match, path: str, *, private: bool = False) -> None:
    """Write a record atomically; only an earlier state of the same match is overwritten.

    Raises `WouldOverwrite` if the file contains anything else, RecordError if writing fails.
    """
    from json import loads

    from duels.core.record import dumps

    text = dumps(match)
    try:
        real = os.path.realpath(path)
        folder = os.path.dirname(real)
        if folder == os.path.realpath(state_folder()):
            private = True
            os.makedirs(folder, 0o700, exist_ok=True)
            with suppress(OSError):
                os.chmod(folder, 0o700)
        with _locked(folder):
            if (objection := _objection(real, loads(text))) is not None:
                raise WouldOverwrite(f"{shown(path)} {objection}")
            _replace(real, text, private)
    except RecordError:
        raise
    except (OSError, ValueError) as error:
        raise RecordError(f"cannot write {shown(path)}: {file_error(error)}") from None


def remove_copy(match: Match, path: str) -> bool:
    """Remove a copy of a match that is now saved in another place, unless the copy has changed."""
    from duels.core.record import to_json

    with suppress(OSError, ValueError), _locked(os.path.dirname(path)):
        if os.path.lexists(path) and _objection(path, to_json(match)) is None:
            os.unlink(path)
    return not os.path.lexists(path)


def unfinished() -> UnfinishedMatches:
    """The unfinished matches of the state directory; damaged files are counted and left out."""
    found = UnfinishedMatches()
    with suppress(OSError), os.scandir(state_folder()) as files:
        for file in files:
            if not file.name.endswith(".json"):
                continue
            try:
                left = _unfinished_match(file.path)
            except (OSError, DuelsError):
                found.damaged += 1
            else:
                found += [] if left is None else [left]
    found.sort(key=lambda left: (-left.when, left.path))
    return found


def write(path: str, content: str) -> None:
    """Write an output file, such as a page or a picture."""
    write_lines(path, [content])


def write_lines(path: str, lines: Iterable[str]) -> None:
    """Write an output file part by part."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
    except (OSError, ValueError) as error:
        raise DuelsError(f"cannot write {shown(path)}: {file_error(error)}") from None


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Lock a folder against other processes of this program, if the system supports it.

    The folder itself is locked, so that no lock file remains.
    """
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # a missing folder is reported when writing fails
        yield
        return
    try:
        for _ in range(TRIES):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(PAUSE)
            except OSError:
                break
        else:
            raise BlockingIOError(0, "the folder is locked by another process")
        yield
    finally:
        os.close(handle)


def _objection(path: str, ours: dict[str, Any]) -> str | None:
    """Why an existing file may not be replaced by a record of this match; None if it may."""
    if not os.path.lexists(path):
        return None
    if not os.path.isfile(path):
        return "is not a regular file"
    if not os.path.getsize(path):
        return None
    try:
        theirs = _parsed(path)
    except RecordError:
        return "exists and is not a Duels record"
    if theirs["id"] != ours["id"]:
        return f"contains a match that is {'not finished' if theirs['result'] is None else 'over'}"
    before, after = theirs["entries"], ours["entries"]
    # Entries written by an older program may lack keys, but must not differ in any.
    same = all(old.items() <= new.items() for old, new in zip(before, after, strict=False))
    later = same and len(before) <= len(after)
    return None if later else "contains another continuation of this match"


def _parsed(path: str) -> dict[str, Any]:
    """The JSON of a record; its structure is checked, its moves are not."""
    import json

    from duels.core.record import FORMAT, LARGEST, SAME_SHAPE

    with open(path, "rb") as file:
        content = file.read(LARGEST + 1)
    try:
        data = json.loads(content.decode("utf-8") if len(content) <= LARGEST else "")
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.get("format") != FORMAT or "viewer" in data:
        raise RecordError("this is not a Duels record")
    if data.get("version") not in SAME_SHAPE or not isinstance(data.get("id"), str):
        raise RecordError("this program cannot read this version of Duels records")
    entries = data.get("entries")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RecordError("this is not a Duels record: it has no entries")
    return {"result": None, **data}


def _unfinished_match(path: str) -> UnfinishedMatch | None:
    """The unfinished match in a file of the state directory; None if it is over."""
    from duels.games import find

    data = _parsed(path)
    if data["result"] is not None or data.get("seed") is None:
        return None
    match data.get("players"):
        case [str(one), str(two)] if (one + two).isprintable():
            pass
        case _:
            raise RecordError("players: expected two names")
    title = find(str(data.get("game"))).title
    return UnfinishedMatch(path, title, (one, two), _moves(data["entries"]), os.path.getmtime(path))


def _moves(entries: list[dict[str, Any]]) -> int:
    """The number of choices that were not undone."""
    counts = [0]  # before each entry
    for entry in entries:
        match entry:
            case {"type": "undo", "to": int(to)} if 0 <= to < len(counts):
                counts.append(counts[to])
            case {"type": "pick"}:
                counts.append(counts[-1] + 1)
            case _:
                counts.append(counts[-1])
    return counts[-1]


def _replace(path: str, text: str, private: bool) -> None:
    """Replace a file atomically, keeping its permissions."""
    part = os.path.join(os.path.dirname(path), f".duels-{os.urandom(6).hex()}.part")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with open(handle, "w", encoding="utf-8") as file:
            if not private and os.path.exists(path):
                with suppress(OSError):
                    os.fchmod(handle, os.stat(path).st_mode & 0o777)
            file.write(text)
            file.flush()
            os.fsync(handle)
        os.replace(part, path)
    finally:
        with suppress(OSError):
            os.unlink(part)
