"""A bucket of requests for each client."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict

from utmost.studio.settings import Limits

MAX_CLIENTS = 10_000


class RateLimiter:
    """Token buckets by client: `take` takes from one and returns the seconds to wait if it is empty, else 0."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is in it, when that was so

    def take(self, client: str, amount: float = 1, now: float | None = None) -> float:
        """Seconds until `amount` requests are free for this client; they are taken if it is 0."""
        rate, capacity = self._limits.loopback_rate if _is_loopback(client) else self._limits.rate
        with self._lock:
            clock = time.monotonic() if now is None else now
            level, updated = self._buckets.pop(client, (float(capacity), clock))
            level = min(float(capacity), level + (clock - updated) * rate)
            shortfall = min(amount, capacity) - level
            self._buckets[client] = (level - amount if shortfall <= 0 else level, clock)
            while len(self._buckets) > MAX_CLIENTS:
                self._buckets.popitem(last=False)
        return max(0.0, shortfall / rate)

    def penalize(self, client: str, amount: float) -> None:
        """Take so many requests from a client; what it does not have it owes, and waits for."""
        with self._lock:
            if client in self._buckets:
                level, updated = self._buckets[client]
                self._buckets[client] = (max(-amount, level - amount), updated)


def _is_loopback(client: str) -> bool:
    try:
        return ipaddress.ip_address(client).is_loopback
    except ValueError:
        return False
