"""Columns α^k as polynomials, each entry written as one whole number, so that a test for zero is one of whole numbers.

The exponents are k = Σ c_i·b_i/unit with whole c_i and b_i ∈ {1, √2, √5, …}, so α^k is a monomial in the symbols
s_i = α^(b_i/unit). A determinant of such columns is a polynomial in the symbols with whole coefficients. If it is the
zero polynomial the determinant is zero, whatever the symbols are. (The converse needs that the symbols are
algebraically independent: known for one symbol, by Gelfond–Schneider and Hermite–Lindemann, and for all levels e^−ε
with rational ε, by Lindemann–Weierstrass. Where it is not known, balls decide or say that they cannot.)

A polynomial with coefficients below 2^(b−1) in size and degree below D in its first symbol is the zero polynomial
exactly when its value at s_1 = 2^b, s_2 = 2^(b·D), … is 0 (Kronecker's substitution).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.exact import Level
from utmost.polytopes.distance_lattice import DistanceLattice, IntArray

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
