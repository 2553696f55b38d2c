"""Densities that are linear between knots: uniform, histograms, broken lines, and the files they are read from."""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from utmost.consumer.family import json_list, read_text
from utmost.continuous.densities.density import (
    Cell,
    DensityFamily,
    Rate,
    Row,
    certified_moments,
    exponential_moments,
    shift_moments,
)
from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError
from utmost.exact import ball, decimal, rational
from utmost.result_values import short_repr

if TYPE_CHECKING:
    from flint import arb

MAX_ROWS = 100_000


def read_bins(path: Path) -> tuple[list[Fraction], list[Fraction]]:
    """The edges and masses of a histogram: rows `from,to,weight`, bins that touch, weights divided by their sum."""
    rows = _read_rows(path, 3, "bins from,to,weight")
    if any(before[1] != after[0] for before, after in pairwise(rows)):
        raise InputError("prior must have bins that touch: each begins where the one before it ends", "prior")
    weights = [row[2] for row in rows]
    return [rows[0][0], *(row[1] for row in rows)], _normalize(weights, sum(weights, Fraction(0)))


def read_points(path: Path) -> list[tuple[Fraction, Fraction]]:
    """The points of a broken line: rows `x,height`, heights divided by their integral."""
    rows = _read_rows(path, 2, "points x,height")
    area = sum(((v - u) * (a + b) / 2 for (u, a), (v, b) in pairwise(rows)), Fraction(0))
    return list(zip([row[0] for row in rows], _normalize([row[1] for row in rows], area), strict=True))


def _normalize(values: Sequence[Fraction], total: Fraction) -> list[Fraction]:
    if total <= 0:
        raise InputError(
            "prior must have a total > 0: weights and heights are not all 0, nor negative, and x increases", "prior"
        )
    return [value / total for value in values]


def _read_rows(path: Path, width: int, form: str) -> list[list[Fraction]]:
    """The rows of numbers of a CSV file without a header, or of a JSON list of lists; messages quote no entry."""
    text = read_text(path, "prior")
    rows = json_list(text, "prior")
    if rows is None:
        try:
            rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
        except csv.Error:
            raise InputError(
                f"prior must be in a CSV or JSON file of {form}, got one that is neither", "prior"
            ) from None
    if not 1 <= len(rows) <= MAX_ROWS:
        raise InputError(f"prior must be in a file of 1 to {MAX_ROWS} {form}, got {len(rows)}", "prior")
    return [_parse_row(row, row_number, width, form) for row_number, row in enumerate(rows, start=1)]


def _parse_row(row: object, row_number: int, width: int, form: str) -> list[Fraction]:
    if not isinstance(row, list) or len(row) != width:
        raise InputError(f"prior must be in a file of {form}, got another number of cells in row {row_number}", "prior")
    try:
        return [rational(cell, "prior") for cell in row]
    except InputError:
        raise InputError(
            f"prior must be in a file of {form}, got no rational number in row {row_number}", "prior"
        ) from None


@dataclass(frozen=True, slots=True)
class PiecewiseLinear:
    """On [knots[i], knots[i+1]] the density runs straight from left[i] to right[i]; outside the knots it is 0.

    The masses of its cells are rational, and its other moments are closed forms: sums of e^(rate·edge) with rational
    functions of the rate for factors, evaluated without cancellation.
    """

    __repr__ = short_repr

    interval: Interval
    knots: tuple[Fraction, ...]
    left: tuple[Fraction, ...]
    right: tuple[Fraction, ...]
    name: str

    def __post_init__(self) -> None:
        """Refuses what is not a density: wrong order, negative heights, a total that is not exactly 1."""
        check_edges(self.knots, self.interval)
        if not len(self.left) == len(self.right) == len(self.knots) - 1:
            raise InputError("density must have a height at both ends of every piece", "density")
        if any(height < 0 for height in (*self.left, *self.right)):
            raise InputError(
                "density must be >= 0 everywhere, got a negative height: probabilities are not negative", "density"
            )
        total = self.total()
        if total != 1:
            raise InputError(
                f"density must have total 1, got {decimal(total)}", "density", "divide its heights by that"
            )

    def total(self) -> Fraction:
        """The integral over the interval."""
        pieces = zip(pairwise(self.knots), self.left, self.right, strict=True)
        return sum(((v - u) * (a + b) / 2 for (u, v), a, b in pieces), Fraction(0))

    def at(self, x: Fraction, bits: int) -> arb:
        """π(x); at a jump the value to its right, at the last knot the one to its left."""
        return ball(self._height(x), bits)

    def moments(self, edges: Sequence[Fraction], rate: Rate, degree: int, bits: int) -> list[Row]:
        """∫ x^k·e^(rate·x)·π(x) dx over each cell between edges, k = 0..degree, as balls."""
        cells = list(pairwise(check_edges(edges, self.interval)))
        return certified_moments(cells, rate, degree, bits, self._rows)

    def masses(self, edges: Sequence[Fraction], bits: int) -> list[arb]:
        """∫ π(x) dx over each cell, as balls of rational numbers."""
        return [ball(mass, bits + 8) for mass in self.exact_masses(edges)]

    def exact_masses(self, edges: Sequence[Fraction]) -> list[Fraction]:
        """∫ π(x) dx over each cell, exact.

        >>> from utmost.continuous.interval import interval
        >>> ramp = PiecewiseLinear(
        ...     interval(0, 1), (Fraction(0), Fraction(1)), (Fraction(0),), (Fraction(2),), "ramp"
        ... )
        >>> [str(mass) for mass in ramp.exact_masses([Fraction(0), Fraction(1, 2), Fraction(1)])]
        ['1/4', '3/4']
        """
        cells = list(pairwise(check_edges(edges, self.interval)))
        masses = [Fraction(0)] * len(cells)
        for i, u, v, piece in self._cell_pieces(cells):
            slope = self._slope(piece)
            masses[i] += (v - u) * (self.left[piece] + slope * ((u + v) / 2 - self.knots[piece]))
        return masses

    def _height(self, x: Fraction) -> Fraction:
        if not self.knots[0] <= x <= self.knots[-1]:
            return Fraction(0)
        piece = min(bisect_right(self.knots, x), len(self.knots) - 1) - 1
        return self.left[piece] + self._slope(piece) * (x - self.knots[piece])

    def _slope(self, piece: int) -> Fraction:
        return (self.right[piece] - self.left[piece]) / (self.knots[piece + 1] - self.knots[piece])

    def _cell_pieces(self, cells: Sequence[Cell]) -> Iterator[tuple[int, Fraction, Fraction, int]]:
        """The cells cut at the knots: (cell, from, to, piece), without the parts where the density is 0."""
        last = len(self.knots) - 1
        for i, (low, high) in enumerate(cells):
            piece = max(bisect_right(self.knots, low) - 1, 0)
            while piece < last and self.knots[piece] < high:
                u, v = max(low, self.knots[piece]), min(high, self.knots[piece + 1])
                if u < v and (self.left[piece] or self.right[piece]):
                    yield i, u, v, piece
                piece += 1

    def _rows(self, cells: Sequence[Cell], rate: arb, degree: int, bits: int) -> list[Row]:
        from flint import arb

        rising = bool(rate > 0)  # then the edge with the largest e^(rate·x) is the right one
        fall, rows = (rate if rising else -rate), [[arb(0)] * (degree + 1) for _ in cells]
        lines = [_Line(self, piece, bits) for piece in range(len(self.left))]
        moments_by_width: dict[Fraction, Row] = {}
        for i, u, v, piece in self._cell_pieces(cells):
            width, edge = v - u, ball(v if rising else u, bits)
            if width not in moments_by_width:
                moments_by_width[width] = _alternate_signs(
                    exponential_moments(fall, ball(width, bits), degree + 1), rising
                )
            height, slope = lines[piece].height_and_slope(edge)
            edge_moments = [height * a + slope * b for a, b in pairwise(moments_by_width[width])]
            scale = (rate * edge).exp()
            rows[i] = [old + scale * new for old, new in zip(rows[i], shift_moments(edge_moments, edge), strict=True)]
        return rows


class _Line:
    """One piece as balls: its height at a point, and its slope."""

    __slots__ = ("knot", "left", "slope")

    def __init__(self, density: PiecewiseLinear, piece: int, bits: int) -> None:
        self.knot, self.left = ball(density.knots[piece], bits), ball(density.left[piece], bits)
        self.slope = ball(density._slope(piece), bits)

    def height_and_slope(self, x: arb) -> tuple[arb, arb]:
        """The height at x and the slope."""
        return (self.left if self.slope.is_zero() else self.left + self.slope * (x - self.knot)), self.slope


def _alternate_signs(row: Row, alternate: bool) -> Row:
    """∫ t^j over t = −s instead of s: every other sign changes."""
    return [-moment if alternate and j % 2 else moment for j, moment in enumerate(row)]


def uniform_density(interval: Interval) -> PiecewiseLinear:
    """1/length everywhere.

    >>> from utmost.continuous.interval import interval
    >>> [str(mass) for mass in uniform_density(interval(0, 3)).exact_masses([Fraction(0), Fraction(1), Fraction(3)])]
    ['1/3', '2/3']
    """
    height = (1 / interval.length,)
    return PiecewiseLinear(interval, (interval.low, interval.high), height, height, "uniform")


def histogram(
    edges: Sequence[object], weights: Sequence[object], interval: Interval | None = None, name: str = "histogram"
) -> PiecewiseLinear:
    """Constant on each bin [edges[i], edges[i+1]], with mass weights[i]; the weights sum to exactly 1.

    >>> histogram([0, 1, 4], ["1/4", "3/4"]).left
    (Fraction(1, 4), Fraction(1, 4))
    """
    knots, masses = _knots(edges), [rational(weight, "histogram weight") for weight in weights]
    if len(masses) != len(knots) - 1:
        raise InputError(
            f"histogram must have one edge more than weights, got {len(knots)} and {len(masses)}", "histogram"
        )
    heights = tuple(mass / (v - u) for mass, (u, v) in zip(masses, pairwise(knots), strict=True))
    return PiecewiseLinear(interval or Interval(knots[0], knots[-1]), tuple(knots), heights, heights, name)


def linear_density(
    points: Sequence[tuple[object, object]], interval: Interval | None = None, name: str = "linear"
) -> PiecewiseLinear:
    """Straight between points (x, π(x)), x increasing, with total exactly 1; 0 before the first and after the last.

    >>> linear_density([(0, 0), (1, 2)]).exact_masses([Fraction(0), Fraction(1, 2)])
    [Fraction(1, 4)]
    """
    knots = [rational(x, "density point") for x, _ in points]
    heights = tuple(rational(height, "density height") for _, height in points)
    if len(knots) < 2:
        raise InputError(f"density must have at least two points, got {len(knots)}", "density")
    return PiecewiseLinear(interval or Interval(knots[0], knots[-1]), tuple(knots), heights[:-1], heights[1:], name)


def from_data(values: Iterable[object], edges: Sequence[object], interval: Interval | None = None) -> PiecewiseLinear:
    """The histogram of values in the bins between edges: each bin gets its share of them.

    Bins hold their left edge, the last one both. Shares of private values are themselves private: a prior must come
    from public data, or from a release.

    >>> str(from_data([1, 2, "3.5", 4], [0, 2, 4]).exact_masses([Fraction(0), Fraction(2)])[0])
    '1/4'
    """
    knots = _knots(edges)
    counts = [0] * (len(knots) - 1)
    for value in values:
        x = rational(value, "value")
        if not knots[0] <= x <= knots[-1]:
            raise InputError(
                "values must lie between the first and the last edge, got one outside", "values", "clamp it first"
            )
        counts[min(bisect_right(knots, x), len(counts)) - 1] += 1
    if not any(counts):
        raise InputError("values must be at least one, got none", "values")
    return histogram(knots, [Fraction(count, sum(counts)) for count in counts], interval, "histogram from data")


def _knots(edges: Sequence[object]) -> list[Fraction]:
    knots = [rational(edge, "histogram edge") for edge in edges]
    if len(knots) < 2:
        raise InputError(f"histogram must have at least two edges, got {len(knots)}", "histogram")
    return check_edges(knots, Interval(min(knots), max(knots)))


UNIFORM = DensityFamily(
    kind="uniform", example="uniform", meaning="1/length", parse=lambda _, interval: uniform_density(interval)
)
HISTOGRAM = DensityFamily(
    kind="histogram",
    example="histogram:FILE",
    meaning="constant on bins: a line `from,to,weight` for each; weights are divided by their sum",
    reads_files=True,
    parse=lambda path, interval: histogram(*read_bins(Path(path)), interval, f"histogram:{Path(path).name}"),
)
LINEAR = DensityFamily(
    kind="linear",
    example="linear:FILE",
    meaning="straight between points: a line `x,height` for each; heights are divided by their integral",
    reads_files=True,
    parse=lambda path, interval: linear_density(read_points(Path(path)), interval, f"linear:{Path(path).name}"),
)
