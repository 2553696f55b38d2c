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

GUESS = 64  # bits of the fractions that stand for irrational numbers where only a guess is asked for
MOST_UNKNOWNS = {0: 1 << 20, 1: 64, 2: 12, 3: 6}  # by the number of independent powers; more of them: 3


def has_irrational(*matrices: Matrix) -> bool:
    """Whether any entry is."""
    return any(isinstance(value, Real) for source in matrices for value in source.flat)


def rational_approximation(bits: int, *matrices: Matrix) -> tuple[Matrix, ...]:
    """Matrices of fractions near these, of the same rank if few powers are involved; themselves if fractions."""
    if not has_irrational(*matrices):
        return matrices
    values = [value for source in matrices for value in source.flat]
    over = common_field(values)
    near = iter([sum(enclosure(v, bits)) / 2 for v in values] if over is None else over.substituted(values, bits))
    return tuple(object_matrix([[next(near) for _ in row] for row in source]) for source in matrices)


def independent_columns(source: Matrix) -> list[int]:
    """The first columns that are a basis of the column space; of irrational ones, those that seem to be."""
    (near,) = rational_approximation(GUESS, source)
    table, rank = rationals(near).rref()
    return [next(k for k, value in enumerate(row) if value) for row in table.tolist()[:rank]]


def is_solvable(left: Matrix, right: Matrix) -> bool:
    """Whether `solve_system` takes on the system left·X = right: of many unknowns only where few powers are
    involved.
    """
    over = common_field([*left.flat, *right.flat])
    return over is not None and bool(left.shape[1] <= MOST_UNKNOWNS.get(len(over.steps), 3))


def solve_system(left: Matrix, right: Matrix) -> Matrix | None:
    """The X with left·X = right, exactly, where left has independent columns; None if none is found.

    Of fractions, none is found where there is none.
    """
    if not has_irrational(left, right):
        return _rational(left, right)
    whole = np.hstack([left, right])
    over = common_field(whole.flat)
    if over is None:
        return None
    found = eliminated([[over.ratio(value) for value in line] for line in whole], left.shape[1])
    try:
        return None if found is None else object_matrix([[over.number(value) for value in line] for line in found])
    except ZeroDivisionError:
        return None


def eliminated(lines: list[list[Any]], size: int) -> list[list[Any]] | None:
    """The one X with M·X = N by Gauss–Jordan on [M | N], M of `size` columns over any field; None if there is none."""
    for k in range(size):
        pivot = next((row for row in range(k, len(lines)) if lines[row][k]), None)
        if pivot is None:
            return None
        lines[k], lines[pivot] = lines[pivot], lines[k]
        head = lines[k][k]
        lines[k] = [value / head for value in lines[k]]
        for row in range(len(lines)):
            factor = lines[row][k]
            if row != k and factor:
                pairs = zip(lines[row], lines[k], strict=True)
                lines[row] = [value - factor * above if above else value for value, above in pairs]
    return None if any(value for line in lines[size:] for value in line) else [line[size:] for line in lines[:size]]


def rationals(source: Matrix) -> fmpq_mat:
    """A matrix of fractions as flint has it."""
    return fmpq_mat([[fmpq(value.numerator, value.denominator) for value in row] for row in source])


def object_matrix(rows: Sequence[Sequence[Any]]) -> Matrix:
    """An array of objects."""
    result = np.empty((len(rows), len(rows[0])), dtype=object)
    for k, row in enumerate(rows):
        result[k, :] = row
    return result


def _rational(left: Matrix, right: Matrix) -> Matrix | None:
    rows = independent_columns(left.T)
    if len(rows) < left.shape[1]:
        return None
    table = rationals(left[rows]).solve(rationals(right[rows])).tolist()
    found = object_matrix([[Fraction(int(v.p), int(v.q)) for v in row] for row in table])
    return found if bool(np.all(matrix_product(left, found) == right)) else None
