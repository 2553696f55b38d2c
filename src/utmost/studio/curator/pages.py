"""The first page of the curator."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from starlette.requests import Request

from utmost.studio.pages import page

pages = APIRouter(include_in_schema=False, prefix="/curator")
api = APIRouter(prefix="/api/curator", tags=["curator"])


class Overview(BaseModel):
    """What there is to see."""

    title: str


@pages.get("")
def overview_page(request: Request) -> HTMLResponse:
    """The page."""
    return page(request, "curator/overview.html", twin="/api/curator", overview=overview())


@api.get("")
def overview() -> Overview:
    """The same as JSON."""
    return Overview(title="Curator")
