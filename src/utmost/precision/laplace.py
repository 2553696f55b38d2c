"""Laplace noise by inverting its distribution on a real machine: δ_t and ε′ (GMP13 §5, put right).

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
from utmost.exact import Level, decimal, epsilon, rational
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

MOST_CELLS = 10**15
REACH_BITS = 10**5  # bits of the exponent of e^{βD} that are still computed


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
    >>> made = laplace_setting(epsilon(1), 1, "0.3", 2, "1/4")
    >>> made.low, made.high, made.reach
    (Fraction(1, 4), Fraction(2, 1), Fraction(15, 8))
    """
    step = check_positive(rational(rounding, "round"), "round")
    bottom, top = rational(low, "range"), rational(high, "range")
    if bottom >= top:
        raise InputError("range must be two numbers LOW,HIGH with LOW < HIGH")
    if (top - bottom) / step > MOST_CELLS:
        raise InputError(f"round must cut the range in at most {MOST_CELLS} cells: take a larger step")
    ends = (bottom // step * step, -(-top // step) * step)
    return LaplaceSetting(
        check_inner_level(level), check_positive(rational(sensitivity, "sensitivity"), "sensitivity"), *ends, step
    )


def step_error(task: LaplaceSetting, delta0: Fraction, noise: Fraction) -> Fraction | None:
    """How far n moves when u moves by δ₀ from a place where |n(u)| ≤ noise: −b·ln(1 − 2δ₀e^{noise/b}), rounded up.

    The tail masses q = ½e^{−|n|/b} before and after differ by at most δ₀, and −b·ln(2q) is convex and falling: the
    step outwards from the smallest q is the largest. (A step across u = ½ is covered: there both parts are steps in q
    of δ₀ altogether.)
    """
    with working_precision(BALL_BITS):
        beta = rate(task.level, task.sensitivity)
        exponent = beta * rational_ball(noise)
        if exponent > REACH_BITS:
            return None
        used = 2 * rational_ball(delta0) * exponent.exp()
        return round_up(-(-used).log1p() / beta) if used < 1 else None


def inverse_slope(task: LaplaceSetting) -> Fraction | None:
    """2b·e^{D/b}, the paper's k, rounded up; None where it is not even worth writing down."""
    with working_precision(BALL_BITS):
        beta = rate(task.level, task.sensitivity)
        exponent = beta * rational_ball(task.reach)
        return round_up(2 * exponent.exp() / beta) if exponent < REACH_BITS else None


def arithmetic_error(task: LaplaceSetting, run: Implementation, noise: Fraction) -> Fraction:
    """δ_n where |n(u′)| ≤ noise: scale, logarithm, product and the sum with the answer, each rounded.

    With ℓ = ln(1 − 2|u − ½|), |ℓ| = |n|/b: the computed logarithm is off by at most `ulps` steps, the scale by a
    rounding, so the product by b̂·off(ℓ) + |ℓ|·rounding(b) and its own rounding; the sum with the answer by a
    rounding of at most |answer| + |noise|.
    """
    numbers = run.format
    with working_precision(BALL_BITS):
        scale = round_up(1 / rate(task.level, task.sensitivity))
        logarithm = round_up(rational_ball(noise) * rate(task.level, task.sensitivity))
    off_scale = numbers.rounding(scale)
    product = (scale + off_scale) * run.off(logarithm) + logarithm * off_scale
    product += numbers.rounding(noise + product)
    return round_up(product + numbers.rounding(max(abs(task.low), abs(task.high)) + noise + product))


def closeness(task: LaplaceSetting, run: Implementation) -> Closeness | None:
    """The least δ_t that is found with: error on {|n| ≤ D + 2δ_t} ≤ δ_t; None if there is none (see `closeness`)."""
    delta0 = run.delta0

    def error(delta: Fraction) -> Fraction | None:
        edge = task.reach + 2 * delta
        moved = step_error(task, delta0, edge)
        return None if moved is None else round_up(moved + arithmetic_error(task, run, edge + moved))

    shift = fixed_point(error)
    if shift is None:
        return None
    moved = step_error(task, delta0, task.reach + 2 * shift) or Fraction(0)
    wrong = arithmetic_error(task, run, task.reach + 2 * shift + moved)
    return Closeness(round_up(moved / delta0), delta0, wrong, shift, task.reach)


def sharp_bound(task: LaplaceSetting, shift: Fraction) -> Fraction:
    """ε + ln(sinh(β(L+2δ)/2)/sinh(β(L−2δ)/2)), rounded up: all that W_∞ ≤ δ lets happen to a cell of Laplace noise.

    *Proof.* Put the cell at [a, a+L] relative to the answer. To the right of 0 the masses of [a−δ, a+L+δ] and [a+δ,
    a+L−δ] under e^{−βx} have the quotient above. If the outer interval reaches across 0, e^{−β|x|} ≤ e^{−βx} makes it
    smaller. If the inner one does, with u, v ≥ δ to the two sides of 0, the quotient is 1 + 2w·sinh(βδ)/(2 − e^{βδ}w)
    with w = e^{−βu} + e^{−βv}: it grows with w, w is convex in u, so u = δ is the worst case, and there the outer
    mass is at most that of the first case, since 2 − e^{−t} ≤ e^t. The cut-off ends cost 2βδ, which is less, for coth
    ≥ 1. ∎
    """
    with working_precision(BALL_BITS):
        beta = rate(task.level, task.sensitivity) / 2
        wide, narrow = (beta * rational_ball(task.rounding + sign * 2 * shift) for sign in (1, -1))
        grown = (wide - narrow) + (-2 * wide).expm1().__neg__().log() - (-2 * narrow).expm1().__neg__().log()
        return round_up(task.level.epsilon_ball(BALL_BITS) + grown)


def rounding_robustness(rounding: Fraction, shift: Fraction) -> Fraction | None:
    """R = 4δ/(L − 2δ), or None if L ≤ 2δ.

    >>> rounding_robustness(Fraction(1), Fraction(1, 10)), rounding_robustness(Fraction(1), Fraction(1, 2))
    (Fraction(1, 2), None)
    """
    return None if rounding <= 2 * shift else 4 * shift / (rounding - 2 * shift)


def certify_laplace(task: LaplaceSetting, run: Implementation) -> Certificate:
    """ε′ of the textbook implementation on this machine.

    >>> from utmost.exact import epsilon
    >>> from utmost.precision.certificate import implementation
    >>> from utmost.precision.number_formats import BINARY64
    >>> made = certify_laplace(laplace_setting(epsilon(1), 1, 0, 10, "1/1024"), implementation(BINARY64))
    >>> 1 < made.sharp == made.epsilon_prime < made.theorem < 1 + Fraction(1, 10**6)
    True
    """
    check_format(run.format, max(abs(task.low), abs(task.high)) + task.rounding)
    return from_closeness(task, closeness(task, run))


def from_shift(task: LaplaceSetting, shift: object) -> Certificate:
    """ε′ of any sampler whose noise is within `shift` of Laplace noise wherever the result is kept."""
    return from_closeness(task, closeness_of_shift(shift, task.reach))


def from_closeness(task: LaplaceSetting, near: Closeness | None) -> Certificate:
    """ε′ where the noise is known to be so close."""
    from flint import arb

    top, beta = rate_bounds(task.level, task.sensitivity)
    with working_precision(BALL_BITS):
        diameter = rational_ball(task.rounding)
    ratio = None if near is None else rounding_robustness(task.rounding, near.delta_t)
    if near is None or ratio is None:
        return Certificate(top, beta, task.rounding, task.rounding, near, None, None)
    bound = theorem_bound(task.level, task.sensitivity, ratio, diameter, near.delta_t, arb(2))
    sharp = sharp_bound(task, near.delta_t)
    return Certificate(top, beta, task.rounding, task.rounding, near, round_up(ratio), bound, sharp)


def promises_target(made: Certificate, target: Fraction | None) -> bool:
    """Does the certificate promise `target`; anything finite if that is None."""
    return made.epsilon_prime is not None and (target is None or made.epsilon_prime <= target)


def widest_range(task: LaplaceSetting, run: Implementation, target: Fraction | None = None) -> Fraction | None:
    """The widest range (a multiple of the rounding step) with ε′ ≤ target; None if not even one cell will do.

    The bound grows with the range, so the number of cells is found by bisection. The range starts at `low`; where it
    lies matters only to the rounding of the last sum.
    """
    good, bad = 0, int(task.reach / task.rounding) + 2
    while bad - good > 1:
        middle = (good + bad) // 2
        wide = replace(task, high=task.low + middle * task.rounding)
        good, bad = (middle, bad) if promises_target(certify_laplace(wide, run), target) else (good, middle)
    return good * task.rounding or None


def best_rounding(task: LaplaceSetting, run: Implementation, target: Fraction | None = None) -> Certificate | None:
    """The certificate with a step of a power of two: the finest that promises `target`, the least ε′ if that is None.

    Steps from about 2^−40 of the range to the whole range are tried. None if no step gives a finite ε′ (or reaches
    the target).
    """
    top = (task.high - task.low).numerator.bit_length() - (task.high - task.low).denominator.bit_length()
    best: Certificate | None = None
    for exponent in range(top - 40, top + 1):
        step = Fraction(2) ** exponent
        made = certify_laplace(laplace_setting(task.level, task.sensitivity, task.low, task.high, step), run)
        if target is not None and promises_target(made, target):
            return made
        if target is None and made.epsilon_prime is not None:
            best = made if best is None or promises_target(made, best.epsilon_prime) else best
    return best


def plan_setting(
    promised: object, sensitivity: object, low: object, high: object, run: Implementation, share: object = "1/100"
) -> tuple[LaplaceSetting, Certificate]:
    """The setting that keeps ε′ ≤ promised: noise for (1 − share)·promised, the finest rounding that the rest pays for.

    Refused, with the widest range that will do (its first three digits), if no rounding pays.
    """
    target, part = rational(promised, "epsilon-prime"), rational(share, "share")
    if target <= 0 or not 0 < part < 1:
        raise InputError("epsilon-prime must be > 0 and share in (0, 1)")
    level = epsilon(target * (1 - part))
    ends = rational(low, "range"), rational(high, "range")
    task = replace(laplace_setting(level, sensitivity, *ends, ends[1] - ends[0] or 1), low=ends[0], high=ends[1])
    made = best_rounding(task, run, target)
    if made is None:
        raise InputError(_impossible(task, run, target))
    return laplace_setting(level, sensitivity, low, high, made.rounding), made


def _impossible(task: LaplaceSetting, run: Implementation, target: Fraction) -> str:
    width = task.high - task.low

    def fits(narrow: Fraction) -> bool:
        return best_rounding(replace(task, high=task.low + narrow), run, target) is not None

    for halvings in range(1, 60):
        if fits(width / 2**halvings):
            limit = _limit(fits, width / 2**halvings, width / 2 ** (halvings - 1))
            return (
                f"range must be narrower for this epsilon-prime on {run.format.name}, got {decimal(width)}: "
                f"{decimal(limit)} will do, or draw exactly with utmost mechanism"
            )
    return f"epsilon-prime cannot be kept on {run.format.name} with any range: draw exactly with utmost mechanism"


def _limit(fits: Callable[[Fraction], bool], good: Fraction, bad: Fraction) -> Fraction:
    """The largest number of three digits or so from good to bad that fits, by bisection; it was tried itself.

    >>> _limit(lambda x: x * x < 700, Fraction("15.625"), Fraction("31.25"))
    Fraction(132, 5)
    """
    unit = Fraction(10) ** (int(f"{float(good):e}".partition("e")[2]) - 2)
    low, high = good // unit, -(-bad // unit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle * unit) else (low, middle)
    return low * unit if low * unit > good else good
