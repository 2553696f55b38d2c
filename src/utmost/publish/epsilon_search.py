"""The least ε of so many digits that meets a target, with the verdicts on both sides of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError, UndecidedError
from utmost.exact.privacy_levels import MAX_EPSILON
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

BALL_PRECISIONS = (64, 128, 256, 512, 1024, 4096)  # bits
MAX_DIGITS = 12
MAX_GUESS_STEPS = 1000  # units in the last digit that a first guess may be off

Verdict = Callable[[Fraction], bool | None]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The least ε of `digits` digits that meets a target: it does, and one unit in its last digit less does not.

    `achieved` is what ε comes to (a confidence, or an expected loss), `below` the ε one unit less and `achieved_below`
    what that comes to; both are None where ε is 0. `decided_by` says which arithmetic decided both, `remark` what else
    the number rests on.
    """

    what: str
    target: Fraction
    epsilon: Fraction
    achieved: float
    below: Fraction | None
    achieved_below: float | None
    digits: int
    decided_by: str
    remark: str = ""

    @property
    def text(self) -> str:
        """ε as a decimal, exact."""
        return exact_decimal(self.epsilon)


def exact_decimal(value: Fraction) -> str:
    """A finite decimal, exact.

    >>> exact_decimal(Fraction(532043, 10**6)), exact_decimal(Fraction(3)), exact_decimal(Fraction(1, 10**7))
    ('0.532043', '3', '0.0000001')
    """
    decimals = 0
    while value.denominator > 1 and (10**decimals) % value.denominator:
        decimals += 1
    return format(Decimal(int(value * 10**decimals)).scaleb(-decimals), "f")


def least_epsilon_digits(verdict: Verdict, guess: float, digits: int) -> tuple[Fraction, Fraction, int]:
    """(ε, ε − u, d): the multiple ε of u = one unit in the d-th digit with verdict True, and False one unit less.

    `verdict` is True from some ε on; None where the arithmetic at hand cannot tell, and then fewer digits are tried.
    `guess` is about where it turns.
    """
    if not 1 <= digits <= MAX_DIGITS:
        raise InputError(f"digits must be from 1 to {MAX_DIGITS}, got {digits}", "digits")
    if not 0 < guess <= MAX_EPSILON:
        raise InputError(f"the target must be met by an epsilon up to {MAX_EPSILON}, and is not", hint="ask for less")
    for digit_count in range(digits, 0, -1):
        unit = Fraction(10) ** (math.floor(math.log10(guess)) - digit_count + 1)
        multiple = _find_turn(verdict, math.ceil(Fraction(guess) / unit), unit)
        if multiple is not None:
            return multiple * unit, (multiple - 1) * unit, digit_count
    raise UndecidedError("no digit of epsilon could be certified at this size: take a smaller one")


def _find_turn(verdict: Verdict, start: int, unit: Fraction) -> int | None:
    """The k near `start` with verdict(k·unit) True and verdict((k−1)·unit) False; at 0 nothing is asked: it fails."""
    k, last = max(start, 1), max(start, 1) + MAX_GUESS_STEPS
    while (meets_target := verdict(k * unit)) is False and k < last:
        k += 1
    while meets_target and k > 1:
        meets_target = verdict((k - 1) * unit)
        if meets_target is False:
            return k
        k -= 1
    return k if meets_target else None


def decide_sign(value: Callable[[int], arb]) -> int:
    """The sign of a number ≠ 0 whose balls can be had at any number of bits.

    A polynomial in e^q with rational coefficients is 0 at no rational q ≠ 0 unless it is 0 everywhere (Lindemann), so
    some precision decides.
    """
    for bits in BALL_PRECISIONS:
        with working_precision(bits):
            ball = value(bits)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
    raise UndecidedError(f"a target is too close to what is reached for {BALL_PRECISIONS[-1]} bits to decide")
