"""The spaces that have a name: line, discrete, grid, Hamming cube, cycle, databases. All of them in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from utmost.errors import InputError
from utmost.exact import Number, integer, power
from utmost.spaces.distance_order import IntArray
from utmost.spaces.space import (
    MAX_PROFILE_POINTS,
    MAX_TABLE_POINTS,
    Label,
    Profile,
    Shape,
    Space,
    SymmetryGenerators,
    point_count_text,
)

Metric = Literal["euclidean", "manhattan"]
MAX_LINE_POINTS = 10**7  # counts; as many as are read without a table
CAPACITY_ADVICE = "its capacity needs no table and works at any size"


def line(points: int) -> Space:
    """The counts 0 … points−1 with distance |x − x′|: what one person can change of a count.

    >>> line(6).distance(1, 4), line(6).edges
    (Fraction(3, 1), ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)))
    """
    size = _check_size(points, "line")
    if size > MAX_LINE_POINTS:
        raise InputError(
            f"line must have 1 to {MAX_LINE_POINTS} points, got {point_count_text(size)}: group the counts"
        )
    return Space.from_shape(f"line:{size}", Line(size))


def discrete(points: int) -> Space:
    """Points 0 … points−1, all at distance 1 from each other: the metric of randomised response.

    >>> discrete(3).edges, discrete(10**9).profile
    (((0, 1), (0, 2), (1, 2)), ((Fraction(0, 1), 1), (Fraction(1, 1), 999999999)))
    """
    size = _check_size(points, "discrete")
    return Space.from_shape(f"discrete:{size}", Discrete(size))


def cycle(points: int) -> Space:
    """Points 0 … points−1 around a circle, each at distance 1 from the next: hours, weekdays, directions.

    >>> cycle(12).distance(1, 11), cycle(5).profile
    (Fraction(2, 1), ((Fraction(0, 1), 1), (Fraction(1, 1), 2), (Fraction(2, 1), 2)))
    """
    size = _check_size(points, "cycle")
    return Space.from_shape(f"cycle:{size}", Cycle(size))


def hamming(bits: int) -> Space:
    """All words of so many bits, at the number of bits in which they differ.

    >>> hamming(2).labels, len(hamming(20))
    (('00', '01', '10', '11'), 1048576)
    """
    length = integer(bits, "bits of a hamming space")
    if not 1 <= length <= 62:
        raise InputError(f"bits of a hamming space must be 1 to 62, got {point_count_text(length)}")
    return Space.from_shape(f"hamming:{length}", Hamming(length))


def grid(rows: int, columns: int, metric: Metric = "euclidean") -> Space:
    """Points "row,column" at unit spacing, as the crow flies (euclidean) or along the streets (manhattan).

    >>> str(grid(2, 3).distance(0, 5)), grid(2, 3, "manhattan").distance(0, 5), grid(2, 2).labels
    ('5^(1/2)', Fraction(3, 1), ('0,0', '0,1', '1,0', '1,1'))
    """
    height, width = _check_size(rows, "grid", "rows"), _check_size(columns, "grid", "columns")
    if metric not in get_args(Metric):
        raise InputError(f"metric of a grid must be euclidean or manhattan, got {str(metric)[:40]!r}")
    name = f"grid:{height}x{width}" + ("" if metric == "euclidean" else f":{metric}")
    return Space.from_shape(name, Grid(height, width, metric))


def databases(values: Sequence[Label], rows: int) -> Space:
    """All tables of `rows` rows over `values`, at the number of rows in which they differ (Hamming distance).

    >>> databases("ab", 2).labels
    ('aa', 'ab', 'ba', 'bb')
    """
    if not 0 <= rows <= 62 or not values:
        raise InputError(f"databases must have at least one value and 0 to 62 rows, got {rows}")
    names = tuple(str(value) for value in values)
    database_space = Space.from_shape(f"databases:{len(names)}^{rows}", Databases(names, rows))
    if len(set(names)) != len(names) or (
        len(database_space) <= MAX_TABLE_POINTS and len(set(database_space.labels)) != len(database_space)
    ):
        raise InputError("values of a database must be distinct when written one after another")
    return database_space


def _check_size(value: object, kind: str, unit: str = "points") -> int:
    size = integer(value, f"{unit} of a {kind} space")
    if size < 1:
        raise InputError(f"{unit} of a {kind} space must be at least 1, got {size}")
    return size


@dataclass(frozen=True)
class Numbered(Shape):
    """Points called 0 … points−1 with distances that are whole numbers."""

    points: int

    @property
    def size(self) -> int:
        """As given."""
        return self.points

    def label(self, position: int) -> Label:
        """The position itself."""
        return position

    def value(self, key: int) -> Number:
        """Keys are distances."""
        return Fraction(key)


@dataclass(frozen=True)
class Line(Numbered):
    """|x − x′|."""

    size_advice = "its capacity needs no table, nor does the reading of a count (utmost estimate)"

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """|x − x′|."""
        distance: IntArray = np.abs(x - other)
        return distance

    def edges(self) -> IntArray:
        """Neighbours."""
        steps = np.arange(self.points - 1)
        return np.column_stack([steps, steps + 1])

    def profile(self) -> Profile | None:
        """One and two points look the same from each."""
        return tuple((Fraction(k), 1) for k in range(self.points)) if self.points <= 2 else None

    def symmetries(self) -> SymmetryGenerators:
        """The reflection."""
        reflections = (np.arange(self.points)[::-1].copy(),) if self.points > 1 else ()
        return SymmetryGenerators(reflections, 1 + len(reflections))


@dataclass(frozen=True)
class Discrete(Numbered):
    """1 for any two points."""

    size_advice = CAPACITY_ADVICE

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """Whether they differ."""
        differ: IntArray = (x != other).astype(np.int64)
        return differ

    def edges(self) -> IntArray:
        """All pairs: 1 + 1 > 1."""
        return np.column_stack(np.triu_indices(self.points, 1))

    def profile(self) -> Profile:
        """All others at 1."""
        return _profile_from_counts([1, self.points - 1])

    def symmetries(self) -> SymmetryGenerators:
        """All permutations: a transposition and a cycle generate them."""
        positions = np.arange(self.points)
        swap = positions.copy()
        swap[:2] = positions[:2][::-1]
        generators = {1: (), 2: (swap,)}.get(self.points, (swap, np.roll(positions, -1)))
        return SymmetryGenerators(generators, math.factorial(self.points))


@dataclass(frozen=True)
class Cycle(Numbered):
    """The shorter way round."""

    size_advice = CAPACITY_ADVICE

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """min(|x − x′|, n − |x − x′|)."""
        difference = np.abs(x - other)
        distance: IntArray = np.minimum(difference, self.points - difference)
        return distance

    def edges(self) -> IntArray:
        """Neighbours round the circle."""
        steps = np.arange(self.points - 1)
        pairs = np.column_stack([steps, steps + 1])
        return np.insert(pairs, 1, [0, self.points - 1], axis=0) if self.points > 2 else pairs

    def profile(self) -> Profile:
        """Two points at each distance, one at half the circle."""
        half, odd = divmod(self.points, 2)
        if half > MAX_PROFILE_POINTS:
            raise InputError(
                f"the profile of cycle:{point_count_text(self.points)} has {point_count_text(half)} "
                "distances: take at most "
                f"{2 * MAX_PROFILE_POINTS} points"
            )
        return _profile_from_counts([1, *[2] * (half - 1 + odd), *[1] * (1 - odd)] if half else [1])

    def symmetries(self) -> SymmetryGenerators:
        """Rotation and reflection."""
        positions = np.arange(self.points)
        rotation, reflection = np.roll(positions, -1), (-positions) % self.points
        if self.points <= 2:
            return SymmetryGenerators((rotation,) if self.points == 2 else (), self.points)
        return SymmetryGenerators((rotation, reflection), 2 * self.points)


@dataclass(frozen=True)
class Hamming(Shape):
    """Words of `bits` bits, the first bit leftmost."""

    bits: int
    size_advice = CAPACITY_ADVICE

    @property
    def size(self) -> int:
        """2^bits."""
        return 1 << self.bits

    def label(self, position: int) -> Label:
        """The word."""
        return f"{position:0{self.bits}b}"

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """The number of bits that differ."""
        differ: IntArray = np.bitwise_count(x ^ other).astype(np.int64)
        return differ

    def value(self, key: int) -> Number:
        """Keys are distances."""
        return Fraction(key)

    def edges(self) -> IntArray:
        """Words that differ in one bit."""
        words = np.arange(self.size)
        pairs = [np.column_stack([words, words ^ (1 << k)])[words >> k & 1 == 0] for k in range(self.bits)]
        return _sort_pairs(np.concatenate([np.zeros((0, 2), dtype=np.int64), *pairs]))

    def profile(self) -> Profile:
        """Binomial coefficients."""
        return _profile_from_counts([math.comb(self.bits, k) for k in range(self.bits + 1)])

    def symmetries(self) -> SymmetryGenerators:
        """One bit flipped, neighbouring bits exchanged: of order 2^bits·bits!."""
        words = np.arange(self.size)
        swaps = [_swap_bits(words, k) for k in range(self.bits - 1)]
        return SymmetryGenerators((words ^ 1, *swaps), 2**self.bits * math.factorial(self.bits))


def _swap_bits(words: IntArray, k: int) -> IntArray:
    """Words with bits k and k+1 exchanged."""
    differ = (words >> k ^ words >> (k + 1)) & 1
    return words ^ (differ << k | differ << (k + 1))


@dataclass(frozen=True)
class Grid(Shape):
    """Points (row, column), row by row."""

    rows: int
    columns: int
    metric: Metric

    @property
    def size(self) -> int:
        """All points of the grid."""
        return self.rows * self.columns

    def label(self, position: int) -> Label:
        """row,column."""
        row, column = divmod(position, self.columns)
        return f"{row},{column}"

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """The distance, squared if it is euclidean."""
        row_offset = np.abs(x // self.columns - other // self.columns)
        column_offset = np.abs(x % self.columns - other % self.columns)
        key: IntArray = (
            row_offset + column_offset
            if self.metric == "manhattan"
            else row_offset * row_offset + column_offset * column_offset
        )
        return key

    def value(self, key: int) -> Number:
        """The key, or its root."""
        return Fraction(key) if self.metric == "manhattan" else _square_root(key)

    def edges(self) -> IntArray:
        """Manhattan: neighbours. Euclidean: offsets without a common divisor, as no lattice point is on the way."""
        points = np.arange(self.size)
        x, other = np.triu_indices(self.size, 1) if self.metric == "euclidean" else self._neighbours(points)
        row_offset, column_offset = other // self.columns - x // self.columns, other % self.columns - x % self.columns
        pairs: IntArray = np.column_stack([x, other])[np.gcd(row_offset, column_offset) == 1]
        return pairs

    def _neighbours(self, points: IntArray) -> tuple[IntArray, IntArray]:
        right, below = points[points % self.columns < self.columns - 1], points[: self.size - self.columns]
        pairs = _sort_pairs(
            np.concatenate([np.column_stack([right, right + 1]), np.column_stack([below, below + self.columns])])
        )
        return pairs[:, 0], pairs[:, 1]

    def symmetries(self) -> SymmetryGenerators:
        """Reflections of either axis, and of the diagonal if it is square: 8 in all for a square."""
        positions = np.arange(self.size).reshape(self.rows, self.columns)
        images = [positions[::-1]] if self.rows > 1 else []
        images += [positions[:, ::-1]] if self.columns > 1 else []
        order = 2 ** len(images)
        if self.rows == self.columns > 1:
            images, order = [*images, positions.T], 8
        return SymmetryGenerators(tuple(image.ravel().copy() for image in images), order)


@lru_cache(maxsize=1 << 16)
def _square_root(square: int) -> Number:
    return power(square, Fraction(1, 2))


@dataclass(frozen=True)
class Databases(Shape):
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
        return _sort_pairs(np.concatenate(pairs))

    def profile(self) -> Profile:
        """C(rows, k)·(values − 1)^k."""
        others = len(self.values) - 1
        return _profile_from_counts([math.comb(self.rows, k) * others**k for k in range(self.rows + 1)])

    def symmetries(self) -> SymmetryGenerators:
        """Values permuted in the last row, neighbouring rows exchanged: of order (values!)^rows·rows!."""
        tables, base = np.arange(self.size), len(self.values)
        if base == 1 or not self.rows:
            return SymmetryGenerators((), 1)
        permutations = [
            tables - tables % base + image[tables % base] for image in Discrete(base).symmetries().permutations
        ]
        for step in (base**k for k in range(self.rows - 1)):
            low, high = tables // step % base, tables // (step * base) % base
            permutations.append(tables + (high - low) * step + (low - high) * step * base)
        return SymmetryGenerators(tuple(permutations), math.factorial(base) ** self.rows * math.factorial(self.rows))


def _profile_from_counts(counts: list[int]) -> Profile:
    """So many points at 0, 1, 2, …; distances without a point are left out."""
    return tuple((Fraction(k), count) for k, count in enumerate(counts) if count)


def _sort_pairs(pairs: IntArray) -> IntArray:
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
