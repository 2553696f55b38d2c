"""Kernel mechanisms, which generate a privacy type (FMPD23 §III, Def. 5, Thm 3), and their weights.

A kernel mechanism is a set of linearly independent vertices of the region with weights that average to the uniform
distribution: a vertex of {λ ≥ 0 : Vλ = uniform}, V the vertices as columns. How many there are depends on α.

A second algorithm for kernel mechanisms, used in tests: textbook double description in whole numbers.

The rays of {λ ≥ 0 : Wλ = 0} are kept with whole weights, the rows of W are taken as they come, and whether two rays
share a face is seen from their sets alone: they do when no third ray lies in the union (Motzkin et al. 1953; Fukuda and
Prodon 1996). It needs no general position, doubles or sorting, and shares no code with `positive_circuits`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, Real
from utmost.polytopes.polynomial_weights import PolynomialWeights
from utmost.polytopes.positive_circuits import Step, count_circuits, positive_circuits
from utmost.polytopes.vertex_columns import (
    Column,
    PolynomialColumns,
    exact_determinant,
    integer_column,
    polynomial_columns,
    vertex_columns,
)
from utmost.polytopes.vertices import IntArray, Progress, distance_lattice, lattice_vertices
from utmost.result_values import equal_fields, hash_of_kind, short_repr
from utmost.spaces import Space

Weights: TypeAlias = tuple[Number, ...]
MAX_EXACT_DOUBLE = 1 << 53  # whole numbers up to this are doubles
MAX_INT64_SUM = 1 << 60  # masses below this do not overflow when they are added


class WeightScale:
    """Weighs minimal sets of columns that average to uniform: Σ p_v·posterior_v = 1/n, for p > 0 that sum to 1."""

    def __init__(self, columns: Sequence[Column], polynomials: PolynomialWeights | None = None) -> None:
        self._columns, self._polynomials = columns, polynomials
        self._integer_columns = None if _has_reals(columns) else [integer_column(column) for column in columns]

    def weights(self, vertex_sets: IntArray) -> Iterator[Weights]:
        """For each row of vertex numbers, their probabilities."""
        if self._integer_columns is None:
            yield from map(self._irrational_weights, vertex_sets.tolist())
            return
        for masses in self.masses(vertex_sets).tolist():
            total = sum(masses)
            yield tuple(Fraction(mass, total) for mass in masses)

    def _irrational_weights(self, vertex_numbers: Sequence[int]) -> Weights:
        if self._polynomials is not None:
            return self._polynomials.weights(vertex_numbers)
        return real_weights([self._columns[v] for v in vertex_numbers])

    def masses(self, vertex_sets: IntArray) -> IntArray:
        """Whole numbers that are to their sum as the weights are to 1: int64 where they fit, else Python's."""
        if self._integer_columns is None:
            raise AssertionError("irrational columns have no whole masses")
        if fits_in_doubles(self._integer_columns, vertex_sets.shape[1]):
            return batch_masses(self._integer_columns, vertex_sets)
        rows = [integer_masses([self._integer_columns[v] for v in row]) for row in vertex_sets.tolist()]
        return np.array(rows, dtype=object).reshape(vertex_sets.shape)


def _has_reals(columns: Sequence[Column]) -> bool:
    return any(isinstance(value, Real) for column in columns for value in column)


def fits_in_doubles(integer_columns: Sequence[Sequence[int]], size: int) -> bool:
    """Is elimination of `size` vectors exact in doubles: are all numbers whole and below 2^53 in size.

    Everything on the way is a minor of at most size − 1 vectors v_x − v_0, by Hadamard at most the product of their
    lengths, or a difference of two products of minors of at most size − 2. A quotient that is whole comes out exact.
    """
    squares = sorted((sum((v - column[0]) ** 2 for v in column) for column in integer_columns), reverse=True)
    product = math.prod(squares[: max(size - 2, 0)]) + 1
    minor = math.isqrt(math.prod(squares[: size - 1])) + 1
    return (
        2 * product < MAX_EXACT_DOUBLE
        and minor < MAX_EXACT_DOUBLE
        and minor * max(map(sum, integer_columns)) < MAX_INT64_SUM
    )


def batch_masses(integer_columns: Sequence[Sequence[int]], vertex_sets: IntArray) -> IntArray:
    """By fraction-free elimination (Bareiss) of all sets together, in whole numbers that doubles hold exactly.

    Eliminating all vectors but the last leaves ±(minor without the i-th vector) in the last column, and ±(minor without
    the last) as last pivot: the dependency, by Cramer's rule. Times the columns' sums these are the masses.
    """
    columns = np.array(integer_columns, dtype=np.int64)
    vectors = (columns[:, 1:] - columns[:, :1]).astype(np.float64)
    table = np.ascontiguousarray(vectors[vertex_sets].transpose(2, 1, 0))  # secret, vector, set
    size, last_pivot = vertex_sets.shape[1], np.ones(len(vertex_sets))
    for c in range(size - 1):
        _swap_in_pivot(table, c)
        pivot = table[c, c].copy()
        for r in (r for r in range(len(table)) if r != c):
            table[r, c + 1 :] *= pivot
            table[r, c + 1 :] -= table[r, c] * table[c, c + 1 :]
            table[r, c + 1 :] /= last_pivot
        last_pivot = pivot
    shares = np.concatenate([table[: size - 1, size - 1], last_pivot[None, :]])
    masses: IntArray = np.abs(shares.T).astype(np.int64) * columns.sum(axis=1)[vertex_sets]
    return masses


def _swap_in_pivot(table: npt.NDArray[np.float64], c: int) -> None:
    """Bring a row that is not 0 in column c to row c, in each set that needs it."""
    zero_pivots = np.flatnonzero(table[c, c] == 0)
    if len(zero_pivots):
        pivot = c + (table[c:, c, zero_pivots] != 0).argmax(axis=0)
        table[pivot, :, zero_pivots], table[c, :, zero_pivots] = (
            table[c, :, zero_pivots].copy(),
            table[pivot, :, zero_pivots].copy(),
        )


def integer_masses(columns: Sequence[Sequence[int]]) -> list[int]:
    """The same for one set, whatever the size of its numbers."""
    basis = averaging_weights(columns)
    if basis is None:
        raise AssertionError("the columns of a kernel mechanism must be independent")
    return [abs(value) * sum(column) for value, column in zip(basis, columns, strict=False)]


def averaging_weights(columns: Sequence[Sequence[int]]) -> list[int] | None:
    """(λ, μ) in whole numbers with Σ λ_v·column_v = μ·1, if there is just one up to a factor."""
    from flint import fmpz_mat

    size, width = len(columns[0]), len(columns)
    basis, nullity = fmpz_mat([*columns, [-1] * size]).transpose().nullspace()
    return [int(basis[k, 0]) for k in range(width + 1)] if nullity == 1 else None


def real_weights(columns: Sequence[Column]) -> Weights:
    """The dependency of the vectors v_x − v_0 by signed minors, each times its column's sum, divided by their total."""
    vectors = [[value - column[0] for value in column[1:]] for column in columns]
    for rows in combinations(range(len(columns[0]) - 1), len(columns) - 1):
        table = [[vector[r] for vector in vectors] for r in rows]
        minors = [exact_determinant([line[:k] + line[k + 1 :] for line in table]) for k in range(len(columns))]
        if minors[0]:
            shares = [
                (-1) ** k * m * exact_sum(column) for k, (m, column) in enumerate(zip(minors, columns, strict=True))
            ]
            total = exact_sum(shares)
            return tuple(share / total for share in shares)
    raise AssertionError("the columns of a kernel mechanism must be independent")


def exact_sum(values: Sequence[Number]) -> Number:
    """Their sum."""
    return sum(values[1:], start=values[0])


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorRegion:
    """The region of private posteriors of a type: its vertices, each as likelihoods of one output with largest 1."""

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    __repr__ = short_repr

    space: Space
    level: Level
    columns: tuple[Column, ...]
    polynomials: PolynomialColumns | None = field(
        default=None, repr=False
    )  # where entries are irrational: the same as polynomials
    polynomial_weights: PolynomialWeights | None = field(default=None, repr=False)  # and at a level e^−ε, ε rational

    def posterior(self, number: int) -> Column:
        """A vertex as a distribution on the secrets.

        >>> from utmost.exact import alpha
        >>> from utmost.spaces import line
        >>> [str(p) for p in posterior_region(line(2), alpha("1/2")).posterior(0)]
        ['2/3', '1/3']
        """
        column = self.columns[number]
        total = exact_sum(column)
        return tuple(value / total for value in column)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel mechanism: numbers of vertices, and under a uniform prior the probability of each (they sum to 1)."""

    __repr__ = short_repr

    columns: tuple[int, ...]
    weights: tuple[Number, ...]
    region: PosteriorRegion = field(repr=False, compare=False)

    def channel(self) -> Channel:
        """The mechanism as a matrix: entry [x, v] is n·weight_v·posterior_v(x). Outputs are numbers of vertices."""
        size = len(self.region.space)
        posteriors = [self.region.posterior(v) for v in self.columns]
        rows = np.empty((size, len(self.columns)), dtype=object)
        for k, (weight, posterior) in enumerate(zip(self.weights, posteriors, strict=True)):
            rows[:, k] = [size * weight * value for value in posterior]
        return trusted_channel(self.region.space.labels, self.columns, rows)


def posterior_region(space: Space, level: Level, progress: Progress | None = None) -> PosteriorRegion:
    """The vertices of the region at this level; at α = 1 the uniform one alone, at α = 0 the certain ones."""
    space.check_table_size()
    if not level.is_inner:
        return PosteriorRegion(space, level, _extreme_columns(len(space), level))
    lattice = distance_lattice(space)
    points = list(lattice_vertices(lattice, space, progress))
    powers: dict[bytes, Number] = {}
    for vector in (vector for point in points for vector in point):
        if vector.tobytes() not in powers:
            powers[vector.tobytes()] = level.power(lattice.number(vector))
    columns = tuple(tuple(powers[vector.tobytes()] for vector in point) for point in points)
    if not any(isinstance(value, Real) for value in powers.values()):
        return PosteriorRegion(space, level, columns)
    weights = None if level.exponent is None else PolynomialWeights(lattice, points, level)
    return PosteriorRegion(space, level, columns, polynomial_columns(lattice, points, level), weights)


def _extreme_columns(size: int, level: Level) -> tuple[Column, ...]:
    zero, one = Fraction(0), Fraction(1)
    if level.alpha == 1:
        return ((one,) * size,)
    return tuple((zero,) * v + (one,) + (zero,) * (size - 1 - v) for v in range(size))


def kernels(space: Space, level: Level, progress: Progress | None = None) -> Iterator[Kernel]:
    """All kernel mechanisms of the type, exact, each once, as they are found.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> for kernel in kernels(line(3), alpha("1/2")):
    ...     print(*kernel.columns, "with", *kernel.weights)
    1 3 with 5/9 4/9
    0 2 3 with 7/18 7/18 2/9
    """
    region = posterior_region(space, level, progress)
    if not level.is_inner:
        vertex_count = len(region.columns)
        yield Kernel(tuple(range(vertex_count)), (Fraction(1, vertex_count),) * vertex_count, region)
        return
    scale, count = WeightScale(region.columns, region.polynomial_weights), 0
    for sets in kernel_sets(region, progress):
        for vertex_numbers, weights in zip(sets.tolist(), scale.weights(sets), strict=True):
            yield Kernel(tuple(vertex_numbers), weights, region)
        count += len(sets)
        if progress is not None:
            progress("kernel mechanisms", count, 0)


def kernel_sets(region: PosteriorRegion, progress: Progress | None = None) -> Iterator[IntArray]:
    """The kernel mechanisms as arrays of numbers of vertices, one a row, without their weights: the fastest way."""
    return positive_circuits(
        vertex_columns(region.columns, region.polynomials), _step_callback(progress, len(region.space))
    )


def kernel_arrays(region: PosteriorRegion, progress: Progress | None = None) -> Iterator[tuple[IntArray, IntArray]]:
    """Arrays of numbers of vertices and of their masses, for a rational type; a weight is a mass over its row's sum.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> for sets, masses in kernel_arrays(posterior_region(line(3), alpha("1/2"))):
    ...     print(sets.tolist(), masses.tolist())
    [[1, 3]] [[5, 4]]
    [[0, 2, 3]] [[21, 21, 12]]
    """
    scale = WeightScale(region.columns)
    return ((sets, scale.masses(sets)) for sets in kernel_sets(region, progress))


def count_kernels(space: Space, level: Level, progress: Progress | None = None) -> int:
    """How many kernel mechanisms the type has; those with as many outputs as secrets are counted without making them.

    At α = 0 and at α = 1 there is one, whatever the size.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> count_kernels(line(6), alpha("1/2"))
    15346
    """
    if not level.is_inner:
        return 1
    region = posterior_region(space, level, progress)
    return count_circuits(vertex_columns(region.columns, region.polynomials), _step_callback(progress, len(space)))


def _step_callback(progress: Progress | None, size: int) -> Step:
    if progress is None:
        return lambda cuts, rays: None
    return lambda cuts, rays: progress(f"rays after {cuts} of {size - 1} cuts", rays, 0)


def kernels_by_subsets(space: Space, level: Level) -> set[tuple[int, ...]]:
    """The same sets of vertices by another way, for checking small rational types: every set of at most n is tried.

    A set counts when its columns are independent and the one solution of Σ λ_v·column_v = 1 is positive.
    """
    columns = [integer_column(column) for column in posterior_region(space, level).columns]
    kernel_subsets = set()
    for size in range(1, len(space) + 1):
        for subset in combinations(range(len(columns)), size):
            basis = averaging_weights([columns[v] for v in subset])
            if basis is not None and (min(basis) > 0 or max(basis) < 0):
                kernel_subsets.add(subset)
    return kernel_subsets


MAX_VERTICES = 63  # of a type: a set of vertices is one 64-bit number
UNIONS_PER_CHUNK = 1 << 22


def kernels_by_description(space: Space, level: Level) -> set[tuple[int, ...]]:
    """The sets of vertices of all kernel mechanisms of a rational type with at most 63 vertices.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> sorted(kernels_by_description(line(3), alpha("1/2")))
    [(0, 2, 3), (1, 3)]
    """
    columns = [integer_column(column) for column in posterior_region(space, level).columns]
    if len(columns) > MAX_VERTICES:
        raise InputError(
            f"this check is for at most {MAX_VERTICES} vertices, got {len(columns)}", hint="use count_kernels"
        )
    rays = [{v: 1} for v in range(len(columns))]
    for x in range(1, len(columns[0])):
        row = [column[x] - column[0] for column in columns]
        rays = list(_cut_rays(rays, row, x))
    return {tuple(sorted(ray)) for ray in rays}


def _cut_rays(rays: list[dict[int, int]], row: list[int], step: int) -> Iterator[dict[int, int]]:
    """The rays in the hyperplane, and where it meets the faces between two others."""
    values = [sum(weight * row[v] for v, weight in ray.items()) for ray in rays]
    yield from (ray for ray, value in zip(rays, values, strict=True) if not value)
    sets = np.array([sum(1 << v for v in ray) for ray in rays], dtype=np.uint64)
    above = np.flatnonzero([value > 0 for value in values])
    below = np.flatnonzero([value < 0 for value in values])
    for p, q in _adjacent_pairs(sets, above, below, step):
        union = {v: rays[p].get(v, 0) * -values[q] + rays[q].get(v, 0) * values[p] for v in rays[p] | rays[q]}
        divisor = math.gcd(*union.values())
        yield {v: weight // divisor for v, weight in union.items()}


def _adjacent_pairs(
    sets: npt.NDArray[np.uint64], above: npt.NDArray[np.int64], below: npt.NDArray[np.int64], step: int
) -> Iterator[tuple[int, int]]:
    """Pairs whose union holds no third ray; a union of more than step + 1 elements always does."""
    chunk_rows = max(1, UNIONS_PER_CHUNK // max(len(below), 1))
    for start in range(0, len(above), chunk_rows):
        unions = sets[above[start : start + chunk_rows], None] | sets[None, below]
        for p, q in np.argwhere(np.bitwise_count(unions) <= step + 1).tolist():
            if np.count_nonzero((sets & ~unions[p, q]) == 0) == 2:
                yield int(above[start + p]), int(below[q])
