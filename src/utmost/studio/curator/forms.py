"""The curator's form: texts as they were typed, none checked beyond its length; and the form of a plan."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from utmost.errors import InputError
from utmost.publish import plan_writer
from utmost.publish.plans import Plan, QuerySpec
from utmost.queries import registry
from utmost.studio.curator import key_parser
from utmost.studio.form_errors import one_line

if TYPE_CHECKING:
    from utmost.studio.curator.tables import SourceView

MAX_QUERIES = 30  # of the form; a plan may have more
MAX_COLUMNS = 400  # of a file whose columns are declared in the form
MAX_KEY_COLUMNS = 6  # columns of one histogram
FIELD_PATTERN = re.compile(r"[a-z_]+(\.(\d{1,3}|[a-z_]+)){0,4}")

ShortText = Annotated[str, Field(max_length=300)]
LongText = Annotated[str, Field(max_length=20_000)]
ColumnKindName = Literal["integer", "number", "text", "truth", "date", "time"]


class _FormModel(BaseModel):
    model_config = ConfigDict(extra="forbid")


class KeyColumn(_FormModel):
    """One column of a histogram, and its public values with commas between them; 1..7 stands for 1, 2, …, 7."""

    column: ShortText = ""
    values: LongText = Field(default="", examples=["1..7"])


class QueryBase(_FormModel):
    """What every query has. The fields of the kinds are there too: see `query_model`."""

    name: ShortText = ""
    kind: str = "count"
    where: LongText = Field(default="", examples=["vote = 1"])
    epsilon: ShortText = Field(default="0.1", description="A decimal or a fraction, exactly", examples=["0.1", "1/3"])

    def text(self, field: str) -> str:
        """What was typed into a field."""
        text: str = getattr(self, field)
        return text

    def key_columns(self, field: str) -> list[KeyColumn]:
        """The columns and values of a field for keys, without blank ones."""
        keys: list[KeyColumn] = getattr(self, field)
        return [key for key in keys if key.column or key.values.strip()]


def query_model() -> type[QueryBase]:
    """The form of a query with a choice for each kind that is registered now, and the fields of all of them."""
    fields: dict[str, Any] = {"kind": (Literal[tuple(registry.QUERY_KINDS)], "count")}
    for field in registry.query_fields().values():
        if field.input == "keys":
            fields[field.name] = (list[KeyColumn], Field(default=[], max_length=MAX_KEY_COLUMNS))
        else:
            fields[field.name] = (ShortText, Field(default=field.default, description=field.description or None))
    doc = "One query, as it was typed. What does not belong to its kind is left aside."
    model: type[QueryBase] = create_model("QueryDraft", __base__=QueryBase, __module__=__name__, __doc__=doc, **fields)
    return model


if TYPE_CHECKING:
    QueryDraft = QueryBase
else:
    QueryDraft = query_model()


class DeclaredColumn(_FormModel):
    """The kind of a column of a CSV file, which is declared and not found in its rows."""

    name: ShortText
    kind: ColumnKindName


class PlanDraft(_FormModel):
    """A plan in the making."""

    title: ShortText = ""
    location: ShortText = Field(default="bundled:anes96", examples=["people.csv"])
    table: ShortText = Field(default="", description="Which table of a database")
    columns: list[DeclaredColumn] = Field(default=[], max_length=MAX_COLUMNS)
    fingerprint: ShortText = Field(default="", description="Your name for this state of the data")
    neighbours: Literal["replace", "add-remove"] = "replace"
    protects: Literal["row", "person"] = "row"
    person: ShortText = Field(default="", description="The column that names persons")
    keeps: Literal["rows", "groups"] = "rows"
    bound: ShortText = Field(default="1", description="How many rows or groups of each person count")
    part_column: ShortText = ""
    part_equals: ShortText = ""
    budget: ShortText = ""
    queries: list[QueryDraft] = Field(default=[QueryDraft()], min_length=1, max_length=MAX_QUERIES)


def parse_form(pairs: Iterable[tuple[str, str]]) -> PlanDraft:
    """The draft in a form's fields, called as in queries.0.epsilon; others are left aside."""
    fields = set(PlanDraft.model_fields)
    content: dict[str, Any] = {}
    for name, value in pairs:
        if FIELD_PATTERN.fullmatch(name) and name.partition(".")[0] in fields:
            _set_nested(content, name.split("."), value)
    try:
        return _without_blanks(PlanDraft.model_validate(_numbered_keys_to_lists(content)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(key) for key in first["loc"])
        raise InputError(one_line(f"{field}: {first['msg']}"), field) from None


def _without_blanks(draft: PlanDraft) -> PlanDraft:
    """The same without the rows for keys that were left empty: the form has room for one more whenever it is shown."""
    for query in draft.queries:
        for field in registry.query_fields().values():
            if field.input == "keys":
                setattr(query, field.name, query.key_columns(field.name))
    return draft


def _set_nested(content: dict[str, Any], path: list[str], value: str) -> None:
    for key in path[:-1]:
        inner = content.setdefault(key, {})
        if not isinstance(inner, dict):
            return
        content = inner
    content[path[-1]] = value


def _numbered_keys_to_lists(content: Any) -> Any:
    """The same with lists where all keys are numbers, in their order."""
    if not isinstance(content, dict):
        return content
    if content and all(key.isdigit() for key in content):
        return [_numbered_keys_to_lists(content[key]) for key in sorted(content, key=int)]
    return {key: _numbered_keys_to_lists(value) for key, value in content.items()}


def blank_draft(view: SourceView, budget: str = "") -> PlanDraft:
    """A form about a table that asks for one count. Columns of a CSV file are of the kinds that were found."""
    columns: Any = [{"name": column.name, "kind": column.kind} for column in view.columns if column.found]
    return PlanDraft(location=view.location, table=view.table or "", columns=columns, budget=budget)


def draft_from_plan(plan: Plan, view: SourceView) -> PlanDraft:
    """The form filled in with a plan. Columns of a CSV file that it does not declare are as they were found."""
    if len(plan.queries) > MAX_QUERIES:
        raise InputError(f"plan must have at most {MAX_QUERIES} queries for the form, got {len(plan.queries)}", "plan")
    unit, part, source = plan.unit, plan.part, plan.source
    kinds = {column.name: source.columns.get(column.name, column.kind) for column in view.columns if column.found}
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
        queries=[_query_draft(query_spec) for query_spec in plan.queries],
    )


def _query_draft(query_spec: QuerySpec) -> QueryDraft:
    query = query_spec.query
    fields: dict[str, Any] = {"name": query_spec.name, "kind": query.kind, "where": query.where or ""}
    fields["epsilon"] = _number_text(query_spec.epsilon)
    return QueryDraft(**fields, **{name: _draft_value(value) for name, value in query.plan_entries().items()})


def _draft_value(value: Any) -> Any:
    """An entry of a plan as the form has it."""
    if isinstance(value, dict):
        return [KeyColumn(column=column, values=key_parser.keys_text(keys)) for column, keys in value.items()]
    return _number_text(value) if isinstance(value, Fraction) else value


def _number_text(value: Fraction) -> str:
    return plan_writer.toml_number(value).strip('"')
