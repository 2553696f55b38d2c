"""Exact arithmetic that cannot fail on any row.

A value of a whole or decimal column is k·10^−scale, the engine holds the whole number k, and the bounds of k follow
from the columns' types. A sum or product is done in 64 bits or in decimal(38, 0), whichever its bounds fit, and refused
before any row is read where they fit neither. No engine rounds or overflows within those bounds.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.data.predicates import readings
from utmost.data.predicates.values import MOST_DIGITS, Fixed, Unbounded, Value, Whole
from utmost.data.predicates.words import refusal
from utmost.errors import InputError

LARGEST = 10**MOST_DIGITS - 1
LONG = (-(2**63), 2**63 - 1)


def combined(sign: str, one: Value, other: Value, at: int) -> Whole:
    """one sign other, with a sign of + - *, in a type that holds every possible result."""
    left, right = as_whole(one, at), as_whole(other, at)
    scale = left.scale + right.scale
    if sign != "*":
        scale = max(left.scale, right.scale)
        left, right = _scaled(left, scale, at), _scaled(right, scale, at)
    corners = [of(sign, end, far) for end in (left.low, left.high) for far in (right.low, right.high)]
    low, high = min(corners), max(corners)
    left, right = _together(left, right, low, high, at)
    return Whole(of(sign, left.held, right.held), low, high, scale)


def aligned(one: Value, other: Value, at: int) -> tuple[Whole, Whole]:
    """Two exact values with one scale, held in one type."""
    left, right = as_whole(one, at), as_whole(other, at)
    scale = max(left.scale, right.scale)
    left, right = _scaled(left, scale, at), _scaled(right, scale, at)
    return _together(left, right, min(left.low, right.low), max(left.high, right.high), at)


def as_whole(value: Value, at: int) -> Whole:
    """An exact value as a whole number; that of a decimal is 10^scale times itself, where 38 digits hold that."""
    match value:
        case Whole():
            return value
        case Fraction():
            number, scale = shifted(value)
            _refuse_long(number, number, at)
            return Whole(readings.whole(number, _digits(MOST_DIGITS)), number, number, scale, is_literal=True)
        case Fixed(held, low, high, 0):
            return Whole(held.cast(_digits(MOST_DIGITS)), low, high)
        case Fixed(held, low, high, scale) if (length := max(len(str(high)), scale + 1)) + scale + 2 <= MOST_DIGITS:
            tens = readings.whole(10**scale, _digits(scale + 1))
            return Whole((held.cast(_digits(length, scale)) * tens).cast(_digits(MOST_DIGITS)), low, high, scale)
    raise _too_long(at)


def as_unbounded(value: Value, at: int) -> Any:
    """An exact value as a decimal without bounds."""
    if isinstance(value, Unbounded | Fixed) or (isinstance(value, Whole) and value.scale == 0):
        return value.held.cast("decimal")
    raise _too_long(at)


def shifted(number: Fraction) -> tuple[int, int]:
    """k and the least scale with number = k·10^−scale, of a number that has one.

    >>> shifted(Fraction("1.250")), shifted(Fraction(300))
    ((125, 2), (300, 0))
    """
    twos = (number.denominator & -number.denominator).bit_length() - 1
    fives, rest = 0, number.denominator >> twos
    while rest > 1:
        fives, rest = fives + 1, rest // 5
    scale = max(twos, fives)
    return int(number * 10**scale), scale


def of(sign: str, left: Any, right: Any) -> Any:
    """left sign right, with a sign of + - *."""
    return left * right if sign == "*" else left + right if sign == "+" else left - right


def _scaled(value: Whole, scale: int, at: int) -> Whole:
    """The same value with a larger scale."""
    factor = 10 ** (scale - value.scale)
    if factor == 1:
        return value
    low, high = value.low * factor, value.high * factor
    _refuse_long(low, high, at)
    wide = _digits(MOST_DIGITS)
    held = readings.whole(low, wide) if value.is_literal else value.held.cast(wide) * readings.whole(factor, wide)
    return replace(value, held=held, low=low, high=high, scale=scale)


def _together(left: Whole, right: Whole, low: int, high: int, at: int) -> tuple[Whole, Whole]:
    """Both in one type that holds them and everything from low to high: 64 bits, or else decimal(38, 0)."""
    import ibis

    _refuse_long(low, high, at)
    is_long = _is_long(left) and _is_long(right) and LONG[0] <= low and high <= LONG[1]
    dtype = ibis.dtype("int64") if is_long else _digits(MOST_DIGITS)
    return _held_in(left, dtype), _held_in(right, dtype)


def _is_long(value: Whole) -> bool:
    fits = LONG[0] <= value.low and value.high <= LONG[1]
    return fits and (value.dtype.is_integer() or value.is_literal)


def _held_in(value: Whole, dtype: Any) -> Whole:
    held = readings.whole(value.low, dtype) if value.is_literal else value.held.cast(dtype)
    return replace(value, held=held)


def _refuse_long(low: int, high: int, at: int) -> None:
    if low < -LARGEST or high > LARGEST:
        raise _too_long(at)


def _too_long(at: int) -> InputError:
    problem = f"this needs more than {MOST_DIGITS} digits for the widest values that the columns' types allow"
    return refusal(at, problem, "compare the columns with numbers one by one")


def _digits(precision: int, scale: int = 0) -> Any:
    import ibis

    return ibis.dtype(f"decimal({precision}, {scale})")
