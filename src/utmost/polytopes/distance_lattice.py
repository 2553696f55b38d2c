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

Whole: TypeAlias = npt.NDArray[np.int64]
FINE = 40  # bits after the point of the first look at a sum
FITS = 1 << 62  # sums below this do not overflow


@dataclass(frozen=True, slots=True, eq=False)
class DistanceLattice:
    """The distances d(x,y) = steps[x,y]·basis/unit of a space."""

    basis: tuple[Number, ...]
    unit: int
    steps: Whole
    near: Whole  # b·2^FINE of each basis number within 2, or just 1 when all distances are rational

    def number(self, vector: Whole) -> Number:
        """The number that a vector stands for."""
        parts = [Fraction(int(c), self.unit) * b for c, b in zip(vector, self.basis, strict=True) if c]
        return sum(parts[1:], start=parts[0]) if parts else Fraction(0)

    def smallest(self, vectors: Whole) -> int:
        """The place of the least of these sums, decided.

        >>> from utmost.spaces import space
        >>> lattice = distance_lattice(space([[0, 1, "sqrt(2)"], [1, 0, "5/4"], ["sqrt(2)", "5/4", 0]]))
        >>> lattice.smallest(lattice.steps[2])
        2
        >>> lattice.smallest(lattice.steps[2, :2])
        1
        """
        values = vectors @ self.near
        best = int(values.argmin())
        if len(self.basis) == 1:
            return best
        errors = 2 * np.abs(vectors).sum(axis=1)
        rivals = np.flatnonzero(values - errors <= values[best] + errors[best])
        for place in rivals.tolist():
            if self.sign(vectors[place] - vectors[best]) < 0:
                best = place
        return best

    def sign(self, vector: Whole) -> int:
        """−1, 0 or 1: 0 only if all coefficients are, otherwise found at some precision."""
        coefficients, near, bits = vector.tolist(), self.near.tolist(), FINE
        error = 0 if len(near) == 1 else 2 * sum(map(abs, coefficients))
        while any(coefficients):
            value = sum(c * floor for c, floor in zip(coefficients, near, strict=True))
            if abs(value) > error:
                return 1 if value > 0 else -1
            bits *= 2
            near = floors(self.basis, bits)
        return 0


def distance_lattice(space: Space) -> DistanceLattice:
    """The lattice that the distances of a space lie in."""
    size = len(space)
    terms = [_terms(value) for value in space.distances.ravel().tolist()]
    monomials = sorted({m for one in terms for m in one} | {ONE})
    unit = math.lcm(*(c.denominator for one in terms for c in one.values()))
    steps = [[int(one.get(m, Fraction(0)) * unit) for m in monomials] for one in terms]
    basis = tuple(_number(m) for m in monomials)
    near = [1] if len(basis) == 1 else floors(basis, FINE)
    longest = 4 * size * max(sum(map(abs, vector)) for vector in steps)  # differences of paths, and to spare
    if longest * max(near) >= FITS:
        raise InputError(f"distances of {space.name} must have fewer digits: written in whole units they do not fit")
    shaped = np.array(steps, dtype=np.int64).reshape(size, size, len(monomials))
    return DistanceLattice(basis, unit, shaped, np.array(near, dtype=np.int64))


def floors(basis: Iterable[Number], bits: int) -> list[int]:
    """Integers within 2 of b·2^bits."""
    scale = 1 << bits
    return [math.floor(enclosure(b, bits + 64)[0] * scale) for b in basis]


def _terms(value: Number) -> dict[Monomial, Fraction]:
    if not isinstance(value, Real):
        return {ONE: value} if value else {}
    above, below = map(dict, value.terms())
    if below != {ONE: Fraction(1)}:
        raise InputError("distances must be sums of roots and powers of e: multiply the space by their denominator")
    return above


def _number(monomial: Monomial) -> Number:
    return Fraction(1) if monomial == ONE else Real({monomial: Fraction(1)}, {ONE: Fraction(1)})
