"""CPU seconds that each visitor may use in a minute."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

MAX_VISITORS = 10_000
MINUTE_SECONDS = 60


class CpuShares:
    """A bucket of CPU seconds for each visitor, refilled in a minute; what was used beyond it is owed."""

    def __init__(self, seconds_per_minute: float) -> None:
        self._capacity = float(seconds_per_minute)
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # seconds left, when that was so

    def wait_seconds(self, visitor: str, now: float | None = None) -> float:
        """Seconds until this visitor may compute again; 0 if at once."""
        with self._lock:
            level, _ = self._level(visitor, now)
        return max(0.0, -level * MINUTE_SECONDS / self._capacity)

    def use(self, visitor: str, cpu_seconds: float, now: float | None = None) -> None:
        """Take what a visitor has used."""
        with self._lock:
            level, clock = self._level(visitor, now)
            self._levels[visitor] = (level - cpu_seconds, clock)
            self._levels.move_to_end(visitor)
            while len(self._levels) > MAX_VISITORS:
                self._levels.popitem(last=False)

    def _level(self, visitor: str, now: float | None) -> tuple[float, float]:
        clock = time.monotonic() if now is None else now
        level, updated = self._levels.get(visitor, (self._capacity, clock))
        return min(self._capacity, level + (clock - updated) * self._capacity / MINUTE_SECONDS), clock
