"""The vertices of a privacy region, found without powers of α: distances as vectors of whole numbers.

Distances as vectors of whole numbers, so that sums and differences of them are compared without rounding.

Every distance is a sum Σ c·b with c rational and b a monomial ∏ p^r·e^q (1, √2, √5, …). The monomials are linearly
independent over the rationals (Besicovitch; Lindemann–Weierstrass), so two sums are equal exactly when their
coefficients are. Which of two different ones is larger is decided by integers ⌊b·2^bits⌋, with as many bits as it
takes. Once multiplied by a common denominator the coefficients are whole numbers.

A posterior δ is private when δ_x ≤ α^−d(x,x′)·δ_x′ for all pairs. With δ_x = α^k_x these are the difference
constraints k_x′ − k_x ≤ d(x,x′), which do not depend on α: their solutions, up to a constant, are a polytope (a
*polytrope*), and a point of it is a vertex exactly when its tight pairs connect all the secrets. Taking powers of α
keeps which pairs are tight, so the vertices of the region are its vertices (FMPD23 §III; KL10's connected row graphs).

From a vertex an edge leads along the indicator of each set U of secrets such that no tight pair forbids to raise U, and
both U and the others are connected by tight pairs. The vertices and edges of a polytope are a connected graph, so a
walk over it meets every vertex.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Number, Real, enclosure
from utmost.exact.reals import ONE, Monomial
from utmost.spaces import Space

IntArray: TypeAlias = npt.NDArray[np.int64]
FLOOR_BITS = 40  # bits after the point at which a sum is evaluated first
MAX_INT64_SUM = 1 << 62  # sums below this do not overflow


@dataclass(frozen=True, slots=True, eq=False)
class DistanceLattice:
    """The distances d(x,y) = steps[x,y]·basis/unit of a space."""

    basis: tuple[Number, ...]
    unit: int
    steps: IntArray
    basis_floors: IntArray  # b·2^FLOOR_BITS of each basis number within 2, or just 1 when all distances are rational

    def number(self, vector: IntArray | Sequence[int]) -> Number:
        """The number that a vector stands for."""
        terms = [Fraction(int(c), self.unit) * b for c, b in zip(vector, self.basis, strict=True) if c]
        return sum(terms[1:], start=terms[0]) if terms else Fraction(0)

    def smallest(self, vectors: IntArray) -> int:
        """The index of the least of these sums, decided.

        >>> from utmost.spaces import space
        >>> lattice = distance_lattice(space([[0, 1, "sqrt(2)"], [1, 0, "5/4"], ["sqrt(2)", "5/4", 0]]))
        >>> lattice.smallest(lattice.steps[2])
        2
        >>> lattice.smallest(lattice.steps[2, :2])
        1
        """
        values = vectors @ self.basis_floors
        best = int(values.argmin())
        if len(self.basis) == 1:
            return best
        errors = 2 * np.abs(vectors).sum(axis=1)
        rivals = np.flatnonzero(values - errors <= values[best] + errors[best])
        for index in rivals.tolist():
            if self.sign(vectors[index] - vectors[best]) < 0:
                best = index
        return best

    def sign(self, vector: IntArray) -> int:
        """−1, 0 or 1: 0 only if all coefficients are, otherwise decided at some precision."""
        coefficients, floors, bits = vector.tolist(), self.basis_floors.tolist(), FLOOR_BITS
        error = 0 if len(floors) == 1 else 2 * sum(map(abs, coefficients))
        while any(coefficients):
            value = sum(c * floor for c, floor in zip(coefficients, floors, strict=True))
            if abs(value) > error:
                return 1 if value > 0 else -1
            bits *= 2
            floors = scaled_floors(self.basis, bits)
        return 0


def distance_lattice(space: Space) -> DistanceLattice:
    """The lattice that the distances of a space lie in."""
    size = len(space)
    distance_terms = [_monomial_terms(value) for value in space.distances.ravel().tolist()]
    monomials = sorted({m for terms in distance_terms for m in terms} | {ONE})
    unit = math.lcm(*(c.denominator for terms in distance_terms for c in terms.values()))
    steps = [[int(terms.get(m, Fraction(0)) * unit) for m in monomials] for terms in distance_terms]
    basis = tuple(_monomial_value(m) for m in monomials)
    basis_floors = [1] if len(basis) == 1 else scaled_floors(basis, FLOOR_BITS)
    longest = 4 * size * max(sum(map(abs, vector)) for vector in steps)  # differences of paths, and to spare
    if longest * max(basis_floors) >= MAX_INT64_SUM:
        raise InputError(
            f"distances of {space.name} must have fewer digits: written in whole units they do not fit", "space"
        )
    step_array = np.array(steps, dtype=np.int64).reshape(size, size, len(monomials))
    return DistanceLattice(basis, unit, step_array, np.array(basis_floors, dtype=np.int64))


def scaled_floors(basis: Iterable[Number], bits: int) -> list[int]:
    """Integers within 2 of b·2^bits."""
    scale = 1 << bits
    return [math.floor(enclosure(b, bits + 64)[0] * scale) for b in basis]


def _monomial_terms(value: Number) -> dict[Monomial, Fraction]:
    if not isinstance(value, Real):
        return {ONE: value} if value else {}
    numerator, denominator = map(dict, value.terms())
    if denominator != {ONE: Fraction(1)}:
        raise InputError(
            "distances must be sums of roots and powers of e", "space", "multiply the space by their denominator"
        )
    return numerator


def _monomial_value(monomial: Monomial) -> Number:
    return Fraction(1) if monomial == ONE else Real({monomial: Fraction(1)}, {ONE: Fraction(1)})


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
