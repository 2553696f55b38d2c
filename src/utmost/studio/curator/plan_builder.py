"""Build a plan from the form. All errors are reported at once, each beside its field.

The studio decides where a plan's charge goes and where its release is written: a plan that says otherwise is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

from utmost.data.engines.schema import ColumnKind
from utmost.data.sources import source_columns
from utmost.data.table import Table
from utmost.errors import BudgetError, InputError
from utmost.exact import integer
from utmost.publish import execute, plan_writer, plans
from utmost.publish.plan_model import Plan, used_columns
from utmost.publish.plans import DEFAULT_LEDGER
from utmost.queries import registry
from utmost.queries.found_cells import DELTA_FIELD
from utmost.queries.query import QueryField
from utmost.studio.curator import forms, tables
from utmost.studio.curator.draft_columns import DraftTable, new_column_fields
from utmost.studio.curator.draft_prices import (
    DraftPrices,
    own_delta,
    own_price,
    plan_price,
    split_prices,
    wanted_places,
)
from utmost.studio.curator.forms import KeyColumn, PlanDraft, QueryDraft, filled_in
from utmost.studio.forms import Problem, errors_for_field, one_line
from utmost.studio.settings import Settings

PLAN_FIELDS = {
    "name": "budget",
    "part": "part_column",
    "part.equals": "part_equals",
    "source": "location",
    "source.columns": "columns",
    "source.fingerprint": "fingerprint",
    "source.table": "table",
    "unit": "protects",
    "unit.column": "person",
    "unit.groups": "bound",
    "unit.rows": "bound",
}


@dataclass(frozen=True, slots=True)
class BuiltPlan:
    """What a draft comes to: its queries one by one, None where one is wrong, and all that is wrong."""

    plan: Plan | None
    query_plans: tuple[Plan | None, ...]
    problems: tuple[Problem, ...]


def ledger_without_password(settings: Settings) -> str:
    """The ledger as a plan may name it: a URL without user, password and options."""
    if "://" not in settings.ledger:
        return settings.ledger
    url = urlsplit(settings.ledger)
    port = f":{url.port}" if url.port else ""
    return f"{url.scheme}://{url.hostname or ''}{port}{url.path}"


def accept_plan(text: str, settings: Settings) -> Plan:
    """The plan in a text that somebody sent, if it asks of this studio's tables and leaves ledger and output to it."""
    with errors_for_plan():
        plan = plans.parse_plan(text, settings.folder, with_key_files=False)
        if plan.output is not None:
            raise InputError("output must be left out: the studio writes releases to its own folder", "output")
        if plan.ledger not in (DEFAULT_LEDGER, ledger_without_password(settings)):
            raise InputError("ledger must be left out: the studio charges its own", "ledger")
        tables.check_source(plan.source, settings)
    return replace(plan, ledger=ledger_without_password(settings))


@contextmanager
def errors_for_plan() -> Iterator[None]:
    """Report input errors raised inside as errors of the plan; a budget that is short stays a BudgetError."""
    try:
        yield
    except BudgetError:
        raise
    except InputError as error:
        raise error.about("plan") from None


def build_plan(draft: PlanDraft, draft_table: DraftTable, settings: Settings) -> BuiltPlan:
    """The plan that a draft means for its table, or what is wrong with it."""
    table, plan_fields = draft_table.schema, None
    problems = [*draft_table.problems, *_repeated_name_problems(draft)]
    try:
        plan_fields = _plan_without_queries(draft, draft_table, settings)
    except InputError as error:
        problems.append(problem_from_plan_error(error, PLAN_FIELDS))
    prices = split_prices(draft, _found_epsilons(draft, plan_fields, table, settings))
    query_plans = [
        _single_query_plan(k, prices, plan_fields, table, settings, problems) for k in range(len(draft.queries))
    ]
    problems += [problem for problem in prices.problems if problem.field not in {other.field for other in problems}]
    if problems or plan_fields is None or None in query_plans:
        return BuiltPlan(None, tuple(query_plans), tuple(problems))
    try:
        return BuiltPlan(_whole_plan(draft, plan_fields, table, settings), tuple(query_plans), ())
    except InputError as error:
        return BuiltPlan(None, tuple(query_plans), (problem_from_plan_error(error, PLAN_FIELDS),))


def _found_epsilons(
    draft: PlanDraft, plan_fields: Mapping[str, Any] | None, table: Table, settings: Settings
) -> dict[int, Fraction]:
    """The ε that wanted errors lead to where the plan's is split; what is wrong with a query is said of it alone."""
    found: dict[int, Fraction] = {}
    for k in wanted_places(draft) if plan_fields is not None and draft.epsilon.strip() else ():
        with suppress(InputError):
            query_fields = {**_query_fields(draft.queries[k], table), **own_price(draft.queries[k])}
            plan = plans.plan_from_mapping({**(plan_fields or {}), "query": [query_fields]}, settings.folder)
            found[k] = execute.check_plan(plan, table).planned_answers[0].spec.epsilon
    return found


def _whole_plan(draft: PlanDraft, plan_fields: Mapping[str, Any], table: Table, settings: Settings) -> Plan:
    """The plan with all queries, each of which is right by itself."""
    queries = [{**_query_fields(query, table), **own_price(query), **own_delta(query)} for query in draft.queries]
    plan = plans.plan_from_mapping({**plan_fields, **plan_price(draft), "query": queries}, settings.folder)
    return _keep_used_columns(plan)


def _repeated_name_problems(draft: PlanDraft) -> list[Problem]:
    names = [query.name.strip() for query in draft.queries]
    return [
        Problem(
            field=f"queries.{k}.name", message=f'name must differ from those of other queries, got "{name[:60]}" twice'
        )
        for k, name in enumerate(names)
        if name in names[:k]
    ]


def _single_query_plan(
    k: int,
    prices: DraftPrices,
    plan_fields: Mapping[str, Any] | None,
    table: Table,
    settings: Settings,
    problems: list[Problem],
) -> Plan | None:
    """The plan with this query alone; None, and why, where it is wrong."""
    query = prices.draft.queries[k]
    form_fields = PLAN_FIELDS | query_form_fields(k, query)
    try:
        query_fields = {**_query_fields(query, table), **prices.single_price(k)}
        if plan_fields is None:
            return None
        plan = plans.plan_from_mapping({**plan_fields, "query": [query_fields]}, settings.folder)
        for query_spec in plan.queries:
            query_spec.query.check(table, plan.unit, plan.part)
    except InputError as error:
        problem = problem_from_plan_error(error, form_fields, f"queries.{k}.name")
        problems += [] if problem in problems else [problem]
        return None
    return plan if prices.is_known(k) else None


def query_form_fields(k: int, query: QueryDraft) -> dict[str, str]:
    """The fields of the form that stand for the keys of a query; what it costs is beside the price that counts."""
    fields = {name: f"queries.{k}.{name}" for name in QueryDraft.model_fields}
    return {**fields, "epsilon": f"queries.{k}.{query.price}"}


def problem_from_plan_error(error: InputError, form_fields: Mapping[str, str], default: str = "") -> Problem:
    """What is wrong, beside the field of the form that stands for the key of the plan; the query is not named."""
    key = error.field or ""
    while key:
        if key in form_fields or key in PlanDraft.model_fields:
            return Problem(field=form_fields.get(key, key), message=one_line(error.text))
        key = key.rpartition(".")[0]
    return Problem(field=default, message=one_line(error.text))


def _plan_without_queries(draft: PlanDraft, draft_table: DraftTable, settings: Settings) -> dict[str, Any]:
    """All of a plan but its queries and its price, as TOML has it."""
    table, columns = draft_table.schema, plan_writer.source_columns(draft_table.source)
    source = filled_in({"location": draft.location, "table": draft.table, "fingerprint": draft.fingerprint})
    plan_fields = {
        **filled_in({"title": draft.title, "neighbours": draft.neighbours}),
        "budget": draft.budget.strip(),
        "ledger": ledger_without_password(settings),
        "source": source if columns is None else {**source, "columns": columns},
        **new_column_fields(draft_table.source),
        "unit": _unit_fields(draft),
    }
    if draft.part_column:
        plan_fields["part"] = {"column": draft.part_column, "equals": _part_value(draft, table)}
    return plan_fields


def _unit_fields(draft: PlanDraft) -> dict[str, Any]:
    if draft.protects == "row":
        return {}
    if not draft.person:
        raise InputError("person must be the column that names persons: choose one", "person")
    with errors_for_field("bound"):
        return {"column": draft.person, draft.keeps: integer(draft.bound, "bound")}


def _part_value(draft: PlanDraft, table: Table) -> Any:
    with errors_for_field("part_column"):
        kind = _column_kind(table, draft.part_column)
    with errors_for_field("part_equals"):
        values = forms.parse_keys(draft.part_equals, kind, "part")
        if len(values) != 1:
            raise InputError(f"part must be one value, got {len(values)}", "part", "name the value that its rows have")
        return values[0]


def _column_kind(table: Table, column: str) -> ColumnKind:
    if column not in table.kinds:
        raise InputError(f'column must be one of the table, got "{column[:60]}"', "column", "choose one")
    return table.kinds[column]


def _query_fields(query: QueryDraft, table: Table) -> dict[str, Any]:
    """One query but its price, as TOML has it: only what belongs to its kind and was filled in."""
    query_fields: dict[str, Any] = filled_in({"where": query.where})
    query_fields |= {"name": query.name.strip(), "kind": query.kind}
    for field in registry.asked_fields(query.kind, query.way):
        if field.name != DELTA_FIELD.name:
            query_fields |= _field_value(field, query, table)
    return query_fields


def _field_value(field: QueryField, query: QueryDraft, table: Table) -> dict[str, Any]:
    """What was typed into a field, as TOML has it; nothing where it was left empty, unless it must be given."""
    if field.input == "keys":
        return {field.name: _key_values(query.key_columns(field.name), field.name, table)}
    if field.input == "columns":
        return {field.name: query.names(field.name)}
    if field.input == "truth":
        return {field.name: True} if query.is_set(field.name) else {}
    if field.input == "values" and query.text(field.name).strip():
        kind = _column_kind(table, query.text("column"))
        return {field.name: forms.parse_keys(query.text(field.name), kind, field.name)}
    return filled_in({field.name: query.text(field.name)})


def _key_values(keys: Sequence[KeyColumn], field: str, table: Table) -> dict[str, Any]:
    """The public values of each column."""
    return {key.column: forms.parse_keys(key.values, _column_kind(table, key.column), field) for key in keys}


def _keep_used_columns(plan: Plan) -> Plan:
    """The plan with the kinds of those columns alone that it uses, or that its new columns are made of."""
    source = plan.source
    if not source.columns:
        return plan
    used = source_columns(source, used_columns(plan))
    columns = {name: kind for name, kind in source.columns.items() if name in used}
    missing = {name: texts for name, texts in source.missing.items() if name in used}
    return replace(plan, source=replace(source, columns=columns, missing=missing))
