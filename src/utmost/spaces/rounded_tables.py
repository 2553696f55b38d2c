"""Tables of doubles: what rounding has broken by a hair is repaired by shortest paths, and said."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import MetricError
from utmost.exact import Number, Real, decimal, decimal_above
from utmost.exact.doubles import has_doubles, round_number
from utmost.spaces.distance_order import IntArray
from utmost.spaces.shape import Label, label_text
from utmost.spaces.shortest_paths import close_table

Integers: TypeAlias = npt.NDArray[np.object_]
HAIR = Fraction(1, 1 << 30)  # of a distance: what rounding to doubles may break
SINGLE_HAIR = Fraction(1, 1 << 18)  # the same for numbers of 32 bits


@dataclass(frozen=True, slots=True)
class Rounding:
    """How far distances may be off: `relative` to themselves, and the `unit` of the last of so many `digits`."""

    relative: Fraction
    digits: int | None

    def allowance(self, distance: Number) -> Number:
        """How much longer than a detour a distance may be: the three of them are rounded."""
        return self.relative * distance + (0 if self.digits is None else Fraction(3, 2 * 10**self.digits))

    @property
    def description(self) -> str:
        """How doubles were read."""
        return "doubles, read exactly" if self.digits is None else f"rounded to {self.digits} decimals"


def rounding_of(source: Any, rows: Sequence[Sequence[Any]], digits: int | None) -> Rounding | None:
    """How the entries of a table may be off; None where they are as they were written."""
    is_rounded = digits is not None or any(has_doubles(row) for row in rows)
    is_single = str(getattr(source, "dtype", "")) in ("float16", "float32")
    return Rounding(SINGLE_HAIR if is_single else HAIR, digits) if is_rounded else None


def weights_note(weights: Iterable[object], digits: int | None) -> str:
    """The remark of a graph."""
    if digits is not None:
        return f"weights rounded to {digits} decimals"
    return "weights are doubles, read exactly" if has_doubles(weights) else ""


Table: TypeAlias = tuple[tuple[Number, ...], IntArray, str]


def repair_rounding(
    values: tuple[Number, ...], codes: IntArray, rounding: Rounding, labels: Sequence[Label], name: str
) -> Table:
    """The table with the smaller of two distances that differ by a hair, 0 from a point to itself, shortest paths.

    With irrational entries, or negative ones, nothing is repaired. More than a hair is refused with its three points.
    """
    if any(isinstance(value, Real) or value < 0 for value in values):
        return values, codes, ""
    rounded = [round_number(Fraction(value), rounding.digits) for value in values]  # type: ignore[arg-type]
    unit = math.lcm(*(value.denominator for value in rounded))
    multiples = np.empty(len(rounded), dtype=object)
    multiples[:] = [int(value * unit) for value in rounded]
    table: Integers = multiples[codes]
    symmetric = _symmetric_table(table, rounding, unit)
    is_repairable = symmetric is not None and not (symmetric + np.eye(len(symmetric), dtype=np.int64) == 0).any()
    if symmetric is None or not is_repairable:
        return _coded_table(table, unit, "")
    closed = close_table(symmetric)
    _check_shortening(symmetric, closed, rounding, unit, labels, name)
    return _coded_table(closed, unit, _remark(table, closed, rounding, unit))


def _symmetric_table(table: Integers, rounding: Rounding, unit: int) -> Integers | None:
    """The smaller of d(x, y) and d(y, x), 0 on the diagonal; None where that changes more than a hair."""
    smaller = np.minimum(table, table.T)
    largest = int(table.max())
    for x, y in np.argwhere(table != table.T).tolist():
        if table[x, y] - smaller[x, y] > rounding.allowance(Fraction(int(table[x, y]), unit)) * unit:
            return None
    if any(entry > HAIR * largest for entry in table.diagonal()):
        return None
    np.fill_diagonal(smaller, 0)
    return smaller


def _check_shortening(
    table: Integers, closed: Integers, rounding: Rounding, unit: int, labels: Sequence[Label], name: str
) -> None:
    """Refuse distances that a shortest path shortens by more than a hair; the witness is the worst triangle."""
    worst: tuple[Fraction, tuple[int, int, int]] | None = None
    for x, y in np.argwhere(np.triu(table != closed, 1)).tolist():
        direct = Fraction(int(table[x, y]), unit)
        if Fraction(int(table[x, y] - closed[x, y]), unit) > rounding.allowance(direct):
            detours = table[x] + table[y]
            detours[[x, y]] = 4 * table.max()
            z = min(range(len(detours)), key=detours.__getitem__)
            share = 1 - Fraction(int(detours[z]), int(table[x, y]))
            if worst is None or share > worst[0]:
                worst = share, (x, z, y)
    if worst is not None:
        values, codes, _ = _coded_table(table, unit, "")
        raise MetricError(f"{name} is not a metric: {triangle_text(worst[1], values, codes, labels)}")


def _remark(table: Integers, closed: Integers, rounding: Rounding, unit: int) -> str:
    """How the table was read, how many distances were shortened, and by how much at most."""
    change = table - closed
    count = int(np.count_nonzero(np.triu(np.maximum(change, change.T))))
    if not count:
        return f"distances are {rounding.description}"
    most = decimal_above(Fraction(int(change.max()), unit), 2)
    what = "1 distance is" if count == 1 else f"{count} distances are"
    return f"distances are {rounding.description}; {what} shortened to make it a metric, by at most {most}"


def _coded_table(table: Integers, unit: int, note: str) -> Table:
    distinct = sorted(set(table.ravel().tolist()))
    position = {value: k for k, value in enumerate(distinct)}
    codes = np.array([[position[value] for value in row] for row in table.tolist()], dtype=np.int64)
    return tuple(Fraction(value, unit) for value in distinct), codes, note


def triangle_text(
    triangle: tuple[int, int, int], values: tuple[Number, ...], codes: IntArray, labels: Sequence[Label]
) -> str:
    """d(x, y) > d(x, z) + d(z, y), in words."""
    x, z, y = triangle
    a, b, c = (label_text(labels[k]) for k in triangle)
    detour = values[codes[x, z]] + values[codes[z, y]]
    return f"d({a}, {c}) = {brief_number(values[codes[x, y]])} > d({a}, {b}) + d({b}, {c}) = {brief_number(detour)}"


def brief_number(value: Number) -> str:
    """An exact number as text, or about what it is where that is long."""
    text = str(value)
    return text if len(text) <= 60 else f"about {decimal(value)}"
