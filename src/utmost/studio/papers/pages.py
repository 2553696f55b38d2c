"""The papers: what each gives, and all its tables and figures, published beside computed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field
from starlette.requests import Request

from utmost.papers import KEYS
from utmost.studio.charts import Chart
from utmost.studio.form_errors import Refusal
from utmost.studio.jobs import Job
from utmost.studio.papers import report_cache
from utmost.studio.rendering import render_page
from utmost.studio.sessions import Visitor
from utmost.studio.state import AppState, SettingsDep, StateDep, VisitorDep

pages = APIRouter(include_in_schema=False, prefix="/papers")
api = APIRouter(prefix="/api/papers", tags=["papers"])

Key = Annotated[str, InPath(pattern=f"^({'|'.join(KEYS)})$", description="A paper of the list, such as GRS12")]
Number = Annotated[int, InPath(ge=0, le=999, description="The item's place in its report, from 0")]


class Paper(BaseModel):
    """A paper, and how much of it agrees once it has been computed again."""

    key: str
    title: str
    computed: bool
    agree: int | None = Field(description="Items whose published values come out again")
    compared: int | None = Field(description="Items with published values")
    errata: int | None


class Overview(BaseModel):
    """The papers that the library implements."""

    papers: list[Paper]


@pages.get("")
def overview_page(request: Request, settings: SettingsDep) -> HTMLResponse:
    """The list of papers."""
    return render_page(request, "papers/overview.html", twin="/api/papers", overview=overview(settings))


@pages.get("/{key}")
def paper_page(request: Request, key: Key, settings: SettingsDep) -> HTMLResponse:
    """One paper: its report, or the button that computes it."""
    found = report_cache.read_report(report_cache.report_path(settings.state, key))
    return render_page(request, "papers/paper.html", twin=f"/api/papers/{key}", key=key, name=KEYS[key], found=found)


@pages.post("/{key}/compute")
def compute_page(key: Key, house: StateDep, who: VisitorDep) -> RedirectResponse:
    """Compute a paper again, and show how far it is."""
    return RedirectResponse(f"/jobs/{_begun(key, house, who).id}", status_code=303)


@api.get("")
def overview(settings: SettingsDep) -> Overview:
    """The papers, and how much of each agrees once it has been computed again."""
    return Overview(papers=[_paper(settings, key, title) for key, title in KEYS.items()])


@api.get("/{key}")
def paper(key: Key, settings: SettingsDep) -> report_cache.Report:
    """A paper's tables, published beside computed, with its errata; compute it first."""
    found = report_cache.read_report(report_cache.report_path(settings.state, key))
    if found is None:
        raise Refusal(404, f"{key} has not been computed here yet: post to /api/papers/{key}/compute first")
    return found


@api.post("/{key}/compute")
def compute(key: Key, house: StateDep, who: VisitorDep) -> Job:
    """Begin to compute a paper again; the job tells when it is done."""
    return _begun(key, house, who)


@api.get("/{key}/figures/{number}")
def figure(key: Key, number: Number, settings: SettingsDep) -> Chart:
    """The picture of one item of a paper."""
    found = report_cache.item_chart(report_cache.report_path(settings.state, key), number)
    if found is None:
        raise Refusal(404, "number must be that of an item with a picture, got another: see the report")
    return found


def _begun(key: str, house: AppState, who: Visitor) -> Job:
    arguments = {"key": key, "place": str(report_cache.report_path(house.settings.state, key))}
    work = "utmost.studio.papers.tasks:compute"
    return house.jobs.begin(who.name, f"{key}, computed again", work, arguments, page=f"/papers/{key}")


def _paper(settings: SettingsDep, key: str, title: str) -> Paper:
    found = report_cache.read_report(report_cache.report_path(settings.state, key))
    if found is None:
        return Paper(key=key, title=title, computed=False, agree=None, compared=None, errata=None)
    agree, compared = found.score
    return Paper(key=key, title=title, computed=True, agree=agree, compared=compared, errata=len(found.errata))
