"""Rate limits and connection limits, which all workers of a server share.

>>> bucket = TokenBucket(rate=1.0, burst=2, now=0.0)
>>> [bucket.take(0.0), bucket.take(0.0), bucket.take(0.0), bucket.take(1.0)]
[True, True, False, True]
"""

from __future__ import annotations

import mmap
import os
import time
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address

from duels.server.heartbeats import shared_memory

# Rates of an address group, the last two of a key. Each has a table of its own, as their times lie
# differently far ahead.
REQUESTS, CREATIONS, HANDSHAKES, CONNECTS, HEALTH, REPORTS, EXPORTS = range(7)
SOCKETS, WEBSOCKETS = range(2)  # what an address group has open
RATES, COUNTS = 7, 2
SLOTS = 2**16  # of a table; two addresses share one with a probability of 1 in 65,536
KEY = 16  # bytes at the start: the key of the hash, so that no client can choose its slot
ROUNDING = 1e-6  # seconds


@lru_cache(4096)
def address_group(address: str) -> str:
    """The addresses that count as one client: an IPv4 address, or the /64 of an IPv6 address.

    >>> address_group("192.0.2.7"), address_group("::ffff:192.0.2.7")
    ('192.0.2.7', '192.0.2.7')
    >>> address_group("2001:db8:0:1:aaaa::7"), address_group("unix:")
    ('2001:db8:0:1::', 'unix:')
    """
    if ":" not in address:
        return address
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Address(int(parsed) >> 64 << 64))


class TokenBucket:
    """A token bucket: refilled at a rate, up to a burst."""

    __slots__ = ("burst", "left", "rate", "seen")

    def __init__(self, rate: float, burst: int, now: float) -> None:
        self.rate, self.burst, self.left, self.seen = rate, burst, float(burst), now

    def take(self, now: float, cost: float = 1.0) -> bool:
        """Take tokens; False if there are not enough."""
        self.left = min(self.burst, self.left + (now - self.seen) * self.rate)
        self.seen = now
        if self.left < cost:
            return False
        self.left -= cost
        return True


class LimitTable:
    """Rates and open connections by address group, in memory that all workers share.

    The size is fixed, whatever clients do: a keyed hash of the address chooses its slot. A rate is
    limited by the generic cell rate algorithm, which needs one number: the time at which the
    address will have used up nothing of its burst. Two workers that change it at the same moment
    may lose the change of one, so that a client gets a token too many. Each worker counts
    connections in a part of its own, which it clears when it starts, so that connections of a
    worker that was killed are forgotten.
    """

    def __init__(
        self,
        fd: int = -1,  # of memory of `new_memory`; -1 for the memory of one process
        workers: int = 1,
        own: int = 0,
        clock: Callable[[], float] = time.monotonic,  # the same in all processes of a machine
    ) -> None:
        self.workers, self._clock = workers, clock
        memory = memoryview(mmap.mmap(fd, _size(workers)))
        if fd == -1:
            memory[:KEY] = os.urandom(KEY)
        self._key = bytes(memory[:KEY])
        counts = KEY + 8 * RATES * SLOTS
        self._times = memory[KEY:counts].cast("d")
        self._counts = memory[counts:].cast("I")
        self._own = own * COUNTS * SLOTS
        if fd != -1:
            start, size = counts + 4 * self._own, 4 * COUNTS * SLOTS
            memory[start : start + size] = bytes(size)

    def _slot(self, table: int, name: str) -> int:
        digest = blake2b(name.encode(), digest_size=4, key=self._key).digest()
        return table * SLOTS + int.from_bytes(digest, "big") % SLOTS

    def take(self, rate: int, name: str, limit: tuple[float, int], cost: float = 1.0) -> bool:
        """Take tokens of one of the rates, given as tokens per second and burst."""
        per_second, burst = limit
        slot, now = self._slot(rate, name), self._clock()
        after = max(self._times[slot], now) + cost / per_second
        if after - now > burst / per_second + ROUNDING:
            return False
        self._times[slot] = after
        return True

    def hold(self, kind: int, name: str, most: int) -> bool:
        """Count a connection; False if all workers together have `most` already."""
        slot = self._slot(kind, name)
        step = COUNTS * SLOTS
        if sum(self._counts[n * step + slot] for n in range(self.workers)) >= most:
            return False
        self._counts[self._own + slot] += 1
        return True

    def release(self, kind: int, name: str) -> None:
        """Count a connection no more."""
        self._counts[self._own + self._slot(kind, name)] -= 1


def _size(workers: int) -> int:
    return KEY + 8 * RATES * SLOTS + 4 * COUNTS * SLOTS * workers


def new_memory(workers: int) -> int:
    """The file descriptor of memory for the tables of several workers."""
    fd = shared_memory("duels-limits", _size(workers))
    os.pwrite(fd, os.urandom(KEY), 0)
    return fd


class ConnectionCounter:
    """Counts the open connections per name in one process, up to a limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()

    def take(self, name: str) -> bool:
        if self._held[name] >= self._most:
            return False
        self._held[name] += 1
        return True

    def release(self, name: str) -> None:
        self._held[name] -= 1
        if self._held[name] <= 0:
            del self._held[name]
