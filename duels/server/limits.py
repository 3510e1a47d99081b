"""Rate limits and connection limits.

>>> bucket = TokenBucket(rate=1.0, burst=2, now=0.0)
>>> [bucket.take(0.0), bucket.take(0.0), bucket.take(0.0), bucket.take(1.0)]
[True, True, False, True]
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable


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


class RateLimiter:
    """One token bucket per name; full buckets are removed."""

    MOST = 50_000

    def __init__(
        self, limit: tuple[float, int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst = limit
        self._clock = clock
        self._buckets: dict[str, TokenBucket] = {}

    def take(self, name: str) -> bool:
        now = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= self.MOST:
                self._forget(now)
            bucket = self._buckets[name] = TokenBucket(self._rate, self._burst, now)
        return bucket.take(now)

    def _forget(self, now: float) -> None:
        full = self._burst / self._rate
        self._buckets = {n: b for n, b in self._buckets.items() if now - b.seen < full}


class ConnectionCounter:
    """Counts the open connections per name, up to a limit."""

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
