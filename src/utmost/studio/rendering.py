"""Pages from templates, and numbers as pages and the API show them."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from utmost import __version__
from utmost.exact import decimal
from utmost.exact import number as parse_number
from utmost.exact import rational as parse_rational
from utmost.exact.input_text import LINE_CHARACTERS, escape_control, escape_json
from utmost.reports.blocks import block_html, data_html
from utmost.reports.numbers import DEFAULT_DIGITS, MINUS, THIN_SPACE, Quantity, Rounding, amount, quantity
from utmost.studio import visitors
from utmost.studio.forms import Problem, Refusal
from utmost.studio.visitors import ANONYMOUS

if TYPE_CHECKING:
    from utmost.exact import Number

MAX_EXACT_CHARS = 1500  # characters of an exact number
MAX_EXACT_BITS = 6000  # of numerator and denominator of a fraction that is written out


class FormattedNumber(BaseModel):
    """A number: `text` is for reading, `exact` is what it is."""

    text: str = Field(examples=["0.3333"])
    exact: str = Field(examples=["1/3"])

    @classmethod
    def of(cls, number: Quantity) -> FormattedNumber:
        """A number as a report has it.

        >>> from fractions import Fraction
        >>> FormattedNumber.of(quantity(Fraction(1, 3)))
        FormattedNumber(text='0.3333', exact='1/3')
        """
        return cls(text=number.typeset, exact=number.exact)


def format_exact(number: Quantity) -> FormattedNumber:
    """A number and what it is exactly; of a double, and of what is too long to be read, what it is to some digits."""
    value, text = number.value, number.typeset
    if isinstance(value, float):
        return FormattedNumber(text=text, exact=f"{value:.12g} (in double precision)")
    if isinstance(value, Fraction) and value.denominator.bit_length() + value.numerator.bit_length() > MAX_EXACT_BITS:
        return FormattedNumber(text=text, exact=f"{decimal(value, 15)} (the first digits of a long fraction)")
    exact = number.exact
    return FormattedNumber(text=text, exact=exact if len(exact) <= MAX_EXACT_CHARS else f"{exact[:MAX_EXACT_CHARS]}…")


def number_html(value: Number | int | float | FormattedNumber | str | None, digits: int = DEFAULT_DIGITS) -> Markup:
    """The number as HTML: <data> with the exact value in it, shown on hover. An exact text such as "1/3" is parsed."""
    if value is None:
        return Markup('<span class="none">–</span>')
    if not isinstance(value, FormattedNumber):
        value = FormattedNumber.of(quantity(parse_number(value) if isinstance(value, str) else value, digits))
    plain_text = value.text.replace(THIN_SPACE, "").replace(MINUS, "-")
    return Markup(data_html(value.text, value.exact, is_exact=plain_text == value.exact))


def amount_html(value: str | Fraction, rounding: Rounding) -> Markup:
    """An amount of ε or δ as HTML: as a decimal where that is exact, else a short fraction."""
    return number_html(FormattedNumber.of(amount(parse_rational(value), rounding)))


def rounded_text(value: Number | int | float, digits: int = DEFAULT_DIGITS) -> str:
    """The rounded number alone, as a page shows it."""
    return quantity(value, digits).typeset


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
    environment.filters["spent"] = partial(amount_html, rounding=Rounding.UP)
    environment.filters["left"] = partial(amount_html, rounding=Rounding.DOWN)
    environment.filters["number"] = number_html
    environment.filters["block"] = lambda block: Markup(block_html(block))  # every text in it is escaped there
    environment.filters["plain_json"] = escape_json
    environment.filters["rounded"] = rounded_text
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
    With `focus`, the keyboard is at the field of that name, where none is wrong.
    """
    state, visitor = request.state.app_state, request.state.visitor
    context = {
        "current_path": request.scope["path"],
        "navigation": visitors.navigation(visitor),
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
