"""The first page of the consumer."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from starlette.requests import Request

from utmost.studio.pages import page

pages = APIRouter(include_in_schema=False, prefix="/consumer")
api = APIRouter(prefix="/api/consumer", tags=["consumer"])


class Overview(BaseModel):
    """What there is to see."""

    title: str


@pages.get("")
def overview_page(request: Request) -> HTMLResponse:
    """The page."""
    return page(request, "consumer/overview.html", twin="/api/consumer", overview=overview())


@api.get("")
def overview() -> Overview:
    """The same as JSON."""
    return Overview(title="Consumer")
