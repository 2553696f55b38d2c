"""Distances in order, and their sums compared: exact always, and fast where whole numbers or doubles decide.

Rational distances become whole numbers of a common unit. Others are first looked at as doubles that are within 2^−51 of
the truth once the largest is scaled below 2; then d(x,z) + d(z,y) − d(x,y) as computed is off by less than 3·2^−51
from the distances and 2^−50 from its two roundings, below `NEAR` in all. A sign that doubles show by more than that is
right; any other is decided in exact arithmetic, once for each triple of values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.exact import Number, Real, sign
from utmost.exact.number_text import close_fraction

Whole: TypeAlias = npt.NDArray[np.int64]
NEAR = 2.0**-48
NO_PAIRS: Whole = np.zeros((0, 2), dtype=np.int64)
BLOCK = 1 << 16  # sums made at a time: as many as a processor keeps at hand
FITS = 1 << 60  # whole numbers whose sums are far from overflow


def sort_distinct(numbers: Sequence[Number]) -> tuple[tuple[Number, ...], Whole]:
    """The distinct numbers in increasing order, and where each given one stands among them; equality is decided.

    >>> from utmost.exact import number
    >>> values, places = sort_distinct([number("sqrt(8)"), Fraction(2), number("sqrt(2)+sqrt(2)"), Fraction(0)])
    >>> [str(v) for v in values], places.tolist()
    (['0', '2', '2*2^(1/2)'], [2, 1, 2, 0])
    """
    if not any(isinstance(value, Real) for value in numbers):
        values = sorted(set(numbers))
        place = {value: k for k, value in enumerate(values)}
        return tuple(values), np.array([place[value] for value in numbers], dtype=np.int64)
    near = scaled_doubles(numbers)
    order = np.argsort(near, kind="stable")
    breaks = np.flatnonzero(np.diff(near[order]) > NEAR) + 1
    distinct: list[Number] = []
    places = np.zeros(len(numbers), dtype=np.int64)
    for cluster in np.split(order, breaks):
        found, inside = _settled([numbers[k] for k in cluster])
        places[cluster] = np.array(inside, dtype=np.int64) + len(distinct)
        distinct += found
    return tuple(distinct), places


def _settled(close: Sequence[Number]) -> tuple[list[Number], list[int]]:
    """`sort_distinct`, for numbers that doubles do not tell apart."""
    found: list[Number] = []
    for value in close:
        if not any(value is other or value == other for other in found):
            found.append(value)
    found.sort(key=cmp_to_key(_compared))
    return found, [next(k for k, other in enumerate(found) if value is other or value == other) for value in close]


def _compared(first: Number, second: Number) -> int:
    return sign(first - second)


def code_distances(matrix: npt.NDArray[np.object_]) -> tuple[tuple[Number, ...], Whole]:
    """The distinct entries in increasing order, and the matrix of their numbers in it."""
    entries = matrix.ravel().tolist()
    addresses = np.fromiter(map(id, entries), dtype=np.int64, count=len(entries))
    _, first, where = np.unique(addresses, return_index=True, return_inverse=True)
    values, places = sort_distinct([entries[k] for k in first.tolist()])
    return values, places[where].reshape(matrix.shape)


def scaled_doubles(numbers: Sequence[Number]) -> npt.NDArray[np.float64]:
    """Doubles within 2^−51 of the numbers, all multiplied by a power of 2 that brings the largest into [1/2, 2)."""
    near = [close_fraction(value) for value in numbers]
    top = max((abs(value) for value in near), default=Fraction(0))
    shift = top.denominator.bit_length() - top.numerator.bit_length()
    scale = Fraction(2) ** shift if top else Fraction(1)
    return np.array([float(value * scale) for value in near], dtype=np.float64)


def wholes(values: Sequence[Number]) -> Whole | None:
    """The values as multiples of a common unit, if they are rational and these are small enough for sums in int64."""
    rationals = [value for value in values if not isinstance(value, Real)]
    unit = 1
    for value in rationals:
        unit = math.lcm(unit, value.denominator)
        if unit > FITS:
            return None
    multiples = [int(value * unit) for value in rationals]
    fits = len(rationals) == len(values) and max(map(abs, multiples), default=0) <= FITS
    return np.array(multiples, dtype=np.int64) if fits else None


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """All triangles of a symmetric table of distances: `values` increasing, `codes` their numbers in it.

    `table` holds the distances as whole numbers if `exact`, else as doubles near them.
    """

    values: tuple[Number, ...]
    codes: Whole
    table: npt.NDArray[Any]
    exact: bool
    far: float  # more than any sum
    known: dict[tuple[int, int, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, values: tuple[Number, ...], codes: Whole) -> Triangles:
        """Made ready for comparison."""
        whole = wholes(values)
        if whole is None:
            return cls(values, codes, scaled_doubles(values)[codes], False, 8.0)
        top = int(whole.max(initial=0))
        return cls(values, codes, (whole.astype(np.int32) if top < 1 << 29 else whole)[codes], True, 2 * top + 1)

    def signs(self, x: int, ends: Whole) -> Whole:
        """For each y of `ends`: the least sign of d(x,z) + d(z,y) − d(x,y) over all z ≠ x, y (1 if there are none).

        0: there is a point between x and y; −1: the triangle inequality fails.
        """
        rows = max(1, BLOCK // len(self.table))
        parts = [self._signs(x, ends[start : start + rows]) for start in range(0, len(ends), rows)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def _signs(self, x: int, ends: Whole) -> Whole:
        rest = self.table[ends] + self.table[x]
        rest[:, x] = rest[np.arange(len(ends)), ends] = self.far
        over = rest.min(axis=1) - self.table[x, ends]
        found: Whole = np.sign(over).astype(np.int64)
        if not self.exact:
            unsure = np.flatnonzero(np.abs(over) <= NEAR)
            found[unsure] = 1
            row, z = np.nonzero(np.abs(rest[unsure] - self.table[x, ends[unsure]][:, None]) <= NEAR)
            y = ends[unsure[row]]
            np.minimum.at(found, unsure[row], self._decided(self.codes[x, z], self.codes[z, y], self.codes[x, y]))
        return found

    def _decided(self, first: Whole, second: Whole, across: Whole) -> Whole:
        """The signs of values[first] + values[second] − values[across], each triple of values decided once."""
        legs = np.sort(np.stack([first, second], axis=1), axis=1)
        triples, where = np.unique(np.column_stack([legs, across]), axis=0, return_inverse=True)
        signs = [self.sign(*triple) for triple in triples.tolist()]
        return np.array(signs, dtype=np.int64)[where.ravel()]

    def sign(self, first: int, second: int, across: int) -> int:
        """The sign of values[first] + values[second] − values[across], exact."""
        triple = (first, second, across)
        if triple not in self.known:
            self.known[triple] = sign(self.values[first] + self.values[second] - self.values[across])
        return self.known[triple]

    def between(self, x: int, y: int) -> int:
        """A point z with d(x,y) > d(x,z) + d(z,y), when there is one: the first."""
        codes = self.codes
        points = range(len(codes))
        return next(z for z in points if self.sign(int(codes[x, z]), int(codes[z, y]), int(codes[x, y])) < 0)


def check_triangles(triangles: Triangles) -> tuple[tuple[int, int, int] | None, Whole]:
    """A triangle (x, z, y) with d(x,y) > d(x,z) + d(z,y), or None; and the pairs x < y with no point between them.

    n³/2 comparisons, n² at a time.
    """
    size, found = len(triangles.codes), [NO_PAIRS]
    for x in range(size - 1):
        ends = np.arange(x + 1, size)
        signs = triangles.signs(x, ends)
        for y in ends[signs < 0][:1].tolist():
            return (x, triangles.between(x, y), y), NO_PAIRS
        found.append(_paired(x, ends[signs > 0]))
    return None, np.concatenate(found)


def edge_pairs(triangles: Triangles, pairs: Whole) -> Whole:
    """Those of the pairs (x, y), sorted, that have no point between them."""
    kept = [NO_PAIRS]
    for x in np.unique(pairs[:, 0]).tolist():
        ends = pairs[pairs[:, 0] == x, 1]
        kept.append(_paired(x, ends[triangles.signs(x, ends) > 0]))
    return np.concatenate(kept)


def _paired(x: int, ends: Whole) -> Whole:
    return np.column_stack([np.full(len(ends), x), ends])
