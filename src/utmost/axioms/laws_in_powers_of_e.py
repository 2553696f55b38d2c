"""Laws whose probabilities are rational functions of one power of e: polynomials over one denominator.

A mechanism at a level ε has entries such as (e^(−1/5) − e^(−3/10))/(1 + e^(−1/10)). With x = e^(1/d) for a common
denominator d of the exponents they are quotients of polynomials in x with rational coefficients, and x is
transcendental: products, sums and equality of polynomials are those of the numbers, and common factors cancel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from utmost.exact import Number, Real, exponential
from utmost.exact.reals import ONE, Monomial

if TYPE_CHECKING:
    from flint import fmpq_poly

Terms: TypeAlias = "Mapping[Monomial, Fraction]"
MAX_DEGREE = 20_000  # degree of a polynomial


@dataclass(frozen=True, slots=True)
class Unit:
    """x = e^(1/steps); `min_exponent` is the smallest power of x that occurs, so x^−min_exponent makes all ≥ 0."""

    steps: int
    min_exponent: int

    def polynomial(self, terms: Terms) -> fmpq_poly:
        """A sum of powers of e as a polynomial in x, times x^−min_exponent."""
        from flint import fmpq, fmpq_poly

        coefficient_by_power = {
            int(Fraction(exponent) * self.steps) - self.min_exponent: c  # type: ignore[arg-type]
            for (exponent, _), c in terms.items()
        }
        coefficients = [fmpq(0)] * (max(coefficient_by_power, default=-1) + 1)
        for power, c in coefficient_by_power.items():
            coefficients[power] = fmpq(c.numerator, c.denominator)
        return fmpq_poly(coefficients)

    def number(self, numerator: fmpq_poly, denominator: fmpq_poly) -> Number:
        """The quotient of two polynomials at x, in lowest terms."""
        common = numerator.gcd(denominator)
        return self._evaluate(numerator // common) / self._evaluate(denominator // common)

    def _evaluate(self, polynomial: fmpq_poly) -> Number:
        terms = [
            Fraction(int(c.p), int(c.q)) * exponential(Fraction(k, self.steps))
            for k, c in enumerate(polynomial.coeffs())
            if c
        ]
        return pairwise_sum(terms)


def pairwise_sum(terms: Sequence[Number]) -> Number:
    """The sum, by halves, so that most sums are short."""
    if len(terms) <= 4:
        return sum(terms, Fraction(0))
    half = len(terms) // 2
    return pairwise_sum(terms[:half]) + pairwise_sum(terms[half:])


def common_unit(numbers: Iterable[Number]) -> Unit | None:
    """A unit in which all these numbers are quotients of polynomials; None if there is none, or all are rational.

    >>> common_unit([exponential(Fraction(-1, 10)), exponential(Fraction(1, 4))])
    Unit(steps=20, min_exponent=-2)
    """
    exponents: set[Fraction] = set()
    for value in numbers:
        for terms in value.terms() if isinstance(value, Real) else ():
            for exponent, radicals in terms:
                if radicals or not isinstance(exponent, Fraction):
                    return None
                exponents.add(exponent)
    steps = math.lcm(*(exponent.denominator for exponent in exponents))
    powers = {0, *(int(exponent * steps) for exponent in exponents)}
    return Unit(steps, min(powers)) if exponents and max(powers) - min(powers) <= MAX_DEGREE else None


def lowest_terms(value: Number) -> Number:
    """The same number in lowest terms, where it is rational in a power of e; others as they are.

    >>> e = exponential(1)
    >>> (
    ...     str((e + 2) * (e - 1) / ((e + 2) * (e + 1))),
    ...     str(lowest_terms((e + 2) / ((e + 2) * e))),
    ... )
    ('(1 + exp(-1) - 2*exp(-2))/(1 + 3*exp(-1) + 2*exp(-2))', 'exp(-1)')
    """
    unit = common_unit([value])
    if unit is None or not isinstance(value, Real):
        return value
    numerator, denominator = (unit.polynomial(terms) for terms in value.terms())
    return unit.number(numerator, denominator)


def over_common_denominator(numbers: Sequence[Number], unit: Unit) -> tuple[list[fmpq_poly], fmpq_poly]:
    """Polynomials whose quotients by one polynomial are these numbers."""
    one_terms: Terms = {ONE: Fraction(1)}
    quotients = [value.terms() if isinstance(value, Real) else ({ONE: value}, one_terms) for value in numbers]
    denominators: dict[frozenset[tuple[Monomial, Fraction]], fmpq_poly] = {}
    keys = [frozenset(terms.items()) for _, terms in quotients]
    for key, (_, terms) in zip(keys, quotients, strict=True):
        if key not in denominators:
            denominators[key] = unit.polynomial(terms)
    scale = math.prod(denominators.values(), start=unit.polynomial(one_terms) // unit.polynomial(one_terms))
    cofactors = {key: scale // denominator for key, denominator in denominators.items()}
    return [
        unit.polynomial(numerator) * cofactors[key] for key, (numerator, _) in zip(keys, quotients, strict=True)
    ], scale
