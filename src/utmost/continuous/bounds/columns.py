"""Columns of a mechanism against a prior, known through their moments, and the stages of a loss made of them.

Every mechanism here has columns that are, on consecutive runs of cells, fixed combinations of a few weights u(x), as
e^{εx}, e^{−εx} and 1. So prefix sums of the moments of u(x)π(x) over the cells, made once for each weight, answer for
every column and every edge in a few operations.

Moments are taken about the interval's lower end, and e^{±εx} is e^{±ε(x−low)}: nothing depends on where the interval
lies. All numbers are balls that contain the truth.

One stage of a certified loss: columns whose infima, with weights, bound the loss from below and from above.

*Truncated Laplace, from above.* Answers within a cell [y₀, y₁] taken together are a post-processing (FMM21 eq. 12), so
the infimum of the merged column ∫_{y₀}^{y₁} (ε/2)e^{−ε|x−y|} dy is no less than what the cell costs.

*From below.* For y₀ ≤ y ≤ y₁, h = y₁ − y₀ and every x

    e^{−ε|x−y|} ≥ a(y)·e^{−ε|x−y₀|} + b(y)·e^{−ε|x−y₁|},    a = sinh(ε(y₁−y))/sinh(εh),  b = sinh(ε(y−y₀))/sinh(εh).

As functions of y both sides agree at y₀ and y₁, the right one solves f″ = ε²f, and the left one does too except for a
kink at y = x, where it bends down: their difference is 2·sinh(ε(min(x,y)−y₀))·sinh(ε(y₁−max(x,y)))/sinh(εh) for x in
the cell, and 0 for x outside. The infimum over readings does not fall when a column grows (ℓ ≥ 0), and it is
superadditive and positively homogeneous. So with H(y) = inf_w ∫ ℓ(w,x) e^{−ε|x−y|} π(x) dx the cell costs at least

    ∫ (ε/2)(a(y)H(y₀) + b(y)H(y₁)) dy = ½·tanh(εh/2)·(H(y₀) + H(y₁)).

On equal cells these are the weights of the truncated geometric mechanism: the lower bound is the loss of its columns,
continued between the grid's points. Both bounds are second order in h. The two end atoms cost ½H(low) and ½H(high).

The factor φ = 2/ζ by which renormalised Laplace noise differs from truncated noise, from both sides on every cell.

ζ(x) = 2 − e^{−ε(x−low)} − e^{−ε(high−x)} is concave and positive, so φ is convex: it lies above its tangents and below
its chords. Both are straight on a cell, so moments of one degree more give those of φ·u·π from either side, to second
order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
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
from utmost.continuous.densities.density import rate_ball
from utmost.exact import Level, ball
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

    from utmost.continuous.densities import Density
    from utmost.continuous.densities.density import Rate

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


Weights: TypeAlias = tuple[Weight, Weight, Weight]


@dataclass(frozen=True, slots=True)
class CellPartition:
    """Edges of the cells of x; every `ratio`-th of them also parts the answers y."""

    edges: tuple[Fraction, ...]
    ratio: int = 1

    @property
    def cells(self) -> int:
        """How many cells."""
        return len(self.edges) - 1

    @property
    def nodes(self) -> list[int]:
        """The edges that part the answers."""
        return list(range(0, self.cells + 1, self.ratio))


@dataclass(frozen=True, slots=True)
class Answer:
    """Answers from `low` to `high`, read alike through one column; with a label the output of that name instead."""

    column: int
    label: str = ""
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Group:
    """An upper column and the lower ones, with weights, for the same answers: they meet as the cells shrink."""

    upper: int
    lower: tuple[tuple[int, arb], ...]
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Stage:
    """Σ lower·inf column ≤ loss ≤ Σ upper·inf column; `answers` says which column reads which answer."""

    columns: list[Column]
    lower: list[arb]
    upper: list[arb]
    answers: list[Answer]
    groups: list[Group] = field(default_factory=list)
    order: int = 2


def rate_of(level: Level, bits: int) -> Rate:
    """ε, exact where it is rational, else as a ball."""
    return level.exponent if level.exponent is not None else level.epsilon_ball(bits)


def exponential_weights(density: Density, grid: CellPartition, level: Level, degree: int, bits: int) -> Weights:
    """The weights 1, e^{ε(x−low)} and e^{−ε(x−low)}."""
    rate = rate_of(level, bits)
    flat, left, right = (weight(density, grid.edges, r, degree, bits) for r in (Fraction(0), rate, -rate))
    return flat, left, right


class TwoSided:
    """The stage of a mechanism with density (ε/2)·φ(x)·e^{−ε|x−y|}.

    The weights hold φ: for the nodes `below` it, for the merged cells `above` it; the same ones where φ = 1.
    """

    def __init__(self, below: Weights, above: Weights, grid: CellPartition, level: Level, bits: int) -> None:
        self.below, self.above = below, above
        self.grid, self.nodes, self.last = grid, grid.nodes, grid.cells
        self.rate = level.epsilon_ball(bits)
        low = grid.edges[0]
        self.growth = [(self.rate * ball(grid.edges[i] - low, bits)).exp() for i in self.nodes]
        widths = [grid.edges[b] - grid.edges[a] for a, b in pairwise(self.nodes)]
        share_by_width = {h: (self.rate * ball(h, bits) / 2).tanh() / 2 for h in set(widths)}
        self.shares = [share_by_width[h] for h in widths]

    def node_column(self, k: int) -> Column:
        """e^{−ε|x−y|} at the k-th node."""
        edge, growth = self.nodes[k], self.growth[k]
        _, left, right = self.below
        return Column([Run(0, edge, (1 / growth,), (left,)), Run(edge, self.last, (growth,), (right,))])

    def cell_column(self, k: int) -> Column:
        """∫ (ε/2)·e^{−ε|x−y|} dy over the k-th cell of answers.

        ½(e^{−εy₀} − e^{−εy₁})e^{εx} to its left, ½(e^{εy₁} − e^{εy₀})e^{−εx} to its right, and within it
        1 − ½e^{ε(y₀−x)} − ½e^{ε(x−y₁)}.
        """
        start, stop, low, high = self.nodes[k], self.nodes[k + 1], self.growth[k], self.growth[k + 1]
        inner_factors = (high * 0 + 1, -1 / (2 * high), -low / 2)
        return Column(
            [
                Run(0, start, ((1 / low - 1 / high) / 2,), self.above[1:2]),
                Run(start, stop, inner_factors, self.above),
                Run(stop, self.last, ((high - low) / 2,), self.above[2:]),
            ]
        )

    def stage(self, *, atoms: bool) -> Stage:
        """The whole: nodes first, then the merged cells; with atoms the ends are answers of their own."""
        count, zero = len(self.nodes), self.rate * 0
        half = (zero + 1) / 2 if atoms else zero
        edges = [self.grid.edges[i] for i in self.nodes]
        columns = [*map(self.node_column, range(count)), *map(self.cell_column, range(count - 1))]
        lower = [a + b for a, b in zip([half, *self.shares], [*self.shares, half], strict=True)]
        upper = [half, *[zero] * (count - 2), half, *[zero + 1] * (count - 1)]
        groups = [
            Group(count + k, ((k, s), (k + 1, s)), self.nodes[k], self.nodes[k + 1]) for k, s in enumerate(self.shares)
        ]
        answers = [Answer(count + k, low=u, high=v) for k, (u, v) in enumerate(pairwise(edges))]
        if atoms:
            first, last = Answer(0, low=edges[0], high=edges[0]), Answer(count - 1, low=edges[-1], high=edges[-1])
            answers = [first, *answers, last]
        return Stage(columns, [*lower, *[zero] * (count - 1)], upper, answers, groups)


def stepped_stage(flat: Weight, starts: Sequence[int], rows: Sequence[Sequence[arb]], answers: list[Answer]) -> Stage:
    """The stage of a mechanism whose law is constant on each run of cells: finite sums, nothing left out.

    starts[i] is the first edge of the run with the law rows[i].
    """
    stops = [*starts[1:], len(flat.edges) - 1]
    columns = [
        Column([Run(a, b, (row[y],), (flat,)) for a, b, row in zip(starts, stops, rows, strict=True)])
        for y in range(len(rows[0]))
    ]
    ones = [flat.sums[0][0] * 0 + 1] * len(columns)
    return Stage(columns, ones, ones, answers)


class Factors:
    """φ = 2/ζ on the cells of a grid: values at the edges, value and slope in the middle of each cell."""

    def __init__(self, level: Level, grid: CellPartition, bits: int) -> None:
        self.rate, self.bits, self.edges = level.epsilon_ball(bits), bits, grid.edges
        self.edge_values = [self._value_and_slope(edge)[0] for edge in grid.edges]
        self.middles = [self._value_and_slope((u + v) / 2) for u, v in pairwise(grid.edges)]

    def _value_and_slope(self, x: Fraction) -> tuple[arb, arb]:
        fall = (-self.rate * ball(x - self.edges[0], self.bits)).exp()
        rise = (-self.rate * ball(self.edges[-1] - x, self.bits)).exp()
        zeta, slope = 2 - fall - rise, self.rate * (fall - rise)
        return 2 / zeta, -2 * slope / (zeta * zeta)

    def applied(self, source: Weight) -> tuple[Weight, Weight]:
        """The weight times φ's tangents, and times its chords; one degree fewer."""
        scale_cell = self._scale_by_range if isinstance(source, UncertainWeight) else self._scale_by_lines
        cells = [scale_cell(i, cell) for i, cell in enumerate(source.cells)]
        sides = ([low for low, _ in cells], [high for _, high in cells])
        below, above = (make_weight(side, source.edges, source.falling) for side in sides)
        return below, above

    def _scale_by_range(self, i: int, cell: Sequence[arb]) -> tuple[tuple[arb, ...], tuple[arb, ...]]:
        """The same for moments known within bounds only, whose differences would be worth nothing: times φ's range."""
        value, slope = self.middles[i]
        drop = abs(slope) * ball((self.edges[i + 1] - self.edges[i]) / 2, self.bits)
        largest = self.edge_values[i].max(self.edge_values[i + 1])
        return tuple((value - drop) * m for m in cell[:-1]), tuple(largest * m for m in cell[:-1])

    def _scale_by_lines(self, i: int, cell: Sequence[arb]) -> tuple[tuple[arb, ...], tuple[arb, ...]]:
        """The moments with the tangent and with the chord of φ; φ lies between them."""
        low, start, stop = self.edges[0], self.edges[i], self.edges[i + 1]
        begin, middle = ball(start - low, self.bits), ball((start + stop) / 2 - low, self.bits)
        width, (value, slope) = ball(stop - start, self.bits), self.middles[i]
        shares = [(next_moment - begin * moment) / width for moment, next_moment in pairwise(cell)]
        chords = [
            self.edge_values[i] * (m - s) + self.edge_values[i + 1] * s for m, s in zip(cell, shares, strict=False)
        ]
        tangents = [value * moment + slope * (next_moment - middle * moment) for moment, next_moment in pairwise(cell)]
        return tuple(tangents), tuple(chords)
