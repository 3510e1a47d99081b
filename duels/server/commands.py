"""The messages of clients over a WebSocket, as types that are checked on decoding.

>>> read(b'{"type": "move", "id": "1", "at": 3, "move": "attack"}')
Move(id='1', at=3, move='attack', text=None, so_far='')
>>> read(b'{"type": "move", "id": "1", "at": "3"}')
Traceback (most recent call last):
duels.core.errors.MalformedMove: Expected `int`, got `str` - at `$.at`
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from duels.core.errors import MalformedMove
from duels.server.validation import check

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Version = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Text = Annotated[str, msgspec.Meta(max_length=1000)]


class Hello(msgspec.Struct, tag="hello"):
    """The first message: the client's key, and the number of events it knows.

    A client that states its protocol is refused if it is not the server's. One that asks for
    changes gets the differences of its view, other clients the whole view with every update. One
    that asks for captions gets them instead of the passages of the narrator.
    """

    key: str | None = None
    since: Version = 0
    protocol: int | None = None
    changes: bool = False
    captions: bool = False


class Command(msgspec.Struct):
    """A command with an id, which is its idempotency key."""

    id: Id


class Commit(Command, tag="commit"):
    """Bind the player to a nonce by its hash."""

    hash: Annotated[str, msgspec.Meta(max_length=64)]


class Reveal(Command, tag="reveal"):
    """Reveal the player's nonce."""

    nonce: Annotated[str, msgspec.Meta(max_length=64)]


class Nonce(Command, tag="nonce"):
    """A nonce without a hash, as clients of protocol 1 send it: refused."""


class Move(Command, tag="move"):
    """Submit a move: as an option (`move`), or as typed text after the steps `so_far`."""

    at: Version
    move: Text | None = None
    text: Text | None = None
    so_far: Text = ""


class Resign(Command, tag="resign"):
    """Resign the match."""

    at: Version


class Undo(Command, tag="undo"):
    """Ask to undo a move."""

    at: Version


class Accept(Command, tag="accept"):
    """Accept the opponent's request to undo."""

    at: Version


class Decline(Command, tag="decline"):
    """Decline the opponent's request to undo."""

    at: Version


class Hint(Command, tag="hint"):
    """Ask for a hint."""

    at: Version


class Claim(Command, tag="claim"):
    """Claim the win against an absent opponent."""


class Rematch(Command, tag="rematch"):
    """Offer or accept a rematch."""


class React(Command, tag="react"):
    """Send a reaction to all clients of the room."""

    reaction: Annotated[str, msgspec.Meta(max_length=16)]


class Log(Command, tag="log"):
    """Ask for the page of the log before an event."""

    before: Version
    captions: bool = False  # instead of passages


class Ping(Command, tag="ping"):
    """Check the connection."""


AnyCommand = (
    Commit
    | Reveal
    | Nonce
    | Move
    | Resign
    | Undo
    | Accept
    | Decline
    | Hint
    | Claim
    | Rematch
    | React
    | Log
    | Ping
)
_decoder = msgspec.json.Decoder(AnyCommand | Hello)
REACTIONS = ("👋", "👏", "😀", "😮", "🤔", "🍀")


def read(message: bytes | str) -> AnyCommand | Hello:
    """Decode a message; `MalformedMove` if it is invalid."""
    try:
        found: AnyCommand | Hello = _decoder.decode(message)
        if not _is_plain(message):
            check(msgspec.structs.asdict(found))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise MalformedMove(str(error)[:200]) from None
    return found


def _is_plain(message: bytes | str) -> bool:
    """Whether the texts of a JSON document have no control characters; False if that is unknown.

    JSON allows no characters below U+0020 in texts, except as escapes.
    """
    if isinstance(message, str):
        return message.isascii() and "\\" not in message and "\x7f" not in message
    return message.isascii() and b"\\" not in message and b"\x7f" not in message
