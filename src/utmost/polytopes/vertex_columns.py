"""The columns α^k of the vertices of a region: as polynomials, and their exact signs, ranks and determinants.

Columns α^k as polynomials, each entry written as one whole number, so that a test for zero is one of whole numbers.

The exponents are k = Σ c_i·b_i/unit with whole c_i and b_i ∈ {1, √2, √5, …}, so α^k is a monomial in the symbols
s_i = α^(b_i/unit). A determinant of such columns is a polynomial in the symbols with whole coefficients. If it is the
zero polynomial the determinant is zero, whatever the symbols are. (The converse needs that the symbols are
algebraically independent: known for one symbol, by Gelfond–Schneider and Hermite–Lindemann, and for all levels e^−ε
with rational ε, by Lindemann–Weierstrass. Where it is not known, balls decide or say that they cannot.)

A polynomial with coefficients below 2^(b−1) in size and degree below D in its first symbol is the zero polynomial
exactly when its value at s_1 = 2^b, s_2 = 2^(b·D), … is 0 (Kronecker's substitution).

Exact signs and ranks of the vertices of a region, for the search for kernel mechanisms.

The search represents a vertex v by the vector w = (v_x − v_0) for x ≠ 0, in which the uniform vector is 0: a set of
vertices averages to uniform exactly when a positive combination of its vectors w vanishes. It computes with doubles
that carry a bound of their error; where the bound does not decide the sign, this module does.

The rank of many small matrices of whole numbers is found at once, by residues: a minor of t columns is at most the
product of their Euclidean lengths (Hadamard). If all minors of size t vanish modulo primes whose product is larger than
that, they vanish. If one does not vanish modulo one prime, it does not vanish.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpz

from utmost.errors import UndecidedError
from utmost.exact import Level, Number, Real, ball, nearest_double
from utmost.exact.working_precision import working_precision
from utmost.polytopes.vertices import DistanceLattice, IntArray

if TYPE_CHECKING:
    from flint import arb

PolynomialColumns: TypeAlias = tuple[tuple[int, ...], ...]  # one tuple a column
COEFFICIENT_BITS = 20  # bits of the coefficients of a row of functionals, of a difference, and a sign


def polynomial_columns(lattice: DistanceLattice, points: Sequence[IntArray], level: Level) -> PolynomialColumns | None:
    """A multiple of each column α^k, substituted; None where a symbol would be an algebraic number.

    Determinants of at most n combinations Σ g_x·(v_x − v_0) with |g_x| < 2^16 vanish as polynomials exactly when they
    do as whole numbers.
    """
    powers = np.stack(points) - np.stack(points).min(axis=1, keepdims=True)
    rational, symbols = _split_exponents(lattice, powers, level)
    if rational is None:
        return None
    base = level.alpha if isinstance(level.alpha, Fraction) else Fraction(1)
    numbers = [_integer_powers(base, column) for column in rational.tolist()]
    size = powers.shape[1]
    largest = max((max(column) for column in numbers), default=1)
    bits = math.factorial(size).bit_length() + size * (largest.bit_length() + size.bit_length() + COEFFICIENT_BITS)
    shifts = _symbol_shifts(symbols.max(axis=(0, 1), initial=0).tolist(), size, bits)
    exponents = [[sum(s * c for s, c in zip(shifts, cs, strict=True)) for cs in column] for column in symbols.tolist()]
    return tuple(
        tuple(value << exponent for value, exponent in zip(column, powers_of_two, strict=True))
        for column, powers_of_two in zip(numbers, exponents, strict=True)
    )


def _split_exponents(
    lattice: DistanceLattice, powers: IntArray, level: Level
) -> tuple[npt.NDArray[np.int64] | None, IntArray]:
    """Exponents of the rational number α, and exponents of symbols."""
    rational_index = next(i for i, b in enumerate(lattice.basis) if b == 1)
    if level.exponent is not None:
        return np.zeros(powers.shape[:2], dtype=np.int64), powers
    if not isinstance(level.alpha, Fraction) or (powers[:, :, rational_index] % lattice.unit).any():
        return None, powers
    return powers[:, :, rational_index] // lattice.unit, np.delete(powers, rational_index, axis=2)


def _integer_powers(base: Fraction, exponents: list[int]) -> list[int]:
    """base^e for each exponent ≥ 0, times the denominator's largest power."""
    highest = max(exponents)
    return [base.numerator**e * base.denominator ** (highest - e) for e in exponents]


def _symbol_shifts(degrees: list[int], size: int, bits: int) -> list[int]:
    """The binary exponent that each symbol stands for: room for `size` factors of each lower one."""
    shifts, next_shift = [], bits
    for degree in degrees:
        shifts.append(next_shift)
        next_shift *= size * degree + 1
    return shifts


MAX_PRIME = (1 << 31) - 1  # products of two residues fit


def are_dependent(columns: Sequence[Sequence[int]], column_sets: IntArray) -> npt.NDArray[np.bool_]:
    """Which rows of `column_sets`, each naming t columns, name linearly dependent ones.

    >>> are_dependent([(1, 0), (0, 1), (2, 2), (3, 3)], np.array([[0, 1], [2, 3], [0, 2]])).tolist()
    [False, True, False]
    """
    bound = _largest_minor(columns, column_sets.shape[1])
    result, product = np.ones(len(column_sets), dtype=bool), 1
    for prime in primes():
        if product > bound or not result.any():
            return result
        residues = np.array([[v % prime for v in column] for column in columns], dtype=np.int64)
        undecided = np.flatnonzero(result)
        result[undecided] = _dependent_modulo(residues[column_sets[undecided]].transpose(0, 2, 1).copy(), prime)
        product *= prime
    raise AssertionError("the primes do not end")


def primes() -> Iterator[int]:
    """Primes below 2^31, from the largest on."""
    return (p for p in range(MAX_PRIME, 2, -2) if fmpz(p).is_prime())


def _largest_minor(columns: Sequence[Sequence[int]], size: int) -> int:
    squares = sorted((sum(v * v for v in column) for column in columns), reverse=True)
    return math.isqrt(math.prod(squares[:size])) + 1


def _dependent_modulo(matrices: IntArray, prime: int) -> npt.NDArray[np.bool_]:
    """Which of the matrices (one a leading index; they are changed) have dependent columns modulo a prime."""
    count, height, width = matrices.shape
    if width > height:
        return np.ones(count, dtype=bool)
    matrix_numbers, dependent = np.arange(count), np.zeros(count, dtype=bool)
    for c in range(width):
        pivot = c + (matrices[:, c:, c] != 0).argmax(axis=1)
        matrices[matrix_numbers, pivot], matrices[:, c] = matrices[:, c].copy(), matrices[matrix_numbers, pivot]
        lead = matrices[:, c, c]
        dependent |= lead == 0
        below = matrices[:, c + 1 :, c + 1 :]
        products = below * lead[:, None, None] % prime
        below[:] = (products - matrices[:, c + 1 :, c, None] * matrices[:, c, None, c + 1 :] % prime) % prime
    return dependent


Flags: TypeAlias = npt.NDArray[np.bool_]
Doubles: TypeAlias = npt.NDArray[np.float64]
Row: TypeAlias = tuple[int, ...]  # whole coefficients of a functional on the vectors w
Column: TypeAlias = tuple[Number, ...]
MAX_PRECISION_BITS = 1 << 14
MIN_DOUBLE = 2.0**-300  # numbers below this are not put into doubles


class Columns(Protocol):
    """The vectors w of all vertices, in dimension `dimension`."""

    count: int
    dimension: int

    def doubles(self, row: Row) -> Doubles:
        """row·w for every vertex, each as the nearest double or the next to it; NaN if that is too small."""

    def dependent_sets(self, vertex_sets: IntArray) -> Flags:
        """Which sets of vertices (one a row), whose vectors have rank at least their number − 1, are dependent."""

    def resolve(self, rows: Sequence[Row], vertex_numbers: Sequence[int]) -> tuple[list[float], float]:
        """λ > 0 with rows[k]·Σ λ_i w_i = 0 for all but the last row, and the value of the last.

        Doubles as near as above; the value is 0.0 only if it is exactly 0. If they are too small the weights are NaN,
        and the value is ±1.
        """


def vertex_columns(vertices: Sequence[Column], polynomials: PolynomialColumns | None = None) -> Columns:
    """Whole numbers if all entries are rational, otherwise balls with exact tests for zero."""
    if any(isinstance(value, Real) for column in vertices for value in column):
        return RealColumns(vertices, polynomials)
    return IntegerColumns([integer_column(column) for column in vertices])


def integer_column(column: Column) -> list[int]:
    """A multiple of a rational column whose entries are whole.

    >>> integer_column((Fraction(1), Fraction(1, 2), Fraction(1, 4)))
    [4, 2, 1]
    """
    unit = math.lcm(*(value.denominator for value in column))  # type: ignore[union-attr]
    return [int(value * unit) for value in column]  # type: ignore[arg-type]


class IntegerColumns:
    """Vectors of whole numbers; a column may be a positive multiple of its vertex, which changes no sign."""

    def __init__(self, columns: Sequence[Sequence[int]]) -> None:
        self.vectors = [tuple(value - column[0] for value in column[1:]) for column in columns]
        self.count, self.dimension = len(columns), len(columns[0]) - 1
        self._units = [max(column) for column in columns]

    def doubles(self, row: Row) -> Doubles:
        """row·w, divided by the column's largest entry so that columns are of one size."""
        values = zip(self.vectors, self._units, strict=True)
        return np.array([_quotient_double(_inner_product(row, w), unit) for w, unit in values], dtype=np.float64)

    def dependent_sets(self, vertex_sets: IntArray) -> Flags:
        """By residues: nothing is rounded."""
        return are_dependent(self.vectors, vertex_sets)

    def resolve(self, rows: Sequence[Row], vertex_numbers: Sequence[int]) -> tuple[list[float], float]:
        """By exact elimination."""
        from flint import fmpz_mat

        table = [[_inner_product(row, self.vectors[i]) for i in vertex_numbers] for row in rows]
        basis, nullity = fmpz_mat(len(rows) - 1, len(vertex_numbers), [v for r in table[:-1] for v in r]).nullspace()
        if nullity != 1:
            raise AssertionError("a ray's vectors must have exactly one dependency")
        if len({basis[i, 0] > 0 for i in range(len(vertex_numbers))}) != 1:
            raise AssertionError("a ray's weights must have one sign")
        weights = [abs(int(basis[i, 0])) * self._units[c] for i, c in enumerate(vertex_numbers)]
        value = sum(abs(int(basis[i, 0])) * table[-1][i] for i in range(len(vertex_numbers)))
        largest = max(weights)
        return _doubles_or_sign(
            [_quotient_double(w, largest) for w in weights], _quotient_double(value, largest), (value > 0) - (value < 0)
        )


def _inner_product(row: Row, vector: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(row, vector, strict=True))


def _quotient_double(value: int, unit: int) -> float:
    quotient = value / unit  # Python divides whole numbers to the nearest double
    return quotient if abs(quotient) > MIN_DOUBLE or not value else math.nan


def _doubles_or_sign(weights: list[float], value: float, sign: int) -> tuple[list[float], float]:
    """As they are, if none is too small; else only the sign."""
    if all(abs(number) > MIN_DOUBLE for number in (*weights, value if sign else 1.0)):
        return weights, value
    return [math.nan] * len(weights), float(sign)


@dataclass(frozen=True, slots=True)
class _Balls:
    """The vectors w at one precision."""

    bits: int
    vectors: list[list[arb]]


class RealColumns:
    """Vectors of exact irrational numbers: signs by balls at rising precision, zero as polynomials where they are some.

    Without `polynomials`, the test for zero takes determinants of exact numbers, which is slower.
    """

    def __init__(self, vertices: Sequence[Column], polynomials: PolynomialColumns | None = None) -> None:
        self._polynomials = (
            None if polynomials is None else [[value - column[0] for value in column[1:]] for column in polynomials]
        )
        self.vectors = [tuple(value - column[0] for value in column[1:]) for column in vertices]
        self.count, self.dimension = len(vertices), len(vertices[0]) - 1
        self._balls: dict[int, _Balls] = {}

    def _balls_at(self, bits: int) -> _Balls:
        if bits not in self._balls:
            self._balls[bits] = _Balls(bits, [[ball(value, bits) for value in w] for w in self.vectors])
        return self._balls[bits]

    def doubles(self, row: Row) -> Doubles:
        """row·w by balls; one that no precision separates from 0 is 0, which `resolve` then decides."""
        return np.array([self._product_double(row, i) for i in range(self.count)], dtype=np.float64)

    def _product_double(self, row: Row, vertex: int) -> float:
        if not _exact_product(row, self.vectors[vertex]):
            return 0.0
        bits = 128
        while (value := _ball_product(self._balls_at(bits), row, vertex)).rel_accuracy_bits() < 60:
            bits *= 2
        rounded = nearest_double(value)
        return rounded if abs(rounded) > MIN_DOUBLE else math.nan

    def dependent_sets(self, vertex_sets: IntArray) -> Flags:
        """Rank of polynomials, or determinants of exact numbers where balls do not show that they differ from 0."""
        from flint import fmpz_mat

        if self._polynomials is None:
            return np.array([self._vanishes(tuple(row)) for row in vertex_sets.tolist()], dtype=bool)
        size = vertex_sets.shape[1]
        ranks = (fmpz_mat([self._polynomials[c] for c in row]).rank() for row in vertex_sets.tolist())
        return np.array([rank < size for rank in ranks], dtype=bool)

    def _vanishes(self, vertex_numbers: tuple[int, ...]) -> bool:
        rows = self._independent_rows(vertex_numbers)
        if rows is None:
            return False
        others = [r for r in range(self.dimension) if r not in rows]
        return all(
            not exact_determinant([[self.vectors[c][r] for c in vertex_numbers] for r in (*rows, other)])
            for other in others
        )

    def _independent_rows(self, vertex_numbers: tuple[int, ...]) -> tuple[int, ...] | None:
        """Rows on which the chosen vectors have full rank but one; None if balls show full rank."""
        from itertools import combinations

        size, balls = len(vertex_numbers), self._balls_at(256)
        for rows in combinations(range(self.dimension), size):
            if not _minor(balls, rows, vertex_numbers).contains(0):
                return None
        for rows in combinations(range(self.dimension), size - 1):
            for omitted in range(size):
                if not _minor(balls, rows, vertex_numbers[:omitted] + vertex_numbers[omitted + 1 :]).contains(0):
                    return rows
        raise UndecidedError("the rank of some vertices is not decided by 256 bits")

    def resolve(self, rows: Sequence[Row], vertex_numbers: Sequence[int]) -> tuple[list[float], float]:
        """By balls, at the precision that decides; whether the value is 0, exactly."""
        bits, is_zero = 256, None
        while bits <= MAX_PRECISION_BITS:
            weights, value = _dependency(self._balls_at(bits), rows, vertex_numbers)
            if is_zero is None and value.contains(0):
                is_zero = self._is_zero(rows, vertex_numbers)
            if all(w.rel_accuracy_bits() >= 60 for w in (weights if is_zero else [*weights, value])):
                return _scaled_doubles(weights, None if is_zero else value)
            bits *= 2
        raise UndecidedError(f"the sign of a determinant is not decided by {MAX_PRECISION_BITS} bits")

    def _is_zero(self, rows: Sequence[Row], vertex_numbers: Sequence[int]) -> bool:
        from flint import fmpz_mat

        if self._polynomials is not None:
            return not fmpz_mat(
                [[_inner_product(row, self._polynomials[c]) for c in vertex_numbers] for row in rows]
            ).det()
        return not exact_determinant([[_exact_product(row, self.vectors[c]) for c in vertex_numbers] for row in rows])


def _exact_product(row: Row, vector: Sequence[Number]) -> Number:
    return sum((g * v for g, v in zip(row, vector, strict=True)), start=Fraction(0))


def exact_determinant(matrix: Sequence[Sequence[Number]]) -> Number:
    """The determinant of exact numbers, without a division: minors of the first rows, by sets of columns."""
    minors: dict[int, Number] = {0: Fraction(1)}
    for row in matrix:
        extended: dict[int, Number] = {}
        for used, minor in minors.items():
            for c, value in enumerate(row):
                if not used >> c & 1 and value:
                    sign = -1 if (used >> c).bit_count() % 2 else 1
                    extended[used | 1 << c] = extended.get(used | 1 << c, Fraction(0)) + sign * value * minor
        minors = {used: minor for used, minor in extended.items() if minor}
    return minors.get((1 << len(matrix)) - 1, Fraction(0))


def _scaled_doubles(weights: list[arb], value: arb | None) -> tuple[list[float], float]:
    """Doubles near the weights and the value (None: 0), divided by a weight."""
    with working_precision(128):
        doubles = [nearest_double(w / weights[0]) for w in weights]
        return _doubles_or_sign(
            doubles, *((0.0, 0) if value is None else (nearest_double(value / weights[0]), 1 if value > 0 else -1))
        )


def _ball_product(balls: _Balls, row: Row, vertex: int) -> arb:
    from flint import arb

    with working_precision(balls.bits):
        return sum((g * v for g, v in zip(row, balls.vectors[vertex], strict=True)), start=arb(0))


def _minor(balls: _Balls, rows: tuple[int, ...], vertex_numbers: tuple[int, ...]) -> arb:
    return _determinant([[balls.vectors[c][r] for c in vertex_numbers] for r in rows], balls.bits)


def _determinant(table: list[list[arb]], bits: int) -> arb:
    from flint import arb, arb_mat

    with working_precision(bits):
        return arb_mat(table).det() if table else arb(1)


def _dependency(balls: _Balls, rows: Sequence[Row], vertex_numbers: Sequence[int]) -> tuple[list[arb], arb]:
    """|minors| of all rows but the last, which are the dependency's weights, and what the last row makes of them."""
    from flint import arb

    table = [[_ball_product(balls, row, c) for c in vertex_numbers] for row in rows]
    minors = [
        _determinant([line[:k] + line[k + 1 :] for line in table[:-1]], balls.bits) for k in range(len(vertex_numbers))
    ]
    with working_precision(balls.bits):
        weights = [abs(minor) for minor in minors]
        return weights, sum((w * v for w, v in zip(weights, table[-1], strict=True)), start=arb(0))
