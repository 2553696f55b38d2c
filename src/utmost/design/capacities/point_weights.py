"""Weights on the points: a linear program over orbits of points that bounds a capacity, and often is it.

The packing {max Σb : Mb ≤ 1, b ≥ 0} and the covering {min Σa : Ma ≥ 1, a ≥ 0} of a symmetric matrix M are dual to each
other. With M = K the covering bounds max T and the packing is the diagonal of a channel that would attain it; with
M = B they change places (`capacity_bounds`). Both may be averaged over the symmetries of the space, so one unknown for
each orbit of points is enough: 15 for a 10×10 grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel import Matrix
from utmost.design.capacities.alpha_powers import AlphaPowers, Ints, round_channel
from utmost.design.capacities.capacity_bounds import object_array, weighted_columns
from utmost.errors import InputError
from utmost.lp import LinearProgram, certified_optimum
from utmost.spaces import Space, Symmetries

MAX_POINT_ORBITS = 100  # kinds of points: a dense rational system


@dataclass(frozen=True, slots=True, eq=False)
class PointWeights:
    """For each point: the diagonal λ of a channel that would attain the bound, and the weights w of the bound.

    `bound` = Σw is proved: Kw ≥ 1 (Bw ≤ 1 for the least T) holds for the true α. `slack` says that some row of λ's
    columns, each the least (greatest) private one with λ_y at y, does not sum to 1.
    """

    diagonal: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    bound: Fraction
    slack: bool
    minimise: bool


def optimal_weights(space: Space, group: Symmetries, bounds: AlphaPowers, minimise: bool) -> PointWeights:
    """The optimal weights for the powers `bounds.target`, scaled so that they bound T at the true α."""
    sizes = np.bincount(group.points)
    if len(sizes) > MAX_POINT_ORBITS:
        raise InputError(
            f"{space.name} has {len(sizes)} points that no known symmetry takes to each other, and a "
            f"capacity is found for at most {MAX_POINT_ORBITS}",
            hint="take fewer points, or a space with more symmetry",
        )
    matrix = _orbit_sums(space, group, kernel_table(bounds.target, minimise))
    cover, packing = _dual_pair(matrix, sizes)
    diagonal, weights = (cover, packing) if minimise else (packing, cover)
    row_sums = _orbit_sums(space, group, kernel_table(bounds.low, minimise)) @ object_array(weights)
    scale = max(row_sums) if minimise else min(row_sums)
    weights = [weight / scale for weight in weights]
    total = sum((int(size) * weight for size, weight in zip(sizes, weights, strict=True)), Fraction(0))
    slack = bool((matrix @ object_array(diagonal) != 1).any())
    points = group.points.tolist()
    return PointWeights(tuple(diagonal[k] for k in points), tuple(weights[k] for k in points), total, slack, minimise)


def without_slack(
    space: Space, group: Symmetries, bounds: AlphaPowers, weights: PointWeights
) -> tuple[tuple[int, ...], Matrix]:
    """The columns λ_y·M[x,y] of a weighting without slack, as points and a channel; rounded unless α^d is rational."""
    columns, rows = weighted_columns(
        space, object_array(kernel_table(bounds.target, weights.minimise)), weights.diagonal
    )
    if bounds.exact:
        return columns, rows
    if len(columns) < len(space):
        return columns, round_channel(space, bounds, rows, rows.argmax(axis=1), np.arange(len(columns)))
    return columns, round_channel(space, bounds, rows, np.arange(len(space)), orbit_firsts(group.points))


def orbit_firsts(points: Ints) -> Ints:
    """The first point of each orbit."""
    return np.unique(points, return_index=True)[1].astype(np.int64)


def kernel_table(powers: Sequence[Fraction], minimise: bool) -> list[Fraction]:
    """M for each distance: α^d, or α^−d for the least T."""
    return [1 / power for power in powers] if minimise else list(powers)


def _orbit_sums(space: Space, group: Symmetries, table: Sequence[Fraction]) -> Matrix:
    """M summed over orbits: entry (p, k) is the sum of M[x,y] over the points y of orbit k, for one x of orbit p."""
    rows = object_array(table)[space.codes[orbit_firsts(group.points)]]
    return np.stack([rows[:, group.points == k].sum(axis=1) for k in range(len(rows))], axis=1)


def _dual_pair(matrix: Matrix, sizes: Ints) -> tuple[list[Fraction], list[Fraction]]:
    """(covering, packing): optimal a, b ≥ 0 with Ma ≥ 1 and Mb ≤ 1, a value for each orbit."""
    count = len(sizes)
    rows, columns = np.indices((count, count)).reshape(2, -1)
    certificate = certified_optimum(
        LinearProgram(
            [Fraction(int(size)) for size in sizes],
            rows,
            columns,
            matrix.ravel(),
            [Fraction(1)] * count,
            np.zeros(count, dtype=bool),
        )
    )
    return list(certificate.proof.x), [y / int(size) for y, size in zip(certificate.proof.y, sizes, strict=True)]
