"""Laplace noise by inverting its distribution on a real machine: δ_t and ε′ (GMP13 §5, corrected).

n(u) = −b·sgn(u − ½)·ln(1 − 2|u − ½|) with b = Δ/ε. Where |n(u)| = x the slope is 2b·e^{x/b}, so the paper's k is
2b·e^{D/b}. That is the slope on the near side of a step; the step itself goes from tail mass q = ½e^{−x/b} to q − δ₀
at worst, and moves n by exactly −b·ln(1 − 2δ₀e^{x/b}). This is what is used (k is this divided by δ₀: no less than
the slope, and equal to it to first order). Beyond 2δ₀e^{x/b} = 1 the generator has no value left, and nothing can be
promised.

In one dimension S^{+δ} ∖ S^{−δ} has length 4δ and S^{−δ} has L − 2δ: R = 4δ_t/(L − 2δ_t). The paper puts
(L+2δ_t)/(L−2δ_t), the ratio instead of the difference; with it ε′ would stay above ε + ln 2 however good the machine
is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from utmost.errors import InputError
from utmost.exact import Level, decimal, decimal_below, epsilon, rational
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

MAX_CELLS = 10**15
MAX_REACH_EXPONENT = 10**5  # bits of the exponent of e^{βD} that are still computed


@dataclass(frozen=True, slots=True)
class LaplaceSetting:
    """What is released: an answer in [low, high], Laplace noise of scale Δ/ε, rounded to multiples of `rounding`.

    The ends are multiples of `rounding`; a rounded value outside them is cut off (∞, or the nearer end).
    """

    level: Level
    sensitivity: Fraction
    low: Fraction
    high: Fraction
    rounding: Fraction

    @property
    def reach(self) -> Fraction:
        """D: the largest noise that leads from an answer in the range to a value kept, high − low + rounding/2."""
        return self.high - self.low + self.rounding / 2


def laplace_setting(level: Level, sensitivity: object, low: object, high: object, rounding: object) -> LaplaceSetting:
    """A checked setting; the ends are moved outwards to multiples of `rounding`.

    >>> from utmost.exact import epsilon
    >>> setting = laplace_setting(epsilon(1), 1, "0.3", 2, "1/4")
    >>> setting.low, setting.high, setting.reach
    (Fraction(1, 4), Fraction(2, 1), Fraction(15, 8))
    """
    step = check_positive(rational(rounding, "round"), "round")
    bottom, top = rational(low, "range"), rational(high, "range")
    if bottom >= top:
        raise InputError("range must be two numbers LOW,HIGH with LOW < HIGH", "range")
    if (top - bottom) / step > MAX_CELLS:
        raise InputError(f"round must cut the range in at most {MAX_CELLS} cells", "round", "take a larger step")
    range_ends = (bottom // step * step, -(-top // step) * step)
    return LaplaceSetting(
        check_inner_level(level), check_positive(rational(sensitivity, "sensitivity"), "sensitivity"), *range_ends, step
    )


def step_error(setting: LaplaceSetting, delta0: Fraction, noise: Fraction) -> Fraction | None:
    """How far n moves when u moves by δ₀ from a point where |n(u)| ≤ noise: −b·ln(1 − 2δ₀e^{noise/b}), rounded up.

    The tail masses q = ½e^{−|n|/b} before and after differ by at most δ₀, and −b·ln(2q) is convex and falling: the
    step outwards from the smallest q is the largest. (A step across u = ½ is covered: there both parts are steps in q
    of δ₀ altogether.)
    """
    with working_precision(BALL_BITS):
        beta = rate(setting.level, setting.sensitivity)
        exponent = beta * rational_ball(noise)
        if exponent > MAX_REACH_EXPONENT:
            return None
        mass_ratio = 2 * rational_ball(delta0) * exponent.exp()
        return round_up(-(-mass_ratio).log1p() / beta) if mass_ratio < 1 else None


def inverse_slope(setting: LaplaceSetting) -> Fraction | None:
    """2b·e^{D/b}, the paper's k, rounded up; None where it is not even worth writing down."""
    with working_precision(BALL_BITS):
        beta = rate(setting.level, setting.sensitivity)
        exponent = beta * rational_ball(setting.reach)
        return round_up(2 * exponent.exp() / beta) if exponent < MAX_REACH_EXPONENT else None


def arithmetic_error(setting: LaplaceSetting, implementation: Implementation, noise: Fraction) -> Fraction:
    """δ_n where |n(u′)| ≤ noise: scale, logarithm, product and the sum with the answer, each rounded.

    With ℓ = ln(1 − 2|u − ½|), |ℓ| = |n|/b: the computed logarithm is off by at most `ulps` steps, the scale by a
    rounding, so the product by b̂·off(ℓ) + |ℓ|·rounding(b) and its own rounding; the sum with the answer by a
    rounding of at most |answer| + |noise|.
    """
    number_format = implementation.format
    with working_precision(BALL_BITS):
        scale = round_up(1 / rate(setting.level, setting.sensitivity))
        logarithm = round_up(rational_ball(noise) * rate(setting.level, setting.sensitivity))
    scale_error = number_format.rounding(scale)
    product_error = (scale + scale_error) * implementation.function_error(logarithm) + logarithm * scale_error
    product_error += number_format.rounding(noise + product_error)
    return round_up(
        product_error + number_format.rounding(max(abs(setting.low), abs(setting.high)) + noise + product_error)
    )


def closeness(setting: LaplaceSetting, implementation: Implementation) -> Closeness | None:
    """The least δ_t that is found with: error on {|n| ≤ D + 2δ_t} ≤ δ_t; None if there is none (see `guarantee`)."""
    delta0 = implementation.delta0

    def error(delta: Fraction) -> Fraction | None:
        edge = setting.reach + 2 * delta
        displacement = step_error(setting, delta0, edge)
        return (
            None
            if displacement is None
            else round_up(displacement + arithmetic_error(setting, implementation, edge + displacement))
        )

    shift = fixed_point(error)
    if shift is None:
        return None
    displacement = step_error(setting, delta0, setting.reach + 2 * shift) or Fraction(0)
    rounding_error = arithmetic_error(setting, implementation, setting.reach + 2 * shift + displacement)
    return Closeness(round_up(displacement / delta0), delta0, rounding_error, shift, setting.reach)


def sharp_bound(setting: LaplaceSetting, shift: Fraction) -> Fraction:
    """ε + ln(sinh(β(L+2δ)/2)/sinh(β(L−2δ)/2)), rounded up: all that W_∞ ≤ δ lets happen to a cell of Laplace noise.

    *Proof.* Put the cell at [a, a+L] relative to the answer. To the right of 0 the masses of [a−δ, a+L+δ] and [a+δ,
    a+L−δ] under e^{−βx} have the quotient above. If the outer interval reaches across 0, e^{−β|x|} ≤ e^{−βx} makes it
    smaller. If the inner one does, with u, v ≥ δ to the two sides of 0, the quotient is 1 + 2w·sinh(βδ)/(2 − e^{βδ}w)
    with w = e^{−βu} + e^{−βv}: it grows with w, w is convex in u, so u = δ is the worst case, and there the outer
    mass is at most that of the first case, since 2 − e^{−t} ≤ e^t. The cut-off ends cost 2βδ, which is less, for coth
    ≥ 1. ∎
    """
    with working_precision(BALL_BITS):
        beta = rate(setting.level, setting.sensitivity) / 2
        wide, narrow = (beta * rational_ball(setting.rounding + sign * 2 * shift) for sign in (1, -1))
        excess = (wide - narrow) + (-2 * wide).expm1().__neg__().log() - (-2 * narrow).expm1().__neg__().log()
        return round_up(setting.level.epsilon_ball(BALL_BITS) + excess)


def rounding_robustness(rounding: Fraction, shift: Fraction) -> Fraction | None:
    """R = 4δ/(L − 2δ), or None if L ≤ 2δ.

    >>> rounding_robustness(Fraction(1), Fraction(1, 10)), rounding_robustness(Fraction(1), Fraction(1, 2))
    (Fraction(1, 2), None)
    """
    return None if rounding <= 2 * shift else 4 * shift / (rounding - 2 * shift)


def certify_laplace(setting: LaplaceSetting, implementation: Implementation) -> PrecisionGuarantee:
    """ε′ of the textbook implementation on this machine.

    >>> from utmost.exact import epsilon
    >>> from utmost.precision.guarantee import implementation
    >>> from utmost.precision.number_formats import BINARY64
    >>> guarantee = certify_laplace(laplace_setting(epsilon(1), 1, 0, 10, "1/1024"), implementation(BINARY64))
    >>> 1 < guarantee.sharp == guarantee.epsilon_prime < guarantee.theorem < 1 + Fraction(1, 10**6)
    True
    """
    check_format(implementation.format, max(abs(setting.low), abs(setting.high)), setting.rounding)
    return certify_closeness(setting, closeness(setting, implementation))


def certify_shift(setting: LaplaceSetting, shift: object) -> PrecisionGuarantee:
    """ε′ of any sampler whose noise is within `shift` of Laplace noise wherever the result is kept."""
    return certify_closeness(setting, closeness_of_shift(shift, setting.reach))


def certify_closeness(setting: LaplaceSetting, noise_closeness: Closeness | None) -> PrecisionGuarantee:
    """ε′ where the noise is known to be so close."""
    from flint import arb

    top, beta = rate_bounds(setting.level, setting.sensitivity)
    with working_precision(BALL_BITS):
        diameter = rational_ball(setting.rounding)
    ratio = None if noise_closeness is None else rounding_robustness(setting.rounding, noise_closeness.delta_t)
    if noise_closeness is None or ratio is None:
        return PrecisionGuarantee(top, beta, setting.rounding, setting.rounding, noise_closeness, None, None)
    bound = theorem_bound(setting.level, setting.sensitivity, ratio, diameter, noise_closeness.delta_t, arb(2))
    sharp = sharp_bound(setting, noise_closeness.delta_t)
    return PrecisionGuarantee(
        top, beta, setting.rounding, setting.rounding, noise_closeness, round_up(ratio), bound, sharp
    )


def promises_target(guarantee: PrecisionGuarantee, target: Fraction | None) -> bool:
    """Does the guarantee promise `target`; anything finite if that is None."""
    return guarantee.epsilon_prime is not None and (target is None or guarantee.epsilon_prime <= target)


def widest_range(
    setting: LaplaceSetting, implementation: Implementation, target: Fraction | None = None
) -> Fraction | None:
    """The widest range (a multiple of the rounding step) with ε′ ≤ target; None if not even one cell will do.

    The bound grows with the range, so the number of cells is found by bisection. The range starts at `low`; where it
    lies matters only to the rounding of the last sum.
    """
    feasible, infeasible = 0, int(setting.reach / setting.rounding) + 2
    while infeasible - feasible > 1:
        middle = (feasible + infeasible) // 2
        candidate = replace(setting, high=setting.low + middle * setting.rounding)
        feasible, infeasible = (
            (middle, infeasible)
            if promises_target(certify_laplace(candidate, implementation), target)
            else (feasible, middle)
        )
    return feasible * setting.rounding or None


def best_rounding(
    setting: LaplaceSetting, implementation: Implementation, target: Fraction | None = None
) -> PrecisionGuarantee | None:
    """The guarantee with a step of a power of two: the finest that promises `target`, the least ε′ if that is None.

    Steps from about 2^−40 of the range to the whole range are tried. None if no step gives a finite ε′ (or reaches
    the target).
    """
    top = (setting.high - setting.low).numerator.bit_length() - (setting.high - setting.low).denominator.bit_length()
    best: PrecisionGuarantee | None = None
    for exponent in range(top - 40, top + 1):
        step = Fraction(2) ** exponent
        guarantee = certify_laplace(
            laplace_setting(setting.level, setting.sensitivity, setting.low, setting.high, step), implementation
        )
        if target is not None and promises_target(guarantee, target):
            return guarantee
        if target is None and guarantee.epsilon_prime is not None:
            best = guarantee if best is None or promises_target(guarantee, best.epsilon_prime) else best
    return best


def plan_setting(
    epsilon_prime: object,
    sensitivity: object,
    low: object,
    high: object,
    implementation: Implementation,
    share: object = "1/100",
) -> tuple[LaplaceSetting, PrecisionGuarantee]:
    """The setting that keeps this ε′: noise for (1 − share)·ε′, the finest rounding that the rest pays for.

    Refused, with the widest range that will do (its first three digits), if no rounding pays.
    """
    target, rounding_share = rational(epsilon_prime, "epsilon-prime"), rational(share, "share")
    if target <= 0 or not 0 < rounding_share < 1:
        raise InputError("epsilon-prime must be > 0 and share in (0, 1)", "epsilon_prime")
    level = epsilon(target * (1 - rounding_share))
    range_ends = rational(low, "range"), rational(high, "range")
    setting = replace(
        laplace_setting(level, sensitivity, *range_ends, range_ends[1] - range_ends[0] or 1),
        low=range_ends[0],
        high=range_ends[1],
    )
    guarantee = best_rounding(setting, implementation, target)
    if guarantee is None:
        raise InputError(_refusal_text(setting, implementation, target))
    return laplace_setting(level, sensitivity, low, high, guarantee.rounding), guarantee


def _refusal_text(setting: LaplaceSetting, implementation: Implementation, target: Fraction) -> str:
    width = setting.high - setting.low

    def fits(narrow: Fraction) -> bool:
        return best_rounding(replace(setting, high=setting.low + narrow), implementation, target) is not None

    for halvings in range(1, 60):
        if fits(width / 2**halvings):
            limit = _largest_fitting(fits, width / 2**halvings, width / 2 ** (halvings - 1))
            return (
                f"range must be narrower for this epsilon-prime on {implementation.format.name}, got {decimal(width)}: "
                f"{decimal_below(limit)} will do, or draw exactly with utmost mechanism"
            )
    return (
        f"epsilon-prime cannot be kept on {implementation.format.name} with any range: "
        "draw exactly with utmost mechanism"
    )


def _largest_fitting(fits: Callable[[Fraction], bool], fitting: Fraction, too_wide: Fraction) -> Fraction:
    """The largest number of three digits or so from `fitting` to `too_wide` that fits, by bisection; itself tried.

    >>> _largest_fitting(lambda x: x * x < 700, Fraction("15.625"), Fraction("31.25"))
    Fraction(132, 5)
    """
    unit = Fraction(10) ** (int(f"{float(fitting):e}".partition("e")[2]) - 2)
    low, high = fitting // unit, -(-too_wide // unit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle * unit) else (low, middle)
    return low * unit if low * unit > fitting else fitting
