"""From the form to a plan. What is wrong is said beside the field it is about, all of it at once.

The studio decides where a plan's charge goes and where its release is written: a plan that says otherwise is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from utmost.data.column_kinds import ColumnKind
from utmost.data.sources import Source
from utmost.data.table import Table
from utmost.errors import BudgetError, InputError
from utmost.exact import integer
from utmost.publish import plans
from utmost.publish.plans import DEFAULT_LEDGER, Plan
from utmost.studio.curator import key_parser, tables
from utmost.studio.curator.forms import PlanDraft, QueryDraft
from utmost.studio.form_errors import FieldError, Problem, errors_for_field, one_line
from utmost.studio.settings import Settings

NAMED = re.compile(r'(?:query "(?:[^"\\]|\\.)*"|query \d+|\[\w+\])(?:, \w+)?: ?')
PLAN = {"unit": "protects", "source": "location", "part": "part_column", "name": "budget"}
OWN = (
    "name",
    "kind",
    "where",
    "column",
    "low",
    "high",
    "step",
    "extra_loss",
    "nulls",
    "probability",
    "keys",
    "epsilon",
)
NUMBERS = ("low", "high", "step", "extra_loss", "probability", "nulls")


@dataclass(frozen=True, slots=True)
class BuiltPlan:
    """What a draft comes to: its queries one by one, None where one is wrong, and all that is wrong."""

    plan: Plan | None
    singles: tuple[Plan | None, ...]
    problems: tuple[Problem, ...]


def ledger_told(settings: Settings) -> str:
    """The ledger as a plan may name it: a URL without user, password and options."""
    if "://" not in settings.ledger:
        return settings.ledger
    parts = urlsplit(settings.ledger)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def accept_plan(text: str, settings: Settings) -> Plan:
    """The plan in a text that somebody sent, if it asks of this studio's tables and leaves ledger and output to it."""
    with errors_for_plan():
        plan = plans.parse_plan(text, settings.folder)
        if plan.output is not None:
            raise InputError("output must be left out: the studio writes releases to its own folder")
        if plan.ledger not in (DEFAULT_LEDGER, ledger_told(settings)):
            raise InputError("ledger must be left out: the studio charges its own")
        tables.check_source(plan.source, settings)
    return replace(plan, ledger=ledger_told(settings))


@contextmanager
def errors_for_plan() -> Iterator[None]:
    """What is refused inside is refused for the plan's sake; but a budget that is short stays that."""
    try:
        yield
    except BudgetError:
        raise
    except InputError as problem:
        raise FieldError("plan", str(problem)) from None


def build_plan(draft: PlanDraft, table: Table, settings: Settings) -> BuiltPlan:
    """The plan that a draft means for a table, or what is wrong with it."""
    problems, base = _repeated(draft), None
    try:
        base = _base(draft, table, settings)
    except InputError as error:
        problems.append(errors_by_field(error, PLAN))
    singles = [_single(k, one, base, table, settings, problems) for k, one in enumerate(draft.queries)]
    found = [one for one in singles if one is not None]
    if problems or len(found) < len(singles):
        return BuiltPlan(None, tuple(singles), tuple(problems))
    whole_plan = replace(found[0], queries=tuple(one.queries[0] for one in found))
    return BuiltPlan(_narrowed(whole_plan, table), tuple(singles), ())


def _repeated(draft: PlanDraft) -> list[Problem]:
    names = [one.name.strip() for one in draft.queries]
    return [
        Problem(
            field=f"queries.{k}.name", message=f'name must differ from those of other queries, got "{name[:60]}" twice'
        )
        for k, name in enumerate(names)
        if name in names[:k]
    ]


def _single(
    k: int, one: QueryDraft, base: Mapping[str, Any] | None, table: Table, settings: Settings, problems: list[Problem]
) -> Plan | None:
    """The plan with this query alone; None, and why, where it is wrong."""
    place = {name: f"queries.{k}.{name}" for name in OWN} | PLAN | {"name": f"queries.{k}.name"}
    try:
        asked = _question(one, table)
        if base is None:
            return None
        plan = plans.plan_from_mapping({**base, "query": [asked]}, settings.folder)
        table.check(plan.queries[0].query, plan.unit, plan.part)
    except InputError as error:
        found = errors_by_field(error, place, f"queries.{k}.name")
        problems += [] if found in problems else [found]
        return None
    return plan


def errors_by_field(error: InputError, places: Mapping[str, str], otherwise: str = "") -> Problem:
    """What is wrong, beside the field that its message begins with."""
    words = NAMED.sub("", one_line(str(error)), count=1)
    if isinstance(error, FieldError):
        return Problem(field=places.get(error.field, error.field), message=words)
    first = re.match(r"[a-z_]+", words)
    head = "" if first is None else first[0]
    return Problem(field=places.get(head, head if head in PlanDraft.model_fields else otherwise), message=words)


def _base(draft: PlanDraft, table: Table, settings: Settings) -> dict[str, Any]:
    """All of a plan but its queries, as TOML has it."""
    source = _filled({"location": draft.location, "table": draft.table, "fingerprint": draft.fingerprint})
    if _declares(draft.location):
        source["columns"] = {one.name: one.kind for one in draft.columns}
    base = {
        **_filled({"title": draft.title, "neighbours": draft.neighbours}),
        "budget": draft.budget.strip(),
        "ledger": ledger_told(settings),
        "source": source,
        "unit": _unit(draft),
    }
    if draft.part_column:
        base["part"] = {"column": draft.part_column, "equals": _part(draft, table)}
    return base


def _filled(entries: Mapping[str, str]) -> dict[str, Any]:
    return {name: value.strip() for name, value in entries.items() if value}


def _declares(location: str) -> bool:
    return location.lower().endswith(".csv")


def draft_source(draft: PlanDraft) -> Source:
    """The table that a draft asks of, with the kinds that it declares."""
    columns = {one.name: str(one.kind) for one in draft.columns} if _declares(draft.location) else {}
    return Source(draft.location, draft.table or None, None, columns)


def _unit(draft: PlanDraft) -> dict[str, Any]:
    if draft.protects == "row":
        return {}
    if not draft.person:
        raise FieldError("person", "person must be the column that names persons: choose one")
    with errors_for_field("bound"):
        return {"column": draft.person, draft.keeps: integer(draft.bound, "bound")}


def _part(draft: PlanDraft, table: Table) -> Any:
    with errors_for_field("part_equals"):
        found = key_parser.parse_keys(draft.part_equals, _kind(table, draft.part_column), "part")
        if len(found) != 1:
            raise InputError(f"part must be one value, got {len(found)}: name the value that its rows have")
        return found[0]


def _kind(table: Table, column: str) -> ColumnKind:
    if column not in table.kinds:
        raise InputError(f'column must be one of the table, got "{column[:60]}": choose one')
    return table.kinds[column]


def _question(one: QueryDraft, table: Table) -> dict[str, Any]:
    """One query, as TOML has it: only what belongs to its kind and was filled in."""
    asked: dict[str, Any] = _filled({"where": one.where, "epsilon": one.epsilon})
    asked |= {"name": one.name.strip(), "kind": one.kind}
    if one.kind == "histogram":
        given = [pair for pair in one.keys if pair.column or pair.values.strip()]
        asked["keys"] = {
            pair.column: key_parser.parse_keys(pair.values, _kind(table, pair.column), "keys") for pair in given
        }
    elif one.kind != "count":
        asked |= _filled({name: getattr(one, name) for name in ("column", *NUMBERS)})
        if one.kind == "quantile":
            asked.pop("extra_loss", None)
        else:
            asked.pop("probability", None)
    return asked


def _narrowed(plan: Plan, table: Table) -> Plan:
    """The plan with the kinds of those columns alone that it uses."""
    if not plan.source.columns:
        return plan
    used: set[str] = set()
    for asked in plan.queries:
        used |= set(table.used(asked.query, plan.unit, plan.part))
    columns = {name: kind for name, kind in plan.source.columns.items() if name in used}
    return replace(plan, source=replace(plan.source, columns=columns))
