"""Is it well, and how it does: for machines that watch it. And the script that draws charts."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import FileResponse, PlainTextResponse
from pydantic import BaseModel
from starlette.responses import Response

from utmost import __version__
from utmost.studio.house import Here
from utmost.studio.problems import Refusal

router = APIRouter()
FOREVER = "public, max-age=31536000, immutable"


class Health(BaseModel):
    """The studio answers, and this is its version."""

    status: str
    version: str


class Ready(BaseModel):
    """Can charts be drawn yet."""

    ready: bool


@router.get("/health", tags=["studio"])
def health() -> Health:
    """Does the studio answer."""
    return Health(status="ok", version=__version__)


@router.get("/metrics", tags=["studio"], response_class=PlainTextResponse)
def metrics(house: Here) -> PlainTextResponse:
    """Requests, latencies, charges and jobs, as Prometheus reads them; nothing about data."""
    return PlainTextResponse(house.metrics.text(house.jobs.counts()), media_type="text/plain; version=0.0.4")


@router.get("/vega/ready", include_in_schema=False)
def vega_ready(house: Here) -> Ready:
    """Is the bundle that draws charts made; it is begun if not."""
    house.bundle.prepare()
    return Ready(ready=house.bundle.ready())


@router.get("/vega/{version}.js", include_in_schema=False)
def vega(version: str, house: Here) -> Response:
    """The bundle that draws charts; 503 until it is made."""
    if version != house.bundle.version:
        raise Refusal(404, "there is no such script: reload the page")
    if not house.bundle.ready():
        house.bundle.prepare()
        raise Refusal(503, "the charts' script is being made: ask again in a second", wait=1)
    return FileResponse(house.bundle.path, media_type="text/javascript", headers={"cache-control": FOREVER})
