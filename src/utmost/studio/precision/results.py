"""What the precision pages show, computed from a question: ε′, the leak, and their two charts."""

from __future__ import annotations

from pydantic import BaseModel, Field

from utmost.precision.supports import disclosure_probability
from utmost.reports.numbers import at_most, quantity, typeset
from utmost.reports.precision import bound_texts, describe
from utmost.studio.charts import Chart
from utmost.studio.number_format import FormattedNumber
from utmost.studio.precision import charts, forms
from utmost.studio.precision.forms import PrecisionQuestion

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


def precision_answer(question: PrecisionQuestion) -> PrecisionAnswer:
    """ε′ of a question, and what to do about it."""
    result = forms.certify_question(question)
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


def precision_leak(question: PrecisionQuestion, bits: int, first: str, second: str) -> Leak:
    """How often a result gives its secret away, before and after rounding."""
    both_supports = forms.compute_supports(question, bits, first, second)
    return Leak(
        raw=FormattedNumber.of(quantity(disclosure_probability(both_supports.raw))),
        rounded=FormattedNumber.of(quantity(disclosure_probability(both_supports.rounded))),
        results=len(both_supports.raw[0]),
    )


def draw_curve(question: PrecisionQuestion) -> Chart:
    """ε′ over the rounding step, with the step of the question on it."""
    result = forms.certify_question(question)
    point = (result.setting.rounding, result.guarantee.epsilon_prime)
    return charts.epsilon_chart(forms.epsilon_curve(question), point, result.setting.level.epsilon)


def draw_supports(question: PrecisionQuestion, bits: int, first: str, second: str) -> Chart:
    """The results that either of two secrets can give."""
    return charts.support_chart(forms.compute_supports(question, bits, first, second))
