"""The one door to randomness: the operating system's entropy.

Nothing else in the package may import a source of random numbers; lint sees to it. A test can hand its own source of
bits to `draw`; no flag, file or environment variable can.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TypeAlias

Bits: TypeAlias = Callable[[int], int]


def system(count: int) -> int:
    """`count` random bits from the operating system, as an integer from 0 to 2^count − 1."""
    return secrets.randbits(count)
