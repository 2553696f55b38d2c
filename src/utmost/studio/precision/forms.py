"""The precision form and its results: ε′ over the rounding step, and two supports."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from utmost import exact
from utmost.errors import InputError
from utmost.exact import rational
from utmost.precision import implementation, laplace, laplace_advice, uniform_generator
from utmost.precision.guarantee import check_inner_level
from utmost.precision.number_formats import parse_format
from utmost.precision.supports import Supports, enumerate_supports
from utmost.reports.precision import PrecisionResult
from utmost.studio.form_errors import errors_for_field

if TYPE_CHECKING:
    from utmost.precision import Implementation
    from utmost.precision.laplace import LaplaceSetting

CURVE_POINTS = 24  # powers of two on the curve
FINEST_POWER = 22  # the finest step of the curve is this power of two below the range
CACHED_ANSWERS = 64  # answers


@dataclass(frozen=True, slots=True)
class PrecisionQuestion:
    """A format, a level, a range and a rounding step, as typed."""

    format: str
    epsilon: str
    sensitivity: str
    low: str
    high: str
    round: str

    def machine(self) -> Implementation:
        """The machine with this number format."""
        with errors_for_field("format"):
            return implementation(parse_format(self.format))

    def setting(self, rounding: Fraction | None = None) -> LaplaceSetting:
        """What is released on it; with another rounding step if one is given."""
        with errors_for_field("epsilon"):
            level = check_inner_level(exact.epsilon(self.epsilon))
        bounds = []
        for name, text in (("low", self.low), ("high", self.high)):
            with errors_for_field(name):
                bounds.append(rational(text, name))
        with errors_for_field("sensitivity"):
            width = rational(self.sensitivity, "sensitivity")
            if width <= 0:
                raise InputError(
                    "sensitivity must be > 0, got a number that is not", "sensitivity", "say how far answers can move"
                )
        with errors_for_field("high" if bounds[0] >= bounds[1] else "round"):
            return laplace.laplace_setting(
                level, width, bounds[0], bounds[1], self.round if rounding is None else rounding
            )


def certify_question(question: PrecisionQuestion) -> PrecisionResult:
    """ε′ of the textbook sampler on this machine, and what to do about it."""
    machine, setting = question.machine(), question.setting()
    guarantee = laplace.certify_laplace(setting, machine)
    range_ends = rational(question.low, "low"), rational(question.high, "high")
    advice = laplace_advice(setting, machine, guarantee, range_ends)
    return PrecisionResult(
        setting, machine, guarantee, laplace.inverse_slope(setting), advice, setting.sensitivity, range_ends
    )


@lru_cache(maxsize=CACHED_ANSWERS)
def epsilon_curve(question: PrecisionQuestion) -> list[tuple[Fraction, Fraction | None]]:
    """(step, ε′) for steps that are powers of two from 2^−22 of the range upwards; None where no ε′ is finite."""
    machine, setting = question.machine(), question.setting()
    width = setting.high - setting.low
    top = width.numerator.bit_length() - width.denominator.bit_length()
    steps = [Fraction(2) ** (top - FINEST_POWER + k) for k in range(CURVE_POINTS)]
    return [(step, laplace.certify_laplace(question.setting(step), machine).epsilon_prime) for step in steps]


@lru_cache(maxsize=CACHED_ANSWERS)
def compute_supports(question: PrecisionQuestion, bits: int, first: str, second: str) -> Supports:
    """What either secret can give on a machine whose generator has 2^bits values."""
    secrets = []
    for name, text in (("first", first), ("second", second)):
        with errors_for_field(name):
            secrets.append(rational(text, name))
    with errors_for_field("format"):
        small_machine = implementation(parse_format(question.format), uniform_generator(2**bits))
    setting = question.setting()
    with errors_for_field("first"):
        return enumerate_supports(setting, small_machine, (secrets[0], secrets[1]))
