"""Showing a token once, to have a session; for teams only."""

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

pages = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api", tags=["studio"])
WRONG = "token must be one that stands in the tokens file, got another: copy it whole, or ask for a new one"


class Session(BaseModel):
    """Who you are, and what a request that changes something must carry in its header X-CSRF-Token."""

    name: str
    role: str
    csrf: str


@api.get("/session")
def session(house: StateDep, who: VisitorDep) -> Session:
    """Who you are here, and your session's CSRF token; a bearer token needs none."""
    return Session(name=who.name, role=who.role, csrf=house.sessions.csrf(who))


@pages.get("/login")
def login_page(request: Request, house: StateDep, then: str = "/") -> Response:
    """The form for a token."""
    if house.register is None:
        return RedirectResponse("/", status_code=303)
    return render_page(request, "core/login.html", then=_own(then))


@pages.post("/login")
def login(
    request: Request, house: StateDep, token: Annotated[str, Form()] = "", then: Annotated[str, Form()] = "/"
) -> Response:
    """Begin a session for a token's holder; the session before it is gone."""
    if house.register is None:
        return RedirectResponse("/", status_code=303)
    holder = house.register.shown(token.strip()[:200])
    if holder is None:
        house.rates.empty(request.client.host if request.client else "", house.settings.limits.wrong_token)
        return render_page(request, "core/login.html", then=_own(then), problem=Problem(field="token", message=WRONG))
    house.sessions.end(request.state.visitor)
    request.state.visitor = house.sessions.made(holder.name, holder.role, tokens.token_mark(holder))
    return RedirectResponse(_own(then), status_code=303)


@pages.post("/logout")
def logout(request: Request, house: StateDep) -> Response:
    """End the session: a copy of its cookie is void too."""
    house.sessions.end(request.state.visitor)
    request.state.visitor = house.sessions.made("", ANONYMOUS)
    return RedirectResponse("/login", status_code=303)


def _own(path: str) -> str:
    r"""The path if it is one of this studio, else the first page.

    >>> _own("/papers"), _own("//evil.example"), _own("https://evil.example"), _own("/a\\b")
    ('/papers', '/', '/', '/')
    """
    good = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if good and len(path) <= 500 else "/"
