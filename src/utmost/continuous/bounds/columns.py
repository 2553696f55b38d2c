"""Columns of a mechanism against a prior: the measures g(x)π(x)dx that an answer leaves, known through their moments.

Every mechanism here has columns that are, on consecutive runs of cells, fixed combinations of a few weights u(x), as
e^{εx}, e^{−εx} and 1. So prefix sums of the moments of u(x)π(x) over the cells, made once for each weight, answer for
every column and every edge in a few operations.

Moments are taken about the interval's lower end, and e^{±εx} is e^{±ε(x−low)}: nothing depends on where the interval
lies. All numbers are balls that contain the truth.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from utmost.continuous.bounds.float_intervals import (
    FloatIntervals,
    SplitMasses,
    combine_intervals,
    float_intervals,
    join_intervals,
    split_masses,
)
from utmost.continuous.densities.moments import rate_ball
from utmost.exact import ball
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

    from utmost.continuous.densities import Density
    from utmost.continuous.densities.moments import Rate

Moments: TypeAlias = "tuple[arb, ...]"
NARROW_RELATIVE_RADIUS = 1e-15  # relative radius of the cells of a density that is known to any precision, at most


class Weight:
    """The moments of one weight u(x)π(x): cells[i][k] is ∫ (x−low)^k u π over cell i.

    sums[j][k] is that up to edge j; for a weight that is `falling`, that from edge j on, negated. So differences of
    sums are taken where the weight is smaller, and lose no digits to its range.
    """

    def __init__(self, cells: Sequence[Moments], edges: Sequence[Fraction], falling: bool = False) -> None:
        self.cells, self.edges, self.falling = cells, edges, falling
        total = tuple(value * 0 for value in cells[0])
        self.sums = [total]
        for cell in reversed(cells) if falling else cells:
            total = tuple(a - b if falling else a + b for a, b in zip(total, cell, strict=True))
            self.sums.append(total)
        if falling:
            self.sums.reverse()

    def between(self, start: int, stop: int) -> Moments:
        """∫ (x−low)^k u π from one edge to another."""
        return tuple(b - a for a, b in zip(self.sums[start], self.sums[stop], strict=True))

    @cached_property
    def hats(self) -> SplitMasses:
        """Each cell's mass split between its two ends, its mean kept, as doubles on either side of the truth."""
        return split_masses(self.cells, self.edges)

    @cached_property
    def masses(self) -> FloatIntervals:
        """Each cell's mass as doubles on either side of the truth."""
        return float_intervals([cell[0] for cell in self.cells])


class UncertainWeight(Weight):
    """A weight whose cells are wide balls, as those of a density that is known within stated bounds only.

    Sums of lower and of upper ends are kept apart: a difference of sums of balls is as wide as all cells together.
    """

    def __init__(self, cells: Sequence[Moments], edges: Sequence[Fraction], falling: bool = False) -> None:
        super().__init__([tuple(value.lower() for value in cell) for cell in cells], edges, falling)
        self.above = Weight([tuple(value.upper() for value in cell) for cell in cells], edges, falling)
        self.cells = cells

    def between(self, start: int, stop: int) -> Moments:
        """The ball from what the lower ends say to what the upper ends say."""
        pairs = zip(super().between(start, stop), self.above.between(start, stop), strict=True)
        return tuple(low.union(high) for low, high in pairs)


def make_weight(cells: Sequence[Moments], edges: Sequence[Fraction], falling: bool = False) -> Weight:
    """The weight of these cells: an uncertain one where some of them are wide balls."""
    wide = any(float(cell[0].rad()) > NARROW_RELATIVE_RADIUS * float(cell[0].mid()) for cell in cells)
    return (UncertainWeight if wide else Weight)(cells, edges, falling)


@dataclass(frozen=True, slots=True)
class Run:
    """From edge `start` to edge `stop` the column is Σ factor·weight."""

    start: int
    stop: int
    factors: tuple[arb, ...]
    weights: tuple[Weight, ...]

    def moments(self, start: int, stop: int) -> Moments:
        """Σ factor·∫ (x−low)^k u π between two edges of the run."""
        weighted = [
            [f * value for value in w.between(start, stop)] for f, w in zip(self.factors, self.weights, strict=True)
        ]
        return tuple(sum(values[1:], values[0]) for values in zip(*weighted, strict=True))


class Column:
    """One column: runs that follow each other from the first edge to the last."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = [run for run in runs if run.start < run.stop]
        self.starts = [run.start for run in self.runs]
        self.edges = self.runs[0].weights[0].edges
        self._bases = [tuple(value * 0 for value in self.runs[0].weights[0].between(0, 0))]
        for run in self.runs:
            pairs = zip(self._bases[-1], run.moments(run.start, run.stop), strict=True)
            self._bases.append(tuple(a + b for a, b in pairs))

    @property
    def is_uncertain(self) -> bool:
        """Is it known within stated bounds only."""
        return any(isinstance(weight, UncertainWeight) for run in self.runs for weight in run.weights)

    @property
    def total(self) -> Moments:
        """∫ (x−low)^k g π over the whole interval."""
        return self._bases[-1]

    def moments_up_to(self, edge: int) -> Moments:
        """∫ (x−low)^k g π from the lower end to edge number `edge`."""
        i = max(bisect_right(self.starts, edge) - 1, 0)
        run = self.runs[i]
        pairs = zip(self._bases[i], run.moments(run.start, edge), strict=True)
        return tuple(a + b for a, b in pairs)

    def hats(self) -> SplitMasses:
        """The column's mass split to the edges, cell by cell, as doubles on either side of the truth."""
        terms = [([w.hats.part(run.start, run.stop) for w in run.weights], run.factors) for run in self.runs]
        return SplitMasses.concatenate([SplitMasses.combine(*term) for term in terms])

    def masses(self) -> FloatIntervals:
        """The column's mass in each cell, as doubles on either side of the truth."""
        terms = [([w.masses.part(run.start, run.stop) for w in run.weights], run.factors) for run in self.runs]
        return join_intervals([combine_intervals(*term) for term in terms])


def weight(density: Density, edges: Sequence[Fraction], rate: Rate, degree: int, bits: int) -> Weight:
    """The weight e^{rate·(x−low)}, `low` the interval's lower end."""
    with working_precision(bits):
        raw = density.moments(list(edges), rate, degree, bits)
        low = ball(density.interval.low, bits)
        scale = (-rate_ball(rate, bits) * low).exp()
        cells = [recenter_moments([scale * value for value in cell], low) for cell in raw]
        return make_weight(cells, edges, falling=bool(rate_ball(rate, bits) < 0))


def recenter_moments(moments: Sequence[arb], low: arb) -> Moments:
    """The moments about `low` from those about 0: in the k-th row of the triangle stand ∫ x^j (x−low)^k, j = 0, 1, …"""
    if low == 0:
        return tuple(moments)
    row, result = list(moments), [moments[0]]
    for _ in moments[1:]:
        row = [b - low * a for a, b in pairwise(row)]
        result.append(row[0])
    return tuple(result)


def scale_weight(source: Weight, factors: Sequence[arb], *, falling: bool) -> Weight:
    """The weight times a factor of each cell, constant on it."""
    cells = [tuple(f * value for value in cell) for f, cell in zip(factors, source.cells, strict=True)]
    return make_weight(cells, source.edges, falling)
