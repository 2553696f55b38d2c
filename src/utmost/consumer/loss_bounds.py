"""Expected losses as bounds in balls: at once, however long the exact number would be.

Rows such as e^(−ε·d(x,y))/Σ_z e^(−ε·d(x,z)) have a denominator each. Their exact sum is over the product of all, which
nobody can write out for 16 rows. As balls the same sum takes n²·m products.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.channel import Matrix
from utmost.channel.channel import matrix_product
from utmost.exact import Real, ball, ball_endpoints
from utmost.exact.working_precision import working_precision
from utmost.lp import Bounds

if TYPE_CHECKING:
    from flint import arb

BOUND_BITS = 160  # of the balls
MAX_EXACT_PRODUCTS = 10**6  # products up to which rational sums are written out
MAX_SYMBOLIC_TERMS = 10**4  # terms of the common denominator up to which an irrational loss is written out


def loss_bounds(costs: Matrix, rows: Matrix) -> Bounds:
    """Σ_y min_w Σ_x c[x,w]·C[x,y] between two fractions, equal where the data are rational and not too many."""
    return least_total(costs.T, rows)


def least_total(left: Matrix, right: Matrix) -> Bounds:
    """Σ_y min_w (left·right)[w, y] between two fractions."""
    if not _has_irrational(left, right) and left.shape[0] * left.shape[1] * right.shape[1] <= MAX_EXACT_PRODUCTS:
        exact: Fraction = matrix_product(_fractions(left), _fractions(right)).min(axis=0).sum()
        return Bounds(exact, exact)
    with working_precision(BOUND_BITS):
        columns = zip(*(_balls(left) * _balls(right)).tolist(), strict=True)
        return _bounds(sum((reduce(lambda a, b: a.min(b), column) for column in columns), _zero()))


def greatest_total(weights: Iterable[Any], rows: Matrix) -> Bounds:
    """Σ_y max_x weights[x]·rows[x, y] between two fractions, exact where all are rational."""
    column = np.array(list(weights), dtype=object)
    if not _has_irrational(column, rows):
        exact: Fraction = (_fractions(column)[:, None] * _fractions(rows)).max(axis=0).sum()
        return Bounds(exact, exact)
    with working_precision(BOUND_BITS):
        factors = [ball(_exact(weight), BOUND_BITS) for weight in column]
        products = (
            [factor * ball(_exact(value), BOUND_BITS) for factor, value in zip(factors, values, strict=True)]
            for values in rows.T
        )
        return _bounds(sum((reduce(lambda a, b: a.max(b), line) for line in products), _zero()))


def product_total(left: Matrix, right: Matrix) -> Bounds:
    """Σ left[k]·right[k] between two fractions."""
    pairs = list(zip(left.ravel().tolist(), right.ravel().tolist(), strict=True))
    if not any(isinstance(value, Real) for pair in pairs for value in pair):
        total = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
        return Bounds(total, total)
    with working_precision(BOUND_BITS):
        products = (ball(_exact(a), BOUND_BITS) * ball(_exact(b), BOUND_BITS) for a, b in pairs)
        return _bounds(sum(products, _zero()))


def is_too_long(costs: Matrix, rows: Matrix) -> bool:
    """Would the exact loss have a denominator of so many terms that nobody could write it out."""
    denominators = {
        frozenset(value.terms()[1].items())
        for matrix in (costs, rows)
        for value in matrix.flat
        if isinstance(value, Real)
    }
    terms = 1
    for denominator in denominators:
        terms *= len(denominator)
        if terms > MAX_SYMBOLIC_TERMS:
            return True
    return False


def _has_irrational(*matrices: Matrix) -> bool:
    return any(isinstance(value, Real) for matrix in matrices for value in matrix.flat)


def _exact(value: Any) -> Any:
    """A double as the fraction that it is."""
    return Fraction(value) if isinstance(value, float) else value


def _fractions(matrix: Matrix) -> Matrix:
    result = np.empty(matrix.shape, dtype=object)
    result.ravel()[:] = [_exact(value) for value in matrix.ravel()]
    return result


def _balls(matrix: Matrix) -> Any:
    from flint import arb_mat

    return arb_mat([[ball(_exact(value), BOUND_BITS) for value in row] for row in matrix])


def _zero() -> arb:
    from flint import arb

    return arb(0)


def _bounds(interval: arb) -> Bounds:
    return Bounds(*ball_endpoints(interval))
