"""Do the columns exist, and do the kinds of what is compared fit: all that the kinds of the columns can tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from fractions import Fraction
from typing import assert_never

from utmost.data.kinds import Kind
from utmost.data.predicates.grammar import DATE, TIME, Predicate
from utmost.data.predicates.tree import (
    Arithmetic,
    Column,
    Comparison,
    Constant,
    Every,
    Literal,
    Missing,
    Negative,
    Node,
    Not,
    Some,
    Within,
)
from utmost.data.predicates.words import refusal, shown
from utmost.errors import InputError

MOST_LISTED = 20
NUMERIC = frozenset([Kind.INTEGER, Kind.NUMBER])
ORDERED = NUMERIC | {Kind.DATE, Kind.TIME}
SUBSTITUTED = "${"  # Spark replaces ${...} anywhere in a statement, inside quotes too


def check(predicate: Predicate, kinds: Mapping[str, Kind]) -> None:
    """Refuse unknown columns and kinds that do not fit; looks at no row.

    A type's width and scale, which only the table knows, are checked by `compiled`.

    >>> from utmost.data.predicates.grammar import parse
    >>> check(parse("age >= 'old'"), {"age": Kind.INTEGER})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    utmost.errors.InputError: where, at character 5: >= compares two of a kind, got an integer (age) and a text...
    """
    kind = kind_of_node(predicate.tree, kinds)
    if kind is not Kind.TRUTH:
        problem = f"where must be true or false of a row, got {_described(predicate.tree, kind)}"
        raise InputError(f"{problem}: compare it with something, {_compared(predicate.tree, kind)}")


def kind_of_node(node: Node, kinds: Mapping[str, Kind]) -> Kind:
    """The kind of what a node stands for; an InputError where its parts do not fit."""
    match node:
        case Column():
            return _column(node, kinds)
        case Literal(value):
            return _of_constant(value)
        case Negative(inside):
            return _arithmetic(node, "-", (inside,), kinds)
        case Arithmetic(sign, left, right):
            return _arithmetic(node, sign, (left, right), kinds)
        case Comparison(sign, left, right):
            _fit(node.at, sign, (left, kind_of_node(left, kinds)), (right, kind_of_node(right, kinds)))
        case Within(left, items):
            _within(node.at, (left, kind_of_node(left, kinds)), items, kinds)
        case Missing(inside):
            kind_of_node(inside, kinds)
        case Not(inside):
            _truths("not", (inside,), kinds)
        case Every(parts):
            _truths("and", parts, kinds)
        case Some(parts):
            _truths("or", parts, kinds)
        case _:
            assert_never(node)
    return Kind.TRUTH


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


def _column(node: Column, kinds: Mapping[str, Kind]) -> Kind:
    if node.name not in kinds:
        problem = unknown_column(node.name, kinds.keys(), f"where, at character {node.at}")
        raise InputError(f"{problem}; a text stands between single quotes")
    if SUBSTITUTED in node.name:
        raise refusal(node.at, f"a column name with {SUBSTITUTED} in it means something else to Spark", "rename it")
    return kinds[node.name]


def _of_constant(value: Constant) -> Kind:
    match value:
        case bool():
            return Kind.TRUTH
        case Fraction():
            return Kind.INTEGER if value.denominator == 1 else Kind.NUMBER
        case str():
            return Kind.TEXT
        case datetime():
            return Kind.TIME
        case date():
            return Kind.DATE


def _arithmetic(node: Node, sign: str, sides: tuple[Node, ...], kinds: Mapping[str, Kind]) -> Kind:
    found = [kind_of_node(side, kinds) for side in sides]
    for side, kind in zip(sides, found, strict=True):
        if kind not in NUMERIC:
            raise refusal(node.at, f"{sign} takes numbers, got {_described(side, kind)}")
    return Kind.NUMBER if Kind.NUMBER in found else Kind.INTEGER


def _truths(sign: str, parts: tuple[Node, ...], kinds: Mapping[str, Kind]) -> None:
    for part in parts:
        kind = kind_of_node(part, kinds)
        if kind is not Kind.TRUTH:
            raise refusal(part.at, f"{sign} takes truths, got {_described(part, kind)}", _compared(part, kind))


Side = tuple[Node, Kind]


def _fit(at: int, sign: str, left: Side, right: Side) -> None:
    """May left and right be compared by the sign."""
    for side in (left, right):
        if side[1] is Kind.OTHER:
            raise refusal(at, f"{sign} cannot compare {_described(*side)}", "ask only whether it is null")
    kinds = {left[1], right[1]}
    if len(kinds) > 1 and not kinds <= NUMERIC:
        problem = f"{sign} compares two of a kind, got {_described(*left)} and {_described(*right)}"
        raise refusal(at, problem, _advice(left, right) or _advice(right, left))
    if sign not in ("=", "!=", "in") and not kinds <= ORDERED:
        order = "the order of texts differs between engines" if Kind.TEXT in kinds else "truths have no order"
        raise refusal(at, f"{sign} cannot compare {_described(*left)}", f"{order}; use =, != or in")


def _within(at: int, left: Side, items: tuple[Node, ...], kinds: Mapping[str, Kind]) -> None:
    """May left be one of the items. Engines repeat it for each, so comparisons of comparisons would grow threefold."""
    for item in items:
        _fit(at, "in", left, (item, kind_of_node(item, kinds)))
    if left[1] is Kind.TRUTH and not isinstance(left[0], Column | Literal):
        raise refusal(at, "in takes a column, not a comparison", "write it with = and or")


def _advice(literal: Side, facing: Side) -> str:
    """How a literal that faces something of another kind was probably meant; nothing if it is no literal."""
    (node, kind), (_, wanted) = literal, facing
    if not isinstance(node, Literal):
        return ""
    if kind is Kind.TEXT:
        return _unquoted(str(node.value), wanted)
    if {kind, wanted} == {Kind.DATE, Kind.TIME}:
        return f"write {_example(wanted)}"
    return {Kind.TEXT: "put single quotes around a text", Kind.TRUTH: "write true or false"}.get(wanted, "")


def _unquoted(text: str, wanted: Kind) -> str:
    if wanted in (Kind.DATE, Kind.TIME):
        fits = (DATE if wanted is Kind.DATE else TIME).fullmatch(text)
        return f"write {wanted} '{text}'" if fits else f"write {_example(wanted)}"
    return "write true or false" if wanted is Kind.TRUTH else "leave the quotes away"


def _example(kind: Kind) -> str:
    return "date '2020-01-31'" if kind is Kind.DATE else "time '2020-01-31 12:00:00'"


def _described(node: Node, kind: Kind) -> str:
    words = {Kind.INTEGER: "an integer", Kind.OTHER: "a column of another type"}.get(kind, f"a {kind}")
    match node:
        case Column(name):
            return f"{words} ({_named(name)})"
        case Literal(value) if isinstance(value, str):
            return f"{words} ({shown(value)})"
    return words


def _compared(node: Node, kind: Kind) -> str:
    name = _named(node.name) if isinstance(node, Column) else "x"
    if kind in (Kind.DATE, Kind.TIME):
        return f"for instance {name} > {_example(kind)}"
    return f"for instance {name} " + {Kind.TEXT: "= 'north'", Kind.OTHER: "is not null"}.get(kind, "= 1")


def _named(name: str) -> str:
    return name if name.isascii() and name.isidentifier() and len(name) <= 40 else shown(name)
