"""Precision: what a number format and a rounding step do to ε, and the leak as two supports."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field
from starlette.requests import Request

from utmost.errors import InputError
from utmost.precision.bound_text import decimal_above, epsilon_text
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
LONGEST = 40

Text = Annotated[str, Query(max_length=LONGEST)]
Bits = Annotated[int, Query(ge=3, le=10, description="The small generator has 2^bits values")]


def question(
    format: Annotated[
        str, Query(max_length=LONGEST, description="binary16, binary32, binary64 or fixed:DIGITS")
    ] = "binary64",
    epsilon: Annotated[str, Query(max_length=LONGEST, description="The ε that is meant")] = "1",
    sensitivity: Annotated[str, Query(max_length=LONGEST, description="How far neighbouring answers are apart")] = "1",
    low: Annotated[str, Query(max_length=LONGEST, description="Results are kept above this")] = "0",
    high: Annotated[str, Query(max_length=LONGEST, description="and below this")] = "10",
    round: Annotated[str, Query(max_length=LONGEST, description="Results are multiples of this step")] = "1/1024",
) -> PrecisionQuestion:
    """The question as typed."""
    return PrecisionQuestion(format, epsilon, sensitivity, low, high, round)


Asked = Annotated[PrecisionQuestion, Depends(question)]


class Found(BaseModel):
    """ε′ of Laplace noise by inversion on this machine, with the bounds it is made of; each is proven, none a guess."""

    epsilon_prime: FormattedNumber | None = Field(description="None where nothing is promised")
    theorem: str = Field(description="By GMP13's theorem, put right")
    sharp: str = Field(description="By the sharper bound for Laplace noise")
    delta_t: str = Field(description="How far the noise is from the noise meant")
    robustness: str = Field(description="What of a cell that can move across its edge")
    step: str = Field(description="Results are multiples of this")
    advice: str


class Leak(BaseModel):
    """How often a result tells which of two secrets it came from, on a small machine, enumerated."""

    raw: FormattedNumber = Field(description="As the machine adds secret and noise")
    rounded: FormattedNumber = Field(description="After rounding to the step")
    results: int = Field(description="Results that the first secret can give")


@pages.get("")
def precision_page(
    request: Request, asked_for: Asked, bits: Bits = 8, first: Text = "1", second: Text = "2"
) -> HTMLResponse:
    """The page: a machine, its ε′, and the leak."""
    typed = {name: getattr(asked_for, name) for name in FIELDS[:6]} | {"bits": bits, "first": first, "second": second}
    given: dict[str, Any] = {"found": None, "leak": None}
    try:
        given = {"found": found(asked_for), "leak": leak(asked_for, bits, first, second)}
    except InputError as error:
        given["problem"] = problem_from_error(error, FIELDS)
    twin = f"/api/precision?{request.url.query}".rstrip("?")
    return render_page(request, "precision/overview.html", twin=twin, formats=FORMATS, typed=typed, **given)


@api.get("")
def found(asked_for: Asked) -> Found:
    """ε′ of Laplace noise on a machine with this format, and what to do about it."""
    judged = forms.certify_question(asked_for)
    made, level = judged.made, judged.task.level
    bound = made.epsilon_prime
    return Found(
        epsilon_prime=None
        if bound is None
        else FormattedNumber(text=epsilon_text(level, bound, 6), exact=decimal_above(bound, 30)),
        theorem="none" if made.theorem is None else epsilon_text(level, made.theorem),
        sharp="none" if made.sharp is None else epsilon_text(level, made.sharp),
        delta_t="none" if made.closeness is None else decimal_above(made.closeness.delta_t, 4),
        robustness="none" if made.robustness is None else decimal_above(made.robustness, 4),
        step=str(made.rounding),
        advice=judged.advice,
    )


@api.get("/curve")
def curve(asked_for: Asked) -> Chart:
    """ε′ over the rounding step, with your step on it."""
    judged = forms.certify_question(asked_for)
    here = (judged.task.rounding, judged.made.epsilon_prime)
    return charts.epsilon_chart(forms.epsilon_curve(asked_for), here, judged.task.level.epsilon)


@api.get("/leak")
def leak(asked_for: Asked, bits: Bits = 8, first: Text = "1", second: Text = "2") -> Leak:
    """How often a result gives its secret away, before and after rounding."""
    both = forms.compute_supports(asked_for, bits, first, second)
    return Leak(
        raw=format_number(disclosure_probability(both.raw)),
        rounded=format_number(disclosure_probability(both.rounded)),
        results=len(both.raw[0]),
    )


@api.get("/supports")
def supports(asked_for: Asked, bits: Bits = 8, first: Text = "1", second: Text = "2") -> Chart:
    """The results that either of two secrets can give, as added and as rounded."""
    return charts.support_chart(forms.compute_supports(asked_for, bits, first, second))
