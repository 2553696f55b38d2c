"""Comparisons of two values: unknown where one of them is, decided by the engine on values of one type."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from utmost.data.predicates import column_casts
from utmost.data.predicates.constant_folding import (
    DOUBLE,
    MIRRORED_SIGNS,
    SIGNS,
    SINGLE,
    compare_on_floats,
    compare_on_integers,
)
from utmost.data.predicates.exact_arithmetic import align, decimal_shift, to_numeric
from utmost.data.predicates.float_arithmetic import to_double
from utmost.data.predicates.tokens import syntax_error
from utmost.data.predicates.typed_values import (
    CONSTANT,
    Column,
    DecimalValue,
    FloatValue,
    IntegerValue,
    NumericValue,
    PlainValue,
    TimeValue,
    Value,
)

MICROSECONDS = 6  # digits of a second
NANOSECONDS = 9
START = datetime(1970, 1, 1)


def compare(sign: str, left: Value, right: Value, at: int) -> Any:
    """left sign right."""
    import ibis

    if not isinstance(left, CONSTANT):
        return _against(sign, left, right) if isinstance(right, CONSTANT) else _columns(sign, left, right, at)
    if isinstance(right, CONSTANT):
        return ibis.literal(bool(SIGNS[sign](left, right)))
    return _against(MIRRORED_SIGNS[sign], right, left)


def is_in(left: Value, items: list[Value], at: int) -> list[Any]:
    """Parts of which one is true where left equals one of the items: join them by or.

    Constants, and all items that are no numbers, are one part, so that left is not repeated for each.
    """
    if isinstance(left, PlainValue):
        return [left.held.isin([_literal(item) if isinstance(item, CONSTANT) else item.held for item in items])]
    if not isinstance(left, IntegerValue | DecimalValue | FloatValue):
        return [compare("=", left, item, at) for item in items]
    numbers = [item for item in items if isinstance(item, Fraction)]
    listed = _listed(left, numbers) if numbers else []
    return listed + [compare("=", left, item, at) for item in items if not isinstance(item, Fraction)]


def _listed(left: IntegerValue | DecimalValue | FloatValue, numbers: list[Fraction]) -> list[Any]:
    """left in (numbers), without those that its type cannot hold.

    0 stands apart among floats: an engine that looks a float up may take −0 for another number.
    """
    literal: Callable[[Any], Any] = column_casts.double_literal if isinstance(left, FloatValue) else left.literal
    kept = {found[1] for number in numbers if not isinstance(found := _folded("=", left, number), bool)}
    apart = {0} & kept if isinstance(left, FloatValue) else set()
    others = [literal(value) for value in sorted(kept - apart)]
    listed = left.held.isin(others) if others else _settled(left.held, False)
    return [listed, *(left.held == literal(0.0) for _ in apart)]


def _folded(sign: str, value: IntegerValue | DecimalValue | FloatValue, number: Fraction) -> bool | tuple[str, Any]:
    if isinstance(value, FloatValue):
        return compare_on_floats(sign, number, SINGLE if value.single else DOUBLE)
    return compare_on_integers(sign, number * 10**value.scale, value.low, value.high)


def _against(sign: str, value: Column, constant: Any) -> Any:
    """A column's value against a constant of its kind."""
    match value:
        case IntegerValue(held) | DecimalValue(held):
            return _decided(held, _folded(sign, value, constant), value.literal)
        case NumericValue(held):
            return SIGNS[sign](held, column_casts.decimal_literal(*decimal_shift(constant), held.type()))
        case FloatValue(held):
            return _decided(held, _folded(sign, value, constant), column_casts.double_literal)
        case TimeValue(held):
            return _at_time(sign, held, constant)
        case PlainValue(held):
            return SIGNS[sign](held, _literal(constant))


def _decided(held: Any, folded: bool | tuple[str, Any], literal: Callable[[Any], Any]) -> Any:
    """What folding left over: an answer, or a sign and a value to compare with."""
    return _settled(held, folded) if isinstance(folded, bool) else SIGNS[folded[0]](held, literal(folded[1]))


def _columns(sign: str, left: Column, right: Column, at: int) -> Any:
    """Two values that both come from columns."""
    compare = SIGNS[sign]
    if isinstance(left, FloatValue) or isinstance(right, FloatValue):
        return compare(to_double(left, at), to_double(right, at))
    if isinstance(left, TimeValue) and isinstance(right, TimeValue) and not _same_type(left, right):
        problem = "the two times are not of one type: one has a time zone, or counts finer"
        raise syntax_error(at, problem, "compare each with a time, or convert one where the table is made")
    if isinstance(left, PlainValue | TimeValue) or _same_type(left, right):
        return compare(left.held, right.held)
    if isinstance(left, NumericValue) or isinstance(right, NumericValue):
        return compare(to_numeric(left, at), to_numeric(right, at))
    one, other = align(left, right, at)
    return compare(one.held, other.held)


def _same_type(left: Column, right: Column) -> bool:
    """Is a native comparison one of two equal types. Nullability is no matter."""
    if isinstance(left, IntegerValue) and isinstance(right, IntegerValue) and left.scale != right.scale:
        return False
    one, other = left.held.type(), right.held.type()
    return type(left) is type(right) and bool(one.copy(nullable=True) == other.copy(nullable=True))


def _at_time(sign: str, held: Any, constant: datetime) -> Any:
    """A time against a constant, in the column's own unit: DuckDB's conversions between units can fail on a row."""
    dtype = held.type()
    scale = MICROSECONDS if dtype.scale is None else dtype.scale
    microseconds = (constant - START) // timedelta(microseconds=1)
    if scale == NANOSECONDS and abs(microseconds) > (2**63 - 1) // 1000:
        return _beyond(sign, held, microseconds > 0)
    unit = 10 ** (MICROSECONDS - min(scale, MICROSECONDS))
    folded = compare_on_integers(sign, Fraction(microseconds, unit))
    return _decided(
        held, folded, lambda k: column_casts.time_literal(str(START + timedelta(microseconds=k * unit)), dtype)
    )


def _beyond(sign: str, held: Any, is_late: bool) -> Any:
    """A time of nanoseconds against a constant that they do not reach; infinity they do."""
    if sign in ("=", "!="):
        return _settled(held, sign == "!=")
    if is_late:
        return SIGNS["<" if sign in ("<", "<=") else ">="](held, column_casts.time_literal("infinity", held.type()))
    return SIGNS[">" if sign in (">", ">=") else "<="](held, column_casts.time_literal("-infinity", held.type()))


def _settled(held: Any, answer: bool) -> Any:
    """The answer for every row that has a value, unknown for the others."""
    import ibis

    return held.isnull().ifelse(ibis.null("boolean"), ibis.literal(answer))


def _literal(constant: Any) -> Any:
    """A text, a truth or a date."""
    import ibis

    return column_casts.text_literal(constant) if isinstance(constant, str) else ibis.literal(constant)
