"""A bucket of requests for each client."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict

from utmost.studio.settings import Limits

MOST_CLIENTS = 10_000


class RateLimiter:
    """Token buckets by client: `wait` takes from one and says how long to wait if it is empty, else 0."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is in it, when that was so

    def wait(self, client: str, amount: float = 1, now: float | None = None) -> float:
        """Seconds until `amount` requests are free for this client; they are taken if it is 0."""
        rate, most = self._limits.loopback_rate if _loopback(client) else self._limits.rate
        with self._lock:
            clock = time.monotonic() if now is None else now
            level, since = self._buckets.pop(client, (float(most), clock))
            level = min(float(most), level + (clock - since) * rate)
            short = min(amount, most) - level
            self._buckets[client] = (level - amount if short <= 0 else level, clock)
            while len(self._buckets) > MOST_CLIENTS:
                self._buckets.popitem(last=False)
        return max(0.0, short / rate)

    def empty(self, client: str, amount: float) -> None:
        """Take so many requests from a client; what it does not have it owes, and waits for."""
        with self._lock:
            if client in self._buckets:
                level, since = self._buckets[client]
                self._buckets[client] = (max(-amount, level - amount), since)


def _loopback(client: str) -> bool:
    try:
        return ipaddress.ip_address(client).is_loopback
    except ValueError:
        return False
