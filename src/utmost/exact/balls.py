"""Balls: intervals with rational endpoints around exact numbers, at any precision."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.exact.reals import Number, Real, midpoint
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb


def ball(value: Number | int, bits: int) -> arb:
    """An `arb` that contains `value`, computed with `bits` bits."""
    from flint import arb, fmpq

    if isinstance(value, Real):
        return value.ball(bits)
    with working_precision(bits):
        return arb(fmpq(value.numerator, value.denominator))


def enclosure(value: Number | int, bits: int) -> tuple[Fraction, Fraction]:
    """Rational endpoints lower ≤ value ≤ upper, about 2^−bits apart relative to the value; equal if it is rational.

    >>> from utmost.exact import power
    >>> low, high = enclosure(power(2, Fraction(1, 2)), 20)
    >>> low < high, high - low < Fraction(1, 2**17), low**2 < 2 < high**2
    (True, True, True)
    """
    if not isinstance(value, Real):
        return Fraction(value), Fraction(value)
    return ball_endpoints(value.ball(bits + 8))


def ball_endpoints(interval: arb) -> tuple[Fraction, Fraction]:
    """The rational endpoints of a ball."""
    middle, radius = midpoint(interval), midpoint(interval.rad())
    return middle - radius, middle + radius
