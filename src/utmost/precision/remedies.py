"""What to do about an ε′: advice on what to charge or change, and samplers cut off and rounded (GMP13)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from utmost.errors import InputError, UtmostError
from utmost.exact import Level, decimal, decimal_above, decimal_below, rational
from utmost.precision import laplace, planar
from utmost.precision.enumeration import round_result
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


Noise: TypeAlias = Callable[[int], Sequence[float]]  # so many numbers of noise
Points: TypeAlias = Callable[[int], Sequence[Sequence[float]]]  # so many points (x, y) of noise


@dataclass(frozen=True, slots=True)
class WrappedLaplace:
    """A float sampler made a mechanism: answers clamped to the range, noise added, rounded, cut off.

    `guarantee` holds if the sampler is what it was made for. Answers are clamped first: GMP13 needs them in the
    range, and clamping does not raise the sensitivity. The sum and the rounding are exact here. Results outside are
    ∞, or with `clamp_to_ends` the nearer end (Remark 2).
    """

    setting: laplace.LaplaceSetting
    guarantee: PrecisionGuarantee
    noise: Noise
    clamp_to_ends: bool = False

    def release(self, answers: Sequence[object]) -> list[Fraction | float]:
        """One result for each answer: a multiple of the rounding step, or ∞."""
        setting = self.setting
        values = [min(max(_exact_answer(a), setting.low), setting.high) for a in _answer_list(answers)]
        noise = self.noise(len(values))
        if len(noise) != len(values):
            raise InputError("noise must give as many numbers as asked for: noise(count)", "noise")
        return [
            _round_noisy_answer(setting, value, float(x), self.clamp_to_ends)
            for value, x in zip(values, noise, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class WrappedPlanar:
    """The same in the plane; a rounded point outside of the box is ∞ (None). There are no ends in the plane.

    Moving a point outside to the nearest point of the box is not covered by GMP13: far out the noise may be wrong in
    direction.
    """

    setting: planar.PlanarSetting
    guarantee: PrecisionGuarantee
    noise: Points

    def release(self, answers: Sequence[tuple[object, object]]) -> list[tuple[Fraction, Fraction] | None]:
        """One rounded point for each answer, or None for ∞."""
        points = [_exact_point(answer) for answer in _answer_list(answers)]
        noise = self.noise(len(points))
        if len(noise) != len(points):
            raise InputError("noise must give as many points as asked for: noise(count)", "noise")
        return [_round_noisy_point(self.setting, point, x) for point, x in zip(points, noise, strict=True)]


def wrap_laplace(
    setting: laplace.LaplaceSetting, implementation: Implementation, noise: Noise, clamp_to_ends: bool = False
) -> WrappedLaplace:
    """Wrap the textbook sampler of this implementation; refused if nothing finite can be promised.

    >>> from utmost.exact import epsilon
    >>> from utmost.precision.guarantee import implementation
    >>> from utmost.precision.number_formats import BINARY64
    >>> setting = laplace.laplace_setting(epsilon(1), 1, 0, 10, "1/8")
    >>> mechanism = wrap_laplace(setting, implementation(BINARY64), lambda count: [0.3] * count)
    >>> mechanism.release([1, 9, 10]), mechanism.guarantee.epsilon_prime < Fraction(101, 100)
    ([Fraction(5, 4), Fraction(37, 4), inf], True)
    """
    return WrappedLaplace(
        setting, _check_finite(laplace.certify_laplace(setting, implementation)), noise, clamp_to_ends
    )


def wrap_shifted(
    setting: laplace.LaplaceSetting, shift: object, noise: Noise, clamp_to_ends: bool = False
) -> WrappedLaplace:
    """Wrap any sampler whose noise is within `shift` of Laplace noise wherever results are kept (W_∞)."""
    return WrappedLaplace(setting, _check_finite(laplace.certify_shift(setting, shift)), noise, clamp_to_ends)


def wrap_planar(setting: planar.PlanarSetting, implementation: Implementation, noise: Points) -> WrappedPlanar:
    """Wrap a polar sampler of this implementation; refused if nothing finite can be promised."""
    return WrappedPlanar(setting, _check_finite(planar.certify_planar(setting, implementation)), noise)


def _check_finite(guarantee: PrecisionGuarantee) -> PrecisionGuarantee:
    if not guarantee.is_finite:
        raise InputError(
            "no finite epsilon-prime can be promised: take a narrower range, a larger round, or draw exactly"
        )
    return guarantee


def _answer_list(answers: object) -> list[object]:
    """The answers as a list; refused, without quoting them, if they are none."""
    if isinstance(answers, Iterable) and not isinstance(answers, str | bytes | Mapping):
        return list(answers)
    raise InputError(
        "answers must be a list of numbers (of points, in the plane), got something else", "answers", "put it in [ ]"
    )


def _exact_answer(answer: object) -> Fraction:
    """An answer as an exact number; a double is the number that it is. A refusal does not repeat it: it is secret."""
    try:
        if isinstance(answer, float) and math.isfinite(answer):
            return Fraction(answer)
        return rational(answer, "answer")
    except UtmostError:
        raise InputError(
            'answers must be finite numbers such as 0.5, "1/3" or 2, got one that is not', "answers"
        ) from None


def _exact_point(answer: object) -> tuple[Fraction, Fraction]:
    """A point's two coordinates, exactly."""
    pair = _answer_list(answer)
    if len(pair) != 2:
        raise InputError("answers must be points (x, y), got one that has not two coordinates", "answers")
    return _exact_answer(pair[0]), _exact_answer(pair[1])


def _round_noisy_answer(
    setting: laplace.LaplaceSetting, value: Fraction, noise: float, clamp_to_ends: bool
) -> Fraction | float:
    if math.isnan(noise):
        raise InputError("noise must be a number or an infinity, got nan", "noise")
    result = round_result(setting, noise if math.isinf(noise) else value + Fraction(noise), clamp_to_ends)
    return math.inf if isinstance(result, str) else result


def _round_noisy_point(
    setting: planar.PlanarSetting, answer: tuple[Fraction, Fraction], noise: Sequence[float]
) -> tuple[Fraction, Fraction] | None:
    if not all(map(math.isfinite, noise)):
        return None
    coordinates = []
    for k in range(2):
        value = min(max(answer[k], setting.low[k]), setting.high[k]) + Fraction(float(noise[k]))
        coordinates.append(round(value / setting.rounding) * setting.rounding)
    is_inside = all(setting.low[k] <= coordinates[k] <= setting.high[k] for k in range(2))
    return (coordinates[0], coordinates[1]) if is_inside else None
