"""Convert between `fractions.Fraction`, for callers, and flint's `fmpq`, an order of magnitude faster, inside."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from flint import fmpq, fmpz

Rational: TypeAlias = fmpq

ZERO = fmpq(0)
ONE = fmpq(1)


def to_fmpq(value: Fraction) -> Rational:
    """The same number as a flint rational."""
    return fmpq(value.numerator, value.denominator)


def to_fmpqs(values: Iterable[Fraction]) -> list[Rational]:
    """The same numbers as flint rationals."""
    return [fmpq(value.numerator, value.denominator) for value in values]


def to_fraction(value: Rational) -> Fraction:
    """The same number as a `Fraction`.

    >>> to_fraction(fmpq(6, 4))
    Fraction(3, 2)
    """
    return Fraction(int(value.p), int(value.q))


def to_fractions(values: Iterable[Rational]) -> tuple[Fraction, ...]:
    """The same numbers as `Fraction`s."""
    return tuple(to_fraction(value) for value in values)


def nearest_float(value: Rational) -> float:
    """The double nearest to `value`; ±inf beyond the doubles' range."""
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def from_double(value: float) -> Rational:
    """The rational a finite double stands for, exactly.

    >>> from_double(0.375)
    3/8
    """
    return fmpq(*value.as_integer_ratio())


def round_dyadic(value: Rational, bits: int) -> Rational:
    """The nearest multiple of 2^-bits: an error of at most 2^-(bits+1).

    >>> round_dyadic(fmpq(1, 3), 4)
    5/16
    """
    unit = fmpz(1) << bits
    return fmpq((2 * value.p * unit + value.q) // (2 * value.q), unit)


def dot_product(left: Iterable[Rational], right: Iterable[Rational]) -> Rational:
    """Σ left_i·right_i, exactly."""
    return sum((a * b for a, b in zip(left, right, strict=True) if a and b), ZERO)


def round_up_dyadic(value: Rational, bits: int = 32) -> Rational:
    """A dyadic number >= value >= 0 with a relative error of at most 2^-bits and about as few digits.

    >>> round_up_dyadic(fmpq(1, 3), 3)
    11/32
    """
    if not value:
        return ZERO
    shift = bits + max(0, int(value.q).bit_length() - int(value.p).bit_length() + 1)
    unit = fmpz(1) << shift
    return fmpq(-((-value.p * unit) // value.q), unit)
