"""The weights of kernel mechanisms, many at once in whole numbers where they provably fit, one by one elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.exact import Number, Real
from utmost.polytopes.distance_lattice import IntArray
from utmost.polytopes.vertex_columns import Column, exact_determinant, integer_column

Weights: TypeAlias = tuple[Number, ...]
MAX_EXACT_DOUBLE = 1 << 53  # whole numbers up to this are doubles
MAX_INT64_SUM = 1 << 60  # masses below this do not overflow when they are added


class WeightScale:
    """Weighs minimal sets of columns that average to uniform: Σ p_v·posterior_v = 1/n, for p > 0 that sum to 1."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._integer_columns = None if _has_reals(columns) else [integer_column(column) for column in columns]

    def weights(self, vertex_sets: IntArray) -> Iterator[Weights]:
        """For each row of vertex numbers, their probabilities."""
        if self._integer_columns is None:
            yield from (real_weights([self._columns[v] for v in row]) for row in vertex_sets.tolist())
            return
        for masses in self.masses(vertex_sets).tolist():
            total = sum(masses)
            yield tuple(Fraction(mass, total) for mass in masses)

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
