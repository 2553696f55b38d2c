"""Exact real numbers: quotients of finite sums Σ c·e^q·∏ p^r with c, q, r rational and p prime.

These are the numbers that privacy levels and losses make: e^(−1/10), (1−α)/(1+α)·α^k, 3^(3/2). The monomials
e^q·∏ p^r with 0 ≤ r < 1 are linearly independent over the rationals: the radicals by Besicovitch (1940), the powers
of e over all algebraic numbers by Lindemann–Weierstrass. So a sum is zero exactly when it has no terms, and the sign of
a sum with terms is found by ball arithmetic at some finite precision. Every comparison is decided; none is guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from utmost.errors import InputError, UndecidedError

if TYPE_CHECKING:
    from flint import arb

Radicals: TypeAlias = tuple[tuple[int, Fraction], ...]
Monomial: TypeAlias = tuple[Fraction, Radicals]
Terms: TypeAlias = dict[Monomial, Fraction]

ONE: Monomial = (Fraction(0), ())
LARGEST_RADICAND = 128  # bits; a root of a larger integer would need its factorisation
LARGEST_PRECISION = 1 << 20  # bits; nothing met in practice comes near


class Real:
    """A number that is exact and irrational; rational results come out as `Fraction`.

    >>> root = power(2, Fraction(1, 2))
    >>> root * root, root < Fraction(3, 2), str(1 / (1 + exponential(Fraction(-1, 10))))
    (Fraction(2, 1), True, '1/(1 + exp(-1/10))')
    """

    __slots__ = ("_above", "_below")
    _above: Terms
    _below: Terms

    def __init__(self, above: Terms, below: Terms) -> None:
        self._above, self._below = above, below

    def __add__(self, other: Number | int) -> Number:
        if not isinstance(other, int | Fraction | Real):
            return NotImplemented
        above, below = _parts(other)
        if below == self._below:
            return _quotient(_sum(self._above, above), below)
        return _quotient(_sum(_product(self._above, below), _product(above, self._below)), _product(self._below, below))

    __radd__ = __add__

    def __neg__(self) -> Real:
        return Real({m: -c for m, c in self._above.items()}, self._below)

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
        above, below = _parts(other)
        if below == self._above:
            return _quotient(above, self._below)
        if above == self._below:
            return _quotient(self._above, below)
        return _quotient(_product(self._above, above), _product(self._below, below))

    __rmul__ = __mul__

    def __truediv__(self, other: Number | int) -> Number:
        if not isinstance(other, int | Fraction | Real):
            return NotImplemented
        if not other:
            raise ZeroDivisionError("division of an exact number by zero")
        above, below = _parts(other)
        return self * (Real(below, above) if isinstance(other, Real) else 1 / Fraction(other))

    def __rtruediv__(self, other: Number | int) -> Number:
        return Real(self._below, self._above) * other if isinstance(other, int | Fraction | Real) else NotImplemented

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
        return refined(self.ball)

    def __str__(self) -> str:
        above = _spell(self._above)
        if self._below == {ONE: Fraction(1)}:
            return above
        return f"{above if _is_plain(self._above) else f'({above})'}/({_spell(self._below)})"

    def __repr__(self) -> str:
        return f"Real({self})"

    def ball(self, bits: int) -> arb:
        """An interval that contains it, computed with `bits` bits."""
        from flint import ctx

        with ctx.workprec(bits):
            return _ball(self._above) / _ball(self._below)

    def logarithm(self) -> Fraction | None:
        """q if this is e^q, else None."""
        if len(self._above) > 1 or self._below != {ONE: Fraction(1)}:
            return None
        ((exponent, radicals), coefficient) = next(iter(self._above.items()))
        return exponent if coefficient == 1 and not radicals else None

    def sign(self) -> int:
        """−1 or 1: it is never zero, so some precision decides."""
        return _sign(self._above) * _sign(self._below)


Number: TypeAlias = Fraction | Real


def exponential(exponent: Fraction | int) -> Number:
    """e^exponent for a rational exponent."""
    return _quotient({(Fraction(exponent), ()): Fraction(1)}, {ONE: Fraction(1)})


def power(base: Fraction | int, exponent: Fraction | int) -> Number:
    """base^exponent for a rational base ≥ 0 and a rational exponent; 0^0 = 1.

    >>> power(Fraction(1, 4), Fraction(3, 2)), str(power(12, Fraction(1, 2)))
    (Fraction(1, 8), '2*3^(1/2)')
    """
    base, exponent = Fraction(base), Fraction(exponent)
    if base < 0 or (base == 0 and exponent < 0):
        raise InputError(f"a power needs a base >= 0 (> 0 if the exponent is negative), got base {base}")
    if exponent.denominator == 1 or base in (0, 1):
        return Fraction(1) if exponent == 0 else (base if base in (0, 1) else base**exponent.numerator)
    return _radical(base, exponent)


def sign(value: Number | int) -> int:
    """−1, 0 or 1, decided."""
    if isinstance(value, Real):
        return value.sign()
    return (value > 0) - (value < 0)


def midpoint(interval: arb) -> Fraction:
    """The middle of a ball, which is a dyadic fraction."""
    mantissa, exponent = interval.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def nearest(interval: arb) -> float:
    """The double nearest to the middle of a ball; 0 or ±∞ beyond the range of doubles."""
    middle = midpoint(interval)
    try:
        return float(middle)
    except OverflowError:
        return math.inf if middle > 0 else -math.inf


def refined(value: Callable[[int], arb]) -> float:
    """The double nearest to a number ≠ 0 whose balls can be had at any precision."""
    from flint import ctx

    bits = 96
    while bits <= LARGEST_PRECISION:
        with ctx.workprec(bits):
            interval = value(bits)
        if interval.rel_accuracy_bits() >= 56:
            return nearest(interval)
        bits *= 2
    raise UndecidedError("an exact number is too close to zero to be shown as a float")


def _radical(base: Fraction, exponent: Fraction) -> Number:
    coefficient, radicals = Fraction(1), []
    for prime, multiplicity in _factors(base):
        whole, rest = divmod(multiplicity * exponent, 1)
        coefficient *= Fraction(prime) ** int(whole)
        if rest:
            radicals.append((prime, rest))
    return _quotient({(Fraction(0), tuple(radicals)): coefficient}, {ONE: Fraction(1)})


def _factors(base: Fraction) -> list[tuple[int, int]]:
    from flint import fmpz

    if max(base.numerator.bit_length(), base.denominator.bit_length()) > LARGEST_RADICAND:
        raise InputError(f"an exact root needs a number of at most {LARGEST_RADICAND} bits: use a shorter fraction")
    above = [(int(p), int(m)) for p, m in fmpz(base.numerator).factor()]
    below = [(int(p), -int(m)) for p, m in fmpz(base.denominator).factor()]
    return sorted(above + below)


def _parts(value: Number | int) -> tuple[Terms, Terms]:
    if isinstance(value, Real):
        return value._above, value._below
    return ({ONE: Fraction(value)} if value else {}), {ONE: Fraction(1)}


def _sum(left: Mapping[Monomial, Fraction], right: Mapping[Monomial, Fraction]) -> Terms:
    return _collect([*left.items(), *right.items()])


def _collect(terms: Iterable[tuple[Monomial, Fraction]]) -> Terms:
    total: Terms = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, Fraction(0)) + coefficient
    return {m: c for m, c in total.items() if c}


def _product(left: Terms, right: Terms) -> Terms:
    return _collect(_times(m, c, n, d) for m, c in left.items() for n, d in right.items())


def _times(m: Monomial, c: Fraction, n: Monomial, d: Fraction) -> tuple[Monomial, Fraction]:
    coefficient = c * d
    if not m[1] or not n[1]:
        return (m[0] + n[0], m[1] or n[1]), coefficient
    exponents = dict(m[1])
    for prime, exponent in n[1]:
        exponents[prime] = exponents.get(prime, Fraction(0)) + exponent
    for prime, exponent in exponents.items():
        if exponent >= 1:
            coefficient *= prime
            exponents[prime] = exponent - 1
    return (m[0] + n[0], tuple(sorted((p, e) for p, e in exponents.items() if e))), coefficient


def _quotient(above: Terms, below: Terms) -> Number:
    """above/below, with the smallest monomial of `below` made 1, as a fraction where it is one."""
    if not above:
        return Fraction(0)
    if len(below) > 1 and above.keys() == below.keys():
        ratios = {above[m] / below[m] for m in below}
        if len(ratios) == 1:
            return ratios.pop()
    lead = max(below)
    if lead != ONE or below[lead] != 1:
        factor = _inverse(lead, below[lead])
        above, below = _product(above, factor), _product(below, factor)
    if len(below) == 1 and above.keys() == {ONE}:
        return above[ONE]
    return Real(above, below)


def _inverse(monomial: Monomial, coefficient: Fraction) -> Terms:
    primes = math.prod(p for p, _ in monomial[1])
    return {(-monomial[0], tuple((p, 1 - e) for p, e in monomial[1])): 1 / (coefficient * primes)}


def _ball(terms: Terms) -> arb:
    from flint import arb, fmpq

    total = arb(0)
    for (exponent, radicals), coefficient in terms.items():
        term = arb(fmpq(coefficient.numerator, coefficient.denominator))
        if exponent:
            term *= arb(fmpq(exponent.numerator, exponent.denominator)).exp()
        for prime, root in radicals:
            term *= arb(prime) ** arb(fmpq(root.numerator, root.denominator))
        total += term
    return total


def _sign(terms: Terms) -> int:
    from flint import ctx

    if len(terms) == 1:
        return sign(next(iter(terms.values())))
    bits = 64
    while bits <= LARGEST_PRECISION:
        with ctx.workprec(bits):
            value = _ball(terms)
        if value > 0:
            return 1
        if value < 0:
            return -1
        bits *= 2
    raise UndecidedError(f"the sign of an exact number is not decided by {LARGEST_PRECISION} bits")


def _spell(terms: Terms) -> str:
    words = [_word(m, c) for m, c in sorted(terms.items(), key=lambda item: (-item[0][0], item[0][1]))]
    return words[0] + "".join(f" - {w[1:]}" if w.startswith("-") else f" + {w}" for w in words[1:])


def _word(monomial: Monomial, coefficient: Fraction) -> str:
    exponent, radicals = monomial
    factors = ([f"exp({exponent})"] if exponent else []) + [f"{p}^({r})" for p, r in radicals]
    if abs(coefficient) != 1 or not factors:
        factors.insert(0, str(abs(coefficient)))
    return ("-" if coefficient < 0 else "") + "*".join(factors)


def _is_plain(terms: Terms) -> bool:
    return len(terms) == 1
