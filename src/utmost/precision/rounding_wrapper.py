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
from utmost.precision.certificate import Certificate, Implementation
from utmost.precision.enumeration import round_result

Noise: TypeAlias = Callable[[int], Sequence[float]]  # so many numbers of noise
Points: TypeAlias = Callable[[int], Sequence[Sequence[float]]]  # so many points (x, y) of noise


@dataclass(frozen=True, slots=True)
class WrappedLaplace:
    """A float sampler made a mechanism: answers clamped to the range, noise added, rounded, cut off.

    `certificate` holds if the sampler is what it was made for. Answers are clamped first: GMP13 needs them in the
    range, and clamping does not raise the sensitivity. The sum and the rounding are exact here. Results outside are
    ∞, or with `ends` the nearer end (Remark 2).
    """

    setting: laplace.LaplaceSetting
    certificate: Certificate
    noise: Noise
    ends: bool = False

    def release(self, answers: Sequence[object]) -> list[Fraction | float]:
        """One result for each answer: a multiple of the rounding step, or ∞."""
        task = self.setting
        values = [min(max(_exactly(a), task.low), task.high) for a in _listed(answers)]
        noise = self.noise(len(values))
        if len(noise) != len(values):
            raise InputError("noise must give as many numbers as asked for: noise(count)")
        return [_result(task, value, float(x), self.ends) for value, x in zip(values, noise, strict=True)]


@dataclass(frozen=True, slots=True)
class WrappedPlanar:
    """The same in the plane; a rounded point outside of the box is ∞ (None). There are no ends in the plane.

    Moving a point outside to the nearest point of the box is not covered by GMP13: far out the noise may be wrong in
    direction.
    """

    setting: planar.PlanarSetting
    certificate: Certificate
    noise: Points

    def release(self, answers: Sequence[tuple[object, object]]) -> list[tuple[Fraction, Fraction] | None]:
        """One rounded point for each answer, or None for ∞."""
        points = [_point(answer) for answer in _listed(answers)]
        noise = self.noise(len(points))
        if len(noise) != len(points):
            raise InputError("noise must give as many points as asked for: noise(count)")
        return [_rounded_point(self.setting, point, x) for point, x in zip(points, noise, strict=True)]


def wrap_laplace(task: laplace.LaplaceSetting, run: Implementation, noise: Noise, ends: bool = False) -> WrappedLaplace:
    """Wrap the textbook sampler of this implementation; refused if nothing finite can be promised.

    >>> from utmost.exact import epsilon
    >>> from utmost.precision.certificate import implementation
    >>> from utmost.precision.number_formats import BINARY64
    >>> task = laplace.laplace_setting(epsilon(1), 1, 0, 10, "1/8")
    >>> made = wrap_laplace(task, implementation(BINARY64), lambda count: [0.3] * count)
    >>> made.release([1, 9, 10]), made.certificate.epsilon_prime < Fraction(101, 100)
    ([Fraction(5, 4), Fraction(37, 4), inf], True)
    """
    return WrappedLaplace(task, _promising(laplace.certify_laplace(task, run)), noise, ends)


def wrap_shifted(task: laplace.LaplaceSetting, shift: object, noise: Noise, ends: bool = False) -> WrappedLaplace:
    """Wrap any sampler whose noise is within `shift` of Laplace noise wherever results are kept (W_∞)."""
    return WrappedLaplace(task, _promising(laplace.from_shift(task, shift)), noise, ends)


def wrap_planar(task: planar.PlanarSetting, run: Implementation, noise: Points) -> WrappedPlanar:
    """Wrap a polar sampler of this implementation; refused if nothing finite can be promised."""
    return WrappedPlanar(task, _promising(planar.certify_planar(task, run)), noise)


def _promising(made: Certificate) -> Certificate:
    if not made.finite:
        raise InputError(
            "no finite epsilon-prime can be promised: take a narrower range, a larger round, or draw exactly"
        )
    return made


def _listed(answers: object) -> list[object]:
    """The answers as a list; refused, without a word of what they are, if they are none."""
    if isinstance(answers, Iterable) and not isinstance(answers, str | bytes | Mapping):
        return list(answers)
    raise InputError("answers must be a list of numbers (of points, in the plane), got something else: put it in [ ]")


def _exactly(answer: object) -> Fraction:
    """An answer as an exact number; a double is the number that it is. A refusal does not repeat it: it is secret."""
    try:
        if isinstance(answer, float) and math.isfinite(answer):
            return Fraction(answer)
        return rational(answer, "answer")
    except UtmostError:
        raise InputError('answers must be finite numbers such as 0.5, "1/3" or 2, got one that is not') from None


def _point(answer: object) -> tuple[Fraction, Fraction]:
    """A point's two coordinates, exactly."""
    pair = _listed(answer)
    if len(pair) != 2:
        raise InputError("answers must be points (x, y), got one that has not two coordinates")
    return _exactly(pair[0]), _exactly(pair[1])


def _result(task: laplace.LaplaceSetting, value: Fraction, noise: float, ends: bool) -> Fraction | float:
    if math.isnan(noise):
        raise InputError("noise must be a number or an infinity, got nan")
    result = round_result(task, noise if math.isinf(noise) else value + Fraction(noise), ends)
    return math.inf if isinstance(result, str) else result


def _rounded_point(
    task: planar.PlanarSetting, answer: tuple[Fraction, Fraction], noise: Sequence[float]
) -> tuple[Fraction, Fraction] | None:
    if not all(map(math.isfinite, noise)):
        return None
    made = []
    for k in range(2):
        value = min(max(answer[k], task.low[k]), task.high[k]) + Fraction(float(noise[k]))
        made.append(round(value / task.rounding) * task.rounding)
    inside = all(task.low[k] <= made[k] <= task.high[k] for k in range(2))
    return (made[0], made[1]) if inside else None
