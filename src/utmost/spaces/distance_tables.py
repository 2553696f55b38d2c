"""Spaces given by a table of distances, checked, or by a graph whose shortest paths are the distances."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError, MetricError
from utmost.exact import Number, Real, sign
from utmost.exact.doubles import check_digits, exact_value, round_number
from utmost.spaces.array_inputs import labels_of
from utmost.spaces.distance_order import IntArray, Triangles, check_triangles, edge_pairs, scaled_doubles, sort_distinct
from utmost.spaces.rounded_tables import brief_number, repair_rounding, rounding_of, triangle_text, weights_note
from utmost.spaces.space import (
    MAX_TABLE_POINTS,
    TABLE_LIMIT_TEXT,
    Label,
    Space,
    TableShape,
    label_text,
    point_count_text,
)
from utmost.spaces.table_inputs import is_graph, read_edges, read_table


def space(
    distances: Any, labels: Iterable[Label] | None = None, name: str = "matrix", digits: int | None = None
) -> Space:
    """The space with these distances, numbers or text such as "sqrt(2)"; an axiom that fails is named with its points.

    `distances` are rows, an array or a frame, whose index and columns are then the labels; a sparse matrix of scipy or
    a graph of networkx has the shortest paths of `graph`. Doubles are read exactly, or rounded to so many `digits`
    after the point. Where rounding has broken an axiom by a hair, at most 10⁻⁹ of a distance, the shorter of the two
    distances and then the shortest path is taken, and `remark` says by how much: what is private for smaller distances
    is private for the larger ones.

    >>> space([[0, 1, 3], [1, 0, 1], [3, 1, 0]])
    Traceback (most recent call last):
        ...
    utmost.errors.MetricError: matrix is not a metric: d(0, 2) = 3 > d(0, 1) + d(1, 2) = 2
    >>> near = space([[0, 0.1, 0.1 + 0.2], [0.1, 0, 0.2], [0.1 + 0.2, 0.2, 0]])
    >>> near.edges, near.distance(0, 2) == near.distance(0, 1) + near.distance(1, 2)
    (((0, 1), (1, 2)), True)
    """
    if is_graph(distances):
        return graph(distances, labels, name if name != "matrix" else "graph", digits=digits)
    if hasattr(distances, "__len__") and not isinstance(distances, str):
        _check_size(len(distances), name)
    rows, own_labels = read_table(distances, name)
    size = len(rows)
    _check_size(size, name)
    names = _choose_labels(labels, own_labels, size)
    check_labels(names, size, name)
    if any(len(row) != size for row in rows):
        raise MetricError(f"{name} must be square: {size} rows, so {size} distances in each")
    values, codes = _parse_distances(rows)
    rounding = rounding_of(distances, rows, check_digits(digits))
    note = ""
    if rounding is not None:
        values, codes, note = repair_rounding(values, codes, rounding, names, name)
    violation = _entry_violation(values, codes, names)
    if violation:
        raise MetricError(f"{name} is not a metric: {violation}")
    triangle, edges = check_triangles(Triangles.from_codes(values, codes))
    if triangle is not None:
        raise MetricError(f"{name} is not a metric: {triangle_text(triangle, values, codes, names)}")
    return Space.from_shape(name, TableShape.from_codes(names, values, codes, edges, note=note))


def _check_size(size: int, name: str) -> None:
    """Refuse too few or too many points, before the distances are read."""
    if not 1 <= size <= MAX_TABLE_POINTS:
        raise InputError(f"{name} must have 1 to {MAX_TABLE_POINTS} points, got {size}", hint=TABLE_LIMIT_TEXT)


def _choose_labels(
    labels: Iterable[Label] | None, own_labels: tuple[Label, ...] | None, size: int
) -> tuple[Label, ...]:
    """The labels given, else those of the source, else 0, 1, …"""
    if labels is not None:
        return labels_of(labels)
    return tuple(range(size)) if own_labels is None else own_labels


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
                numbers.append(exact_value(entry, f"distance in row {i}"))
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


Weights: TypeAlias = dict[tuple[int, int], Number]
MAX_EXACT_DOUBLE = 1 << 53  # integers up to it are doubles, and so are their sums
UNSURE_MARGIN = 2.0**-27  # see `_Length`


def graph(
    edges: Any,
    labels: Iterable[Label] | None = None,
    name: str = "graph",
    weight: str = "weight",
    digits: int | None = None,
) -> Space:
    """The points of a connected graph, given by edges (a, b) or (a, b, weight > 0); a weight left out is 1.

    Edges may also be a frame with the columns source, target and perhaps weight, a graph of networkx, whose attribute
    `weight` says which of an edge's data is its length, or a sparse matrix of scipy. Doubles are read exactly, or
    rounded to so many `digits` after the point. Labels stand in the order given, else in that of the source, of whole
    numbers, or of first appearance.

    >>> ring = graph([("a", "b"), ("b", "c", "1/2"), ("c", "a", "sqrt(2)")])
    >>> ring.labels, str(ring.distance(0, 2)), ring.edges
    (('a', 'b', 'c'), '2^(1/2)', ((0, 1), (0, 2), (1, 2)))
    """
    given_labels = None if labels is None else labels_of(labels)
    raw_edges, own_labels = read_edges(edges, weight, name, given_labels)
    decimals = check_digits(digits)
    weighted_edges = [_parse_edge(edge, name, decimals) for edge in raw_edges]
    names = _labels_of_edges(weighted_edges) if own_labels is None else own_labels
    if not 1 <= len(names) <= MAX_TABLE_POINTS:
        raise InputError(f"{name} must have 1 to {MAX_TABLE_POINTS} points, got {len(names)}", hint=TABLE_LIMIT_TEXT)
    check_labels(names, len(names), name)
    weights = _weights(weighted_edges, names, name)
    values, codes = _lengths(len(names), weights, names, name)
    pairs = edge_pairs(Triangles.from_codes(values, codes), _shortest_edges(weights, values, codes))
    note = weights_note((edge[2] for edge in raw_edges if len(edge) == 3), decimals)
    return Space.from_shape(name, TableShape.from_codes(names, values, codes, pairs, note=note))


def _parse_edge(edge: Sequence[Any], name: str, digits: int | None) -> tuple[Label, Label, Number]:
    first, second = edge[0], edge[1]
    weight = exact_value(edge[2], f"weight of an edge of {name}") if len(edge) == 3 else Fraction(1)
    weight = weight if isinstance(weight, Real) else round_number(weight, digits)
    if first == second:
        raise MetricError(
            f"an edge of {name} must join two points, got one from {label_text(first)} to itself", hint="leave it out"
        )
    if sign(weight) <= 0:
        raise MetricError(
            f"weights of {name} must be > 0, got {brief_number(weight)} between {label_text(first)} "
            f"and {label_text(second)}",
            "weights",
        )
    return first, second, weight


def _labels_of_edges(edges: Sequence[tuple[Label, Label, Number]]) -> tuple[Label, ...]:
    names = dict.fromkeys(endpoint for first, second, _ in edges for endpoint in (first, second))
    numbers = [label for label in names if isinstance(label, int)]
    return tuple(sorted(numbers)) if len(numbers) == len(names) else tuple(names)


def _weights(edges: Sequence[tuple[Label, Label, Number]], names: Sequence[Label], name: str) -> Weights:
    """The least weight between each two points x < y that are joined."""
    position = {label: k for k, label in enumerate(names)}
    weights: Weights = {}
    for first, second, weight in edges:
        for endpoint in (first, second):
            if endpoint not in position:
                raise InputError(f"an edge of {name} ends at {label_text(endpoint)}, which is not among its labels")
        x, y = sorted((position[first], position[second]))
        weights[x, y] = min(weight, weights.get((x, y), weight))
    return weights


def _lengths(size: int, weights: Weights, names: Sequence[Label], name: str) -> tuple[tuple[Number, ...], IntArray]:
    """The distinct lengths of shortest paths, and which of them each pair has."""
    multiples_and_unit = _rational_lengths(size, weights)
    if multiples_and_unit is None:
        table: npt.NDArray[Any] = _exact_lengths(size, weights)
        missing = np.argwhere(table == None)  # noqa: E711
    else:
        table, unit = multiples_and_unit
        missing = np.argwhere(np.isinf(table))
    for x, y in missing[:1].tolist():
        raise MetricError(
            f"{name} must be connected, got no path from {label_text(names[x])} to {label_text(names[y])}",
            hint="join its parts, or take one of them",
        )
    if multiples_and_unit is None:
        upper = np.triu_indices(size, 1)
        values, positions = sort_distinct([Fraction(0), *table[upper].tolist()])
        codes = np.zeros((size, size), dtype=np.int64)
        codes[upper] = positions[1:]
        return values, codes + codes.T
    multiples, codes = np.unique(table, return_inverse=True)
    return tuple(Fraction(int(k), unit) for k in multiples.tolist()), codes.reshape(size, size)


def _rational_lengths(size: int, weights: Weights) -> tuple[npt.NDArray[np.float64], int] | None:
    """Shortest paths in multiples of 1/unit, by sums of doubles that are exact; None if the weights do not allow it."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    exact_weights = list(weights.values())
    rationals = [weight for weight in exact_weights if not isinstance(weight, Real)]
    unit = math.lcm(*(weight.denominator for weight in rationals))
    if len(rationals) < len(exact_weights) or sum(rationals, Fraction(0)) * unit > MAX_EXACT_DOUBLE:
        return None
    endpoints = np.array(list(weights), dtype=np.int64).reshape(-1, 2)
    lengths = np.array([float(weight * unit) for weight in rationals])
    adjacency = csr_array((lengths, (endpoints[:, 0], endpoints[:, 1])), shape=(size, size))
    return np.asarray(dijkstra(adjacency, directed=False), dtype=np.float64), unit


@dataclass(slots=True, eq=False)
class _Length:
    """A path's length: a double near it (unit: the largest weight is below 2), and the exact sum on demand.

    A path has fewer than 4096 edges, so that the double is off by at most 4096·(2^−51 + 2^−41) < UNSURE_MARGIN/2;
    doubles further apart than UNSURE_MARGIN decide, others leave it to exact arithmetic.
    """

    approximate: float
    step: Number
    prefix: _Length | None = None

    @property
    def exact(self) -> Number:
        """The sum, computed once."""
        if self.prefix is not None:
            self.step, self.prefix = self.prefix.exact + self.step, None
        return self.step

    def __lt__(self, other: _Length) -> bool:
        difference = self.approximate - other.approximate
        return difference < 0 if abs(difference) > UNSURE_MARGIN else self.exact < other.exact

    def __add__(self, other: _Length) -> _Length:
        return _Length(self.approximate + other.approximate, other.step, self)


def _exact_lengths(size: int, weights: Weights) -> npt.NDArray[np.object_]:
    """Shortest paths from each point (Dijkstra); None where there is none."""
    neighbours: list[list[tuple[int, _Length]]] = [[] for _ in range(size)]
    for ((x, y), weight), approximate in zip(
        weights.items(), scaled_doubles(list(weights.values())).tolist(), strict=True
    ):
        neighbours[x].append((y, _Length(approximate, weight)))
        neighbours[y].append((x, _Length(approximate, weight)))
    table = np.empty((size, size), dtype=object)
    for source in range(size):
        for y, length in enumerate(_lengths_from(source, neighbours)):
            table[source, y] = None if length is None else length.exact
    return table


def _lengths_from(source: int, neighbours: list[list[tuple[int, _Length]]]) -> list[_Length | None]:
    best: list[_Length | None] = [None] * len(neighbours)
    start = best[source] = _Length(0.0, Fraction(0))
    queue, settled = [(start, source)], [False] * len(neighbours)
    while queue:
        length, x = heapq.heappop(queue)
        if settled[x]:
            continue
        settled[x] = True
        _ = length.exact  # from its parent's, so that no chain of sums is left to make
        for y, step in neighbours[x]:
            candidate = length + step
            shortest = best[y]
            if not settled[y] and (shortest is None or candidate < shortest):
                best[y] = candidate
                heapq.heappush(queue, (candidate, y))
    return best


def _shortest_edges(weights: Weights, values: tuple[Number, ...], codes: IntArray) -> IntArray:
    """The edges that are shortest paths themselves, sorted."""
    shortest = [
        (x, y) for (x, y), weight in sorted(weights.items(), key=lambda item: item[0]) if weight == values[codes[x, y]]
    ]
    return np.array(shortest, dtype=np.int64).reshape(-1, 2)
