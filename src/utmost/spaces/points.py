"""Spaces of places: points given by coordinates, as the crow flies, along streets, or on the globe."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Number, decimal_above, power
from utmost.exact.doubles import check_digits, round_number
from utmost.spaces.coordinate_inputs import CoordinateTable, read_coordinates
from utmost.spaces.distance_order import Triangles, check_triangles
from utmost.spaces.distance_tables import check_labels
from utmost.spaces.great_circles import EARTH_RADIUS, UNITS_PER_KILOMETRE, check_places, millimetres_below
from utmost.spaces.shape import MAX_TABLE_POINTS, TABLE_LIMIT_TEXT, Coordinates, Label, TableShape, label_text
from utmost.spaces.shortest_paths import close_table
from utmost.spaces.space import Space

PointMetric = Literal["euclidean", "manhattan", "haversine"]
Rows: TypeAlias = Sequence[tuple[Fraction, ...]]
Integers: TypeAlias = npt.NDArray[np.object_]
MAX_ROOT_BITS = 128  # of the numbers under square roots
MAX_LONG_ROOT_POINTS = 200  # points with roots that take milliseconds each
LONG_ROOT_BITS = 80


def points(
    coordinates: Any,
    names: Iterable[Label] | str | None = None,
    metric: PointMetric = "euclidean",
    digits: int | None = None,
    name: str = "points",
) -> Space:
    """The space of places with these coordinates: an array, rows, a frame, or a dict from names to coordinates.

    `metric`: "euclidean" (square roots, exact), "manhattan", or "haversine": places are (latitude, longitude) in
    degrees, distances are in kilometres, on a sphere of radius 6371.0088 km, rounded down to whole millimetres, so that
    what is private for them is private for the true ones. Coordinates are read exactly, doubles as the binary fractions
    that they are; with `digits` they are rounded to so many decimals first. `names` are the labels, or the column of a
    frame that has them.

    >>> town = points({"hall": (0, 0), "mill": (1, 1), "port": (2, 2)})
    >>> town.labels, str(town.distance(0, 2)), town.edges
    (('hall', 'mill', 'port'), '2*2^(1/2)', ((0, 1), (1, 2)))
    >>> points([[0, 0], [0.1, 0.2]], metric="manhattan", digits=1).distance(0, 1)
    Fraction(3, 10)
    """
    if metric not in get_args(PointMetric):
        raise InputError(f"metric must be {', '.join(get_args(PointMetric))}, got {label_text(metric)!r}", "metric")
    decimals = check_digits(digits)
    table = read_coordinates(coordinates, names, is_on_globe=metric == "haversine")
    size = len(table.rows)
    if not 1 <= size <= MAX_TABLE_POINTS:
        raise InputError(f"{name} must have 1 to {MAX_TABLE_POINTS} points, got {size}", "points", TABLE_LIMIT_TEXT)
    check_labels(table.labels, size, name)
    rows = [tuple(round_number(value, decimals) for value in row) for row in table.rows]
    _check_distinct(rows, table.labels, decimals)
    values, codes, note = _METRICS[metric](rows, table.labels)
    edges = check_triangles(Triangles.from_codes(values, codes))[1]
    places: Coordinates | None = tuple((row[0], row[1]) for row in rows) if len(rows[0]) == 2 else None
    notes = [_reading_note(table, decimals), note]
    shape = TableShape.from_codes(
        table.labels,
        values,
        codes,
        edges,
        note="; ".join(filter(None, notes)),
        places=places,
        on_globe=metric == "haversine",
    )
    return Space.from_shape(name, shape)


def _reading_note(table: CoordinateTable, digits: int | None) -> str:
    if digits is not None:
        return f"coordinates rounded to {digits} decimals"
    return "coordinates are doubles, read exactly" if table.has_doubles else ""


def _check_distinct(rows: Rows, labels: Sequence[Label], digits: int | None) -> None:
    """Refuse two points at one place, and name them."""
    first: dict[tuple[Fraction, ...], int] = {}
    for k, row in enumerate(rows):
        if row in first:
            rounded = "" if digits is None else f" rounded to {digits} decimals"
            raise _same_place(labels[first[row]], labels[k], rounded)
        first[row] = k


def _same_place(first: Label, second: Label, rounded: str) -> InputError:
    return InputError(
        f"points must be at different places, got {label_text(first)} and {label_text(second)} at one{rounded}",
        "points",
        "drop one of them",
    )


def _multiples(rows: Rows) -> tuple[Integers, int]:
    """The coordinates as whole multiples of 1/unit."""
    unit = math.lcm(*(value.denominator for row in rows for value in row))
    multiples = np.empty((len(rows), len(rows[0])), dtype=object)
    multiples[:] = [[int(value * unit) for value in row] for row in rows]
    return multiples, unit


def _code_integers(table: Integers) -> tuple[list[int], npt.NDArray[np.int64]]:
    """The distinct entries, increasing, and which of them each entry is."""
    distinct = sorted(set(table.ravel().tolist()))
    position = {value: k for k, value in enumerate(distinct)}
    return distinct, np.array([[position[value] for value in row] for row in table.tolist()], dtype=np.int64)


Distances: TypeAlias = tuple[tuple[Number, ...], npt.NDArray[np.int64], str]


def _euclidean(rows: Rows, labels: Sequence[Label]) -> Distances:
    """√(Σ (x_k − y_k)²), exact."""
    multiples, unit = _multiples(rows)
    squares: Integers = sum(
        ((column[:, None] - column[None, :]) ** 2 for column in multiples.T),
        np.zeros((len(rows), len(rows)), dtype=object),
    )
    distinct, codes = _code_integers(squares)
    _check_roots(distinct, unit, len(rows))
    return tuple(power(square, Fraction(1, 2)) / unit for square in distinct), codes, ""


def _check_roots(squares: list[int], unit: int, size: int) -> None:
    """Refuse square roots of numbers that are too long to be factored."""
    bits = max(square.bit_length() for square in squares)
    advice = "round them: digits=6, or as many as matter"
    if bits > MAX_ROOT_BITS:
        raise InputError(
            f"coordinates must be shorter for exact Euclidean distances: squares have {bits} bits in a common unit, "
            f"and at most {MAX_ROOT_BITS} are taken",
            "points",
            advice,
        )
    if bits > LONG_ROOT_BITS and size > MAX_LONG_ROOT_POINTS:
        raise InputError(
            f"more than {MAX_LONG_ROOT_POINTS} points must have shorter coordinates for exact Euclidean distances, "
            f"got {size} points with squares of {bits} bits",
            "points",
            advice,
        )


def _manhattan(rows: Rows, labels: Sequence[Label]) -> Distances:
    """Σ |x_k − y_k|, exact."""
    multiples, unit = _multiples(rows)
    sums: Integers = sum(
        (abs(column[:, None] - column[None, :]) for column in multiples.T),
        np.zeros((len(rows), len(rows)), dtype=object),
    )
    distinct, codes = _code_integers(sums)
    return tuple(Fraction(k, unit) for k in distinct), codes, ""


def _haversine(rows: Rows, labels: Sequence[Label]) -> Distances:
    """Great-circle distances rounded down to millimetres, then the shortest paths."""
    check_places(rows)
    below = millimetres_below(rows)
    for x, y in np.argwhere(np.triu(below == 0, 1))[:1].tolist():
        raise _same_place(labels[x], labels[y], " to the millimetre")
    closed = close_table(below)
    lost = int((below - closed).max()) + 2  # rounding down, and a ball that does not decide
    distinct, codes = _code_integers(closed)
    note = (
        f"distances are in kilometres on a sphere of radius {float(EARTH_RADIUS)} km, each at most "
        f"{decimal_above(lost)} mm below the great circle"
    )
    return tuple(Fraction(k, UNITS_PER_KILOMETRE) for k in distinct), codes, note


_METRICS: dict[str, Callable[[Rows, Sequence[Label]], Distances]] = {
    "euclidean": _euclidean,
    "manhattan": _manhattan,
    "haversine": _haversine,
}
