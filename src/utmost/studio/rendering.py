"""Pages from templates: escaped by themselves, with navigation, CSRF token and the address of their JSON twin."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from utmost import __version__
from utmost.exact.plain_text import LINE_CHARACTERS, escape_control, escape_json
from utmost.reports.html import block_html
from utmost.studio import number_format, permissions
from utmost.studio.form_errors import Problem, Refusal
from utmost.studio.sessions import ANONYMOUS

ERROR_TITLES = {401: "Who is there?", 403: "Not here", 404: "Nothing here", 422: "That cannot be", 500: "A bug"}


@cache
def template_environment() -> Environment:
    """The templates of the package: markup and control characters are escaped, a name that is not given is an error."""
    environment = Environment(
        loader=PackageLoader("utmost.studio", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_escape_value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["block"] = lambda block: Markup(block_html(block))
    environment.filters["amount"] = number_format.amount_html
    environment.filters["number"] = number_format.number_html
    environment.filters["block"] = lambda block: Markup(block_html(block))  # every text in it is escaped there
    environment.filters["plain_json"] = escape_json
    environment.filters["rounded"] = number_format.rounded_text
    return environment


def _escape_value(value: object) -> Markup:
    """A value as a page shows it: no markup, and no control character that would turn what stands beside it."""
    return Markup(escape_control(escape(value), LINE_CHARACTERS))


def render_page(
    request: Request,
    template: str,
    *,
    json_address: str = "",
    problem: Problem | None = None,
    status: int = 200,
    **data: Any,
) -> HTMLResponse:
    """The template with its data. `json_address` is the address of the same page as JSON, if it has one.

    A `problem` is shown beside its field by the macros of parts.html; the page is then answered with 422, or `status`.
    A template sees also: `current_path`, `navigation`, `visitor`, `csrf` (for forms), `team` (is this
    `utmost serve`), `live_counts` (up to which a chart follows a slider), `version`, `errors` (messages by field).
    """
    state, visitor = request.state.app_state, request.state.visitor
    context = {
        "current_path": request.scope["path"],
        "navigation": permissions.navigation(visitor),
        "visitor": visitor,
        "csrf": state.sessions.csrf_token(visitor),
        "team": state.settings.tokens is not None,
        "version": __version__,
        "vega": state.bundle,
        "live_counts": state.settings.limits.live_counts,
        "json_address": json_address,
        "errors": defaultdict(str, {} if problem is None else {problem.field or "": problem.message}),
        "problem": problem,
    }
    text = template_environment().get_template(template).render({**context, **data})
    return HTMLResponse(text, status_code=422 if problem is not None and status == 200 else status)


def wants_json(request: Request) -> bool:
    """Is the answer for a program: everything under /api, and whoever asks for JSON before HTML."""
    accept = request.headers.get("accept", "")
    return str(request.scope["path"]).startswith(("/api/", "/health", "/metrics")) or accept.startswith(
        "application/json"
    )


def error_response(request: Request, status: int, problem: Problem) -> Response:
    """One line about what went wrong, as JSON under /api and as a page elsewhere."""
    if wants_json(request):
        return JSONResponse(problem.model_dump(), status_code=status)
    title = ERROR_TITLES.get(status, "That did not work")
    return render_page(request, "core/error.html", status=status, title=title, problem=problem)


def refusal_response(request: Request, refusal: Refusal) -> Response:
    """The answer to a request that is turned away; a visitor without a token is led to the login."""
    visitor, path = request.state.visitor, request.scope["path"]
    if refusal.status == 401 and request.method == "GET" and not wants_json(request) and visitor.role == ANONYMOUS:
        from urllib.parse import urlencode

        return RedirectResponse(f"/login?{urlencode({'then': path})}", status_code=303)
    response = error_response(request, refusal.status, Problem(message=str(refusal)))
    if refusal.wait is not None:
        response.headers["retry-after"] = str(refusal.wait)
    if refusal.status == 401:
        response.headers["www-authenticate"] = "Bearer"
    return response
