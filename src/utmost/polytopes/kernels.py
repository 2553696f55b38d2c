"""Kernel mechanisms: the finitely many mechanisms that generate a privacy type (FMPD23 §III, Def. 5, Thm 3).

A kernel mechanism is a set of linearly independent vertices of the region with weights that average to the uniform
distribution: a vertex of {λ ≥ 0 : Vλ = uniform}, V the vertices as columns. How many there are depends on α.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np

from utmost.channel import Channel
from utmost.channel.channel import trusted_channel
from utmost.exact import Level, Number, Real
from utmost.polytopes.alpha_polynomials import PolynomialColumns, polynomial_columns
from utmost.polytopes.distance_lattice import IntArray, distance_lattice
from utmost.polytopes.kernel_mechanism_weights import WeightScale, averaging_weights, exact_sum
from utmost.polytopes.positive_circuits import Step, count_circuits, positive_circuits
from utmost.polytopes.vertex_columns import Column, integer_column, vertex_columns
from utmost.polytopes.vertices import Progress, lattice_vertices
from utmost.spaces import Space


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorRegion:
    """The region of private posteriors of a type: its vertices, each as likelihoods of one output with largest 1."""

    space: Space
    level: Level
    columns: tuple[Column, ...]
    polynomials: PolynomialColumns | None = field(
        default=None, repr=False
    )  # where entries are irrational: the same as polynomials

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
    is_rational = not any(isinstance(value, Real) for value in powers.values())
    return PosteriorRegion(space, level, columns, None if is_rational else polynomial_columns(lattice, points, level))


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
    scale, count = WeightScale(region.columns), 0
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
