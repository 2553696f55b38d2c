"""The server: the application with its pages, JSON API and middleware, a socket, and an orderly end."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from utmost import __version__
from utmost.errors import InputError, UtmostError
from utmost.studio import forms, rendering
from utmost.studio.background import end_timer, start_timer
from utmost.studio.forms import Problem, Refusal
from utmost.studio.middleware import GuardMiddleware
from utmost.studio.settings import Settings
from utmost.studio.state import AppState, build_state

WARM_UP_SECONDS = 1.0  # seconds after the start
PACKAGES = ("core", "curator", "consumer", "designer", "precision", "papers")  # each has `routers`
REFUSAL_DESCRIPTIONS = {
    400: "it cannot be read",
    401: "no token",
    403: "not allowed",
    404: "nothing here",
    408: "too slow",
    413: "too large",
    421: "another's name",
    422: "an input cannot be",
    429: "too often, or too much at once",
    503: "too busy",
}
UNREADABLE_MESSAGE = "a request must be one that can be read, got another: send JSON or a form, in UTF-8"


def make_app(settings: Settings) -> FastAPI:
    """The studio for these settings, to be served by any ASGI server in one process."""
    state = build_state(settings)
    app = FastAPI(
        title="utmost studio",
        version=__version__,
        summary="Differentially private releases, provably as useful as the guarantee allows.",
        docs_url=None,
        redoc_url=None,
        responses={
            status: {"model": Problem, "description": description}
            for status, description in REFUSAL_DESCRIPTIONS.items()
        },
        lifespan=lambda _: _lifespan(state),
    )
    app.state.app_state = state
    rendering.template_environment().get_template("core/home.html")  # compiled before it is asked for
    for router in _all_routers():
        app.include_router(router)
    app.mount("/static", StaticFiles(packages=[("utmost.studio", "static")]), name="static")
    app.add_exception_handler(UtmostError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid_request)
    app.add_exception_handler(HTTPException, _answer_http_exception)
    app.add_middleware(GuardMiddleware, state=state)
    return app


@asynccontextmanager
async def _lifespan(state: AppState) -> AsyncIterator[None]:
    """From the first request to the last: helpers are begun before, and ended after."""
    limits = state.settings.limits
    to_thread.current_default_thread_limiter().total_tokens = 2 * limits.calls + limits.request_threads
    with state.cleanup as cleanup:
        cleanup.callback(state.jobs.close)
        cleanup.callback(state.bundle.stop)
        for pool in (state.consumer_pool, state.curator_pool):
            pool.open()
            cleanup.callback(pool.close)
        state.bundle.prepare()
        cleanup.callback(end_timer, start_timer(WARM_UP_SECONDS, _warm_up, state))
        yield


def _warm_up(state: AppState) -> None:
    """Begin what the first chart and the first calculation need, while the first page is being read."""
    state.curator_pool.prepare()
    for module in ("altair", "utmost.charts"):
        import_module(module)


def _all_routers() -> list[APIRouter]:
    return [router for package in PACKAGES for router in import_module(f"utmost.studio.{package}").routers]


def _answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, UtmostError)
    if isinstance(error, Refusal):
        return rendering.refusal_response(request, error)
    return rendering.error_response(request, forms.status_code(error), forms.problem_from_error(error))


def _answer_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return rendering.error_response(request, 422, forms.validation_problem(error))


def _answer_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = rendering.refusal_response(request, Refusal(error.status_code, _message(error)))
    response.headers.update(error.headers or {})
    return response


def _message(error: HTTPException) -> str:
    messages = {
        400: UNREADABLE_MESSAGE,
        404: "there is no such page: start again at the first",
        405: "this address does not take that method",
    }
    return messages.get(error.status_code, forms.one_line(str(error.detail)))


SHUTDOWN_SECONDS = 20  # for requests that go on when the studio is told to end
MAX_CONNECTIONS = 2000


def serve(settings: Settings, on_ready: Callable[[str], None], *, any_port: bool = False) -> None:
    """Serve until told to end (SIGINT or SIGTERM): requests are finished, jobs and helpers ended.

    `on_ready` is called with the address once it answers. With `any_port` a taken port is replaced by a free one.
    """
    import uvicorn

    listener = _bind_socket(settings, any_port)
    port = listener.getsockname()[1]
    app = make_app(replace(settings, port=port))
    config = uvicorn.Config(
        app,
        http=timeout_protocol(settings.limits.head_seconds),
        log_level="warning",
        access_log=False,  # addresses hold what visitors ask
        server_header=False,
        date_header=True,
        proxy_headers=settings.tokens is not None,  # from this machine's own proxy only
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    server = uvicorn.Server(config)
    threading.Thread(target=_announce, args=(server, on_ready, _address(settings.host, port)), daemon=True).start()
    with suppress(KeyboardInterrupt):  # how it ends: uvicorn raises the signal again once all is closed
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        server.run(sockets=[listener])


def _announce(server: Any, on_ready: Callable[[str], None], address: str) -> None:
    pause = threading.Event()
    while not server.started and not server.should_exit:
        pause.wait(0.02)
    if server.started:
        on_ready(address)


def _bind_socket(settings: Settings, any_port: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for port in (settings.port, 0) if any_port else (settings.port,):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, port))
        except OSError as error:
            listener.close()
            reason = error.strerror or "it cannot be used"
            continue
        return listener
    raise InputError(f"--port must be free on {settings.host}, got {settings.port}: {reason}; choose another", "port")


def _address(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else name}:{port}/"


def timeout_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP protocol with so many seconds for the head of a request: its first line and its headers.

    Uvicorn itself waits for the head without end. Time runs from the start of the connection, or from the first byte
    after an answer; the guard limits the time of a body, and uvicorn that of silence between requests.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class TimeoutProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # one of two classes, as installed
        """A connection with a deadline."""

        deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            """Begin to wait for a request."""
            super().connection_made(transport)
            self._start_deadline()

        def data_received(self, data: bytes) -> None:
            """Take what came; once the head of a request is complete, the deadline is cancelled."""
            if not self._is_answering():
                self._start_deadline()
            super().data_received(data)
            if self._is_answering():
                self._cancel_deadline()

        def connection_lost(self, exc: Exception | None) -> None:
            """The connection is over."""
            self._cancel_deadline()
            super().connection_lost(exc)

        def _is_answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _start_deadline(self) -> None:
            if self.deadline is None:
                self.deadline = asyncio.get_running_loop().call_later(seconds, self.transport.close)

        def _cancel_deadline(self) -> None:
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return TimeoutProtocol
