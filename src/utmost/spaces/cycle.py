"""Points around a circle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from utmost.errors import InputError
from utmost.spaces.distance_order import IntArray
from utmost.spaces.space import (
    CAPACITY_ADVICE,
    MAX_PROFILE_POINTS,
    Numbered,
    Profile,
    Space,
    SpaceFamily,
    SymmetryGenerators,
    check_size,
    parse_size,
    point_count_text,
    profile_from_counts,
)


def cycle(points: int) -> Space:
    """Points 0 … points−1 around a circle, each at distance 1 from the next: hours, weekdays, directions.

    >>> cycle(12).distance(1, 11), cycle(5).profile
    (Fraction(2, 1), ((Fraction(0, 1), 1), (Fraction(1, 1), 2), (Fraction(2, 1), 2)))
    """
    size = check_size(points, "cycle")
    return Space.from_shape(f"cycle:{size}", CycleShape(size))


@dataclass(frozen=True)
class CycleShape(Numbered):
    """The shorter way round."""

    size_advice = CAPACITY_ADVICE

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """min(|x − x′|, n − |x − x′|)."""
        difference = np.abs(x - other)
        distance: IntArray = np.minimum(difference, self.points - difference)
        return distance

    def edges(self) -> IntArray:
        """Neighbours round the circle."""
        steps = np.arange(self.points - 1)
        pairs = np.column_stack([steps, steps + 1])
        return np.insert(pairs, 1, [0, self.points - 1], axis=0) if self.points > 2 else pairs

    def profile(self) -> Profile:
        """Two points at each distance, one at half the circle."""
        half, odd = divmod(self.points, 2)
        if half > MAX_PROFILE_POINTS:
            raise InputError(
                f"the profile of cycle:{point_count_text(self.points)} has {point_count_text(half)} distances",
                hint=f"take at most {2 * MAX_PROFILE_POINTS} points",
            )
        return profile_from_counts([1, *[2] * (half - 1 + odd), *[1] * (1 - odd)] if half else [1])

    def symmetries(self) -> SymmetryGenerators:
        """Rotation and reflection."""
        positions = np.arange(self.points)
        rotation, reflection = np.roll(positions, -1), (-positions) % self.points
        if self.points <= 2:
            return SymmetryGenerators((rotation,) if self.points == 2 else (), self.points)
        return SymmetryGenerators((rotation, reflection), 2 * self.points)


CYCLE = SpaceFamily(
    kind="cycle",
    example="cycle:5",
    points="0 … 4 around a circle",
    meaning="the shorter way round",
    python="cycle(5)",
    parse=lambda text: cycle(parse_size("cycle", text)),
)
