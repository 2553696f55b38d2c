"""The precision form and its results: ε′ over the rounding step, the leak as two supports."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from utmost import exact
from utmost.errors import InputError
from utmost.exact import rational
from utmost.precision import implementation, laplace, laplace_advice, uniform_generator
from utmost.precision.enumeration import Supports, disclosure_probability, enumerate_supports
from utmost.precision.guarantee import check_inner_level
from utmost.precision.number_formats import parse_format
from utmost.reports.numbers import at_most, quantity, typeset
from utmost.reports.precision import PrecisionResult, bound_texts, describe
from utmost.studio.charts import Chart
from utmost.studio.forms import errors_for_field
from utmost.studio.precision import charts
from utmost.studio.rendering import FormattedNumber

if TYPE_CHECKING:
    from utmost.precision import Implementation
    from utmost.precision.laplace import LaplaceSetting

CURVE_POINTS = 24  # powers of two on the curve
FINEST_POWER = 22  # the finest step of the curve is this power of two below the range
CACHED_ANSWERS = 64  # answers


@dataclass(frozen=True, slots=True)
class PrecisionInput:
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


def certify_question(question: PrecisionInput) -> PrecisionResult:
    """ε′ of the textbook sampler on this machine, and what to do about it."""
    machine, setting = question.machine(), question.setting()
    guarantee = laplace.certify_laplace(setting, machine)
    range_ends = rational(question.low, "low"), rational(question.high, "high")
    advice = laplace_advice(setting, machine, guarantee, range_ends)
    return PrecisionResult(
        setting, machine, guarantee, laplace.inverse_slope(setting), advice, setting.sensitivity, range_ends
    )


@lru_cache(maxsize=CACHED_ANSWERS)
def epsilon_curve(question: PrecisionInput) -> list[tuple[Fraction, Fraction | None]]:
    """(step, ε′) for steps that are powers of two from 2^−22 of the range upwards; None where no ε′ is finite."""
    machine, setting = question.machine(), question.setting()
    width = setting.high - setting.low
    top = width.numerator.bit_length() - width.denominator.bit_length()
    steps = [Fraction(2) ** (top - FINEST_POWER + k) for k in range(CURVE_POINTS)]
    return [(step, laplace.certify_laplace(question.setting(step), machine).epsilon_prime) for step in steps]


@lru_cache(maxsize=CACHED_ANSWERS)
def compute_supports(question: PrecisionInput, bits: int, first: str, second: str) -> Supports:
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


EXACT_DIGITS = 30  # of ε′ on hover


class PrecisionAnswer(BaseModel):
    """ε′ of Laplace noise by inversion on this machine, with the bounds it is made of; each is proven, none a guess."""

    epsilon_prime: FormattedNumber | None = Field(description="None where nothing is promised")
    theorem: str = Field(description="By GMP13's theorem, put right")
    sharp: str = Field(description="By the sharper bound for Laplace noise")
    delta_t: str = Field(description="How far the noise is from the noise meant")
    robustness: str = Field(description="What of a cell that can move across its edge")
    step: str = Field(description="Results are multiples of this")
    advice: str


class Leak(BaseModel):
    """How often a result reveals which of two secrets it came from, on a small machine, enumerated."""

    raw: FormattedNumber = Field(description="As the machine adds secret and noise")
    rounded: FormattedNumber = Field(description="After rounding to the step")
    results: int = Field(description="Results that the first secret can give")


def precision_answer(question: PrecisionInput) -> PrecisionAnswer:
    """ε′ of a question, and what to do about it."""
    result = certify_question(question)
    texts = {name: typeset(text) for name, text in bound_texts(result).items()}
    bound = result.guarantee.epsilon_prime
    return PrecisionAnswer(
        epsilon_prime=None
        if bound is None
        else FormattedNumber(text=texts["epsilon_prime"], exact=at_most(bound, EXACT_DIGITS).rounded),
        theorem=texts["theorem"],
        sharp=texts["sharp"],
        delta_t=texts["delta_t"],
        robustness=texts["robustness"],
        step=str(result.guarantee.rounding),
        advice=describe(result).text("advice"),
    )


def precision_leak(question: PrecisionInput, bits: int, first: str, second: str) -> Leak:
    """How often a result gives its secret away, before and after rounding."""
    both_supports = compute_supports(question, bits, first, second)
    return Leak(
        raw=FormattedNumber.of(quantity(disclosure_probability(both_supports.raw))),
        rounded=FormattedNumber.of(quantity(disclosure_probability(both_supports.rounded))),
        results=len(both_supports.raw[0]),
    )


def draw_curve(question: PrecisionInput) -> Chart:
    """ε′ over the rounding step, with the step of the question on it."""
    result = certify_question(question)
    point = (result.setting.rounding, result.guarantee.epsilon_prime)
    return charts.epsilon_chart(epsilon_curve(question), point, result.setting.level.epsilon)


def draw_supports(question: PrecisionInput, bits: int, first: str, second: str) -> Chart:
    """The results that either of two secrets can give."""
    return charts.support_chart(compute_supports(question, bits, first, second))
