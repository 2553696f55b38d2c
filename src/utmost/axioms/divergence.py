"""What the curve of a profile says in other words: δ(ε), ε(δ), total variation.

A profile f is concave from (0, f(0)) to (1, 1), so f(a) − s·a is largest at the breakpoint where the slope of f falls
below s, found by bisection.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction

from utmost.axioms.curves import Curve
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, decimal, number, sign

RELATIVE_ERROR = 1e-13  # doubles of four exact numbers and two products are off by less than a hundredth of this part
MIN_PRECISE_DOUBLE = 1e-290  # far above the doubles with fewer digits


def farthest_breakpoint(
    curve: Curve, a_weight: Number | int, f_weight: Number | int = 1, low: int = 0, high: int | None = None
) -> int:
    """The first breakpoint, from `low` to `high`, at which v·f(a) − w·a is largest: v = f_weight, w = a_weight.

    f is concave and both weights are ≥ 0, so v·f(a) − w·a rises up to there and falls after it: the largest among
    some neighbours is the nearest to it.
    Doubles decide where their errors cannot matter; the rest is decided exactly.
    """
    points, weights = curve.points, (nearest_double(f_weight), nearest_double(a_weight))

    def falls(k: int) -> bool:
        rise, run = points[k + 1][1] - points[k][1], points[k + 1][0] - points[k][0]
        gain, cost = weights[0] * nearest_double(rise), weights[1] * nearest_double(run)
        if min(gain, cost) > MIN_PRECISE_DOUBLE and abs(gain - cost) > RELATIVE_ERROR * (gain + cost):
            return gain < cost
        return sign(f_weight * rise - a_weight * run) <= 0

    last = len(points) - 1 if high is None else high
    return bisect_left(range(low, last), True, key=falls) + low


def nearest_double(value: Number | int) -> float:
    """The nearest double, ∞ if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def delta_at_epsilon(curve: Curve, level: Level) -> Number:
    """The least δ with P(O|i₂) ≤ e^ε·P(O|i₁) + δ for every event O: the largest f(a) − e^ε·a.

    That is Σ_y (P(y|i₂) − e^ε·P(y|i₁))₊, and f(0) at ε = ∞ (α = 0): the chance of an output impossible under i₁.

    >>> from utmost.axioms.curves import curve_from_points
    >>> from utmost.exact import alpha
    >>> delta_at_epsilon(curve_from_points([(0, 0), ("1/4", "3/4"), (1, 1)]), alpha("1/2"))
    Fraction(1, 4)
    """
    if not level.alpha:
        return curve.points[0][1]
    slope = 1 / level.alpha
    a, value = curve.points[farthest_breakpoint(curve, slope)]
    return value - slope * a


def total_variation(curve: Curve) -> Number:
    """The total variation distance of the two laws: δ at ε = 0, the largest f(a) − a."""
    a, value = curve.points[farthest_breakpoint(curve, 1)]
    return value - a


def epsilon_at_delta(curve: Curve, delta: object) -> Level:
    """The least ε with P(O|i₂) ≤ e^ε·P(O|i₁) + δ for every event O, as an exact level.

    e^ε is the slope of the steepest line from (0, δ) to the curve: the largest (f(a) − δ)/a over breakpoints, at least
    1, and ∞ (α = 0) where f(0) > δ.

    >>> from utmost.axioms.curves import curve_from_points
    >>> bend = curve_from_points([(0, 0), ("1/4", "3/4"), (1, 1)])
    >>> epsilon_at_delta(bend, 0).alpha, epsilon_at_delta(bend, "1/4").alpha, epsilon_at_delta(bend, "1/2").alpha
    (Fraction(1, 3), Fraction(1, 2), Fraction(1, 1))
    """
    exact_delta = number(delta, "delta")
    if sign(exact_delta) < 0 or exact_delta > 1:
        raise InputError(f"delta must be in [0, 1], got {decimal(exact_delta)}")
    if curve.points[0][1] > exact_delta:
        return Level(Fraction(0))
    slopes = [(value - exact_delta) / a for a, value in curve.points[1:]]
    return _level(1 / max([Fraction(1), *slopes]))


def _level(alpha: Number) -> Level:
    """The level with this α, that remembers ε where it is rational."""
    if not isinstance(alpha, Real):
        return Level(alpha, Fraction(0) if alpha == 1 else None)
    exponent = alpha.logarithm()
    return Level(alpha, None if exponent is None else -exponent)
