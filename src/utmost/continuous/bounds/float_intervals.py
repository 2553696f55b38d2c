"""Doubles that bound real numbers: a lower and an upper one, rounded outwards at every step.

Nothing is taken on trust. A ball becomes the doubles below and above it; sums and products are moved outwards by a unit
in the last place, which covers the half unit that IEEE arithmetic may be off; a dot product of n terms ≥ 0, in whatever
order and with or without fused operations, is within γ_n = n·u/(1−n·u) of itself, u = 2⁻⁵³ (Higham, "Accuracy and
Stability of Numerical Algorithms", §3.1), plus 2⁻¹⁰⁷⁴ a term for underflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.exact import ball

if TYPE_CHECKING:
    from flint import arb

Doubles: TypeAlias = npt.NDArray[np.float64]
UNIT = 2.0**-52
TINY = 5e-324  # the least double > 0
BITS = 64


@dataclass(frozen=True, slots=True)
class FloatIntervals:
    """Numbers ≥ 0 between `lower` and `upper`, one pair a place."""

    lower: Doubles
    upper: Doubles

    def __len__(self) -> int:
        return len(self.lower)

    def part(self, start: int, stop: int) -> FloatIntervals:
        """Some of the places."""
        return FloatIntervals(self.lower[start:stop], self.upper[start:stop])

    def reversed(self) -> FloatIntervals:
        """The last place first."""
        return FloatIntervals(self.lower[::-1], self.upper[::-1])

    def plus(self, other: FloatIntervals) -> FloatIntervals:
        """The sums, rounded outwards."""
        return FloatIntervals(_down(self.lower + other.lower), _up(self.upper + other.upper))

    def times(self, factor: arb) -> FloatIntervals:
        """The products with a factor ≥ 0."""
        return FloatIntervals(
            _down(self.lower * max(lower_double(factor), 0.0)), _up(self.upper * upper_double(factor))
        )

    def minus(self, other: FloatIntervals) -> FloatIntervals:
        """The differences, known to be ≥ 0."""
        return FloatIntervals(_down(self.lower - other.upper), _up(np.maximum(self.upper - other.lower, 0.0)))


@dataclass(frozen=True, slots=True)
class SplitMasses:
    """∫ g π·(e_{i+1} − x)/δ_i and ∫ g π·(x − e_i)/δ_i for each cell i: its mass split to its ends, its mean kept."""

    left: FloatIntervals
    right: FloatIntervals

    def part(self, start: int, stop: int) -> SplitMasses:
        """Some of the cells."""
        return SplitMasses(self.left.part(start, stop), self.right.part(start, stop))

    @property
    def mass(self) -> FloatIntervals:
        """∫ g π of each cell."""
        return self.left.plus(self.right)

    @property
    def edges(self) -> FloatIntervals:
        """What each edge gets of the two cells beside it."""
        zero = FloatIntervals(np.zeros(1), np.zeros(1))
        return join_intervals([self.left, zero]).plus(join_intervals([zero, self.right]))

    @staticmethod
    def joined(parts: Sequence[SplitMasses]) -> SplitMasses:
        """Cells one after the other."""
        return SplitMasses(
            join_intervals([part.left for part in parts]), join_intervals([part.right for part in parts])
        )

    @staticmethod
    def combined(parts: Sequence[SplitMasses], factors: Sequence[arb]) -> SplitMasses:
        """Σ factor·part, ≥ 0 as a whole; factors < 0 are subtracted."""
        return SplitMasses(
            combine_intervals([part.left for part in parts], factors),
            combine_intervals([part.right for part in parts], factors),
        )


def combine_intervals(parts: Sequence[FloatIntervals], factors: Sequence[arb]) -> FloatIntervals:
    """Σ factor·part, ≥ 0 as a whole; factors < 0 are subtracted."""
    zero = FloatIntervals(np.zeros(len(parts[0])), np.zeros(len(parts[0])))
    more = less = zero
    for part, factor in zip(parts, factors, strict=True):
        if factor < 0:
            less = less.plus(part.times(-factor))
        else:
            more = more.plus(part.times(factor))
    return more.minus(less) if less is not zero else more


def join_intervals(parts: Sequence[FloatIntervals]) -> FloatIntervals:
    """Places one after the other."""
    return FloatIntervals(
        np.concatenate([part.lower for part in parts]), np.concatenate([part.upper for part in parts])
    )


def split_masses(cells: Sequence[Sequence[arb]], edges: Sequence[Fraction]) -> SplitMasses:
    """The split of each cell's mass from its moments about the first edge."""
    low, lefts, rights = edges[0], [], []
    for cell, start, stop in zip(cells, edges[:-1], edges[1:], strict=True):
        right = (cell[1] - ball(start - low, BITS * 4) * cell[0]) / ball(stop - start, BITS * 4)
        rights.append(right)
        lefts.append(cell[0] - right)
    return SplitMasses(float_intervals(lefts), float_intervals(rights))


def float_intervals(values: Sequence[arb]) -> FloatIntervals:
    """Balls of numbers ≥ 0 as doubles below and above."""
    return FloatIntervals(
        np.maximum(np.array([lower_double(value) for value in values]), 0.0),
        np.maximum(np.array([upper_double(value) for value in values]), 0.0),
    )


def lower_double(value: arb) -> float:
    """A double that is at most every number of the ball."""
    lower = value.lower()
    return 0.0 if lower == 0 else float(np.nextafter(float(lower), -np.inf))


def upper_double(value: arb) -> float:
    """A double that is at least every number of the ball."""
    upper = value.upper()
    return 0.0 if upper == 0 else float(np.nextafter(float(upper), np.inf))


def dot_below(left: Doubles, right: Doubles) -> float:
    """At most Σ left·right, all of them ≥ 0."""
    count = len(left)
    return max(float(left @ right) * (1 - (count + 4) * UNIT) - (count + 1) * TINY, 0.0)


def dot_above(left: Doubles, right: Doubles) -> float:
    """At least Σ left·right, all of them ≥ 0."""
    count = len(left)
    return float(left @ right) * (1 + (count + 4) * UNIT) + (count + 1) * TINY


def _down(values: Doubles) -> Doubles:
    """A unit lower, and never below 0."""
    moved: Doubles = np.nextafter(values, -np.inf)
    return np.maximum(moved, 0.0)


def _up(values: Doubles) -> Doubles:
    """A unit higher; also an exact 0, since it may be a product that vanished below the least double."""
    moved: Doubles = np.nextafter(values, np.inf)
    return moved
