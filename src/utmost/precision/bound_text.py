"""ε′ as text beside ε: rounded up, never down."""

from __future__ import annotations

from fractions import Fraction

from utmost.exact import Level, decimal_above
from utmost.precision.closeness import BALL_BITS, round_down

NEAR_EPSILON_SHARE = Fraction(1, 1000)  # of ε: an ε′ this close is written ε + what it is above


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
