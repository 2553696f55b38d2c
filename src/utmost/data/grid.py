"""Grids that numbers are clamped and rounded to, and their arithmetic inside the engine.

Numbers on a grid, inside the engine: v becomes the position k = ⌊(clamp(v) − low)/step + 1/2⌋, from 0 to N.

**Integers and decimals** are placed exactly. With step = p/q in lowest terms and low = a·step,
k = ⌊(q·v + ⌊p/2⌋ − a·p)/p⌋ for an integer v and ⌊(⌊2q·v⌋ + p − 2a·p)/(2p)⌋ for a decimal one. The value is clamped
first, outwards to the next number that the column can hold, and k is clamped last; so only values between are computed
with, and grids for which that could leave 64 bits (or 38 digits) are refused before any row is read.

**Floats** are placed in doubles by operations that IEEE 754 rounds correctly, in one order, so that engines agree:
k = ⌊max(clamp(v) − low, step/4)/step + 1/2⌋. The maximum changes no position and keeps quotients from underflowing,
which is an error in PostgreSQL. With M = max(|low|, |high|)/step ≤ 10^12, rounding low, step, the difference, the
quotient and the sum moves the quotient by at most 9M·2^−53 < M·2^−49 steps: only a value as near as that to the middle
between two positions can land on the other one. NaN counts as NULL; ±inf is clamped.

Whatever happened before, k is clamped to 0 … N: **a row weighs at most N steps by construction**. A sum of positions
over fewer than 2^63 rows is below 10^12·2^63 < 10^31 and is summed in 38 digits: it cannot overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from utmost.data.engines import expressions
from utmost.data.engines.engine import Engine
from utmost.data.engines.expressions import decimal_literal, double_literal
from utmost.errors import InputError

MAX_GRID_STEPS = 10**12


@dataclass(frozen=True, slots=True)
class Grid:
    """The values low, low + step, …, high that a number is clamped and rounded to, inside the engine.

    Position k stands for low + k·step. `low` is a whole number of steps, so that sums are whole numbers of steps too.
    """

    low: Fraction
    high: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        """Check that the grid is one."""
        if not self.low < self.high:
            raise InputError(
                f"low must be below high, got {self.low} and {self.high}", "low", "swap or widen the bounds"
            )
        if self.step <= 0:
            raise InputError(f"step must be > 0, got {self.step}", "step")
        if (self.low / self.step).denominator != 1 or (self.high / self.step).denominator != 1:
            raise InputError(
                f"low and high must be whole numbers of steps of {self.step}, got {self.low} and {self.high}", "low"
            )
        if max(self.high - self.low, abs(self.low), abs(self.high)) / self.step > MAX_GRID_STEPS:
            raise InputError(
                "step must leave at most 10^12 steps from 0 and between the bounds", "step", "take a coarser one"
            )

    @property
    def size(self) -> int:
        """N, the number of steps from low to high."""
        return int((self.high - self.low) / self.step)

    def value(self, position: int) -> Fraction:
        """What a position stands for."""
        return self.low + position * self.step


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column whose numbers are placed on a grid.

    `nulls` says what a missing value (NULL or NaN) is: a number of the grid's range, or None to drop the row.
    """

    column: str
    grid: Grid
    nulls: Fraction | None = None

    def __post_init__(self) -> None:
        """Check the number that stands in for a missing one."""
        low, high = self.grid.low, self.grid.high
        if self.nulls is not None and not low <= self.nulls <= high:
            raise InputError(f'nulls must be "drop" or a number from {low} to {high}, got {self.nulls}', "nulls")


MAX_COMPUTED_INTEGER = 1 << 62  # the largest that is computed with
MAX_PRODUCT_DIGITS = 37  # of a product of decimals: engines give it one digit more
UNSCALED_DIGITS = 30  # behind the point of an end that decimals of any scale are compared with
MAX_FLOAT_BOUND, MIN_FLOAT_STEP = 10**300, Fraction(1, 10**280)


def check_grid(dtype: Any, grid: Grid, engine: Engine) -> None:
    """Refuse a grid whose arithmetic could leave what the engine holds for a column of this type."""
    if dtype.is_floating():
        fits = max(abs(grid.low), abs(grid.high)) <= MAX_FLOAT_BOUND and grid.step >= MIN_FLOAT_STEP
    else:
        bounds = _outward_bounds(dtype, grid, engine)
        factor = grid.step.denominator * (1 if _is_whole(dtype) else 2)
        largest = max(abs(bound) for bound in bounds) * factor + 2 * max(abs(grid.low), abs(grid.high)) * factor
        fits = (
            largest + 2 * grid.step.numerator < MAX_COMPUTED_INTEGER
            and _product_digits(dtype, bounds, factor, engine) <= MAX_PRODUCT_DIGITS
        )
    if not fits:
        raise InputError(
            f"step must leave numbers that the column's type can be computed with, got {grid.step} from "
            f"{grid.low} to {grid.high}",
            "step",
            "take a coarser step or closer bounds",
        )


def grid_position(value: Any, grid: Grid, nulls: Fraction | None, engine: Engine) -> Any:
    """The position of a value that is not NaN; where it is NULL that of `nulls`, or NULL if that is None."""
    import ibis

    null_position = ibis.null("int64") if nulls is None else _int64_literal(quantize(nulls, grid))
    if value.type().is_floating():
        position = _float_position(value.cast("float64"), grid)
    else:
        position = (_integer_position if _is_whole(value.type()) else _decimal_position)(value, grid, engine)
    return ibis.cases((value.isnull(), null_position), else_=ibis.least(ibis.greatest(position, 0), grid.size))


def is_below(value: Any, grid: Grid, engine: Engine) -> Any:
    """Whether a value that is not NaN lies below the grid; floats are compared with the double nearest to its end."""
    return value < _bound_literal(value, grid.low, ceil, engine)


def is_above(value: Any, grid: Grid, engine: Engine) -> Any:
    """Whether a value that is not NaN lies above the grid; floats are compared with the double nearest to its end."""
    return value > _bound_literal(value, grid.high, floor, engine)


def _bound_literal(value: Any, bound: Fraction, round_inward: Callable[[Fraction], int], engine: Engine) -> Any:
    """An end of a grid; of integers and decimals the next number inward that they can be, of any scale to 30 digits."""
    dtype = value.type()
    if dtype.is_floating():
        return double_literal(float(bound))
    if _is_whole(dtype):
        return _int64_literal(round_inward(bound))
    scale = engine.decimal_scale(dtype)
    digits = UNSCALED_DIGITS if scale is None else scale
    inward = round_inward(bound * 10**digits)
    return (
        decimal_literal(inward, digits, dtype) if scale is None else _exact_literal(Fraction(inward, 10**digits), scale)
    )


def quantize(value: Fraction, grid: Grid) -> int:
    """The position of an exact number.

    >>> quantize(Fraction(3, 2), Grid(Fraction(0), Fraction(10), Fraction(1)))
    2
    """
    return min(max(floor((value - grid.low) / grid.step + Fraction(1, 2)), 0), grid.size)


def _float_position(value: Any, grid: Grid) -> Any:
    import ibis

    low, high, step = (double_literal(float(number)) for number in (grid.low, grid.high, grid.step))
    quarter, half = double_literal(float(grid.step) / 4), double_literal(0.5)
    clamped = ibis.least(ibis.greatest(value, low), high)
    return expressions.floor(ibis.greatest(clamped - low, quarter) / step + half)


def _integer_position(value: Any, grid: Grid, engine: Engine) -> Any:
    import ibis

    low, high = _outward_bounds(value.type(), grid, engine)
    p, q, a = grid.step.numerator, grid.step.denominator, int(grid.low / grid.step)
    clamped = ibis.least(ibis.greatest(value, int(low)), int(high)).cast("int64")
    return engine.truncated_quotient(clamped * _int64_literal(q) + _int64_literal(p // 2 - a * p), p)


def _decimal_position(value: Any, grid: Grid, engine: Engine) -> Any:
    import ibis

    low, high = _outward_bounds(value.type(), grid, engine)
    p, q, a = grid.step.numerator, grid.step.denominator, int(grid.low / grid.step)
    scale = engine.decimal_scale(value.type())
    clamped = ibis.least(ibis.greatest(value, _exact_literal(low, scale)), _exact_literal(high, scale))
    if scale is not None:
        digits = _integer_digits(low, high) + scale + (0 if engine.adds_product_digits else len(str(2 * q)))
        clamped = clamped.cast(f"decimal({digits}, {scale})")
    factor = _exact_literal(Fraction(2 * q), None if scale is None else 0)
    product_floor = expressions.floor(expressions.decimal_product(clamped, factor))
    return engine.truncated_quotient(product_floor + _int64_literal(p - 2 * a * p), 2 * p)


def _is_whole(dtype: Any) -> bool:
    """Whether a column of the type holds integers only."""
    return bool(dtype.is_integer() or (dtype.is_decimal() and dtype.scale == 0))


def _outward_bounds(dtype: Any, grid: Grid, engine: Engine) -> tuple[Fraction, Fraction]:
    """low and high, moved outwards to numbers that the column can hold: whole ones where decimals have any scale."""
    scale = 0 if _is_whole(dtype) else engine.decimal_scale(dtype) or 0
    return Fraction(floor(grid.low * 10**scale), 10**scale), Fraction(ceil(grid.high * 10**scale), 10**scale)


def _product_digits(dtype: Any, bounds: tuple[Fraction, Fraction], factor: int, engine: Engine) -> int:
    """Digits of the widest product of a clamped decimal; 0 where the engine has as many as it takes."""
    scale = None if _is_whole(dtype) else engine.decimal_scale(dtype)
    return 0 if scale is None else _integer_digits(*bounds) + scale + len(str(factor))


def _integer_digits(low: Fraction, high: Fraction) -> int:
    return len(str(int(max(abs(low), abs(high)))))


def _exact_literal(value: Fraction, scale: int | None) -> Any:
    """A decimal with so many digits behind the point; a whole number where None is given."""
    if scale is None:
        return _int64_literal(int(value))
    import ibis

    dtype = ibis.dtype(f"decimal({_integer_digits(value, value) + scale}, {scale})")
    return decimal_literal(int(value * 10**scale), scale, dtype)


def _int64_literal(value: int) -> Any:
    import ibis

    return ibis.literal(value, "int64")
