"""Arithmetic in floats that cannot fail on any row and rounds alike in every engine.

Overflow, and underflow to 0, are errors in PostgreSQL. So arithmetic reads a column's float as unknown where it is
larger than 1e60 or infinite, and as 0 where it is smaller than 1e-60. From there on every value v has |v| ≤ size and
is a multiple of 2^grain, bounds that follow the operations: sizes are added or multiplied; a sum is a multiple of the
finer grain, a product of both grains' product, and rounding to a double, which only drops low bits, keeps that. A
result other than 0 is at least 2^grain, so with grain ≥ −1074 it does not underflow; with size ≤ 2^1000 it does not
overflow. Where the bounds say otherwise the predicate is refused. The same IEEE 754 operations in the same order, from
the left, then give the same result everywhere.
"""

from __future__ import annotations

from fractions import Fraction
from math import frexp
from typing import Any

from utmost.data.engines import expressions
from utmost.data.predicates.constant_folding import DOUBLE, nearest_float
from utmost.data.predicates.exact_arithmetic import INT64_RANGE, exact_result, to_integer
from utmost.data.predicates.tokens import syntax_error
from utmost.data.predicates.typed_values import FloatExtent, FloatValue, IntegerValue, Value

MAX_COLUMN_FLOAT, MIN_COLUMN_FLOAT = 1e60, 1e-60
COLUMN_EXTENT = FloatExtent(Fraction(MAX_COLUMN_FLOAT), frexp(MIN_COLUMN_FLOAT)[1] - DOUBLE.digits)
MAX_EXTENT = FloatExtent(Fraction(2) ** 1000, DOUBLE.min_exponent)
MAX_EXACT_POWER_OF_TEN = 22  # powers of ten that are doubles


def float_result(sign: str, first: Value, second: Value, position: int) -> FloatValue:
    """first sign second in doubles, with a sign of + - *."""
    (left, extent), (right, right_extent) = _bound_double(first, position), _bound_double(second, position)
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


def _bound_double(value: Value, position: int) -> tuple[Any, FloatExtent]:
    """A value as arithmetic in doubles reads it, and its extent."""
    import ibis

    if isinstance(value, Fraction):
        return _constant_double(value, position)
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


def _constant_double(number: Fraction, position: int) -> tuple[Any, FloatExtent]:
    """The double nearest to a number, and its extent."""
    value = nearest_float(number, DOUBLE)
    if value is None:
        raise syntax_error(position, "a number is too large for arithmetic with a float")
    grain = (value.numerator & -value.numerator).bit_length() - value.denominator.bit_length()
    return expressions.double_literal(float(value)), FloatExtent(abs(value), grain if value else 0)
