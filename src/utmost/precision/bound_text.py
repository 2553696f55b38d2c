"""Proven bounds as text: rounded up, never down."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from utmost.exact import Level
from utmost.precision.closeness import BALL_BITS, round_down

NEAR_EPSILON_SHARE = Fraction(1, 1000)  # of ε: an ε′ this close is written ε + what it is above
FLOATS = (Fraction(1, 10**300), Fraction(10**300))


def decimal_above(value: Fraction, digits: int = 6) -> str:
    """A decimal of at most `digits` significant digits that is not below the value.

    >>> (
    ...     decimal_above(Fraction(1, 3)),
    ...     decimal_above(Fraction(1)),
    ...     decimal_above(Fraction("223.04"), 3),
    ...     decimal_above(Fraction(2, 3 * 10**401), 3),
    ... )
    ('0.333334', '1', '224', '6.67e-402')
    """
    context = Context(prec=digits, rounding=ROUND_CEILING, Emin=-(10**9), Emax=10**9)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if value and not FLOATS[0] < abs(value) < FLOATS[1]:
        return f"{quotient.normalize(context):e}"
    return f"{float(quotient):.{digits}g}"


def extra_epsilon_text(level: Level, bound: Fraction) -> Fraction:
    """bound − ε: exact where ε is rational, else not below it."""
    return bound - (round_down(level.epsilon_ball(BALL_BITS)) if level.exponent is None else level.exponent)


def epsilon_text(level: Level, bound: Fraction, digits: int = 9) -> str:
    """ε′ as text: `1 + 2.01e-08` where ε is rational and ε′ close to it, else a decimal.

    >>> from utmost.exact import epsilon
    >>> epsilon_text(epsilon(1), 1 + Fraction(1, 3 * 10**7)), epsilon_text(epsilon(1), Fraction(4, 3), 3)
    ('1 + 3.34e-08', '1.34')
    """
    extra = extra_epsilon_text(level, bound)
    if level.exponent is None or not 0 < extra < NEAR_EPSILON_SHARE * level.exponent:
        return decimal_above(bound, digits)
    return f"{level.exponent} + {decimal_above(extra, 3)}"
