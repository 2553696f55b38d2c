"""The typed values of a predicate: constants are Python values, columns and results are ibis expressions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
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
