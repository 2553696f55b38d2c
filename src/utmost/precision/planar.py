"""Planar Laplace noise by radius and angle on a real machine: δ_t and ε′ (GMP13 §6, corrected).

The density is β²/2π·e^{−β‖x‖}, β = ε/Δ; the angle is uniform and the radius r = C⁻¹(u) with C(r) = 1 − (1 +
βr)e^{−βr}. Four corrections:

- C′(r) = β²re^{−βr} is 0 at r = 0, so C⁻¹ has no Lipschitz constant there and the paper's K_C does not exist. C⁻¹ has
  a modulus of continuity. C′ rises, then falls, so the window of a given width on which C grows least lies at an end
  of [0, T]. So if r ≤ D and u moves by δ₀, the radius moves by at most max(C⁻¹(δ₀), C⁻¹(C(D) + δ₀) − D): about
  √(2δ₀)/β and e^{βD}/(β²D)·δ₀.
- An angle error of 2πδ₀ at radius r is an arc of 2πrδ₀: the displacement is at most √(ω² + (2πTδ₀)²), not with 2πD
  under the root.
- R ≤ ((L+2δ)² − (L−2δ)²)/(L−2δ)² = 8Lδ/(L−2δ)²: the difference, not the ratio.
- The cell is a square of side L. Its diameter, which the theorem speaks of, is L√2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import Level, rational
from utmost.exact.working_precision import working_precision
from utmost.precision.guarantee import (
    BALL_BITS,
    Closeness,
    Implementation,
    PrecisionGuarantee,
    check_format,
    check_inner_level,
    check_positive,
    closeness_of_shift,
    fixed_point,
    rate,
    rate_bounds,
    rational_ball,
    round_up,
    theorem_bound,
)
from utmost.precision.laplace import MAX_CELLS, MAX_REACH_EXPONENT, promises_target

if TYPE_CHECKING:
    from flint import arb

SQRT_2_BOUND = Fraction(99, 70)  # above √2
TWO_PI_BOUND = Fraction(710, 113)  # above 2π
BISECTION_STEPS = 30  # of the search for a width; it stays an upper bound at every step


@dataclass(frozen=True, slots=True)
class PlanarSetting:
    """What is released: a point of the box [low, high] (two coordinates each), planar noise of rate ε/Δ, rounded.

    Both coordinates are rounded to multiples of `rounding`; a rounded point outside of the box is cut off (∞).
    """

    level: Level
    sensitivity: Fraction
    low: tuple[Fraction, Fraction]
    high: tuple[Fraction, Fraction]
    rounding: Fraction

    @property
    def reach(self) -> Fraction:
        """D: no noise longer than this leads from a point of the box to one that is kept; the root, rounded up."""
        sides = [top - bottom + self.rounding / 2 for bottom, top in zip(self.low, self.high, strict=True)]
        with working_precision(BALL_BITS):
            return round_up(rational_ball(sides[0] ** 2 + sides[1] ** 2).sqrt())


def planar_setting(
    level: Level, sensitivity: object, x: tuple[object, object], y: tuple[object, object], rounding: object
) -> PlanarSetting:
    """A checked setting for points with x in x[0] … x[1] and y in y[0] … y[1]; ends move outwards to multiples.

    >>> from utmost.exact import epsilon
    >>> planar_setting(epsilon(1), 1, (0, 3), (0, "3.9"), "1/2").high
    (Fraction(3, 1), Fraction(4, 1))
    """
    step = check_positive(rational(rounding, "round"), "round")
    pairs = [(rational(side[0], "range"), rational(side[1], "range")) for side in (x, y)]
    if any(bottom >= top for bottom, top in pairs):
        raise InputError("range must be LOW,HIGH with LOW < HIGH for each coordinate", "range")
    if any((top - bottom) / step > MAX_CELLS for bottom, top in pairs):
        raise InputError(f"round must cut the range in at most {MAX_CELLS} cells a side", "round", "take a larger step")
    low = (pairs[0][0] // step * step, pairs[1][0] // step * step)
    high = (-(-pairs[0][1] // step) * step, -(-pairs[1][1] // step) * step)
    return PlanarSetting(
        check_inner_level(level), check_positive(rational(sensitivity, "sensitivity"), "sensitivity"), low, high, step
    )


def radius_tail(beta: arb, radius: arb) -> arb:
    """Pr[‖X‖ > radius] = (1 + β·radius)·e^{−β·radius}."""
    return (1 + beta * radius) * (-beta * radius).exp()


def radius_error(setting: PlanarSetting, delta0: Fraction, noise: Fraction) -> Fraction | None:
    """ω: how far C⁻¹ moves when u moves by δ₀ from a point where C⁻¹(u) ≤ noise; None beyond the last value.

    max(C⁻¹(δ₀), C⁻¹(C(noise) + δ₀) − noise); each is found as a width on which C is *checked* to grow by δ₀.
    """
    with working_precision(2 * BALL_BITS):
        beta, start, mass = rate(setting.level, setting.sensitivity), rational_ball(noise), rational_ball(delta0)
        if beta * start > MAX_REACH_EXPONENT or not radius_tail(beta, start) > mass:
            return None
        far_width = _smallest_width(
            lambda w: radius_tail(beta, start) - radius_tail(beta, start + w) >= mass,
            _scaled_slope(setting, delta0, noise),
        )
        near_width = _smallest_width(lambda w: 1 - radius_tail(beta, w) >= mass, round_up((2 * mass).sqrt() / beta))
    return None if far_width is None or near_width is None else max(far_width, near_width)


def _scaled_slope(setting: PlanarSetting, delta0: Fraction, noise: Fraction) -> Fraction:
    """e^{βD}/(β²D)·δ₀, the first guess for the far end."""
    beta = rate(setting.level, setting.sensitivity)
    return round_up(rational_ball(delta0) * (beta * rational_ball(noise)).exp() / (beta**2 * rational_ball(noise)))


def _smallest_width(suffices: Callable[[arb], bool], guess: Fraction) -> Fraction | None:
    """A width that is enough, a few parts in 2^30 above the least one; `suffices` is monotone."""
    high = guess
    for _ in range(64):
        if suffices(rational_ball(high)):
            break
        high = 2 * high
    else:
        return None
    low = Fraction(0)
    for _ in range(BISECTION_STEPS):
        middle = round_up((low + high) / 2)
        low, high = (low, middle) if suffices(rational_ball(middle)) else (middle, high)
    return high


def uniform_error(setting: PlanarSetting, delta0: Fraction, noise: Fraction) -> tuple[Fraction, Fraction] | None:
    """(√(ω² + (2πTδ₀)²), T): how far n moves when both values move by δ₀; the radius T = noise + ω it can reach.

    Points (r, θ), (r′, θ′) are √((r−r′)² + 4rr′sin²((θ−θ′)/2)) apart, and that is at most √(ω² + rr′(θ−θ′)²).
    """
    radius_shift = radius_error(setting, delta0, noise)
    if radius_shift is None:
        return None
    largest_radius = noise + radius_shift
    with working_precision(BALL_BITS):
        return round_up(
            rational_ball(radius_shift**2 + (TWO_PI_BOUND * largest_radius * delta0) ** 2).sqrt()
        ), largest_radius


def inverse_slope(setting: PlanarSetting) -> Fraction | None:
    """e^{βD}/(β²D), the slope of C⁻¹ at the far end, rounded up; None where it is not even worth writing down."""
    with working_precision(BALL_BITS):
        fits = rate(setting.level, setting.sensitivity) * rational_ball(setting.reach) < MAX_REACH_EXPONENT
        return _scaled_slope(setting, Fraction(1), setting.reach) if fits else None


def arithmetic_error(setting: PlanarSetting, implementation: Implementation, noise: Fraction) -> Fraction:
    """δ_n where the radius at u′ is at most `noise`; radius, sine and cosine are right to `ulps` steps.

    The angle 2π(v − ½) has a rounded constant and a rounded product; the coordinate r·cos θ a wrong radius, a wrong
    cosine and a rounded product; the sum with the answer's coordinate is rounded. Two coordinates: √2 times as much.
    """
    number_format = implementation.format
    angle = number_format.rounding(7) + number_format.rounding(4)
    cosine = angle + implementation.function_error(Fraction(1))
    radius = implementation.function_error(noise)
    product = radius * (1 + cosine) + noise * cosine
    product += number_format.rounding(noise + product)
    edge = max(abs(end) for end in (*setting.low, *setting.high))
    return round_up(SQRT_2_BOUND * (product + number_format.rounding(edge + noise + product)))


def closeness(setting: PlanarSetting, implementation: Implementation) -> Closeness | None:
    """The least δ_t that is found with: error on {‖n‖ ≤ D + 2δ_t} ≤ δ_t; None if there is none."""
    delta0 = implementation.delta0

    def error_parts(delta: Fraction) -> tuple[Fraction, Fraction] | None:
        uniform_shift = uniform_error(setting, delta0, setting.reach + 2 * delta)
        if uniform_shift is None:
            return None
        displacement, radius = uniform_shift
        return displacement, arithmetic_error(setting, implementation, radius)

    def error(delta: Fraction) -> Fraction | None:
        errors = error_parts(delta)
        return None if errors is None else round_up(sum(errors, Fraction(0)))

    shift = fixed_point(error)
    errors = None if shift is None else error_parts(shift)
    if shift is None or errors is None:
        return None
    return Closeness(round_up(errors[0] / delta0), delta0, errors[1], shift, setting.reach)


def robustness(rounding: Fraction, shift: Fraction) -> Fraction | None:
    """R = 8Lδ/(L − 2δ)², or None if L ≤ 2δ.

    >>> robustness(Fraction(1), Fraction(1, 10)), robustness(Fraction(1), Fraction(1, 2))
    (Fraction(5, 4), None)
    """
    return None if rounding <= 2 * shift else 8 * rounding * shift / (rounding - 2 * shift) ** 2


def certify_planar(setting: PlanarSetting, implementation: Implementation) -> PrecisionGuarantee:
    """ε′ of the polar implementation on this machine.

    >>> from utmost.exact import epsilon
    >>> from utmost.precision.guarantee import implementation
    >>> from utmost.precision.number_formats import BINARY64
    >>> guarantee = certify_planar(planar_setting(epsilon(1), 1, (0, 5), (0, 5), "1/64"), implementation(BINARY64))
    >>> 1 < guarantee.epsilon_prime < 1 + Fraction(1, 10**4)
    True
    """
    check_format(implementation.format, max(abs(end) for end in (*setting.low, *setting.high)), setting.rounding)
    return certify_closeness(setting, closeness(setting, implementation))


def certify_shift(setting: PlanarSetting, shift: object) -> PrecisionGuarantee:
    """ε′ of any sampler whose noise is within `shift` of planar Laplace noise wherever the result is kept."""
    return certify_closeness(setting, closeness_of_shift(shift, setting.reach))


def certify_closeness(setting: PlanarSetting, noise_closeness: Closeness | None) -> PrecisionGuarantee:
    """ε′ where the noise is known to be so close."""
    from flint import arb

    top, beta = rate_bounds(setting.level, setting.sensitivity)
    with working_precision(BALL_BITS):
        diagonal, corner = rational_ball(setting.rounding) * arb(2).sqrt(), 1 + arb(2).sqrt()
    ratio = None if noise_closeness is None else robustness(setting.rounding, noise_closeness.delta_t)
    if noise_closeness is None or ratio is None:
        return PrecisionGuarantee(top, beta, setting.rounding, round_up(diagonal), noise_closeness, None, None)
    bound = theorem_bound(setting.level, setting.sensitivity, ratio, diagonal, noise_closeness.delta_t, corner)
    return PrecisionGuarantee(top, beta, setting.rounding, round_up(diagonal), noise_closeness, round_up(ratio), bound)


def widest_square(
    setting: PlanarSetting, implementation: Implementation, target: Fraction | None = None
) -> Fraction | None:
    """The side of the widest square (a multiple of the step) with ε′ ≤ target; None if not even one cell will do."""
    side = max(top - bottom for bottom, top in zip(setting.low, setting.high, strict=True))
    feasible, infeasible = 0, int(side / setting.rounding) + 2
    while infeasible - feasible > 1:
        middle = (feasible + infeasible) // 2
        top = (setting.low[0] + middle * setting.rounding, setting.low[1] + middle * setting.rounding)
        feasible, infeasible = (
            (middle, infeasible)
            if promises_target(certify_planar(replace(setting, high=top), implementation), target)
            else (feasible, middle)
        )
    return feasible * setting.rounding or None


def best_rounding(setting: PlanarSetting, implementation: Implementation) -> PrecisionGuarantee | None:
    """The guarantee with the least ε′ over steps that are powers of two; None if none gives a finite ε′."""
    side = max(top - bottom for bottom, top in zip(setting.low, setting.high, strict=True))
    top = side.numerator.bit_length() - side.denominator.bit_length()
    best: PrecisionGuarantee | None = None
    for exponent in range(top - 30, top + 1):
        sides = [(setting.low[k], setting.high[k]) for k in range(2)]
        guarantee = certify_planar(
            planar_setting(setting.level, setting.sensitivity, sides[0], sides[1], Fraction(2) ** exponent),
            implementation,
        )
        if guarantee.epsilon_prime is not None:
            best = guarantee if best is None or promises_target(guarantee, best.epsilon_prime) else best
    return best
