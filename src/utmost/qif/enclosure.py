"""Irrational numbers with a stated error: an interval with rational endpoints that is proved to hold the number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.exact import Number, ball, ball_endpoints
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

PRECISION_BITS = 64


@dataclass(frozen=True, slots=True, repr=False)
class Enclosure:
    """lower ≤ number ≤ upper, proved; lower = upper where the number is known to be that fraction.

    >>> third = Enclosure(Fraction(1, 3), Fraction(1, 3))
    >>> third.value, third.error < 1e-16, (third - third).exact
    (0.3333333333333333, True, True)
    """

    lower: Fraction
    upper: Fraction

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.lower == self.upper

    @property
    def value(self) -> float:
        """The double nearest to the middle."""
        return float((self.lower + self.upper) / 2)

    @property
    def error(self) -> float:
        """A bound on |number − value|."""
        middle = Fraction(self.value)
        radius = max(self.upper - middle, middle - self.lower)
        return math.nextafter(float(radius), math.inf) if radius else 0.0

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"<{self.value:.15g}{'' if self.exact else f' ± {self.error:.0e}'}>"

    def __sub__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.lower - other.upper, self.upper - other.lower)

    def __truediv__(self, other: Enclosure) -> Enclosure:
        """The quotient of numbers ≥ 0, the second one > 0."""
        return Enclosure(self.lower / other.upper, self.upper / other.lower)

    def at_least(self, bound: int) -> Enclosure:
        """The same, of a number that is known to be at least `bound`."""
        return Enclosure(max(self.lower, Fraction(bound)), max(self.upper, Fraction(bound)))


def exact_enclosure(value: Fraction | int) -> Enclosure:
    """A number that is known."""
    return Enclosure(Fraction(value), Fraction(value))


def log2_enclosure(value: Number, precision: int = PRECISION_BITS) -> Enclosure:
    """log₂ of an exact number > 0; known where that is a power of 2.

    >>> log2_enclosure(Fraction(1, 8)), log2_enclosure(Fraction(3)).value
    (<-3>, 1.584962500721156)
    """
    exponent = _binary_exponent(value)
    return ball_enclosure(_log2(value, precision)) if exponent is None else exact_enclosure(exponent)


def entropy_term(value: Number, precision: int = PRECISION_BITS) -> Enclosure:
    """−p·log₂ p, 0 for p = 0; known where p is 0 or a power of 2."""
    exponent = _binary_exponent(value) if value else 0
    if exponent is not None and isinstance(value, Fraction):
        return exact_enclosure(-value * exponent)
    with working_precision(precision + 16):
        return ball_enclosure(-ball(value, precision + 16) * _log2(value, precision))


def sum_enclosures(terms: list[Enclosure]) -> Enclosure:
    """The sum."""
    return Enclosure(sum((p.lower for p in terms), Fraction(0)), sum((p.upper for p in terms), Fraction(0)))


def ball_enclosure(value: arb) -> Enclosure:
    """The interval of a ball."""
    return Enclosure(*ball_endpoints(value))


def _log2(value: Number, precision: int) -> arb:
    from flint import arb

    with working_precision(precision + 16):
        return ball(value, precision + 16).log() / arb(2).log()


def _binary_exponent(value: Number) -> int | None:
    """k if this is 2^k, else None."""
    if not isinstance(value, Fraction) or value <= 0:
        return None
    numerator, denominator = value.numerator, value.denominator
    is_power = numerator & (numerator - 1) == 0 and denominator & (denominator - 1) == 0
    return numerator.bit_length() - denominator.bit_length() if is_power else None
