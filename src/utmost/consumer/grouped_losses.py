"""Exact expected losses where only the losses are irrational: distances in the plane under rational laws.

Σ_y Σ_x π_x·C[x,y]·ℓ(x, w_y) has n·m products of an irrational number. But ℓ takes few values: the sum is Σ_v v·S_v,
where S_v is a rational sum, so irrational arithmetic is left for as many products as there are values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.channel import Matrix
from utmost.exact import Number, Real, ball, ball_endpoints, sign
from utmost.exact.working_precision import working_precision
from utmost.lp import Bounds

if TYPE_CHECKING:
    from flint import arb, arb_mat, fmpq

SCORE_BITS = 192  # of the balls that scores are compared with first


def has_irrational_losses_alone(weights: Matrix, losses: Matrix, rows: Matrix) -> bool:
    """Are weights and rows fractions, and some losses irrational."""
    if not all(matrix.dtype == object for matrix in (weights, losses, rows)):
        return False
    return _has_real(losses.flat) and not _has_real(weights.flat) and not _has_real(rows.flat)


def grouped_loss(weights: Matrix, losses: Matrix, rows: Matrix) -> Number:
    """Σ_y min_w Σ_x π_x·C[x,y]·ℓ(x,w), exact.

    >>> from utmost.exact import number
    >>> root = number("sqrt(2)")
    >>> str(grouped_loss(_array([[1], [1]])[:, 0] / 2, _array([[0, root], [root, 0]]), _array([[1], [1]])))
    '1/2*2^(1/2)'
    """
    from flint import fmpq

    values, codes = _distinct_values(losses)
    joint = [
        [fmpq(w.numerator, w.denominator) * fmpq(c.numerator, c.denominator) if c and w else None for c in row]
        for w, row in zip(weights.tolist(), rows.tolist(), strict=True)
    ]
    scores = score_balls(weights, losses, rows, SCORE_BITS).tolist()
    totals = [fmpq(0)] * len(values)
    for y in range(rows.shape[1]):
        column = [line[y] for line in joint]
        sums = _reading_sums(column, codes, [line[y] for line in scores], values)
        totals = [total + part for total, part in zip(totals, sums, strict=True)]
    return _total(values, totals)


def score_balls(weights: Matrix, losses: Matrix, rows: Matrix, bits: int) -> arb_mat:
    """S[w, y] = Σ_x π_x·ℓ(x,w)·C[x,y] as balls; each weight and each distinct loss is enclosed once."""
    from flint import arb, arb_mat, fmpq

    with working_precision(bits):
        value_of_id = {id(value): value for value in losses.flat}
        balls = {key: ball(_exact(value), bits) for key, value in value_of_id.items()}
        factors = [ball(_exact(weight), bits) for weight in weights]
        lines = [[factors[x] * balls[id(value)] for x, value in enumerate(column)] for column in losses.T]
        entries = [[arb(fmpq(entry.numerator, entry.denominator)) for entry in row] for row in rows.tolist()]
        return arb_mat(lines) * arb_mat(entries)


def split_loss_bounds(weights: Matrix, losses: Matrix, rows: Matrix, bits: int) -> Bounds:
    """Two fractions that Σ_y min_w S[w, y] lies between."""
    with working_precision(bits):
        columns = zip(*score_balls(weights, losses, rows, bits).tolist(), strict=True)
        total = sum((_least(column) for column in columns), ball(0, bits))
        return Bounds(*ball_endpoints(total))


def _least(column: Iterable[arb]) -> arb:
    first, *others = column
    for other in others:
        first = first.min(other)
    return first


def _reading_sums(
    column: Sequence[fmpq | None], codes: list[list[int]], scores: Sequence[arb], values: Sequence[Number]
) -> list[fmpq]:
    """The rational sums, by loss value, of the best reading of an answer."""
    from flint import fmpq

    @cache
    def sums(w: int) -> list[fmpq]:
        result = [fmpq(0)] * len(values)
        for x, mass in enumerate(column):
            if mass is not None:
                result[codes[x][w]] += mass
        return result

    ends = [ball_endpoints(score) for score in scores]
    ceiling = min(high for _, high in ends)
    rivals = [w for w, (low, _) in enumerate(ends) if low <= ceiling]
    best = rivals[0]
    for w in rivals[1:]:
        if sign(_total(values, [a - b for a, b in zip(sums(w), sums(best), strict=True)])) < 0:
            best = w
    return sums(best)


def _total(values: Sequence[Number], coefficients: Sequence[fmpq]) -> Number:
    """Σ value·coefficient; equal sums on both sides of a comparison cost nothing."""
    total: Number = Fraction(0)
    for value, coefficient in zip(values, coefficients, strict=True):
        if coefficient != 0:
            total = total + value * Fraction(int(coefficient.p), int(coefficient.q))
    return total


def _distinct_values(losses: Matrix) -> tuple[list[Number], list[list[int]]]:
    """The values, and which of them each entry is: numbers written alike are one."""
    positions: dict[object, int] = {}
    values: list[Number] = []
    code_of_id: dict[int, int] = {}
    for value in losses.flat:
        if id(value) not in code_of_id:
            code = code_of_id[id(value)] = positions.setdefault(_key(value), len(values))
            if code == len(values):
                values.append(value)
    return values, [[code_of_id[id(value)] for value in row] for row in losses]


def _key(value: Number) -> object:
    """Numbers written alike have one key; irrational ones have no hash of their own."""
    return tuple(frozenset(part.items()) for part in value.terms()) if isinstance(value, Real) else value


def _has_real(values: Iterable[Any]) -> bool:
    return any(isinstance(value, Real) for value in values)


def _exact(value: Any) -> Any:
    """A double as the fraction that it is."""
    return Fraction(value) if isinstance(value, float) else value


def _array(rows: Sequence[Sequence[Any]]) -> Matrix:
    """Exact entries as an array."""
    result = np.empty((len(rows), len(rows[0])), dtype=object)
    for x, row in enumerate(rows):
        result[x] = [Fraction(value) if isinstance(value, int) else value for value in row]
    return result
