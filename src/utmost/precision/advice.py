"""Advice on an ε′: what to charge or change, and a second sentence if the answer is a computed sum."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from utmost.exact import Level, decimal, decimal_above, decimal_below
from utmost.precision import laplace, planar
from utmost.precision.guarantee import BALL_BITS, Implementation, PrecisionGuarantee, round_down

Pair: TypeAlias = tuple[Fraction, Fraction]
CHEAP_EPSILON_SHARE = Fraction(1, 100)  # an extra ε of at most this share is negligible
NEAR_EPSILON_SHARE = Fraction(1, 1000)  # of ε: an ε′ this close is written ε + what it is above
EXACT_DRAWS_TEXT = "exact draws (utmost mechanism) need no allowance at all"


def laplace_advice(
    setting: laplace.LaplaceSetting,
    implementation: Implementation,
    guarantee: PrecisionGuarantee,
    requested_range: Pair | None = None,
) -> str:
    """For Laplace noise: charge it, round otherwise, or narrow the range.

    `requested_range` is the range before its ends are moved outwards.
    """
    if _is_cheap(guarantee):
        return _charge_text(setting.level, guarantee)
    low, high = requested_range or (setting.low, setting.high)
    best = laplace.best_rounding(replace(setting, low=low, high=high), implementation)
    if best is not None and not laplace.promises_target(guarantee, best.epsilon_prime):
        return _other_rounding_text(setting.level, guarantee, best)
    if guarantee.is_finite:
        return _charge_text(setting.level, guarantee)
    return _narrower_range_text(
        setting.high - setting.low,
        laplace.widest_range(setting, implementation),
        setting.rounding,
        implementation,
        "range",
    )


def planar_advice(
    setting: planar.PlanarSetting,
    implementation: Implementation,
    guarantee: PrecisionGuarantee,
    requested_ranges: tuple[Pair, Pair] | None = None,
) -> str:
    """The same for planar noise; `requested_ranges` are the ranges of x and of y."""
    if _is_cheap(guarantee):
        return _charge_text(setting.level, guarantee)
    x, y = requested_ranges or tuple(zip(setting.low, setting.high, strict=True))
    best = planar.best_rounding(replace(setting, low=(x[0], y[0]), high=(x[1], y[1])), implementation)
    if best is not None and not laplace.promises_target(guarantee, best.epsilon_prime):
        return _other_rounding_text(setting.level, guarantee, best)
    if guarantee.is_finite:
        return _charge_text(setting.level, guarantee)
    side = max(top - bottom for bottom, top in zip(setting.low, setting.high, strict=True))
    return _narrower_range_text(
        side, planar.widest_square(setting, implementation), setting.rounding, implementation, "square"
    )


def sum_advice(sensitivity: Fraction, implemented: Fraction) -> str:
    """What a computed sum costs: noise of scale (Δ + 2δ_f)/ε, which is not ε's but the answer's doing.

    >>> sum_advice(Fraction(1), Fraction(5, 4))
    'The computed sum raises the sensitivity from 1 to 1.25: the noise must be 1.25 times as wide, its scale 1.25/ε.'
    """
    implemented_text = decimal_above(implemented)
    return (
        f"The computed sum raises the sensitivity from {decimal_above(sensitivity)} to {implemented_text}: the noise "
        f"must be {decimal_above(implemented / sensitivity)} times as wide, its scale {implemented_text}/ε."
    )


def _is_cheap(guarantee: PrecisionGuarantee) -> bool:
    return guarantee.price is not None and guarantee.price <= CHEAP_EPSILON_SHARE * guarantee.epsilon


def _charge_text(level: Level, guarantee: PrecisionGuarantee) -> str:
    extra = extra_epsilon_text(level, guarantee.epsilon_prime or guarantee.epsilon)
    return f"Charge ε′, not ε: the arithmetic costs {decimal_above(extra, 3)}; {EXACT_DRAWS_TEXT}."


def _other_rounding_text(level: Level, guarantee: PrecisionGuarantee, best: PrecisionGuarantee) -> str:
    """Another rounding is better: this one is too fine for the machine, or coarser than it need be."""
    side = "too fine for the machine" if guarantee.rounding < best.rounding else "too coarse"
    start = f"This rounding is {side}" if guarantee.is_finite else f"No finite ε′, this rounding is {side}"
    best_epsilon = epsilon_text(level, best.epsilon_prime or guarantee.epsilon, 6)
    return f"{start}: rounded to multiples of {best.rounding} it would be ε′ = {best_epsilon}; {EXACT_DRAWS_TEXT}."


def _narrower_range_text(
    requested_width: Fraction, width: Fraction | None, step: Fraction, implementation: Implementation, shape_name: str
) -> str:
    generator = f"noise made of {_count_text(implementation.generator.count)} uniform values is too coarse"
    if width is None:
        return f"No finite ε′: {generator} for this rounding, however narrow the {shape_name}; {EXACT_DRAWS_TEXT}."
    width_text = decimal_below(round_down(width, 10), 4)
    ends_text = ", whether what is outside is told as ∞ or as the nearer end" if shape_name == "range" else ""
    return (
        f"No finite ε′: {generator} that far out; the {shape_name} must be at most {width_text} wide "
        f"(it is {decimal(requested_width, 4)}) when rounded to {step}{ends_text}; clamp the answers to a narrower "
        f"{shape_name}, or draw exactly (utmost mechanism), at no cost beyond ε."
    )


def _count_text(count: int) -> str:
    """2^53 where it is a power of two."""
    return f"2^{count.bit_length() - 1}" if count & (count - 1) == 0 else str(count)


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
