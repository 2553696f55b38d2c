"""Sort distances and compare their sums: always exact, and fast where integers or doubles decide.

Rational distances become whole numbers of a common unit. Others are first compared as doubles that are within 2^−51 of
the truth once the largest is scaled below 2; then d(x,z) + d(z,y) − d(x,y) as computed is off by less than 3·2^−51
from the distances and 2^−50 from its two roundings, below `MAX_DOUBLE_ERROR` in all. A sign that doubles show by more
than that is right; any other is decided in exact arithmetic, once for each triple of values.
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
from utmost.exact.exact_numbers import close_fraction

IntArray: TypeAlias = npt.NDArray[np.int64]
MAX_DOUBLE_ERROR = 2.0**-48
NO_PAIRS: IntArray = np.zeros((0, 2), dtype=np.int64)
SUMS_PER_BLOCK = 1 << 16  # computed at a time, so that they fit in the cache
MAX_SUMMABLE_INTEGER = 1 << 60  # whole numbers whose sums are far from overflow


def sort_distinct(numbers: Sequence[Number]) -> tuple[tuple[Number, ...], IntArray]:
    """The distinct numbers in increasing order, and the position of each given one among them; equality is decided.

    >>> from utmost.exact import number
    >>> values, positions = sort_distinct([number("sqrt(8)"), Fraction(2), number("sqrt(2)+sqrt(2)"), Fraction(0)])
    >>> [str(v) for v in values], positions.tolist()
    (['0', '2', '2*2^(1/2)'], [2, 1, 2, 0])
    """
    if not any(isinstance(value, Real) for value in numbers):
        values = sorted(set(numbers))
        position = {value: k for k, value in enumerate(values)}
        return tuple(values), np.array([position[value] for value in numbers], dtype=np.int64)
    doubles = scaled_doubles(numbers)
    order = np.argsort(doubles, kind="stable")
    breaks = np.flatnonzero(np.diff(doubles[order]) > MAX_DOUBLE_ERROR) + 1
    distinct: list[Number] = []
    positions = np.zeros(len(numbers), dtype=np.int64)
    for cluster in np.split(order, breaks):
        cluster_values, cluster_positions = _sort_close_numbers([numbers[k] for k in cluster])
        positions[cluster] = np.array(cluster_positions, dtype=np.int64) + len(distinct)
        distinct += cluster_values
    return tuple(distinct), positions


def _sort_close_numbers(numbers: Sequence[Number]) -> tuple[list[Number], list[int]]:
    """`sort_distinct`, for numbers that doubles do not tell apart."""
    distinct: list[Number] = []
    for value in numbers:
        if not any(value is other or value == other for other in distinct):
            distinct.append(value)
    distinct.sort(key=cmp_to_key(_compare))
    return distinct, [
        next(k for k, other in enumerate(distinct) if value is other or value == other) for value in numbers
    ]


def _compare(first: Number, second: Number) -> int:
    return sign(first - second)


def code_distances(matrix: npt.NDArray[np.object_]) -> tuple[tuple[Number, ...], IntArray]:
    """The distinct entries in increasing order, and the matrix of their numbers in it."""
    entries = matrix.ravel().tolist()
    addresses = np.fromiter(map(id, entries), dtype=np.int64, count=len(entries))
    _, first, inverse = np.unique(addresses, return_index=True, return_inverse=True)
    values, positions = sort_distinct([entries[k] for k in first.tolist()])
    return values, positions[inverse].reshape(matrix.shape)


def scaled_doubles(numbers: Sequence[Number]) -> npt.NDArray[np.float64]:
    """Doubles within 2^−51 of the numbers, all multiplied by a power of 2 that brings the largest into [1/2, 2)."""
    fractions = [close_fraction(value) for value in numbers]
    largest = max((abs(value) for value in fractions), default=Fraction(0))
    shift = largest.denominator.bit_length() - largest.numerator.bit_length()
    scale = Fraction(2) ** shift if largest else Fraction(1)
    return np.array([float(value * scale) for value in fractions], dtype=np.float64)


def integer_multiples(values: Sequence[Number]) -> IntArray | None:
    """The values as multiples of a common unit, if they are rational and these are small enough for sums in int64."""
    rationals = [value for value in values if not isinstance(value, Real)]
    unit = 1
    for value in rationals:
        unit = math.lcm(unit, value.denominator)
        if unit > MAX_SUMMABLE_INTEGER:
            return None
    multiples = [int(value * unit) for value in rationals]
    are_summable = len(rationals) == len(values) and max(map(abs, multiples), default=0) <= MAX_SUMMABLE_INTEGER
    return np.array(multiples, dtype=np.int64) if are_summable else None


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """All triangles of a symmetric table of distances: `values` increasing, `codes` their numbers in it.

    `table` holds the distances as whole numbers if `exact`, else as nearby doubles.
    """

    values: tuple[Number, ...]
    codes: IntArray
    table: npt.NDArray[Any]
    exact: bool
    above_all_sums: float  # more than any sum
    cached_signs: dict[tuple[int, int, int], int] = field(default_factory=dict)

    @classmethod
    def from_codes(cls, values: tuple[Number, ...], codes: IntArray) -> Triangles:
        """From the distinct values and the table of their numbers."""
        multiples = integer_multiples(values)
        if multiples is None:
            return cls(values, codes, scaled_doubles(values)[codes], False, 8.0)
        largest = int(multiples.max(initial=0))
        return cls(
            values,
            codes,
            (multiples.astype(np.int32) if largest < 1 << 29 else multiples)[codes],
            True,
            2 * largest + 1,
        )

    def signs(self, x: int, endpoints: IntArray) -> IntArray:
        """For each y of `endpoints`: the least sign of d(x,z) + d(z,y) − d(x,y) over all z ≠ x, y (1 if none).

        0: there is a point between x and y; −1: the triangle inequality fails.
        """
        rows = max(1, SUMS_PER_BLOCK // len(self.table))
        blocks = [self._block_signs(x, endpoints[start : start + rows]) for start in range(0, len(endpoints), rows)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *blocks])

    def _block_signs(self, x: int, endpoints: IntArray) -> IntArray:
        detours = self.table[endpoints] + self.table[x]
        detours[:, x] = detours[np.arange(len(endpoints)), endpoints] = self.above_all_sums
        excess = detours.min(axis=1) - self.table[x, endpoints]
        signs: IntArray = np.sign(excess).astype(np.int64)
        if not self.exact:
            unsure = np.flatnonzero(np.abs(excess) <= MAX_DOUBLE_ERROR)
            signs[unsure] = 1
            row, z = np.nonzero(np.abs(detours[unsure] - self.table[x, endpoints[unsure]][:, None]) <= MAX_DOUBLE_ERROR)
            y = endpoints[unsure[row]]
            np.minimum.at(signs, unsure[row], self._decide_signs(self.codes[x, z], self.codes[z, y], self.codes[x, y]))
        return signs

    def _decide_signs(self, first: IntArray, second: IntArray, direct: IntArray) -> IntArray:
        """The signs of values[first] + values[second] − values[direct], each triple of values decided once."""
        legs = np.sort(np.stack([first, second], axis=1), axis=1)
        triples, inverse = np.unique(np.column_stack([legs, direct]), axis=0, return_inverse=True)
        signs = [self.sign(*triple) for triple in triples.tolist()]
        return np.array(signs, dtype=np.int64)[inverse.ravel()]

    def sign(self, first: int, second: int, direct: int) -> int:
        """The sign of values[first] + values[second] − values[direct], exact."""
        triple = (first, second, direct)
        if triple not in self.cached_signs:
            self.cached_signs[triple] = sign(self.values[first] + self.values[second] - self.values[direct])
        return self.cached_signs[triple]

    def shortcut(self, x: int, y: int) -> int:
        """A point z with d(x,y) > d(x,z) + d(z,y), when there is one: the first."""
        codes = self.codes
        points = range(len(codes))
        return next(z for z in points if self.sign(int(codes[x, z]), int(codes[z, y]), int(codes[x, y])) < 0)


def check_triangles(triangles: Triangles) -> tuple[tuple[int, int, int] | None, IntArray]:
    """A triangle (x, z, y) with d(x,y) > d(x,z) + d(z,y), or None; and the pairs x < y with no point between them.

    n³/2 comparisons, n² at a time.
    """
    size, edges = len(triangles.codes), [NO_PAIRS]
    for x in range(size - 1):
        endpoints = np.arange(x + 1, size)
        signs = triangles.signs(x, endpoints)
        for y in endpoints[signs < 0][:1].tolist():
            return (x, triangles.shortcut(x, y), y), NO_PAIRS
        edges.append(_pairs_with(x, endpoints[signs > 0]))
    return None, np.concatenate(edges)


def edge_pairs(triangles: Triangles, pairs: IntArray) -> IntArray:
    """Those of the pairs (x, y), sorted, that have no point between them."""
    edges = [NO_PAIRS]
    for x in np.unique(pairs[:, 0]).tolist():
        endpoints = pairs[pairs[:, 0] == x, 1]
        edges.append(_pairs_with(x, endpoints[triangles.signs(x, endpoints) > 0]))
    return np.concatenate(edges)


def _pairs_with(x: int, endpoints: IntArray) -> IntArray:
    return np.column_stack([np.full(len(endpoints), x), endpoints])
