"""The application: pages, their JSON API, and the middleware before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

from anyio import to_thread
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from utmost import __version__
from utmost.errors import UtmostError
from utmost.studio import form_errors, rendering
from utmost.studio.background import end_timer, start_timer
from utmost.studio.form_errors import Problem, Refusal
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
    return rendering.error_response(request, form_errors.status_code(error), form_errors.problem_from_error(error))


def _answer_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return rendering.error_response(request, 422, form_errors.validation_problem(error))


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
    return messages.get(error.status_code, form_errors.one_line(str(error.detail)))
