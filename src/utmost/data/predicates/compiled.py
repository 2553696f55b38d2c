"""A predicate as an ibis expression: the same rows on DuckDB, PostgreSQL and Spark, and no row on which it fails."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.data.kinds import Kind, kind_of
from utmost.data.predicates import readings
from utmost.data.predicates.comparisons import compared, within
from utmost.data.predicates.doubles import rounded
from utmost.data.predicates.grammar import Predicate
from utmost.data.predicates.tree import (
    Arithmetic,
    Column,
    Comparison,
    Every,
    Literal,
    Missing,
    Negative,
    Node,
    Not,
    Some,
    Within,
)
from utmost.data.predicates.types import check
from utmost.data.predicates.values import CONSTANT, Double, Plain, Value, column
from utmost.data.predicates.wholes import combined, of
from utmost.data.predicates.words import shown
from utmost.errors import InputError

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, Table

OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def compiled(predicate: Predicate, table: Table, kinds: Mapping[str, Kind]) -> BooleanValue:
    """The predicate over a table's rows: true or false, never NULL; unknown counts as false.

    Looks at no row. Refuses what `check` refuses, and arithmetic and comparisons that the columns' types do not allow
    to be exact and total. Every literal in it is an ibis literal: no text of the predicate is part of a statement.
    """
    import ibis

    check(predicate, kinds)
    for name in predicate.columns:
        if kind_of(table[name].type()) is not kinds[name]:
            raise InputError(f"kinds must be those of the table's columns, got {kinds[name]} for {shown(name)}")
    result: BooleanValue = ibis.coalesce(_truth(predicate.tree, table), ibis.literal(False))
    return result


def _truth(node: Node, table: Table) -> Any:
    """True, false or NULL: a node of kind truth, by SQL's three-valued logic."""
    import ibis

    match node:
        case Literal(value):
            return ibis.literal(value)
        case Column(name):
            return readings.reading(table, name)
        case Comparison(sign, left, right):
            return compared(sign, _value(left, table), _value(right, table), node.at)
        case Within(left, items):
            return _joined(operator.or_, within(_value(left, table), [_value(i, table) for i in items], node.at))
        case Missing(inside):
            return _missing(inside, table)
        case Not(Comparison(sign, left, right)):  # one is true where the other is false, unknown where it is unknown
            return compared(OPPOSITE[sign], _value(left, table), _value(right, table), node.at)
        case Not(inside):
            return ~_truth(inside, table)
        case Every(parts):
            return _joined(operator.and_, [_truth(part, table) for part in parts])
        case Some(parts):
            return _joined(operator.or_, [_truth(part, table) for part in parts])
    raise AssertionError(f"{type(node).__name__} is no truth, which check refuses")


def _value(node: Node, table: Table) -> Value:
    match node:
        case Literal(value):
            return value
        case Column(name):
            return column(readings.reading(table, name))
        case Negative(inside):
            return _arithmetic("*", Fraction(-1), _value(inside, table), node.at)
        case Arithmetic(sign, left, right):
            return _arithmetic(sign, _value(left, table), _value(right, table), node.at)
    return Plain(_bracketed(_truth(node, table)))


def _bracketed(truth: Any) -> Any:
    """The same truth, safe beside = and before IS NULL: ibis writes (NOT x) IS NULL and (x IN y) = z without ()."""
    import ibis

    return ibis.coalesce(truth, ibis.null("boolean"))


def _arithmetic(sign: str, left: Value, right: Value, at: int) -> Value:
    """left sign right: exact where both are, else in doubles."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return Fraction(of(sign, left, right))
    if isinstance(left, Double) or isinstance(right, Double):
        return rounded(sign, left, right, at)
    return combined(sign, left, right, at)


def _missing(inside: Node, table: Table) -> Any:
    import ibis

    value = _value(inside, table)
    return ibis.literal(False) if isinstance(value, CONSTANT) else value.held.isnull()


def _joined(join: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """The parts joined two by two, so that ten thousand nest fourteen deep."""
    while len(parts) > 1:
        pairs = [join(one, other) for one, other in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + list(parts[len(pairs) * 2 :])
    return parts[0]
