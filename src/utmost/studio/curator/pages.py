"""The curator's pages: tables, the form of a plan, the confirmation, the release, the ledger."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated, Any

from fastapi import APIRouter, Form
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.requests import Request
from starlette.responses import Response

from utmost.data.engines.schema import ColumnKind
from utmost.errors import InputError
from utmost.publish import plans
from utmost.queries import registry
from utmost.studio import data_folder
from utmost.studio.curator import api, budgets, draft_preview, plan_builder, tables
from utmost.studio.curator.api import FormPairs, PostedForm, SpendingDep, charging_name, offer_owner
from utmost.studio.curator.budgets import NewBudget
from utmost.studio.curator.forms import MAX_QUERIES, PlanDraft, QueryDraft, parse_form
from utmost.studio.curator.release_offers import AcceptedOffer
from utmost.studio.curator.spending import SpendingService
from utmost.studio.forms import Problem, Refusal, problem_from_error
from utmost.studio.rendering import render_page
from utmost.studio.settings import Settings
from utmost.studio.state import SettingsDep, VisitorDep
from utmost.studio.visitors import Visitor

FIRST_QUERY = QueryDraft(name="first count", epsilon="0.1")
NO_BUDGET = Problem(field="budget", message="budget must be chosen: it is what the release is charged to")
pages = APIRouter(include_in_schema=False, prefix="/curator")


@pages.get("")
def overview_page(request: Request, settings: SettingsDep, spending: SpendingDep) -> HTMLResponse:
    """Tables, plans, budgets and releases."""
    return render_page(request, "curator/overview.html", json_address="/api/curator", overview=api.overview(settings))


@pages.get("/source")
def source_page(
    request: Request, settings: SettingsDep, location: api.Location = "bundled:anes96", table: api.TableName = ""
) -> HTMLResponse:
    """The columns of one table."""
    source = api.source(settings, location, table)
    json_address = _add_page_query("/api/curator/source", request)
    return render_page(
        request, "curator/source.html", json_address=json_address, source=source, query_kinds=_query_kinds
    )


def _query_kinds(column_kind: str) -> str:
    """The kinds of queries that a column can be used in, as the page lists them."""
    return ", ".join(f"{name}s" for name in registry.kinds_of_column(ColumnKind(column_kind))) or "nothing"


@pages.get("/plan")
def plan_page(
    request: Request,
    settings: SettingsDep,
    spending: SpendingDep,
    visitor: VisitorDep,
    location: api.Location = "bundled:anes96",
    table: api.TableName = "",
    file: api.File = "",
    key: api.OfferKey = "",
    release: api.ReleaseQuery = "",
) -> HTMLResponse:
    """The form, blank or filled in with a plan."""
    draft = api.draft(settings, spending, visitor, location, table, file, key, release)
    is_blank = not (file or key or release)
    if is_blank:
        draft = draft.model_copy(update={"queries": [FIRST_QUERY]})
    return _plan_form_page(request, settings, draft, [], quiet=is_blank)


@pages.post("/plan")
def post_plan(
    request: Request, settings: SettingsDep, spending: SpendingDep, visitor: VisitorDep, pairs: PostedForm
) -> Response:
    """What one of the form's buttons asks for."""
    fields, draft = dict(pairs), parse_form(pairs)
    match fields.get("do", "look").partition(" "):
        case ("add", _, _) if len(draft.queries) < MAX_QUERIES:
            draft.queries.append(QueryDraft(name=f"query {len(draft.queries) + 1}"))
        case ("remove", _, number) if number.isdigit() and int(number) < len(draft.queries) > 1:
            del draft.queries[int(number)]
        case ("open", _, _):
            return _open_budget(request, settings, draft, fields)
        case ("download", _, _):
            return _download_plan(request, settings, draft)
        case ("review", _, _):
            return _offer_plan(request, settings, spending, visitor, draft)
    return _plan_form_page(request, settings, draft, [])


def _plan_form_page(
    request: Request, settings: Settings, draft: PlanDraft, problems: list[Problem], *, quiet: bool = False, **data: Any
) -> HTMLResponse:
    """The form, with what is known about its draft. With `quiet`, no error is shown before the first change."""
    preview = draft_preview.preview_draft(draft, settings)
    shown_problems = [*problems, *([] if quiet else preview.problems)]
    return render_page(
        request,
        "curator/plan.html",
        status=422 if problems else 200,
        json_address=_add_page_query("/api/curator/draft", request) if request.method == "GET" else "",
        draft=draft,
        preview=preview,
        source=tables.source_view(settings, draft.location, draft.table or None),
        budgets=budgets.budget_views(settings),
        kind_names=list(registry.QUERY_KINDS),
        query_fields=list(registry.query_fields().values()),
        kinds_with_field=registry.kinds_with_field,
        errors=defaultdict(str, {problem.field or "": problem.message for problem in reversed(shown_problems)}),
        quiet=quiet or bool(problems),  # the problems shown stay until something changes
        **{"new_name": "", "new_epsilon": "1", **data},
    )


def _open_budget(request: Request, settings: Settings, draft: PlanDraft, fields: dict[str, str]) -> HTMLResponse:
    """Open the budget that the form names, for whom the draft protects; and the form again."""
    name, epsilon = fields.get("new_name", "")[:100], fields.get("new_epsilon", "")[:1000]
    unit = "row" if draft.protects == "row" else draft.person
    try:
        new_budget = NewBudget(name=name, epsilon=epsilon, unit=unit, neighbours=draft.neighbours)
        draft = draft.model_copy(update={"budget": budgets.open_budget_view(settings, new_budget).name})
    except InputError as error:
        field = "new_epsilon" if error.field == "epsilon" else "new_name"
        return _plan_form_page(
            request, settings, draft, [Problem(field=field, message=str(error))], new_name=name, new_epsilon=epsilon
        )
    return _plan_form_page(request, settings, draft, [])


def _download_plan(request: Request, settings: Settings, draft: PlanDraft) -> Response:
    """The plan as a file, once it is one; its budget need not be open yet."""
    preview = draft_preview.preview_draft(draft, settings)
    if preview.plan is None or not preview.budget:
        return _plan_form_page(request, settings, draft, preview.problems or [NO_BUDGET])
    return _attachment(preview.plan, "plan.toml")


def _offer_plan(
    request: Request, settings: Settings, spending: SpendingService, visitor: Visitor, draft: PlanDraft
) -> Response:
    """Lead to the confirmation, if there is nothing left to mend."""
    preview = draft_preview.preview_draft(draft, settings)
    if preview.plan is None or preview.problems or not preview.budget:
        return _plan_form_page(request, settings, draft, preview.problems or [NO_BUDGET])
    try:
        offer = spending.offer(offer_owner(visitor), plan_builder.accept_plan(preview.plan, settings))
    except InputError as error:
        return _plan_form_page(request, settings, draft, [problem_from_error(error, ["budget", "location"])])
    return RedirectResponse(f"/curator/confirm/{offer.key}", status_code=303)


@pages.get("/confirm/{key}")
def confirm_page(request: Request, spending: SpendingDep, visitor: VisitorDep, key: api.Key) -> Response:
    """The plan, what it costs, and the one click that spends it."""
    offer, outcome = spending.find(offer_owner(visitor), key), spending.outcome(offer_owner(visitor), key)
    if outcome.state == "done":
        return _redirect_to_release(outcome.file or "")
    data: dict[str, Any] = {"offer": offer, "outcome": outcome}
    return render_page(request, "curator/confirm.html", json_address=f"/api/curator/offers/{key}", **data)


@pages.post("/spend")
def post_spend(
    spending: SpendingDep,
    settings: SettingsDep,
    visitor: VisitorDep,
    key: Annotated[str, Form(max_length=100)],
    plan: Annotated[str, Form(max_length=plans.MAX_PLAN_BYTES * 2)],
    cost: Annotated[str, Form(max_length=200)],
    takes: Annotated[str, Form(max_length=200)],
) -> Response:
    """Accept an offer, and lead to its release."""
    text = plan.replace("\r\n", "\n")[: plans.MAX_PLAN_BYTES]
    confirmation = AcceptedOffer(key=key, plan=text, cost=cost, takes=takes)
    outcome = spending.accept(offer_owner(visitor), confirmation, charging_name(visitor, settings))
    if outcome.state == "done":
        return _redirect_to_release(outcome.file or "")
    return RedirectResponse(f"/curator/confirm/{outcome.key}", status_code=303)


def _redirect_to_release(file: str) -> RedirectResponse:
    return RedirectResponse(f"/curator/releases/{file}", status_code=303)


@pages.get("/offers/{key}/plan.toml")
def offer_plan(spending: SpendingDep, visitor: VisitorDep, key: api.Key) -> Response:
    """The plan of an offer, to be run by utmost release."""
    return _attachment(spending.find(offer_owner(visitor), key).plan, "plan.toml")


@pages.get("/releases/{file}")
def release_page(request: Request, settings: SettingsDep, spending: SpendingDep, file: api.ReleaseName) -> HTMLResponse:
    """The answers of a release."""
    release = api.release(settings, spending, file)
    return render_page(
        request, "curator/release.html", json_address=f"/api/curator/releases/{release.file}", release=release
    )


@pages.get("/releases/{file}/download")
def release_file(settings: SettingsDep, file: api.ReleaseName) -> FileResponse:
    """The release, as utmost estimate reads it."""
    path = data_folder.release_path(settings, file)
    return FileResponse(path, media_type="application/json", filename=path.name)


@pages.get("/releases/{file}/plan.toml")
def release_plan(spending: SpendingDep, file: api.ReleaseName) -> Response:
    """The plan of a release that was made here."""
    text = spending.plan_text(file)
    if text is None:
        raise Refusal(404, "release must be one that was made here, got another: its plan is not known")
    return _attachment(text, f"{file.removesuffix(data_folder.RELEASE_SUFFIX)}.toml")


def _attachment(text: str, name: str) -> Response:
    return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'})


@pages.get("/budgets")
def budgets_page(request: Request, settings: SettingsDep) -> HTMLResponse:
    """All budgets, and the form that opens one."""
    return _budgets_page(request, settings, NewBudget(name="", epsilon="1"), None)


@pages.post("/budgets")
def post_budget(request: Request, settings: SettingsDep, pairs: PostedForm) -> Response:
    """Open a budget."""
    new_budget = _parse_new_budget(pairs)
    try:
        budget = budgets.open_budget_view(settings, new_budget)
    except InputError as error:
        return _budgets_page(request, settings, new_budget, Problem(field=error.field, message=str(error)))
    from urllib.parse import urlencode

    return RedirectResponse(f"/curator/budget?{urlencode({'name': budget.name})}", status_code=303)


def _parse_new_budget(pairs: FormPairs) -> NewBudget:
    """The budget in the form's fields."""
    from pydantic import ValidationError

    fields = {name: value for name, value in pairs if name in NewBudget.model_fields}
    try:
        return NewBudget.model_validate({"name": "", "epsilon": "", **fields, "remember": "remember" in fields})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputError(f"{first['loc'][0]}: {first['msg']}", str(first["loc"][0])) from None


def _budgets_page(request: Request, settings: Settings, new_budget: NewBudget, problem: Problem | None) -> HTMLResponse:
    data: dict[str, Any] = {"budgets": budgets.budget_views(settings), "new_budget": new_budget}
    data["compositions"] = budgets.composition_choices()
    return render_page(request, "curator/budgets.html", json_address="/api/curator/budgets", problem=problem, **data)


@pages.get("/budget")
def budget_page(request: Request, settings: SettingsDep, name: api.Name) -> HTMLResponse:
    """One budget and its history."""
    history = api.budget(settings, name)
    return render_page(
        request, "curator/budget.html", json_address=_add_page_query("/api/curator/budget", request), history=history
    )


def _add_page_query(path: str, request: Request) -> str:
    """The address with this page's own parameters."""
    query = request.url.query
    return f"{path}?{query}" if query else path
