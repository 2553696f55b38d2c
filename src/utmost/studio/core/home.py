"""The first page: three roles, what each can do, and the latest releases."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from starlette.requests import Request

from utmost import __version__
from utmost.studio import permissions
from utmost.studio.data_folder import ReleaseFile, list_releases
from utmost.studio.rendering import render_page
from utmost.studio.state import StateDep, VisitorDep

MAX_LATEST_RELEASES = 5  # releases on the first page

pages = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api", tags=["studio"])


class Home(BaseModel):
    """The visitor, the pages open to the visitor, and the latest releases."""

    version: str
    name: str
    role: str
    places: list[str]
    releases: list[ReleaseFile]


@pages.get("/")
def home_page(request: Request, state: StateDep, visitor: VisitorDep) -> HTMLResponse:
    """The first page."""
    return render_page(request, "core/home.html", json_address="/api/home", home=home(state, visitor))


@api.get("/home")
def home(state: StateDep, visitor: VisitorDep) -> Home:
    """Who you are here, where you may go, and the latest releases."""
    paths = [entry.path for entry in permissions.navigation(visitor)]
    latest = list_releases(state.settings)[:MAX_LATEST_RELEASES]
    return Home(version=__version__, name=visitor.name, role=visitor.role, places=paths, releases=latest)
