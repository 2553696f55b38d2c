"""The factor φ = 2/ζ by which renormalised Laplace noise differs from truncated noise, from both sides on every cell.

ζ(x) = 2 − e^{−ε(x−low)} − e^{−ε(high−x)} is concave and positive, so φ is convex: it lies above its tangents and below
its chords. Both are straight on a cell, so moments of one degree more give those of φ·u·π from either side, to second
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from utmost.continuous.bounds.columns import UncertainWeight, Weight, make_weight
from utmost.continuous.bounds.loss_stage import CellPartition
from utmost.exact import Level, ball

if TYPE_CHECKING:
    from flint import arb


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
