"""Arithmetic of predicates, exact and in floats, that cannot fail on any row.

Exact arithmetic that cannot fail on any row.

A value of a whole or decimal column is k·10^−scale, the engine holds the whole number k, and the bounds of k follow
from the columns' types. A sum or product is done in 64 bits or in decimal(38, 0), whichever its bounds fit, and refused
before any row is read where they fit neither. No engine rounds or overflows within those bounds.

Arithmetic in floats that cannot fail on any row and rounds alike in every engine.

Overflow, and underflow to 0, are errors in PostgreSQL. So arithmetic reads a column's float as unknown where it is
larger than 1e60 or infinite, and as 0 where it is smaller than 1e-60. From there on every value v has |v| ≤ size and
is a multiple of 2^grain, bounds that follow the operations: sizes are added or multiplied; a sum is a multiple of the
finer grain, a product of both grains' product, and rounding to a double, which only drops low bits, keeps that. A
result other than 0 is at least 2^grain, so with grain ≥ −1074 it does not underflow; with size ≤ 2^1000 it does not
overflow. Where the bounds say otherwise the predicate is refused. The same IEEE 754 operations in the same order, from
the left, then give the same result everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import frexp
from typing import Any

from utmost.data.engines import expressions
from utmost.data.predicates.syntax import syntax_error
from utmost.data.predicates.typed_values import (
    DOUBLE,
    MAX_DECIMAL_DIGITS,
    DecimalValue,
    FloatExtent,
    FloatValue,
    IntegerValue,
    NumericValue,
    Value,
    nearest_float,
)
from utmost.errors import InputError

MAX_DECIMAL = 10**MAX_DECIMAL_DIGITS - 1
INT64_RANGE = (-(2**63), 2**63 - 1)
MIN_PRODUCT_DIGITS = 19  # of a factor: DuckDB keeps 18 digits of a product of two shorter ones, and fails beyond


def combine(sign: str, first: Value, second: Value, position: int) -> IntegerValue:
    """first sign second, with a sign of + - *, in a type that holds every possible result."""
    left, right = to_integer(first, position), to_integer(second, position)
    scale = left.scale + right.scale
    if sign != "*":
        scale = max(left.scale, right.scale)
        left, right = _rescale(left, scale, position), _rescale(right, scale, position)
    corners = [exact_result(sign, a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    low, high = min(corners), max(corners)
    left, right = _cast_to_common_type(left, right, low, high, position)
    return IntegerValue(exact_result(sign, left.expression, right.expression), low, high, scale)


def align(first: Value, second: Value, position: int) -> tuple[IntegerValue, IntegerValue]:
    """Two exact values with one scale, held in one type."""
    left, right = to_integer(first, position), to_integer(second, position)
    scale = max(left.scale, right.scale)
    left, right = _rescale(left, scale, position), _rescale(right, scale, position)
    return _cast_to_common_type(left, right, min(left.low, right.low), max(left.high, right.high), position)


def align_all(values: Sequence[Value], position: int) -> list[IntegerValue]:
    """Exact values with one scale, held in one type."""
    integers = [to_integer(value, position) for value in values]
    scale = max(integer.scale for integer in integers)
    integers = [_rescale(integer, scale, position) for integer in integers]
    dtype = _decimal_type(MAX_DECIMAL_DIGITS)
    if all(_fits_int64(integer) for integer in integers):
        dtype = _int64_type()
    return [_cast_integer(integer, dtype) for integer in integers]


def to_int64(value: Value, position: int) -> IntegerValue:
    """An exact value k·10^−scale with NULL where k does not fit 64 bits. No conversion can fail: k is clamped first."""
    import ibis

    integer = to_integer(value, position)
    if _fits_int64(integer):
        return _cast_integer(integer, _int64_type())
    low, high = max(integer.low, INT64_RANGE[0]), min(integer.high, INT64_RANGE[1])
    wide = _cast_integer(integer, _decimal_type(MAX_DECIMAL_DIGITS))
    first, last = wide.literal(INT64_RANGE[0]), wide.literal(INT64_RANGE[1])
    k = wide.expression
    clamped = ibis.least(ibis.greatest(k, first), last).cast("int64")
    fits = (k >= first) & (k <= last)
    return IntegerValue(ibis.cases((fits, clamped), else_=ibis.null("int64")), min(low, high), high, integer.scale)


def to_decimal(value: Value, position: int) -> Any:
    """An exact value as a decimal of its own scale, for a column: of at most 38 digits in the product that makes it."""
    integer = to_integer(value, position)
    digits, scale = max(len(str(abs(bound))) for bound in (integer.low, integer.high)), integer.scale
    if scale == 0:
        return _cast_integer(integer, _decimal_type(digits)).expression
    factor_digits = max(digits + scale, MIN_PRODUCT_DIGITS)
    if factor_digits + scale + 2 > MAX_DECIMAL_DIGITS:
        raise _length_error(position)
    unit = expressions.decimal_literal(1, scale, _decimal_type(scale + 1, scale))
    k = _cast_integer(integer, _decimal_type(factor_digits)).expression
    return expressions.decimal_product(k, unit).cast(_decimal_type(max(digits, scale + 1), scale))


def to_float(value: Value, position: int) -> Any:
    """A number as a double: a constant as the nearest, anything else as `to_double` has it."""
    return constant_double(value, position)[0] if isinstance(value, Fraction) else to_double(value, position)


def to_integer(value: Value, position: int) -> IntegerValue:
    """An exact value as a whole number; that of a decimal is 10^scale times itself, where 38 digits hold that."""
    match value:
        case IntegerValue():
            return value
        case Fraction():
            number, scale = decimal_shift(value)
            _check_length(number, number, position)
            return IntegerValue(
                expressions.integer_literal(number, _decimal_type(MAX_DECIMAL_DIGITS)),
                number,
                number,
                scale,
                is_literal=True,
            )
        case DecimalValue(expression, low, high, 0):
            return IntegerValue(expression.cast(_decimal_type(MAX_DECIMAL_DIGITS)), low, high)
        case DecimalValue(expression, low, high, scale) if (
            digits := max(len(str(high)), scale + 1)
        ) + scale + 2 <= MAX_DECIMAL_DIGITS:
            power_of_ten = expressions.integer_literal(10**scale, _decimal_type(scale + 1))
            product = expression.cast(_decimal_type(max(digits, MIN_PRODUCT_DIGITS), scale)) * power_of_ten
            return IntegerValue(product.cast(_decimal_type(MAX_DECIMAL_DIGITS)), low, high, scale)
    raise _length_error(position)


def to_numeric(value: Value, position: int) -> Any:
    """An exact value as a decimal without bounds."""
    if isinstance(value, NumericValue | DecimalValue) or (isinstance(value, IntegerValue) and value.scale == 0):
        return value.expression.cast("decimal")
    raise _length_error(position)


def decimal_shift(number: Fraction) -> tuple[int, int]:
    """k and the least scale with number = k·10^−scale, of a number that has one.

    >>> decimal_shift(Fraction("1.250")), decimal_shift(Fraction(300))
    ((125, 2), (300, 0))
    """
    twos = (number.denominator & -number.denominator).bit_length() - 1
    fives, rest = 0, number.denominator >> twos
    while rest > 1:
        fives, rest = fives + 1, rest // 5
    scale = max(twos, fives)
    return int(number * 10**scale), scale


def exact_result(sign: str, left: Any, right: Any) -> Any:
    """left sign right, with a sign of + - *."""
    return left * right if sign == "*" else left + right if sign == "+" else left - right


def _rescale(value: IntegerValue, scale: int, position: int) -> IntegerValue:
    """The same value with a larger scale."""
    factor = 10 ** (scale - value.scale)
    if factor == 1:
        return value
    low, high = value.low * factor, value.high * factor
    _check_length(low, high, position)
    wide_type = _decimal_type(MAX_DECIMAL_DIGITS)
    expression = (
        expressions.integer_literal(low, wide_type)
        if value.is_literal
        else value.expression.cast(wide_type) * expressions.integer_literal(factor, wide_type)
    )
    return replace(value, expression=expression, low=low, high=high, scale=scale)


def _cast_to_common_type(
    left: IntegerValue, right: IntegerValue, low: int, high: int, position: int
) -> tuple[IntegerValue, IntegerValue]:
    """Both in one type that holds them and everything from low to high: 64 bits, or else decimal(38, 0)."""
    import ibis

    _check_length(low, high, position)
    is_int64 = _fits_int64(left) and _fits_int64(right) and INT64_RANGE[0] <= low and high <= INT64_RANGE[1]
    dtype = ibis.dtype("int64") if is_int64 else _decimal_type(MAX_DECIMAL_DIGITS)
    return _cast_integer(left, dtype), _cast_integer(right, dtype)


def _fits_int64(value: IntegerValue) -> bool:
    fits = INT64_RANGE[0] <= value.low and value.high <= INT64_RANGE[1]
    return fits and (value.dtype.is_integer() or value.is_literal)


def _cast_integer(value: IntegerValue, dtype: Any) -> IntegerValue:
    expression = expressions.integer_literal(value.low, dtype) if value.is_literal else value.expression.cast(dtype)
    return replace(value, expression=expression)


def _check_length(low: int, high: int, position: int) -> None:
    if low < -MAX_DECIMAL or high > MAX_DECIMAL:
        raise _length_error(position)


def _length_error(position: int) -> InputError:
    problem = f"this needs more than {MAX_DECIMAL_DIGITS} digits for the widest values that the columns' types allow"
    return syntax_error(position, problem, "compare the columns with numbers one by one")


def _int64_type() -> Any:
    import ibis

    return ibis.dtype("int64")


def _decimal_type(precision: int, scale: int = 0) -> Any:
    import ibis

    return ibis.dtype(f"decimal({precision}, {scale})")


MAX_COLUMN_FLOAT, MIN_COLUMN_FLOAT = 1e60, 1e-60
COLUMN_EXTENT = FloatExtent(Fraction(MAX_COLUMN_FLOAT), frexp(MIN_COLUMN_FLOAT)[1] - DOUBLE.digits)
MAX_EXTENT = FloatExtent(Fraction(2) ** 1000, DOUBLE.min_exponent)
MAX_EXACT_POWER_OF_TEN = 22  # powers of ten that are doubles


def float_result(sign: str, first: Value, second: Value, position: int) -> FloatValue:
    """first sign second in doubles, with a sign of + - *."""
    (left, extent), (right, right_extent) = bound_double(first, position), bound_double(second, position)
    if sign == "*":
        extent = FloatExtent(extent.size * right_extent.size, extent.grain + right_extent.grain)
    else:
        extent = FloatExtent(extent.size + right_extent.size, min(extent.grain, right_extent.grain))
    if extent.size > MAX_EXTENT.size or extent.grain < MAX_EXTENT.grain:
        raise syntax_error(
            position, "the result may be too large or too small for a float", "multiply four floats at most"
        )
    return FloatValue(exact_result(sign, left, right), extent=extent)


def to_double(value: Value, position: int) -> Any:
    """A value as a double. Of k·10^−scale it is the double nearest to k, divided by 10^scale.

    That is the nearest double of all where the scale is 0 or k < 2^53; engines that convert a decimal at one go differ
    in the last bit. k must have 64 bits.
    """
    if isinstance(value, FloatValue):
        return value.expression
    integer = to_integer(value, position)
    if integer.dtype.is_integer() and integer.scale == 0:
        return integer.expression.cast("float64")
    if integer.scale > MAX_EXACT_POWER_OF_TEN or integer.low < INT64_RANGE[0] or integer.high > INT64_RANGE[1]:
        problem = "a float cannot meet an exact number that may have more than 64 bits"
        raise syntax_error(position, problem, "compare each with a number")
    double = integer.expression.cast("int64").cast("float64")
    return double / expressions.double_literal(10.0**integer.scale) if integer.scale else double


def bound_double(value: Value, position: int) -> tuple[Any, FloatExtent]:
    """A value as arithmetic in doubles reads it, and its extent."""
    import ibis

    if isinstance(value, Fraction):
        return constant_double(value, position)
    double = to_double(value, position)
    if not isinstance(value, FloatValue):
        return double, _integer_extent(to_integer(value, position))
    if value.extent is not None:
        return double, value.extent
    size = double.abs()
    large, small, zero = (expressions.double_literal(number) for number in (MAX_COLUMN_FLOAT, MIN_COLUMN_FLOAT, 0.0))
    return ibis.cases((size > large, ibis.null("float64")), (size < small, zero), else_=double), COLUMN_EXTENT


def _integer_extent(value: IntegerValue) -> FloatExtent:
    """Of the double of k·10^−scale, which is 0 or not much smaller than 10^−scale."""
    return FloatExtent(Fraction(2) ** 64, frexp(10.0**-value.scale)[1] - 1 - DOUBLE.digits if value.scale else 0)


def constant_double(number: Fraction, position: int) -> tuple[Any, FloatExtent]:
    """The double nearest to a number, and its extent."""
    value = nearest_float(number, DOUBLE)
    if value is None:
        raise syntax_error(position, "a number is too large for arithmetic with a float")
    grain = (value.numerator & -value.numerator).bit_length() - value.denominator.bit_length()
    return expressions.double_literal(float(value)), FloatExtent(abs(value), grain if value else 0)
