"""Pages that belong to no role: the first one, jobs, login, the description of the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from utmost import __version__
from utmost.studio import visitors
from utmost.studio.data_folder import ReleaseFile, list_releases
from utmost.studio.forms import Problem
from utmost.studio.jobs import Job
from utmost.studio.rendering import render_page
from utmost.studio.state import StateDep, VisitorDep
from utmost.studio.visitors import ANONYMOUS

MAX_LATEST_RELEASES = 5  # releases on the first page

pages = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api", tags=["studio"])


class Home(BaseModel):
    """The visitor, the pages open to the visitor, and the latest releases."""

    version: str
    name: str
    role: str
    places: list[str]
    releases: list[ReleaseFile]


@pages.get("/")
def home_page(request: Request, state: StateDep, visitor: VisitorDep) -> HTMLResponse:
    """The first page."""
    return render_page(request, "core/home.html", json_address="/api/home", home=home(state, visitor))


@api.get("/home")
def home(state: StateDep, visitor: VisitorDep) -> Home:
    """Who you are here, where you may go, and the latest releases."""
    paths = [entry.path for entry in visitors.navigation(visitor)]
    latest = list_releases(state.settings)[:MAX_LATEST_RELEASES]
    return Home(version=__version__, name=visitor.name, role=visitor.role, places=paths, releases=latest)


job_pages = APIRouter(include_in_schema=False, prefix="/jobs")
job_api = APIRouter(prefix="/api/jobs", tags=["jobs"])


class JobList(BaseModel):
    """Your jobs, the latest first, without their results."""

    jobs: list[Job]


@job_pages.get("")
def jobs_page(request: Request, state: StateDep, visitor: VisitorDep) -> HTMLResponse:
    """The list of jobs."""
    return render_page(request, "core/jobs.html", json_address="/api/jobs", jobs=state.jobs.all(visitor.name))


@job_pages.get("/{job}")
def job_page(request: Request, job: str, state: StateDep, visitor: VisitorDep) -> HTMLResponse:
    """One job."""
    return render_page(
        request, "core/job.html", json_address=f"/api/jobs/{job}", job=state.jobs.find(visitor.name, job)
    )


@job_pages.post("/{job}/cancel")
def cancel_page(job: str, state: StateDep, visitor: VisitorDep) -> RedirectResponse:
    """Cancel a job, and show what became of it."""
    state.jobs.cancel(visitor.name, job)
    return RedirectResponse(f"/jobs/{job}", status_code=303)


@job_api.get("")
def jobs_list(state: StateDep, visitor: VisitorDep) -> JobList:
    """Your jobs, the latest first, without their results."""
    return JobList(jobs=state.jobs.all(visitor.name))


@job_api.get("/{job}")
def one_job(job: str, state: StateDep, visitor: VisitorDep) -> Job:
    """One of your jobs: its progress and bounds, and its result once it is done."""
    return state.jobs.find(visitor.name, job)


@job_api.post("/{job}/cancel", name="cancelled")
def cancel_job(job: str, state: StateDep, visitor: VisitorDep) -> Job:
    """Cancel one of your jobs."""
    return state.jobs.cancel(visitor.name, job)


login_pages = APIRouter(include_in_schema=False)
login_api = APIRouter(prefix="/api", tags=["studio"])
WRONG_TOKEN = "token must be one that stands in the tokens file, got another: copy it whole, or ask for a new one"


class Session(BaseModel):
    """Who you are, and what a request that changes something must carry in its header X-CSRF-Token."""

    name: str
    role: str
    csrf: str


@login_api.get("/session")
def session(state: StateDep, visitor: VisitorDep) -> Session:
    """Who you are here, and your session's CSRF token; a bearer token needs none."""
    return Session(name=visitor.name, role=visitor.role, csrf=state.sessions.csrf_token(visitor))


@login_pages.get("/login")
def login_page(request: Request, state: StateDep, then: str = "/") -> Response:
    """The form for a token."""
    if state.register is None:
        return RedirectResponse("/", status_code=303)
    return render_page(request, "core/login.html", then=_local_path(then))


@login_pages.post("/login")
def login(
    request: Request, state: StateDep, token: Annotated[str, Form()] = "", then: Annotated[str, Form()] = "/"
) -> Response:
    """Begin a session for a token's holder; the session before it is gone."""
    if state.register is None:
        return RedirectResponse("/", status_code=303)
    holder = state.register.find_holder(token.strip()[:200])
    if holder is None:
        state.rates.penalize(request.client.host if request.client else "", state.settings.limits.wrong_token_cost)
        return render_page(
            request,
            "core/login.html",
            then=_local_path(then),
            problem=Problem(field="token", message=WRONG_TOKEN),
        )
    state.sessions.end(request.state.visitor)
    request.state.visitor = state.sessions.begin(holder.name, holder.role, visitors.token_fingerprint(holder))
    return RedirectResponse(_local_path(then), status_code=303)


@login_pages.post("/logout")
def logout(request: Request, state: StateDep) -> Response:
    """End the session: a copy of its cookie is void too."""
    state.sessions.end(request.state.visitor)
    request.state.visitor = state.sessions.begin("", ANONYMOUS)
    return RedirectResponse("/login", status_code=303)


def _local_path(path: str) -> str:
    r"""The path if it is one of this studio, else the first page.

    >>> _local_path("/papers"), _local_path("//evil.example"), _local_path("https://evil.example"), _local_path("/a\\b")
    ('/papers', '/', '/', '/')
    """
    is_local = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_local and len(path) <= 500 else "/"


reference_pages = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an address."""

    name: str
    kind: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A method and an address, what it does and what it takes."""

    method: str
    path: str
    description: str
    parameters: tuple[Parameter, ...]
    body: str
    answer: str
    page: str


@reference_pages.get("/reference")
def reference_page(request: Request, visitor: VisitorDep) -> HTMLResponse:
    """All operations that the visitor may call, by their part of the studio."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in request.app.openapi()["paths"].items():
        for method, operation in methods.items():
            if visitors.is_allowed(visitor, path):
                groups.setdefault(operation.get("tags", ["studio"])[0], []).append(_operation(method, path, operation))
    return render_page(request, "core/reference.html", json_address="/openapi.json", groups=groups)


def _operation(method: str, path: str, operation: dict[str, Any]) -> Operation:
    parameters = tuple(_parameter(parameter) for parameter in operation.get("parameters", ()))
    return Operation(
        method=method.upper(),
        path=path,
        description=operation.get("description", operation.get("summary", "")),
        parameters=parameters,
        body=_content_types(operation.get("requestBody", {})),
        answer=_content_types({**operation["responses"].get("200", {}), **operation["responses"].get("201", {})}),
        page="" if "{" in path or method != "get" or any(parameter.required for parameter in parameters) else path,
    )


def _parameter(specification: dict[str, Any]) -> Parameter:
    schema = specification.get("schema", {})
    description = specification.get("description", schema.get("description", ""))
    return Parameter(specification["name"], _type_name(schema), specification.get("required", False), description)


def _content_types(section: dict[str, Any]) -> str:
    return ", ".join(
        dict.fromkeys(_type_name(media.get("schema", {})) for media in section.get("content", {}).values())
    )


def _type_name(schema: dict[str, Any]) -> str:
    """The name of a schema's type, as a person would say it.

    >>> _type_name({"anyOf": [{"type": "integer"}, {"type": "null"}]}), _type_name({"$ref": "#/components/schemas/Job"})
    ('integer', 'Job')
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(kind for option in schema["anyOf"] if (kind := _type_name(option)) != "null")
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = str(schema.get("type", "anything"))
    return f"list of {_type_name(schema['items'])}" if kind == "array" and "items" in schema else kind
