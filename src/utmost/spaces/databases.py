"""Tables of a few rows, where one row at a time may change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import InputError
from utmost.exact import Number
from utmost.spaces.discrete import DiscreteShape, discrete
from utmost.spaces.distance_order import IntArray
from utmost.spaces.space import (
    CAPACITY_ADVICE,
    MAX_TABLE_POINTS,
    Label,
    Profile,
    Shape,
    Space,
    SymmetryGenerators,
    profile_from_counts,
    sort_pairs,
)


def databases(values: Sequence[Label], rows: int) -> Space:
    """All tables of `rows` rows over `values`, at the number of rows in which they differ (Hamming distance).

    >>> databases("ab", 2).labels
    ('aa', 'ab', 'ba', 'bb')
    """
    if not 0 <= rows <= 62 or not values:
        raise InputError(f"databases must have at least one value and 0 to 62 rows, got {rows}", "databases")
    names = tuple(str(value) for value in values)
    database_space = Space.from_shape(f"databases:{len(names)}^{rows}", DatabaseShape(names, rows))
    if len(set(names)) != len(names) or (
        len(database_space) <= MAX_TABLE_POINTS and len(set(database_space.labels)) != len(database_space)
    ):
        raise InputError("values of a database must be distinct when written one after another", "values")
    return database_space


@dataclass(frozen=True)
class DatabaseShape(Shape):
    """Tables of `rows` rows over the values, the first row leftmost."""

    values: tuple[str, ...]
    rows: int
    size_advice = CAPACITY_ADVICE

    @property
    def size(self) -> int:
        """All tables."""
        return int(len(self.values) ** self.rows)

    def label(self, position: int) -> Label:
        """The values, one after another."""
        return "".join(self.values[int(k)] for k in self._row_values(np.array([position]))[0])

    def _row_values(self, x: IntArray) -> IntArray:
        steps = len(self.values) ** np.arange(self.rows - 1, -1, -1, dtype=np.int64)
        return np.asarray(x)[..., None] // steps % len(self.values)

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """The number of rows that differ."""
        differ: IntArray = (self._row_values(x) != self._row_values(other)).sum(axis=-1, dtype=np.int64)
        return differ

    def value(self, key: int) -> Number:
        """Keys are distances."""
        return Fraction(key)

    def edges(self) -> IntArray:
        """Tables that differ in one row."""
        tables, base = np.arange(self.size), len(self.values)
        pairs = [np.zeros((0, 2), dtype=np.int64)]
        for step in (base**k for k in range(self.rows)):
            for increment in range(1, base):
                low = tables[tables // step % base + increment < base]
                pairs.append(np.column_stack([low, low + increment * step]))
        return sort_pairs(np.concatenate(pairs))

    def profile(self) -> Profile:
        """C(rows, k)·(values − 1)^k."""
        others = len(self.values) - 1
        return profile_from_counts([math.comb(self.rows, k) * others**k for k in range(self.rows + 1)])

    def symmetries(self) -> SymmetryGenerators:
        """Values permuted in the last row, neighbouring rows exchanged: of order (values!)^rows·rows!."""
        tables, base = np.arange(self.size), len(self.values)
        if base == 1 or not self.rows:
            return SymmetryGenerators((), 1)
        permutations = [
            tables - tables % base + image[tables % base] for image in DiscreteShape(base).symmetries().permutations
        ]
        for step in (base**k for k in range(self.rows - 1)):
            low, high = tables // step % base, tables // (step * base) % base
            permutations.append(tables + (high - low) * step + (low - high) * step * base)
        return SymmetryGenerators(tuple(permutations), math.factorial(base) ** self.rows * math.factorial(self.rows))

    def axes(self) -> list[Space]:
        """One of all values for each row."""
        return [discrete(len(self.values))] * self.rows
