"""The grid: places in rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from utmost.errors import InputError
from utmost.exact import Number, integer, power
from utmost.spaces.distance_order import IntArray
from utmost.spaces.line import line
from utmost.spaces.space import (
    Coordinates,
    Label,
    MapPositions,
    Shape,
    Space,
    SpaceFamily,
    SymmetryGenerators,
    check_size,
    sort_pairs,
)

Metric = Literal["euclidean", "manhattan"]


def grid(rows: int, columns: int, metric: Metric = "euclidean") -> Space:
    """Points "row,column" at unit spacing, as the crow flies (euclidean) or along the streets (manhattan).

    >>> str(grid(2, 3).distance(0, 5)), grid(2, 3, "manhattan").distance(0, 5), grid(2, 2).labels
    ('5^(1/2)', Fraction(3, 1), ('0,0', '0,1', '1,0', '1,1'))
    """
    height, width = check_size(rows, "grid", "rows"), check_size(columns, "grid", "columns")
    if metric not in get_args(Metric):
        raise InputError(f"metric of a grid must be euclidean or manhattan, got {str(metric)[:40]!r}", "metric")
    name = f"grid:{height}x{width}" + ("" if metric == "euclidean" else f":{metric}")
    return Space.from_shape(name, GridShape(height, width, metric))


@dataclass(frozen=True)
class GridShape(Shape):
    """Points (row, column), row by row."""

    rows: int
    columns: int
    metric: Metric

    @property
    def size(self) -> int:
        """All points of the grid."""
        return self.rows * self.columns

    def label(self, position: int) -> Label:
        """row,column."""
        row, column = divmod(position, self.columns)
        return f"{row},{column}"

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """The distance, squared if it is euclidean."""
        row_offset = np.abs(x // self.columns - other // self.columns)
        column_offset = np.abs(x % self.columns - other % self.columns)
        key: IntArray = (
            row_offset + column_offset
            if self.metric == "manhattan"
            else row_offset * row_offset + column_offset * column_offset
        )
        return key

    def value(self, key: int) -> Number:
        """The key, or its root."""
        return Fraction(key) if self.metric == "manhattan" else _square_root(key)

    def edges(self) -> IntArray:
        """Manhattan: neighbours. Euclidean: offsets without a common divisor, as no lattice point is on the way."""
        points = np.arange(self.size)
        x, other = np.triu_indices(self.size, 1) if self.metric == "euclidean" else self._neighbours(points)
        row_offset, column_offset = other // self.columns - x // self.columns, other % self.columns - x % self.columns
        pairs: IntArray = np.column_stack([x, other])[np.gcd(row_offset, column_offset) == 1]
        return pairs

    def _neighbours(self, points: IntArray) -> tuple[IntArray, IntArray]:
        right, below = points[points % self.columns < self.columns - 1], points[: self.size - self.columns]
        pairs = sort_pairs(
            np.concatenate([np.column_stack([right, right + 1]), np.column_stack([below, below + self.columns])])
        )
        return pairs[:, 0], pairs[:, 1]

    def symmetries(self) -> SymmetryGenerators:
        """Reflections of either axis, and of the diagonal if it is square: 8 in all for a square."""
        positions = np.arange(self.size).reshape(self.rows, self.columns)
        images = [positions[::-1]] if self.rows > 1 else []
        images += [positions[:, ::-1]] if self.columns > 1 else []
        order = 2 ** len(images)
        if self.rows == self.columns > 1:
            images, order = [*images, positions.T], 8
        return SymmetryGenerators(tuple(image.ravel().copy() for image in images), order)

    @property
    def grid_size(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.columns

    def coordinates(self) -> Coordinates:
        """(row, column)."""
        return tuple((Fraction(row), Fraction(column)) for row in range(self.rows) for column in range(self.columns))

    def map_positions(self) -> MapPositions:
        """Columns to the right, rows downwards."""
        return tuple((float(column), float(-row)) for row in range(self.rows) for column in range(self.columns))

    def axes(self) -> list[Space]:
        """Two lines where distances add: along streets, or where one of them is a point."""
        is_sum = self.metric == "manhattan" or 1 in (self.rows, self.columns)
        return [line(self.rows), line(self.columns)] if is_sum else []


@lru_cache(maxsize=1 << 16)
def _square_root(square: int) -> Number:
    return power(square, Fraction(1, 2))


def _parse_grid(text: str) -> Space | None:
    """The grid of `3x4` or `3x4:manhattan`; None for a text of another form."""
    sides, _, metric = text.partition(":")
    rows, _, columns = sides.partition("x")
    if not rows or not columns or "x" in columns or metric not in ("", *get_args(Metric)):
        return None
    height, width = integer(rows, "rows of a grid"), integer(columns, "columns of a grid")
    return grid(height, width, "manhattan" if metric == "manhattan" else "euclidean")


GRID = SpaceFamily(
    kind="grid",
    example="grid:3x4",
    phrase="grid:3x4, grid:3x4:manhattan",
    points="`row,column`, row by row",
    meaning="Euclidean, unit spacing",
    python="grid(3, 4)",
    parse=_parse_grid,
)
