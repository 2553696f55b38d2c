"""The curator's pages: tables, the form of a plan, the confirmation, the release, the ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.requests import Request
from starlette.responses import Response

from utmost.data.derive import MAX_DERIVED_COLUMNS
from utmost.data.engines.schema import ColumnKind
from utmost.data.predicates.functions import FUNCTIONS
from utmost.errors import InputError
from utmost.publish import plans
from utmost.publish import release_file as release_reader
from utmost.publish.plans import MAX_LOOKUPS
from utmost.publish.tidy_table import tidy_table
from utmost.queries import registry
from utmost.queries.found_cells import BY_FIELD
from utmost.queries.grouped import KEYS_FIELD
from utmost.queries.over import Over
from utmost.studio import data_folder
from utmost.studio.curator import api, budgets, draft_preview, plan_builder, tables
from utmost.studio.curator.api import FormPairs, PostedForm, SpendingDep, charging_name, offer_owner
from utmost.studio.curator.budgets import NewBudget
from utmost.studio.curator.forms import MAX_QUERIES, DerivedColumn, LookupDraft, PlanDraft, QueryDraft, parse_form
from utmost.studio.curator.release_offers import AcceptedOffer
from utmost.studio.curator.spending import SpendingService
from utmost.studio.forms import Problem, Refusal, problem_from_error
from utmost.studio.rendering import render_page
from utmost.studio.settings import PUBLIC_FOLDER, Settings
from utmost.studio.state import SettingsDep, VisitorDep
from utmost.studio.visitors import Visitor

ROW_INPUTS = ("keys", "columns")  # fields of queries that take a row of the form
WAY_LABELS = {KEYS_FIELD.name: "each cell of listed values", BY_FIELD.name: "each cell found in the data"}
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
    action = fields.get("do", "look").partition(" ")
    match action:
        case ("open", _, _):
            return _open_budget(request, settings, draft, fields)
        case ("download", _, _):
            return _download_plan(request, settings, draft)
        case ("review", _, _):
            return _offer_plan(request, settings, spending, visitor, draft)
    focus = _change_lists(draft, action[0], action[2])
    return _plan_form_page(request, settings, draft, [], quiet=bool(focus), focus=focus)


def _change_lists(draft: PlanDraft, action: str, number: str) -> str:
    """Add or remove a query, a derived column or a lookup; the field to go on with."""
    k = int(number) if number.isdecimal() else -1
    match action:
        case "add" if len(draft.queries) < MAX_QUERIES:
            draft.queries.append(QueryDraft(name=f"query {len(draft.queries) + 1}"))
            return f"queries.{len(draft.queries) - 1}.name"
        case "add-derived" if len(draft.derived) < MAX_DERIVED_COLUMNS:
            draft.derived.append(DerivedColumn())
            return f"derived.{len(draft.derived) - 1}.name"
        case "add-lookup" if len(draft.lookups) < MAX_LOOKUPS:
            draft.lookups.append(LookupDraft())
            return f"lookups.{len(draft.lookups) - 1}.location"
        case "remove" if len(draft.queries) > 1:
            del draft.queries[k : k + 1]
        case "remove-derived":
            del draft.derived[k : k + 1]
        case "remove-lookup":
            del draft.lookups[k : k + 1]
    return ""


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
        public_tables=data_folder.list_public_tables(settings),
        public_hint=_public_hint(settings),
        functions=list(FUNCTIONS.values()),
        room=_room,
        **_query_form_data(),
        errors=defaultdict(str, {problem.field or "": problem.message for problem in reversed(shown_problems)}),
        quiet=quiet or bool(problems),  # the problems shown stay until something changes
        **{"new_name": "", "new_epsilon": "1", "new_delta": "0", **data},
    )


def _public_hint(settings: Settings) -> str:
    """Where public tables are."""
    beside = " or beside the plans" if settings.tokens is None else ""
    return (
        f"A CSV or Parquet file in the folder {PUBLIC_FOLDER} of the studio's{beside}, which everybody may know: "
        "nothing in it is protected."
    )


def _room(rows: Sequence[object], most: int) -> int:
    """How many rows of fields a form shows: those that are filled in and one more, two at least."""
    return min(max(len(rows) + 1, 2), most)


def _query_form_data() -> dict[str, Any]:
    """The kinds of queries, their fields, and the ways to ask them of cells, as they are registered now."""
    ways = {kind: registry.cell_fields(kind) for kind in registry.QUERY_KINDS}
    kinds_by_way = {way: [kind for kind in ways if way in ways[kind]] for kind in ways for way in ways[kind]}
    return {
        "kind_names": list(registry.QUERY_KINDS),
        "query_fields": list(registry.query_fields().values()),
        "kinds_with_field": registry.kinds_with_field,
        "row_inputs": ROW_INPUTS,
        "counted_kinds": [kind for kind in registry.QUERY_KINDS if kind != Over.kind],
        "cell_kinds": [kind for kind in ways if ways[kind]],
        "cell_ways": {way: WAY_LABELS.get(way, way) for way in kinds_by_way},
        "kinds_with_way": kinds_by_way.__getitem__,
        "is_asked": lambda query, kinds: query.kind in kinds or f"{query.kind}/{query.cells}" in kinds,
    }


def _open_budget(request: Request, settings: Settings, draft: PlanDraft, fields: dict[str, str]) -> HTMLResponse:
    """Open the budget that the form names, for whom the draft protects; and the form again."""
    name, epsilon = fields.get("new_name", "")[:100], fields.get("new_epsilon", "")[:1000]
    delta = fields.get("new_delta", "").strip()[:1000] or "0"
    unit = "row" if draft.protects == "row" else draft.person
    try:
        new_budget = NewBudget(name=name, epsilon=epsilon, delta=delta, unit=unit, neighbours=draft.neighbours)
        draft = draft.model_copy(update={"budget": budgets.open_budget_view(settings, new_budget).name})
    except InputError as error:
        field = f"new_{error.field}" if error.field in ("epsilon", "delta") else "new_name"
        typed: dict[str, Any] = {"new_name": name, "new_epsilon": epsilon, "new_delta": delta}
        return _plan_form_page(request, settings, draft, [Problem(field=field, message=str(error))], **typed)
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


@pages.get("/releases/{file}/table.csv")
def release_table(settings: SettingsDep, file: api.ReleaseName) -> Response:
    """The numbers of a release as a table, one row a cell, as utmost table writes it."""
    release = release_reader.read_release(data_folder.release_path(settings, file))
    name = f"{file.removesuffix(data_folder.RELEASE_SUFFIX)}.csv"
    return _attachment(tidy_table(release).to_csv(), name, "text/csv")


@pages.get("/releases/{file}/plan.toml")
def release_plan(spending: SpendingDep, file: api.ReleaseName) -> Response:
    """The plan of a release that was made here."""
    text = spending.plan_text(file)
    if text is None:
        raise Refusal(404, "release must be one that was made here, got another: its plan is not known")
    return _attachment(text, f"{file.removesuffix(data_folder.RELEASE_SUFFIX)}.toml")


def _attachment(text: str, name: str, media_type: str = "text/plain") -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return PlainTextResponse(text, headers=headers, media_type=media_type)


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
