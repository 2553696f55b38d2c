"""From a plan back to the form."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from utmost.data.queries import Count, Histogram, Quantile
from utmost.publish import plan_writer
from utmost.publish.plans import QUERY_KINDS, Plan, QuerySpec
from utmost.studio.curator import key_parser
from utmost.studio.curator.forms import MOST_QUERIES, KeyColumn, PlanDraft, QueryDraft
from utmost.studio.curator.tables import SourceView
from utmost.studio.form_errors import FieldError


def blank_draft(view: SourceView, budget: str = "") -> PlanDraft:
    """A form about a table that asks for one count. Columns of a CSV file are of the kinds that were found."""
    columns: Any = [{"name": one.name, "kind": one.kind} for one in view.columns if one.found]
    return PlanDraft(location=view.location, table=view.table or "", columns=columns, budget=budget)


def draft_from_plan(plan: Plan, view: SourceView) -> PlanDraft:
    """The form filled in with a plan. Columns of a CSV file that it does not declare are as they were found."""
    if len(plan.queries) > MOST_QUERIES:
        raise FieldError("plan", f"plan must have at most {MOST_QUERIES} queries for the form, got {len(plan.queries)}")
    unit, part, source = plan.unit, plan.part, plan.source
    kinds = {one.name: source.columns.get(one.name, one.kind) for one in view.columns if one.found}
    columns: Any = [{"name": name, "kind": kind} for name, kind in kinds.items()]
    return PlanDraft(
        title=plan.title or "",
        location=source.location,
        table=source.table or "",
        columns=columns,
        fingerprint=plan.fingerprint or "",
        neighbours="replace" if plan.neighbours == "replace" else "add-remove",
        protects="row" if unit.column is None else "person",
        person=unit.column or "",
        keeps="groups" if unit.groups else "rows",
        bound=str(unit.bound),
        part_column="" if part is None else part.column,
        part_equals="" if part is None else key_parser.keys_text([part.equals]),
        budget=plan.budget.strip(),
        queries=[_typed(asked) for asked in plan.queries],
    )


def _typed(asked: QuerySpec) -> QueryDraft:
    query, extra = asked.query, asked.extra_loss
    first: dict[str, Any] = {"name": asked.name, "kind": QUERY_KINDS[type(query)], "where": query.where or ""}
    first["epsilon"] = _number(asked.epsilon)
    if isinstance(query, Histogram):
        first["keys"] = [
            KeyColumn(column=column, values=key_parser.keys_text(values)) for column, values in query.keys.items()
        ]
    elif not isinstance(query, Count):
        grid = query.grid
        first |= {"column": query.column, "low": _number(grid.low), "high": _number(grid.high)}
        first |= {"step": _number(grid.step)} if extra is None else {"extra_loss": _number(extra)}
        first["nulls"] = "drop" if query.nulls is None else _number(query.nulls)
        if isinstance(query, Quantile):
            first["probability"] = _number(query.probability)
    return QueryDraft(**first)


def _number(value: Fraction) -> str:
    return plan_writer.toml_number(value).strip('"')
