"""Precision: what a number format and a rounding step do to ε, and the leak as two supports."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field
from starlette.requests import Request

from utmost.errors import InputError
from utmost.exact import decimal_above
from utmost.precision.bound_text import epsilon_text
from utmost.precision.supports import disclosure_probability
from utmost.studio.charts import Chart
from utmost.studio.form_errors import problem_from_error
from utmost.studio.number_format import FormattedNumber, format_number
from utmost.studio.precision import charts, forms
from utmost.studio.precision.forms import PrecisionQuestion
from utmost.studio.rendering import render_page

pages = APIRouter(include_in_schema=False, prefix="/precision")
api = APIRouter(prefix="/api/precision", tags=["precision"])
FORMATS = ("binary64", "binary32", "binary16", "fixed:16", "fixed:10")
FIELDS = ("format", "epsilon", "sensitivity", "low", "high", "round", "bits", "first", "second")
MAX_TEXT_CHARS = 40

Text = Annotated[str, Query(max_length=MAX_TEXT_CHARS)]
Bits = Annotated[int, Query(ge=3, le=10, description="The small generator has 2^bits values")]


def question_from_query(
    format: Annotated[
        str, Query(max_length=MAX_TEXT_CHARS, description="binary16, binary32, binary64 or fixed:DIGITS")
    ] = "binary64",
    epsilon: Annotated[str, Query(max_length=MAX_TEXT_CHARS, description="The ε that is meant")] = "1",
    sensitivity: Annotated[
        str, Query(max_length=MAX_TEXT_CHARS, description="How far neighbouring answers are apart")
    ] = "1",
    low: Annotated[str, Query(max_length=MAX_TEXT_CHARS, description="Results are kept above this")] = "0",
    high: Annotated[str, Query(max_length=MAX_TEXT_CHARS, description="and below this")] = "10",
    round: Annotated[
        str, Query(max_length=MAX_TEXT_CHARS, description="Results are multiples of this step")
    ] = "1/1024",
) -> PrecisionQuestion:
    """The question as typed."""
    return PrecisionQuestion(format, epsilon, sensitivity, low, high, round)


QuestionDep = Annotated[PrecisionQuestion, Depends(question_from_query)]


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


@pages.get("")
def precision_page(
    request: Request, question: QuestionDep, bits: Bits = 8, first: Text = "1", second: Text = "2"
) -> HTMLResponse:
    """The page: a machine, its ε′, and the leak."""
    typed_values = {name: getattr(question, name) for name in FIELDS[:6]} | {
        "bits": bits,
        "first": first,
        "second": second,
    }
    context: dict[str, Any] = {"certificate": None, "leak": None}
    try:
        context = {"certificate": found(question), "leak": leak(question, bits, first, second)}
    except InputError as error:
        context["problem"] = problem_from_error(error, FIELDS)
    json_address = f"/api/precision?{request.url.query}".rstrip("?")
    return render_page(
        request, "precision/overview.html", json_address=json_address, formats=FORMATS, question=typed_values, **context
    )


@api.get("")
def found(question: QuestionDep) -> PrecisionAnswer:
    """ε′ of Laplace noise on a machine with this format, and what to do about it."""
    result = forms.certify_question(question)
    certificate, level = result.certificate, result.setting.level
    bound = certificate.epsilon_prime
    return PrecisionAnswer(
        epsilon_prime=None
        if bound is None
        else FormattedNumber(text=epsilon_text(level, bound, 6), exact=decimal_above(bound, 30)),
        theorem="none" if certificate.theorem is None else epsilon_text(level, certificate.theorem),
        sharp="none" if certificate.sharp is None else epsilon_text(level, certificate.sharp),
        delta_t="none" if certificate.closeness is None else decimal_above(certificate.closeness.delta_t, 4),
        robustness="none" if certificate.robustness is None else decimal_above(certificate.robustness, 4),
        step=str(certificate.rounding),
        advice=result.advice,
    )


@api.get("/curve")
def curve(question: QuestionDep) -> Chart:
    """ε′ over the rounding step, with your step on it."""
    result = forms.certify_question(question)
    point = (result.setting.rounding, result.certificate.epsilon_prime)
    return charts.epsilon_chart(forms.epsilon_curve(question), point, result.setting.level.epsilon)


@api.get("/leak")
def leak(question: QuestionDep, bits: Bits = 8, first: Text = "1", second: Text = "2") -> Leak:
    """How often a result gives its secret away, before and after rounding."""
    both_supports = forms.compute_supports(question, bits, first, second)
    return Leak(
        raw=format_number(disclosure_probability(both_supports.raw)),
        rounded=format_number(disclosure_probability(both_supports.rounded)),
        results=len(both_supports.raw[0]),
    )


@api.get("/supports")
def supports(question: QuestionDep, bits: Bits = 8, first: Text = "1", second: Text = "2") -> Chart:
    """The results that either of two secrets can give, as added and as rounded."""
    return charts.support_chart(forms.compute_supports(question, bits, first, second))
