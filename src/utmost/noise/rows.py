"""Exact draws from an exact law.

A uniform number U in [0, 1) is revealed 64 bits at a time. The answer is the y with S_{y−1} ≤ U < S_y, S the cumulative
weights; as soon as the interval of numbers that U can still be lies within one cell, the answer is decided. Cells are
compared exactly, so the law drawn is the law given, and no float is involved.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from utmost.errors import InputError
from utmost.exact import Number, is_exact
from utmost.noise.bits import Bits, system

WORD = 64  # bits revealed at a time


def draw(cumulative: Callable[[int], Number], count: int, bits: Bits = system) -> int:
    """A position 0 … count−1 with Pr[position ≤ y] = cumulative(y), which is non-decreasing and ends at exactly 1.

    >>> draw(lambda y: Fraction(y >= 1), 3)
    1
    """
    known, revealed = 0, 0
    while True:
        known, revealed = known << WORD | bits(WORD), revealed + WORD
        low: Any = Fraction(known, 1 << revealed)
        high = Fraction(known + 1, 1 << revealed)
        position = bisect_right(range(count), low, key=cumulative)
        if high <= cumulative(position):
            return position


def draw_row(row: Sequence[Number], bits: Bits = system) -> int:
    """A position drawn from a row of exact weights that sum to 1.

    >>> draw_row([Fraction(0), Fraction(1), Fraction(0)])
    1
    """
    if not all(is_exact(weight) for weight in row):
        raise InputError("a draw needs exact weights: floats have no exact law")
    sums = list(accumulate(row))
    if not sums or sums[-1] != 1:
        raise InputError("the weights of a row to draw from must sum to exactly 1")
    return draw(sums.__getitem__, len(sums), bits)
