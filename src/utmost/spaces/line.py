"""The line of counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import InputError
from utmost.spaces.distance_order import IntArray
from utmost.spaces.space import (
    Numbered,
    Profile,
    Space,
    SpaceFamily,
    SymmetryGenerators,
    check_size,
    parse_size,
    point_count_text,
)

MAX_LINE_POINTS = 10**7  # counts; as many as are read without a table


def line(points: int) -> Space:
    """The counts 0 … points−1 with distance |x − x′|: what one person can change of a count.

    >>> line(6).distance(1, 4), line(6).edges
    (Fraction(3, 1), ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)))
    """
    size = check_size(points, "line")
    if size > MAX_LINE_POINTS:
        raise InputError(
            f"line must have 1 to {MAX_LINE_POINTS} points, got {point_count_text(size)}", "line", "group the counts"
        )
    return Space.from_shape(f"line:{size}", LineShape(size))


@dataclass(frozen=True)
class LineShape(Numbered):
    """|x − x′|."""

    size_advice = "its capacity needs no table, nor does the reading of a count (utmost estimate)"

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """|x − x′|."""
        distance: IntArray = np.abs(x - other)
        return distance

    def edges(self) -> IntArray:
        """Neighbours."""
        steps = np.arange(self.points - 1)
        return np.column_stack([steps, steps + 1])

    def profile(self) -> Profile | None:
        """One and two points look the same from each."""
        return tuple((Fraction(k), 1) for k in range(self.points)) if self.points <= 2 else None

    def symmetries(self) -> SymmetryGenerators:
        """The reflection."""
        reflections = (np.arange(self.points)[::-1].copy(),) if self.points > 1 else ()
        return SymmetryGenerators(reflections, 1 + len(reflections))

    def line_step(self) -> Fraction:
        """1."""
        return Fraction(1)


LINE = SpaceFamily(
    kind="line",
    example="line:6",
    points="counts 0 … 5",
    meaning="|x − x′|",
    python="line(6)",
    parse=lambda text: line(parse_size("line", text)),
)
