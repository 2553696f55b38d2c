"""Middleware that checks every request before the pages and sets headers on every response.

In this order: host, site, rate, size, who the visitor is, where they may go, CSRF. What is refused, and what fails, is
one line with the same headers as everything else; the text of an unexpected error is dropped: it may quote data.
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
COOKIELESS_PATHS = ("/static", "/vega", "/health", "/metrics", "/favicon.ico")  # no session is begun here


class GuardMiddleware:
    """The ASGI application around the pages."""

    def __init__(self, app: App, state: AppState) -> None:
        self._app, self._state = app, state

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response = _ResponseSender(self._state, scope, send, time.perf_counter())
        request = Request(scope, receive)
        request.state.app_state = self._state
        request.state.visitor = Visitor("", ANONYMOUS, "")
        try:
            await self._app(scope, await self._admit(request, receive), response.send)
        except Refusal as refusal:
            await rendering.refusal_response(request, refusal)(scope, receive, response.send)
        except Exception as error:
            LOG.error("internal error (%s) at %s", type(error).__name__, _error_location(error))
            if response.status is None:
                problem = Problem(message="internal error: this is a bug in utmost, please report what you did")
                await rendering.error_response(request, 500, problem)(scope, receive, response.send)
        finally:
            response.count()

    async def _admit(self, request: Request, receive: Receive) -> Receive:
        """Let the request in, its visitor known, or raise why not."""
        state, method, headers = self._state, request.method, request.headers
        request_checks.check_host(headers, state.settings.hosts)
        request_checks.check_origin(method, headers)
        _check_rate(state.rates.take(_client_host(request)))
        request_checks.check_content_length(headers, state.settings.limits.body_bytes)
        visitor = request.state.visitor = self._identify(request)
        _check_permission(visitor, request)
        if method in request_checks.SAFE_METHODS:
            return receive
        limits = state.settings.limits
        body = await request_checks.read_body(receive, limits.body_bytes, limits.body_seconds)
        if not visitor.is_bearer and not state.sessions.is_csrf_token(
            visitor, await request_checks.csrf_token(request.scope, body)
        ):
            raise Refusal(403, "this form is out of date, or was not made by this page: reload the page and try again")
        return request_checks.replay_body(body, receive)

    def _identify(self, request: Request) -> Visitor:
        """The visitor: by a bearer token, by the cookie, or the one visitor of a studio without tokens."""
        state, register = self._state, self._state.register
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if register is not None and scheme.lower() == "bearer":
            holder = register.find_holder(token.strip())
            if holder is None:
                state.rates.penalize(_client_host(request), state.settings.limits.wrong_token_cost)
                raise Refusal(401, "token must be one that stands in the tokens file, got another: ask for a new one")
            return Visitor(holder.name, holder.role, "", is_bearer=True)
        visitor = state.sessions.read_cookie(request.cookies.get(state.sessions.cookie_name, ""))
        if register is None:
            is_local = visitor is not None and visitor.role == "curator" and not visitor.token_fingerprint
            return visitor if visitor is not None and is_local else state.sessions.begin("you", "curator")
        if visitor is not None and (
            visitor.role == ANONYMOUS or register.is_valid(visitor.name, visitor.role, visitor.token_fingerprint)
        ):
            return visitor
        return state.sessions.begin("", ANONYMOUS)


def _check_rate(wait: float) -> None:
    if wait > 0:
        raise Refusal(429, "too many requests: wait a moment, then try again", wait=math.ceil(wait))


def _check_permission(visitor: Visitor, request: Request) -> None:
    if permissions.is_allowed(visitor, request.scope["path"]):
        return
    if visitor.role == ANONYMOUS:
        raise Refusal(401, "a token is needed here: log in, or send it as Authorization: Bearer TOKEN")
    raise Refusal(403, f"this page is the curator's, and {visitor.name} is a {visitor.role}: ask a curator")


def _client_host(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _error_location(error: Exception) -> str:
    """The last place in our own code that an error passed: a module and a line, no values."""
    trace, location = error.__traceback__, "?"
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "?")
        if name.startswith("utmost."):
            location = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return location


@dataclass(slots=True)
class _ResponseSender:
    """Puts the headers on a response, and counts it when it is over."""

    state: AppState
    scope: Message
    send_message: Send
    started: float
    status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in request_checks.RESPONSE_HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-cache" if self.scope["path"].startswith("/static/") else "no-store")
            self._set_cookie(headers)
        await self.send_message(message)

    def _set_cookie(self, headers: MutableHeaders) -> None:
        visitor: Visitor = self.scope["state"]["visitor"]
        path = self.scope["path"]
        if not visitor.is_new or not visitor.session or path.startswith(COOKIELESS_PATHS):
            return
        secure = "; Secure" if self.scope.get("scheme") == "https" else ""
        value = self.state.sessions.cookie_value(visitor)
        name, age = self.state.sessions.cookie_name, SESSION_HOURS * 3600
        headers.append("set-cookie", f"{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}")

    def count(self) -> None:
        route = self.scope.get("route")
        path = getattr(route, "path", None) or "other"
        seconds = time.perf_counter() - self.started
        self.state.metrics.count_request(self.scope["method"], path, self.status or 499, seconds)
