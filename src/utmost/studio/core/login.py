"""Sign in with a token, for teams only."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from utmost.studio import tokens
from utmost.studio.form_errors import Problem
from utmost.studio.rendering import render_page
from utmost.studio.sessions import ANONYMOUS
from utmost.studio.state import StateDep, VisitorDep

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
    request.state.visitor = state.sessions.begin(holder.name, holder.role, tokens.token_fingerprint(holder))
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
