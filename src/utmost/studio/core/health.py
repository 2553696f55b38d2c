"""Is it well, and how it does: for machines that watch it. And the script that draws charts."""

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
from utmost.studio.form_errors import Refusal
from utmost.studio.settings import Settings
from utmost.studio.state import StateDep

router = APIRouter()
FRESH = 5  # seconds that an answer about the ledger holds
FOREVER = "public, max-age=31536000, immutable"


class Health(BaseModel):
    """The studio answers. `ledger` is ok, empty (none was made yet) or unreachable."""

    status: Literal["ok", "failing"]
    version: str
    ledger: Literal["ok", "empty", "unreachable"]


class Ready(BaseModel):
    """Can charts be drawn yet."""

    ready: bool


@router.get("/health", tags=["studio"], responses={503: {"model": Health, "description": "the ledger is out of reach"}})
def health(house: StateDep, response: Response) -> Health:
    """Does the studio answer, and does its ledger; 503 if that is out of reach."""
    found = _ledger(house.settings, int(time.monotonic()) // FRESH)
    response.status_code = 503 if found == "unreachable" else 200
    return Health(status="failing" if found == "unreachable" else "ok", version=__version__, ledger=found)


@lru_cache(maxsize=4)
def _ledger(settings: Settings, _: int) -> Literal["ok", "empty", "unreachable"]:
    """What the ledger says, asked once in a few seconds however many ask."""
    from utmost import ledger

    try:
        with ledger.open_ledger(settings.ledger, settings.folder) as books:
            books.budgets()
    except InputError:
        return "empty"
    except LedgerError:
        return "unreachable"
    return "ok"


@router.get("/metrics", tags=["studio"], response_class=PlainTextResponse)
def metrics(house: StateDep) -> PlainTextResponse:
    """Requests, latencies, charges and jobs, as Prometheus reads them; nothing about data."""
    return PlainTextResponse(house.metrics.text(house.jobs.counts()), media_type="text/plain; version=0.0.4")


@router.get("/vega/ready", include_in_schema=False)
def vega_ready(house: StateDep) -> Ready:
    """Is the bundle that draws charts made; it is begun if not."""
    house.bundle.prepare()
    return Ready(ready=house.bundle.ready())


@router.get("/vega/{version}.js", include_in_schema=False)
def vega(version: str, house: StateDep) -> Response:
    """The bundle that draws charts; 503 until it is made."""
    if version != house.bundle.version:
        raise Refusal(404, "there is no such script: reload the page")
    if not house.bundle.ready():
        house.bundle.prepare()
        raise Refusal(503, "the charts' script is being made: ask again in a second", wait=1)
    return FileResponse(house.bundle.path, media_type="text/javascript", headers={"cache-control": FOREVER})
