"""What each function of predicates gives, as an expression that fails on no row and is the same on every engine.

**Whole division.** In 64 bits, the engine's own division rounds towards 0, and its remainder has the sign of the
dividend: so ⌊n/d⌋ is the quotient, less 1 where the remainder is below 0, and nothing leaves 64 bits. A number that
does not fit 64 bits at the scale of the division is NULL. Of floats, x/w is one IEEE 754 division, NULL where it is
beyond ±2^53, and its floor is exact.

**Dates** outside the years 1 to 9999, infinite ones included, have no parts: NULL. Engines fail on them, or disagree.

**Letters.** Engines disagree on the case of letters beyond ASCII (İ, ß, ǆ), so only A to Z and a to z change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from fractions import Fraction
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from utmost.data.engines import expressions
from utmost.data.engines.engine import Engine
from utmost.data.predicates.arithmetic import (
    INT64_RANGE,
    align_all,
    bound_double,
    combine,
    to_float,
    to_int64,
)
from utmost.data.predicates.common_types import common_type, plain_expression
from utmost.data.predicates.comparisons import compare
from utmost.data.predicates.syntax import syntax_error
from utmost.data.predicates.typed_values import (
    CONSTANT,
    FloatValue,
    IntegerValue,
    NumericValue,
    PlainValue,
    TimeValue,
    Value,
)

MAX_FLOAT_QUOTIENT = 2.0**53
MAX_FLOAT_WIDTH, MIN_FLOAT_WIDTH = Fraction(10) ** 60, Fraction(10) ** -60
FIRST_DATE, LAST_DATE = date(1, 1, 1), date(9999, 12, 31)
FIRST_TIME, LAST_TIME = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)
BLANKS = " \t\n\r"
MAX_PREFIX_CHARS = 10**6


def lower_edge(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """w·⌊x/w⌋."""
    value, width = arguments
    if isinstance(value, FloatValue):
        quotient = _float_quotient(value, width, position)
        return FloatValue(quotient.cast("float64") * to_float(width, position))
    number, divisor = _align_to_divisor(value, width, position)
    quotient = _floor_quotient(number.expression, divisor, engine)
    low, high = number.low // divisor, number.high // divisor
    whole = IntegerValue(quotient, low, high)
    edge = combine("*", whole, Fraction(divisor), position)
    return IntegerValue(edge.expression, edge.low, edge.high, number.scale)


def floor_quotient(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """⌊x/n⌋."""
    value, divisor = arguments
    if isinstance(value, FloatValue):
        bound = int(MAX_FLOAT_QUOTIENT)
        return IntegerValue(_float_quotient(value, divisor, position), -bound - 1, bound)
    number, whole_divisor = _align_to_divisor(value, divisor, position)
    quotient = _floor_quotient(number.expression, whole_divisor, engine)
    return IntegerValue(quotient, number.low // whole_divisor, number.high // whole_divisor)


def absolute(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """|x|: the greater of x and −x, which for an exact number may take one bit more."""
    value = arguments[0]
    if isinstance(value, FloatValue):
        return FloatValue(value.expression.abs(), value.single, value.extent)
    if isinstance(value, NumericValue):
        return NumericValue(value.expression.abs())
    result = greatest([value, combine("*", Fraction(-1), value, position)], engine, position)
    return IntegerValue(result.expression, 0, result.high, result.scale) if isinstance(result, IntegerValue) else result


def least(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """The least value; NULL where all are."""
    import ibis

    values, wrap = common_type(arguments, position)
    return wrap(ibis.least(*values))


def greatest(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """The greatest value; NULL where all are."""
    import ibis

    values, wrap = common_type(arguments, position)
    return wrap(ibis.greatest(*values))


def coalesce(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """The first value that is not NULL."""
    import ibis

    values, wrap = common_type(arguments, position)
    return wrap(ibis.coalesce(*values))


def year(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """The year, from 1 to 9999."""
    return _moment_part(arguments[0], lambda moment: moment.year(), 1, 9999, position)


def month(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """The month."""
    return _moment_part(arguments[0], lambda moment: moment.month(), 1, 12, position)


def day(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """The day of the month."""
    return _moment_part(arguments[0], lambda moment: moment.day(), 1, 31, position)


def weekday(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """The day of the week, 1 for Monday."""
    return _moment_part(arguments[0], lambda moment: moment.day_of_week.index().cast("int64") + 1, 1, 7, position)


def hour(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """The hour."""
    return _moment_part(arguments[0], lambda moment: moment.hour(), 0, 23, position)


def lower(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """a to z for A to Z."""
    return PlainValue(plain_expression(arguments[0]).translate(ascii_uppercase, ascii_lowercase))


def upper(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """A to Z for a to z."""
    return PlainValue(plain_expression(arguments[0]).translate(ascii_lowercase, ascii_uppercase))


def trim(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """Without blanks at both ends."""
    return PlainValue(engine.trim_blanks(plain_expression(arguments[0]), BLANKS))


def prefix(arguments: Sequence[Value], engine: Engine, position: int) -> Value:
    """The first n characters."""
    length = arguments[1]
    if not isinstance(length, Fraction) or length > MAX_PREFIX_CHARS:
        raise syntax_error(position, f"prefix takes at most {MAX_PREFIX_CHARS} characters")
    return PlainValue(plain_expression(arguments[0]).substr(0, int(length)))


def _align_to_divisor(value: Value, divisor: Value, position: int) -> tuple[IntegerValue, int]:
    """A value and a constant as whole numbers of one unit, the value in 64 bits, or NULL where it does not fit them."""
    number, constant = align_all([value, divisor], position)
    if constant.high > INT64_RANGE[1]:
        raise syntax_error(
            position, "the constant does not fit 64 bits in the unit of the column", "take a smaller one"
        )
    return to_int64(IntegerValue(number.expression, number.low, number.high, number.scale), position), constant.high


def _floor_quotient(number: Any, divisor: int, engine: Engine) -> Any:
    """⌊number/divisor⌋ of an int64: the quotient towards 0, less 1 where there is a remainder below 0."""
    import ibis

    if divisor == 1:
        return number
    zero, minus_one = ibis.literal(0, "int64"), ibis.literal(-1, "int64")
    has_negative_rest = number % ibis.literal(divisor, "int64") < zero
    return engine.truncated_quotient(number, divisor) + ibis.cases((has_negative_rest, minus_one), else_=zero)


def _float_quotient(value: FloatValue, divisor: Value, position: int) -> Any:
    """⌊x/w⌋ of a float as an int64."""
    import ibis

    if not isinstance(divisor, Fraction) or not MIN_FLOAT_WIDTH <= divisor <= MAX_FLOAT_WIDTH:
        raise syntax_error(position, "the constant must be from 1e-60 to 1e60 for a float")
    quotient = bound_double(value, position)[0] / to_float(divisor, position)
    bound = expressions.double_literal(MAX_FLOAT_QUOTIENT)
    bounded_quotient = ibis.cases((quotient.abs() <= bound, quotient), else_=ibis.null("float64"))
    return expressions.floor(bounded_quotient)


def _moment_part(value: Value, part: Callable[[Any], Any], low: int, high: int, position: int) -> Value:
    """A part of a date or a time of the years 1 to 9999, in UTC where it has a time zone."""
    import ibis

    if isinstance(value, CONSTANT):
        (expression,), wrap = common_type([value], position)
        value = wrap(expression)
    first, last = (FIRST_TIME, LAST_TIME) if isinstance(value, TimeValue) else (FIRST_DATE, LAST_DATE)
    is_inside = compare(">=", value, first, position) & compare("<=", value, last, position)
    moment = value.expression if isinstance(value, TimeValue | PlainValue) else None
    inside_moment = ibis.cases((is_inside, moment), else_=ibis.null(moment.type()))  # type: ignore[union-attr]
    return IntegerValue(part(inside_moment).cast("int64"), low, high)
