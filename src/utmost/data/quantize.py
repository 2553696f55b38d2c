"""Numbers on a grid, inside the engine: v becomes the position k = ⌊(clamp(v) − low)/step + 1/2⌋, from 0 to N.

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

from fractions import Fraction
from math import ceil, floor
from typing import Any

from utmost.data.engines import functions
from utmost.data.predicates.column_casts import decimal_literal, double_literal
from utmost.data.queries import Grid
from utmost.errors import InputError

WIDEST = 1 << 62  # of the whole numbers that are computed with
MOST_DIGITS = 37  # of a product of decimals: engines give it one digit more
LARGEST_FLOAT, SMALLEST_STEP = 10**300, Fraction(1, 10**280)


def check_grid(dtype: Any, grid: Grid, engine: str) -> None:
    """Refuse a grid whose arithmetic could leave what the engine holds for a column of this type."""
    if dtype.is_floating():
        fits = max(abs(grid.low), abs(grid.high)) <= LARGEST_FLOAT and grid.step >= SMALLEST_STEP
    else:
        ends = _ends(dtype, grid, engine)
        factor = grid.step.denominator * (1 if _is_whole(dtype) else 2)
        widest = max(abs(end) for end in ends) * factor + 2 * max(abs(grid.low), abs(grid.high)) * factor
        fits = widest + 2 * grid.step.numerator < WIDEST and _digits(dtype, ends, factor, engine) <= MOST_DIGITS
    if not fits:
        raise InputError(
            f"step must leave numbers that the column's type can be computed with, got {grid.step} from {grid.low} to "
            f"{grid.high}: take a coarser step or closer bounds"
        )


def grid_position(value: Any, grid: Grid, nulls: Fraction | None, engine: str) -> Any:
    """The position of a value that is not NaN; where it is NULL that of `nulls`, or NULL if that is None."""
    import ibis

    stand_in = ibis.null("int64") if nulls is None else _int64(placed(nulls, grid))
    if value.type().is_floating():
        place = _of_float(value.cast("float64"), grid)
    else:
        place = (_of_integer if _is_whole(value.type()) else _of_decimal)(value, grid, engine)
    return ibis.cases((value.isnull(), stand_in), else_=ibis.least(ibis.greatest(place, 0), grid.size))


def placed(value: Fraction, grid: Grid) -> int:
    """The position of an exact number.

    >>> placed(Fraction(3, 2), Grid(Fraction(0), Fraction(10), Fraction(1)))
    2
    """
    return min(max(floor((value - grid.low) / grid.step + Fraction(1, 2)), 0), grid.size)


def _of_float(value: Any, grid: Grid) -> Any:
    import ibis

    low, high, step = (double_literal(float(end)) for end in (grid.low, grid.high, grid.step))
    quarter, half = double_literal(float(grid.step) / 4), double_literal(0.5)
    inside = ibis.least(ibis.greatest(value, low), high)
    return functions.floor(ibis.greatest(inside - low, quarter) / step + half)


def _of_integer(value: Any, grid: Grid, engine: str) -> Any:
    import ibis

    low, high = _ends(value.type(), grid, engine)
    p, q, a = grid.step.numerator, grid.step.denominator, int(grid.low / grid.step)
    inside = ibis.least(ibis.greatest(value, int(low)), int(high)).cast("int64")
    return functions.floor_quotient(engine, inside * _int64(q) + _int64(p // 2 - a * p), p)


def _of_decimal(value: Any, grid: Grid, engine: str) -> Any:
    import ibis

    low, high = _ends(value.type(), grid, engine)
    p, q, a = grid.step.numerator, grid.step.denominator, int(grid.low / grid.step)
    scale = None if engine == "postgres" else value.type().scale
    inside = ibis.least(ibis.greatest(value, _decimal(low, scale)), _decimal(high, scale))
    if scale is not None:  # DuckDB takes the product's type from the wider factor, Spark adds the digits of both
        digits = _whole_digits(low, high) + scale + (len(str(2 * q)) if engine == "duckdb" else 0)
        inside = inside.cast(f"decimal({digits}, {scale})")
    factor = _decimal(Fraction(2 * q), None if scale is None else 0)
    whole = functions.floor(functions.decimal_product(inside, factor))
    return functions.floor_quotient(engine, whole + _int64(p - 2 * a * p), 2 * p)


def _is_whole(dtype: Any) -> bool:
    """Whether a column of the type holds integers only."""
    return bool(dtype.is_integer() or (dtype.is_decimal() and dtype.scale == 0))


def _ends(dtype: Any, grid: Grid, engine: str) -> tuple[Fraction, Fraction]:
    """low and high, moved outwards to numbers that the column can hold: whole ones in PostgreSQL's decimals."""
    scale = 0 if _is_whole(dtype) or engine == "postgres" else dtype.scale
    return Fraction(floor(grid.low * 10**scale), 10**scale), Fraction(ceil(grid.high * 10**scale), 10**scale)


def _digits(dtype: Any, ends: tuple[Fraction, Fraction], factor: int, engine: str) -> int:
    """Digits of the widest product of a clamped decimal; PostgreSQL has as many as it takes."""
    if _is_whole(dtype) or engine == "postgres":
        return 0
    return _whole_digits(*ends) + int(dtype.scale) + len(str(factor))


def _whole_digits(low: Fraction, high: Fraction) -> int:
    return len(str(int(max(abs(low), abs(high)))))


def _decimal(value: Fraction, scale: int | None) -> Any:
    """A decimal with so many digits behind the point; a whole number where None is given."""
    if scale is None:
        return _int64(int(value))
    import ibis

    dtype = ibis.dtype(f"decimal({_whole_digits(value, value) + scale}, {scale})")
    return decimal_literal(int(value * 10**scale), scale, dtype)


def _int64(value: int) -> Any:
    import ibis

    return ibis.literal(value, "int64")
