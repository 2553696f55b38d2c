"""The result of an expression as a column of its kind, whose values every engine holds alike."""

from __future__ import annotations

from collections.abc import Mapping
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
    """Refuse an expression that is too large once everything that it repeats is written out.

    A column that the plan makes counts as its expression, however many others lie between it and the table: engines put
    it in its place, so that twenty columns, each of which uses the one before it twice, would be a million.
    """
    size = column.op().map(_node_size)[column.op()]
    if size > MAX_COMPILED_NODES:
        advice = "store a part of it in the table"
        raise syntax_error(position, "this expression is too large once it is written out for an engine", advice)


def is_made_by_plan(table: Any, name: str) -> bool:
    """Whether a column of a table is an expression over others."""
    return _made_expression(table[name].op()) is not None


def _node_size(node: Any, sizes: Mapping[Any, _Size], **arguments: Any) -> _Size:
    """The size of a node, given those of the nodes below it. A relation is no part of an expression."""
    from ibis.expr.operations import Field, Relation

    if isinstance(node, Relation):
        return _Size(0)
    if isinstance(node, Field):
        return sizes.get(_made_expression(node), _Size(1))
    return _Size(1 + _sum_sizes(arguments.values()))


def _made_expression(field: Any) -> Any:
    """The expression that a field stands for; None of a column that the source has by the same name, in any form."""
    from ibis.expr.operations import Field, Project

    while field.name in field.rel.values:
        value, relation = field.rel.values[field.name], field.rel
        if not isinstance(value, Field):
            is_new = isinstance(relation, Project) and field.name not in relation.parent.schema
            return value if is_new else None
        field = value
    return None


def _sum_sizes(arguments: Any) -> int:
    """The sizes of a node's arguments."""
    return sum(
        _sum_sizes(argument) if isinstance(argument, tuple | list) else argument if isinstance(argument, _Size) else 0
        for argument in arguments
    )
