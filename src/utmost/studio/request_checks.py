"""What every response carries and every request must pass: headers, host, origin, size, CSRF. Pure functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request

from utmost.studio.form_errors import Refusal

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
        async with Request(dict(scope), replay_body(body, disconnect)).form(max_files=20, max_fields=2000) as form:
            token = form.get(CSRF_FIELD, "")
            return token if isinstance(token, str) else ""
    except (HTTPException, UnicodeDecodeError):
        raise Refusal(400, "a form must be one that a browser sends, got another: fill it in again") from None
