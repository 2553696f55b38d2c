"""A space: a finite set of secrets with an exact metric; what the standard spaces share, and their families."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Number, integer
from utmost.notebook import Figure, draw_figure, report_html
from utmost.registry import Family
from utmost.spaces.distance_order import IntArray, Triangles, check_triangles, sort_distinct
from utmost.spaces.shape import (
    MAX_PROFILE_POINTS,
    MAX_TABLE_POINTS,
    TABLE_LIMIT_TEXT,
    Coordinates,
    Label,
    MapPositions,
    Pair,
    Profile,
    Shape,
    SymmetryGenerators,
    TableShape,
    freeze_array,
    label_text,
    object_array,
    point_count_text,
)

__all__ = [
    "CAPACITY_ADVICE",
    "MAX_PROFILE_POINTS",
    "MAX_TABLE_POINTS",
    "TABLE_LIMIT_TEXT",
    "Coordinates",
    "Label",
    "MapPositions",
    "Numbered",
    "Pair",
    "Profile",
    "Shape",
    "Space",
    "SpaceFamily",
    "SymmetryGenerators",
    "TableShape",
    "check_size",
    "freeze_array",
    "integer_distances",
    "label_text",
    "object_array",
    "parse_size",
    "point_count_text",
    "profile_from_counts",
    "sort_pairs",
]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Space:
    """Labels, their distances (exact, a metric) and the pairs that generate it; each computed on first use.

    `len`, `name`, `distance` and `profile` are cheap at any size. `labels`, `distances`, `edges` and what is made of
    them are for at most 4096 points.
    """

    name: str
    shape: Shape

    def __init__(
        self, name: str, labels: Iterable[Label], distances: npt.NDArray[np.object_], edges: Iterable[Pair]
    ) -> None:
        """A space written out: the distances are taken to be a metric and the edges to generate it."""
        edge_array = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
        self._set(name, TableShape(tuple(labels), distances, edge_array))

    def _set(self, name: str, shape: Shape) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "shape", shape)

    @classmethod
    def from_shape(cls, name: str, shape: Shape) -> Space:
        """The space of a shape, nothing of it written out yet."""
        if not 1 <= shape.size <= sys.maxsize:
            raise InputError(f"{name} must have 1 to {sys.maxsize} points, got {point_count_text(shape.size)}")
        space = cls.__new__(cls)
        space._set(name, shape)
        return space

    def __len__(self) -> int:
        return self.shape.size

    def __reduce__(self) -> tuple[Any, ...]:
        """What it is made of: tables that follow from that are computed again."""
        return type(self).from_shape, (self.name, self.shape)

    def __repr__(self) -> str:
        remark = f"; {self.remark}" if self.remark else ""
        return f"<Space {self.name}: {len(self)} points{remark}>"

    def __eq__(self, other: object) -> bool:
        """The same labels in the same order, and the same distances.

        Spaces that are too large to be written out are equal where they are made alike.
        """
        if not isinstance(other, Space):
            return NotImplemented
        if self is other or len(self) != len(other):
            return self is other
        if len(self) > MAX_TABLE_POINTS or self.shape == other.shape:
            return bool(self.shape == other.shape)
        if self.labels != other.labels or self.distance(0, len(self) - 1) != other.distance(0, len(self) - 1):
            return False
        return self.values == other.values and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        """Cheap at any size: the number of points, and the first and the last one."""
        last = len(self) - 1
        return hash((last, self.shape.label(0), self.shape.label(last), self.distance(0, last)))

    def _repr_html_(self) -> str:
        return report_html(self, "space")

    def plot(self) -> Figure:
        """A chart of its points and the pairs that generate its metric."""
        return draw_figure(self, "space")

    def distance(self, x: int, other: int) -> Number:
        """d(x, other), the points given by position; at any size."""
        table = self.__dict__.get("distances")  # None before its first use
        if table is not None:
            entry: Number = table[x, other]
            return entry
        positions = range(len(self))
        return self.shape.distance(positions[x], positions[other])

    def position(self, label: Label) -> int:
        """Where a label stands."""
        try:
            return self._positions[label]
        except (KeyError, TypeError):
            raise InputError(f"{label_text(label)!r} is not a point of {self.name}") from None

    @cached_property
    def profile(self) -> Profile | None:
        """How many points are at each distance (0 included, increasing), the same from every point; None if unknown.

        Known for the homogeneous families and what is made of them; FMPD23's capacities need no more of a space.
        """
        return self.shape.profile()

    @cached_property
    def coordinates(self) -> Coordinates | None:
        """Where each point stands in the plane, as a pair of exact numbers; None where its points are no places.

        A grid has (row, column), `points` what it was made of.
        """
        self.check_table_size()
        return self.shape.coordinates()

    @cached_property
    def map_positions(self) -> MapPositions | None:
        """Where each point stands on a map, x to the right and y upwards; None where its points are no places.

        Rows of a grid go downwards. Latitude is upwards, and longitude is shortened as at the middle of the map.
        """
        self.check_table_size()
        return self.shape.map_positions()

    @property
    def remark(self) -> str:
        """What to know about how the distances were read, rounded or shortened; empty where they are as given."""
        return self.shape.remark

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The names of the points, in order."""
        self.check_table_size()
        return tuple(self.shape.label(k) for k in range(len(self)))

    @cached_property
    def distances(self) -> npt.NDArray[np.object_]:
        """d(x, x′) for all pairs, exact; one object for each distinct value."""
        self.check_table_size()
        if isinstance(self.shape, TableShape):
            return self.shape.matrix
        values, codes = self._values_and_codes
        return freeze_array(object_array(values)[codes])

    @property
    def values(self) -> tuple[Number, ...]:
        """The distinct distances, increasing from 0."""
        return self._values_and_codes[0]

    @property
    def codes(self) -> IntArray:
        """Which of `values` each distance is: values[codes[x, x′]] = d(x, x′)."""
        return self._values_and_codes[1]

    @cached_property
    def _values_and_codes(self) -> tuple[tuple[Number, ...], IntArray]:
        self.check_table_size()
        if isinstance(self.shape, TableShape):
            return self.shape.values_and_codes
        points = np.arange(len(self))
        keys, inverse = np.unique(self.shape.keys(points[:, None], points[None, :]), return_inverse=True)
        values, positions = sort_distinct([self.shape.value(key) for key in keys.tolist()])
        codes = positions[inverse].reshape(len(self), len(self))
        codes.flags.writeable = False
        return values, codes

    @cached_property
    def edge_array(self) -> IntArray:
        """The edges, as an array with two columns."""
        self.check_table_size()
        pairs = self.shape.edges()
        if pairs is None:
            pairs = check_triangles(Triangles.from_codes(*self._values_and_codes))[1]
        pairs.flags.writeable = False
        return pairs

    @cached_property
    def edges(self) -> tuple[Pair, ...]:
        """The pairs (x, x′), x < x′, without a third point between them: d(x,z) + d(z,x′) > d(x,x′) for other z.

        A channel that is private on the edges is private on every pair, since ratios multiply along a path.
        """
        return tuple((x, other) for x, other in self.edge_array.tolist())

    @cached_property
    def _positions(self) -> dict[Label, int]:
        return {label: k for k, label in enumerate(self.labels)}

    def check_table_size(self) -> None:
        """Refuse a space that is too large to be written out, and say what does work."""
        if len(self) > MAX_TABLE_POINTS:
            raise InputError(
                f"{self.name} has {point_count_text(len(self))} points and at most {MAX_TABLE_POINTS} can "
                "be written out, "
                f"since that takes n² distances: {self.shape.size_advice}"
            )


def integer_distances(values: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
    """Distances that are whole numbers, as fractions (one object for each value)."""
    return freeze_array(object_array(Fraction(k) for k in range(int(values.max(initial=0)) + 1))[values])


CAPACITY_ADVICE = "its capacity needs no table and works at any size"


@dataclass(frozen=True, kw_only=True)
class SpaceFamily(Family):
    """A family of spaces. `parse` makes a member from the text after the colon, or None where that has another form.

    In the documentation `points` says what its points are, `meaning` what their distance is, and `python` how the
    example is written in Python.
    """

    parse: Callable[[str], Space | None]
    points: str
    python: str


def parse_size(kind: str, text: str) -> int:
    """The number that a text gives after the kind of a space."""
    return integer(text, f"space {kind}:N")


def check_size(value: object, kind: str, unit: str = "points") -> int:
    """A number of points, rows or columns: a whole number from 1 on."""
    size = integer(value, f"{unit} of a {kind} space")
    if size < 1:
        raise InputError(f"{unit} of a {kind} space must be at least 1, got {size}")
    return size


@dataclass(frozen=True)
class Numbered(Shape):
    """Points called 0 … points−1 with distances that are whole numbers."""

    points: int

    @property
    def size(self) -> int:
        """As given."""
        return self.points

    def label(self, position: int) -> Label:
        """The position itself."""
        return position

    def value(self, key: int) -> Number:
        """Keys are distances."""
        return Fraction(key)


def profile_from_counts(counts: list[int]) -> Profile:
    """So many points at 0, 1, 2, …; distances without a point are left out."""
    return tuple((Fraction(k), count) for k, count in enumerate(counts) if count)


def sort_pairs(pairs: IntArray) -> IntArray:
    """Pairs in increasing order."""
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
