"""The linear programs of refinement: over all R ≥ 0 with rows that sum to 1, how close A·R comes to B."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.channel.channel import matrix_product
from utmost.lp import LinearProgram

Indices: TypeAlias = npt.NDArray[np.int64]

ZERO, ONE = Fraction(0), Fraction(1)


def distance_program(a: Matrix, b: Matrix) -> LinearProgram:
    """minimise Σ |A·R − B|: 0 exactly when there is an R with A·R = B.

    Variables: R row by row, then the positive and the negative part of B − A·R. Rows: the entries of B, then the rows
    of R. By duality the multipliers y of the entries are a gain with V_y[B] − V_y[A] ≥ the optimum, the prior being
    uniform and y multiplied by n.
    """
    entries, factor_size = b.size, a.shape[1] * b.shape[1]
    rows, columns, values = _coefficients(a, b.shape[1])
    entry, ones = np.arange(entries), np.full(entries, ONE)
    return _equality_program(
        [ZERO] * factor_size + [ONE] * (2 * entries),
        np.concatenate([rows, entry, entry]),
        np.concatenate([columns, factor_size + entry, factor_size + entries + entry]),
        np.concatenate([values, ones, -ones]),
        _right_sides(a, b),
    )


def cone_program(a: Matrix, column: Matrix) -> LinearProgram:
    """minimise Σ |A·r − column| over r ≥ 0: 0 exactly when the column is in the cone of A's.

    The multipliers k have k·A ≤ 0 and k·column = the optimum: a posterior that no mixture of A's posteriors gives.
    """
    size, inner = a.shape
    entry, ones = np.arange(size), np.full(size, ONE)
    x, j = (grid.ravel() for grid in np.meshgrid(entry, np.arange(inner), indexing="ij"))
    return _equality_program(
        [ZERO] * inner + [ONE] * (2 * size),
        np.concatenate([x, entry, entry]),
        np.concatenate([j, inner + entry, inner + size + entry]),
        np.concatenate([a[x, j], ones, -ones]),
        [*column],
    )


def slack_program(a: Matrix, b: Matrix) -> LinearProgram:
    """maximise s with A·R = B and R ≥ s on `free_entries(a, b)`. Variables: R less s there, row by row, then s."""
    factor_size = a.shape[1] * b.shape[1]
    rows, columns, values = _coefficients(a, b.shape[1])
    mask = free_entries(a, b).astype(int) * ONE
    shift = np.concatenate([matrix_product(a, mask).ravel(), mask.sum(axis=1)])
    return _equality_program(
        [ZERO] * factor_size + [-ONE],
        np.concatenate([rows, np.arange(len(shift))]),
        np.concatenate([columns, np.full(len(shift), factor_size)]),
        np.concatenate([values, shift]),
        _right_sides(a, b),
    )


def free_entries(a: Matrix, b: Matrix) -> npt.NDArray[np.bool_]:
    """Where R may be > 0: not at [j, w] where some A[x, j] > 0 and B[x, w] = 0."""
    return np.asarray((a != 0).T.astype(int) @ (b == 0).astype(int) == 0)


def _coefficients(a: Matrix, width: int) -> tuple[Indices, Indices, Matrix]:
    """The rows, columns and values of A·R and of the row sums of R, R row by row."""
    size, inner = a.shape
    x, j, w = (g.ravel() for g in np.meshgrid(np.arange(size), np.arange(inner), np.arange(width), indexing="ij"))
    entry = np.arange(inner * width)
    rows = np.concatenate([x * width + w, size * width + entry // width])
    return rows, np.concatenate([j * width + w, entry]), np.concatenate([a[x, j], np.full(len(entry), ONE)])


def _right_sides(a: Matrix, b: Matrix) -> list[Fraction]:
    return [*b.ravel(), *[ONE] * a.shape[1]]


def _equality_program(
    cost: list[Fraction], rows: Indices, columns: Indices, values: Matrix, rhs: list[Fraction]
) -> LinearProgram:
    nonzero = values != 0
    return LinearProgram(cost, rows[nonzero], columns[nonzero], values[nonzero], rhs, np.ones(len(rhs), dtype=bool))
