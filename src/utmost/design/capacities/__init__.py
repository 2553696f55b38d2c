"""The multiplicative and additive capacity of a privacy type, certified (FMPD23 §V).

`capacity_bounds` has the bound that everything rests on; `closed_form_capacity` the formulas; `capacity_programs` the
linear program over points, which is exact where its answer can be made a channel, and the one over pairs,
which always is; `interior_capacity` the latter at size, within a gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost import notebook
from utmost.channel import Channel, Matrix, identity
from utmost.channel.channel import trusted_channel
from utmost.design.capacities.capacity_bounds import (
    MAX_WRITTEN_POINTS,
    SumBounds,
    closed_form_capacity,
    product_bounds,
    space_factors,
)
from utmost.design.capacities.capacity_programs import (
    PointWeights,
    alpha_powers,
    best_channel,
    optimal_weights,
    program_cells,
    without_slack,
)
from utmost.design.capacities.interior_capacity import interior_point_bounds, suits_interior_point
from utmost.errors import InputError, SolverError
from utmost.exact import Level, Number, decimal_above
from utmost.result_values import equal_fields, hash_of_kind
from utmost.spaces import Space, symmetries

Progress: TypeAlias = Callable[[Number, Number], None]  # the bounds so far of the capacity that is being computed
EQUAL_TOLERANCE = Fraction(1, 10**12)  # of T: bounds nearer than this are as good as equal, where α^d is irrational
MAX_FEW_COLUMNS = 8  # of a channel that is asked of a program in fractions even where a space is large
MAX_RELATIVE_GAP = Fraction(1, 10**9)  # of T: bounds farther apart are not returned


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Capacity:
    """lower ≤ capacity ≤ upper, both proved, and a channel of the type whose own capacity is `value` = lower.

    The bounds are equal in closed forms and where the powers of α at all distances are rational; else `gap` tells:
    about 10^−13 of the value, and 10^−11 where the interior point was asked. `how` is the formula or the way.
    `channel` has at most as many columns as there are points, each named by the point where it has its largest (for
    the additive capacity: least) entry; None where the space is too large to be written out.
    `weights` w ≥ 0, one a point, prove the bound: Σ_x w_x·α^d(x,y) ≥ 1 for every y and Σw = upper for the
    multiplicative capacity; Σ_x w_x·α^−d(x,y) ≤ 1 and 1 − Σw = upper for the additive one. None where the proof is the
    dual solution of the program over pairs, or they are not written out.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    lower: Number
    upper: Number
    value: Number
    channel: Channel | None
    how: str
    weights: tuple[Number, ...] | None = None

    def __repr__(self) -> str:
        return f"<Capacity {decimal_above(self.value)}: {self.how}>"

    def _repr_html_(self) -> str:
        """The capacity with what proves it, for a notebook."""
        return notebook.report_html(self, "capacity", "describe_one")

    @property
    def gap(self) -> Number:
        """upper − lower."""
        return self.upper - self.lower

    @property
    def exact(self) -> bool:
        """Are the bounds equal."""
        return not self.gap


@dataclass(frozen=True, slots=True, eq=False)
class Capacities:
    """ML×: how many times likelier a guess can become, for any consumer; ML+: by how much."""

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    multiplicative: Capacity
    additive: Capacity

    def _repr_html_(self) -> str:
        """Both capacities with what proves them, for a notebook."""
        return notebook.report_html(self, "capacity")

    def plot(self) -> notebook.Figure:
        """A chart of both capacities."""
        return notebook.draw_figure(self, "capacity")


def capacity(space: Space, level: Level, progress: Progress | None = None) -> Capacities:
    """The capacities of the type: max Σ_y max_x C[x,y] and 1 − min Σ_y min_x C[x,y] over its channels C.

    FMPD23 Def. 8, with Thm 4 and 5: no consumer of any mechanism of the type gains more than ML× times, or more than
    ML+ in addition. Closed forms need no table, so hamming:20 and cycle:100000 take a moment. `progress` gets bounds
    while a program runs; those from a float solver are not proved, those returned are.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import discrete, hamming
    >>> capacities = capacity(discrete(3), alpha("1/2"))
    >>> capacities.multiplicative.value, capacities.additive.value
    (Fraction(3, 2), Fraction(2, 5))
    >>> capacity(hamming(20), alpha("1/2")).multiplicative
    <Capacity 315.337: n/Σ α^d, the same from every point>
    """
    if not isinstance(level, Level):
        raise InputError(f'level must be made by alpha("1/2") or epsilon("0.1"), got {type(level).__name__}', "level")
    largest, smallest = (_sum_bounds(space, level, minimise, progress) for minimise in (False, True))
    return Capacities(_multiplicative(space, largest), _additive(space, smallest))


def _multiplicative(space: Space, total: SumBounds) -> Capacity:
    return Capacity(total.lower, total.upper, total.lower, _channel(space, total), total.method, total.weights)


def _additive(space: Space, total: SumBounds) -> Capacity:
    lower, upper = 1 - total.upper, 1 - total.lower
    return Capacity(lower, upper, lower, _channel(space, total), total.method, total.weights)


def _channel(space: Space, total: SumBounds) -> Channel | None:
    if total.columns is None or total.rows is None:
        return None
    return trusted_channel(space.labels, [space.labels[y] for y in total.columns], total.rows)


def _sum_bounds(space: Space, level: Level, minimise: bool, progress: Progress | None) -> SumBounds:
    if not level.is_inner or len(space) == 1:
        return _extreme_level_bounds(space, level, minimise)
    factors = [factor for factor in space_factors(space) if len(factor) > 1]
    if factors != [space]:
        totals = [_sum_bounds(factor, level, minimise, progress if len(factors) == 1 else None) for factor in factors]
        if all(total.weighted for total in totals):
            return product_bounds(totals, [len(factor) for factor in factors])
    return closed_form_capacity(space, level, minimise) or _bounds_by_program(space, level, minimise, progress)


def _extreme_level_bounds(space: Space, level: Level, minimise: bool) -> SumBounds:
    """α = 0: everything may be revealed. α = 1, or one point: nothing."""
    size, tells_all = len(space), level.alpha == 0 and len(space) > 1
    total = Fraction(0 if minimise else size) if tells_all else Fraction(1)
    method = "α = 0: everything may be told" if tells_all else "nothing can be told"
    if size > MAX_WRITTEN_POINTS:
        return SumBounds(total, total, method, True)
    if tells_all:
        weights = (Fraction(0 if minimise else 1),) * size
        return SumBounds(total, total, method, True, tuple(range(size)), identity(range(size)).rows, weights)
    rows = np.full((size, 1), Fraction(1), dtype=object)
    return SumBounds(total, total, method, True, (0,), rows, (Fraction(1), *[Fraction(0)] * (size - 1)))


def _bounds_by_program(space: Space, level: Level, minimise: bool, progress: Progress | None) -> SumBounds:
    """By weights, if they can be made a channel; else by the program over pairs."""
    group, bounds = symmetries(space), alpha_powers(space, level)
    weights = optimal_weights(space, group, bounds, minimise)
    if not weights.slack:
        columns, rows = without_slack(space, group, bounds, weights)
        return _bounds_with_weights(
            columns, rows, weights, f"weights on points, {group.points.max() + 1} up to symmetry"
        )
    _report_bound(progress, minimise, weights.bound)
    support = tuple(y for y, weight in enumerate(weights.diagonal) if weight)
    if len(support) > MAX_FEW_COLUMNS and suits_interior_point(space, group, bounds):
        total = _interior_point_bounds(space, level, minimise, progress)
        if total.upper - total.lower <= MAX_RELATIVE_GAP * total.lower:
            return total
    answer = best_channel(
        space, program_cells(space, group, support), bounds, minimise, lambda value: None, float(weights.bound)
    )
    if answer is not None:
        method = f"weights on points, attained by {len(support)} columns"
        total = _bounds_with_weights(answer.columns, answer.rows, weights, method)
        if total.upper - total.lower <= EQUAL_TOLERANCE * total.lower:
            return total
    all_cells = program_cells(space, group, tuple(range(len(space))))
    answer = best_channel(space, all_cells, bounds, minimise, lambda value: _report_bound(progress, minimise, value))
    assert answer is not None  # no target was set
    method = f"a linear program over pairs of points, {group.pairs.max() + 1} up to symmetry"
    total = _bounds_of_channel(answer.columns, answer.rows, answer.bound, minimise, method)
    if total.upper - total.lower > MAX_RELATIVE_GAP * total.lower:
        gap = f"{float(MAX_RELATIVE_GAP):.0e}"
        raise SolverError(f"the bounds of a capacity of {space.name} did not meet within {gap} of it")
    return total


def _interior_point_bounds(space: Space, level: Level, minimise: bool, progress: Progress | None) -> SumBounds:
    def report(lower: float, upper: float) -> None:
        if progress is None:
            return
        ends = (1 - upper, 1 - lower) if minimise else (lower, upper)
        least, most = (0, 1) if minimise else (1, len(space))
        progress(*(Fraction(min(max(end, least), most)) for end in ends))

    return interior_point_bounds(space, level, minimise, report)


def _bounds_with_weights(columns: tuple[int, ...], rows: Matrix, weights: PointWeights, method: str) -> SumBounds:
    """A channel and the bound of weights as a total."""
    total = _bounds_of_channel(columns, rows, weights.bound, weights.minimise, method)
    return replace(total, weighted=True, weights=weights.weights)


def _bounds_of_channel(
    columns: tuple[int, ...], rows: Matrix, bound: Fraction, minimise: bool, method: str
) -> SumBounds:
    """A channel and a bound as a total. After rounding, a column's largest entry may stand a hair beside its point."""
    channel_total: Fraction = (rows.min(axis=0) if minimise else rows.max(axis=0)).sum()
    lower, upper = (bound, channel_total) if minimise else (channel_total, bound)
    if lower > upper:
        raise SolverError("a channel passed the bound of its own type; nothing is returned")
    return SumBounds(lower, upper, method, False, columns, rows)


def _report_bound(progress: Progress | None, minimise: bool, bound: Fraction | float) -> None:
    """A bound of T as bounds of the capacity."""
    if progress is not None:
        progress(*((Fraction(0), 1 - Fraction(bound)) if minimise else (Fraction(1), Fraction(bound))))
