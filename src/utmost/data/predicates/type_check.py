"""Check that the columns of a predicate exist and that the kinds it compares fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from fractions import Fraction
from typing import assert_never

from utmost.data.engines.schema import ColumnKind, separator_advice
from utmost.data.predicates.functions import FUNCTIONS, Function
from utmost.data.predicates.parser import DATE, TIME, Predicate
from utmost.data.predicates.syntax import (
    And,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Constant,
    In,
    IsNull,
    Literal,
    Minus,
    Node,
    Not,
    Or,
    expression_error,
    quote_text,
    syntax_error,
)
from utmost.errors import InputError

MAX_LISTED_COLUMNS = 20
NUMERIC_KINDS = frozenset([ColumnKind.INTEGER, ColumnKind.NUMBER])
ORDERED_KINDS = NUMERIC_KINDS | {ColumnKind.DATE, ColumnKind.TIME}
SPARK_SUBSTITUTION = "${"  # Spark replaces ${...} anywhere in a statement, inside quotes too


def check_types(predicate: Predicate, kinds: Mapping[str, ColumnKind]) -> None:
    """Refuse unknown columns and kinds that do not fit; looks at no row.

    A type's width and scale, which only the table knows, are checked by `compiler`.

    >>> from utmost.data.predicates.parser import parse_predicate
    >>> check_types(parse_predicate("age >= 'old'"), {"age": ColumnKind.INTEGER})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    utmost.data.predicates.syntax.ExpressionError: where, at character 5: >= compares two of a kind, got an integer...
    """
    kind = kind_of_node(predicate.tree, kinds)
    if kind is not ColumnKind.TRUTH:
        problem = f" must be true or false of a row, got {_describe(predicate.tree, kind)}"
        example = _example_comparison(predicate.tree, kind)
        raise expression_error(problem, f"compare it with something, {example}")


def kind_of_node(node: Node, kinds: Mapping[str, ColumnKind]) -> ColumnKind:
    """The kind of what a node stands for; an InputError where its operands do not fit."""
    match node:
        case Column():
            return _column_kind(node, kinds)
        case Literal(value):
            return _constant_kind(value)
        case Minus(operand):
            return _arithmetic_kind(node, "-", (operand,), kinds)
        case Arithmetic(sign, left, right):
            return _arithmetic_kind(node, sign, (left, right), kinds)
        case Call(name, arguments):
            return _call_kind(
                node, FUNCTIONS[name], [(argument, kind_of_node(argument, kinds)) for argument in arguments]
            )
        case Case(conditions):
            _check_truths("when", conditions, kinds)
            sides = [(result, kind_of_node(result, kinds)) for result in node.results]
            return _common_kind(node.position, "case", sides)
        case Comparison(sign, left, right):
            _check_comparable(
                node.position, sign, (left, kind_of_node(left, kinds)), (right, kind_of_node(right, kinds))
            )
        case In(left, items):
            _check_membership(node.position, (left, kind_of_node(left, kinds)), items, kinds)
        case IsNull(operand):
            kind_of_node(operand, kinds)
        case Not(operand):
            _check_truths("not", (operand,), kinds)
        case And(operands):
            _check_truths("and", operands, kinds)
        case Or(operands):
            _check_truths("or", operands, kinds)
        case _:
            assert_never(node)
    return ColumnKind.TRUTH


def format_names(columns: Collection[str]) -> str:
    """The names of the columns, some of them where they are many."""
    names = ", ".join(_quote_name(name) for name in list(columns)[:MAX_LISTED_COLUMNS])
    more = len(columns) - MAX_LISTED_COLUMNS
    return names + (f" and {more} more" if more > 0 else "") if columns else "none"


def unknown_column(column: str, columns: Collection[str], role: str, field: str) -> InputError:
    """A column that the table does not have: did you mean, and which there are."""
    names_by_casefold = {name.casefold(): name for name in columns}
    close = get_close_matches(column.casefold()[:100], names_by_casefold, 1)
    guess = f"did you mean {_quote_name(names_by_casefold[close[0]])}? the columns are" if close else "the columns are"
    names = format_names(columns) + separator_advice(columns)
    return InputError(f"{role}: there is no column {_quote_name(column)}", field, f"{guess} {names}")


def _column_kind(node: Column, kinds: Mapping[str, ColumnKind]) -> ColumnKind:
    if node.name not in kinds:
        problem = unknown_column(node.name, kinds.keys(), f", at character {node.position}", "where")
        raise expression_error(problem.message, f"{problem.hint}; a text stands between single quotes")
    if SPARK_SUBSTITUTION in node.name:
        raise syntax_error(
            node.position, f"a column name with {SPARK_SUBSTITUTION} in it means something else to Spark", "rename it"
        )
    return kinds[node.name]


def _constant_kind(value: Constant) -> ColumnKind:
    match value:
        case bool():
            return ColumnKind.TRUTH
        case Fraction():
            return ColumnKind.INTEGER if value.denominator == 1 else ColumnKind.NUMBER
        case str():
            return ColumnKind.TEXT
        case datetime():
            return ColumnKind.TIME
        case date():
            return ColumnKind.DATE


def _arithmetic_kind(node: Node, sign: str, sides: tuple[Node, ...], kinds: Mapping[str, ColumnKind]) -> ColumnKind:
    side_kinds = [kind_of_node(side, kinds) for side in sides]
    for side, kind in zip(sides, side_kinds, strict=True):
        if kind not in NUMERIC_KINDS:
            raise syntax_error(node.position, f"{sign} takes numbers, got {_describe(side, kind)}")
    return ColumnKind.NUMBER if ColumnKind.NUMBER in side_kinds else ColumnKind.INTEGER


def _check_truths(sign: str, operands: tuple[Node, ...], kinds: Mapping[str, ColumnKind]) -> None:
    for operand in operands:
        kind = kind_of_node(operand, kinds)
        if kind is not ColumnKind.TRUTH:
            raise syntax_error(
                operand.position,
                f"{sign} takes truths, got {_describe(operand, kind)}",
                _example_comparison(operand, kind),
            )


Side = tuple[Node, ColumnKind]


def _call_kind(node: Call, function: Function, arguments: list[Side]) -> ColumnKind:
    """The kind of a function's value; its constants are constants, and its arguments of kinds that it takes."""
    for index, (argument, kind) in enumerate(arguments):
        if kind not in function.kinds:
            problem = f"{function.name} takes {function.words}, got {_describe(argument, kind)}"
            if index not in function.constants:
                raise syntax_error(node.position, problem)
    for index in function.constants:
        _check_constant(node, function, arguments[index][0])
    values = [side for index, side in enumerate(arguments) if index not in function.constants]
    kind = _common_kind(node.position, function.name, values)
    return function.result(kind, [argument for argument, _ in arguments])


def _check_constant(node: Call, function: Function, argument: Node) -> None:
    """A width, a divisor or a length: a number above 0 that is written out."""
    value = argument.value if isinstance(argument, Literal) else None
    is_number = isinstance(value, Fraction) and value > 0
    if not is_number or (function.whole_constant and value.denominator != 1):  # type: ignore[union-attr]
        number = "whole number" if function.whole_constant else "number"
        raise syntax_error(node.position, f"{function.form} takes a constant {number} above 0 as its second value")


def _common_kind(position: int, name: str, sides: list[Side]) -> ColumnKind:
    """The one kind of all values; integers among numbers are numbers."""
    kinds = {kind for _, kind in sides}
    if ColumnKind.OTHER in kinds:
        other = next(side for side in sides if side[1] is ColumnKind.OTHER)
        raise syntax_error(position, f"{name} cannot take {_describe(*other)}", "ask only whether it is null")
    if kinds <= NUMERIC_KINDS:
        return ColumnKind.NUMBER if ColumnKind.NUMBER in kinds else ColumnKind.INTEGER
    if len(kinds) > 1:
        first, second = sides[0], next(side for side in sides if side[1] is not sides[0][1])
        problem = f"{name} takes values of one kind, got {_describe(*first)} and {_describe(*second)}"
        raise syntax_error(position, problem, _literal_advice(first, second) or _literal_advice(second, first))
    return kinds.pop()


def _check_comparable(position: int, sign: str, left: Side, right: Side) -> None:
    """May left and right be compared by the sign."""
    for side in (left, right):
        if side[1] is ColumnKind.OTHER:
            raise syntax_error(position, f"{sign} cannot compare {_describe(*side)}", "ask only whether it is null")
    kinds = {left[1], right[1]}
    if len(kinds) > 1 and not kinds <= NUMERIC_KINDS:
        problem = f"{sign} compares two of a kind, got {_describe(*left)} and {_describe(*right)}"
        raise syntax_error(position, problem, _literal_advice(left, right) or _literal_advice(right, left))
    if sign not in ("=", "!=", "in") and not kinds <= ORDERED_KINDS:
        order = "the order of texts differs between engines" if ColumnKind.TEXT in kinds else "truths have no order"
        raise syntax_error(position, f"{sign} cannot compare {_describe(*left)}", f"{order}; use =, != or in")


def _check_membership(position: int, left: Side, items: tuple[Node, ...], kinds: Mapping[str, ColumnKind]) -> None:
    """May left be one of the items. Engines repeat it for each, so comparisons of comparisons would grow threefold."""
    for item in items:
        _check_comparable(position, "in", left, (item, kind_of_node(item, kinds)))
    if left[1] is ColumnKind.TRUTH and not isinstance(left[0], Column | Literal):
        raise syntax_error(position, "in takes a column, not a comparison", "write it with = and or")


def _literal_advice(literal: Side, other_side: Side) -> str:
    """How a literal that faces something of another kind was probably meant; nothing if it is no literal."""
    (node, kind), (_, expected_kind) = literal, other_side
    if not isinstance(node, Literal):
        return ""
    if kind is ColumnKind.TEXT:
        return _text_advice(str(node.value), expected_kind)
    if {kind, expected_kind} == {ColumnKind.DATE, ColumnKind.TIME}:
        return f"write {_example_literal(expected_kind)}"
    return {ColumnKind.TEXT: "put single quotes around a text", ColumnKind.TRUTH: "write true or false"}.get(
        expected_kind, ""
    )


def _text_advice(text: str, expected_kind: ColumnKind) -> str:
    if expected_kind in (ColumnKind.DATE, ColumnKind.TIME):
        fits = (DATE if expected_kind is ColumnKind.DATE else TIME).fullmatch(text)
        return f"write {expected_kind} '{text}'" if fits else f"write {_example_literal(expected_kind)}"
    return "write true or false" if expected_kind is ColumnKind.TRUTH else "leave the quotes away"


def _example_literal(kind: ColumnKind) -> str:
    return "date '2020-01-31'" if kind is ColumnKind.DATE else "time '2020-01-31 12:00:00'"


def _describe(node: Node, kind: ColumnKind) -> str:
    kind_name = {ColumnKind.INTEGER: "an integer", ColumnKind.OTHER: "a column of another type"}.get(kind, f"a {kind}")
    match node:
        case Column(name):
            return f"{kind_name} ({_quote_name(name)})"
        case Literal(value) if isinstance(value, str):
            return f"{kind_name} ({quote_text(value)})"
    return kind_name


def _example_comparison(node: Node, kind: ColumnKind) -> str:
    name = _quote_name(node.name) if isinstance(node, Column) else "x"
    if kind in (ColumnKind.DATE, ColumnKind.TIME):
        return f"for instance {name} > {_example_literal(kind)}"
    return f"for instance {name} " + {ColumnKind.TEXT: "= 'north'", ColumnKind.OTHER: "is not null"}.get(kind, "= 1")


def _quote_name(name: str) -> str:
    return name if name.isascii() and name.isidentifier() and len(name) <= 40 else quote_text(name)
