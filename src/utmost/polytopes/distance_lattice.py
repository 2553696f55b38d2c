"""Distances as vectors of whole numbers, so that sums and differences of them are compared without rounding.

Every distance is a sum Σ c·b with c rational and b a monomial ∏ p^r·e^q (1, √2, √5, …). The monomials are linearly
independent over the rationals (Besicovitch; Lindemann–Weierstrass), so two sums are equal exactly when their
coefficients are. Which of two different ones is larger is decided by integers ⌊b·2^bits⌋, with as many bits as it
takes. Once multiplied by a common denominator the coefficients are whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Number, Real, enclosure
from utmost.exact.reals import ONE, Monomial
from utmost.spaces import Space

IntArray: TypeAlias = npt.NDArray[np.int64]
FLOOR_BITS = 40  # bits after the point at which a sum is evaluated first
MAX_INT64_SUM = 1 << 62  # sums below this do not overflow


@dataclass(frozen=True, slots=True, eq=False)
class DistanceLattice:
    """The distances d(x,y) = steps[x,y]·basis/unit of a space."""

    basis: tuple[Number, ...]
    unit: int
    steps: IntArray
    basis_floors: IntArray  # b·2^FLOOR_BITS of each basis number within 2, or just 1 when all distances are rational

    def number(self, vector: IntArray) -> Number:
        """The number that a vector stands for."""
        terms = [Fraction(int(c), self.unit) * b for c, b in zip(vector, self.basis, strict=True) if c]
        return sum(terms[1:], start=terms[0]) if terms else Fraction(0)

    def smallest(self, vectors: IntArray) -> int:
        """The index of the least of these sums, decided.

        >>> from utmost.spaces import space
        >>> lattice = distance_lattice(space([[0, 1, "sqrt(2)"], [1, 0, "5/4"], ["sqrt(2)", "5/4", 0]]))
        >>> lattice.smallest(lattice.steps[2])
        2
        >>> lattice.smallest(lattice.steps[2, :2])
        1
        """
        values = vectors @ self.basis_floors
        best = int(values.argmin())
        if len(self.basis) == 1:
            return best
        errors = 2 * np.abs(vectors).sum(axis=1)
        rivals = np.flatnonzero(values - errors <= values[best] + errors[best])
        for index in rivals.tolist():
            if self.sign(vectors[index] - vectors[best]) < 0:
                best = index
        return best

    def sign(self, vector: IntArray) -> int:
        """−1, 0 or 1: 0 only if all coefficients are, otherwise decided at some precision."""
        coefficients, floors, bits = vector.tolist(), self.basis_floors.tolist(), FLOOR_BITS
        error = 0 if len(floors) == 1 else 2 * sum(map(abs, coefficients))
        while any(coefficients):
            value = sum(c * floor for c, floor in zip(coefficients, floors, strict=True))
            if abs(value) > error:
                return 1 if value > 0 else -1
            bits *= 2
            floors = scaled_floors(self.basis, bits)
        return 0


def distance_lattice(space: Space) -> DistanceLattice:
    """The lattice that the distances of a space lie in."""
    size = len(space)
    distance_terms = [_monomial_terms(value) for value in space.distances.ravel().tolist()]
    monomials = sorted({m for terms in distance_terms for m in terms} | {ONE})
    unit = math.lcm(*(c.denominator for terms in distance_terms for c in terms.values()))
    steps = [[int(terms.get(m, Fraction(0)) * unit) for m in monomials] for terms in distance_terms]
    basis = tuple(_monomial_value(m) for m in monomials)
    basis_floors = [1] if len(basis) == 1 else scaled_floors(basis, FLOOR_BITS)
    longest = 4 * size * max(sum(map(abs, vector)) for vector in steps)  # differences of paths, and to spare
    if longest * max(basis_floors) >= MAX_INT64_SUM:
        raise InputError(
            f"distances of {space.name} must have fewer digits: written in whole units they do not fit", "space"
        )
    step_array = np.array(steps, dtype=np.int64).reshape(size, size, len(monomials))
    return DistanceLattice(basis, unit, step_array, np.array(basis_floors, dtype=np.int64))


def scaled_floors(basis: Iterable[Number], bits: int) -> list[int]:
    """Integers within 2 of b·2^bits."""
    scale = 1 << bits
    return [math.floor(enclosure(b, bits + 64)[0] * scale) for b in basis]


def _monomial_terms(value: Number) -> dict[Monomial, Fraction]:
    if not isinstance(value, Real):
        return {ONE: value} if value else {}
    numerator, denominator = map(dict, value.terms())
    if denominator != {ONE: Fraction(1)}:
        raise InputError(
            "distances must be sums of roots and powers of e", "space", "multiply the space by their denominator"
        )
    return numerator


def _monomial_value(monomial: Monomial) -> Number:
    return Fraction(1) if monomial == ONE else Real({monomial: Fraction(1)}, {ONE: Fraction(1)})
