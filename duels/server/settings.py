"""Settings of a server, with the sources of time and randomness that tests replace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from duels.client.identity import new_room_id
from duels.core.commitment import new_secret
from duels.core.match import wall_clock


@dataclass(frozen=True)
class Limits:
    """Limits for an address, a key or a connection. Rates are per second, with a burst.

    All workers of a server share the limits of an address. IPv6 addresses count by their /64.
    """

    message_size: int = 4096  # bytes of a message, or of the body of a request
    header_size: int = 16 * 1024  # bytes of the headers of a request
    request_within: float = 20.0  # seconds from the start of a connection or request to its end
    backlog: int = 256 * 1024  # bytes queued for a slow reader before it is disconnected
    connections_per_address: int = 60  # WebSockets; twice as many TCP connections
    connections_per_key: int = 20
    connections: int = 20_000  # of a process, and below the limit of open files
    messages: tuple[float, int] = (10.0, 40)  # per connection
    connects: tuple[float, int] = (30.0, 240)  # per address: TCP connections
    handshakes: tuple[float, int] = (10.0, 120)  # per address: WebSockets
    requests: tuple[float, int] = (20.0, 80)  # per address, by cost (`request_limits.cost`)
    creations: tuple[float, int] = (0.5, 30)  # per address: matches created or joined
    reports: tuple[float, int] = (0.01, 10)  # per key
    exports: tuple[float, int] = (0.02, 3)  # per key: of all data of a player
    searches: int = 20  # per address: moves, hints and analyses that wait for their turn
    # Above these, no new matches are created.
    searching: int = 20  # addresses whose moves, hints or analyses wait for their turn
    rooms: int = 20_000  # matches in the memory of a process
    lag: float = 0.5  # seconds that the event loop is late, on average


MUCH = (1e9, 10**9)
UNLIMITED = Limits(
    connections_per_address=10**6, connections=10**6, messages=MUCH, connects=MUCH,
    handshakes=MUCH, requests=MUCH, creations=MUCH, reports=MUCH, exports=MUCH, searches=10**6,
    searching=10**6, rooms=10**6, lag=1e9,
)  # fmt: skip


DAY = 86400.0  # seconds


@dataclass(frozen=True)
class Retention:
    """Seconds for which the store keeps what is not used any more; None: for ever."""

    closed: float | None = 7 * DAY  # matches that were not played, since they were closed
    abandoned: float | None = 90 * DAY  # matches that have begun, since the last change
    finished: float | None = None  # matches, since their end
    analyses: float | None = 30 * DAY  # of finished matches, and responses, since the end
    names: float | None = 365 * DAY  # of players without a match, since the name was chosen


@dataclass(frozen=True)
class Settings:
    """Settings of a server. Time and randomness come only from `now`, `secret` and `room_id`."""

    database: str = ""  # a path, or postgresql://…; empty for the user's data directory
    host: str = "127.0.0.1"  # address to listen on
    port: int = 8000  # to listen on; 0 for any free one
    origins: tuple[str, ...] = ()  # allowed besides the host of the request
    proxy: bool = False  # trust the last address of X-Forwarded-For
    worker_ports: bool = False  # worker n also listens on port + n, for a proxy that chooses it
    hello_within: float = 10.0  # seconds for the first message of a WebSocket
    claim_after: float = 60.0  # seconds of absence while a choice is awaited
    start_within: float = 600.0  # seconds for the hashes of nonces once both seats are taken
    reveal_within: float = 86400.0  # seconds for the nonces once both hashes are known
    wait_for: float = 14 * 86400.0  # seconds that a match waits for a second player
    idle: float = 30.0  # seconds after which a room without connections is unloaded
    computer_delay: float = 0.6  # seconds that a move of a computer player takes at least
    blocked_words: str = ""  # a file of words that names must not contain
    undos: int = 50  # in one match
    limits: Limits = field(default_factory=Limits)
    retention: Retention = field(default_factory=Retention)
    now: Callable[[], float] = wall_clock
    secret: Callable[[], int] = new_secret
    room_id: Callable[[], str] = new_room_id
