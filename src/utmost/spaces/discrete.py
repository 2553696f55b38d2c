"""The discrete space: every two points are equally far apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from utmost.spaces.distance_order import IntArray
from utmost.spaces.space import (
    CAPACITY_ADVICE,
    Numbered,
    Profile,
    Space,
    SpaceFamily,
    SymmetryGenerators,
    check_size,
    parse_size,
    profile_from_counts,
)


def discrete(points: int) -> Space:
    """Points 0 … points−1, all at distance 1 from each other: the metric of randomised response.

    >>> discrete(3).edges, discrete(10**9).profile
    (((0, 1), (0, 2), (1, 2)), ((Fraction(0, 1), 1), (Fraction(1, 1), 999999999)))
    """
    size = check_size(points, "discrete")
    return Space.from_shape(f"discrete:{size}", DiscreteShape(size))


@dataclass(frozen=True)
class DiscreteShape(Numbered):
    """1 for any two points."""

    size_advice = CAPACITY_ADVICE

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """Whether they differ."""
        differ: IntArray = (x != other).astype(np.int64)
        return differ

    def edges(self) -> IntArray:
        """All pairs: 1 + 1 > 1."""
        return np.column_stack(np.triu_indices(self.points, 1))

    def profile(self) -> Profile:
        """All others at 1."""
        return profile_from_counts([1, self.points - 1])

    def symmetries(self) -> SymmetryGenerators:
        """All permutations: a transposition and a cycle generate them."""
        positions = np.arange(self.points)
        swap = positions.copy()
        swap[:2] = positions[:2][::-1]
        generators = {1: (), 2: (swap,)}.get(self.points, (swap, np.roll(positions, -1)))
        return SymmetryGenerators(generators, math.factorial(self.points))


DISCRETE = SpaceFamily(
    kind="discrete",
    example="discrete:5",
    points="0 … 4",
    meaning="1 for any two",
    python="discrete(5)",
    parse=lambda text: discrete(parse_size("discrete", text)),
)
