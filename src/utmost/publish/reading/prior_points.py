"""The points of a reader's prior: evenly spaced values, and which of them where there are too many.

Where they are too many and the prior is uniform, only those near the answer are written out: beyond 45/ε of it the
likelihood is below e^−45 = 3·10⁻²⁰ of its top, so for a flat prior nothing there can matter. Other priors are spread
over as many points from end to end as resolve the noise, up to 100001.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from utmost.consumer import priors
from utmost.consumer.priors import MAX_PRIOR_POINTS, Prior
from utmost.data.grid import Grid
from utmost.errors import InputError
from utmost.exact import decimal
from utmost.queries.answer_mechanisms.lattice import NEAR_NOISE_SCALES, LatticeMechanism
from utmost.queries.answer_mechanisms.ratio import RatioMechanism
from utmost.queries.query import Query

MAX_BOUND = 10**30  # that a bound may be from 0


@dataclass(frozen=True, slots=True)
class Axis:
    """The values first, first + step, …: `size` of them.

    >>> axis = Axis(Fraction(0), Fraction(1, 2), 5)
    >>> axis.last, axis.nearest(Fraction(3, 5)), axis.nearest(Fraction(9))
    (Fraction(2, 1), 1, 4)
    """

    first: Fraction
    step: Fraction
    size: int

    @property
    def last(self) -> Fraction:
        """The largest value."""
        return self.value(self.size - 1)

    def value(self, position: int) -> Fraction:
        """The value at a position 0 … size − 1."""
        return self.first + position * self.step

    def nearest(self, value: Fraction) -> int:
        """The position of the value nearest to this one, the smaller of two."""
        return min(max(math.ceil((value - self.first) / self.step - Fraction(1, 2)), 0), self.size - 1)


@dataclass(frozen=True, slots=True)
class AxisRequest:
    """The points that a reader asks for: the least and the largest value held possible, and how many."""

    at_least: Fraction | None = None
    at_most: Fraction | None = None
    grid: int | None = None

    def __post_init__(self) -> None:
        """Check that they are points."""
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise InputError(
                f"at_least must not be above at_most, got {self.at_least} and {self.at_most}", "at_least", "swap them"
            )
        if any(abs(end) > MAX_BOUND for end in (self.at_least, self.at_most) if end is not None):
            raise InputError("at_least and at_most must be within ±10^30, got more", "at_least")
        if self.grid is not None and not 2 <= self.grid <= MAX_PRIOR_POINTS:
            raise InputError(f"grid must be from 2 to {MAX_PRIOR_POINTS} points, got {self.grid}", "grid")


def listed_prior(prior: object) -> Prior | None:
    """The prior that brings its own number of points: an object, listed weights or a file. None for a named family."""
    if not isinstance(prior, Prior | str):
        kind = "a function" if callable(prior) else type(prior).__name__
        problem = f"prior must be a text or a prior of ut.priors, got {kind}"
        hint = 'write for instance "uniform", or ut.priors.explicit([...]) for weights of your own'
        raise InputError(problem, "prior", hint)
    if isinstance(prior, Prior):
        return prior
    return None if priors.named_family(prior) is not None else priors.listed(prior)


def prior_on(axis: Axis, prior: Prior | str, explicit_prior: Prior | None) -> Prior:
    """The prior over these points, position by position."""
    if explicit_prior is None:
        return priors.parse(str(prior), axis.size)
    if explicit_prior.size != axis.size:
        raise InputError(f"prior must have {axis.size} weights, one for each point, got {explicit_prior.size}", "prior")
    return explicit_prior


MAX_LATTICE_POINTS = 1_000_001  # values up to which a sum or a mean has a point for each
MIN_DEFAULT_POINTS, MAX_DEFAULT_POINTS = 1001, 100_001  # points that nobody asked for
POINTS_PER_NOISE = 8  # points to 1/ε of noise from end to end
NEAR_POINTS_PER_NOISE = 50  # points to 1/ε of noise near an answer


@dataclass(frozen=True, slots=True)
class PointChoice:
    """The points of an axis; `is_partial` if they are those around the answer only, of a uniform prior over more.

    `cells` are the points of each cell, where each has its own.
    """

    axis: Axis
    is_partial: bool = False
    cells: tuple[PointChoice, ...] = ()


def lattice_points(
    mechanism: LatticeMechanism,
    query: Query,
    numbers: list[int],
    axis_request: AxisRequest,
    weight_count: int | None,
    uniform: bool,
) -> PointChoice:
    """The points for numbers of this lattice.

    `weight_count` is how many points the prior brings, None for a family. A count's points are its lattice's; where it
    has no public upper end, the prior's length or the reader's at_most gives it.
    """
    kind, on_lattice = query.kind, query.counts_rows and axis_request.grid is None
    low, high = _lattice_range(mechanism, kind, axis_request, weight_count if on_lattice else None)
    value_count, max_points = high - low + 1, MAX_PRIOR_POINTS if on_lattice else MAX_LATTICE_POINTS
    chosen_size = axis_request.grid or (None if on_lattice else weight_count)
    if chosen_size is None and value_count > max_points and uniform:
        return PointChoice(_axis_around(mechanism, low, high, numbers), is_partial=True)
    size = chosen_size or (
        value_count if value_count <= max_points else _resolving_size(float((value_count - 1) / mechanism.noise_steps))
    )
    if on_lattice and size == value_count and weight_count not in (None, value_count):
        raise InputError(
            f"prior must have {value_count} weights, one for each {kind} from {low} to {high}, got {weight_count}",
            "prior",
        )
    if size < min(value_count, 2):
        raise InputError("prior must have at least 2 weights, one for each point from end to end, got 1", "prior")
    if size > value_count:
        raise InputError(
            f"grid must be at most {value_count} points here, one for each value there is, got {size}", "grid"
        )
    step = Fraction(high - low, size - 1) if size > 1 else Fraction(1)
    return PointChoice(Axis(mechanism.value(low), mechanism.unit * step, size))


def _lattice_range(
    mechanism: LatticeMechanism, kind: str, axis_request: AxisRequest, weight_count: int | None
) -> tuple[int, int]:
    """The first and the last lattice number of the prior: the reader's bounds or the public ones, the tighter."""
    low, high = mechanism.low, mechanism.high
    if axis_request.at_least is not None:
        min_number = math.ceil((axis_request.at_least - mechanism.origin) / mechanism.unit)
        low = min_number if low is None else max(low, min_number)
    if axis_request.at_most is not None:
        max_number = math.floor((axis_request.at_most - mechanism.origin) / mechanism.unit)
        high = max_number if high is None else min(high, max_number)
    if low is None:
        raise _missing_bound(kind, "at_least", "lower", "least")
    if high is None and weight_count is not None:
        high = low + weight_count - 1
    if high is None:
        raise _missing_bound(kind, "at_most", "upper", "largest")
    if low > high:
        raise InputError(f"at_least and at_most must leave a value of this {kind}, got none", "at_least", "widen them")
    return low, high


def _missing_bound(kind: str, field: str, side: str, extreme: str) -> InputError:
    message = f"{field} must be given for a {kind} without a public {side} end"
    option = f"--{field.replace('_', '-')} N"
    return InputError(message, field, f"it is the {extreme} you hold possible, {option} on the command line")


def _axis_around(mechanism: LatticeMechanism, low: int, high: int, numbers: list[int]) -> Axis:
    """Numbers of the lattice near these, the first of them included: all, or some where they are many."""
    inside = [min(max(number, low), high) for number in numbers]
    reach = math.ceil(mechanism.near_steps)
    first, last = max(low, min(inside) - reach), min(high, max(inside) + reach)
    length = last - first + 1
    stride = (
        1
        if length <= MAX_DEFAULT_POINTS
        else max(math.floor(mechanism.noise_steps / NEAR_POINTS_PER_NOISE), -(-length // MAX_DEFAULT_POINTS))
    )
    start = inside[0] - (inside[0] - first) // stride * stride
    return Axis(mechanism.value(start), mechanism.unit * stride, (last - start) // stride + 1)


def _resolving_size(noises: float) -> int:
    """Points for a range of this many 1/ε of noise."""
    return int(min(max(POINTS_PER_NOISE * noises + 1, MIN_DEFAULT_POINTS), MAX_DEFAULT_POINTS))


def ratio_points(
    mechanism: RatioMechanism,
    grid: Grid,
    parts: tuple[int, int],
    axis_request: AxisRequest,
    weight_count: int | None,
    uniform: bool,
) -> PointChoice:
    """The points for a mean of a secret number of rows."""
    first, last = _mean_range(grid, axis_request)
    chosen_size, half = axis_request.grid or weight_count, _mean_reach(mechanism, grid.size, parts[1])
    if chosen_size is not None and chosen_size < 2:
        raise InputError("prior must have at least 2 weights, one for each point from end to end, got 1", "prior")
    if chosen_size is None and uniform and half is not None and 4 * half < last - first:
        return PointChoice(_axis_around_mean(mechanism, parts, first, last, half), is_partial=True)
    noises = float((last - first) / mechanism.total.unit * mechanism.total.epsilon * max(parts[1], 1))
    size = chosen_size or round_size((last - first) / grid.step, noises)
    return PointChoice(Axis(first, (last - first) / (size - 1), size))


def _mean_range(grid: Grid, axis_request: AxisRequest) -> tuple[Fraction, Fraction]:
    first = grid.low if axis_request.at_least is None else max(grid.low, axis_request.at_least)
    last = grid.high if axis_request.at_most is None else min(grid.high, axis_request.at_most)
    if not first < last:
        grid_text = f"{decimal(grid.low)} to {decimal(grid.high)}"
        raise InputError(
            f"at_least and at_most must leave a range within {grid_text}, got none", "at_least", "widen them"
        )
    return first, last


def _mean_reach(mechanism: RatioMechanism, steps: int, rows: int) -> Fraction | None:
    """How far from the ratio τ/ρ a mean may be and still matter; None if as far as it likes.

    Let s = 45. Rows r further than s/ε_R from ρ weigh less than e^−s. For the others |r·μ − τ| is at least
    (ρ − s/ε_R)·|μ − τ/ρ| − N·s/ε_R, so where |μ − τ/ρ| ≥ (s/ε_T + N·s/ε_R)/(ρ − s/ε_R) their total weighs less too.
    """
    row_reach = mechanism.rows.near_steps
    if rows <= 2 * row_reach:
        return None
    return mechanism.total.unit * (mechanism.total.near_steps + steps * row_reach) / (rows - row_reach)


def _axis_around_mean(
    mechanism: RatioMechanism, parts: tuple[int, int], first: Fraction, last: Fraction, half: Fraction
) -> Axis:
    """Means within `half` of the ratio, or of the end it passed: a round number apart, about 4000 of them."""
    ratio = mechanism.total.origin + mechanism.total.unit * Fraction(*parts)
    centre = min(max(ratio, first), last)
    step = _round_down(half / (NEAR_NOISE_SCALES * NEAR_POINTS_PER_NOISE))
    start = centre - (centre - max(first, centre - half)) // step * step
    return Axis(start, step, int((min(last, centre + half) - start) // step) + 1)


def _round_down(value: Fraction) -> Fraction:
    """1, 2 or 5 times a power of 10, at most the value."""
    power = Fraction(10) ** math.floor(math.log10(value))
    return next(digit * power for digit in (5, 2, 1, Fraction(1, 2)) if digit * power <= value)


def round_size(steps: Fraction, noises: float) -> int:
    """Points for a range of this many steps and this much noise: 1, 2, 5, 10, 20, … to a step where that fits.

    >>> round_size(Fraction(73), 944.0), round_size(Fraction(73), 10.0)
    (14601, 1461)
    """
    min_size = _resolving_size(noises)
    divisions = (digit * 10**power for power in range(6) for digit in (1, 2, 5))
    sizes = (int(steps * division) + 1 for division in divisions if steps.denominator == 1)
    return next((size for size in sizes if min_size <= size <= MAX_DEFAULT_POINTS), min_size)
