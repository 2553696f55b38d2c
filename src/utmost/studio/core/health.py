"""Health and metrics, for machines that watch the studio; and the script that draws charts."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import FileResponse, PlainTextResponse
from pydantic import BaseModel
from starlette.responses import Response

from utmost import __version__
from utmost.errors import InputError, LedgerError
from utmost.studio.forms import Refusal
from utmost.studio.settings import Settings
from utmost.studio.state import StateDep

router = APIRouter()
LEDGER_CHECK_SECONDS = 5  # seconds that an answer about the ledger holds
IMMUTABLE_CACHE = "public, max-age=31536000, immutable"


class Health(BaseModel):
    """The studio answers. `ledger` is ok, empty (none was made yet) or unreachable."""

    status: Literal["ok", "failing"]
    version: str
    ledger: Literal["ok", "empty", "unreachable"]


class Ready(BaseModel):
    """Can charts be drawn yet."""

    ready: bool


@router.get("/health", tags=["studio"], responses={503: {"model": Health, "description": "the ledger is out of reach"}})
def health(state: StateDep, response: Response) -> Health:
    """Does the studio answer, and does its ledger; 503 if that is out of reach."""
    ledger = _ledger_state(state.settings, int(time.monotonic()) // LEDGER_CHECK_SECONDS)
    response.status_code = 503 if ledger == "unreachable" else 200
    return Health(status="failing" if ledger == "unreachable" else "ok", version=__version__, ledger=ledger)


@lru_cache(maxsize=4)
def _ledger_state(settings: Settings, _: int) -> Literal["ok", "empty", "unreachable"]:
    """What the ledger says, asked once in a few seconds however many ask."""
    from utmost import ledger

    try:
        with ledger.open_ledger(settings.ledger, settings.folder) as connection:
            connection.budgets()
    except InputError:
        return "empty"
    except LedgerError:
        return "unreachable"
    return "ok"


@router.get("/metrics", tags=["studio"], response_class=PlainTextResponse)
def metrics(state: StateDep) -> PlainTextResponse:
    """Requests, latencies, charges and jobs, as Prometheus reads them; nothing about data."""
    return PlainTextResponse(state.metrics.prometheus_text(state.jobs.counts()), media_type="text/plain; version=0.0.4")


@router.get("/vega/ready", include_in_schema=False)
def vega_ready(state: StateDep) -> Ready:
    """Is the bundle that draws charts made; it is begun if not."""
    state.bundle.prepare()
    return Ready(ready=state.bundle.is_ready())


@router.get("/vega/{version}.js", include_in_schema=False)
def vega(version: str, state: StateDep) -> Response:
    """The bundle that draws charts; 503 until it is made."""
    if version != state.bundle.version:
        raise Refusal(404, "there is no such script: reload the page")
    if not state.bundle.is_ready():
        state.bundle.prepare()
        raise Refusal(503, "the charts' script is being made: ask again in a second", wait=1)
    return FileResponse(state.bundle.path, media_type="text/javascript", headers={"cache-control": IMMUTABLE_CACHE})
