"""The curator's pages as JSON, and what they share: the offers of one studio, the form that was posted."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Query
from fastapi import Path as InPath
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request

from utmost.errors import InputError
from utmost.publish import execute, plans
from utmost.reports.preview import describe as describe_preview
from utmost.studio import data_folder
from utmost.studio.background import end_timer, start_timer
from utmost.studio.charts import Chart
from utmost.studio.curator import budgets, draft_preview, plan_builder, plan_drafts, release_view, tables
from utmost.studio.curator.budgets import BudgetView, HistoryView, NewBudget
from utmost.studio.curator.forms import PlanDraft
from utmost.studio.curator.release_offers import AcceptedOffer, Offer, Outcome
from utmost.studio.curator.spending import SpendingService
from utmost.studio.data_folder import ReleaseFile
from utmost.studio.forms import Problem, Refusal, errors_for_field
from utmost.studio.settings import MAX_FORM_FIELDS, Settings
from utmost.studio.state import SettingsDep, VisitorDep
from utmost.studio.visitors import Visitor

WARM_UP_DELAY_SECONDS = 0.3  # seconds after the first page, which comes first
FormPairs: TypeAlias = list[tuple[str, str]]
_CREATION_LOCK = threading.Lock()


def _spending_service(request: Request) -> SpendingService:
    """The one spending service of this application, made when it is first needed."""
    storage, state = request.app.state, request.state.app_state
    with _CREATION_LOCK:
        if not hasattr(storage, "spending"):
            storage.spending = SpendingService(state.settings, state.metrics)
            state.cleanup.callback(_end_spending, storage)
            state.cleanup.callback(tables.COUNT_THREADS.wait)
            state.cleanup.callback(end_timer, start_timer(WARM_UP_DELAY_SECONDS, _warm_up, state.settings))
    spending: SpendingService = storage.spending
    return spending


def _end_spending(storage: Any) -> None:
    """Wait for what is being spent; an application that is served again makes a new service."""
    storage.spending.close()
    del storage.spending


def _warm_up(settings: Settings) -> None:
    """Load the engine and the charts before somebody waits for them."""
    from utmost.studio.curator import draft_preview
    from utmost.studio.curator.plan_drafts import blank_draft

    with suppress(Exception):
        draft_preview.preview_draft(blank_draft(tables.source_view(settings, "bundled:anes96")), settings)


async def _form_pairs(request: Request) -> FormPairs:
    try:
        async with request.form(max_files=0, max_fields=MAX_FORM_FIELDS) as form:
            return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    except HTTPException:
        raise Refusal(400, "a form must be one that this page sends, got another: reload the page") from None


def offer_owner(visitor: Visitor) -> str:
    """Whose offers these are: a session's, or a token's where no browser is at work."""
    return visitor.session or f"token of {visitor.name}"


def charging_name(visitor: Visitor, settings: Settings) -> str | None:
    """Who the ledger says has charged: the name of a team's token; None, the system's user, in a studio of one."""
    return None if settings.tokens is None else visitor.name


SpendingDep = Annotated[SpendingService, Depends(_spending_service)]
PostedForm = Annotated[FormPairs, Depends(_form_pairs)]


EXAMPLE_FILE = "example"
MAX_LISTED_RELEASES = 8
CONFLICT_RESPONSES: Any = {
    409: {"model": Problem, "description": "the budget is short, or what was shown no longer holds"}
}

api = APIRouter(prefix="/api/curator", tags=["curator"])

Location = Annotated[str, Query(max_length=300, description="A file of the folder, or bundled:anes96")]
TableName = Annotated[str, Query(max_length=300, description="Which table of a database")]
File = Annotated[str, Query(max_length=300, description="A plan of the folder, or example")]
Key = Annotated[str, InPath(max_length=100)]
OfferKey = Annotated[str, Query(max_length=100, description="A plan that was offered")]
Name = Annotated[str, Query(max_length=100, description="The budget")]
ReleaseName = Annotated[str, InPath(max_length=300, examples=["survey-1.release.json"])]
ReleaseQuery = Annotated[str, Query(max_length=300, description="A release whose plan is asked again")]


class Overview(BaseModel):
    """Tables, plans, budgets and the latest releases."""

    sources: list[str]
    public: list[str] = Field(description="Public tables that columns may be looked up in")
    plans: list[str]
    budgets: list[BudgetView]
    releases: list[ReleaseFile]


class PlanText(BaseModel):
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
        public=data_folder.list_public_tables(settings),
        plans=data_folder.list_files(settings.folder, (".toml",)),
        budgets=budgets.budget_views(settings),
        releases=data_folder.list_releases(settings)[:MAX_LISTED_RELEASES],
    )


@api.get("/source")
def source(settings: SettingsDep, location: Location = "bundled:anes96", table: TableName = "") -> tables.SourceView:
    """The columns of a table and their kinds; never a value."""
    return tables.source_view(settings, location, table or None)


@api.get("/draft")
def draft(
    settings: SettingsDep,
    spending: SpendingDep,
    visitor: VisitorDep,
    location: Location = "bundled:anes96",
    table: TableName = "",
    file: File = "",
    key: OfferKey = "",
    release: ReleaseQuery = "",
) -> PlanDraft:
    """The form to begin with: about a table, or filled in with a plan of the folder, an offer or a release."""
    if key:
        return _draft_from_text(spending.find(offer_owner(visitor), key).plan, settings)
    if release:
        text = spending.plan_text(release)
        if text is None:
            raise InputError("release must be one whose plan is kept here, got another: open its plan", "release")
        return _draft_from_text(text, settings)
    if file:
        return _draft_from_text(_plan_text(file, settings), settings)
    view = tables.source_view(settings, location, table or None)
    if not view.columns:
        raise InputError(f"table must be one of {', '.join(view.tables[:20])}: name one", "table")
    row_budgets = [
        budget_view.name
        for budget_view in budgets.budget_views(settings)
        if (budget_view.unit, budget_view.neighbours) == ("row", "replace")
    ]
    return plan_drafts.blank_draft(view, row_budgets[0] if row_budgets else "")


def _plan_text(file: str, settings: Settings) -> str:
    """A plan of the folder, or the example that comes with utmost."""
    if file == EXAMPLE_FILE:
        from importlib.resources import files as resources

        return resources("utmost.data").joinpath("survey.toml").read_text(encoding="utf-8")
    with errors_for_field("file"):
        return _read_plan_file(data_folder.path_in_folder(settings.folder, file, (".toml",)))


def _read_plan_file(path: Path) -> str:
    with path.open("rb") as stream:
        content = stream.read(plans.MAX_PLAN_BYTES + 1)
    if len(content) > plans.MAX_PLAN_BYTES:
        raise InputError(f"plan must be at most {plans.MAX_PLAN_BYTES >> 20} MiB, got a larger file", "file")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("plan must be UTF-8 text, got other bytes", "file") from None


def _draft_from_text(text: str, settings: Settings) -> PlanDraft:
    plan = plan_builder.accept_plan(text, settings)
    source = plan.source
    return plan_drafts.draft_from_plan(plan, tables.source_view(settings, source.location, source.table))


@api.post("/draft")
def draft_seen(settings: SettingsDep, form: PlanDraft) -> draft_preview.PlanPreview:
    """Preview a draft: its plan, its cost, the error of each query, and what is wrong. Nothing is spent."""
    return draft_preview.preview_draft(form, settings)


@api.post("/preview", responses=CONFLICT_RESPONSES)
def preview(settings: SettingsDep, document: PlanText) -> dict[str, Any]:
    """What a plan would cost and how good its answers would be, as utmost release --dry-run --json prints it."""
    plan = plan_builder.accept_plan(document.plan, settings)
    with plan_builder.errors_for_plan():
        return describe_preview(execute.preview(replace(plan, ledger=settings.ledger))).json


@api.get("/budgets")
def all_budgets(settings: SettingsDep) -> Budgets:
    """All budgets, and what is left of each."""
    return Budgets(budgets=budgets.budget_views(settings))


@api.post("/budgets", status_code=201)
def open_budget(settings: SettingsDep, new_budget: NewBudget) -> BudgetView:
    """Open a budget. The first one makes the ledger."""
    return budgets.open_budget_view(settings, new_budget)


@api.get("/budget")
def budget(settings: SettingsDep, name: Name) -> HistoryView:
    """A budget with everything that was charged to it."""
    with errors_for_field("name"):
        return budgets.budget_history(settings, name)


@api.post("/offers", status_code=201, responses=CONFLICT_RESPONSES)
def offer(spending: SpendingDep, settings: SettingsDep, visitor: VisitorDep, document: PlanText) -> Offer:
    """Offer a plan at its cost. Nothing is spent until the offer is accepted at /api/curator/releases."""
    with plan_builder.errors_for_plan():
        return spending.offer(offer_owner(visitor), plan_builder.accept_plan(document.plan, settings))


@api.get("/offers/{key}", name="offered")
def offer_by_key(spending: SpendingDep, visitor: VisitorDep, key: Key) -> Offer:
    """One of your offers."""
    return spending.find(offer_owner(visitor), key)


@api.get("/offers/{key}/outcome")
def outcome(spending: SpendingDep, visitor: VisitorDep, key: Key) -> Outcome:
    """The outcome of one of your offers."""
    return spending.outcome(offer_owner(visitor), key)


@api.post("/releases", responses=CONFLICT_RESPONSES)
def accept(spending: SpendingDep, settings: SettingsDep, visitor: VisitorDep, confirmation: AcceptedOffer) -> Outcome:
    """Accept an offer: its cost is charged, once, and its release is made. Sent again, it gives the same release."""
    return spending.accept(offer_owner(visitor), confirmation, charging_name(visitor, settings))


@api.get("/releases/{file}")
def release(settings: SettingsDep, spending: SpendingDep, file: ReleaseName) -> release_view.ReleaseView:
    """A release with its answers and pictures."""
    with errors_for_field("file"):
        return release_view.release_view(settings, file, spending.plan_text(file))


@api.get("/releases/{file}/pictures/{number}")
def picture(settings: SettingsDep, file: ReleaseName, number: Annotated[int, InPath(ge=0, le=999)]) -> Chart:
    """The picture of one answer of a release, by its index."""
    return release_view.answer_chart(settings, file, number)
