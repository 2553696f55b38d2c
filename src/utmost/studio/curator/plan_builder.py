"""Build a plan from the form. All errors are reported at once, each beside its field.

The studio decides where a plan's charge goes and where its release is written: a plan that says otherwise is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from utmost.data.engines.schema import ColumnKind
from utmost.data.sources import Source
from utmost.data.table import Table
from utmost.errors import BudgetError, InputError
from utmost.exact import integer
from utmost.publish import plans
from utmost.publish.plans import DEFAULT_LEDGER, Plan
from utmost.queries import registry
from utmost.studio.curator import forms, tables
from utmost.studio.curator.forms import KeyColumn, PlanDraft, QueryDraft
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


def build_plan(draft: PlanDraft, table: Table, settings: Settings) -> BuiltPlan:
    """The plan that a draft means for a table, or what is wrong with it."""
    problems, plan_fields = _repeated_name_problems(draft), None
    try:
        plan_fields = _plan_without_queries(draft, table, settings)
    except InputError as error:
        problems.append(problem_from_plan_error(error, PLAN_FIELDS))
    query_plans = [
        _single_query_plan(k, query, plan_fields, table, settings, problems) for k, query in enumerate(draft.queries)
    ]
    valid_plans = [query_plan for query_plan in query_plans if query_plan is not None]
    if problems or len(valid_plans) < len(query_plans):
        return BuiltPlan(None, tuple(query_plans), tuple(problems))
    plan = replace(valid_plans[0], queries=tuple(query_plan.queries[0] for query_plan in valid_plans))
    return BuiltPlan(_keep_used_columns(plan, table), tuple(query_plans), ())


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
    query: QueryDraft,
    plan_fields: Mapping[str, Any] | None,
    table: Table,
    settings: Settings,
    problems: list[Problem],
) -> Plan | None:
    """The plan with this query alone; None, and why, where it is wrong."""
    form_fields = PLAN_FIELDS | query_form_fields(k)
    try:
        query_fields = _query_fields(query, table)
        if plan_fields is None:
            return None
        plan = plans.plan_from_mapping({**plan_fields, "query": [query_fields]}, settings.folder)
        plan.queries[0].query.check(table, plan.unit, plan.part)
    except InputError as error:
        problem = problem_from_plan_error(error, form_fields, f"queries.{k}.name")
        problems += [] if problem in problems else [problem]
        return None
    return plan


def query_form_fields(k: int) -> dict[str, str]:
    """The fields of the form that stand for the keys of a query."""
    return {name: f"queries.{k}.{name}" for name in QueryDraft.model_fields}


def problem_from_plan_error(error: InputError, form_fields: Mapping[str, str], default: str = "") -> Problem:
    """What is wrong, beside the field of the form that stands for the key of the plan; the query is not named."""
    key = error.field or ""
    while key:
        if key in form_fields or key in PlanDraft.model_fields:
            return Problem(field=form_fields.get(key, key), message=one_line(error.text))
        key = key.rpartition(".")[0]
    return Problem(field=default, message=one_line(error.text))


def _plan_without_queries(draft: PlanDraft, table: Table, settings: Settings) -> dict[str, Any]:
    """All of a plan but its queries, as TOML has it."""
    source = _strip_nonempty({"location": draft.location, "table": draft.table, "fingerprint": draft.fingerprint})
    if _declares_columns(draft.location):
        source["columns"] = {column.name: column.kind for column in draft.columns}
    plan_fields = {
        **_strip_nonempty({"title": draft.title, "neighbours": draft.neighbours}),
        "budget": draft.budget.strip(),
        "ledger": ledger_without_password(settings),
        "source": source,
        "unit": _unit_fields(draft),
    }
    if draft.part_column:
        plan_fields["part"] = {"column": draft.part_column, "equals": _part_value(draft, table)}
    return plan_fields


def _strip_nonempty(entries: Mapping[str, str]) -> dict[str, Any]:
    return {name: value.strip() for name, value in entries.items() if value}


def _declares_columns(location: str) -> bool:
    return location.lower().endswith(".csv")


def draft_source(draft: PlanDraft) -> Source:
    """The table that a draft asks of, with the kinds that it declares."""
    columns = {column.name: str(column.kind) for column in draft.columns} if _declares_columns(draft.location) else {}
    return Source(draft.location, draft.table or None, None, columns)


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
    """One query, as TOML has it: only what belongs to its kind and was filled in."""
    query_fields: dict[str, Any] = _strip_nonempty({"where": query.where, "epsilon": query.epsilon})
    query_fields |= {"name": query.name.strip(), "kind": query.kind}
    for field in registry.QUERY_KINDS[query.kind].fields:
        if field.input == "keys":
            query_fields[field.name] = _key_values(query.key_columns(field.name), field.name, table)
        else:
            query_fields |= _strip_nonempty({field.name: query.text(field.name)})
    return query_fields


def _key_values(keys: Sequence[KeyColumn], field: str, table: Table) -> dict[str, Any]:
    """The public values of each column."""
    return {key.column: forms.parse_keys(key.values, _column_kind(table, key.column), field) for key in keys}


def _keep_used_columns(plan: Plan, table: Table) -> Plan:
    """The plan with the kinds of those columns alone that it uses."""
    if not plan.source.columns:
        return plan
    used: set[str] = set()
    for query_spec in plan.queries:
        used |= query_spec.query.used_columns(plan.unit, plan.part)
    columns = {name: kind for name, kind in plan.source.columns.items() if name in used}
    return replace(plan, source=replace(plan.source, columns=columns))
