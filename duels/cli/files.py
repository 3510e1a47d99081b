"""Where matches are kept when nobody says where."""

from __future__ import annotations

import os
import time

from duels.core.errors import DuelsError, RecordError
from duels.core.match import Match
from duels.core.record import read, save


def state_folder() -> str:
    """The user's state directory for this program, as the XDG base directories have it."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "duels")


def new_path(match: Match) -> str:
    """A file for this match in the state directory."""
    folder = state_folder()
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise RecordError(f"cannot make {folder}: {error.strerror}") from None
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return os.path.join(folder, f"{match.game.slug}-{stamp}-{os.getpid()}.json")


def read_from(path: str) -> Match:
    """The match in a file the user named."""
    from duels.games import load

    return read(os.path.expanduser(path), load)


def save_to(match: Match, path: str) -> None:
    """Save under a name the user gave."""
    save(match, os.path.realpath(os.path.expanduser(path)))


def check_target(path: str, match: Match | None = None) -> None:
    """Refuse to write over what is not a record, or over a match that somebody may go on with."""
    real = os.path.realpath(os.path.expanduser(path))
    if os.path.lexists(real):
        if not os.path.isfile(real):
            raise RecordError(f"{path} is not a file a record can be saved in")
        if os.path.getsize(real):
            try:
                kept = read_from(real)
            except RecordError:
                raise RecordError(
                    f"{path} exists and is not a record; choose another name to save in"
                ) from None
            if kept.result is None and (match is None or kept.seed != match.seed):
                raise RecordError(
                    f"{path} holds a match that is not finished; resume it, or choose another name"
                )


def write(path: str, content: str) -> None:
    """Write a page or a picture the user asked for."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    except OSError as error:
        raise DuelsError(f"cannot write {path}: {error.strerror}") from None
