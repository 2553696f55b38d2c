"""GMP13 §5 and §6: the two applications, formula by formula."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from utmost.exact import Number, decimal, decimal_above, epsilon, power
from utmost.exact.working_precision import working_precision
from utmost.papers.items import Claim, Item, LabelledMatrix, Series, Value, claims_item, computed_item
from utmost.precision import laplace, planar
from utmost.precision.guarantee import BALL_BITS, PrecisionGuarantee, implementation, rational_ball
from utmost.precision.number_formats import BINARY64

STEP = Fraction(1, 1024)
SQUARE_STEP = Fraction(1, 64)
WIDTHS = (1, 5, 10, 15, 20, 24, 26, 28, 29, 100)
SIDES = (1, 5, 10, 15, 18, 20, 22, 24, 25, 100)
DOUBLE_IMPLEMENTATION = implementation(BINARY64)


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return section5_ratio(), section5(), section6_formulas(), section6_centre(), section6()


def section5_ratio() -> Item:
    """R of eq. (5) for an interval: the difference of two lengths over the shorter."""
    rounding, shift = Fraction(1), Fraction(1, 10)
    wide, narrow = rounding + 2 * shift, rounding - 2 * shift
    lines: list[Claim] = [
        ("R of eq. (5), L = 1, δ_t = 1/10", wide / narrow, (wide - narrow) / narrow),
        ("R as δ_t → 0", Fraction(1), laplace.rounding_robustness(rounding, Fraction(0)) or Fraction(0)),
    ]
    note = "S^{+δ} ∖ S^{−δ} has length 4δ_t: R = 4δ_t/(L − 2δ_t); with the ratio ε′ would never be below ε + ln 2"
    return claims_item("Section 5, R", "R = (L + 2δ_t)/(L − 2δ_t) as published, and as eq. (5) defines it", lines, note)


def section5() -> Item:
    """Laplace noise in binary64, ε = Δ = 1: δ_t, R and ε′ over the width of the range."""
    guarantees = [
        laplace.certify_laplace(laplace.laplace_setting(epsilon(1), 1, 0, width, STEP), DOUBLE_IMPLEMENTATION)
        for width in WIDTHS
    ]
    widest = laplace.widest_range(
        laplace.laplace_setting(epsilon(1), 1, 0, 100, STEP), DOUBLE_IMPLEMENTATION
    ) or Fraction(0)
    columns = ("k", "δ_n", "δ_t", "R", "ε′ − ε", "sharper")  # ε′ is that of the theorem
    grid = LabelledMatrix("range", columns, WIDTHS, [_guarantee_row(c) for c in guarantees])
    reach = decimal_above(widest, 5)
    note = f"2^53 values of the generator reach no further than a range of {reach}: beyond it ε′ is infinite"
    lines = _price_series(WIDTHS, guarantees, "width of the range", widest)
    item = computed_item("Section 5", "binary64, ε = 1, Δ = 1, L = 1/1024", grid, note, lines)
    return replace(
        item, claim=f"A range wider than {decimal_above(widest, 4)} has no ε′; below it the price is exponential"
    )


def _guarantee_row(guarantee: PrecisionGuarantee) -> list[Value]:
    closeness = guarantee.closeness
    if closeness is None:
        return ["-", "-", "∞", "∞", "∞", "∞"]
    sharper = "-" if guarantee.sharp is None else decimal_above(guarantee.sharp - guarantee.epsilon, 4)
    price = "∞" if guarantee.theorem is None else decimal_above(guarantee.theorem - guarantee.epsilon, 4)
    ratio = "∞" if guarantee.robustness is None else decimal_above(guarantee.robustness, 4)
    return [
        decimal_above(closeness.k, 4),
        decimal_above(closeness.delta_n, 4),
        decimal_above(closeness.delta_t, 4),
        ratio,
        price,
        sharper,
    ]


def _price_series(
    widths: tuple[int, ...], guarantees: list[PrecisionGuarantee], name: str, widest: Fraction
) -> tuple[Series, ...]:
    """log₁₀(ε′ − ε) of the theorem over the width, and a wall where it stops being finite."""
    pairs = [(w, c.theorem - c.epsilon) for w, c in zip(widths, guarantees, strict=True) if c.theorem]
    x, y = tuple(float(w) for w, _ in pairs), tuple(math.log10(price) for _, price in pairs)
    axis, wall = "log₁₀(ε′ − ε)", f"beyond {decimal_above(widest, 4)}: ε′ = ∞"
    return Series("ε′ − ε", name, axis, x, y), Series(wall, name, axis, (float(widest),) * 2, (min(y), max(y)))


def section6_formulas() -> Item:
    """R, the diameter and the angle of §6 for L = 1, δ_t = 1/10."""
    rounding, shift = Fraction(1), Fraction(1, 10)
    wide, narrow = (rounding + 2 * shift) ** 2, (rounding - 2 * shift) ** 2
    diagonal: Number = power(2, Fraction(1, 2))
    lines: list[Claim] = [
        ("R of eq. (5), L = 1, δ_t = 1/10", wide / narrow, (wide - narrow) / narrow),
        ("diameter of a square cell of side 1", Fraction(1), diagonal),
        ("the angle's term under the root of k, D = 4", "2π·4", "(2π·4)²"),
    ]
    note = (
        "R = 8Lδ_t/(L − 2δ_t)²; an angle that is off by 2πδ₀ moves a point at radius D along an arc of 2πDδ₀, "
        "so its square stands under the root"
    )
    return claims_item("Section 6, formulas", "as published, and as the definitions give them", lines, note)


def section6_centre() -> Item:
    """How far the radius moves when u moves from 0 by δ₀, against K_C·δ₀."""
    exponents = (10, 20, 53)
    rows: list[list[Value]] = []
    for bits in exponents:
        setting = planar.planar_setting(epsilon(1), 1, (0, 1), (0, 1), 1)
        radius_shift = planar.radius_error(setting, Fraction(1, 2**bits), Fraction(1)) or Fraction(0)
        with working_precision(BALL_BITS):
            printed_shift = rational_ball(Fraction(1)).exp() / 3 * rational_ball(Fraction(1, 2**bits))
        rows.append([decimal(Fraction(str(float(printed_shift))), 4), decimal_above(radius_shift, 4)])
    grid = LabelledMatrix("δ₀", ("K_C·δ₀ as published", "modulus of C⁻¹"), [f"2^-{bits}" for bits in exponents], rows)
    note = "C′(0) = 0, so C⁻¹ moves by about √(2δ₀)/ε: K_C = e^{εD}/(2ε + rε²) is no Lipschitz constant (ε = D = r = 1)"
    return computed_item("Section 6, K_C", "how far the radius can be off near 0", grid, note)


def section6() -> Item:
    """Planar noise in binary64, ε = Δ = 1: δ_t, R and ε′ over the side of the square."""
    guarantees = [
        planar.certify_planar(planar.planar_setting(epsilon(1), 1, (0, s), (0, s), SQUARE_STEP), DOUBLE_IMPLEMENTATION)
        for s in SIDES
    ]
    widest = planar.widest_square(
        planar.planar_setting(epsilon(1), 1, (0, 100), (0, 100), SQUARE_STEP), DOUBLE_IMPLEMENTATION
    ) or Fraction(0)
    columns = ("k", "δ_n", "δ_t", "R", "ε′ − ε")
    grid = LabelledMatrix("side", columns, SIDES, [_guarantee_row(c)[:5] for c in guarantees])
    note = (
        f"up to a side of about 15 the centre decides: δ_t ≈ √(2δ₀)/ε = 1.5e-8; no ε′ beyond {decimal_above(widest, 5)}"
    )
    lines = _price_series(SIDES, guarantees, "side of the square", widest)
    item = computed_item("Section 6", "binary64, ε = 1, Δ = 1, L = 1/64", grid, note, lines)
    return replace(
        item, claim=f"No ε′ for squares wider than {decimal_above(widest, 4)}; up to 15 the centre sets the price"
    )
