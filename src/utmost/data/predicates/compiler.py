"""Compile a predicate to an ibis expression: the same rows on every engine, failing on none."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.data.engines.engine import Engine
from utmost.data.engines.schema import ColumnKind, column_kind
from utmost.data.predicates.arithmetic import combine, exact_result, float_result
from utmost.data.predicates.common_types import common_type, plain_expression
from utmost.data.predicates.comparisons import compare, is_in
from utmost.data.predicates.functions import FUNCTIONS
from utmost.data.predicates.parser import Predicate
from utmost.data.predicates.result_columns import check_size, is_made_by_plan, result_column
from utmost.data.predicates.syntax import (
    And,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    In,
    IsNull,
    Literal,
    Minus,
    Node,
    Not,
    Or,
    quote_text,
    syntax_error,
    walk,
)
from utmost.data.predicates.type_check import check_types, kind_of_node
from utmost.data.predicates.typed_values import CONSTANT, FloatValue, PlainValue, Value, column_value
from utmost.errors import InputError

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, Table
    from ibis.expr.types import Value as ValueExpression

NEGATED_SIGNS = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """The columns of a table of an engine, each as `Engine.readable_column` returns it."""

    table: Table
    engine: Engine

    def __call__(self, name: str) -> Any:
        """A column by its name."""
        return self.engine.readable_column(self.table, name)


def compile_predicate(
    predicate: Predicate, table: Table, kinds: Mapping[str, ColumnKind], engine: Engine
) -> BooleanValue:
    """The predicate over the rows of a table of the engine: true or false, never NULL; unknown counts as false.

    Looks at no row. Refuses what `check_types` refuses, and arithmetic and comparisons that the columns' types do not
    allow to be exact and total. Every literal in it is an ibis literal: no text of the predicate is part of a
    statement.
    """
    import ibis

    check_types(predicate, kinds)
    _check_kinds(predicate, table, kinds)
    truth = _compile_truth(predicate.tree, ColumnReader(table, engine))
    result: BooleanValue = ibis.coalesce(truth, ibis.literal(False))
    if _has_functions(predicate) or any(is_made_by_plan(table, name) for name in predicate.columns):
        check_size(result, predicate.tree.position)
    return result


def compile_expression(
    expression: Predicate, table: Table, kinds: Mapping[str, ColumnKind], engine: Engine
) -> ValueExpression:
    """The expression over the rows of a table, as a column of its kind; NULL where it has no value. Looks at no row.

    Refuses what `compile_predicate` refuses, but that its kind may be any.
    """
    kind = kind_of_node(expression.tree, kinds)
    _check_kinds(expression, table, kinds)
    position = expression.tree.position
    if kind is ColumnKind.OTHER:
        raise syntax_error(position, "the column is of a type that nothing can be computed from", "choose another")
    value = _compile_value(expression.tree, ColumnReader(table, engine))
    column: ValueExpression = result_column(value, kind, position)
    check_size(column, position)
    return column


def _has_functions(predicate: Predicate) -> bool:
    return any(isinstance(node, Call | Case) for node in walk(predicate.tree))


def _check_kinds(predicate: Predicate, table: Table, kinds: Mapping[str, ColumnKind]) -> None:
    for name in predicate.columns:
        if column_kind(table[name].type()) is not kinds[name]:
            raise InputError(
                f"kinds must be those of the table's columns, got {kinds[name]} for {quote_text(name)}", "kinds"
            )


def _compile_truth(node: Node, read: ColumnReader) -> Any:
    """True, false or NULL: a node of kind truth, by SQL's three-valued logic."""
    import ibis

    match node:
        case Literal(value):
            return ibis.literal(value)
        case Column(name):
            return read(name)
        case Comparison(sign, left, right):
            return compare(sign, _compile_value(left, read), _compile_value(right, read), node.position)
        case In(left, items):
            left_value, item_values = (
                _compile_value(left, read),
                [_compile_value(item, read) for item in items],
            )
            return _join_pairwise(operator.or_, is_in(left_value, item_values, node.position))
        case IsNull(operand):
            return _is_missing(operand, read)
        case Not(Comparison(sign, left, right)):  # one is true where the other is false, unknown where it is unknown
            return compare(
                NEGATED_SIGNS[sign],
                _compile_value(left, read),
                _compile_value(right, read),
                node.position,
            )
        case Not(operand):
            return ~_compile_truth(operand, read)
        case Call() | Case():
            return plain_expression(_compile_value(node, read))
        case And(operands):
            return _join_pairwise(operator.and_, [_compile_truth(operand, read) for operand in operands])
        case Or(operands):
            return _join_pairwise(operator.or_, [_compile_truth(operand, read) for operand in operands])
    raise AssertionError(f"{type(node).__name__} is no truth, which check refuses")


def _compile_value(node: Node, read: ColumnReader) -> Value:
    match node:
        case Literal(value):
            return value
        case Column(name):
            return column_value(read(name))
        case Minus(operand):
            return _arithmetic("*", Fraction(-1), _compile_value(operand, read), node.position)
        case Arithmetic(sign, left, right):
            return _arithmetic(sign, _compile_value(left, read), _compile_value(right, read), node.position)
        case Call(name, arguments):
            values = [_compile_value(argument, read) for argument in arguments]
            return FUNCTIONS[name].value(values, read.engine, node.position)
        case Case():
            return _compile_case(node, read)
    return PlainValue(_bracket(_compile_truth(node, read)))


def _compile_case(node: Case, read: ColumnReader) -> Value:
    """The value of the first condition that is true; unknown is not true."""
    import ibis

    results, wrap = common_type([_compile_value(result, read) for result in node.results], node.position)
    conditions = [_compile_truth(condition, read) for condition in node.conditions]
    default = ibis.null(results[0].type()) if node.default is None else results.pop()
    return wrap(ibis.cases(*zip(conditions, results, strict=True), else_=default))


def _bracket(truth: Any) -> Any:
    """The same truth, safe beside = and before IS NULL: ibis writes (NOT x) IS NULL and (x IN y) = z without ()."""
    import ibis

    return ibis.coalesce(truth, ibis.null("boolean"))


def _arithmetic(sign: str, left: Value, right: Value, position: int) -> Value:
    """left sign right: exact where both are, else in doubles."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return Fraction(exact_result(sign, left, right))
    if isinstance(left, FloatValue) or isinstance(right, FloatValue):
        return float_result(sign, left, right, position)
    return combine(sign, left, right, position)


def _is_missing(operand: Node, read: ColumnReader) -> Any:
    import ibis

    value = _compile_value(operand, read)
    return ibis.literal(False) if isinstance(value, CONSTANT) else value.expression.isnull()


def _join_pairwise(join: Callable[[Any, Any], Any], truths: Sequence[Any]) -> Any:
    """The truths joined two by two, so that ten thousand nest fourteen deep."""
    while len(truths) > 1:
        pairs = [join(left, right) for left, right in zip(truths[::2], truths[1::2], strict=False)]
        truths = pairs + list(truths[len(pairs) * 2 :])
    return truths[0]
