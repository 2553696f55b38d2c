"""Do the columns exist, and do the kinds of what is compared fit: all that the kinds of the columns can tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from fractions import Fraction
from typing import assert_never

from utmost.data.column_kinds import ColumnKind
from utmost.data.predicates.parser import DATE, TIME, Predicate
from utmost.data.predicates.syntax_tree import (
    And,
    Arithmetic,
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
)
from utmost.data.predicates.tokens import quote_text, syntax_error
from utmost.errors import InputError

MOST_LISTED = 20
NUMERIC = frozenset([ColumnKind.INTEGER, ColumnKind.NUMBER])
ORDERED = NUMERIC | {ColumnKind.DATE, ColumnKind.TIME}
SUBSTITUTED = "${"  # Spark replaces ${...} anywhere in a statement, inside quotes too


def check_types(predicate: Predicate, kinds: Mapping[str, ColumnKind]) -> None:
    """Refuse unknown columns and kinds that do not fit; looks at no row.

    A type's width and scale, which only the table knows, are checked by `compiler`.

    >>> from utmost.data.predicates.parser import parse_predicate
    >>> check_types(parse_predicate("age >= 'old'"), {"age": ColumnKind.INTEGER})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    utmost.errors.InputError: where, at character 5: >= compares two of a kind, got an integer (age) and a text...
    """
    kind = kind_of_node(predicate.tree, kinds)
    if kind is not ColumnKind.TRUTH:
        problem = f"where must be true or false of a row, got {_described(predicate.tree, kind)}"
        raise InputError(f"{problem}: compare it with something, {_compared(predicate.tree, kind)}")


def kind_of_node(node: Node, kinds: Mapping[str, ColumnKind]) -> ColumnKind:
    """The kind of what a node stands for; an InputError where its parts do not fit."""
    match node:
        case Column():
            return _column(node, kinds)
        case Literal(value):
            return _of_constant(value)
        case Minus(inside):
            return _arithmetic(node, "-", (inside,), kinds)
        case Arithmetic(sign, left, right):
            return _arithmetic(node, sign, (left, right), kinds)
        case Comparison(sign, left, right):
            _fit(node.at, sign, (left, kind_of_node(left, kinds)), (right, kind_of_node(right, kinds)))
        case In(left, items):
            _within(node.at, (left, kind_of_node(left, kinds)), items, kinds)
        case IsNull(inside):
            kind_of_node(inside, kinds)
        case Not(inside):
            _truths("not", (inside,), kinds)
        case And(parts):
            _truths("and", parts, kinds)
        case Or(parts):
            _truths("or", parts, kinds)
        case _:
            assert_never(node)
    return ColumnKind.TRUTH


def listed(columns: Collection[str]) -> str:
    """The names of the columns, some of them where they are many."""
    names = ", ".join(_named(name) for name in list(columns)[:MOST_LISTED])
    more = len(columns) - MOST_LISTED
    return names + (f" and {more} more" if more > 0 else "") if columns else "none"


def unknown_column(column: str, columns: Collection[str], role: str) -> InputError:
    """A column that the table does not have: did you mean, and which there are."""
    folded = {name.casefold(): name for name in columns}
    close = get_close_matches(column.casefold()[:100], folded, 1)
    guess = f"did you mean {_named(folded[close[0]])}? the columns are" if close else "the columns are"
    return InputError(f"{role}: there is no column {_named(column)}: {guess} {listed(columns)}")


def _column(node: Column, kinds: Mapping[str, ColumnKind]) -> ColumnKind:
    if node.name not in kinds:
        problem = unknown_column(node.name, kinds.keys(), f"where, at character {node.at}")
        raise InputError(f"{problem}; a text stands between single quotes")
    if SUBSTITUTED in node.name:
        raise syntax_error(
            node.at, f"a column name with {SUBSTITUTED} in it means something else to Spark", "rename it"
        )
    return kinds[node.name]


def _of_constant(value: Constant) -> ColumnKind:
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


def _arithmetic(node: Node, sign: str, sides: tuple[Node, ...], kinds: Mapping[str, ColumnKind]) -> ColumnKind:
    found = [kind_of_node(side, kinds) for side in sides]
    for side, kind in zip(sides, found, strict=True):
        if kind not in NUMERIC:
            raise syntax_error(node.at, f"{sign} takes numbers, got {_described(side, kind)}")
    return ColumnKind.NUMBER if ColumnKind.NUMBER in found else ColumnKind.INTEGER


def _truths(sign: str, parts: tuple[Node, ...], kinds: Mapping[str, ColumnKind]) -> None:
    for part in parts:
        kind = kind_of_node(part, kinds)
        if kind is not ColumnKind.TRUTH:
            raise syntax_error(part.at, f"{sign} takes truths, got {_described(part, kind)}", _compared(part, kind))


Side = tuple[Node, ColumnKind]


def _fit(at: int, sign: str, left: Side, right: Side) -> None:
    """May left and right be compared by the sign."""
    for side in (left, right):
        if side[1] is ColumnKind.OTHER:
            raise syntax_error(at, f"{sign} cannot compare {_described(*side)}", "ask only whether it is null")
    kinds = {left[1], right[1]}
    if len(kinds) > 1 and not kinds <= NUMERIC:
        problem = f"{sign} compares two of a kind, got {_described(*left)} and {_described(*right)}"
        raise syntax_error(at, problem, _advice(left, right) or _advice(right, left))
    if sign not in ("=", "!=", "in") and not kinds <= ORDERED:
        order = "the order of texts differs between engines" if ColumnKind.TEXT in kinds else "truths have no order"
        raise syntax_error(at, f"{sign} cannot compare {_described(*left)}", f"{order}; use =, != or in")


def _within(at: int, left: Side, items: tuple[Node, ...], kinds: Mapping[str, ColumnKind]) -> None:
    """May left be one of the items. Engines repeat it for each, so comparisons of comparisons would grow threefold."""
    for item in items:
        _fit(at, "in", left, (item, kind_of_node(item, kinds)))
    if left[1] is ColumnKind.TRUTH and not isinstance(left[0], Column | Literal):
        raise syntax_error(at, "in takes a column, not a comparison", "write it with = and or")


def _advice(literal: Side, facing: Side) -> str:
    """How a literal that faces something of another kind was probably meant; nothing if it is no literal."""
    (node, kind), (_, wanted) = literal, facing
    if not isinstance(node, Literal):
        return ""
    if kind is ColumnKind.TEXT:
        return _unquoted(str(node.value), wanted)
    if {kind, wanted} == {ColumnKind.DATE, ColumnKind.TIME}:
        return f"write {_example(wanted)}"
    return {ColumnKind.TEXT: "put single quotes around a text", ColumnKind.TRUTH: "write true or false"}.get(wanted, "")


def _unquoted(text: str, wanted: ColumnKind) -> str:
    if wanted in (ColumnKind.DATE, ColumnKind.TIME):
        fits = (DATE if wanted is ColumnKind.DATE else TIME).fullmatch(text)
        return f"write {wanted} '{text}'" if fits else f"write {_example(wanted)}"
    return "write true or false" if wanted is ColumnKind.TRUTH else "leave the quotes away"


def _example(kind: ColumnKind) -> str:
    return "date '2020-01-31'" if kind is ColumnKind.DATE else "time '2020-01-31 12:00:00'"


def _described(node: Node, kind: ColumnKind) -> str:
    words = {ColumnKind.INTEGER: "an integer", ColumnKind.OTHER: "a column of another type"}.get(kind, f"a {kind}")
    match node:
        case Column(name):
            return f"{words} ({_named(name)})"
        case Literal(value) if isinstance(value, str):
            return f"{words} ({quote_text(value)})"
    return words


def _compared(node: Node, kind: ColumnKind) -> str:
    name = _named(node.name) if isinstance(node, Column) else "x"
    if kind in (ColumnKind.DATE, ColumnKind.TIME):
        return f"for instance {name} > {_example(kind)}"
    return f"for instance {name} " + {ColumnKind.TEXT: "= 'north'", ColumnKind.OTHER: "is not null"}.get(kind, "= 1")


def _named(name: str) -> str:
    return name if name.isascii() and name.isidentifier() and len(name) <= 40 else quote_text(name)
