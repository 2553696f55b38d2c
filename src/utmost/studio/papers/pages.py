"""The papers: what each gives, and all its tables and figures, published beside computed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field
from starlette.requests import Request

from utmost.papers import KEYS, SOURCE_TEXT
from utmost.studio.charts import Chart
from utmost.studio.forms import Refusal
from utmost.studio.jobs import Job
from utmost.studio.papers import tasks
from utmost.studio.rendering import render_page
from utmost.studio.state import AppState, SettingsDep, StateDep, VisitorDep
from utmost.studio.visitors import Visitor

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
    return render_page(request, "papers/overview.html", json_address="/api/papers", overview=overview(settings))


@pages.get("/{key}")
def paper_page(request: Request, key: Key, settings: SettingsDep) -> HTMLResponse:
    """One paper: its report, or the button that computes it."""
    report = tasks.read_report(tasks.report_path(settings.state_folder, key))
    return render_page(
        request,
        "papers/paper.html",
        json_address=f"/api/papers/{key}",
        key=key,
        name=KEYS[key],
        report=report,
        source=SOURCE_TEXT,
    )


@pages.post("/{key}/compute")
def compute_page(key: Key, state: StateDep, visitor: VisitorDep) -> RedirectResponse:
    """Compute a paper again, and show how far it is."""
    return RedirectResponse(f"/jobs/{_begin_job(key, state, visitor).id}", status_code=303)


@api.get("")
def overview(settings: SettingsDep) -> Overview:
    """The papers, and how much of each agrees once it has been computed again."""
    return Overview(papers=[_paper_summary(settings, key, title) for key, title in KEYS.items()])


@api.get("/{key}")
def paper(key: Key, settings: SettingsDep) -> tasks.Report:
    """A paper's tables, published beside computed, with its errata; compute it first."""
    report = tasks.read_report(tasks.report_path(settings.state_folder, key))
    if report is None:
        raise Refusal(404, f"{key} has not been computed here yet: post to /api/papers/{key}/compute first")
    return report


@api.post("/{key}/compute")
def compute(key: Key, state: StateDep, visitor: VisitorDep) -> Job:
    """Begin to compute a paper again; the job reports when it is done."""
    return _begin_job(key, state, visitor)


@api.get("/{key}/figures/{number}")
def figure(key: Key, number: Number, settings: SettingsDep) -> Chart:
    """The picture of one item of a paper."""
    chart = tasks.item_chart(tasks.report_path(settings.state_folder, key), number)
    if chart is None:
        raise Refusal(404, "number must be that of an item with a picture, got another: see the report")
    return chart


def _begin_job(key: str, state: AppState, visitor: Visitor) -> Job:
    arguments = {"key": key, "place": str(tasks.report_path(state.settings.state_folder, key))}
    work = "utmost.studio.papers.tasks:compute"
    return state.jobs.begin(visitor.name, f"{key}, computed again", work, arguments, page=f"/papers/{key}")


def _paper_summary(settings: SettingsDep, key: str, title: str) -> Paper:
    report = tasks.read_report(tasks.report_path(settings.state_folder, key))
    if report is None:
        return Paper(key=key, title=title, computed=False, agree=None, compared=None, errata=None)
    agree, compared = report.score
    return Paper(key=key, title=title, computed=True, agree=agree, compared=compared, errata=len(report.errata))
