"""How much an attacker's odds can change: bounds from a definition, exact values of a channel (KL10 Prop. 2.1.4).

i₁ is true, and an attacker weighs i₂ against it. An answer o moves the log-odds by Δ = ln(P(o|i₂)/P(o|i₁)), whatever
the prior, if it gives both some weight. A definition bounds how often Δ is large in either direction; the probability
is that of the mechanism's coins alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from utmost.axioms.curves import Curve, Point
from utmost.axioms.likelihood_ratio import lowest_terms
from utmost.errors import InputError
from utmost.exact import Level, Number, sign


@dataclass(frozen=True, slots=True)
class Odds:
    """P(Δ ≥ ε | i₁) and P(Δ ≤ −ε | i₁), or bounds on them: `rise` and `fall`.

    A bound is `attained` by some mechanism of the definition; one that is not is approached by mechanisms of it.
    """

    rise: Number
    fall: Number
    attained: tuple[bool, bool] = (True, True)


def odds_bounds(bound: Curve, level: Level) -> Odds:
    """What a bound M allows: a′ = sup{a > 0 : M(a)/a ≥ e^ε} and a″ = sup{a > 0 : m(a)/a ≤ e^−ε}, m(a) = 1 − M(1−a).

    KL10 Prop. 2.1.4; sup ∅ = 0. M is concave, so α·M(a) − a and α·a − m(a) are ≥ 0 up to one crossing, found on the
    piece where the sign changes. Both are the best possible: the mechanism with two outputs that gives one of them the
    probabilities (a′, M(a′)), or (a″, m(a″)), meets the bound, and has Δ ≥ ε, or Δ ≤ −ε, on that output. The one
    exception is a″ = 1 where M jumps at 0 and m(1) > e^−ε: then Δ ≤ −ε is possible with every probability below 1, but
    not surely.

    >>> from utmost.axioms.curves import curve_from_lines
    >>> from utmost.exact import alpha
    >>> bounds = odds_bounds(curve_from_lines([(2, 0), ("1/2", "1/2")]), alpha("1/2"))
    >>> bounds.rise, bounds.fall
    (Fraction(1, 3), Fraction(2, 3))
    """
    _check_curve(bound, level)
    lower = bound.reflected
    rise = lowest_terms(_last_nonnegative([(a, level.alpha * value - a) for a, value in bound.points]))
    fall = lowest_terms(_last_nonnegative([(a, level.alpha * a - value) for a, value in lower.points]))
    return Odds(rise, fall, (True, bool(fall != 1 or lower.at_one <= level.alpha)))


def odds_law(profile: Curve) -> tuple[tuple[Number, Number], ...]:
    """The law of e^Δ for a channel and a pair, i₁ being true: (ratio, probability), decreasing; 0 is Δ = −∞.

    >>> from utmost.axioms.profile import profile
    >>> from utmost.channel import channel
    >>> odds_law(profile(channel([["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]]), (0, 1)).curve)[0]
    (Fraction(2, 1), Fraction(1, 4))
    """
    return tuple(((b - d) / (a - c), a - c) for (c, d), (a, b) in pairwise(profile.points))


def odds_tails(profile: Curve, level: Level) -> Odds:
    """P(Δ ≥ ε | i₁) and P(Δ ≤ −ε | i₁) for a channel and a pair, from its profile."""
    _check_curve(profile, level)
    ratios = odds_law(profile)
    rise = sum((chance for ratio, chance in ratios if level.alpha * ratio >= 1), Fraction(0))
    fall = sum((chance for ratio, chance in ratios if ratio <= level.alpha), Fraction(0))
    return Odds(rise, fall)


def _check_curve(curve: Curve, level: Level) -> None:
    if level.alpha == 1:
        raise InputError(
            "epsilon of a move of the odds must be > 0, got 0: every answer moves them by 0 or more", "epsilon"
        )
    if not curve.concave or curve.points[-1][1] != 1 or curve.at_one != 1 or sign(curve.at_zero) < 0:
        raise InputError("a bound on events must be concave, at least 0 at 0 and equal to 1 at 1")


def _last_nonnegative(points: list[Point]) -> Number:
    """The largest argument where a concave function that starts at or above 0 is not below 0."""
    k = max(k for k, (_, value) in enumerate(points) if sign(value) >= 0)
    if k + 1 == len(points):
        return points[k][0]
    (low, above), (high, below) = points[k : k + 2]
    return low + (high - low) * above / (above - below)
