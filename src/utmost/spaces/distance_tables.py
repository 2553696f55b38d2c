"""Spaces given by a table of distances, with the axioms of metrics checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from utmost.errors import InputError, MetricError
from utmost.exact import Number, decimal, number
from utmost.spaces.distance_order import IntArray, Triangles, check_triangles, sort_distinct
from utmost.spaces.space import (
    MAX_TABLE_POINTS,
    TABLE_LIMIT_TEXT,
    Label,
    Space,
    TableShape,
    freeze_array,
    label_text,
    object_array,
    point_count_text,
)


def space(distances: Sequence[Sequence[object]], labels: Iterable[Label] | None = None, name: str = "matrix") -> Space:
    """The space with these distances, numbers or text such as "sqrt(2)"; an axiom that fails is named with its points.

    >>> space([[0, 1, 3], [1, 0, 1], [3, 1, 0]])
    Traceback (most recent call last):
        ...
    utmost.errors.MetricError: matrix is not a metric: d(0, 2) = 3 > d(0, 1) + d(1, 2) = 2
    """
    size = len(distances)
    names = tuple(range(size)) if labels is None else tuple(labels)
    if not 1 <= size <= MAX_TABLE_POINTS:
        raise InputError(f"{name} must have 1 to {MAX_TABLE_POINTS} points, got {size}", hint=TABLE_LIMIT_TEXT)
    check_labels(names, size, name)
    if any(len(row) != size for row in distances):
        raise MetricError(f"{name} must be square: {size} rows, so {size} distances in each")
    values, codes = _parse_distances(distances)
    violation = _entry_violation(values, codes, names)
    if violation:
        raise MetricError(f"{name} is not a metric: {violation}")
    triangle, edges = check_triangles(Triangles.from_codes(values, codes))
    if triangle is not None:
        raise MetricError(f"{name} is not a metric: {_triangle_text(triangle, values, codes, names)}")
    return Space.from_shape(name, TableShape(names, freeze_array(object_array(values)[codes]), edges))


def check_labels(labels: Sequence[Label], size: int, name: str) -> None:
    """Refuse labels that are too few, or that look the same when written."""
    distinct_count = len({str(label) for label in labels})
    if len(labels) != size or distinct_count != size:
        raise InputError(f"{name} must have {point_count_text(size)} distinct labels, got {distinct_count}")


def _parse_distances(distances: Sequence[Sequence[object]]) -> tuple[tuple[Number, ...], IntArray]:
    """The distinct entries in order, and the table of their numbers; each text is read once."""
    entry_numbers: dict[tuple[type, object], tuple[int, object]] = {}  # holds the entry, so that its id stays its own
    numbers: list[Number] = []
    table = np.empty((len(distances), len(distances)), dtype=np.int64)
    for i, row in enumerate(distances):
        for j, entry in enumerate(row):
            key = (type(entry), entry if isinstance(entry, str | int) else id(entry))
            if key not in entry_numbers:
                entry_numbers[key] = len(numbers), entry
                numbers.append(number(entry, f"distance in row {i}"))
            table[i, j] = entry_numbers[key][0]
    values, positions = sort_distinct(numbers)
    return values, positions[table]


def _entry_violation(values: tuple[Number, ...], codes: IntArray, labels: Sequence[Label]) -> str | None:
    """The first axiom on one or two points that fails, with its witness; None if all hold."""
    zero = next((k for k, value in enumerate(values) if value == 0), -1)

    def distance_text(x: int, y: int) -> str:
        return f"d({label_text(labels[x])}, {label_text(labels[y])}) = {brief_number(values[codes[x, y]])}"

    for x in np.flatnonzero(codes.diagonal() != zero)[:1].tolist():
        return f"{distance_text(x, x)}, must be 0"
    for x, y in np.argwhere(codes != codes.T)[:1].tolist():
        return f"{distance_text(x, y)} but {distance_text(y, x)}"
    for x, y in np.argwhere(np.triu(codes <= zero, 1))[:1].tolist():
        return f"{distance_text(x, y)}, must be > 0"
    return None


def _triangle_text(
    triangle: tuple[int, int, int], values: tuple[Number, ...], codes: IntArray, labels: Sequence[Label]
) -> str:
    x, z, y = triangle
    a, b, c = (label_text(labels[k]) for k in triangle)
    detour = values[codes[x, z]] + values[codes[z, y]]
    return f"d({a}, {c}) = {brief_number(values[codes[x, y]])} > d({a}, {b}) + d({b}, {c}) = {brief_number(detour)}"


def brief_number(value: Number) -> str:
    """An exact number as text, or about what it is where that is long."""
    text = str(value)
    return text if len(text) <= 60 else f"about {decimal(value)}"
