"""The result of an expression as a column of its kind, whose values every engine holds alike."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import Any

from utmost.data.engines.schema import ColumnKind
from utmost.data.predicates.arithmetic import to_decimal, to_int64
from utmost.data.predicates.common_types import common_type
from utmost.data.predicates.syntax import syntax_error
from utmost.data.predicates.typed_values import IntegerValue, Value

MAX_COMPILED_NODES = 20_000  # of an expression as an engine sees it, in which what is used twice stands twice


def result_column(value: Value, kind: ColumnKind, position: int) -> Any:
    """An integer has 64 bits, and is NULL where it does not fit them; any other exact number is a decimal."""
    if isinstance(value, Fraction | IntegerValue):
        if kind is not ColumnKind.INTEGER:
            return to_decimal(value, position)
        has_integer_type = isinstance(value, IntegerValue) and value.dtype.is_integer()
        return value.expression if has_integer_type else to_int64(value, position).expression  # type: ignore[union-attr]
    if isinstance(value, str | bool | date | datetime):
        return common_type([value], position)[0][0]
    return value.expression


class _Size(int):
    """How many nodes an expression has; integers among a node's arguments are none of these."""


def check_size(column: Any, position: int) -> None:
    """Refuse an expression that is too large once everything that it repeats is written out."""
    size = column.op().map(lambda _, __, **arguments: _Size(1 + _sum_sizes(arguments.values())))[column.op()]
    if size > MAX_COMPILED_NODES:
        advice = "make a derived column of a part of it"
        raise syntax_error(position, "this expression is too large once it is written out for an engine", advice)


def _sum_sizes(arguments: Any) -> int:
    """The sizes of a node's arguments."""
    return sum(
        _sum_sizes(argument) if isinstance(argument, tuple | list) else argument if isinstance(argument, _Size) else 0
        for argument in arguments
    )
