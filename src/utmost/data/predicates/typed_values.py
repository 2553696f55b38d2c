"""The typed values of a predicate, and comparisons with constants decided before any engine runs.

Fold comparisons of a column with a constant, as far as they can be decided before any engine runs.

Let x range over the values of a column and c be the number. What is left for the engine is a comparison of x with a
value of x's own type, so that no conversion can round or fail: `age > 0.5` becomes age > 0, and `tiny < 1000` becomes
true of every row that has a value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from math import floor
from typing import Any

from utmost.data.engines import expressions

MAX_DECIMAL_DIGITS = 38  # that every engine's decimals hold


@dataclass(frozen=True, slots=True)
class IntegerValue:
    """k·10^−scale with low ≤ k ≤ high; `expression` is k, or a literal of it, in an integer type or decimal(38, 0)."""

    expression: Any
    low: int
    high: int
    scale: int = 0
    is_literal: bool = False

    @property
    def dtype(self) -> Any:
        """The engine's type of k."""
        return self.expression.type()

    def literal(self, value: int) -> Any:
        """A k, as the engine holds it."""
        return expressions.integer_literal(value, self.dtype)


@dataclass(frozen=True, slots=True)
class DecimalValue:
    """k·10^−scale with low ≤ k ≤ high; `expression` is the number itself, in a decimal type of that scale."""

    expression: Any
    low: int
    high: int
    scale: int

    def literal(self, value: int) -> Any:
        """The number of a k, as the engine holds it."""
        return expressions.decimal_literal(value, self.scale, self.expression.type())


@dataclass(frozen=True, slots=True)
class NumericValue:
    """A decimal without bounds: PostgreSQL's numeric."""

    expression: Any


@dataclass(frozen=True, slots=True)
class FloatExtent:
    """Of a double v that arithmetic may use: |v| ≤ size, and v is a multiple of 2^grain."""

    size: Fraction
    grain: int


@dataclass(frozen=True, slots=True)
class FloatValue:
    """A float, never NaN; `single` if its values are those of 32 bits, though it is held in 64.

    A result of arithmetic has an extent; what comes straight from a column can be anything.
    """

    expression: Any
    single: bool = False
    extent: FloatExtent | None = None


@dataclass(frozen=True, slots=True)
class TimeValue:
    """A date with a time of day."""

    expression: Any


@dataclass(frozen=True, slots=True)
class PlainValue:
    """A text, a truth or a date."""

    expression: Any


CONSTANT = (Fraction, str, bool, date)  # a datetime is a date
Column = IntegerValue | DecimalValue | NumericValue | FloatValue | TimeValue | PlainValue
Value = Column | Fraction | str | bool | date | datetime


def column_value(expression: Any) -> Column:
    """The value of a column that was read."""
    dtype = expression.type()
    if dtype.is_integer():
        return IntegerValue(expression, dtype.bounds.lower, dtype.bounds.upper)
    if dtype.is_floating():
        return FloatValue(expression.cast("float64"), single=dtype.is_float32())
    if dtype.is_decimal():
        return _decimal_value(expression, dtype.precision, dtype.scale)
    return TimeValue(expression) if dtype.is_timestamp() else PlainValue(expression)


def _decimal_value(expression: Any, precision: int | None, scale: int | None) -> Column:
    if precision is None or scale is None or not 0 <= scale <= precision <= MAX_DECIMAL_DIGITS:
        return NumericValue(expression)
    largest = 10**precision - 1
    return DecimalValue(expression, -largest, largest, scale)


SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MIRRORED_SIGNS = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

Folded = bool | tuple[str, int]  # the answer for every x that is not NULL, or the sign and value to compare it with


@dataclass(frozen=True, slots=True)
class Format:
    """Binary floats m·2^e with |m| < 2^digits and e ≥ min_exponent, up to `largest`."""

    digits: int
    min_exponent: int
    largest: Fraction


DOUBLE = Format(53, -1074, Fraction(2) ** 1024 - Fraction(2) ** 971)
SINGLE = Format(24, -149, Fraction(2) ** 128 - Fraction(2) ** 104)


def compare_on_integers(sign: str, number: Fraction, low: int | None = None, high: int | None = None) -> Folded:
    """x `sign` number, for whole x from low to high (None: without end).

    With c not whole, x < c and x ≤ c are x ≤ ⌊c⌋, and x > c and x ≥ c are x > ⌊c⌋.

    >>> compare_on_integers(">", Fraction(1, 2), -128, 127), compare_on_integers("<", Fraction(1000), -128, 127)
    (('>', 0), True)
    """
    number_floor = floor(number)
    if number_floor != number:
        if sign in ("=", "!="):
            return sign == "!="
        sign = "<=" if sign in ("<", "<=") else ">"
    below_low, above_high = low is not None and number_floor < low, high is not None and number_floor > high
    for bound, is_outside in ((low, below_low), (high, above_high)):
        if is_outside:  # every x is on the same side of the number as the bound
            return bool(SIGNS[sign](bound, number_floor))
    return sign, number_floor


def nearest_float(number: Fraction, float_format: Format) -> Fraction | None:
    """The float nearest to a number, ties to the even one; None half a step beyond the largest, as IEEE 754 has it.

    >>> float(nearest_float(Fraction(1, 10), DOUBLE)), float(nearest_float(Fraction(1, 10), SINGLE))
    (0.1, 0.10000000149011612)
    """
    size = abs(number)
    logarithm = size.numerator.bit_length() - size.denominator.bit_length()  # 2^(it - 1) < size < 2^(it + 1)
    logarithm -= size < Fraction(2) ** logarithm
    step = Fraction(2) ** max(logarithm - float_format.digits + 1, float_format.min_exponent)
    value = round(number / step) * step
    return None if abs(value) > float_format.largest else value


def compare_on_floats(sign: str, number: Fraction, float_format: Format) -> bool | tuple[str, float]:
    """x `sign` number, for floats x that are not NaN; the number is read as the float nearest to it.

    A number beyond the largest float stays where it is: above every float, below infinity.

    >>> compare_on_floats("=", Fraction(1, 10), DOUBLE), compare_on_floats(">", Fraction(10) ** 400, DOUBLE)
    (('=', 0.1), ('>', 1.7976931348623157e+308))
    """
    value = nearest_float(number, float_format)
    if value is not None:
        return sign, float(value)
    if sign in ("=", "!="):
        return sign == "!="
    bound = float(float_format.largest)
    if number > 0:
        return ("<=" if sign in ("<", "<=") else ">"), bound
    return (">=" if sign in (">", ">=") else "<"), -bound
