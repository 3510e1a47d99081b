"""Settings of a server, with the sources of time and randomness that tests replace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from duels.client.identity import new_room_id
from duels.core.commitment import new_secret
from duels.core.match import wall_clock


@dataclass(frozen=True)
class Limits:
    """Limits for an address, a key or a connection. Rates are per second, with a burst."""

    message_size: int = 4096  # bytes of a message, or of the body of a request
    backlog: int = 256 * 1024  # bytes queued for a slow reader before it is disconnected
    connections_per_address: int = 60
    connections_per_key: int = 20
    connections: int = 20_000
    messages: tuple[float, int] = (10.0, 40)  # per connection
    requests: tuple[float, int] = (20.0, 80)  # per address
    creations: tuple[float, int] = (0.5, 30)  # per address: matches created or joined


@dataclass(frozen=True)
class Settings:
    """Settings of a server. Time and randomness come only from `now`, `secret` and `room_id`."""

    database: str = ""  # a path, or postgresql://…; empty for the user's data directory
    host: str = "127.0.0.1"
    port: int = 8000
    origins: tuple[str, ...] = ()  # allowed besides the host of the request
    proxy: bool = False  # trust the last address of X-Forwarded-For
    hello_within: float = 10.0  # seconds
    claim_after: float = 60.0  # seconds of absence while a choice is awaited
    start_within: float = 600.0  # seconds for the hashes of nonces once both seats are taken
    reveal_within: float = 86400.0  # seconds for the nonces once both hashes are known
    wait_for: float = 14 * 86400.0  # seconds that a match waits for a second player
    idle: float = 30.0  # seconds after which a room without connections is unloaded
    computer_delay: float = 0.6  # seconds that a move of a computer player takes at least
    limits: Limits = field(default_factory=Limits)
    now: Callable[[], float] = wall_clock
    secret: Callable[[], int] = new_secret
    room_id: Callable[[], str] = new_room_id
