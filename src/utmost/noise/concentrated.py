"""Zero-concentrated privacy (ρ-zCDP) told as (ε, δ), and the other way, in numbers that are never rounded inward.

**Claim** (Canonne, Kamath and Steinke, arXiv:2004.00010, Prop. 12). Let the Rényi divergence of some order a > 1 be at
most a·ρ, in both directions. Then for every ε the mechanism is (ε, δ)-private with

    δ = e^((a−1)(aρ−ε))/(a−1) · (1 − 1/a)^a.

*Proof.* Let Y be the privacy loss ln(P(y)/Q(y)) of a draw from P. Then δ(ε) = E[(1 − e^(ε−Y))₊], and E[e^((a−1)Y)] is
at most e^((a−1)aρ). So it is enough that (1 − e^(ε−y))₊ ≤ c·e^((a−1)y) for all y, c = e^(−(a−1)ε)·(a−1)^(a−1)/a^a. With
t = e^(ε−y) this says (1−t)·t^(a−1) ≤ (a−1)^(a−1)/a^a, whose left side is the largest at t = (a−1)/a. ∎

Written with g(a) = (ln(1/δ) + (a−1)·ln(a−1) − a·ln a)/(a−1), it says ε = aρ + g(a), and ρ = (ε − g(a))/a. Every order
is sound, so floats choose a good one, and balls evaluate it there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import ball, decimal_above, decimal_below, rational
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

BITS = 256  # of the balls
DIGITS = 15  # of a result
MIN_LOG_DELTA = -2000  # of a δ that is written out
STEPS = 120  # of the search for an order
MAX_SEARCHED = Fraction(10**300)  # a ρ or ε in that search
MIN_LOG_ORDER, MAX_LOG_ORDER = -30.0, 60.0  # of ln(a − 1)


@lru_cache(maxsize=1024)
def delta_of_rho(rho: Fraction, epsilon: Fraction) -> Fraction:
    """A δ, rounded up, such that ρ-zCDP implies (ε, δ)-privacy; at most 1, and not below e^−2000.

    >>> from utmost.exact import decimal
    >>> decimal(delta_of_rho(Fraction(1, 50), Fraction(1)))
    '8.82525e-08'
    """
    rho, epsilon = _check_positive(rho, "rho"), _check_positive(epsilon, "epsilon")
    shown_rho, shown_epsilon = _nearby_double(rho), _nearby_double(epsilon)

    def log_delta(excess: float) -> float:
        return excess * ((excess + 1) * shown_rho - shown_epsilon) + _log_factor(excess)

    excess = ball(_best_excess(log_delta), BITS)
    with working_precision(BITS):
        order = excess + 1
        exponent = excess * (order * ball(rho, BITS) - ball(epsilon, BITS)) + _log_factor_ball(excess)
        return Fraction(decimal_above(exponent.max(MIN_LOG_DELTA).min(0).exp(), DIGITS))


@lru_cache(maxsize=1024)
def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """An ε, rounded up, such that ρ-zCDP implies (ε, δ)-privacy.

    >>> float(epsilon_of_rho(Fraction(1, 50), Fraction(1, 10**6)))
    0.899935267660642
    """
    rho, delta = _check_positive(rho, "rho"), check_conversion_delta(delta)
    shown_rho, log_inverse = _nearby_double(rho), -_logarithm(delta)

    def epsilon(excess: float) -> float:
        return (excess + 1) * shown_rho + (log_inverse + _log_factor(excess)) / excess

    excess = ball(_best_excess(epsilon), BITS)
    with working_precision(BITS):
        result = (excess + 1) * ball(rho, BITS) + _log_term(excess, delta)
        return max(Fraction(decimal_above(result, DIGITS)), Fraction(0))


@lru_cache(maxsize=1024)
def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A ρ > 0, rounded down, such that ρ-zCDP implies (ε, δ)-privacy: the largest that the claim gives.

    >>> float(rho_of(Fraction(1), Fraction(1, 10**6)))
    0.0243559703595383
    """
    epsilon, delta = _check_positive(epsilon, "epsilon"), check_conversion_delta(delta)
    shown_epsilon, log_inverse = _nearby_double(epsilon), -_logarithm(delta)

    def negative_rho(excess: float) -> float:
        return ((log_inverse + _log_factor(excess)) / excess - shown_epsilon) / (excess + 1)

    excess = ball(_best_excess(negative_rho), BITS)
    with working_precision(BITS):
        result = (ball(epsilon, BITS) - _log_term(excess, delta)) / (excess + 1)
    rho = Fraction(decimal_below(result, DIGITS))
    if rho <= 0:
        raise InputError("epsilon must be larger: no rho that a computer can find converts to it", "epsilon")
    return rho


def check_conversion_delta(delta: object) -> Fraction:
    """A δ that ρ can be converted at: 0 < δ < 1."""
    amount = rational(delta, "delta")
    if not 0 < amount < 1:
        raise InputError("delta must be > 0 and below 1 where rho is converted, got another", "delta", "say 1e-6")
    return amount


def _check_positive(value: object, name: str) -> Fraction:
    amount = rational(value, name)
    if amount <= 0:
        raise InputError(f"{name} must be > 0, got {amount}", name)
    return amount


def _nearby_double(value: Fraction) -> float:
    """A double for the search of an order alone: every order gives a bound, so a huge number may be cut."""
    return float(min(value, MAX_SEARCHED))


def _best_excess(cost: Callable[[float], float]) -> Fraction:
    """The a − 1 with about the least cost: by thirds of ln(a − 1), on which each cost has one valley."""
    low, high = MIN_LOG_ORDER, MAX_LOG_ORDER
    for _ in range(STEPS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if cost(math.exp(left)) <= cost(math.exp(right)) else (left, high)
    return Fraction(math.exp((low + high) / 2))


def _log_factor(excess: float) -> float:
    """(a−1)·ln(a−1) − a·ln a with a = 1 + excess, which is −ln a − (a−1)·ln(1 + 1/(a−1))."""
    return -math.log1p(excess) - excess * math.log1p(1 / excess)


def _log_factor_ball(excess: arb) -> arb:
    return -excess.log1p() - excess * (1 / excess).log1p()


def _log_term(excess: arb, delta: Fraction) -> arb:
    """g(a)."""
    return (_log_factor_ball(excess) - ball(delta, BITS).log()) / excess


def _logarithm(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
