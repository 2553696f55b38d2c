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

from utmost.data.predicates import syntax_tree as t

TYPES = {"double": np.float64, "single": np.float32}


@dataclass(frozen=True)
class Number:
    kind: str  # constant, exact, double, single
    value: Any  # a Fraction, or a float
    scale: int = 0  # of an exact value: it is a whole number of 10^-scale


def holds(tree: t.Node, row: Mapping[str, Any], types: Mapping[str, str]) -> bool:
    """Is the predicate true of the row. `types` says which columns are single or double."""
    return value(tree, row, types) is True


def value(node: t.Node, row: Mapping[str, Any], types: Mapping[str, str]) -> Any:
    def of(inside: t.Node) -> Any:
        return value(inside, row, types)

    if isinstance(node, t.Column):
        return _read(row[node.name], types.get(node.name, "exact"))
    if isinstance(node, t.Literal):
        return Number("constant", node.value) if isinstance(node.value, Fraction) else node.value
    if isinstance(node, t.Minus):
        return _calculated("*", Number("constant", Fraction(-1)), of(node.inside))
    if isinstance(node, t.Arithmetic):
        return _calculated(node.sign, of(node.left), of(node.right))
    if isinstance(node, t.Comparison):
        return _compared(node.sign, of(node.left), of(node.right))
    if isinstance(node, t.In):
        return _any([_compared("=", of(node.left), of(item)) for item in node.items])
    if isinstance(node, t.IsNull):
        return of(node.inside) is None
    if isinstance(node, t.Not):
        return _not(of(node.inside))
    parts = [of(part) for part in node.parts]
    return _any(parts) if isinstance(node, t.Or) else _not(_any([_not(part) for part in parts]))


def _read(raw: Any, kind: str) -> Any:
    if raw is None or raw != raw:  # NaN is unknown
        return None
    if isinstance(raw, bool | str | date | datetime):
        return raw
    if kind in TYPES:
        return Number(kind, float(raw))
    return Number(kind, Fraction(raw), -raw.as_tuple().exponent if isinstance(raw, Decimal) else 0)


def _not(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _any(truths: list[bool | None]) -> bool | None:
    return True if True in truths else None if None in truths else False


def _compared(sign: str, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, Number):
        left, right = _comparable(left, right), _comparable(right, left)
    return {
        "=": left == right,
        "!=": left != right,
        "<": sign == "<" and left < right,
        "<=": sign == "<=" and left <= right,
        ">": sign == ">" and left > right,
        ">=": sign == ">=" and left >= right,
    }[sign]


def _comparable(number: Number, other: Number) -> Any:
    """The number as it is compared with the other: Python compares floats and fractions exactly."""
    if number.kind in TYPES or other.kind not in TYPES:
        return number.value
    if number.kind == "constant":
        return nearest(number.value, other.kind)
    return _double(number)


def _double(number: Number) -> float:
    """An exact number as a double: the nearest to its whole number, divided by a power of ten."""
    return float(number.value * 10**number.scale) / 10.0**number.scale


def nearest(number: Fraction, kind: str) -> Any:
    """The closest float by trying the neighbours of a guess; the number itself where IEEE 754 would say infinity."""
    form = TYPES[kind]
    largest = Fraction(float(np.finfo(form).max))
    step = largest - Fraction(float(np.nextafter(np.finfo(form).max, form(0))))
    if abs(number) >= largest + step / 2:
        return number
    with np.errstate(over="ignore", under="ignore"):
        guess = form(float(number))
        guesses = [guess, np.nextafter(guess, form(np.inf)), np.nextafter(guess, form(-np.inf))]
    finite = [float(g) for g in guesses if np.isfinite(g)]
    even = {float(g): int(g.view(f"u{g.nbytes}")) % 2 for g in guesses}
    return min(finite, key=lambda g: (abs(Fraction(g) - number), even[g]))


def _calculated(sign: str, left: Number | None, right: Number | None) -> Number | None:
    if left is None or right is None:
        return None
    apply = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[sign]
    if left.kind in TYPES or right.kind in TYPES:
        one, other = _tamed(left), _tamed(right)
        return None if one is None or other is None else Number("double", Calculated(apply(one, other)))
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


class Calculated(float):
    """A result of arithmetic in doubles, which further arithmetic takes as it is."""


def _tamed(number: Number) -> float | None:
    if isinstance(number.value, Calculated):
        return number.value
    if number.kind not in TYPES:
        return float(number.value) if number.kind == "constant" else _double(number)
    if abs(number.value) > 1e60:
        return None
    return 0.0 if abs(number.value) < 1e-60 else number.value


def plain(raw: Any) -> str | None:
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
