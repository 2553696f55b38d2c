"""Weights of kernel mechanisms at levels e^−ε, ε rational: dependencies of polynomials.

The exponents of a column are k = Σ c_i·b_i/unit with whole c_i and b_i ∈ {1, √2, √5, …}, so each entry α^k is a
monomial in the symbols s_i = α^(b_i/unit). At a level e^−ε with ε ≠ 0 rational these symbols are algebraically
independent (Lindemann–Weierstrass): a polynomial in them is zero exactly when all its coefficients are. So a dependency
is found among polynomials with whole coefficients, by their minors, and becomes numbers at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from utmost.exact import Level, Number
from utmost.exact.reals import Terms, numerator_and_denominator, simplify_quotient
from utmost.polytopes.vertices import DistanceLattice, IntArray

if TYPE_CHECKING:
    from flint import fmpz, fmpz_mpoly, fmpz_mpoly_ctx

Exponents: TypeAlias = tuple[int, ...]  # of the symbols
PolynomialKey: TypeAlias = "tuple[tuple[Exponents, fmpz], ...]"
MAX_KEPT_RATIOS = 1 << 16


class PolynomialWeights:
    """The columns α^k of a region as polynomials, and the weights of sets of them that average to uniform."""

    def __init__(self, lattice: DistanceLattice, points: Sequence[IntArray], level: Level) -> None:
        self._lattice, self._points, self._level = lattice, points, level
        self._terms: dict[Exponents, Terms] = {}
        self._ratios: dict[tuple[PolynomialKey, PolynomialKey], Number] = {}

    @cached_property
    def _columns(self) -> list[list[fmpz_mpoly]]:
        """The columns, each multiplied by a power that makes its exponents ≥ 0: that changes no weight."""
        from flint import Ordering, fmpz_mpoly_ctx

        symbols = fmpz_mpoly_ctx.get([f"s{i}" for i in range(len(self._lattice.basis))], Ordering.lex)
        shifted = ((point - point.min(axis=0)).tolist() for point in self._points)
        return [[symbols.from_dict({tuple(exponents): 1}) for exponents in point] for point in shifted]

    def weights(self, vertex_numbers: Sequence[int]) -> tuple[Number, ...]:
        """The dependency of the vectors v_x − v_0 by signed minors, each times its column's sum, over their total."""
        columns = [self._columns[v] for v in vertex_numbers]
        vectors = [[value - column[0] for value in column[1:]] for column in columns]
        for rows in combinations(range(len(columns[0]) - 1), len(columns) - 1):
            minors = maximal_minors([[vector[r] for vector in vectors] for r in rows], columns[0][0].context())
            if minors[0]:
                masses = [
                    (-1) ** k * m * sum(column[1:], start=column[0])
                    for k, (m, column) in enumerate(zip(minors, columns, strict=True))
                ]
                return self._shares(masses)
        raise AssertionError("the columns of a kernel mechanism must be independent")

    def _shares(self, masses: Sequence[fmpz_mpoly]) -> tuple[Number, ...]:
        """Each of these numbers over their sum, without the factor that all have."""
        divisor = masses[0]
        for mass in masses[1:]:
            divisor = divisor.gcd(mass)
        quotients = [mass // divisor for mass in masses]
        total = sum(quotients[1:], start=quotients[0])
        return tuple(self._ratio(quotient, total) for quotient in quotients)

    def _ratio(self, numerator: fmpz_mpoly, denominator: fmpz_mpoly) -> Number:
        """A quotient of polynomials as a number; symmetries of the space repeat most of them."""
        key = tuple(numerator.to_dict().items()), tuple(denominator.to_dict().items())
        if key not in self._ratios:
            if len(self._ratios) == MAX_KEPT_RATIOS:
                self._ratios.clear()
            self._ratios[key] = simplify_quotient(self._number_terms(numerator), self._number_terms(denominator))
        return self._ratios[key]

    def _number_terms(self, polynomial: fmpz_mpoly) -> Terms:
        """A polynomial's value as a sum of powers of e."""
        result: Terms = {}
        for exponents, coefficient in polynomial.to_dict().items():
            for monomial, factor in self._power_terms(exponents).items():
                result[monomial] = result.get(monomial, Fraction(0)) + int(coefficient) * factor
        return result

    def _power_terms(self, exponents: Exponents) -> Terms:
        if exponents not in self._terms:
            distance = self._lattice.number(exponents)
            self._terms[exponents] = numerator_and_denominator(self._level.power(distance))[0]
        return self._terms[exponents]


def maximal_minors(matrix: Sequence[Sequence[fmpz_mpoly]], context: fmpz_mpoly_ctx) -> list[fmpz_mpoly]:
    """The minors of a matrix with one column more than rows, each without one column, in order.

    By the first rows' minors, by sets of columns: without a division.
    """
    width = len(matrix) + 1
    minors = {0: context.constant(1)}
    zero = context.constant(0)
    for row in matrix:
        extended: dict[int, fmpz_mpoly] = {}
        for used, minor in minors.items():
            for c, value in enumerate(row):
                if not used >> c & 1 and value:
                    term = value * minor
                    chosen = used | 1 << c
                    extended[chosen] = extended.get(chosen, zero) + (-term if (used >> c).bit_count() % 2 else term)
        minors = extended
    everything = (1 << width) - 1
    return [minors.get(everything ^ 1 << k, zero) for k in range(width)]
