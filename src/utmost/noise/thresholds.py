"""The threshold of a cumulative weight S: ⌊S·2^bits⌋, S exact, and whether S·2^bits is an integer.

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
ThresholdFunction: TypeAlias = Callable[[int, int], Threshold]  # (y, bits) → the threshold of S_y

GUARD_BITS = 192  # beyond those requested; a number that they leave undecided is almost surely a fraction
MAX_NARROWINGS = 4  # doublings of the precision before the number is worked out exactly
MAX_PRECISION_BITS = 1 << 20


def exact_threshold(value: Number, bits: int) -> Threshold:
    """The threshold of an exact number.

    >>> exact_threshold(Fraction(1, 3), 4), exact_threshold(Fraction(1, 4), 4)
    ((5, False), (4, True))
    """
    if isinstance(value, Fraction):
        floor, remainder = divmod(value.numerator << bits, value.denominator)
        return floor, not remainder
    return ball_threshold(partial(ball, value), lambda: value, bits)


def ball_threshold(enclose: Callable[[int], arb], exact: Callable[[], Number], bits: int) -> Threshold:
    """The threshold of a number known by a ball of any precision; `exact` is called only if balls do not decide."""
    precision, narrowings = bits + GUARD_BITS, 0
    while precision <= MAX_PRECISION_BITS:
        threshold = threshold_in_ball(enclose(precision), bits)
        if threshold is not None:
            return threshold
        precision, narrowings = 2 * precision, narrowings + 1
        if narrowings == MAX_NARROWINGS and isinstance(value := exact(), Fraction):
            return exact_threshold(value, bits)
    raise UndecidedError(f"where a weight cuts the words is not decided by {MAX_PRECISION_BITS} bits")


def complement_threshold(threshold: Threshold, bits: int) -> Threshold:
    """The threshold of 1 − S from that of S.

    >>> complement_threshold(exact_threshold(Fraction(1, 3), 4), 4) == exact_threshold(Fraction(2, 3), 4)
    True
    """
    floor, integer = threshold
    return (1 << bits) - floor - (not integer), integer


def threshold_in_ball(interval: arb, bits: int) -> Threshold | None:
    """The threshold of a number in a ball that is a point or holds no integer when scaled by 2^bits; else None."""
    from flint import arb

    if interval.is_exact():
        return exact_threshold(ball_endpoints(interval)[0], bits)
    with working_precision(max(interval.bits(), 64) + bits + 64):
        scaled = interval * arb(1 << bits)
        floor = None if scaled.contains_integer() else scaled.floor().unique_fmpz()
    return None if floor is None else (int(floor), False)
