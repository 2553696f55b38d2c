"""The curator's pages as JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as InPath
from pydantic import BaseModel, Field

from utmost.publish import execute, plans
from utmost.publish import preview as previewed
from utmost.studio import data_folder
from utmost.studio.charts import Chart
from utmost.studio.curator import budgets, draft_preview, plan_builder, release_view, reopening, tables
from utmost.studio.curator.budgets import BudgetView, HistoryView, NewBudget
from utmost.studio.curator.dependencies import SpendingDep, offer_owner
from utmost.studio.curator.forms import PlanDraft
from utmost.studio.curator.offers import AcceptedOffer, Offer, Outcome
from utmost.studio.data_folder import ReleaseFile
from utmost.studio.form_errors import FieldError, Problem, errors_for_field
from utmost.studio.settings import Settings
from utmost.studio.state import SettingsDep, VisitorDep

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

    plan: str = Field(max_length=plans.MAX_PLAN_BYTES)


class Budgets(BaseModel):
    """All budgets of the ledger."""

    budgets: list[BudgetView]


@api.get("")
def overview(settings: SettingsDep) -> Overview:
    """Tables, plans, budgets and the latest releases."""
    return Overview(
        sources=tables.list_locations(settings),
        plans=data_folder.list_files(settings.folder, (".toml",)),
        budgets=budgets.budget_views(settings),
        releases=data_folder.list_releases(settings)[:MOST_RELEASES],
    )


@api.get("/source")
def source(settings: SettingsDep, location: Location = "bundled:anes96", table: TableName = "") -> tables.SourceView:
    """The columns of a table and their kinds; never a value."""
    return tables.source_view(settings, location, table or None)


@api.get("/draft")
def draft(
    settings: SettingsDep,
    spends: SpendingDep,
    who: VisitorDep,
    location: Location = "bundled:anes96",
    table: TableName = "",
    file: File = "",
    key: OfferKey = "",
    release: ReleaseOf = "",
) -> PlanDraft:
    """The form to begin with: about a table, or filled in with a plan of the folder, an offer or a release."""
    if key:
        return _reopened(spends.find(offer_owner(who), key).plan, settings)
    if release:
        text = spends.plan_of(release)
        if text is None:
            raise FieldError("release", "release must be one whose plan is kept here, got another: open its plan")
        return _reopened(text, settings)
    if file:
        return _reopened(_text(file, settings), settings)
    view = tables.source_view(settings, location, table or None)
    if not view.columns:
        raise FieldError("table", f"table must be one of {', '.join(view.tables[:20])}: name one")
    open_ones = [one.name for one in budgets.budget_views(settings) if (one.unit, one.neighbours) == ("row", "replace")]
    return reopening.blank_draft(view, open_ones[0] if open_ones else "")


def _text(file: str, settings: Settings) -> str:
    """A plan of the folder, or the example that comes with utmost."""
    if file == EXAMPLE:
        from importlib.resources import files as resources

        return resources("utmost.data").joinpath("survey.toml").read_text(encoding="utf-8")
    with errors_for_field("file"):
        return _read(data_folder.path_in_folder(settings.folder, file, (".toml",)))


def _read(path: Path) -> str:
    with path.open("rb") as stream:
        raw = stream.read(plans.MAX_PLAN_BYTES + 1)
    if len(raw) > plans.MAX_PLAN_BYTES:
        raise FieldError("file", f"plan must be at most {plans.MAX_PLAN_BYTES >> 20} MiB, got a larger file")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise FieldError("file", "plan must be UTF-8 text, got other bytes") from None


def _reopened(text: str, settings: Settings) -> PlanDraft:
    plan = plan_builder.accept_plan(text, settings)
    where = plan.source
    return reopening.draft_from_plan(plan, tables.source_view(settings, where.location, where.table))


@api.post("/draft")
def draft_seen(settings: SettingsDep, sent: PlanDraft) -> draft_preview.PlanPreview:
    """A draft seen through: its plan, its cost, the error of each query, and what is wrong. Nothing is spent."""
    return draft_preview.preview_draft(sent, settings)


@api.post("/preview", responses=CONFLICT)
def preview(settings: SettingsDep, sent: Text) -> dict[str, Any]:
    """What a plan would cost and how good its answers would be, as utmost release --dry-run --json prints it."""
    plan = plan_builder.accept_plan(sent.plan, settings)
    with plan_builder.errors_for_plan():
        return previewed.preview_content(execute.preview(replace(plan, ledger=settings.ledger)))


@api.get("/budgets")
def all_budgets(settings: SettingsDep) -> Budgets:
    """All budgets, and what is left of each."""
    return Budgets(budgets=budgets.budget_views(settings))


@api.post("/budgets", status_code=201)
def open_budget(settings: SettingsDep, sent: NewBudget) -> BudgetView:
    """Open a budget. The first one makes the ledger."""
    return budgets.open_budget_view(settings, sent)


@api.get("/budget")
def budget(settings: SettingsDep, name: Name) -> HistoryView:
    """A budget with everything that was charged to it."""
    with errors_for_field("name"):
        return budgets.budget_history(settings, name)


@api.post("/offers", status_code=201, responses=CONFLICT)
def offer(spends: SpendingDep, settings: SettingsDep, who: VisitorDep, sent: Text) -> Offer:
    """Offer a plan at its cost. Nothing is spent until the offer is accepted at /api/curator/releases."""
    with plan_builder.errors_for_plan():
        return spends.offer(offer_owner(who), plan_builder.accept_plan(sent.plan, settings))


@api.get("/offers/{key}")
def offered(spends: SpendingDep, who: VisitorDep, key: Key) -> Offer:
    """An offer of yours."""
    return spends.find(offer_owner(who), key)


@api.get("/offers/{key}/outcome")
def outcome(spends: SpendingDep, who: VisitorDep, key: Key) -> Outcome:
    """What became of an offer of yours."""
    return spends.outcome(offer_owner(who), key)


@api.post("/releases", responses=CONFLICT)
def accept(spends: SpendingDep, who: VisitorDep, sent: AcceptedOffer) -> Outcome:
    """Accept an offer: its cost is charged, once, and its release is made. Sent again, it gives the same release."""
    return spends.accept(offer_owner(who), sent)


@api.get("/releases/{file}")
def release(settings: SettingsDep, spends: SpendingDep, file: ReleaseName) -> release_view.ReleaseView:
    """A release with its answers and pictures."""
    with errors_for_field("file"):
        return release_view.release_view(settings, file, spends.plan_of(file))


@api.get("/releases/{file}/pictures/{number}")
def picture(settings: SettingsDep, file: ReleaseName, number: Annotated[int, InPath(ge=0, le=999)]) -> Chart:
    """The picture of one answer of a release, by its place."""
    with errors_for_field("file"):
        return release_view.answer_chart(settings, file, number)
