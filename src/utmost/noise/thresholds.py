"""Where a cumulative weight cuts the words: ⌊S·2^bits⌋ of an exact number S, and whether S·2^bits is an integer.

A fraction answers by division. An irrational number answers by balls: a ball around S·2^bits that holds no integer
decides both questions. One that holds an integer is made narrower; if that does not help the number is worked out
exactly, since only a fraction can be an integer multiple of 2^−bits.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from utmost.errors import UndecidedError
from utmost.exact import Number, ball, ball_endpoints
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

Threshold: TypeAlias = tuple[int, bool]  # (⌊S·2^bits⌋, is S·2^bits an integer)
ThresholdFunction: TypeAlias = Callable[[int, int], Threshold]  # (y, bits) → the cut of S_y

GUARD = 192  # bits beyond those asked for; a number that they leave undecided is almost surely a fraction
NARROWINGS = 4  # doublings of the precision before the number is worked out exactly
LARGEST_PRECISION = 1 << 20


def exact_threshold(value: Number, bits: int) -> Threshold:
    """The cut of an exact number.

    >>> exact_threshold(Fraction(1, 3), 4), exact_threshold(Fraction(1, 4), 4)
    ((5, False), (4, True))
    """
    if isinstance(value, Fraction):
        whole, rest = divmod(value.numerator << bits, value.denominator)
        return whole, not rest
    return ball_threshold(partial(ball, value), lambda: value, bits)


def ball_threshold(enclose: Callable[[int], arb], exact: Callable[[], Number], bits: int) -> Threshold:
    """The cut of a number known by a ball of any precision; `exact` is asked only if balls do not decide."""
    precision, tries = bits + GUARD, 0
    while precision <= LARGEST_PRECISION:
        decided = _decided(enclose(precision), bits)
        if decided is not None:
            return decided
        precision, tries = 2 * precision, tries + 1
        if tries == NARROWINGS and isinstance(value := exact(), Fraction):
            return exact_threshold(value, bits)
    raise UndecidedError(f"where a weight cuts the words is not decided by {LARGEST_PRECISION} bits")


def complement_threshold(found: Threshold, bits: int) -> Threshold:
    """The cut of 1 − S from that of S.

    >>> complement_threshold(exact_threshold(Fraction(1, 3), 4), 4) == exact_threshold(Fraction(2, 3), 4)
    True
    """
    below, integer = found
    return (1 << bits) - below - (not integer), integer


def _decided(interval: arb, bits: int) -> Threshold | None:
    """The cut of what is in a ball, if the ball is a point or holds no integer when scaled by 2^bits; else None."""
    from flint import arb

    if interval.is_exact():
        return exact_threshold(ball_endpoints(interval)[0], bits)
    with working_precision(max(interval.bits(), 64) + bits + 64):
        scaled = interval * arb(1 << bits)
        below = None if scaled.contains_integer() else scaled.floor().unique_fmpz()
    return None if below is None else (int(below), False)
