"""How much slower than the machine that limits of processor time were written on this one is, at this moment."""

from __future__ import annotations

import time

REFERENCE_SECONDS = 0.0065  # of one loop, where the limits were written
LOOP_STEPS = 100_000


def slowness() -> float:
    """At least 1; the best of some loops of plain Python, so that a moment's pause does not count."""
    return max(1.0, min(_loop_seconds() for _ in range(5)) / REFERENCE_SECONDS)


def _loop_seconds() -> float:
    start = time.process_time()
    total = 0
    for number in range(LOOP_STEPS):
        total += number * number
    return time.process_time() - start
