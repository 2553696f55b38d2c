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
UNIT_IN_LAST_PLACE = 2.0**-52
SMALLEST_DOUBLE = 5e-324  # the least double > 0
BALL_BITS = 64


@dataclass(frozen=True, slots=True)
class FloatIntervals:
    """Numbers ≥ 0, the i-th between lower[i] and upper[i]."""

    lower: Doubles
    upper: Doubles

    def __len__(self) -> int:
        return len(self.lower)

    def part(self, start: int, stop: int) -> FloatIntervals:
        """The intervals from index `start` to before `stop`."""
        return FloatIntervals(self.lower[start:stop], self.upper[start:stop])

    def reversed(self) -> FloatIntervals:
        """The last interval first."""
        return FloatIntervals(self.lower[::-1], self.upper[::-1])

    def plus(self, other: FloatIntervals) -> FloatIntervals:
        """The sums, rounded outwards."""
        return FloatIntervals(_round_down(self.lower + other.lower), _round_up(self.upper + other.upper))

    def times(self, factor: arb) -> FloatIntervals:
        """The products with a factor ≥ 0."""
        return FloatIntervals(
            _round_down(self.lower * max(lower_double(factor), 0.0)), _round_up(self.upper * upper_double(factor))
        )

    def minus(self, other: FloatIntervals) -> FloatIntervals:
        """The differences, known to be ≥ 0."""
        return FloatIntervals(
            _round_down(self.lower - other.upper), _round_up(np.maximum(self.upper - other.lower, 0.0))
        )


@dataclass(frozen=True, slots=True)
class SplitMasses:
    """∫ g π·(e_{i+1} − x)/δ_i and ∫ g π·(x − e_i)/δ_i for each cell i: its mass split to its ends, its mean kept."""

    left: FloatIntervals
    right: FloatIntervals

    def part(self, start: int, stop: int) -> SplitMasses:
        """The cells from `start` to before `stop`."""
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
    def concatenate(pieces: Sequence[SplitMasses]) -> SplitMasses:
        """All cells, one list after the other."""
        return SplitMasses(
            join_intervals([piece.left for piece in pieces]), join_intervals([piece.right for piece in pieces])
        )

    @staticmethod
    def combine(terms: Sequence[SplitMasses], factors: Sequence[arb]) -> SplitMasses:
        """Σ factor·term, ≥ 0 as a whole; factors < 0 are subtracted."""
        return SplitMasses(
            combine_intervals([term.left for term in terms], factors),
            combine_intervals([term.right for term in terms], factors),
        )


def combine_intervals(terms: Sequence[FloatIntervals], factors: Sequence[arb]) -> FloatIntervals:
    """Σ factor·term, ≥ 0 as a whole; factors < 0 are subtracted."""
    zero = FloatIntervals(np.zeros(len(terms[0])), np.zeros(len(terms[0])))
    positive = negative = zero
    for term, factor in zip(terms, factors, strict=True):
        if factor < 0:
            negative = negative.plus(term.times(-factor))
        else:
            positive = positive.plus(term.times(factor))
    return positive.minus(negative) if negative is not zero else positive


def join_intervals(pieces: Sequence[FloatIntervals]) -> FloatIntervals:
    """All intervals, one list after the other."""
    return FloatIntervals(
        np.concatenate([piece.lower for piece in pieces]), np.concatenate([piece.upper for piece in pieces])
    )


def split_masses(cells: Sequence[Sequence[arb]], edges: Sequence[Fraction]) -> SplitMasses:
    """The split of each cell's mass from its moments about the first edge."""
    low, lefts, rights = edges[0], [], []
    for cell, start, stop in zip(cells, edges[:-1], edges[1:], strict=True):
        right = (cell[1] - ball(start - low, BALL_BITS * 4) * cell[0]) / ball(stop - start, BALL_BITS * 4)
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
    return max(float(left @ right) * (1 - (count + 4) * UNIT_IN_LAST_PLACE) - (count + 1) * SMALLEST_DOUBLE, 0.0)


def dot_above(left: Doubles, right: Doubles) -> float:
    """At least Σ left·right, all of them ≥ 0."""
    count = len(left)
    return float(left @ right) * (1 + (count + 4) * UNIT_IN_LAST_PLACE) + (count + 1) * SMALLEST_DOUBLE


def _round_down(values: Doubles) -> Doubles:
    """A unit lower, and never below 0."""
    lower: Doubles = np.nextafter(values, -np.inf)
    return np.maximum(lower, 0.0)


def _round_up(values: Doubles) -> Doubles:
    """A unit higher; also an exact 0, since it may be a product that vanished below the least double."""
    higher: Doubles = np.nextafter(values, np.inf)
    return higher
