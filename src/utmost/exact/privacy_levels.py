"""Privacy levels: α = e^−ε per unit of distance, exact, in [0, 1] with both ends.

A level is given either by α (a rational: "1/2") or by ε (a rational: "0.1"), and records which, since the other one is
irrational. α = 0 is ε = ∞ (no privacy), α = 1 is ε = 0 (the output is independent of the input).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact.exact_numbers import ball, decimal, integer, number, rational
from utmost.exact.reals import Number, Real, exponential, power, refine_double, sign
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb


MAX_EPSILON = 1000  # e^-1000 is beyond any use, and its powers are long
MAX_EPSILON_DISTANCE = 1_000_000  # ε times a distance: α^distance would have millions of digits


@dataclass(frozen=True, slots=True, repr=False)
class Level:
    """One privacy level: `alpha` exact; `exponent` is ε where ε is rational, else None."""

    alpha: Number
    exponent: Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse an α outside [0, 1]; `alpha` and `epsilon` make levels from text."""
        if not isinstance(self.alpha, Fraction | Real) or sign(self.alpha) < 0 or self.alpha > 1:
            raise InputError("alpha must be in [0, 1]: alpha is e^-epsilon, 1 tells nothing", "alpha")

    def power(self, distance: Number | int) -> Number:
        """α^distance, the likelihood ratio allowed at this distance; 0^0 = 1.

        Exact for rational distances and for sums of square roots, as between points of the plane.

        >>> alpha("1/2").power(3), str(epsilon("0.1").power(3)), str(alpha("1/2").power(Fraction(1, 2)))
        (Fraction(1, 8), 'exp(-3/10)', '1/2*2^(1/2)')
        >>> str(alpha("1/2").power(number("sqrt(2)"))), str(epsilon("0.1").power(number("sqrt(8)")))
        ('2^(-2^(1/2))', 'exp(-1/5*2^(1/2))')
        """
        exponent = number(distance, "distance")
        self._check_distance(exponent)
        if self.exponent is not None:
            return exponential(-self.exponent * exponent)
        if isinstance(self.alpha, Real):
            return self.alpha ** integer(exponent, "distance")
        return power(self.alpha, exponent)

    def power_ball(self, distance: Number | int, bits: int) -> arb:
        """An interval of about `bits` bits that contains α^distance, for any distance > 0 (α > 0)."""
        self._check_distance(distance)
        with working_precision(bits):
            return (-self.epsilon_ball(bits) * ball(distance, bits)).exp()

    def _check_distance(self, distance: Number | int) -> None:
        """Refuse a distance at which α^distance would have millions of digits."""
        if self.alpha and distance * Fraction(max(self.epsilon, 1e-300)) > MAX_EPSILON_DISTANCE:
            raise InputError(
                f"epsilon times a distance must be at most {MAX_EPSILON_DISTANCE}, got more",
                hint="measure distances in a larger unit",
            )

    @property
    def epsilon(self) -> float:
        """ε as the nearest double; ∞ at α = 0. For more digits: `epsilon_ball`."""
        if self.exponent is not None:
            return float(self.exponent)
        return float("inf") if not self.alpha else refine_double(self.epsilon_ball)

    def epsilon_ball(self, bits: int) -> arb:
        """An interval of `bits` bits that contains ε = −ln α (α > 0)."""
        if self.exponent is not None:
            return ball(self.exponent, bits)
        with working_precision(bits):
            return -ball(self.alpha, bits).log()

    @property
    def is_inner(self) -> bool:
        """0 < α < 1, where signatures, inverses and kernels make sense."""
        return sign(self.alpha) > 0 and self.alpha < 1

    def __repr__(self) -> str:
        """ε, or α with its ε."""
        return f"<Level: {self}>"

    def __str__(self) -> str:
        if self.exponent is not None:
            return f"ε = {self.exponent}"
        return f"α = {self.alpha} (ε ≈ {decimal(self.epsilon)})" if self.alpha else "α = 0 (ε = ∞)"


def alpha(value: object) -> Level:
    """The level with this α, in [0, 1].

    >>> str(alpha("1/2")), alpha(0).epsilon, alpha(1).epsilon
    ('α = 1/2 (ε ≈ 0.693147)', inf, 0.0)
    """
    exact_alpha = number(value, "alpha")
    if sign(exact_alpha) < 0 or exact_alpha > 1:
        raise InputError(
            f"alpha must be in [0, 1], got {decimal(exact_alpha)}: alpha is e^-epsilon, 1 tells nothing", "alpha"
        )
    return Level(exact_alpha, Fraction(0) if exact_alpha == 1 else None)


LOGARITHM = re.compile(r"(?:(?P<factor>[^()]+)\*)?\s*(?:ln|log)\((?P<number>.+)\)(?:/(?P<divisor>[^()]+))?")


def epsilon(value: object) -> Level:
    """The level with this ε ≥ 0: a rational number, or a logarithm as text: ln(2), ln(3)/2, 2*ln(3/2).

    >>> str(epsilon("0.1").alpha), epsilon("0.1") == epsilon("1/10")
    ('exp(-1/10)', True)
    >>> str(epsilon("ln(2)")), str(epsilon("ln(3)/2").alpha)
    ('α = 1/2 (ε ≈ 0.693147)', '1/3*3^(1/2)')
    """
    match = LOGARITHM.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is not None:
        return _logarithm_level(match)
    exact_epsilon = rational(value, "epsilon")
    if exact_epsilon < 0:
        raise InputError(f"epsilon must be >= 0, got {decimal(exact_epsilon)}", "epsilon")
    if exact_epsilon > MAX_EPSILON:
        raise InputError(
            (f"epsilon must be at most {MAX_EPSILON}, got {decimal(exact_epsilon)}: for no privacy at all say alpha 0"),
            "epsilon",
        )
    return Level(exponential(-exact_epsilon), exact_epsilon)


def _logarithm_level(match: re.Match[str]) -> Level:
    """The level e^−ε = base^(−factor/divisor)."""
    base = rational(match["number"], "epsilon")
    factor, divisor = (rational(match[part] or 1, "epsilon") for part in ("factor", "divisor"))
    if base < 1 or factor < 0 or divisor <= 0:
        raise InputError(f"epsilon must be >= 0, so a logarithm of a number >= 1, got {match.group()[:40]}", "epsilon")
    if float(factor / divisor) * math.log(base) > MAX_EPSILON:
        raise InputError(f"epsilon must be at most {MAX_EPSILON}, got {match.group()[:40]}", "epsilon")
    return alpha(power(base, -factor / divisor))
