"""What to do about an ε′: one sentence for the person who has to decide, one more if the answer is a computed sum."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from utmost.exact import Level, decimal, decimal_above, decimal_below
from utmost.precision import laplace, planar
from utmost.precision.bound_text import epsilon_text, extra_epsilon_text
from utmost.precision.certificate import Certificate, Implementation
from utmost.precision.closeness import round_down

Pair: TypeAlias = tuple[Fraction, Fraction]
CHEAP_EPSILON_SHARE = Fraction(1, 100)  # share of ε that nobody will miss
EXACT_DRAWS_TEXT = "exact draws (utmost mechanism) need no allowance at all"


def laplace_advice(
    setting: laplace.LaplaceSetting,
    implementation: Implementation,
    certificate: Certificate,
    requested_range: Pair | None = None,
) -> str:
    """For Laplace noise: charge it, round otherwise, or narrow the range.

    `requested_range` is the range before its ends are moved outwards.
    """
    if _is_cheap(certificate):
        return _charge_text(setting.level, certificate)
    low, high = requested_range or (setting.low, setting.high)
    best = laplace.best_rounding(replace(setting, low=low, high=high), implementation)
    if best is not None and not laplace.promises_target(certificate, best.epsilon_prime):
        return _other_rounding_text(setting.level, certificate, best)
    if certificate.is_finite:
        return _charge_text(setting.level, certificate)
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
    certificate: Certificate,
    requested_ranges: tuple[Pair, Pair] | None = None,
) -> str:
    """The same for planar noise; `requested_ranges` are the ranges of x and of y."""
    if _is_cheap(certificate):
        return _charge_text(setting.level, certificate)
    x, y = requested_ranges or tuple(zip(setting.low, setting.high, strict=True))
    best = planar.best_rounding(replace(setting, low=(x[0], y[0]), high=(x[1], y[1])), implementation)
    if best is not None and not laplace.promises_target(certificate, best.epsilon_prime):
        return _other_rounding_text(setting.level, certificate, best)
    if certificate.is_finite:
        return _charge_text(setting.level, certificate)
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


def _is_cheap(certificate: Certificate) -> bool:
    return certificate.price is not None and certificate.price <= CHEAP_EPSILON_SHARE * certificate.epsilon


def _charge_text(level: Level, certificate: Certificate) -> str:
    extra = extra_epsilon_text(level, certificate.epsilon_prime or certificate.epsilon)
    return f"Charge ε′, not ε: the arithmetic costs {decimal_above(extra, 3)}; {EXACT_DRAWS_TEXT}."


def _other_rounding_text(level: Level, certificate: Certificate, best: Certificate) -> str:
    """Another rounding is better: this one is too fine for the machine, or coarser than it need be."""
    side = "too fine for the machine" if certificate.rounding < best.rounding else "too coarse"
    start = f"This rounding is {side}" if certificate.is_finite else f"No finite ε′, this rounding is {side}"
    best_epsilon = epsilon_text(level, best.epsilon_prime or certificate.epsilon, 6)
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
