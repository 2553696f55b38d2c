"""Kernel mechanisms: the finitely many mechanisms that generate a privacy type (FMPD23 §III, Def. 5, Thm 3).

A kernel mechanism is a set of linearly independent vertices of the region with weights that average to the uniform
distribution: a vertex of {λ ≥ 0 : Vλ = uniform}, V the vertices as columns. How many there are depends on α.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np

from utmost.channel import Channel
from utmost.channel.channel import trusted
from utmost.exact import Level, Number, Real
from utmost.geometry.columns import Column, columns_of, determinant, scaled_to_whole
from utmost.geometry.lattice import Whole
from utmost.geometry.rays import Step, circuits, count_circuits
from utmost.geometry.vertices import Progress, vertices
from utmost.spaces import Space


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The region of private posteriors of a type: its vertices, each as likelihoods of one output with largest 1."""

    space: Space
    level: Level
    columns: tuple[Column, ...]

    def posterior(self, number: int) -> Column:
        """A vertex as a distribution on the secrets.

        >>> from utmost.exact import alpha
        >>> from utmost.spaces import line
        >>> [str(p) for p in region(line(2), alpha("1/2")).posterior(0)]
        ['2/3', '1/3']
        """
        column = self.columns[number]
        total = _sum(column)
        return tuple(value / total for value in column)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel mechanism: numbers of vertices, and under a uniform prior the probability of each (they sum to 1)."""

    columns: tuple[int, ...]
    weights: tuple[Number, ...]
    region: Region = field(repr=False, compare=False)

    def channel(self) -> Channel:
        """The mechanism as a matrix: entry [x, v] is n·weight_v·posterior_v(x). Outputs are numbers of vertices."""
        size = len(self.region.space)
        posteriors = [self.region.posterior(v) for v in self.columns]
        rows = np.empty((size, len(self.columns)), dtype=object)
        for k, (weight, posterior) in enumerate(zip(self.weights, posteriors, strict=True)):
            rows[:, k] = [size * weight * value for value in posterior]
        return trusted(self.region.space.labels, self.columns, rows)


def region(space: Space, level: Level, progress: Progress | None = None) -> Region:
    """The vertices of the region at this level; at α = 1 the uniform one alone, at α = 0 the certain ones."""
    if level.alpha == 1:
        return Region(space, level, ((Fraction(1),) * len(space),))
    if level.alpha == 0:
        size = len(space)
        return Region(space, level, tuple(tuple(Fraction(x == v) for x in range(size)) for v in range(size)))
    powers: dict[int, tuple[Number, Number]] = {}  # by address: an exponent met twice is the same object
    columns = []
    for exponents in vertices(space, progress):
        for k in exponents:
            if id(k) not in powers:
                powers[id(k)] = (k, level.power(k))
        columns.append(tuple(powers[id(k)][1] for k in exponents))
    return Region(space, level, tuple(columns))


def kernels(space: Space, level: Level, progress: Progress | None = None) -> Iterator[Kernel]:
    """All kernel mechanisms of the type, exact, each once, as they are found.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> for kernel in kernels(line(3), alpha("1/2")):
    ...     print(*kernel.columns, "with", *kernel.weights)
    1 3 with 5/9 4/9
    0 2 3 with 7/18 7/18 2/9
    """
    made = region(space, level, progress)
    weigh, count = weights_of(made.columns), 0
    for sets in kernel_sets(made, progress):
        for chosen in sets.tolist():
            yield Kernel(tuple(chosen), weigh(chosen), made)
        count += len(sets)
        if progress is not None:
            progress("kernel mechanisms", count, 0)


def kernel_sets(made: Region, progress: Progress | None = None) -> Iterator[Whole]:
    """The kernel mechanisms as arrays of numbers of vertices, one a row, without their weights: much faster."""
    return circuits(columns_of(made.columns), _steps(progress, len(made.space)))


def count_kernels(space: Space, level: Level, progress: Progress | None = None) -> int:
    """How many kernel mechanisms the type has; those with as many outputs as secrets are counted without making them.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> count_kernels(line(6), alpha("1/2"))
    15346
    """
    made = region(space, level, progress)
    return count_circuits(columns_of(made.columns), _steps(progress, len(space)))


def _steps(progress: Progress | None, size: int) -> Step:
    if progress is None:
        return lambda cut, known: None
    return lambda cut, known: progress("hyperplanes cut", cut, size - 1)


def weights_of(columns: Sequence[Column]) -> Callable[[Sequence[int]], tuple[Number, ...]]:
    """For independent columns that average to uniform, their probabilities: Σ p_v·posterior_v = 1/n at every secret."""
    if any(isinstance(value, Real) for column in columns for value in column):
        return lambda chosen: _real_weights([columns[v] for v in chosen])
    whole = [scaled_to_whole(column) for column in columns]
    return lambda chosen: _whole_weights([whole[v] for v in chosen])


def _whole_weights(picked: Sequence[Sequence[int]]) -> tuple[Number, ...]:
    basis = _dependency(picked)
    if basis is None or not basis[-1]:
        raise AssertionError("the columns of a kernel mechanism must be independent and average to uniform")
    below = basis[-1] * len(picked[0])
    return tuple(Fraction(value * sum(column), below) for value, column in zip(basis, picked, strict=False))


def _dependency(picked: Sequence[Sequence[int]]) -> list[int] | None:
    """(λ, μ) in whole numbers with Σ λ_v·column_v = μ·1, if there is just one up to a factor."""
    from flint import fmpz_mat

    size, width = len(picked[0]), len(picked)
    table = fmpz_mat([*picked, [-1] * size]).transpose()
    basis, nullity = table.nullspace()
    return [int(basis[k, 0]) for k in range(width + 1)] if nullity == 1 else None


def _real_weights(picked: Sequence[Column]) -> tuple[Number, ...]:
    """The dependency of the vectors v_x − v_0 by signed minors, each times its column's sum, divided by their total."""
    vectors = [[value - column[0] for value in column[1:]] for column in picked]
    for rows in combinations(range(len(picked[0]) - 1), len(picked) - 1):
        table = [[vector[r] for vector in vectors] for r in rows]
        minors = [determinant([line[:k] + line[k + 1 :] for line in table]) for k in range(len(picked))]
        if minors[0]:
            shares = [
                (-1) ** k * minor * _sum(column) for k, (minor, column) in enumerate(zip(minors, picked, strict=True))
            ]
            total = _sum(shares)
            return tuple(share / total for share in shares)
    raise AssertionError("the columns of a kernel mechanism must be independent")


def _sum(column: Sequence[Number]) -> Number:
    return sum(column[1:], start=column[0])


def kernels_by_subsets(space: Space, level: Level) -> set[tuple[int, ...]]:
    """The same sets of vertices by another way, for checking small rational types: every set of at most n is tried.

    A set counts when its columns are independent and the one solution of Σ λ_v·column_v = 1 is positive.
    """
    columns = [scaled_to_whole(column) for column in region(space, level).columns]
    found = set()
    for size in range(1, len(space) + 1):
        for chosen in combinations(range(len(columns)), size):
            basis = _dependency([columns[v] for v in chosen])
            if basis is not None and (min(basis) > 0 or max(basis) < 0):
                found.add(chosen)
    return found
