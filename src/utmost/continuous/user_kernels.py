"""Kernels defined by a user: a density of answers for every input, with stated bounds; anything else is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from utmost.continuous.bounds.columns import Answer, CellPartition, Group, Stage, stepped_stage, weight
from utmost.continuous.interval import Interval
from utmost.continuous.mechanisms import Guarantee
from utmost.errors import InputError
from utmost.exact import Number, ball, decimal, number, rational, sign

if TYPE_CHECKING:
    from flint import arb

    from utmost.continuous.densities import Density

DensityBounds = Callable[[Fraction, Fraction], tuple[object, object]]


@dataclass(frozen=True, slots=True)
class Kernel:
    """`density(x, y)` bounds K(x)(y) by two exact numbers, lower ≤ K(x)(y) ≤ upper, on low ≤ y ≤ high; no atoms.

    `along_x` and `along_y` bound |∂ ln K/∂x| and |∂ ln K/∂y|: within a cell of width δ of either the density stays
    within e^{±δ·(…)/2} of its value in the middle. So the bounds are first order in δ. `along_x` is also its guarantee.
    All of that is taken on trust; a density that it excludes is refused.
    """

    interval: Interval
    density: DensityBounds
    along_x: Fraction
    along_y: Fraction
    name: str = "kernel"
    parts: int = 1

    def __post_init__(self) -> None:
        """Refuses rates that are no bounds."""
        for name, rate in (("along_x", self.along_x), ("along_y", self.along_y)):
            if rate < 0:
                raise InputError(f"{name} must be >= 0, got {decimal(rate)}: it bounds how fast ln K changes", name)

    @property
    def steepness(self) -> float:
        """Its columns need no powers of e."""
        return 0.0

    def guarantee(self) -> Guarantee:
        """The guarantee that the user stated for the kernel."""
        return Guarantee(self.along_x, self.along_x * self.interval.length, "stated with the kernel, not checked")

    def stage(self, density: Density, grid: CellPartition, degree: int, bits: int) -> Stage:
        """For each cell of answers a column below and one above all its densities, times its width."""
        flat = weight(density, grid.edges, Fraction(0), degree, bits)
        starts = list(range(grid.cells))
        middles = [(u + v) / 2 for u, v in pairwise(grid.edges)]
        x_margins = [ball(self.along_x * (v - u) / 2, bits).exp() for u, v in pairwise(grid.edges)]
        answers = [(grid.edges[a], grid.edges[b]) for a, b in pairwise(grid.nodes)]
        cells = [self._cell_bounds(answer, middles, x_margins, bits) for answer in answers]
        tables = [_transpose([cell[side] for cell in cells]) for side in (0, 1)]
        _check_totals(*tables)
        below, above = (stepped_stage(flat, starts, table, []) for table in tables)
        count, unit, zero = len(cells), below.lower[0], below.lower[0] * 0
        return Stage(
            [*below.columns, *above.columns],
            [unit] * count + [zero] * count,
            [zero] * count + [unit] * count,
            [Answer(count + k, low=low, high=high) for k, (low, high) in enumerate(answers)],
            [Group(count + k, ((k, unit),), a, b) for k, (a, b) in enumerate(pairwise(grid.nodes))],
            order=1,
        )

    def _cell_bounds(
        self, answers: tuple[Fraction, Fraction], middles: Sequence[Fraction], x_margins: Sequence[arb], bits: int
    ) -> tuple[list[arb], list[arb]]:
        """The bounds for one cell of answers over every cell of inputs."""
        low, high = answers
        y, width = (low + high) / 2, ball(high - low, bits)
        y_margin = ball(self.along_y * (high - low) / 2, bits).exp()
        bounds = [self._density_bounds(x, y) for x in middles]
        below = [
            ball(lower, bits) / (x_margin * y_margin) * width
            for (lower, _), x_margin in zip(bounds, x_margins, strict=True)
        ]
        above = [
            ball(upper, bits) * (x_margin * y_margin) * width
            for (_, upper), x_margin in zip(bounds, x_margins, strict=True)
        ]
        return below, above

    def _density_bounds(self, x: Fraction, y: Fraction) -> tuple[Number, Number]:
        """The two bounds on K(x)(y), refused where they are no bounds."""
        bounds = self.density(x, y)
        if not isinstance(bounds, tuple) or len(bounds) != 2:
            raise InputError("kernel must give two bounds (lower, upper) on its density, got something else", "kernel")
        lower, upper = number(bounds[0], "kernel"), number(bounds[1], "kernel")
        if sign(lower) < 0 or sign(upper - lower) < 0:
            raise InputError(
                "kernel must give bounds with 0 <= lower <= upper, got others", "kernel", "exchange or correct them"
            )
        return lower, upper


def kernel(
    interval: Interval, density: DensityBounds, along_x: object, along_y: object, name: str = "kernel"
) -> Kernel:
    """The mechanism with the density K(x)(y) of answers y, known within the bounds that `density(x, y)` gives.

    >>> from utmost.continuous.interval import interval
    >>> uniform = kernel(interval(0, 1), lambda x, y: (1, 1), 0, 0)
    >>> uniform.guarantee().epsilon
    Fraction(0, 1)
    """
    return Kernel(interval, density, rational(along_x, "along_x"), rational(along_y, "along_y"), name)


def _transpose(columns: Sequence[Sequence[arb]]) -> list[list[arb]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _check_totals(below: Sequence[Sequence[arb]], above: Sequence[Sequence[arb]]) -> None:
    """Refuses a kernel whose answers have a total that cannot be 1 for some input."""
    for lower, upper in zip(below, above, strict=True):
        if sum(lower[1:], lower[0]) > 1 or sum(upper[1:], upper[0]) < 1:
            raise InputError(
                "kernel must have total 1 over the answers, for every input, which its bounds exclude",
                "kernel",
                "divide it by its integral over y, or state larger rates",
            )
