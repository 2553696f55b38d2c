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
from utmost.spaces.distance_order import Whole
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
LARGEST_LINE = 10**7  # counts; as many as are read without a table
CAPACITY = "its capacity needs no table and works at any size"


def line(points: int) -> Space:
    """The counts 0 … points−1 with distance |x − x′|: what one person can change of a count.

    >>> line(6).distance(1, 4), line(6).edges
    (Fraction(3, 1), ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)))
    """
    size = _points(points, "line")
    if size > LARGEST_LINE:
        raise InputError(f"line must have 1 to {LARGEST_LINE} points, got {point_count_text(size)}: group the counts")
    return Space.shaped(f"line:{size}", Line(size))


def discrete(points: int) -> Space:
    """Points 0 … points−1, all at distance 1 from each other: what randomised response knows.

    >>> discrete(3).edges, discrete(10**9).profile
    (((0, 1), (0, 2), (1, 2)), ((Fraction(0, 1), 1), (Fraction(1, 1), 999999999)))
    """
    size = _points(points, "discrete")
    return Space.shaped(f"discrete:{size}", Discrete(size))


def cycle(points: int) -> Space:
    """Points 0 … points−1 around a circle, each at distance 1 from the next: hours, weekdays, directions.

    >>> cycle(12).distance(1, 11), cycle(5).profile
    (Fraction(2, 1), ((Fraction(0, 1), 1), (Fraction(1, 1), 2), (Fraction(2, 1), 2)))
    """
    size = _points(points, "cycle")
    return Space.shaped(f"cycle:{size}", Cycle(size))


def hamming(bits: int) -> Space:
    """All words of so many bits, at the number of bits in which they differ.

    >>> hamming(2).labels, len(hamming(20))
    (('00', '01', '10', '11'), 1048576)
    """
    length = integer(bits, "bits of a hamming space")
    if not 1 <= length <= 62:
        raise InputError(f"bits of a hamming space must be 1 to 62, got {point_count_text(length)}")
    return Space.shaped(f"hamming:{length}", Hamming(length))


def grid(rows: int, columns: int, metric: Metric = "euclidean") -> Space:
    """Places "row,column" at unit spacing, as the crow flies (euclidean) or along the streets (manhattan).

    >>> str(grid(2, 3).distance(0, 5)), grid(2, 3, "manhattan").distance(0, 5), grid(2, 2).labels
    ('5^(1/2)', Fraction(3, 1), ('0,0', '0,1', '1,0', '1,1'))
    """
    height, width = _points(rows, "grid", "rows"), _points(columns, "grid", "columns")
    if metric not in get_args(Metric):
        raise InputError(f"metric of a grid must be euclidean or manhattan, got {str(metric)[:40]!r}")
    name = f"grid:{height}x{width}" + ("" if metric == "euclidean" else f":{metric}")
    return Space.shaped(name, Grid(height, width, metric))


def databases(values: Sequence[Label], rows: int) -> Space:
    """All tables of `rows` rows over `values`, at the number of rows in which they differ (Hamming distance).

    >>> databases("ab", 2).labels
    ('aa', 'ab', 'ba', 'bb')
    """
    if not 0 <= rows <= 62 or not values:
        raise InputError(f"databases must have at least one value and 0 to 62 rows, got {rows}")
    names = tuple(str(value) for value in values)
    made = Space.shaped(f"databases:{len(names)}^{rows}", Databases(names, rows))
    if len(set(names)) != len(names) or (len(made) <= MAX_TABLE_POINTS and len(set(made.labels)) != len(made)):
        raise InputError("values of a database must be distinct when written one after another")
    return made


def _points(value: object, kind: str, what: str = "points") -> int:
    size = integer(value, f"{what} of a {kind} space")
    if size < 1:
        raise InputError(f"{what} of a {kind} space must be at least 1, got {size}")
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

    instead = "its capacity needs no table, nor does the reading of a count (utmost estimate)"

    def keys(self, x: Whole, other: Whole) -> Whole:
        """|x − x′|."""
        apart: Whole = np.abs(x - other)
        return apart

    def edges(self) -> Whole:
        """Neighbours."""
        steps = np.arange(self.points - 1)
        return np.column_stack([steps, steps + 1])

    def profile(self) -> Profile | None:
        """One and two points look the same from each."""
        return tuple((Fraction(k), 1) for k in range(self.points)) if self.points <= 2 else None

    def symmetries(self) -> SymmetryGenerators:
        """The reflection."""
        turned = (np.arange(self.points)[::-1].copy(),) if self.points > 1 else ()
        return SymmetryGenerators(turned, 1 + len(turned))


@dataclass(frozen=True)
class Discrete(Numbered):
    """1 for any two points."""

    instead = CAPACITY

    def keys(self, x: Whole, other: Whole) -> Whole:
        """Whether they differ."""
        differ: Whole = (x != other).astype(np.int64)
        return differ

    def edges(self) -> Whole:
        """All pairs: 1 + 1 > 1."""
        return np.column_stack(np.triu_indices(self.points, 1))

    def profile(self) -> Profile:
        """All others at 1."""
        return _counts([1, self.points - 1])

    def symmetries(self) -> SymmetryGenerators:
        """All permutations: a transposition and a cycle generate them."""
        places = np.arange(self.points)
        swap = places.copy()
        swap[:2] = places[:2][::-1]
        generators = {1: (), 2: (swap,)}.get(self.points, (swap, np.roll(places, -1)))
        return SymmetryGenerators(generators, math.factorial(self.points))


@dataclass(frozen=True)
class Cycle(Numbered):
    """The shorter way round."""

    instead = CAPACITY

    def keys(self, x: Whole, other: Whole) -> Whole:
        """min(|x − x′|, n − |x − x′|)."""
        apart = np.abs(x - other)
        shorter: Whole = np.minimum(apart, self.points - apart)
        return shorter

    def edges(self) -> Whole:
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
        return _counts([1, *[2] * (half - 1 + odd), *[1] * (1 - odd)] if half else [1])

    def symmetries(self) -> SymmetryGenerators:
        """Rotation and reflection."""
        places = np.arange(self.points)
        turned, mirrored = np.roll(places, -1), (-places) % self.points
        if self.points <= 2:
            return SymmetryGenerators((turned,) if self.points == 2 else (), self.points)
        return SymmetryGenerators((turned, mirrored), 2 * self.points)


@dataclass(frozen=True)
class Hamming(Shape):
    """Words of `bits` bits, the first bit leftmost."""

    bits: int
    instead = CAPACITY

    @property
    def size(self) -> int:
        """2^bits."""
        return 1 << self.bits

    def label(self, position: int) -> Label:
        """The word."""
        return f"{position:0{self.bits}b}"

    def keys(self, x: Whole, other: Whole) -> Whole:
        """The number of bits that differ."""
        differ: Whole = np.bitwise_count(x ^ other).astype(np.int64)
        return differ

    def value(self, key: int) -> Number:
        """Keys are distances."""
        return Fraction(key)

    def edges(self) -> Whole:
        """Words that differ in one bit."""
        words = np.arange(self.size)
        pairs = [np.column_stack([words, words ^ (1 << k)])[words >> k & 1 == 0] for k in range(self.bits)]
        return _sorted(np.concatenate([np.zeros((0, 2), dtype=np.int64), *pairs]))

    def profile(self) -> Profile:
        """Binomial coefficients."""
        return _counts([math.comb(self.bits, k) for k in range(self.bits + 1)])

    def symmetries(self) -> SymmetryGenerators:
        """One bit flipped, neighbouring bits exchanged: of order 2^bits·bits!."""
        words = np.arange(self.size)
        swaps = [_exchanged(words, k) for k in range(self.bits - 1)]
        return SymmetryGenerators((words ^ 1, *swaps), 2**self.bits * math.factorial(self.bits))


def _exchanged(words: Whole, k: int) -> Whole:
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
        """All places."""
        return self.rows * self.columns

    def label(self, position: int) -> Label:
        """row,column."""
        row, place = divmod(position, self.columns)
        return f"{row},{place}"

    def keys(self, x: Whole, other: Whole) -> Whole:
        """The distance, squared if it is euclidean."""
        down = np.abs(x // self.columns - other // self.columns)
        across = np.abs(x % self.columns - other % self.columns)
        apart: Whole = down + across if self.metric == "manhattan" else down * down + across * across
        return apart

    def value(self, key: int) -> Number:
        """The key, or its root."""
        return Fraction(key) if self.metric == "manhattan" else _root(key)

    def edges(self) -> Whole:
        """Manhattan: neighbours. Euclidean: offsets without a common divisor, as no lattice point is on the way."""
        points = np.arange(self.size)
        x, other = np.triu_indices(self.size, 1) if self.metric == "euclidean" else self._neighbours(points)
        down, across = other // self.columns - x // self.columns, other % self.columns - x % self.columns
        pairs: Whole = np.column_stack([x, other])[np.gcd(down, across) == 1]
        return pairs

    def _neighbours(self, points: Whole) -> tuple[Whole, Whole]:
        right, below = points[points % self.columns < self.columns - 1], points[: self.size - self.columns]
        pairs = _sorted(
            np.concatenate([np.column_stack([right, right + 1]), np.column_stack([below, below + self.columns])])
        )
        return pairs[:, 0], pairs[:, 1]

    def symmetries(self) -> SymmetryGenerators:
        """Reflections of either axis, and of the diagonal if it is square: 8 in all for a square."""
        places = np.arange(self.size).reshape(self.rows, self.columns)
        mirrored = [places[::-1]] if self.rows > 1 else []
        mirrored += [places[:, ::-1]] if self.columns > 1 else []
        order = 2 ** len(mirrored)
        if self.rows == self.columns > 1:
            mirrored, order = [*mirrored, places.T], 8
        return SymmetryGenerators(tuple(image.ravel().copy() for image in mirrored), order)


@lru_cache(maxsize=1 << 16)
def _root(square: int) -> Number:
    return power(square, Fraction(1, 2))


@dataclass(frozen=True)
class Databases(Shape):
    """Tables of `rows` rows over the values, the first row leftmost."""

    values: tuple[str, ...]
    rows: int
    instead = CAPACITY

    @property
    def size(self) -> int:
        """All tables."""
        return int(len(self.values) ** self.rows)

    def label(self, position: int) -> Label:
        """The values, one after another."""
        return "".join(self.values[int(k)] for k in self._rows(np.array([position]))[0])

    def _rows(self, x: Whole) -> Whole:
        steps = len(self.values) ** np.arange(self.rows - 1, -1, -1, dtype=np.int64)
        return np.asarray(x)[..., None] // steps % len(self.values)

    def keys(self, x: Whole, other: Whole) -> Whole:
        """The number of rows that differ."""
        differ: Whole = (self._rows(x) != self._rows(other)).sum(axis=-1, dtype=np.int64)
        return differ

    def value(self, key: int) -> Number:
        """Keys are distances."""
        return Fraction(key)

    def edges(self) -> Whole:
        """Tables that differ in one row."""
        tables, base = np.arange(self.size), len(self.values)
        pairs = [np.zeros((0, 2), dtype=np.int64)]
        for step in (base**k for k in range(self.rows)):
            for up in range(1, base):
                low = tables[tables // step % base + up < base]
                pairs.append(np.column_stack([low, low + up * step]))
        return _sorted(np.concatenate(pairs))

    def profile(self) -> Profile:
        """C(rows, k)·(values − 1)^k."""
        others = len(self.values) - 1
        return _counts([math.comb(self.rows, k) * others**k for k in range(self.rows + 1)])

    def symmetries(self) -> SymmetryGenerators:
        """Values permuted in the last row, neighbouring rows exchanged: of order (values!)^rows·rows!."""
        tables, base = np.arange(self.size), len(self.values)
        if base == 1 or not self.rows:
            return SymmetryGenerators((), 1)
        moves = [tables - tables % base + image[tables % base] for image in Discrete(base).symmetries().permutations]
        for step in (base**k for k in range(self.rows - 1)):
            low, high = tables // step % base, tables // (step * base) % base
            moves.append(tables + (high - low) * step + (low - high) * step * base)
        return SymmetryGenerators(tuple(moves), math.factorial(base) ** self.rows * math.factorial(self.rows))


def _counts(counts: list[int]) -> Profile:
    """So many points at 0, 1, 2, …; distances without a point are left out."""
    return tuple((Fraction(k), count) for k, count in enumerate(counts) if count)


def _sorted(pairs: Whole) -> Whole:
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
