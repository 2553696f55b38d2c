"""The designer's pages: the best mechanism, what a type contains, and two mechanisms compared."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Body, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.requests import Request

from utmost.errors import InputError
from utmost.exact import number
from utmost.studio.designer.best_mechanism import BestMechanism, best_mechanism
from utmost.studio.designer.comparison import usual_mechanisms
from utmost.studio.designer.forms import FIELDS, DesignForm, DesignQuestion, check_question, design_question
from utmost.studio.designer.privacy_type import TypeCapacity, TypeMembers, type_capacity
from utmost.studio.designer.refinement import (
    MAX_QUICK_SIZE,
    MAX_TABLE_CHARS,
    RefinementResult,
    compare_mechanisms,
    is_quick,
    parse_mechanism,
)
from utmost.studio.form_errors import problem_from_error
from utmost.studio.jobs import Job
from utmost.studio.rendering import render_page
from utmost.studio.sessions import Visitor
from utmost.studio.state import AppState, StateDep, VisitorDep

pages = APIRouter(include_in_schema=False, prefix="/designer")
api = APIRouter(prefix="/api/designer", tags=["designer"])
WORK = "utmost.studio.designer.tasks"
JobId = Annotated[str, Query(max_length=60, description="A job of yours whose result to show")]
Mechanism = Annotated[str, Query(max_length=MAX_TABLE_CHARS, description="geometric 5 1/2, response 4 1/2, or a table")]


@pages.get("")
def design_page(request: Request, asked: DesignForm, house: StateDep, who: VisitorDep, job: JobId = "") -> HTMLResponse:
    """The best mechanism for a question; a large one is a job."""
    given: dict[str, Any] = {
        "asked": asked,
        "found": None,
        "rivals": [],
        "live": False,
        "three": False,
        "query": _query(asked),
    }
    try:
        check_question(asked)
        given["live"] = asked.live
        given["three"] = len(asked.points()) == 3 and asked.level().is_inner
        given["found"] = _found(asked, house, who, job)
        if given["found"] is not None and (asked.live or job):
            given["rivals"] = usual_mechanisms(asked, number(given["found"].loss.exact))
    except InputError as error:
        given["problem"] = problem_from_error(error, FIELDS)
    return render_page(request, "designer/design.html", twin=f"/api/designer/best?{_query(asked)}", job=job, **given)


def _found(asked: DesignQuestion, house: AppState, who: Visitor, job: str) -> BestMechanism | None:
    """The result of a job, or of what is small enough to be found at once."""
    if job:
        kept = house.jobs.find(who.name, job)
        return None if kept.result is None else BestMechanism(**kept.result)
    return best_mechanism(asked) if asked.live else None


@pages.post("/best")
def best_job_page(
    house: StateDep,
    who: VisitorDep,
    space: Annotated[str, Form(max_length=200)],
    prior: Annotated[str, Form(max_length=8000)],
    loss: Annotated[str, Form(max_length=200)],
    alpha: Annotated[str, Form(max_length=40)] = "",
    epsilon: Annotated[str, Form(max_length=40)] = "",
) -> RedirectResponse:
    """Begin a program that takes longer, and show how far it is."""
    asked = design_question(space, alpha, epsilon, prior, loss)
    return RedirectResponse(f"/jobs/{_begun_best(asked, house, who).id}", status_code=303)


@api.post("/best/job")
def best_job(
    house: StateDep,
    who: VisitorDep,
    space: Annotated[str, Body(max_length=200)] = "grid:5x5",
    alpha: Annotated[str, Body(max_length=40)] = "1/2",
    epsilon: Annotated[str, Body(max_length=40)] = "",
    prior: Annotated[str, Body(max_length=8000)] = "uniform",
    loss: Annotated[str, Body(max_length=200)] = "absolute",
) -> Job:
    """Look for the best mechanism of a larger question: the job tells the bounds so far."""
    return _begun_best(design_question(space, alpha, epsilon, prior, loss), house, who)


def _begun_best(asked: DesignQuestion, house: AppState, who: Visitor) -> Job:
    check_question(asked)
    title = f"The best mechanism on {asked.space[:40]}"
    return house.jobs.begin(who.name, title, f"{WORK}:best", _typed(asked), f"/designer?{_query(asked)}&job={{job}}")


@pages.get("/type")
def type_page(request: Request, asked: DesignForm, house: StateDep, who: VisitorDep, job: JobId = "") -> HTMLResponse:
    """What a privacy type contains: capacities at once, vertices and kernel mechanisms by a job."""
    given: dict[str, Any] = {"asked": asked, "found": None, "members": None, "query": _query(asked)}
    try:
        given["found"] = type_capacity(asked)
        kept = house.jobs.find(who.name, job).result if job else None
        given["members"] = None if kept is None else TypeMembers(**kept)
    except InputError as error:
        given["problem"] = problem_from_error(error, FIELDS)
    return render_page(request, "designer/type.html", twin=f"/api/designer/capacity?{_query(asked)}", **given)


@pages.post("/members")
def members_page(
    house: StateDep,
    who: VisitorDep,
    space: Annotated[str, Form(max_length=200)],
    alpha: Annotated[str, Form(max_length=40)] = "",
    epsilon: Annotated[str, Form(max_length=40)] = "",
) -> RedirectResponse:
    """Begin to list what a type is made of, and show how far it is."""
    asked = design_question(space, alpha, epsilon)
    return RedirectResponse(f"/jobs/{_begun_members(asked, house, who).id}", status_code=303)


@api.post("/members/job")
def members_job(
    house: StateDep,
    who: VisitorDep,
    space: Annotated[str, Body(max_length=200)] = "line:4",
    alpha: Annotated[str, Body(max_length=40)] = "1/2",
    epsilon: Annotated[str, Body(max_length=40)] = "",
) -> Job:
    """Count the vertices and kernel mechanisms of a type, and list the first of them."""
    return _begun_members(design_question(space, alpha, epsilon), house, who)


def _begun_members(asked: DesignQuestion, house: AppState, who: Visitor) -> Job:
    asked.points(), asked.level()
    title = f"Vertices and kernel mechanisms of {asked.space[:40]}"
    return house.jobs.begin(
        who.name, title, f"{WORK}:members", _typed(asked), f"/designer/type?{_query(asked)}&job={{job}}"
    )


@api.get("/capacity")
def capacity_found(asked: DesignForm) -> TypeCapacity:
    """The most that any mechanism of a type can tell, certified."""
    return type_capacity(asked)


@pages.get("/refine")
def refine_page(
    request: Request,
    house: StateDep,
    who: VisitorDep,
    first: Mechanism = "geometric 3 1/3",
    second: Mechanism = "geometric 3 1/2",
    job: JobId = "",
) -> HTMLResponse:
    """Two mechanisms compared for every consumer at once; large ones by a job."""
    given: dict[str, Any] = {"first": first, "second": second, "found": None, "live": True}
    try:
        kept = house.jobs.find(who.name, job).result if job else None
        given["live"] = is_quick(first, second)
        given["found"] = (
            RefinementResult(**kept)
            if kept is not None
            else compare_mechanisms(first, second)
            if given["live"]
            else None
        )
    except InputError as error:
        given["problem"] = problem_from_error(error, ("first", "second"))
    twin = f"/api/designer/refine?{urlencode({'first': first, 'second': second})}"
    return render_page(request, "designer/refine.html", twin=twin, **given)


@pages.post("/refine")
def refine_job_page(
    house: StateDep,
    who: VisitorDep,
    first: Annotated[str, Form(max_length=MAX_TABLE_CHARS)],
    second: Annotated[str, Form(max_length=MAX_TABLE_CHARS)],
) -> RedirectResponse:
    """Compare two larger mechanisms, and show how far it is."""
    return RedirectResponse(f"/jobs/{_begun_refine(first, second, house, who).id}", status_code=303)


@api.post("/refine/job")
def refine_job(
    house: StateDep,
    who: VisitorDep,
    first: Annotated[str, Body(max_length=MAX_TABLE_CHARS)] = "geometric 15 1/3",
    second: Annotated[str, Body(max_length=MAX_TABLE_CHARS)] = "geometric 15 1/2",
) -> Job:
    """Compare two larger mechanisms."""
    return _begun_refine(first, second, house, who)


def _begun_refine(first: str, second: str, house: AppState, who: Visitor) -> Job:
    parse_mechanism(first, "first"), parse_mechanism(second, "second")
    asked = {"first": first, "second": second}
    return house.jobs.begin(
        who.name, "Two mechanisms compared", f"{WORK}:refine", asked, f"/designer/refine?{urlencode(asked)}&job={{job}}"
    )


@api.get("/refine")
def refine_found(first: Mechanism = "geometric 3 1/3", second: Mechanism = "geometric 3 1/2") -> RefinementResult:
    """Is the second mechanism the first one processed further, and who minds if not."""
    if not is_quick(first, second):
        raise InputError(
            f"first must have at most {MAX_QUICK_SIZE} inputs and outputs: post larger ones to /api/designer/refine/job"
        )
    return compare_mechanisms(first, second)


def _typed(asked: DesignQuestion) -> dict[str, str]:
    return {name: getattr(asked, name) for name in FIELDS}


def _query(asked: DesignQuestion) -> str:
    return urlencode({name: value for name, value in _typed(asked).items() if value})
