"""The door: every request passes here before any page sees it, and every response after.

In this order: host, site, rate, size, who it is, where she may go, CSRF. What is refused, and what fails, is one line
with the same headers as everything else; the text of an unexpected error goes nowhere, since it may quote data.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import Request

from utmost.studio import permissions, rendering, request_checks
from utmost.studio.form_errors import Problem, Refusal
from utmost.studio.request_checks import Message, Receive, Send
from utmost.studio.sessions import ANONYMOUS, SESSION_HOURS, Visitor

if TYPE_CHECKING:
    from utmost.studio.state import AppState

App = Callable[[Message, Receive, Send], Awaitable[None]]
LOG = logging.getLogger("utmost.studio")
QUIET = ("/static", "/vega", "/health", "/metrics", "/favicon.ico")  # no session is begun here


class GuardMiddleware:
    """The ASGI application around the pages."""

    def __init__(self, app: App, house: AppState) -> None:
        self._app, self._house = app, house

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(self._house, scope, send, time.perf_counter())
        request = Request(scope, receive)
        request.state.house = self._house
        request.state.visitor = Visitor("", ANONYMOUS, "")
        try:
            await self._app(scope, await self._admitted(request, receive), answer.send)
        except Refusal as refusal:
            await rendering.refusal_response(request, refusal)(scope, receive, answer.send)
        except Exception as error:
            LOG.error("internal error (%s) at %s", type(error).__name__, _where(error))
            if answer.status is None:
                problem = Problem(message="internal error: this is a bug in utmost, please report what you did")
                await rendering.error_response(request, 500, problem)(scope, receive, answer.send)
        finally:
            answer.note()

    async def _admitted(self, request: Request, receive: Receive) -> Receive:
        """Let the request in, its visitor known, or raise why not."""
        house, method, headers = self._house, request.method, request.headers
        request_checks.check_host(headers, house.settings.hosts)
        request_checks.check_origin(method, headers)
        _paced(house.rates.wait(_client(request)))
        request_checks.check_content_length(headers, house.settings.limits.body)
        visitor = request.state.visitor = self._visitor(request)
        _permitted(visitor, request)
        if method in request_checks.SAFE_METHODS:
            return receive
        limits = house.settings.limits
        body = await request_checks.read_body(receive, limits.body, limits.body_seconds)
        if not visitor.bearer and not house.sessions.is_csrf(
            visitor, await request_checks.csrf_token(request.scope, body)
        ):
            raise Refusal(403, "this form is out of date, or was not made by this page: reload the page and try again")
        return request_checks.replay_body(body, receive)

    def _visitor(self, request: Request) -> Visitor:
        """Who it is: by a bearer token, by the cookie, or the one visitor of a studio without tokens."""
        house, register = self._house, self._house.register
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if register is not None and scheme.lower() == "bearer":
            holder = register.shown(token.strip())
            if holder is None:
                house.rates.empty(_client(request), house.settings.limits.wrong_token)
                raise Refusal(401, "token must be one that stands in the tokens file, got another: ask for a new one")
            return Visitor(holder.name, holder.role, "", bearer=True)
        found = house.sessions.read(request.cookies.get(house.sessions.cookie, ""))
        if register is None:
            mine = found is not None and found.role == "curator" and not found.mark
            return found if found is not None and mine else house.sessions.made("you", "curator")
        if found is not None and (found.role == ANONYMOUS or register.stands(found.name, found.role, found.mark)):
            return found
        return house.sessions.made("", ANONYMOUS)


def _paced(wait: float) -> None:
    if wait > 0:
        raise Refusal(429, "too many requests: wait a moment, then try again", wait=math.ceil(wait))


def _permitted(visitor: Visitor, request: Request) -> None:
    if permissions.is_allowed(visitor, request.scope["path"]):
        return
    if visitor.role == ANONYMOUS:
        raise Refusal(401, "a token is needed here: log in, or send it as Authorization: Bearer TOKEN")
    raise Refusal(403, f"this page is the curator's, and {visitor.name} is a {visitor.role}: ask a curator")


def _client(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _where(error: Exception) -> str:
    """The last place in our own code that an error passed: a module and a line, no values."""
    trace, place = error.__traceback__, "?"
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "?")
        if name.startswith("utmost."):
            place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


@dataclass(slots=True)
class _Answer:
    """Puts the headers on a response, and counts it when it is over."""

    house: AppState
    scope: Message
    out: Send
    began: float
    status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in request_checks.HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-cache" if self.scope["path"].startswith("/static/") else "no-store")
            self._cookie(headers)
        await self.out(message)

    def _cookie(self, headers: MutableHeaders) -> None:
        visitor: Visitor = self.scope["state"]["visitor"]
        path = self.scope["path"]
        if not visitor.fresh or not visitor.session or path.startswith(QUIET):
            return
        secure = "; Secure" if self.scope.get("scheme") == "https" else ""
        value = self.house.sessions.text(visitor)
        name, age = self.house.sessions.cookie, SESSION_HOURS * 3600
        headers.append("set-cookie", f"{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}")

    def note(self) -> None:
        route = self.scope.get("route")
        path = getattr(route, "path", None) or "other"
        seconds = time.perf_counter() - self.began
        self.house.metrics.answered(self.scope["method"], path, self.status or 499, seconds)
