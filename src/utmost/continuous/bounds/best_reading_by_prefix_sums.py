"""inf_w ∫ ℓ(w, x) g(x)π(x) dx for one column g, from both sides: losses whose infimum prefix sums give.

F(w) = ∫ ℓ(w, x) g(x)π(x) dx is what a consumer pays who reads this answer as w. A reader finds a reading, an upper
bound on F there, and a lower bound on F everywhere. Doubles may choose the reading; balls bound it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from utmost.continuous.bounds.columns import Column
from utmost.exact import ball
from utmost.exact.reals import midpoint

if TYPE_CHECKING:
    from flint import arb

READING_BITS = 80  # bits that a reading between the edges keeps


@dataclass(frozen=True, slots=True)
class ReadingBounds:
    """lower ≤ inf_w F(w) ≤ F(reading) ≤ upper; `cell` is where to split x for a smaller difference."""

    lower: arb
    upper: arb
    reading: Fraction
    cell: int


class Reader(Protocol):
    """How one loss reads columns."""

    @property
    def degree(self) -> int:
        """The moments it needs."""

    @property
    def uniform(self) -> bool:
        """Does it need cells of equal width."""

    @property
    def order(self) -> int:
        """Its bounds close as cells^−order."""

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """The infimum of one column; `hint` is a cell near the reading."""


@dataclass(frozen=True, slots=True)
class Squared:
    """ℓ = (w − x)²: F(w) = M₂ − 2wM₁ + w²M₀, least at the mean M₁/M₀, where it is M₂ − M₁²/M₀."""

    degree: int = 2
    uniform: bool = False
    order: int = 2

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """The variance in closed form; the reading is the mean to 80 bits."""
        mass, first, second = column.total
        low = column.edges[0]
        if not mass > 0:
            return ReadingBounds(mass * 0, second.upper(), low, 0)
        mean = dyadic_midpoint(first / mass)
        w = ball(mean, 2 * READING_BITS)
        upper = (second - 2 * w * first + w * w * mass).upper()
        lower = (second - first * first / mass).lower()
        return ReadingBounds(lower if lower > 0 else mass * 0, upper, low + mean, 0)


@dataclass(frozen=True, slots=True)
class Linear:
    """ℓ = under·(x − w) for x > w and over·(w − x) for x < w: the absolute loss and its asymmetric kin.

    F is convex. At an edge e it is over·(eL₀ − L₁) + under·(R₁ − eR₀), with L and R the moments left and right of e,
    and s = over·L₀ − under·R₀ is its slope there. So for edges d < e beside the quantile and any λ from 0 to 1

        F(w) ≥ λ·(F(d) + s_d·(w − d)) + (1 − λ)·(F(e) + s_e·(w − e)),

    and λ = s_e/(s_e − s_d) makes that constant in w, up to its rounding, which is paid for over the whole interval;
    no reading outside the interval is better than all within. The bound is second order in e − d.
    """

    under: arb
    over: arb
    degree: int = 1
    uniform: bool = False
    order: int = 2

    def read(self, column: Column, hint: int) -> ReadingBounds:
        """The tangents at both ends of the quantile's cell."""
        cell = _find_crossing(lambda edge: self._slope(column, edge) < 0, hint, len(column.edges) - 1)
        left, right = self._tangent(column, cell), self._tangent(column, cell + 1)
        low, high = column.edges[0], column.edges[-1]
        lower = _bound_from_tangents(left, right, (ball(low - low, 64), ball(high - low, 256)))
        best, edge = min((left, cell), (right, cell + 1), key=lambda pair: float(pair[0].value.upper()))
        upper = best.value.upper()
        return ReadingBounds(lower if lower > 0 else upper * 0, upper, column.edges[edge], cell)

    def _slope(self, column: Column, edge: int) -> arb:
        left = column.moments_up_to(edge)[0]
        return (self.over * left - self.under * (column.total[0] - left)).mid()

    def _tangent(self, column: Column, edge: int) -> Tangent:
        left, total = column.moments_up_to(edge), column.total
        right = [a - b for a, b in zip(total, left, strict=True)]
        point = ball(column.edges[edge] - column.edges[0], 256)
        value = self.over * (point * left[0] - left[1]) + self.under * (right[1] - point * right[0])
        return Tangent(point, value, self.over * left[0] - self.under * right[0])


@dataclass(frozen=True, slots=True)
class Tangent:
    """F(point) and the slope of a line that F nowhere falls below."""

    point: arb
    value: arb
    slope: arb


def _bound_from_tangents(left: Tangent, right: Tangent, interval_ends: tuple[arb, arb]) -> arb:
    """A lower bound on F over the interval from two tangents; true for every λ in [0, 1], good for the right one."""
    slope_difference = right.slope - left.slope
    share = (right.slope / slope_difference).mid() if slope_difference > 0 else slope_difference * 0
    share = min(max(share, share * 0), share * 0 + 1)
    rest = 1 - share
    slope = share * left.slope + rest * right.slope
    intercept = share * (left.value - left.slope * left.point) + rest * (right.value - right.slope * right.point)
    return min((intercept + slope * end).lower() for end in interval_ends)


def _find_crossing(before: Callable[[int], bool], hint: int, last: int) -> int:
    """The cell whose left edge is `before` and whose right one is not, searched outwards from a hint."""
    low, high = 0, last
    guess, step = min(max(hint, 0), last), 1
    if before(guess):
        low = guess
        while low + step < last and before(low + step):
            low, step = low + step, 2 * step
        high = min(low + step, last)
    else:
        high = guess
        while high - step > 0 and not before(high - step):
            high, step = high - step, 2 * step
        low = max(high - step, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if before(middle) else (low, middle)
    return min(low, last - 1)


def dyadic_midpoint(value: arb) -> Fraction:
    """A dyadic fraction near the middle of a ball."""
    return Fraction(round(midpoint(value) * (1 << READING_BITS)), 1 << READING_BITS)
