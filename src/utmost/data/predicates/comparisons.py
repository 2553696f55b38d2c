"""Comparisons of two values: unknown where one of them is, decided by the engine on values of one type."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from utmost.data.engines import expressions
from utmost.data.predicates.arithmetic import align, decimal_shift, to_double, to_numeric
from utmost.data.predicates.syntax import syntax_error
from utmost.data.predicates.typed_values import (
    CONSTANT,
    DOUBLE,
    MIRRORED_SIGNS,
    SIGNS,
    SINGLE,
    Column,
    DecimalValue,
    FloatValue,
    IntegerValue,
    NumericValue,
    PlainValue,
    TimeValue,
    Value,
    compare_on_floats,
    compare_on_integers,
)

MICROSECOND_DIGITS = 6  # digits behind the point of a second
NANOSECOND_DIGITS = 9
EPOCH = datetime(1970, 1, 1)


def compare(sign: str, left: Value, right: Value, position: int) -> Any:
    """left sign right."""
    import ibis

    if not isinstance(left, CONSTANT):
        return (
            _compare_with_constant(sign, left, right)
            if isinstance(right, CONSTANT)
            else _compare_columns(sign, left, right, position)
        )
    if isinstance(right, CONSTANT):
        return ibis.literal(bool(SIGNS[sign](left, right)))
    return _compare_with_constant(MIRRORED_SIGNS[sign], right, left)


def is_in(left: Value, items: list[Value], position: int) -> list[Any]:
    """Tests of which one is true where left equals one of the items: join them by or.

    Constants, and all items that are no numbers, are one test, so that left is not repeated for each.
    """
    if isinstance(left, PlainValue):
        return [
            left.expression.isin(
                [_plain_literal(item) if isinstance(item, CONSTANT) else item.expression for item in items]
            )
        ]
    if not isinstance(left, IntegerValue | DecimalValue | FloatValue):
        return [compare("=", left, item, position) for item in items]
    numbers = [item for item in items if isinstance(item, Fraction)]
    tests = _is_in_numbers(left, numbers) if numbers else []
    return tests + [compare("=", left, item, position) for item in items if not isinstance(item, Fraction)]


def _is_in_numbers(left: IntegerValue | DecimalValue | FloatValue, numbers: list[Fraction]) -> list[Any]:
    """left in (numbers), without those that its type cannot hold.

    0 stands apart among floats: an engine that looks a float up may take −0 for another number.
    """
    literal: Callable[[Any], Any] = expressions.double_literal if isinstance(left, FloatValue) else left.literal
    values = {fold[1] for number in numbers if not isinstance(fold := _fold("=", left, number), bool)}
    zeros = {0} & values if isinstance(left, FloatValue) else set()
    literals = [literal(value) for value in sorted(values - zeros)]
    membership = left.expression.isin(literals) if literals else _constant_truth(left.expression, False)
    return [membership, *(left.expression == literal(0.0) for _ in zeros)]


def _fold(sign: str, value: IntegerValue | DecimalValue | FloatValue, number: Fraction) -> bool | tuple[str, Any]:
    if isinstance(value, FloatValue):
        return compare_on_floats(sign, number, SINGLE if value.single else DOUBLE)
    return compare_on_integers(sign, number * 10**value.scale, value.low, value.high)


def _compare_with_constant(sign: str, value: Column, constant: Any) -> Any:
    """A column's value against a constant of its kind."""
    match value:
        case IntegerValue(expression) | DecimalValue(expression):
            return _apply_fold(expression, _fold(sign, value, constant), value.literal)
        case NumericValue(expression):
            return SIGNS[sign](expression, expressions.decimal_literal(*decimal_shift(constant), expression.type()))
        case FloatValue(expression):
            return _apply_fold(expression, _fold(sign, value, constant), expressions.double_literal)
        case TimeValue(expression):
            return _compare_time(sign, expression, constant)
        case PlainValue(expression):
            return SIGNS[sign](expression, _plain_literal(constant))


def _apply_fold(expression: Any, fold: bool | tuple[str, Any], literal: Callable[[Any], Any]) -> Any:
    """What folding left over: an answer, or a sign and a value to compare with."""
    return _constant_truth(expression, fold) if isinstance(fold, bool) else SIGNS[fold[0]](expression, literal(fold[1]))


def _compare_columns(sign: str, left: Column, right: Column, position: int) -> Any:
    """Two values that both come from columns."""
    operation = SIGNS[sign]
    if isinstance(left, FloatValue) or isinstance(right, FloatValue):
        return operation(to_double(left, position), to_double(right, position))
    if isinstance(left, TimeValue) and isinstance(right, TimeValue) and not _is_same_type(left, right):
        problem = "the two times are not of one type: one has a time zone, or counts finer"
        raise syntax_error(position, problem, "compare each with a time, or convert one where the table is made")
    if isinstance(left, PlainValue | TimeValue) or _is_same_type(left, right):
        return operation(left.expression, right.expression)
    if isinstance(left, NumericValue) or isinstance(right, NumericValue):
        return operation(to_numeric(left, position), to_numeric(right, position))
    aligned_left, aligned_right = align(left, right, position)
    return operation(aligned_left.expression, aligned_right.expression)


def _is_same_type(left: Column, right: Column) -> bool:
    """Is a native comparison one of two equal types. Nullability is no matter."""
    if isinstance(left, IntegerValue) and isinstance(right, IntegerValue) and left.scale != right.scale:
        return False
    left_type, right_type = left.expression.type(), right.expression.type()
    return type(left) is type(right) and bool(left_type.copy(nullable=True) == right_type.copy(nullable=True))


def _compare_time(sign: str, expression: Any, constant: datetime) -> Any:
    """A time against a constant, in the column's own unit: DuckDB's conversions between units can fail on a row."""
    dtype = expression.type()
    scale = MICROSECOND_DIGITS if dtype.scale is None else dtype.scale
    microseconds = (constant - EPOCH) // timedelta(microseconds=1)
    if scale == NANOSECOND_DIGITS and abs(microseconds) > (2**63 - 1) // 1000:
        return _compare_unreachable_time(sign, expression, microseconds > 0)
    unit = 10 ** (MICROSECOND_DIGITS - min(scale, MICROSECOND_DIGITS))
    fold = compare_on_integers(sign, Fraction(microseconds, unit))
    return _apply_fold(
        expression, fold, lambda k: expressions.time_literal(str(EPOCH + timedelta(microseconds=k * unit)), dtype)
    )


def _compare_unreachable_time(sign: str, expression: Any, is_late: bool) -> Any:
    """A time of nanoseconds against a constant that they do not reach; infinity they do."""
    if sign in ("=", "!="):
        return _constant_truth(expression, sign == "!=")
    if is_late:
        return SIGNS["<" if sign in ("<", "<=") else ">="](
            expression, expressions.time_literal("infinity", expression.type())
        )
    return SIGNS[">" if sign in (">", ">=") else "<="](
        expression, expressions.time_literal("-infinity", expression.type())
    )


def _constant_truth(expression: Any, answer: bool) -> Any:
    """The answer for every row that has a value, unknown for the others."""
    import ibis

    return expression.isnull().ifelse(ibis.null("boolean"), ibis.literal(answer))


def _plain_literal(constant: Any) -> Any:
    """A text, a truth or a date."""
    import ibis

    return expressions.text_literal(constant) if isinstance(constant, str) else ibis.literal(constant)
