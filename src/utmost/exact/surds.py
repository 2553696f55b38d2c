"""Surds: the irrational sums Σ c·√k of rational multiples of square roots, as exponents of exact numbers.

Distances in the plane are sums of square roots, so the ratios that privacy allows are e^(−ε·√2) or 2^(−√2). Square
roots of distinct square-free integers are linearly independent over the rationals (Besicovitch 1940): a surd is known
by its coefficients, and two of them are equal exactly when these are.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from flint import arb


class Surd:
    """Σ c·√k over square-free k ≥ 1, not rational; a sum that is rational comes out as a `Fraction`.

    >>> root = surd({2: Fraction(1)})
    >>> str(root + Fraction(1, 2)), root - root, root + root == surd({2: Fraction(2)})
    ('1/2 + 2^(1/2)', Fraction(0, 1), True)
    """

    __slots__ = ("terms",)
    terms: tuple[tuple[int, Fraction], ...]

    def __init__(self, terms: tuple[tuple[int, Fraction], ...]) -> None:
        self.terms = terms

    def __add__(self, other: Exponent) -> Exponent:
        total = dict(self.terms)
        for k, c in surd_terms(other):
            total[k] = total.get(k, Fraction(0)) + c
        return surd(total)

    __radd__ = __add__

    def __neg__(self) -> Surd:
        return Surd(tuple((k, -c) for k, c in self.terms))

    def __sub__(self, other: Exponent) -> Exponent:
        return self + (-other)

    def __rsub__(self, other: Exponent) -> Exponent:
        return (-self) + other

    def __mul__(self, factor: Fraction | int) -> Exponent:
        return surd({k: c * factor for k, c in self.terms})

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surd) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)

    def __str__(self) -> str:
        term_texts = [_term_text(k, c) for k, c in self.terms]
        return term_texts[0] + "".join(
            f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in term_texts[1:]
        )

    def __repr__(self) -> str:
        return f"Surd({self})"

    def ball(self) -> arb:
        """An interval that contains it, at the precision in force."""
        from flint import arb, fmpq

        total = arb(0)
        for k, c in self.terms:
            total += arb(fmpq(c.numerator, c.denominator)) * arb(k).sqrt()
        return total


Exponent: TypeAlias = Fraction | Surd


def surd(terms: Mapping[int, Fraction]) -> Exponent:
    """Σ c·√k over the square-free k given."""
    nonzero = tuple(sorted((k, c) for k, c in terms.items() if c))
    if all(k == 1 for k, _ in nonzero):
        return nonzero[0][1] if nonzero else Fraction(0)
    return Surd(nonzero)


def surd_terms(value: Exponent) -> tuple[tuple[int, Fraction], ...]:
    """The terms (k, c) of Σ c·√k, by increasing k; this also orders exponents, if not by size."""
    if isinstance(value, Surd):
        return value.terms
    return ((1, value),) if value else ()


def floor_of_rational_part(value: Exponent) -> int:
    """⌊c⌋ of the term c·√1."""
    return next((c.numerator // c.denominator for k, c in surd_terms(value) if k == 1), 0)


def _term_text(k: int, c: Fraction) -> str:
    if k == 1:
        return str(c)
    root = f"{k}^(1/2)"
    return root if c == 1 else f"-{root}" if c == -1 else f"{c}*{root}"
