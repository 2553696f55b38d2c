"""The designer's pages: the best mechanism, what a type contains, and two mechanisms compared."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Body, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.requests import Request

from utmost.consumer.losses import LOSSES
from utmost.consumer.priors import PRIORS
from utmost.errors import InputError
from utmost.spaces.registry import forms as space_forms
from utmost.studio.background import ComputeDep, VisitorCompute
from utmost.studio.designer.forms import QUESTION_FIELDS, DesignForm, DesignInput, design_input, question_size
from utmost.studio.designer.refinement import (
    MAX_TABLE_CHARS,
    RefinementResult,
    check_mechanisms,
    compare_mechanisms,
    compare_quickly,
    is_quick,
)
from utmost.studio.designer.results import (
    BestMechanism,
    TypeCapacity,
    TypeMembers,
    check_type,
    quick_mechanism,
    type_capacity,
    usual_mechanisms,
)
from utmost.studio.forms import problem_from_error
from utmost.studio.jobs import Job
from utmost.studio.rendering import render_page
from utmost.studio.state import AppState, StateDep, VisitorDep
from utmost.studio.visitors import Visitor

pages = APIRouter(include_in_schema=False, prefix="/designer")
api = APIRouter(prefix="/api/designer", tags=["designer"])
TASKS_MODULE = "utmost.studio.designer.tasks"
JobId = Annotated[str, Query(max_length=60, description="A job of yours whose result to show")]
Mechanism = Annotated[str, Query(max_length=MAX_TABLE_CHARS, description="geometric 5 1/2, response 4 1/2, or a table")]


@pages.get("")
def design_page(
    request: Request, question: DesignForm, compute: ComputeDep, state: StateDep, visitor: VisitorDep, job: JobId = ""
) -> HTMLResponse:
    """The best mechanism for a question; a large one is a job."""
    context: dict[str, Any] = {
        "question": question,
        "best": None,
        "rivals": [],
        "quick": False,
        "three_secrets": False,
        "query": _query_string(question),
    }
    try:
        size = compute(question_size, question)
        context["quick"], context["three_secrets"] = size.is_quick, size.has_triangle
        if job:
            context["best"] = _job_mechanism(state, visitor, job)
        elif size.is_quick:
            context["best"] = compute(quick_mechanism, question)
        if context["best"] is not None:
            context["rivals"] = compute(usual_mechanisms, question, context["best"].loss.exact)
    except InputError as error:
        context["problem"] = problem_from_error(error, QUESTION_FIELDS)
    return render_page(
        request,
        "designer/design.html",
        space_forms=space_forms(files=False),
        prior_forms=PRIORS.forms(files=False),
        loss_forms=LOSSES.forms(files=False),
        json_address=f"/api/designer/best?{_query_string(question)}",
        job=job,
        **context,
    )


def _job_mechanism(state: AppState, visitor: Visitor, job: str) -> BestMechanism | None:
    """The result of a job, once there is one."""
    result = state.jobs.find(visitor.name, job).result
    return None if result is None else BestMechanism(**result)


@pages.post("/best")
def best_job_page(
    state: StateDep,
    compute: ComputeDep,
    space: Annotated[str, Form(max_length=200)],
    prior: Annotated[str, Form(max_length=8000)],
    loss: Annotated[str, Form(max_length=200)],
    alpha: Annotated[str, Form(max_length=40)] = "",
    epsilon: Annotated[str, Form(max_length=40)] = "",
) -> RedirectResponse:
    """Begin a program that takes longer, and show how far it is."""
    question = design_input(space, alpha, epsilon, prior, loss)
    return RedirectResponse(f"/jobs/{_begin_best_job(question, state, compute).id}", status_code=303)


@api.post("/best/job")
def best_job(
    state: StateDep,
    compute: ComputeDep,
    space: Annotated[str, Body(max_length=200)] = "grid:5x5",
    alpha: Annotated[str, Body(max_length=40)] = "1/2",
    epsilon: Annotated[str, Body(max_length=40)] = "",
    prior: Annotated[str, Body(max_length=8000)] = "uniform",
    loss: Annotated[str, Body(max_length=200)] = "absolute",
) -> Job:
    """Look for the best mechanism of a larger question: the job reports the bounds so far."""
    return _begin_best_job(design_input(space, alpha, epsilon, prior, loss), state, compute)


def _begin_best_job(question: DesignInput, state: AppState, compute: VisitorCompute) -> Job:
    compute(question_size, question)
    title = f"The best mechanism on {question.space[:40]}"
    return state.jobs.begin(
        compute.visitor.name,
        title,
        f"{TASKS_MODULE}:best",
        _question_fields(question),
        f"/designer?{_query_string(question)}&job={{job}}",
    )


@pages.get("/type")
def type_page(
    request: Request, question: DesignForm, compute: ComputeDep, state: StateDep, visitor: VisitorDep, job: JobId = ""
) -> HTMLResponse:
    """What a privacy type contains: capacities at once, vertices and kernel mechanisms by a job."""
    context: dict[str, Any] = {
        "question": question,
        "capacity": None,
        "members": None,
        "query": _query_string(question),
    }
    try:
        context["capacity"] = compute(type_capacity, question)
        result = state.jobs.find(visitor.name, job).result if job else None
        context["members"] = None if result is None else TypeMembers(**result)
    except InputError as error:
        context["problem"] = problem_from_error(error, QUESTION_FIELDS)
    return render_page(
        request,
        "designer/type.html",
        json_address=f"/api/designer/capacity?{_query_string(question)}",
        space_forms=space_forms(files=False),
        **context,
    )


@pages.post("/members")
def members_page(
    state: StateDep,
    compute: ComputeDep,
    space: Annotated[str, Form(max_length=200)],
    alpha: Annotated[str, Form(max_length=40)] = "",
    epsilon: Annotated[str, Form(max_length=40)] = "",
) -> RedirectResponse:
    """Begin to list what a type is made of, and show how far it is."""
    question = design_input(space, alpha, epsilon)
    return RedirectResponse(f"/jobs/{_begin_members_job(question, state, compute).id}", status_code=303)


@api.post("/members/job")
def members_job(
    state: StateDep,
    compute: ComputeDep,
    space: Annotated[str, Body(max_length=200)] = "line:4",
    alpha: Annotated[str, Body(max_length=40)] = "1/2",
    epsilon: Annotated[str, Body(max_length=40)] = "",
) -> Job:
    """Count the vertices and kernel mechanisms of a type, and list the first of them."""
    return _begin_members_job(design_input(space, alpha, epsilon), state, compute)


def _begin_members_job(question: DesignInput, state: AppState, compute: VisitorCompute) -> Job:
    compute(check_type, question)
    title = f"Vertices and kernel mechanisms of {question.space[:40]}"
    return state.jobs.begin(
        compute.visitor.name,
        title,
        f"{TASKS_MODULE}:members",
        _question_fields(question),
        f"/designer/type?{_query_string(question)}&job={{job}}",
    )


@api.get("/capacity", name="capacity_found")
def capacity(question: DesignForm, compute: ComputeDep) -> TypeCapacity:
    """The capacities of a type: the largest leakage of any of its mechanisms, certified."""
    return compute(type_capacity, question)


@pages.get("/refine")
def refine_page(
    request: Request,
    compute: ComputeDep,
    state: StateDep,
    visitor: VisitorDep,
    first: Mechanism = "geometric 3 1/3",
    second: Mechanism = "geometric 3 1/2",
    job: JobId = "",
) -> HTMLResponse:
    """Two mechanisms compared for every consumer at once; large ones by a job."""
    context: dict[str, Any] = {"first": first, "second": second, "comparison": None, "quick": True}
    try:
        result = state.jobs.find(visitor.name, job).result if job else None
        context["quick"] = compute(is_quick, first, second)
        context["comparison"] = (
            RefinementResult(**result)
            if result is not None
            else compute(compare_mechanisms, first, second)
            if context["quick"]
            else None
        )
    except InputError as error:
        context["problem"] = problem_from_error(error, ("first", "second"))
    json_address = f"/api/designer/refine?{urlencode({'first': first, 'second': second})}"
    return render_page(request, "designer/refine.html", json_address=json_address, **context)


@pages.post("/refine")
def refine_job_page(
    state: StateDep,
    compute: ComputeDep,
    first: Annotated[str, Form(max_length=MAX_TABLE_CHARS)],
    second: Annotated[str, Form(max_length=MAX_TABLE_CHARS)],
) -> RedirectResponse:
    """Compare two larger mechanisms, and show how far it is."""
    return RedirectResponse(f"/jobs/{_begin_refine_job(first, second, state, compute).id}", status_code=303)


@api.post("/refine/job")
def refine_job(
    state: StateDep,
    compute: ComputeDep,
    first: Annotated[str, Body(max_length=MAX_TABLE_CHARS)] = "geometric 15 1/3",
    second: Annotated[str, Body(max_length=MAX_TABLE_CHARS)] = "geometric 15 1/2",
) -> Job:
    """Compare two larger mechanisms."""
    return _begin_refine_job(first, second, state, compute)


def _begin_refine_job(first: str, second: str, state: AppState, compute: VisitorCompute) -> Job:
    compute(check_mechanisms, first, second)
    question = {"first": first, "second": second}
    return state.jobs.begin(
        compute.visitor.name,
        "Two mechanisms compared",
        f"{TASKS_MODULE}:refine",
        question,
        f"/designer/refine?{urlencode(question)}&job={{job}}",
    )


@api.get("/refine", name="refine_found")
def refinement(
    compute: ComputeDep, first: Mechanism = "geometric 3 1/3", second: Mechanism = "geometric 3 1/2"
) -> RefinementResult:
    """Test whether the second mechanism is a post-processing of the first; a counterexample if not."""
    return compute(compare_quickly, first, second)


def _question_fields(question: DesignInput) -> dict[str, str]:
    return {name: getattr(question, name) for name in QUESTION_FIELDS}


def _query_string(question: DesignInput) -> str:
    return urlencode({name: value for name, value in _question_fields(question).items() if value})
