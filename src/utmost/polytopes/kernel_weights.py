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
from utmost.polytopes.distance_lattice import Whole
from utmost.polytopes.vertex_columns import Column, exact_determinant, integer_column

Weights: TypeAlias = tuple[Number, ...]
FITS = 1 << 53
MAX_INT64_SUM = 1 << 60


class WeightScale:
    """Weighs minimal sets of columns that average to uniform: Σ p_v·posterior_v = 1/n, for p > 0 that sum to 1."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._whole = None if _has_reals(columns) else [integer_column(column) for column in columns]

    def weights(self, chosen: Whole) -> Iterator[Weights]:
        """For each row of vertex numbers, their probabilities."""
        if self._whole is None:
            yield from (real_weights([self._columns[v] for v in row]) for row in chosen.tolist())
            return
        for masses in self.masses(chosen).tolist():
            total = sum(masses)
            yield tuple(Fraction(mass, total) for mass in masses)

    def masses(self, chosen: Whole) -> Whole:
        """Whole numbers that are to their sum as the weights are to 1: int64 where they fit, else Python's."""
        if self._whole is None:
            raise AssertionError("irrational columns have no whole masses")
        if fits(self._whole, chosen.shape[1]):
            return masses_at_once(self._whole, chosen)
        rows = [whole_masses([self._whole[v] for v in row]) for row in chosen.tolist()]
        return np.array(rows, dtype=object).reshape(chosen.shape)


def _has_reals(columns: Sequence[Column]) -> bool:
    return any(isinstance(value, Real) for column in columns for value in column)


def fits(whole: Sequence[Sequence[int]], size: int) -> bool:
    """Is elimination of `size` vectors exact in doubles: are all numbers whole and below 2^53 in size.

    Everything on the way is a minor of at most size − 1 vectors v_x − v_0, by Hadamard at most the product of their
    lengths, or a difference of two products of minors of at most size − 2. A quotient that is whole comes out exact.
    """
    squares = sorted((sum((v - column[0]) ** 2 for v in column) for column in whole), reverse=True)
    product = math.prod(squares[: max(size - 2, 0)]) + 1
    minor = math.isqrt(math.prod(squares[: size - 1])) + 1
    return 2 * product < FITS and minor < FITS and minor * max(map(sum, whole)) < MAX_INT64_SUM


def masses_at_once(whole: Sequence[Sequence[int]], chosen: Whole) -> Whole:
    """By fraction-free elimination (Bareiss) of all sets together, in whole numbers that doubles hold exactly.

    Eliminating all vectors but the last leaves ±(minor without the i-th vector) in the last column, and ±(minor without
    the last) as last pivot: the dependency, by Cramer's rule. Times the columns' sums these are the masses.
    """
    columns = np.array(whole, dtype=np.int64)
    vectors = (columns[:, 1:] - columns[:, :1]).astype(np.float64)
    table = np.ascontiguousarray(vectors[chosen].transpose(2, 1, 0))  # secret, vector, set
    size, before = chosen.shape[1], np.ones(len(chosen))
    for c in range(size - 1):
        _swap(table, c)
        lead = table[c, c].copy()
        for r in (r for r in range(len(table)) if r != c):
            table[r, c + 1 :] *= lead
            table[r, c + 1 :] -= table[r, c] * table[c, c + 1 :]
            table[r, c + 1 :] /= before
        before = lead
    shares = np.concatenate([table[: size - 1, size - 1], before[None, :]])
    masses: Whole = np.abs(shares.T).astype(np.int64) * columns.sum(axis=1)[chosen]
    return masses


def _swap(table: npt.NDArray[np.float64], c: int) -> None:
    """Bring a row that is not 0 in column c to place c, in each set that needs it."""
    stuck = np.flatnonzero(table[c, c] == 0)
    if len(stuck):
        pivot = c + (table[c:, c, stuck] != 0).argmax(axis=0)
        table[pivot, :, stuck], table[c, :, stuck] = table[c, :, stuck].copy(), table[pivot, :, stuck].copy()


def whole_masses(picked: Sequence[Sequence[int]]) -> list[int]:
    """The same for one set, whatever the size of its numbers."""
    basis = averaging_weights(picked)
    if basis is None:
        raise AssertionError("the columns of a kernel mechanism must be independent")
    return [abs(value) * sum(column) for value, column in zip(basis, picked, strict=False)]


def averaging_weights(picked: Sequence[Sequence[int]]) -> list[int] | None:
    """(λ, μ) in whole numbers with Σ λ_v·column_v = μ·1, if there is just one up to a factor."""
    from flint import fmpz_mat

    size, width = len(picked[0]), len(picked)
    basis, nullity = fmpz_mat([*picked, [-1] * size]).transpose().nullspace()
    return [int(basis[k, 0]) for k in range(width + 1)] if nullity == 1 else None


def real_weights(picked: Sequence[Column]) -> Weights:
    """The dependency of the vectors v_x − v_0 by signed minors, each times its column's sum, divided by their total."""
    vectors = [[value - column[0] for value in column[1:]] for column in picked]
    for rows in combinations(range(len(picked[0]) - 1), len(picked) - 1):
        table = [[vector[r] for vector in vectors] for r in rows]
        minors = [exact_determinant([line[:k] + line[k + 1 :] for line in table]) for k in range(len(picked))]
        if minors[0]:
            shares = [
                (-1) ** k * m * exact_sum(column) for k, (m, column) in enumerate(zip(minors, picked, strict=True))
            ]
            whole = exact_sum(shares)
            return tuple(share / whole for share in shares)
    raise AssertionError("the columns of a kernel mechanism must be independent")


def exact_sum(values: Sequence[Number]) -> Number:
    """Their sum."""
    return sum(values[1:], start=values[0])
