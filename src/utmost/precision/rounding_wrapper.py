"""Mechanisms 2 and 3 of GMP13: cut off and round what a float sampler gives, with the ε′ that this promises."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from utmost.errors import InputError, UtmostError
from utmost.exact import rational
from utmost.precision import laplace, planar
from utmost.precision.enumeration import round_result
from utmost.precision.guarantee import Implementation, PrecisionGuarantee

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
