"""One stage of a certified loss: columns whose infima, with weights, bound the loss from below and from above.

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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from utmost.continuous.bounds.columns import Column, Run, Weight, weight
from utmost.exact import Level, ball

if TYPE_CHECKING:
    from flint import arb

    from utmost.continuous.densities import Density
    from utmost.continuous.densities.moments import Rate


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
