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
    key: str | None = None
    since: Version = 0


class Command(msgspec.Struct):
    """A command with an id, which is its idempotency key."""

    id: Id


class Commit(Command, tag="commit"):
    hash: Annotated[str, msgspec.Meta(max_length=64)]


class Reveal(Command, tag="reveal"):
    nonce: Annotated[str, msgspec.Meta(max_length=64)]


class Nonce(Command, tag="nonce"):
    """A nonce without a hash, as clients of protocol 1 send it: refused."""


class Move(Command, tag="move"):
    at: Version
    move: Text | None = None
    text: Text | None = None
    so_far: Text = ""


class Resign(Command, tag="resign"):
    at: Version


class Undo(Command, tag="undo"):
    at: Version


class Accept(Command, tag="accept"):
    at: Version


class Decline(Command, tag="decline"):
    at: Version


class Hint(Command, tag="hint"):
    at: Version


class Claim(Command, tag="claim"):
    pass


class Rematch(Command, tag="rematch"):
    pass


class React(Command, tag="react"):
    reaction: Annotated[str, msgspec.Meta(max_length=16)]


class Ping(Command, tag="ping"):
    pass


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
    | Ping
)
_decoder = msgspec.json.Decoder(AnyCommand | Hello)
REACTIONS = ("👋", "👏", "😀", "😮", "🤔", "🍀")


def read(message: bytes | str) -> AnyCommand | Hello:
    """Decode a message; `MalformedMove` if it is invalid."""
    try:
        found: AnyCommand | Hello = _decoder.decode(message)
        check(msgspec.structs.asdict(found))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise MalformedMove(str(error)[:200]) from None
    return found
