"""Exact real numbers: quotients of finite sums Σ c·e^q·∏ p^r with c rational, p prime, q and r rational or surds.

These are the numbers that privacy levels and losses make: e^(−1/10), (1−α)/(1+α)·α^k, 3^(3/2), and at the distances of
the plane e^(−√2/10) and 2^(−√2). The monomials e^q·∏ p^r with the rational part of r in [0, 1) are linearly independent
over the rationals: the radicals by Besicovitch (1940), the powers of e with distinct algebraic exponents over all
algebraic numbers by Lindemann–Weierstrass, the powers a^(r + s·√k) of one rational a with one √k because a^√k is
transcendental (Gelfond–Schneider). So a sum is zero exactly when it has no terms, and the sign of a sum with terms is
found by ball arithmetic at some finite precision. Every comparison is decided; none is guessed. For powers of a
rational with several square roots at once (2^√2 beside 2^√5) independence is only conjectured (Schanuel): there too a
sign is either decided by balls or refused with an UndecidedError, never guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from utmost.errors import InputError, UndecidedError
from utmost.exact.surds import Exponent, Surd, floor_of_rational_part, surd, surd_terms
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

Radicals: TypeAlias = tuple[tuple[int, Exponent], ...]
Monomial: TypeAlias = tuple[Exponent, Radicals]
Terms: TypeAlias = dict[Monomial, Fraction]

ONE: Monomial = (Fraction(0), ())
MAX_RADICAND_BITS = 128  # bits; a root of a larger integer would need its factorisation
MAX_CANCELLED_TERMS = 8  # terms of a quotient in which a common factor is looked for
MAX_PRECISION_BITS = 1 << 20  # bits; nothing met in practice comes near


class Real:
    """A number that is exact and irrational; rational results come out as `Fraction`.

    >>> root = power(2, Fraction(1, 2))
    >>> root * root, root < Fraction(3, 2), str(1 / (1 + exponential(Fraction(-1, 10))))
    (Fraction(2, 1), True, '1/(1 + exp(-1/10))')
    """

    __slots__ = ("_denominator", "_numerator")
    _numerator: Terms
    _denominator: Terms

    def __init__(self, numerator: Terms, denominator: Terms) -> None:
        self._numerator, self._denominator = numerator, denominator

    def __add__(self, other: Number | int) -> Number:
        if not isinstance(other, int | Fraction | Real):
            return NotImplemented
        numerator, denominator = numerator_and_denominator(other)
        if denominator == self._denominator:
            return simplify_quotient(_add_terms(self._numerator, numerator), denominator)
        return simplify_quotient(
            _add_terms(_multiply_terms(self._numerator, denominator), _multiply_terms(numerator, self._denominator)),
            _multiply_terms(self._denominator, denominator),
        )

    __radd__ = __add__

    def __neg__(self) -> Real:
        return Real({m: -c for m, c in self._numerator.items()}, self._denominator)

    def __pos__(self) -> Real:
        return self

    def __abs__(self) -> Real:
        return self if self.sign() > 0 else -self

    def __sub__(self, other: Number | int) -> Number:
        return self + (-other) if isinstance(other, int | Fraction | Real) else NotImplemented

    def __rsub__(self, other: Number | int) -> Number:
        return (-self) + other if isinstance(other, int | Fraction | Real) else NotImplemented

    def __mul__(self, other: Number | int) -> Number:
        if not isinstance(other, int | Fraction | Real):
            return NotImplemented
        numerator, denominator = numerator_and_denominator(other)
        if denominator == self._numerator:
            return simplify_quotient(numerator, self._denominator)
        if numerator == self._denominator:
            return simplify_quotient(self._numerator, denominator)
        return simplify_quotient(
            _multiply_terms(self._numerator, numerator), _multiply_terms(self._denominator, denominator)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Number | int) -> Number:
        if not isinstance(other, int | Fraction | Real):
            return NotImplemented
        if not other:
            raise ZeroDivisionError("division of an exact number by zero")
        numerator, denominator = numerator_and_denominator(other)
        return self * (Real(denominator, numerator) if isinstance(other, Real) else 1 / Fraction(other))

    def __rtruediv__(self, other: Number | int) -> Number:
        return (
            Real(self._denominator, self._numerator) * other
            if isinstance(other, int | Fraction | Real)
            else NotImplemented
        )

    def __pow__(self, exponent: int) -> Number:
        if not isinstance(exponent, int):
            return NotImplemented
        result: Number = Fraction(1)
        for _ in range(abs(exponent)):
            result = result * self
        return result if exponent >= 0 else 1 / result

    def __bool__(self) -> bool:
        return True  # zero is rational, so a Real is never zero

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | Fraction | Real):
            return NotImplemented
        return not (self - other)

    def __hash__(self) -> int:
        return hash(Real)  # equal numbers can have different quotients

    def __lt__(self, other: Number | int) -> bool:
        return sign(self - other) < 0

    def __le__(self, other: Number | int) -> bool:
        return sign(self - other) <= 0

    def __gt__(self, other: Number | int) -> bool:
        return sign(self - other) > 0

    def __ge__(self, other: Number | int) -> bool:
        return sign(self - other) >= 0

    def __float__(self) -> float:
        """The double nearest to it, up to a unit in the last place."""
        return refine_double(self.ball)

    def __str__(self) -> str:
        numerator = _terms_text(self._numerator)
        if self._denominator == {ONE: Fraction(1)}:
            return numerator
        return (
            f"{numerator if _is_single_term(self._numerator) else f'({numerator})'}/({_terms_text(self._denominator)})"
        )

    def __repr__(self) -> str:
        return f"Real({self})"

    def ball(self, bits: int) -> arb:
        """An interval that contains it, computed with `bits` bits."""
        with working_precision(bits):
            return _terms_ball(self._numerator) / _terms_ball(self._denominator)

    def logarithm(self) -> Fraction | None:
        """q if this is e^q with q rational, else None."""
        monomial = self.monomial()
        if monomial is None or isinstance(monomial[1], Surd):
            return None
        return monomial[1] if monomial[0] == 1 and not monomial[2] else None

    def terms(self) -> tuple[Mapping[Monomial, Fraction], Mapping[Monomial, Fraction]]:
        """The numerator and the denominator: coefficients by monomial (exponent of e, exponents of primes)."""
        return self._numerator, self._denominator

    def monomial(self) -> tuple[Fraction, Exponent, Radicals] | None:
        """(c, q, ((p, r), …)) if this is the one term c·e^q·∏ p^r, else None."""
        if len(self._numerator) > 1 or self._denominator != {ONE: Fraction(1)}:
            return None
        ((exponent, radicals), coefficient) = next(iter(self._numerator.items()))
        return coefficient, exponent, radicals

    def surd(self) -> Surd | None:
        """The same number as a surd, if it is a sum of rational multiples of square roots."""
        if self._denominator != {ONE: Fraction(1)}:
            return None
        roots: dict[int, Fraction] = {}
        for (exponent, radicals), coefficient in self._numerator.items():
            if exponent or any(r != Fraction(1, 2) for _, r in radicals):
                return None
            roots[math.prod(p for p, _ in radicals)] = coefficient
        value = surd(roots)
        return value if isinstance(value, Surd) else None

    def sign(self) -> int:
        """−1 or 1: it is never zero, so some precision decides."""
        return _terms_sign(self._numerator) * _terms_sign(self._denominator)


Number: TypeAlias = Fraction | Real


def exponential(exponent: Number | int) -> Number:
    """e^exponent for an exponent that is rational or a sum of square roots.

    >>> str(exponential(power(2, Fraction(1, 2)) / 10))
    'exp(1/10*2^(1/2))'
    """
    return simplify_quotient({(exponent_of(exponent), ()): Fraction(1)}, {ONE: Fraction(1)})


def power(base: Fraction | int, exponent: Number | int) -> Number:
    """base^exponent for a rational base ≥ 0 and an exponent that is rational or a sum of square roots; 0^0 = 1.

    >>> power(Fraction(1, 4), Fraction(3, 2)), str(power(12, Fraction(1, 2))), str(power(2, power(2, Fraction(1, 2))))
    (Fraction(1, 8), '2*3^(1/2)', '2^(2^(1/2))')
    """
    base, exact_exponent = Fraction(base), exponent_of(exponent)
    if base < 0 or (base == 0 and sign(exponent) < 0):
        raise InputError(f"a power needs a base >= 0 (> 0 if the exponent is negative), got base {base}")
    if base in (0, 1):
        return Fraction(1) if not exact_exponent else base
    if isinstance(exact_exponent, Fraction) and exact_exponent.denominator == 1:
        return base**exact_exponent.numerator
    return _radical(base, exact_exponent)


def exponent_of(value: Number | int) -> Exponent:
    """The number as an exponent: a fraction, or a sum of square roots."""
    if not isinstance(value, Real):
        return Fraction(value)
    exponent = value.surd()
    if exponent is None:
        raise InputError("an exact exponent must be rational or a sum of square roots such as sqrt(2)")
    return exponent


def value_of(exponent: Exponent) -> Number:
    """An exponent as a number."""
    total: Number = Fraction(0)
    for k, c in surd_terms(exponent):
        total = total + c * power(k, Fraction(1, 2))
    return total


def prime_exponents(value: Number) -> dict[int, Exponent] | None:
    """The exponents r of a positive number ∏ p^r; None if it is not such a product, or too long to factor."""
    monomial = value.monomial() if isinstance(value, Real) else (value, Fraction(0), ())
    if monomial is None or monomial[0] <= 0 or monomial[1]:
        return None
    try:
        exponents: dict[int, Exponent] = {p: Fraction(m) for p, m in _prime_factors(monomial[0])}
    except InputError:
        return None
    for prime, exponent in monomial[2]:
        exponents[prime] = exponent + exponents.get(prime, Fraction(0))
    return exponents


def sign(value: Number | int) -> int:
    """−1, 0 or 1, decided."""
    if isinstance(value, Real):
        return value.sign()
    return (value > 0) - (value < 0)


def midpoint(interval: arb) -> Fraction:
    """The middle of a ball, which is a dyadic fraction."""
    mantissa, exponent = interval.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def nearest_double(interval: arb) -> float:
    """The double nearest to the middle of a ball; 0 or ±∞ beyond the range of doubles."""
    middle = midpoint(interval)
    try:
        return float(middle)
    except OverflowError:
        return math.inf if middle > 0 else -math.inf


def refine_double(value: Callable[[int], arb]) -> float:
    """The double nearest to a number ≠ 0 whose balls can be had at any precision."""
    bits = 96
    while bits <= MAX_PRECISION_BITS:
        with working_precision(bits):
            interval = value(bits)
        if interval.rel_accuracy_bits() >= 56:
            return nearest_double(interval)
        bits *= 2
    raise UndecidedError("an exact number is too close to zero to be shown as a float")


def _radical(base: Fraction, exponent: Exponent) -> Number:
    radicals, coefficient = _normalise_radicals(
        {p: multiplicity * exponent for p, multiplicity in _prime_factors(base)}
    )
    return simplify_quotient({(Fraction(0), radicals): coefficient}, {ONE: Fraction(1)})


def _normalise_radicals(exponents: Mapping[int, Exponent]) -> tuple[Radicals, Fraction]:
    """The product of p^r as radicals, whose rational parts are in [0, 1), times a rational."""
    coefficient, radicals = Fraction(1), []
    for prime, exponent in sorted(exponents.items()):
        integer_part = floor_of_rational_part(exponent)
        remainder = exponent - Fraction(integer_part) if integer_part else exponent
        coefficient *= Fraction(prime) ** integer_part
        if remainder:
            radicals.append((prime, remainder))
    return tuple(radicals), coefficient


def _prime_factors(base: Fraction) -> list[tuple[int, int]]:
    from flint import fmpz

    if max(base.numerator.bit_length(), base.denominator.bit_length()) > MAX_RADICAND_BITS:
        raise InputError(
            f"an exact root needs a number of at most {MAX_RADICAND_BITS} bits", hint="use a shorter fraction"
        )
    numerator_factors = [(int(p), int(m)) for p, m in fmpz(base.numerator).factor()]
    denominator_factors = [(int(p), -int(m)) for p, m in fmpz(base.denominator).factor()]
    return sorted(numerator_factors + denominator_factors)


def numerator_and_denominator(value: Number | int) -> tuple[Terms, Terms]:
    """The terms of a number as a quotient."""
    if isinstance(value, Real):
        return value._numerator, value._denominator
    return ({ONE: Fraction(value)} if value else {}), {ONE: Fraction(1)}


def _add_terms(left: Mapping[Monomial, Fraction], right: Mapping[Monomial, Fraction]) -> Terms:
    return collect_terms([*left.items(), *right.items()])


def collect_terms(terms: Iterable[tuple[Monomial, Fraction]]) -> Terms:
    """The sum of terms: one coefficient for each monomial, and none that is zero."""
    collected: Terms = {}
    for monomial, coefficient in terms:
        collected[monomial] = collected.get(monomial, Fraction(0)) + coefficient
    return {m: c for m, c in collected.items() if c}


def _multiply_terms(left: Terms, right: Terms) -> Terms:
    return collect_terms(_multiply_monomials(m, c, n, d) for m, c in left.items() for n, d in right.items())


def _multiply_monomials(m: Monomial, c: Fraction, n: Monomial, d: Fraction) -> tuple[Monomial, Fraction]:
    coefficient = c * d
    if not m[1] or not n[1]:
        return (m[0] + n[0], m[1] or n[1]), coefficient
    exponents = dict(m[1])
    for prime, exponent in n[1]:
        exponents[prime] = exponents.get(prime, Fraction(0)) + exponent
    radicals, factor = _normalise_radicals(exponents)
    return (m[0] + n[0], radicals), coefficient * factor


def simplify_quotient(numerator: Terms, denominator: Terms) -> Number:
    """numerator/denominator, the denominator's leading monomial scaled to 1; a fraction where it is rational."""
    if not numerator:
        return Fraction(0)
    if len(denominator) > 1 and numerator.keys() == denominator.keys():
        ratios = {numerator[m] / denominator[m] for m in denominator}
        if len(ratios) == 1:
            return ratios.pop()
    if 1 < len(denominator) == len(numerator) <= MAX_CANCELLED_TERMS:
        factor = _common_factor(numerator, denominator)
        if factor is not None:
            numerator, denominator = factor, {ONE: Fraction(1)}
    leading = next(iter(denominator)) if len(denominator) == 1 else max(denominator, key=_monomial_key)
    if leading != ONE or denominator[leading] != 1:
        factor = _inverse_terms(leading, denominator[leading])
        numerator, denominator = _multiply_terms(numerator, factor), _multiply_terms(denominator, factor)
    if len(denominator) == 1 and numerator.keys() == {ONE}:
        return numerator[ONE]
    return Real(numerator, denominator)


def _common_factor(numerator: Terms, denominator: Terms) -> Terms | None:
    """The monomial m with numerator = m·denominator, if there is one."""
    first = next(iter(numerator.items()))
    for monomial, coefficient in denominator.items():
        factor = _multiply_terms(dict([first]), _inverse_terms(monomial, coefficient))
        if _multiply_terms(denominator, factor) == numerator:
            return factor
    return None


def _inverse_terms(monomial: Monomial, coefficient: Fraction) -> Terms:
    radicals, factor = _normalise_radicals({p: -e for p, e in monomial[1]})
    return {(-monomial[0], radicals): factor / coefficient}


def _monomial_key(monomial: Monomial) -> tuple[object, ...]:
    """A key that orders monomials, by their exponents' coefficients: e's rational part first."""
    exponent, radicals = monomial
    rational_part = Fraction(next((c for k, c in surd_terms(exponent) if k == 1), 0))
    return rational_part, surd_terms(exponent), tuple((p, surd_terms(r)) for p, r in radicals)


def _terms_ball(terms: Terms) -> arb:
    from flint import arb, fmpq

    total = arb(0)
    for (exponent, radicals), coefficient in terms.items():
        term = arb(fmpq(coefficient.numerator, coefficient.denominator))
        if exponent:
            term *= _exponent_ball(exponent).exp()
        for prime, root in radicals:
            term *= arb(prime) ** _exponent_ball(root)
        total += term
    return total


def _exponent_ball(exponent: Exponent) -> arb:
    from flint import arb, fmpq

    return exponent.ball() if isinstance(exponent, Surd) else arb(fmpq(exponent.numerator, exponent.denominator))


def _terms_sign(terms: Terms) -> int:
    if len(terms) == 1:
        return sign(next(iter(terms.values())))
    bits = 64
    while bits <= MAX_PRECISION_BITS:
        with working_precision(bits):
            value = _terms_ball(terms)
        if value > 0:
            return 1
        if value < 0:
            return -1
        bits *= 2
    raise UndecidedError(f"the sign of an exact number is not decided by {MAX_PRECISION_BITS} bits")


def _terms_text(terms: Terms) -> str:
    term_texts = [_monomial_text(m, c) for m, c in sorted(terms.items(), key=lambda item: _printing_key(item[0]))]
    return term_texts[0] + "".join(
        f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in term_texts[1:]
    )


def _printing_key(monomial: Monomial) -> tuple[object, ...]:
    rational_part, exponent, radicals = _monomial_key(monomial)
    return -rational_part, exponent, radicals  # type: ignore[operator]


def _monomial_text(monomial: Monomial, coefficient: Fraction) -> str:
    exponent, radicals = monomial
    factors = ([f"exp({exponent})"] if exponent else []) + [f"{p}^({r})" for p, r in radicals]
    if abs(coefficient) != 1 or not factors:
        factors.insert(0, str(abs(coefficient)))
    return ("-" if coefficient < 0 else "") + "*".join(factors)


def _is_single_term(terms: Terms) -> bool:
    return len(terms) == 1
