"""Exact arithmetic that cannot fail on any row.

A value of a whole or decimal column is k·10^−scale, the engine holds the whole number k, and the bounds of k follow
from the columns' types. A sum or product is done in 64 bits or in decimal(38, 0), whichever its bounds fit, and refused
before any row is read where they fit neither. No engine rounds or overflows within those bounds.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.data.predicates import column_casts
from utmost.data.predicates.tokens import syntax_error
from utmost.data.predicates.typed_values import MOST_DIGITS, DecimalValue, IntegerValue, NumericValue, Value
from utmost.errors import InputError

MAX_DECIMAL = 10**MOST_DIGITS - 1
INT64_RANGE = (-(2**63), 2**63 - 1)


def combine(sign: str, one: Value, other: Value, at: int) -> IntegerValue:
    """one sign other, with a sign of + - *, in a type that holds every possible result."""
    left, right = to_integer(one, at), to_integer(other, at)
    scale = left.scale + right.scale
    if sign != "*":
        scale = max(left.scale, right.scale)
        left, right = _scaled(left, scale, at), _scaled(right, scale, at)
    corners = [exact_result(sign, end, far) for end in (left.low, left.high) for far in (right.low, right.high)]
    low, high = min(corners), max(corners)
    left, right = _together(left, right, low, high, at)
    return IntegerValue(exact_result(sign, left.held, right.held), low, high, scale)


def align(one: Value, other: Value, at: int) -> tuple[IntegerValue, IntegerValue]:
    """Two exact values with one scale, held in one type."""
    left, right = to_integer(one, at), to_integer(other, at)
    scale = max(left.scale, right.scale)
    left, right = _scaled(left, scale, at), _scaled(right, scale, at)
    return _together(left, right, min(left.low, right.low), max(left.high, right.high), at)


def to_integer(value: Value, at: int) -> IntegerValue:
    """An exact value as a whole number; that of a decimal is 10^scale times itself, where 38 digits hold that."""
    match value:
        case IntegerValue():
            return value
        case Fraction():
            number, scale = decimal_shift(value)
            _refuse_long(number, number, at)
            return IntegerValue(
                column_casts.integer_literal(number, _digits(MOST_DIGITS)), number, number, scale, is_literal=True
            )
        case DecimalValue(held, low, high, 0):
            return IntegerValue(held.cast(_digits(MOST_DIGITS)), low, high)
        case DecimalValue(held, low, high, scale) if (
            length := max(len(str(high)), scale + 1)
        ) + scale + 2 <= MOST_DIGITS:
            tens = column_casts.integer_literal(10**scale, _digits(scale + 1))
            return IntegerValue((held.cast(_digits(length, scale)) * tens).cast(_digits(MOST_DIGITS)), low, high, scale)
    raise _too_long(at)


def to_numeric(value: Value, at: int) -> Any:
    """An exact value as a decimal without bounds."""
    if isinstance(value, NumericValue | DecimalValue) or (isinstance(value, IntegerValue) and value.scale == 0):
        return value.held.cast("decimal")
    raise _too_long(at)


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


def _scaled(value: IntegerValue, scale: int, at: int) -> IntegerValue:
    """The same value with a larger scale."""
    factor = 10 ** (scale - value.scale)
    if factor == 1:
        return value
    low, high = value.low * factor, value.high * factor
    _refuse_long(low, high, at)
    wide = _digits(MOST_DIGITS)
    held = (
        column_casts.integer_literal(low, wide)
        if value.is_literal
        else value.held.cast(wide) * column_casts.integer_literal(factor, wide)
    )
    return replace(value, held=held, low=low, high=high, scale=scale)


def _together(
    left: IntegerValue, right: IntegerValue, low: int, high: int, at: int
) -> tuple[IntegerValue, IntegerValue]:
    """Both in one type that holds them and everything from low to high: 64 bits, or else decimal(38, 0)."""
    import ibis

    _refuse_long(low, high, at)
    is_long = _is_long(left) and _is_long(right) and INT64_RANGE[0] <= low and high <= INT64_RANGE[1]
    dtype = ibis.dtype("int64") if is_long else _digits(MOST_DIGITS)
    return _held_in(left, dtype), _held_in(right, dtype)


def _is_long(value: IntegerValue) -> bool:
    fits = INT64_RANGE[0] <= value.low and value.high <= INT64_RANGE[1]
    return fits and (value.dtype.is_integer() or value.is_literal)


def _held_in(value: IntegerValue, dtype: Any) -> IntegerValue:
    held = column_casts.integer_literal(value.low, dtype) if value.is_literal else value.held.cast(dtype)
    return replace(value, held=held)


def _refuse_long(low: int, high: int, at: int) -> None:
    if low < -MAX_DECIMAL or high > MAX_DECIMAL:
        raise _too_long(at)


def _too_long(at: int) -> InputError:
    problem = f"this needs more than {MOST_DIGITS} digits for the widest values that the columns' types allow"
    return syntax_error(at, problem, "compare the columns with numbers one by one")


def _digits(precision: int, scale: int = 0) -> Any:
    import ibis

    return ibis.dtype(f"decimal({precision}, {scale})")
