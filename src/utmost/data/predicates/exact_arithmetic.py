"""Exact arithmetic that cannot fail on any row.

A value of a whole or decimal column is k·10^−scale, the engine holds the whole number k, and the bounds of k follow
from the columns' types. A sum or product is done in 64 bits or in decimal(38, 0), whichever its bounds fit, and refused
before any row is read where they fit neither. No engine rounds or overflows within those bounds.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.data.engines import expressions
from utmost.data.predicates.tokens import syntax_error
from utmost.data.predicates.typed_values import MAX_DECIMAL_DIGITS, DecimalValue, IntegerValue, NumericValue, Value
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


def _decimal_type(precision: int, scale: int = 0) -> Any:
    import ibis

    return ibis.dtype(f"decimal({precision}, {scale})")
