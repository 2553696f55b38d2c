"""The result of every method for a capacity: bounds of one sum, and a channel that attains one of them.

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

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from utmost.channel import Matrix
from utmost.exact import Level, Number
from utmost.spaces import Space

MAX_WRITTEN_POINTS = 512  # points up to which a channel in closed form is written out


@dataclass(frozen=True, slots=True, eq=False)
class SumBounds:
    """lower ≤ optimum of T ≤ upper; `rows` has one column for each of the points `columns`, and attains the T it can.

    `method` is the formula or program that they come from. `weights` are the w of the bound, one a point; None where it
    is another bound, or where they are not written out. `weighted` says that the optimum is that of the weights,
    whether or not they are written out.
    """

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
