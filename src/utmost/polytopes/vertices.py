"""The vertices of a privacy region, found without powers of α.

A posterior δ is private when δ_x ≤ α^−d(x,x′)·δ_x′ for all pairs. With δ_x = α^k_x these are the difference
constraints k_x′ − k_x ≤ d(x,x′), which do not depend on α: their solutions, up to a constant, are a polytope (a
*polytrope*), and a point of it is a vertex exactly when its tight pairs connect all the secrets. Taking powers of α
keeps which pairs are tight, so the vertices of the region are its vertices (FMPD23 §III; KL10's connected row graphs).

From a vertex an edge leads along the indicator of each set U of secrets such that no tight pair forbids to raise U, and
both U and the others are connected by tight pairs. The vertices and edges of a polytope are a connected graph, so a
walk over it meets every vertex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Number
from utmost.polytopes.distance_lattice import DistanceLattice, IntArray, distance_lattice
from utmost.spaces import Space

Exponents: TypeAlias = tuple[Number, ...]
Progress: TypeAlias = Callable[[str, int, int], None]  # what is counted, how many so far, of how many (0: not known)
MAX_POINTS_WITH_CYCLES = 20  # of a space whose tight pairs may form cycles: all sets of points are tried


def vertices(space: Space, progress: Progress | None = None) -> Iterator[Exponents]:
    """The vertices of the privacy region on a space, each as exponents k ≥ 0 with least 0, as they are found.

    The vertex of the type at level 0 < α < 1 is the posterior proportional to α^k_x. The first one is the column of
    distances from the first point; the order is always the same.

    >>> from utmost.spaces import line
    >>> sorted(tuple(map(int, k)) for k in vertices(line(3)))
    [(0, 1, 0), (0, 1, 2), (1, 0, 1), (2, 1, 0)]
    """
    lattice = distance_lattice(space)
    numbers: dict[bytes, Number] = {}
    for point in lattice_vertices(lattice, space, progress):
        yield tuple(_cached_number(lattice, vector, numbers) for vector in point)


def _cached_number(lattice: DistanceLattice, vector: IntArray, numbers: dict[bytes, Number]) -> Number:
    key = vector.tobytes()
    if key not in numbers:
        numbers[key] = lattice.number(vector)
    return numbers[key]


def lattice_vertices(lattice: DistanceLattice, space: Space, progress: Progress | None) -> Iterator[IntArray]:
    """The vertices as vectors over the lattice, shifted so that the least is 0."""
    for count, point in enumerate(walk(lattice, constraints(space)), 1):
        if progress is not None:
            progress("vertices", count, 0)
        yield point - point[lattice.smallest(point)]


def count_vertices(space: Space, progress: Progress | None = None) -> int:
    """How many vertices the privacy region has.

    >>> from utmost.spaces import line
    >>> count_vertices(line(8))
    128
    """
    return sum(1 for _ in lattice_vertices(distance_lattice(space), space, progress))


def constraints(space: Space) -> IntArray:
    """The pairs (low, high) of k_high − k_low ≤ d(low, high): those that generate the metric, both ways."""
    pairs = np.array(space.edges, dtype=np.int64).reshape(-1, 2)
    return np.concatenate([pairs, pairs[:, ::-1]])


def walk(lattice: DistanceLattice, pairs: IntArray) -> Iterator[IntArray]:
    """All vertices k, with k = 0 at the first point, as vectors over the lattice."""
    bounds = lattice.steps[pairs[:, 0], pairs[:, 1]]
    start = lattice.steps[0].copy()
    visited, pending = {start.tobytes()}, [start]
    while pending:
        point = pending.pop()
        yield point
        slack = bounds - (point[pairs[:, 1]] - point[pairs[:, 0]])
        for raised in cuts(TightPairs.of(pairs[~slack.any(axis=1)], len(point))):
            crossing = slack[raised[pairs[:, 1]] & ~raised[pairs[:, 0]]]
            next_vertex = point + np.outer(raised, crossing[lattice.smallest(crossing)])
            next_vertex -= next_vertex[0]
            if next_vertex.tobytes() not in visited:
                visited.add(next_vertex.tobytes())
                pending.append(next_vertex)


@dataclass(frozen=True, slots=True)
class TightPairs:
    """The tight pairs of a vertex: `before[j]` are the points that must be raised with j.

    `neighbours[j]` are those in a tight pair with j.

    Sets of points are whole numbers, bit x for point x.
    """

    pairs: IntArray
    before: list[int]
    neighbours: list[int]

    @classmethod
    def of(cls, pairs: IntArray, size: int) -> TightPairs:
        """From pairs (low, high) with k_high − k_low = d."""
        before, neighbours = [0] * size, [0] * size
        for low, high in pairs.tolist():
            before[high] |= 1 << low
            neighbours[high] |= 1 << low
            neighbours[low] |= 1 << high
        return cls(pairs, before, neighbours)


def cuts(tight: TightPairs) -> Iterator[npt.NDArray[np.bool_]]:
    """The sets of points, as flags, whose raising leads along an edge of the polytope."""
    size = len(tight.neighbours)
    if len(tight.pairs) == size - 1:
        for low, high in tight.pairs.tolist():
            yield flags(_component(tight.neighbours, 1 << low, ~(1 << high)), size)
        return
    if size > MAX_POINTS_WITH_CYCLES:
        raise InputError(
            f"vertices are listed for at most {MAX_POINTS_WITH_CYCLES} points unless the space is a tree, got {size}",
            "space",
        )
    for members in _closed_sets(tight).tolist():
        others = ((1 << size) - 1) & ~members
        if (
            _component(tight.neighbours, members, members) == members
            and _component(tight.neighbours, others, others) == others
        ):
            yield flags(members, size)


def _closed_sets(tight: TightPairs) -> IntArray:
    """The sets, neither empty nor all, that hold with each point all those before it."""
    size = len(tight.neighbours)
    sets = np.arange(1, (1 << size) - 1, dtype=np.int64)
    for point, before in enumerate(tight.before):
        if before:
            sets = sets[((sets >> point) & 1 == 0) | (sets & before == before)]
    return sets


def _component(neighbours: list[int], start: int, inside: int) -> int:
    """The points connected to the lowest one of `start` without leaving `inside`.

    For a tree, the far end of the removed edge is not in `inside`.
    """
    component = pending = start & -start
    while pending:
        point = pending & -pending
        new_points = neighbours[point.bit_length() - 1] & inside & ~component
        component |= new_points
        pending = (pending ^ point) | new_points
    return component


def flags(members: int, size: int) -> npt.NDArray[np.bool_]:
    """A set of points as an array of flags."""
    return np.array([members >> x & 1 for x in range(size)], dtype=bool)


def is_connected(neighbours: list[int]) -> bool:
    """Do the neighbours connect all points."""
    all_points = (1 << len(neighbours)) - 1
    return _component(neighbours, all_points, all_points) == all_points


def vertices_by_growth(space: Space) -> set[Exponents]:
    """The same vertices by another way, for checking: no polytope is walked, and sets of points are grown.

    A vertex restricted to a set of points that tight pairs connect is feasible there; so every vertex is met by placing
    the first point at 0 and then one point at a time at distance ±d(x,y) from one that has its place, keeping what
    breaks no constraint.
    """
    lattice = distance_lattice(space)
    size, partial_vertices = len(space), {(1, lattice.steps[0, :1].tobytes()): {0: lattice.steps[0, 0]}}
    for _ in range(size - 1):
        partial_vertices = {
            key: extension
            for partial in partial_vertices.values()
            for key, extension in _extensions(lattice, partial, size)
        }
    points = (np.stack([partial[x] for x in range(size)]) for partial in partial_vertices.values())
    return {tuple(lattice.number(v) for v in point - point[lattice.smallest(point)]) for point in points}


def _extensions(
    lattice: DistanceLattice, partial: dict[int, IntArray], size: int
) -> Iterator[tuple[tuple[int, bytes], dict[int, IntArray]]]:
    for x, new in ((x, new) for x in partial for new in range(size) if new not in partial):
        for direction in (1, -1):
            value = partial[x] + direction * lattice.steps[x, new]
            gaps = [(value - other, lattice.steps[new, y]) for y, other in partial.items()]
            if all(lattice.sign(step - gap) >= 0 and lattice.sign(step + gap) >= 0 for gap, step in gaps):
                extension = dict(sorted((partial | {new: value}).items()))
                yield (sum(1 << y for y in extension), np.stack(list(extension.values())).tobytes()), extension
