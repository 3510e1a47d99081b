"""Identity of players: a secret key, of which the server stores a digest.

Keys have 256 random bits, so a plain digest is safe.

>>> key = "A" * 43
>>> is_key(key), is_key("A" * 42), is_key(None)
(True, False, False)
>>> same(digest(key), digest(key)), same(digest(key), None)
(True, False)
>>> public_id(digest(key)) != digest(key)[:16]
True
"""

from __future__ import annotations

import hmac
import os
import re
from base64 import urlsafe_b64encode
from hashlib import sha256

KEY = re.compile(r"[A-Za-z0-9_-]{43}\Z")
ROOM = re.compile(r"[A-Za-z0-9_-]{22}\Z")


def new_key() -> str:
    """A key as clients make them: 32 random bytes, base64url."""
    return _text(os.urandom(32))


def new_room_id() -> str:
    """An id that cannot be guessed: 128 random bits, drawn again if a command would take it for an
    option."""
    while (id := _text(os.urandom(16))).startswith("-"):
        pass
    return id


def _text(random: bytes) -> str:
    return urlsafe_b64encode(random).rstrip(b"=").decode()


def is_key(text: object) -> bool:
    return isinstance(text, str) and KEY.match(text) is not None


def is_room_id(text: object) -> bool:
    return isinstance(text, str) and ROOM.match(text) is not None


def digest(key: str) -> str:
    """The digest of a key, which a server stores."""
    return sha256(f"duels key {key}".encode()).hexdigest()


def public_id(digest: str) -> str:
    """The public id of a player, from which neither key nor digest can be computed."""
    return sha256(f"duels player {digest}".encode()).hexdigest()[:16]


def same(stored: str | None, given: str | None) -> bool:
    """Compare two digests in constant time."""
    return stored is not None and given is not None and hmac.compare_digest(stored, given)


def usual_name(digest: str) -> str:
    """The name of a player who has not chosen one."""
    return f"Guest {int(public_id(digest)[:4], 16) % 10000:04}"
