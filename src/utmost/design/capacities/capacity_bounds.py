"""Bounds of the sum that makes a capacity, with a channel that attains one; in closed form where there is one.

The result of every method for a capacity: bounds of one sum, and a channel that attains one of them.

Both capacities of a type are about T = Σ_y C[y,y] over the private channels C whose columns are named by points:
ML×(type) = max T and ML+(type) = 1 − min T (FMPD23 Lemma 16, Cor. 17, 18).

*Bound by weights.* K[x,y] = α^d(x,y). A private column c has c(x) ≥ c(y)·K[x,y], so for any w ≥ 0 with Kw ≥ 1
    Σ_y C[y,y] ≤ Σ_y C[y,y]·(Kw)_y = Σ_x w_x·Σ_y K[x,y]·C[y,y] ≤ Σ_x w_x·Σ_y C[x,y] = Σ_x w_x.
With B[x,y] = α^−d(x,y) all of it turns round: c(x) ≤ c(y)·B[x,y], so Bw ≤ 1, w ≥ 0 gives Σ_y C[y,y] ≥ Σ_x w_x.
If Kw = 1 with w ≥ 0, the bound is attained by C[x,y] = w_y·K[x,y]: its rows sum to 1 and its columns are private by the
triangle inequality. The same holds for B. Then ML× is the *magnitude* of the metric space with distances ε·d (Leinster,
Doc. Math. 2013).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from utmost.channel import Matrix
from utmost.exact import Level, Number
from utmost.lp.linear_program import to_fmpq, to_fraction
from utmost.result_values import equal_fields, hash_of_kind
from utmost.spaces import Space, scale_space
from utmost.spaces.compound_spaces import ProductShape, ScaledShape
from utmost.spaces.space import MAX_TABLE_POINTS, Profile

MAX_WRITTEN_POINTS = 512  # points up to which a channel in closed form is written out


@dataclass(frozen=True, slots=True, eq=False)
class SumBounds:
    """lower ≤ optimum of T ≤ upper; `rows` has one column for each of the points `columns`, and attains the T it can.

    `method` is the formula or program that they come from. `weights` are the w of the bound, one a point; None where it
    is another bound, or where they are not written out. `weighted` says that the optimum is that of the weights,
    whether or not they are written out.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    lower: Number
    upper: Number
    method: str
    weighted: bool
    columns: tuple[int, ...] | None = None
    rows: Matrix | None = None
    weights: tuple[Number, ...] | None = None


def kernel(space: Space, level: Level, minimise: bool) -> Matrix:
    """α^d for each of the space's distinct distances; α^−d if the least T is asked for."""
    powers = [level.power(value) for value in space.values]
    return object_array([1 / power for power in powers] if minimise else powers)


def object_array(values: Sequence[Number]) -> Matrix:
    """Exact numbers as an array."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def weighted_columns(space: Space, table: Matrix, weights: Sequence[Number]) -> tuple[tuple[int, ...], Matrix]:
    """The columns w_y·table[d(x,y)] with w_y ≠ 0; each product of a weight and a distance is made once."""
    index_of_id: dict[int, int] = {}
    distinct: list[Number] = []
    for weight in weights:
        if id(weight) not in index_of_id:
            index_of_id[id(weight)] = len(distinct)
            distinct.append(weight)
    products = np.empty((len(distinct), len(table)), dtype=object)
    products[:] = [[weight * entry for entry in table] for weight in distinct]
    columns = tuple(y for y, weight in enumerate(weights) if weight)
    weight_indices = np.array([index_of_id[id(weights[y])] for y in columns], dtype=np.int64)
    rows: Matrix = products[weight_indices[None, :], space.codes[:, list(columns)]]
    return columns, rows


def bounds_from_weights(
    space: Space, level: Level, minimise: bool, total: Number, weights: Sequence[Number], method: str
) -> SumBounds:
    """The total Σw of weights w ≥ 0 with Kw = 1 (Bw = 1 for the least), with the channel that attains it."""
    columns, rows = weighted_columns(space, kernel(space, level, minimise), weights)
    return SumBounds(total, total, method, True, columns, rows, tuple(weights))


def product_bounds(totals: Sequence[SumBounds], sizes: Sequence[int]) -> SumBounds:
    """The total of a product of spaces whose distances add, from weighted totals of its factors.

    K = K₁⊗K₂, so w₁⊗w₂ is feasible if w₁ and w₂ are: the bounds multiply. So do the totals of the product channel,
    which is private. Hence ML× multiplies, and 1 − ML+ does.
    """
    result = totals[0]
    is_written_out = int(np.prod(sizes, dtype=object)) <= MAX_WRITTEN_POINTS
    for factor_total, size in zip(totals[1:], sizes[1:], strict=True):
        result = _product_of_two(result, factor_total, size, is_written_out)
    if len(totals) == 1:
        return result
    methods = "; ".join(dict.fromkeys(total.method for total in totals))
    return replace(result, method=f"the product over {len(totals)} factors: {methods}")


def _product_of_two(first: SumBounds, second: SumBounds, size: int, is_written_out: bool) -> SumBounds:
    bounds = first.lower * second.lower, first.upper * second.upper
    if (
        not is_written_out
        or first.columns is None
        or second.columns is None
        or first.rows is None
        or second.rows is None
    ):
        return SumBounds(*bounds, first.method, True)
    columns = tuple(a * size + b for a in first.columns for b in second.columns)
    weights = None
    if first.weights is not None and second.weights is not None:
        weights = tuple(a * b for a in first.weights for b in second.weights)
    return SumBounds(*bounds, first.method, True, columns, np.kron(first.rows, second.rows), weights)


MAX_SPARSE_TERMS = 64  # terms of a rational sum that are added one by one
MAX_EXACT_TERMS = 256  # terms of an irrational sum that is carried exactly


def closed_form_capacity(space: Space, level: Level, minimise: bool) -> SumBounds | None:
    """The total in closed form where there is one (0 < α < 1), else None."""
    step = space.shape.line_step()
    if step is not None and len(space) > 2:
        return line_minimum(space, level, step) if minimise else line_maximum(space, level, step)
    profile = space.profile or shared_profile(space)
    return None if profile is None else homogeneous_bounds(space, profile, level, minimise)


def space_factors(space: Space) -> list[Space]:
    """The spaces of which it is the product, where distances add: a Manhattan grid is two lines. Itself alone if none.

    >>> from utmost.spaces import grid
    >>> [factor.name for factor in space_factors(scale_space(grid(2, 3, "manhattan"), "1/2"))]
    ['1/2*line:2', '1/2*line:3']
    """
    shape = space.shape
    if isinstance(shape, ScaledShape):
        factors = space_factors(shape.base)
        return [space] if len(factors) == 1 else [scale_space(factor, shape.factor) for factor in factors]
    if isinstance(shape, ProductShape):
        return [inner for factor in shape.factors for inner in space_factors(factor)]
    axes = shape.axes()
    return axes if axes and shape.profile() is None else [space]


def line_maximum(space: Space, level: Level, step: Number) -> SumBounds:
    """max T = (N(1−α) + 2α)/(1+α) on a line of N ≥ 2 points: FMPD23 Cor. 20, attained by the geometric mechanism.

    The weights are 1/(1+α) at both ends and (1−α)/(1+α) between: Kw = 1 is a geometric sum on either side of a point.
    """
    size, alpha = len(space), level.power(step)
    end, inner = 1 / (1 + alpha), (1 - alpha) / (1 + alpha)
    method = "(N(1−α) + 2α)/(1+α), attained by the geometric mechanism"
    total: Number = (size * (1 - alpha) + 2 * alpha) / (1 + alpha)
    if size > MAX_WRITTEN_POINTS:
        return SumBounds(total, total, method, True)
    return bounds_from_weights(space, level, False, total, [end, *[inner] * (size - 2), end], method)


def line_minimum(space: Space, level: Level, step: Number) -> SumBounds:
    """min T on a line of N ≥ 2 points: α^((N−1)/2) for odd N, 2α^(N/2)/(1+α) for even N; two columns attain it.

    *Bound.* Weights w on the middle point, or equal ones on the two middle points: (Bw)_y is largest at the ends, where
    it is w·β^((N−1)/2) or w·(β^(N/2−1) + β^(N/2)); with that equal to 1, Σw is the value claimed.
    *Channel.* Let a = T/2. Column 0 is c(x) = a·β^x up to the middle and 1 − a·β^(N−1−x) from there on, column N−1
    is its mirror image 1 − c. In the middle c is 1/2 for odd N, and α/(1+α), 1/(1+α) for even N.
    Private: up to the middle c grows by β a step. From there on, t = a·β^(N−1−x) ≤ 1/(1+α) falls by α a step, and
    1 − αt ≤ β(1 − t) since t·(β − α) ≤ β − 1 is t ≤ β/(1+β). The mirror image goes the same way.
    """
    size, alpha = len(space), level.power(step)
    half, odd = divmod(size, 2)
    total: Number = level.power(step * half) if odd else 2 * level.power(step * half) / (1 + alpha)
    method = "1 − α^((N−1)/2), by two columns" if odd else "1 − 2α^(N/2)/(1+α), by two columns"
    if size > MAX_WRITTEN_POINTS:
        return SumBounds(total, total, method, True)
    middle = {half} if odd else {half - 1, half}
    weights = [total / len(middle) if x in middle else Fraction(0) for x in range(size)]
    return SumBounds(
        total, total, method, True, (0, size - 1), _two_columns(size, level, step, total / 2), tuple(weights)
    )


def _two_columns(size: int, level: Level, step: Number, first_entry: Number) -> Matrix:
    half_column = [first_entry / level.power(step * x) for x in range((size + 1) // 2)]
    rows = np.empty((size, 2), dtype=object)
    rows[: len(half_column), 0] = half_column
    rows[: len(half_column), 1] = [1 - c for c in half_column]
    rows[size - len(half_column) :] = rows[: len(half_column)][::-1, ::-1].copy()
    return rows


def shared_profile(space: Space) -> Profile | None:
    """How many points are at each distance, if that is the same from every point; for spaces that are written out."""
    if len(space) > MAX_TABLE_POINTS:
        return None
    sorted_rows = np.sort(space.codes, axis=1)
    if (sorted_rows != sorted_rows[0]).any():
        return None
    codes, counts = np.unique(sorted_rows[0], return_counts=True)
    return tuple((space.values[code], int(count)) for code, count in zip(codes.tolist(), counts, strict=True))


def homogeneous_bounds(space: Space, profile: Profile, level: Level, minimise: bool) -> SumBounds | None:
    """T = n/Σ_x α^d(o,x) at most and n/Σ_x α^−d(o,x) at least, where these sums are the same from every point o.

    Then the weights w_x = 1/Σ are all equal, Kw = 1 (Bw = 1), and `bounds_from_weights` has the proof. FMPD23 Cor. 22
    is the discrete case (with the additive value corrected); the Hamming cube has (2/(1+α))^bits. None where the sum
    has too many irrational terms.
    """
    size, diameter = len(space), profile[-1][0]
    terms = [(diameter - value, count) for value, count in reversed(profile)] if minimise else list(profile)
    total = power_sum_ratio(size, diameter if minimise else Fraction(0), terms, level)
    if total is None:
        return None
    method = f"{'1 − ' if minimise else ''}n/Σ α^{'−' if minimise else ''}d, the same from every point"
    if size > MAX_WRITTEN_POINTS:
        return SumBounds(total, total, method, True)
    return bounds_from_weights(space, level, minimise, total, [total / size] * size, method)


def power_sum_ratio(size: int, exponent: Number, terms: Sequence[tuple[Number, int]], level: Level) -> Number | None:
    """size·α^exponent/Σ count·α^value, exactly; None for more than 256 irrational terms.

    Equal steps are powers of one number q. A rational q goes to one evaluation of an integer polynomial by divide and
    conquer, so 50 000 terms take milliseconds; for an irrational one (1−q)·Σ c_k·q^k = Σ (c_k − c_{k−1})·q^k is used
    where that is shorter, as on a cycle.
    """
    unit = _common_unit([value for value, _ in terms])
    if unit is None:
        return None if len(terms) > MAX_EXACT_TERMS else size * level.power(exponent) / _power_sum(terms, level)
    base, counts = level.power(unit), {_multiple(value, unit): count for value, count in terms}
    if isinstance(base, Fraction):
        return _rational_ratio(size, _multiple(exponent, unit), counts, base)
    differences = {k: counts.get(k, 0) - counts.get(k - 1, 0) for k in counts.keys() | {k + 1 for k in counts}}
    differences = {k: count for k, count in differences.items() if count}
    coefficients, factor = (differences, 1 - base) if len(differences) < len(counts) else (counts, Fraction(1))
    if len(coefficients) > MAX_EXACT_TERMS:
        return None
    return (
        size
        * factor
        * level.power(exponent)
        / _power_sum([(k * unit, c) for k, c in sorted(coefficients.items())], level)
    )


def _common_unit(values: Sequence[Number]) -> Fraction | None:
    """The largest number of which all are whole multiples, if they are rational."""
    if not all(isinstance(value, Fraction) for value in values):
        return None
    common = math.lcm(*(value.denominator for value in values))  # type: ignore[union-attr]
    return Fraction(math.gcd(*(_multiple(value, Fraction(1, common)) for value in values)), common) or Fraction(1)


def _multiple(value: Number, unit: Fraction) -> int:
    """value/unit, a whole number."""
    return value.numerator * unit.denominator // (value.denominator * unit.numerator)  # type: ignore[union-attr]


def _power_sum(terms: Sequence[tuple[Number, int]], level: Level) -> Number:
    return sum((count * level.power(value) for value, count in terms), Fraction(0))


def _rational_ratio(size: int, exponent: int, counts: dict[int, int], base: Fraction) -> Fraction:
    from flint import fmpz_poly

    point = to_fmpq(base)
    if len(counts) <= MAX_SPARSE_TERMS:
        total = sum(point**k * count for k, count in counts.items())
    else:
        total = fmpz_poly([counts.get(k, 0) for k in range(max(counts) + 1)])(point)
    return to_fraction(size * point**exponent / total)
