"""Exact linear systems over the numbers that channels are made of: fractions in flint, the others in their
`rational_functions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from utmost.channel import Matrix
from utmost.channel.channel import matrix_product
from utmost.exact import Real, enclosure
from utmost.qif.rational_functions import common_field

GUESS_BITS = 64  # bits of the fractions that stand for irrational numbers where only a guess is needed
MAX_UNKNOWNS = {0: 1 << 20, 1: 64, 2: 12, 3: 6}  # by the number of independent powers; more of them: 3


def has_irrational(*matrices: Matrix) -> bool:
    """Whether any entry is irrational."""
    return any(isinstance(value, Real) for source in matrices for value in source.flat)


def rational_approximation(bits: int, *matrices: Matrix) -> tuple[Matrix, ...]:
    """Matrices of fractions near these, of the same rank if few powers are involved; themselves if fractions."""
    if not has_irrational(*matrices):
        return matrices
    values = [value for source in matrices for value in source.flat]
    field = common_field(values)
    fractions = iter([sum(enclosure(v, bits)) / 2 for v in values] if field is None else field.substitute(values, bits))
    return tuple(object_matrix([[next(fractions) for _ in row] for row in source]) for source in matrices)


def independent_columns(source: Matrix) -> list[int]:
    """The first columns that are a basis of the column space; of irrational ones, those that seem to be."""
    (approximation,) = rational_approximation(GUESS_BITS, source)
    table, rank = fmpq_matrix(approximation).rref()
    return [next(k for k, value in enumerate(row) if value) for row in table.tolist()[:rank]]


def is_solvable(left: Matrix, right: Matrix) -> bool:
    """Whether `solve_system` handles the system left·X = right: of many unknowns only where few powers are
    involved.
    """
    field = common_field([*left.flat, *right.flat])
    return field is not None and bool(left.shape[1] <= MAX_UNKNOWNS.get(len(field.steps), 3))


def solve_system(left: Matrix, right: Matrix) -> Matrix | None:
    """The X with left·X = right, exactly, where left has independent columns; None if none is found.

    Of fractions, none is found where there is none.
    """
    if not has_irrational(left, right):
        return _solve_rational(left, right)
    augmented = np.hstack([left, right])
    field = common_field(augmented.flat)
    if field is None:
        return None
    solution = eliminate([[field.ratio(value) for value in line] for line in augmented], left.shape[1])
    try:
        return (
            None if solution is None else object_matrix([[field.number(value) for value in line] for line in solution])
        )
    except ZeroDivisionError:
        return None


def eliminate(rows: list[list[Any]], size: int) -> list[list[Any]] | None:
    """The one X with M·X = N by Gauss–Jordan on [M | N], M of `size` columns over any field; None if there is none."""
    for k in range(size):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        pivot_value = rows[k][k]
        rows[k] = [value / pivot_value for value in rows[k]]
        for r in range(len(rows)):
            factor = rows[r][k]
            if r != k and factor:
                pairs = zip(rows[r], rows[k], strict=True)
                rows[r] = [value - factor * above if above else value for value, above in pairs]
    return None if any(value for line in rows[size:] for value in line) else [line[size:] for line in rows[:size]]


def fmpq_matrix(source: Matrix) -> fmpq_mat:
    """A matrix of fractions as flint has it."""
    return fmpq_mat([[fmpq(value.numerator, value.denominator) for value in row] for row in source])


def object_matrix(rows: Sequence[Sequence[Any]]) -> Matrix:
    """An array of objects."""
    result = np.empty((len(rows), len(rows[0])), dtype=object)
    for k, row in enumerate(rows):
        result[k, :] = row
    return result


def _solve_rational(left: Matrix, right: Matrix) -> Matrix | None:
    rows = independent_columns(left.T)
    if len(rows) < left.shape[1]:
        return None
    table = fmpq_matrix(left[rows]).solve(fmpq_matrix(right[rows])).tolist()
    solution = object_matrix([[Fraction(int(v.p), int(v.q)) for v in row] for row in table])
    return solution if bool(np.all(matrix_product(left, solution) == right)) else None
