"""Files with a client's share of the dice of a match, so that it can be stopped and continued.

One file per seat, in the folder `dice` of the user's data directory. It contains a nonce that is
secret until it is revealed, so only the user can read it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from duels.client.identity import is_room_id
from duels.core.commitment import is_hash, is_nonce
from duels.core.commitment_client import CommitmentClient
from duels.core.errors import DuelsError
from duels.core.folders import data_folder


def save(client: CommitmentClient) -> None:
    """Write the state of a commitment client atomically."""
    path = _path(client.match, client.player)
    temporary = f"{path}.{os.getpid()}.part"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="ascii") as file:
            json.dump(client.to_json(), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise DuelsError(
            f"your share of the dice cannot be kept in {path}: {error.strerror}"
        ) from None
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def load(match: str, player: int) -> CommitmentClient | None:
    """The stored commitment client of a seat; None if there is none."""
    if not is_room_id(match):
        return None
    try:
        with open(_path(match, player), encoding="ascii") as file:
            found = CommitmentClient(**json.load(file))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise DuelsError(f"{_path(match, player)} cannot be read: {error}") from None
    known = (found.match, found.player) == (match, player) and is_hash(found.commitment)
    if not known or not is_nonce(found.nonce) or len(found.hashes) != 2:
        raise DuelsError(f"{_path(match, player)} is damaged: delete it to go on without it")
    return found


def delete(client: CommitmentClient) -> None:
    with suppress(OSError):
        os.unlink(_path(client.match, client.player))


def _path(match: str, player: int) -> str:
    return os.path.join(data_folder(), "dice", f"{match}.{player + 1}.json")
