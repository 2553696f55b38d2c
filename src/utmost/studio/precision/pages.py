"""Precision: what a number format and a rounding step do to ε, and the leak as two supports."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse
from starlette.requests import Request

from utmost.errors import InputError
from utmost.studio.background import ComputeDep
from utmost.studio.charts import Chart
from utmost.studio.forms import problem_from_error
from utmost.studio.precision import forms
from utmost.studio.precision.forms import Leak, PrecisionAnswer, PrecisionInput
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
) -> PrecisionInput:
    """The question as typed."""
    return PrecisionInput(format, epsilon, sensitivity, low, high, round)


QuestionDep = Annotated[PrecisionInput, Depends(question_from_query)]


@pages.get("")
def precision_page(
    request: Request, question: QuestionDep, compute: ComputeDep, bits: Bits = 8, first: Text = "1", second: Text = "2"
) -> HTMLResponse:
    """The page: a machine, its ε′, and the leak."""
    typed_values = {name: getattr(question, name) for name in FIELDS[:6]} | {
        "bits": bits,
        "first": first,
        "second": second,
    }
    context: dict[str, Any] = {"certificate": None, "leak": None}
    try:
        context = {
            "certificate": found(question, compute),
            "leak": leak(question, compute, bits, first, second),
        }
    except InputError as error:
        context["problem"] = problem_from_error(error, FIELDS)
    json_address = f"/api/precision?{request.url.query}".rstrip("?")
    return render_page(
        request, "precision/overview.html", json_address=json_address, formats=FORMATS, question=typed_values, **context
    )


@api.get("")
def found(question: QuestionDep, compute: ComputeDep) -> PrecisionAnswer:
    """ε′ of Laplace noise on a machine with this format, and what to do about it."""
    return compute(forms.precision_answer, question)


@api.get("/curve")
def curve(question: QuestionDep, compute: ComputeDep) -> Chart:
    """ε′ over the rounding step, with your step on it."""
    return compute(forms.draw_curve, question)


@api.get("/leak")
def leak(question: QuestionDep, compute: ComputeDep, bits: Bits = 8, first: Text = "1", second: Text = "2") -> Leak:
    """How often a result gives its secret away, before and after rounding."""
    return compute(forms.precision_leak, question, bits, first, second)


@api.get("/supports")
def supports(
    question: QuestionDep, compute: ComputeDep, bits: Bits = 8, first: Text = "1", second: Text = "2"
) -> Chart:
    """The results that either of two secrets can give, as added and as rounded."""
    return compute(forms.draw_supports, question, bits, first, second)
