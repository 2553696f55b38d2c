"""What a predicate means, a second time: one row at a time, in plain Python, with fractions.

Nothing here comes from the modules under test but the tree that the parser makes. A value is None (unknown), a text, a
truth, a date, a time, or a Number that remembers what it is: a constant, exact, a double or a single.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.data.predicates import syntax as t

TYPES = {"double": np.float64, "single": np.float32}


@dataclass(frozen=True)
class Number:
    kind: str  # constant, exact, double, single
    value: Any  # a Fraction, or a float
    scale: int = 0  # of an exact value: it is a whole number of 10^-scale


def holds(tree: t.Node, row: Mapping[str, Any], types: Mapping[str, str]) -> bool:
    """Is the predicate true of the row. `types` says which columns are single or double."""
    return evaluate(tree, row, types) is True


def evaluate(node: t.Node, row: Mapping[str, Any], types: Mapping[str, str]) -> Any:
    def evaluate_operand(operand: t.Node) -> Any:
        return evaluate(operand, row, types)

    if isinstance(node, t.Column):
        return _read_column(row[node.name], types.get(node.name, "exact"))
    if isinstance(node, t.Literal):
        return Number("constant", node.value) if isinstance(node.value, Fraction) else node.value
    if isinstance(node, t.Minus):
        return _calculate("*", Number("constant", Fraction(-1)), evaluate_operand(node.operand))
    if isinstance(node, t.Arithmetic):
        return _calculate(node.sign, evaluate_operand(node.left), evaluate_operand(node.right))
    if isinstance(node, t.Call):
        return _call(node, [evaluate_operand(argument) for argument in node.arguments], types)
    if isinstance(node, t.Case):
        truths = [evaluate_operand(condition) is True for condition in node.conditions]
        results = [evaluate_operand(result) for result in node.results]
        chosen = results[truths.index(True)] if True in truths else None if node.default is None else results[-1]
        return _as_member(chosen, node.results, types)
    if isinstance(node, t.Comparison):
        return _compare(node.sign, evaluate_operand(node.left), evaluate_operand(node.right))
    if isinstance(node, t.In):
        return _or([_compare("=", evaluate_operand(node.left), evaluate_operand(item)) for item in node.items])
    if isinstance(node, t.IsNull):
        return evaluate_operand(node.operand) is None
    if isinstance(node, t.Not):
        return _not(evaluate_operand(node.operand))
    truths = [evaluate_operand(operand) for operand in node.parts]
    return _or(truths) if isinstance(node, t.Or) else _not(_or([_not(truth) for truth in truths]))


def _read_column(raw: Any, kind: str) -> Any:
    if raw is None or raw != raw:  # NaN is unknown
        return None
    if isinstance(raw, bool | str | date | datetime):
        return raw
    if kind in TYPES:
        return Number(kind, float(raw))
    return Number(kind, Fraction(raw), -raw.as_tuple().exponent if isinstance(raw, Decimal) else 0)


def _not(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _or(truths: list[bool | None]) -> bool | None:
    return True if True in truths else None if None in truths else False


def _compare(sign: str, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, Number):
        left, right = _comparison_value(left, right), _comparison_value(right, left)
    return {
        "=": left == right,
        "!=": left != right,
        "<": sign == "<" and left < right,
        "<=": sign == "<=" and left <= right,
        ">": sign == ">" and left > right,
        ">=": sign == ">=" and left >= right,
    }[sign]


def _comparison_value(number: Number, compared_with: Number) -> Any:
    """The number as it is compared with the other: Python compares floats and fractions exactly."""
    if number.kind in TYPES or compared_with.kind not in TYPES:
        return number.value
    if number.kind == "constant":
        return nearest_float(number.value, compared_with.kind)
    return _double(number)


def _double(number: Number) -> float:
    """An exact number as a double: the nearest to its whole number, divided by a power of ten."""
    return float(number.value * 10**number.scale) / 10.0**number.scale


def nearest_float(number: Fraction, kind: str) -> Any:
    """The closest float by trying the neighbours of a guess; the number itself where IEEE 754 would say infinity."""
    float_type = TYPES[kind]
    largest = Fraction(float(np.finfo(float_type).max))
    step = largest - Fraction(float(np.nextafter(np.finfo(float_type).max, float_type(0))))
    if abs(number) >= largest + step / 2:
        return number
    with np.errstate(over="ignore", under="ignore"):
        guess = float_type(float(number))
        guesses = [guess, np.nextafter(guess, float_type(np.inf)), np.nextafter(guess, float_type(-np.inf))]
    finite = [float(g) for g in guesses if np.isfinite(g)]
    even = {float(g): int(g.view(f"u{g.nbytes}")) % 2 for g in guesses}
    return min(finite, key=lambda g: (abs(Fraction(g) - number), even[g]))


def _calculate(sign: str, left: Number | None, right: Number | None) -> Number | None:
    if left is None or right is None:
        return None
    apply = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[sign]
    if left.kind in TYPES or right.kind in TYPES:
        left_double, right_double = _bound_double(left), _bound_double(right)
        return (
            None
            if left_double is None or right_double is None
            else Number("double", ComputedDouble(apply(left_double, right_double)))
        )
    result = apply(left.value, right.value)
    if left.kind == right.kind == "constant":
        return Number("constant", result)
    scales = _scale(left), _scale(right)
    return Number("exact", result, sum(scales) if sign == "*" else max(scales))


def _scale(number: Number) -> int:
    """Of a constant, the least that does."""
    scale = number.scale
    while (number.value * 10**scale).denominator != 1:
        scale += 1
    return scale


class ComputedDouble(float):
    """A result of arithmetic in doubles, which further arithmetic takes as it is."""


def _bound_double(number: Number) -> float | None:
    if isinstance(number.value, ComputedDouble):
        return number.value
    if number.kind not in TYPES:
        return float(number.value) if number.kind == "constant" else _double(number)
    if abs(number.value) > 1e60:
        return None
    return 0.0 if abs(number.value) < 1e-60 else number.value


SCALES = {"price": 2, "ratio": 20, "share": 6}  # digits behind the point in the columns of decimals
INT64_SIZE = 2**63


def _call(node: t.Call, arguments: list[Any], types: Mapping[str, str]) -> Any:
    first, present = arguments[0], [argument for argument in arguments if argument is not None]
    if node.name in ("bin", "div"):
        return None if first is None else _divide(node, first, arguments[1].value, types)
    if node.name in ("least", "greatest", "coalesce"):
        members = [_as_member(argument, node.arguments, types) for argument in present]
        key = (lambda member: member.value) if members and isinstance(members[0], Number) else None
        choose = {"least": min, "greatest": max}.get(node.name, lambda items, key: items[0])
        return choose(members, key=key) if members else None
    if first is None:
        return None
    if node.name == "abs":
        kind = "exact" if first.kind == "constant" else first.kind
        return Number(kind, type(first.value)(abs(first.value)), _scale(first) if kind == "exact" else 0)
    if node.name in ("year", "month", "day", "hour"):
        return Number("exact", Fraction(getattr(first, node.name)))
    if node.name == "weekday":
        return Number("exact", Fraction(first.isoweekday()))
    if node.name == "prefix":
        return first[: int(arguments[1].value)]
    if node.name == "trim":
        return first.strip(" \t\n\r")
    change = str.lower if node.name == "lower" else str.upper
    return "".join(change(letter) if letter.isascii() else letter for letter in first)


def _divide(node: t.Call, number: Number, divisor: Fraction, types: Mapping[str, str]) -> Number | None:
    if number.kind in TYPES:
        double = _bound_double(number)
        quotient = None if double is None else double / float(divisor)
        if quotient is None or abs(quotient) > 2.0**53:
            return None
        floor = math.floor(quotient)
        return Number("exact", Fraction(floor)) if node.name == "div" else Number("double", floor * float(divisor))
    scale = max(static_scale(node.arguments[0], types), _scale(Number("constant", divisor)))
    unit = Fraction(1, 10**scale)
    if not -INT64_SIZE <= number.value / unit < INT64_SIZE:
        return None
    floor = Fraction(math.floor(number.value / divisor))
    return Number("exact", floor) if node.name == "div" else Number("exact", floor * divisor, scale)


def static_scale(node: t.Node, types: Mapping[str, str]) -> int:
    """Digits behind the point that an exact value is computed with."""
    if isinstance(node, t.Column):
        return SCALES.get(node.name, 0)
    if not any(isinstance(below, t.Column | t.Call | t.Case) for below in t.walk(node)):
        return _scale(evaluate(node, {}, types))
    if isinstance(node, t.Call) and node.name not in ("bin", "abs", "least", "greatest", "coalesce"):
        return 0
    operands = node.results if isinstance(node, t.Case) else t.children(node)
    scales = [static_scale(operand, types) for operand in operands]
    return sum(scales) if isinstance(node, t.Arithmetic) and node.sign == "*" else max(scales)


def is_float(node: t.Node, types: Mapping[str, str]) -> bool:
    """Is a number computed in doubles."""
    if isinstance(node, t.Column):
        return types.get(node.name) in TYPES
    if isinstance(node, t.Call) and node.name not in ("bin", "abs", "least", "greatest", "coalesce"):
        return False
    if isinstance(node, t.Arithmetic | t.Minus | t.Call | t.Case):
        operands = node.results if isinstance(node, t.Case) else t.children(node)
        return any(is_float(operand, types) for operand in operands)
    return False


def _as_member(chosen: Any, results: tuple[t.Node, ...], types: Mapping[str, str]) -> Any:
    """A value as one of several that have one type."""
    if not isinstance(chosen, Number):
        return chosen
    if any(is_float(result, types) for result in results):
        return Number("double", float(chosen.value) if chosen.kind != "exact" else _double(chosen))
    return Number("exact", chosen.value, max(static_scale(result, types) for result in results))


def engine_text(raw: Any) -> str | None:
    """A row's value as the text that every engine reads back."""
    if raw is None:
        return None
    if isinstance(raw, datetime):
        return raw.isoformat(" ")
    if isinstance(raw, float):
        return (
            "NaN"
            if math.isnan(raw)
            else "Infinity"
            if raw == math.inf
            else "-Infinity"
            if raw < -1.8e308
            else repr(raw)
        )
    return format(raw, "f") if isinstance(raw, Decimal) else str(raw)
