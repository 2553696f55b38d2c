"""The vertices of a privacy region, found without an exponential.

A posterior δ is private when δ_x ≤ α^−d(x,x′)·δ_x′ for all pairs. With δ_x = α^k_x these are the difference
constraints k_x′ − k_x ≤ d(x,x′), which do not know α: their solutions, up to a constant, are a polytope (a
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
from utmost.polytopes.distance_lattice import DistanceLattice, Whole, distance_lattice
from utmost.spaces import Space

Exponents: TypeAlias = tuple[Number, ...]
Progress: TypeAlias = Callable[[str, int, int], None]  # what is counted, how many so far, of how many (0: not known)
MOST_POINTS = 20  # of a space whose tight pairs may form cycles: all sets of points are looked at


def vertices(space: Space, progress: Progress | None = None) -> Iterator[Exponents]:
    """The vertices of the privacy region on a space, each as exponents k ≥ 0 with least 0, as they are found.

    The vertex of the type at level 0 < α < 1 is the posterior proportional to α^k_x. The first one is the column of
    distances from the first point; the order is always the same.

    >>> from utmost.spaces import line
    >>> sorted(tuple(map(int, k)) for k in vertices(line(3)))
    [(0, 1, 0), (0, 1, 2), (1, 0, 1), (2, 1, 0)]
    """
    lattice = distance_lattice(space)
    known: dict[bytes, Number] = {}
    for point in lowered_vertices(lattice, space, progress):
        yield tuple(_known(lattice, vector, known) for vector in point)


def _known(lattice: DistanceLattice, vector: Whole, known: dict[bytes, Number]) -> Number:
    key = vector.tobytes()
    if key not in known:
        known[key] = lattice.number(vector)
    return known[key]


def lowered_vertices(lattice: DistanceLattice, space: Space, progress: Progress | None) -> Iterator[Whole]:
    """The vertices as vectors over the lattice, with least 0."""
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
    return sum(1 for _ in lowered_vertices(distance_lattice(space), space, progress))


def constraints(space: Space) -> Whole:
    """The pairs (low, high) of k_high − k_low ≤ d(low, high): those that generate the metric, both ways."""
    pairs = np.array(space.edges, dtype=np.int64).reshape(-1, 2)
    return np.concatenate([pairs, pairs[:, ::-1]])


def walk(lattice: DistanceLattice, pairs: Whole) -> Iterator[Whole]:
    """All vertices k, with k = 0 at the first point, as vectors over the lattice."""
    bounds = lattice.steps[pairs[:, 0], pairs[:, 1]]
    start = lattice.steps[0].copy()
    seen, waiting = {start.tobytes()}, [start]
    while waiting:
        point = waiting.pop()
        yield point
        slack = bounds - (point[pairs[:, 1]] - point[pairs[:, 0]])
        for raised in cuts(Tight.of(pairs[~slack.any(axis=1)], len(point))):
            crossing = slack[raised[pairs[:, 1]] & ~raised[pairs[:, 0]]]
            move = point + np.outer(raised, crossing[lattice.smallest(crossing)])
            move -= move[0]
            if move.tobytes() not in seen:
                seen.add(move.tobytes())
                waiting.append(move)


@dataclass(frozen=True, slots=True)
class Tight:
    """The tight pairs of a vertex: `before[j]` are the points that must be raised with j, `near[j]` its neighbours.

    Sets of points are whole numbers, bit x for point x.
    """

    pairs: Whole
    before: list[int]
    near: list[int]

    @classmethod
    def of(cls, pairs: Whole, size: int) -> Tight:
        """From pairs (low, high) with k_high − k_low = d."""
        before, near = [0] * size, [0] * size
        for low, high in pairs.tolist():
            before[high] |= 1 << low
            near[high] |= 1 << low
            near[low] |= 1 << high
        return cls(pairs, before, near)


def cuts(tight: Tight) -> Iterator[npt.NDArray[np.bool_]]:
    """The sets of points, as flags, whose raising leads along an edge of the polytope."""
    size = len(tight.near)
    if len(tight.pairs) == size - 1:
        for low, high in tight.pairs.tolist():
            yield flags(_component(tight.near, 1 << low, ~(1 << high)), size)
        return
    if size > MOST_POINTS:
        raise InputError(f"vertices are listed for at most {MOST_POINTS} points unless the space is a tree, got {size}")
    for chosen in _closed_sets(tight).tolist():
        rest = ((1 << size) - 1) & ~chosen
        if _component(tight.near, chosen, chosen) == chosen and _component(tight.near, rest, rest) == rest:
            yield flags(chosen, size)


def _closed_sets(tight: Tight) -> Whole:
    """The sets, neither empty nor all, that hold with each point all those before it."""
    size = len(tight.near)
    sets = np.arange(1, (1 << size) - 1, dtype=np.int64)
    for point, before in enumerate(tight.before):
        if before:
            sets = sets[((sets >> point) & 1 == 0) | (sets & before == before)]
    return sets


def _component(near: list[int], start: int, inside: int) -> int:
    """The points reached from the lowest one of `start` without leaving `inside`.

    A tree's component is asked for with the removed edge's far end outside.
    """
    reached = fresh = start & -start
    while fresh:
        point = fresh & -fresh
        found = near[point.bit_length() - 1] & inside & ~reached
        reached |= found
        fresh = (fresh ^ point) | found
    return reached


def flags(chosen: int, size: int) -> npt.NDArray[np.bool_]:
    """A set of points as an array of flags."""
    return np.array([chosen >> x & 1 for x in range(size)], dtype=bool)


def is_connected(near: list[int]) -> bool:
    """Do the neighbours connect all points."""
    everything = (1 << len(near)) - 1
    return _component(near, everything, everything) == everything


def vertices_by_growth(space: Space) -> set[Exponents]:
    """The same vertices by another way, for checking: no polytope is walked, and sets of points are grown.

    A vertex restricted to a set of points that tight pairs connect is feasible there; so every vertex is met by placing
    the first point at 0 and then one point at a time at distance ±d(x,y) from one that has its place, keeping what
    breaks no constraint.
    """
    lattice = distance_lattice(space)
    size, placed = len(space), {(1, lattice.steps[0, :1].tobytes()): {0: lattice.steps[0, 0]}}
    for _ in range(size - 1):
        placed = {key: grown for known in placed.values() for key, grown in _grown(lattice, known, size)}
    found = (np.stack([known[x] for x in range(size)]) for known in placed.values())
    return {tuple(lattice.number(v) for v in point - point[lattice.smallest(point)]) for point in found}


def _grown(
    lattice: DistanceLattice, known: dict[int, Whole], size: int
) -> Iterator[tuple[tuple[int, bytes], dict[int, Whole]]]:
    for x, new in ((x, new) for x in known for new in range(size) if new not in known):
        for way in (1, -1):
            value = known[x] + way * lattice.steps[x, new]
            gaps = [(value - other, lattice.steps[new, y]) for y, other in known.items()]
            if all(lattice.sign(step - gap) >= 0 and lattice.sign(step + gap) >= 0 for gap, step in gaps):
                grown = dict(sorted((known | {new: value}).items()))
                yield (sum(1 << y for y in grown), np.stack(list(grown.values())).tobytes()), grown
