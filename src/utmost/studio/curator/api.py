"""The curator's pages as JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as InPath
from pydantic import BaseModel, Field

from utmost.publish import plans, previewed, run
from utmost.studio import files
from utmost.studio.charts import Picture
from utmost.studio.curator import answers, budgets, looking, planning, reopening, shelf
from utmost.studio.curator.budgets import BudgetView, HistoryView, NewBudget
from utmost.studio.curator.desk import At, owner
from utmost.studio.curator.drafts import Draft
from utmost.studio.curator.offers import Accepted, Offer, Outcome
from utmost.studio.files import ReleaseFile
from utmost.studio.house import Who, With
from utmost.studio.problems import FieldError, Problem, about
from utmost.studio.settings import Settings

EXAMPLE = "example"
MOST_RELEASES = 8
CONFLICT: Any = {409: {"model": Problem, "description": "the budget is short, or what was shown no longer holds"}}

api = APIRouter(prefix="/api/curator", tags=["curator"])

Location = Annotated[str, Query(max_length=300, description="A file of the folder, or bundled:anes96")]
TableName = Annotated[str, Query(max_length=300, description="Which table of a database")]
File = Annotated[str, Query(max_length=300, description="A plan of the folder, or example")]
Key = Annotated[str, InPath(max_length=100)]
OfferKey = Annotated[str, Query(max_length=100, description="A plan that was offered")]
Name = Annotated[str, Query(max_length=100, description="The budget")]
ReleaseName = Annotated[str, InPath(max_length=300, examples=["survey-1.release.json"])]
ReleaseOf = Annotated[str, Query(max_length=300, description="A release whose plan is asked again")]


class Overview(BaseModel):
    """What there is: tables to ask, plans to open, budgets to charge, the latest releases."""

    sources: list[str]
    plans: list[str]
    budgets: list[BudgetView]
    releases: list[ReleaseFile]


class Text(BaseModel):
    """A plan as TOML."""

    plan: str = Field(max_length=plans.LARGEST)


class Budgets(BaseModel):
    """All budgets of the ledger."""

    budgets: list[BudgetView]


@api.get("")
def overview(settings: With) -> Overview:
    """Tables, plans, budgets and the latest releases."""
    return Overview(
        sources=shelf.locations(settings),
        plans=files.listed(settings.folder, (".toml",)),
        budgets=budgets.views(settings),
        releases=files.releases(settings)[:MOST_RELEASES],
    )


@api.get("/source")
def source(settings: With, location: Location = "bundled:anes96", table: TableName = "") -> shelf.SourceView:
    """The columns of a table and their kinds; never a value."""
    return shelf.view(settings, location, table or None)


@api.get("/draft")
def draft(
    settings: With,
    spends: At,
    who: Who,
    location: Location = "bundled:anes96",
    table: TableName = "",
    file: File = "",
    key: OfferKey = "",
    release: ReleaseOf = "",
) -> Draft:
    """The form to begin with: about a table, or filled in with a plan of the folder, an offer or a release."""
    if key:
        return _reopened(spends.find(owner(who), key).plan, settings)
    if release:
        text = spends.plan_of(release)
        if text is None:
            raise FieldError("release", "release must be one whose plan is kept here, got another: open its plan")
        return _reopened(text, settings)
    if file:
        return _reopened(_text(file, settings), settings)
    view = shelf.view(settings, location, table or None)
    if not view.columns:
        raise FieldError("table", f"table must be one of {', '.join(view.tables[:20])}: name one")
    open_ones = [one.name for one in budgets.views(settings) if (one.unit, one.neighbours) == ("row", "replace")]
    return reopening.blank(view, open_ones[0] if open_ones else "")


def _text(file: str, settings: Settings) -> str:
    """A plan of the folder, or the example that comes with utmost."""
    if file == EXAMPLE:
        from importlib.resources import files as resources

        return resources("utmost.data").joinpath("survey.toml").read_text(encoding="utf-8")
    with about("file"):
        return _read(files.inside(settings.folder, file, (".toml",)))


def _read(path: Path) -> str:
    with path.open("rb") as stream:
        raw = stream.read(plans.LARGEST + 1)
    if len(raw) > plans.LARGEST:
        raise FieldError("file", f"plan must be at most {plans.LARGEST >> 20} MiB, got a larger file")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise FieldError("file", "plan must be UTF-8 text, got other bytes") from None


def _reopened(text: str, settings: Settings) -> Draft:
    plan = planning.accepted(text, settings)
    where = plan.source
    return reopening.draft_of(plan, shelf.view(settings, where.location, where.table))


@api.post("/draft")
def draft_seen(settings: With, sent: Draft) -> looking.Seen:
    """A draft seen through: its plan, its cost, the error of each query, and what is wrong. Nothing is spent."""
    return looking.seen(sent, settings)


@api.post("/preview", responses=CONFLICT)
def preview(settings: With, sent: Text) -> dict[str, Any]:
    """What a plan would cost and how good its answers would be, as utmost release --dry-run --json prints it."""
    plan = planning.accepted(sent.plan, settings)
    with planning.about_plan():
        return previewed.content(run.preview(replace(plan, ledger=settings.ledger)))


@api.get("/budgets")
def all_budgets(settings: With) -> Budgets:
    """All budgets, and what is left of each."""
    return Budgets(budgets=budgets.views(settings))


@api.post("/budgets", status_code=201)
def open_budget(settings: With, sent: NewBudget) -> BudgetView:
    """Open a budget. The first one makes the ledger."""
    return budgets.opened(settings, sent)


@api.get("/budget")
def budget(settings: With, name: Name) -> HistoryView:
    """A budget with everything that was charged to it."""
    with about("name"):
        return budgets.history(settings, name)


@api.post("/offers", status_code=201, responses=CONFLICT)
def offer(spends: At, settings: With, who: Who, sent: Text) -> Offer:
    """Offer a plan at its cost. Nothing is spent until the offer is accepted at /api/curator/releases."""
    with planning.about_plan():
        return spends.offer(owner(who), planning.accepted(sent.plan, settings))


@api.get("/offers/{key}")
def offered(spends: At, who: Who, key: Key) -> Offer:
    """An offer of yours."""
    return spends.find(owner(who), key)


@api.get("/offers/{key}/outcome")
def outcome(spends: At, who: Who, key: Key) -> Outcome:
    """What became of an offer of yours."""
    return spends.outcome(owner(who), key)


@api.post("/releases", responses=CONFLICT)
def accept(spends: At, who: Who, sent: Accepted) -> Outcome:
    """Accept an offer: its cost is charged, once, and its release is made. Sent again, it gives the same release."""
    return spends.accept(owner(who), sent)


@api.get("/releases/{file}")
def release(settings: With, spends: At, file: ReleaseName) -> answers.ReleaseView:
    """A release with its answers and pictures."""
    with about("file"):
        return answers.view(settings, file, spends.plan_of(file))


@api.get("/releases/{file}/pictures/{number}")
def picture(settings: With, file: ReleaseName, number: Annotated[int, InPath(ge=0, le=999)]) -> Picture:
    """The picture of one answer of a release, by its place."""
    with about("file"):
        return answers.picture(settings, file, number)
