"""Middleware: checks of every request (host, origin, size, CSRF) and headers of every response.

In this order: host, site, rate, size, who the visitor is, where they may go, CSRF. What is refused, and what fails, is
one line with the same headers as everything else; the text of an unexpected error is dropped: it may quote data.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request

from utmost.studio import rendering, visitors
from utmost.studio.forms import Problem, Refusal
from utmost.studio.settings import MAX_FORM_FIELDS
from utmost.studio.visitors import ANONYMOUS, SESSION_HOURS, Visitor

if TYPE_CHECKING:
    from utmost.studio.state import AppState

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
RESPONSE_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
CSRF_FIELD = "csrf"  # of a form
CSRF_HEADER = "x-csrf-token"
FORM_CONTENT_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


def check_host(headers: Headers, hosts: tuple[str, ...]) -> None:
    """Refuse a Host that is none of ours: a foreign name that resolves to this machine is an attack (DNS rebinding)."""
    hosts_sent = headers.getlist("host")
    name = _host_name(hosts_sent[0]) if len(hosts_sent) == 1 else None
    if name is None or name not in hosts:
        raise Refusal(421, "Host must be a name this studio was started for, got another: open it by its own address")


def _host_name(host: str) -> str | None:
    """The host without its port, in lower case; None where it is no host.

    >>> _host_name("LOCALHOST:8650"), _host_name("[::1]:80"), _host_name("a b")
    ('localhost', '[::1]', None)
    """
    try:
        url = urlsplit(f"//{host}")
        name, _ = url.hostname, url.port
    except ValueError:
        return None
    if not name or url.username is not None or url.path or any(c in "?#" or c.isspace() for c in host):
        return None
    return f"[{name}]" if ":" in name else name


def check_origin(method: str, headers: Headers) -> None:
    """Refuse what another site's page sends: a change from anywhere else, and anything it only wants to embed."""
    site, mode = headers.get("sec-fetch-site", "same-origin"), headers.get("sec-fetch-mode", "navigate")
    is_safe = method in SAFE_METHODS
    if site not in ("same-origin", "none") and not (is_safe and mode == "navigate"):
        raise Refusal(403, "this request came from another site: open the studio's own page")
    origin = headers.get("origin")
    if origin is None or (is_safe and origin == "null"):
        return
    if not origin.startswith(("http://", "https://")) or origin.partition("://")[2].lower() != _host_header(headers):
        raise Refusal(403, "Origin must be the studio itself, got another: open the studio's own page")


def _host_header(headers: Headers) -> str:
    return headers.get("host", "").lower()


def check_content_length(headers: Headers, max_bytes: int) -> None:
    """Refuse a body that says it is too large, or that does not say its length in digits."""
    length = headers.get("content-length")
    if length is None:
        return
    if not (length.isascii() and length.isdigit()):
        raise Refusal(400, "Content-Length must be a whole number, got another")
    if len(length) > 18 or int(length) > max_bytes:
        raise _too_large(max_bytes)


def _too_large(max_bytes: int) -> Refusal:
    return Refusal(413, f"a request must have at most {max_bytes >> 10} KiB, got more: send less")


async def read_body(receive: Receive, max_bytes: int, seconds: float) -> bytes:
    """The body, refused as soon as it is too large or too slow."""
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refusal(400, "the request ended before it was whole")
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if size > max_bytes:
                    raise _too_large(max_bytes)
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError:
        raise Refusal(408, f"a request must arrive within {seconds:g} seconds, got a slower one: try again") from None


def replay_body(body: bytes, receive: Receive) -> Receive:
    """A receive that gives the body once more, then whatever comes after it."""
    is_replayed = False

    async def replay() -> Message:
        nonlocal is_replayed
        if is_replayed:
            return await receive()
        is_replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def csrf_token(scope: Message, body: bytes) -> str:
    """The token that a request carries: its header, or the field of its form."""
    headers = Headers(scope=scope)
    if CSRF_HEADER in headers:
        return headers[CSRF_HEADER]
    if headers.get("content-type", "").partition(";")[0].strip().lower() not in FORM_CONTENT_TYPES:
        return ""
    from starlette.exceptions import HTTPException

    async def disconnect() -> Message:
        return {"type": "http.disconnect"}

    try:
        request = Request(dict(scope), replay_body(body, disconnect))
        async with request.form(max_files=20, max_fields=MAX_FORM_FIELDS) as form:
            token = form.get(CSRF_FIELD, "")
            return token if isinstance(token, str) else ""
    except (HTTPException, UnicodeDecodeError):
        raise Refusal(400, "a form must be one that a browser sends, got another: fill it in again") from None


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
        check_host(headers, state.settings.hosts)
        check_origin(method, headers)
        _check_rate(state.rates.take(_client_host(request)))
        check_content_length(headers, state.settings.limits.body_bytes)
        visitor = request.state.visitor = self._identify(request)
        _check_permission(visitor, request)
        if method in SAFE_METHODS:
            return receive
        limits = state.settings.limits
        body = await read_body(receive, limits.body_bytes, limits.body_seconds)
        if not visitor.is_bearer and not state.sessions.is_csrf_token(visitor, await csrf_token(request.scope, body)):
            raise Refusal(403, "this form is out of date, or was not made by this page: reload the page and try again")
        return replay_body(body, receive)

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
    if visitors.is_allowed(visitor, request.scope["path"]):
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
            for name, value in RESPONSE_HEADERS.items():
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
