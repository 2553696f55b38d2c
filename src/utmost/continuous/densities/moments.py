"""Certified moments, cell by cell: what every density shares.

A density's moments over a cell are balls: intervals that contain ∫ x^k·e^(rate·x)·π(x) dx. A family computes them at a
working precision; here that precision is raised, for the cells that need it, until the balls are narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from utmost.errors import InputError, UndecidedError
from utmost.exact import Number, Real, ball
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

Cell: TypeAlias = tuple[Fraction, Fraction]
Row: TypeAlias = "list[arb]"
Rate: TypeAlias = "Number | int | arb"

GUARD_BITS = 24  # bits above those asked for at the first attempt
MAX_PRECISION_BITS = 1 << 17  # bits; the tails of any density that may be asked for need far fewer
MAX_DEGREE = 16


def certified_moments(
    cells: Sequence[Cell],
    rate: Rate,
    degree: int,
    bits: int,
    compute_rows: Callable[[Sequence[Cell], arb, int, int], list[Row]],
) -> list[Row]:
    """The rows of all cells from `compute_rows(cells, rate, degree, bits)`, each with radius ≤ 2^−bits·X^k·(its mass).

    X is the largest |x| in the cell and the mass is the moment of degree 0. Cells whose balls are wider are computed
    again with twice the bits. A rate that is itself a ball is taken as it is: its width then limits the moments'.
    """
    if not 0 <= degree <= MAX_DEGREE:
        raise InputError(f"degree must be from 0 to {MAX_DEGREE}, got {degree}", "degree")
    rate_is_ball = not isinstance(rate, int | Fraction | Real)
    rows: list[Row] = [[] for _ in cells]
    pending, precision = list(range(len(cells))), bits + GUARD_BITS
    while pending and precision <= MAX_PRECISION_BITS:
        with working_precision(precision):
            new_rows = compute_rows([cells[i] for i in pending], rate_ball(rate, precision), degree, precision)
        for i, row in zip(pending, new_rows, strict=True):
            rows[i] = row
        if rate_is_ball:
            return rows
        pending = [i for i in pending if not _is_narrow(rows[i], cells[i], bits)]
        precision *= 2
    if pending:
        raise UndecidedError(f"a moment of the density is not known to {bits} bits with {MAX_PRECISION_BITS} bits")
    return rows


def rate_ball(rate: Rate, bits: int) -> arb:
    """The rate as a ball; one that is a ball already stays what it is."""
    return ball(rate, bits) if isinstance(rate, int | Fraction | Real) else rate


def _is_narrow(row: Row, cell: Cell, bits: int) -> bool:
    mass = row[0]
    if mass.is_zero():
        return True
    if mass.rel_accuracy_bits() < bits:
        return False
    if all(moment.rel_accuracy_bits() >= bits for moment in row[1:]):
        return True
    reach = max(abs(cell[0]), abs(cell[1]))
    return all(moment.rad() <= mass.abs_lower() * ball(reach**k, 64) / (1 << bits) for k, moment in enumerate(row) if k)


def shift_moments(row: Sequence[arb], origin: arb) -> Row:
    """The moments of x = origin + t from those of t: Σ_i C(k, i)·origin^(k−i)·row_i."""
    powers = [origin**0]
    for _ in row[1:]:
        powers.append(powers[-1] * origin)
    return [
        sum((math.comb(k, i) * powers[k - i] * row[i] for i in range(1, k + 1)), powers[k] * row[0])
        for k in range(len(row))
    ]


def exponential_moments(rate: arb, width: arb, degree: int) -> Row:
    """A_j = ∫_0^width s^j·e^(−rate·s) ds for j = 0..degree.

    The last is width^(j+1)·e^(−z)·₁F₁(1; j+2; z)/(j+1), z = rate·width; the others follow by parts,
    A_j = (rate·A_(j+1) + width^(j+1)·e^(−z))/(j+1): sums of positive numbers for rate ≥ 0, so no digit is lost.
    """
    from flint import arb

    z = rate * width
    edge_terms = [(-z).exp() * width]
    for _ in range(degree):
        edge_terms.append(edge_terms[-1] * width)
    row = [edge_terms[degree] * z.hypgeom_1f1(arb(1), arb(degree + 2)) / (degree + 1)]
    for j in range(degree - 1, -1, -1):
        row.append((rate * row[-1] + edge_terms[j]) / (j + 1))
    return row[::-1]
