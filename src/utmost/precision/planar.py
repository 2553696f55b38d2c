"""Planar Laplace noise by radius and angle on a real machine: δ_t and ε′ (GMP13 §6, put right).

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
from utmost.precision.certificate import (
    Certificate,
    Implementation,
    check_format,
    check_inner_level,
    check_positive,
    closeness_of_shift,
    rate,
    rate_bounds,
    theorem_bound,
)
from utmost.precision.closeness import BALL_BITS, Closeness, fixed_point, rational_ball, round_up
from utmost.precision.laplace import MOST_CELLS, REACH_BITS, promises_target

if TYPE_CHECKING:
    from flint import arb

ROOT2 = Fraction(99, 70)  # above √2
TWO_PI = Fraction(710, 113)  # above 2π
HALVINGS = 30  # of the search for a width; it stays an upper bound at every step


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
        raise InputError("range must be LOW,HIGH with LOW < HIGH for each coordinate")
    if any((top - bottom) / step > MOST_CELLS for bottom, top in pairs):
        raise InputError(f"round must cut the range in at most {MOST_CELLS} cells a side: take a larger step")
    low = (pairs[0][0] // step * step, pairs[1][0] // step * step)
    high = (-(-pairs[0][1] // step) * step, -(-pairs[1][1] // step) * step)
    return PlanarSetting(
        check_inner_level(level), check_positive(rational(sensitivity, "sensitivity"), "sensitivity"), low, high, step
    )


def beyond(beta: arb, radius: arb) -> arb:
    """Pr[‖X‖ > radius] = (1 + β·radius)·e^{−β·radius}."""
    return (1 + beta * radius) * (-beta * radius).exp()


def radius_error(task: PlanarSetting, delta0: Fraction, noise: Fraction) -> Fraction | None:
    """ω: how far C⁻¹ moves when u moves by δ₀ from a place where C⁻¹(u) ≤ noise; None beyond the last value.

    max(C⁻¹(δ₀), C⁻¹(C(noise) + δ₀) − noise); each is found as a width on which C is *checked* to grow by δ₀.
    """
    with working_precision(2 * BALL_BITS):
        beta, start, least = rate(task.level, task.sensitivity), rational_ball(noise), rational_ball(delta0)
        if beta * start > REACH_BITS or not beyond(beta, start) > least:
            return None
        far = _width(lambda w: beyond(beta, start) - beyond(beta, start + w) >= least, _slope(task, delta0, noise))
        near = _width(lambda w: 1 - beyond(beta, w) >= least, round_up((2 * least).sqrt() / beta))
    return None if far is None or near is None else max(far, near)


def _slope(task: PlanarSetting, delta0: Fraction, noise: Fraction) -> Fraction:
    """e^{βD}/(β²D)·δ₀, the first guess for the far end."""
    beta = rate(task.level, task.sensitivity)
    return round_up(rational_ball(delta0) * (beta * rational_ball(noise)).exp() / (beta**2 * rational_ball(noise)))


def _width(enough: Callable[[arb], bool], guess: Fraction) -> Fraction | None:
    """A width that is enough, a few parts in 2^30 above the least one; `enough` is monotone."""
    high = guess
    for _ in range(64):
        if enough(rational_ball(high)):
            break
        high = 2 * high
    else:
        return None
    low = Fraction(0)
    for _ in range(HALVINGS):
        middle = round_up((low + high) / 2)
        low, high = (low, middle) if enough(rational_ball(middle)) else (middle, high)
    return high


def uniform_error(task: PlanarSetting, delta0: Fraction, noise: Fraction) -> tuple[Fraction, Fraction] | None:
    """(√(ω² + (2πTδ₀)²), T): how far n moves when both values move by δ₀; the radius T = noise + ω it can reach.

    Points (r, θ), (r′, θ′) are √((r−r′)² + 4rr′sin²((θ−θ′)/2)) apart, and that is at most √(ω² + rr′(θ−θ′)²).
    """
    moved = radius_error(task, delta0, noise)
    if moved is None:
        return None
    top = noise + moved
    with working_precision(BALL_BITS):
        return round_up(rational_ball(moved**2 + (TWO_PI * top * delta0) ** 2).sqrt()), top


def inverse_slope(task: PlanarSetting) -> Fraction | None:
    """e^{βD}/(β²D), the slope of C⁻¹ at the far end, rounded up; None where it is not even worth writing down."""
    with working_precision(BALL_BITS):
        fits = rate(task.level, task.sensitivity) * rational_ball(task.reach) < REACH_BITS
        return _slope(task, Fraction(1), task.reach) if fits else None


def arithmetic_error(task: PlanarSetting, run: Implementation, noise: Fraction) -> Fraction:
    """δ_n where the radius at u′ is at most `noise`; radius, sine and cosine are right to `ulps` steps.

    The angle 2π(v − ½) has a rounded constant and a rounded product; the coordinate r·cos θ a wrong radius, a wrong
    cosine and a rounded product; the sum with the answer's coordinate is rounded. Two coordinates: √2 times as much.
    """
    numbers = run.format
    angle = numbers.rounding(7) + numbers.rounding(4)
    cosine = angle + run.off(Fraction(1))
    radius = run.off(noise)
    product = radius * (1 + cosine) + noise * cosine
    product += numbers.rounding(noise + product)
    edge = max(abs(end) for end in (*task.low, *task.high))
    return round_up(ROOT2 * (product + numbers.rounding(edge + noise + product)))


def closeness(task: PlanarSetting, run: Implementation) -> Closeness | None:
    """The least δ_t that is found with: error on {‖n‖ ≤ D + 2δ_t} ≤ δ_t; None if there is none."""
    delta0 = run.delta0

    def parts(delta: Fraction) -> tuple[Fraction, Fraction] | None:
        found = uniform_error(task, delta0, task.reach + 2 * delta)
        return None if found is None else (found[0], arithmetic_error(task, run, found[1]))

    def error(delta: Fraction) -> Fraction | None:
        found = parts(delta)
        return None if found is None else round_up(sum(found, Fraction(0)))

    shift = fixed_point(error)
    found = None if shift is None else parts(shift)
    if shift is None or found is None:
        return None
    return Closeness(round_up(found[0] / delta0), delta0, found[1], shift, task.reach)


def robustness(rounding: Fraction, shift: Fraction) -> Fraction | None:
    """R = 8Lδ/(L − 2δ)², or None if L ≤ 2δ.

    >>> robustness(Fraction(1), Fraction(1, 10)), robustness(Fraction(1), Fraction(1, 2))
    (Fraction(5, 4), None)
    """
    return None if rounding <= 2 * shift else 8 * rounding * shift / (rounding - 2 * shift) ** 2


def certify_planar(task: PlanarSetting, run: Implementation) -> Certificate:
    """ε′ of the polar implementation on this machine.

    >>> from utmost.exact import epsilon
    >>> from utmost.precision.certificate import implementation
    >>> from utmost.precision.number_formats import BINARY64
    >>> made = certify_planar(planar_setting(epsilon(1), 1, (0, 5), (0, 5), "1/64"), implementation(BINARY64))
    >>> 1 < made.epsilon_prime < 1 + Fraction(1, 10**4)
    True
    """
    check_format(run.format, max(abs(end) for end in (*task.low, *task.high)) + task.rounding)
    return from_closeness(task, closeness(task, run))


def from_shift(task: PlanarSetting, shift: object) -> Certificate:
    """ε′ of any sampler whose noise is within `shift` of planar Laplace noise wherever the result is kept."""
    return from_closeness(task, closeness_of_shift(shift, task.reach))


def from_closeness(task: PlanarSetting, near: Closeness | None) -> Certificate:
    """ε′ where the noise is known to be so close."""
    from flint import arb

    top, beta = rate_bounds(task.level, task.sensitivity)
    with working_precision(BALL_BITS):
        diagonal, corner = rational_ball(task.rounding) * arb(2).sqrt(), 1 + arb(2).sqrt()
    ratio = None if near is None else robustness(task.rounding, near.delta_t)
    if near is None or ratio is None:
        return Certificate(top, beta, task.rounding, round_up(diagonal), near, None, None)
    bound = theorem_bound(task.level, task.sensitivity, ratio, diagonal, near.delta_t, corner)
    return Certificate(top, beta, task.rounding, round_up(diagonal), near, round_up(ratio), bound)


def widest_square(task: PlanarSetting, run: Implementation, target: Fraction | None = None) -> Fraction | None:
    """The side of the widest square (a multiple of the step) with ε′ ≤ target; None if not even one cell will do."""
    side = max(top - bottom for bottom, top in zip(task.low, task.high, strict=True))
    good, bad = 0, int(side / task.rounding) + 2
    while bad - good > 1:
        middle = (good + bad) // 2
        top = (task.low[0] + middle * task.rounding, task.low[1] + middle * task.rounding)
        good, bad = (
            (middle, bad) if promises_target(certify_planar(replace(task, high=top), run), target) else (good, middle)
        )
    return good * task.rounding or None


def best_rounding(task: PlanarSetting, run: Implementation) -> Certificate | None:
    """The certificate with the least ε′ over steps that are powers of two; None if none gives a finite ε′."""
    side = max(top - bottom for bottom, top in zip(task.low, task.high, strict=True))
    top = side.numerator.bit_length() - side.denominator.bit_length()
    best: Certificate | None = None
    for exponent in range(top - 30, top + 1):
        sides = [(task.low[k], task.high[k]) for k in range(2)]
        made = certify_planar(
            planar_setting(task.level, task.sensitivity, sides[0], sides[1], Fraction(2) ** exponent), run
        )
        if made.epsilon_prime is not None:
            best = made if best is None or promises_target(made, best.epsilon_prime) else best
    return best
