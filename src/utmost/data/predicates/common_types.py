"""Values of one kind in one type: what a case, a coalesce or a least chooses from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

from utmost.data.engines import expressions
from utmost.data.predicates.arithmetic import align_all, to_float
from utmost.data.predicates.comparisons import MICROSECOND_DIGITS
from utmost.data.predicates.syntax import syntax_error
from utmost.data.predicates.typed_values import (
    CONSTANT,
    FloatValue,
    IntegerValue,
    PlainValue,
    TimeValue,
    Value,
)

Choice = tuple[list[Any], Callable[[Any], Value]]  # expressions of one type, and the value of one made of them


def common_type(values: Sequence[Value], position: int) -> Choice:
    """The values as expressions of one type, and a function that makes a value of what was chosen from them.

    Numbers are exact where all are, else doubles. Times must be of one type, since engines convert them by rules of
    their own.
    """
    if any(isinstance(value, FloatValue) for value in values):
        return [to_float(value, position) for value in values], FloatValue
    if any(isinstance(value, TimeValue | datetime) for value in values):
        return _common_times(values, position), TimeValue
    if any(isinstance(value, PlainValue | str | bool | date) for value in values):
        return [plain_expression(value) for value in values], PlainValue
    integers = align_all(values, position)
    low, high = min(integer.low for integer in integers), max(integer.high for integer in integers)
    scale = integers[0].scale
    return [integer.expression for integer in integers], lambda chosen: IntegerValue(chosen, low, high, scale)


def plain_expression(value: Value) -> Any:
    """A text, a truth or a date as an expression; a constant as a literal."""
    import ibis

    if isinstance(value, str):
        return expressions.text_literal(value)
    return ibis.literal(value) if isinstance(value, CONSTANT) else value.expression


def _common_times(values: Sequence[Value], position: int) -> list[Any]:
    import ibis

    types = {value.expression.type().copy(nullable=True) for value in values if isinstance(value, TimeValue)}
    dtype = types.pop() if types else ibis.dtype(f"timestamp({MICROSECOND_DIGITS})")
    has_constant = any(isinstance(value, datetime) for value in values)
    if types or (has_constant and dtype.scale not in (None, MICROSECOND_DIGITS)):
        problem = "the times are not of one type: one has a time zone, or counts in another unit"
        raise syntax_error(position, problem, "convert one where the table is made")
    return [
        expressions.time_literal(str(value), dtype) if isinstance(value, datetime) else plain_expression(value)
        for value in values
    ]
