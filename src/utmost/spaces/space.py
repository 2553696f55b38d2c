"""A space: a finite set of secrets with an exact metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError, MetricError
from utmost.exact import Number, number, sign

Label: TypeAlias = str | int
Pair: TypeAlias = tuple[int, int]
LARGEST = 4096  # points of a space whose distances are written out


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Labels, their distances (exact, checked) and the pairs that generate the metric.

    `edges` are the pairs (x, x′), x < x′, without a third point between them: d(x,z) + d(z,x′) > d(x,x′) for every
    other z. A channel that is private on the edges is private on every pair, since ratios multiply along a path.
    """

    name: str
    labels: tuple[Label, ...]
    distances: npt.NDArray[np.object_]
    edges: tuple[Pair, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<Space {self.name}: {len(self)} points>"

    def distance(self, x: int, other: int) -> Number:
        """d(x, other), the points given by position."""
        result: Number = self.distances[x, other]
        return result

    def position(self, label: Label) -> int:
        """Where a label stands."""
        try:
            return self.labels.index(label)
        except ValueError:
            raise InputError(f"{label!r} is not a point of {self.name}") from None


def space(distances: Sequence[Sequence[object]], labels: Iterable[Label] | None = None, name: str = "matrix") -> Space:
    """The space with these distances; an axiom that fails is named with its points.

    >>> space([[0, 1, 3], [1, 0, 1], [3, 1, 0]])
    Traceback (most recent call last):
        ...
    utmost.errors.MetricError: matrix is not a metric: d(0, 2) = 3 > d(0, 1) + d(1, 2) = 2
    """
    size = len(distances)
    names = tuple(range(size)) if labels is None else tuple(labels)
    if not 1 <= size <= LARGEST:
        raise InputError(f"{name} must have 1 to {LARGEST} points, got {size}")
    if len(names) != size or len(set(names)) != size:
        raise InputError(f"{name} must have {size} distinct labels, got {len(set(names))}")
    if any(len(row) != size for row in distances):
        raise MetricError(f"{name} must be square: {size} rows, so {size} distances in each")
    matrix = np.empty((size, size), dtype=object)
    for i, row in enumerate(distances):
        matrix[i] = [number(d, f"distance in row {i}") for d in row]
    broken = axiom_broken(matrix, names)
    if broken:
        raise MetricError(f"{name} is not a metric: {broken}")
    return Space(name, names, frozen(matrix), generating_pairs(matrix))


def frozen(matrix: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    """The same array, closed for writing."""
    matrix.flags.writeable = False
    return matrix


def axiom_broken(matrix: npt.NDArray[np.object_], labels: Sequence[Label]) -> str | None:
    """The first axiom of metrics that fails, with its witness; None if all hold."""
    for i, label in enumerate(labels):
        if matrix[i, i] != 0:
            return f"d({label}, {label}) = {matrix[i, i]}, must be 0"
    for i, j in combinations(range(len(labels)), 2):
        if matrix[i, j] != matrix[j, i]:
            return f"d({labels[i]}, {labels[j]}) = {matrix[i, j]} but d({labels[j]}, {labels[i]}) = {matrix[j, i]}"
        if sign(matrix[i, j]) <= 0:
            return f"d({labels[i]}, {labels[j]}) = {matrix[i, j]}, must be > 0"
    return _triangle_broken(matrix, labels)


def _triangle_broken(matrix: npt.NDArray[np.object_], labels: Sequence[Label]) -> str | None:
    for z in range(len(labels)):
        through = matrix[:, z][:, None] + matrix[z, :][None, :]
        wrong = np.argwhere((matrix > through).astype(bool))
        if len(wrong):
            x, y = (int(k) for k in wrong[0])
            a, b, c = labels[x], labels[z], labels[y]
            return f"d({a}, {c}) = {matrix[x, y]} > d({a}, {b}) + d({b}, {c}) = {through[x, y]}"
    return None


def generating_pairs(matrix: npt.NDArray[np.object_]) -> tuple[Pair, ...]:
    """The pairs without a point between them."""
    size = len(matrix)
    direct = np.triu(np.ones((size, size), dtype=bool), 1)
    for z in range(size):
        through = matrix[:, z][:, None] + matrix[z, :][None, :]
        between = (matrix == through).astype(bool)
        between[z, :] = between[:, z] = False
        direct &= ~between
    return tuple((int(x), int(y)) for x, y in np.argwhere(direct))


def integer_distances(values: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
    """Distances that are whole numbers, as fractions (one object for each value)."""
    fractions = [Fraction(k) for k in range(int(values.max(initial=0)) + 1)]
    table = np.empty(len(fractions), dtype=object)
    table[:] = fractions
    return frozen(table[values])
