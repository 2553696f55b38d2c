"""Densities given as functions of doubles, with stated bounds on their error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from utmost.continuous.densities.moments import Cell, Rate, Row, exponential_moments, rate_ball, shift_moments
from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError
from utmost.exact import ball, decimal, rational
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

PIECES_PER_INTERVAL = 1024  # no moment is taken from a value further than 1/2048 of the interval away


@dataclass(frozen=True, slots=True)
class UserDensity:
    """A density π of which is stated: |function(x) − π(x)| ≤ error, and |π(x) − π(x′)| ≤ slope·|x − x′|.

    On a piece of width h around the double m, π is within function(m) ± (error + slope·h/2), and not below 0: that is
    what the balls are made of. They are as wide as the statements leave them, narrower in narrower cells down to
    `error`, whatever precision is asked for. The statements are taken on trust; what they exclude is refused.
    """

    interval: Interval
    function: Callable[[float], float]
    error: Fraction
    slope: Fraction
    name: str = "callable"

    def __post_init__(self) -> None:
        """Refuses statements that are not bounds, and a function that they say is no density."""
        for name, value in (("error", self.error), ("slope", self.slope)):
            if value < 0:
                raise InputError(f"{name} must be >= 0, got {decimal(value)}: it is a bound on a distance", name)
        (total,) = self.masses([self.interval.low, self.interval.high], 64)
        if not total.contains(1):
            raise InputError(
                f"density must have total 1, got about {decimal(float(total.mid()))}, which the stated error "
                "and slope exclude",
                "density",
                "divide the function by its integral",
            )

    def at(self, x: Fraction, bits: int) -> arb:
        """π(x), as near as it is stated; 0 outside the interval."""
        from flint import arb

        with working_precision(bits):
            return self._height_bounds(x, x) if x in self.interval else arb(0)

    def moments(self, edges: Sequence[Fraction], rate: Rate, degree: int, bits: int) -> list[Row]:
        """∫ x^k·e^(rate·x)·π(x) dx over each cell between edges, k = 0..degree, as balls."""
        cells = list(pairwise(check_edges(edges, self.interval)))
        with working_precision(bits + 16):
            power = rate_ball(rate, bits + 16)
            return [self._row(cell, power, degree, bits + 16) for cell in cells]

    def masses(self, edges: Sequence[Fraction], bits: int) -> list[arb]:
        """∫ π(x) dx over each cell, as balls."""
        return [row[0] for row in self.moments(edges, 0, 0, bits)]

    def exact_masses(self, edges: Sequence[Fraction]) -> None:
        """None: what is stated is not exact."""

    def _row(self, cell: Cell, rate: arb, degree: int, bits: int) -> Row:
        from flint import arb

        count = math.ceil((cell[1] - cell[0]) * PIECES_PER_INTERVAL / self.interval.length)
        width = (cell[1] - cell[0]) / count
        steps = exponential_moments(-rate, ball(width, bits), degree)
        row = [arb(0)] * (degree + 1)
        for k in range(count):
            u = cell[0] + k * width
            edge = ball(u, bits)
            shape = [(rate * edge).exp() * moment for moment in shift_moments(steps, edge)]
            piece_row = _moments_within(self._height_bounds(u, u + width), shape, u, u + width)
            row = [old + new for old, new in zip(row, piece_row, strict=True)]
        return row

    def _height_bounds(self, low: Fraction, high: Fraction) -> arb:
        """π on [low, high]: function(m) ± (error + slope·distance from the double m), not below 0."""
        middle = float((low + high) / 2)
        if Fraction(middle) not in self.interval:  # rounded across an end
            middle = math.nextafter(middle, float(self.interval.low + self.interval.high) / 2)
        value = float(self.function(middle))
        if not math.isfinite(value):
            raise InputError(
                "density must be finite everywhere, got a value that is not", "density", "cut the interval there"
            )
        if Fraction(value) + self.error < 0:
            raise InputError(
                "density must be >= 0 within its stated error, got a negative value", "density", "state a larger error"
            )
        radius = self.error + self.slope * max(abs(high - Fraction(middle)), abs(Fraction(middle) - low))
        lower = max(Fraction(value) - radius, Fraction(0))
        return ball(lower, 64).union(ball(Fraction(value) + radius, 64))


def _moments_within(height: arb, shape: Row, low: Fraction, high: Fraction) -> Row:
    """∫ x^k·e^(rate·x)·π(x) dx for any π that stays within `height`; `shape` has the same integrals with π = 1.

    height·shape_k where x^k keeps its sign. Where it does not, middle·shape_k ± radius·X^k·shape_0, X = max |x|.
    """
    from flint import arb

    if not low < 0 < high:
        return [height * moment for moment in shape]
    reach = ball(max(-low, high), 64)
    radius = arb(0, height.rad()) * shape[0]
    return [height.mid() * moment + radius * reach**k if k % 2 else height * moment for k, moment in enumerate(shape)]


def callable_density(
    function: Callable[[float], float], error: object, slope: object, interval: Interval, name: str = "callable"
) -> UserDensity:
    """A density from a function of doubles: at every double it is within `error` of π, and π is `slope`-Lipschitz.

    >>> from utmost.continuous.interval import interval
    >>> density = callable_density(lambda x: 6 * x * (1 - x), "1e-14", 6, interval(0, 1))
    >>> (mass,) = density.masses([Fraction(0), Fraction(1, 4)], 64)
    >>> bool(mass.contains(5 / 32)), float(mass.rad()) < 0.001
    (True, True)
    """
    return UserDensity(interval, function, rational(error, "error"), rational(slope, "slope"), name)
