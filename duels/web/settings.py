"""What whoever runs a server can set, and the three sources that tests replace."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from duels.core.fair import new_secret
from duels.core.referee import wall_clock
from duels.web.keys import new_room_id


@dataclass(frozen=True)
class Limits:
    """How much one address, key or connection may do. Rates are per second, with a burst."""

    frame: int = 4096  # bytes of a frame, or of a request's body
    backlog: int = 256 * 1024  # bytes that wait for a slow reader before it is cut off
    connections_per_address: int = 60
    connections_per_key: int = 20
    connections: int = 20_000
    frames: tuple[float, int] = (10.0, 40)  # per connection
    requests: tuple[float, int] = (20.0, 80)  # per address
    creations: tuple[float, int] = (0.5, 30)  # per address: matches created or joined


@dataclass(frozen=True)
class Settings:
    """A server. `now`, `secret` and `room_id` are where time and chance come in."""

    database: str = ""  # a path, or postgresql://…; empty for the user's data directory
    host: str = "127.0.0.1"
    port: int = 8000
    origins: tuple[str, ...] = ()  # besides the host that is asked
    proxy: bool = False  # the last X-Forwarded-For is the address
    hello_within: float = 10.0  # seconds
    claim_after: float = 60.0  # seconds away while one's pick is awaited
    start_within: float = 600.0  # seconds for the hashes of nonces once both seats are taken
    reveal_within: float = 86400.0  # seconds for the nonces once both hashes are known
    wait_for: float = 14 * 86400.0  # seconds that a match waits for somebody to join
    idle: float = 30.0  # seconds after which a room that nobody looks at leaves the memory
    computer_delay: float = 0.6  # seconds a computer takes at least, to be followed
    limits: Limits = field(default_factory=Limits)
    now: Callable[[], float] = wall_clock
    secret: Callable[[], int] = new_secret
    room_id: Callable[[], str] = new_room_id


def data_folder() -> str:
    """The user's data directory for this program, as the XDG base directories have it."""
    base = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "duels")
