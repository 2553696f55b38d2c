"""The form of a plan: blank for a table, or filled in with a plan."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from utmost.data.lookup import Lookup
from utmost.data.sources import Source
from utmost.errors import InputError
from utmost.publish import plan_writer
from utmost.publish.plan_model import Plan
from utmost.publish.pricing import PricedPair, pair_queries
from utmost.queries import registry
from utmost.queries.query import QueryField
from utmost.studio.curator.forms import (
    MAX_QUERIES,
    DerivedColumn,
    KeyColumn,
    LookupDraft,
    LookupKey,
    PlanDraft,
    QueryDraft,
    TakenColumn,
    keys_text,
)

if TYPE_CHECKING:
    from utmost.studio.curator.tables import SourceView


def blank_draft(view: SourceView, budget: str = "") -> PlanDraft:
    """A form about a table that asks for one count. Columns of a CSV file are of the kinds that were found."""
    columns: Any = [{"name": column.name, "kind": column.kind} for column in view.columns if column.found]
    return PlanDraft(location=view.location, table=view.table or "", columns=columns, budget=budget)


def draft_from_plan(plan: Plan, view: SourceView) -> PlanDraft:
    """The form filled in with a plan. Columns of a CSV file that it does not declare are as they were found."""
    if plan.tables:
        raise InputError("plan must have queries only for the form, got a table", "plan", "run it with utmost release")
    number = len(pair_queries(plan.queries))
    if number > MAX_QUERIES:
        raise InputError(f"plan must have at most {MAX_QUERIES} queries for the form, got {number}", "plan")
    try:
        return _draft_from_plan(plan, view)
    except ValidationError as error:
        place = ".".join(str(key) for key in error.errors(include_url=False, include_input=False)[0]["loc"])
        raise InputError(
            f"plan must fit the form, got one whose {place[:60]} does not", "plan", "run it with utmost release"
        ) from None


def _draft_from_plan(plan: Plan, view: SourceView) -> PlanDraft:
    unit, part, source, price = plan.unit, plan.part, plan.source, plan.price
    return PlanDraft(
        title=plan.title or "",
        location=source.location,
        table=source.table or "",
        columns=_declared_columns(source, view),
        derived=[DerivedColumn(name=name, expression=text) for name, text in source.derive.items()],
        lookups=[_lookup_draft(lookup) for lookup in source.lookups],
        fingerprint=plan.fingerprint or "",
        neighbours="replace" if plan.neighbours == "replace" else "add-remove",
        protects="row" if unit.column is None else "person",
        person=unit.column or "",
        keeps="groups" if unit.groups else "rows",
        bound=str(unit.bound),
        part_column="" if part is None else part.column,
        part_equals="" if part is None else keys_text([part.equals]),
        budget=plan.budget.strip(),
        epsilon="" if price.epsilon is None else _number_text(price.epsilon),
        delta="" if price.delta is None else _number_text(price.delta),
        queries=[_query_draft(pair) for pair in pair_queries(plan.queries)],
    )


def _declared_columns(source: Source, view: SourceView) -> Any:
    """The kinds of the columns of a CSV file, and the texts that mean NULL."""
    kinds = {column.name: source.columns.get(column.name, column.kind) for column in view.columns if column.found}
    return [
        {"name": name, "kind": kind, "missing": keys_text(source.missing.get(name, ()))} for name, kind in kinds.items()
    ]


def _lookup_draft(lookup: Lookup) -> LookupDraft:
    def kind_fields(column: str) -> dict[str, Any]:
        return {"kind": lookup.columns.get(column, ""), "missing": keys_text(lookup.missing.get(column, ()))}

    return LookupDraft(
        location=lookup.location,
        on=[LookupKey(column=ours, equals=theirs, **kind_fields(theirs)) for ours, theirs in lookup.on.items()],
        take=[
            TakenColumn(column=column, name="" if name == column else name, **kind_fields(column))
            for column, name in lookup.take.items()
        ],
    )


def _query_draft(pair: PricedPair) -> QueryDraft:
    query_spec, query, fields = pair.query, pair.query.query, registry.query_fields()
    entries = query.plan_entries() | ({"delta": None} if query_spec.splits_delta else {})
    unknown = [name for name in entries if name not in fields]
    if unknown:
        raise InputError(f"plan must fit the form, which has no {unknown[0]}", "plan", "run it with utmost release")
    values = {name: _draft_value(fields[name], value) for name, value in entries.items() if value is not None}
    blank = {field.name: "" for field in registry.QUERY_KINDS[query.kind].fields if field.name not in entries}
    texts = {name: text for name, text in blank.items() if fields[name].input not in ("keys", "columns", "truth")}
    ways = [way for way in registry.cell_fields(query.kind) if way in entries]
    first = {"name": query_spec.name, "kind": query.kind, "cells": ways[0] if ways else "", "where": query.where or ""}
    return QueryDraft(**{**texts, **values, **first, **_price_fields(pair)})


def _price_fields(pair: PricedPair) -> dict[str, str]:
    """What a query says of its price: an ε, a share of the plan's, or the error that is wanted; and the part `over`."""
    wanted, share = pair.query.wanted, pair.query.share
    over = {} if pair.over is None else {"over": _number_text(pair.part)}
    if wanted is not None:
        rows = "" if wanted.rows is None else str(wanted.rows)
        return {"price": "error", "epsilon": "", "error": _number_text(wanted.error), "rows": rows, **over}
    if share is not None:
        return {"price": "share", "epsilon": "", "share": _number_text(share), **over}
    return {"price": "epsilon", "epsilon": _number_text(pair.price), **over}


def _draft_value(field: QueryField, value: Any) -> Any:
    """An entry of a plan as its field of the form has it."""
    if field.input == "keys":
        return [KeyColumn(column=column, values=keys_text(keys)) for column, keys in value.items()]
    if field.input in ("columns", "truth"):
        return value
    if field.input == "values":
        return keys_text(value)
    if isinstance(value, list | tuple):
        return ", ".join(_number_text(Fraction(number)) for number in value)
    return _number_text(value) if isinstance(value, Fraction) else str(value)


def _number_text(value: Fraction) -> str:
    return plan_writer.toml_number(value).strip('"')
