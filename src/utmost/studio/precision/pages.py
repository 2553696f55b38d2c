"""The first page of the precision."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from starlette.requests import Request

from utmost.studio.pages import page

pages = APIRouter(include_in_schema=False, prefix="/precision")
api = APIRouter(prefix="/api/precision", tags=["precision"])


class Overview(BaseModel):
    """What there is to see."""

    title: str


@pages.get("")
def overview_page(request: Request) -> HTMLResponse:
    """The page."""
    return page(request, "precision/overview.html", twin="/api/precision", overview=overview())


@api.get("")
def overview() -> Overview:
    """The same as JSON."""
    return Overview(title="Precision")
