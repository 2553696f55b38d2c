"""What the curator's form holds: texts as they were typed, none of them checked beyond its length."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from utmost.studio.form_errors import FieldError, one_line

MOST_QUERIES = 30  # of the form; a plan may have more
MOST_COLUMNS = 400  # of a file whose columns are declared in the form
MOST_KEYS = 6  # columns of one histogram
FIELD_PATTERN = re.compile(r"[a-z_]+(\.(\d{1,3}|[a-z_]+)){0,4}")

Line = Annotated[str, Field(max_length=300)]
Words = Annotated[str, Field(max_length=20_000)]
KindOfQuery = Literal["count", "histogram", "sum", "mean", "quantile"]
KindOfColumn = Literal["integer", "number", "text", "truth", "date", "time"]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class KeyColumn(_Form):
    """One column of a histogram, and its public values with commas between them; 1..7 stands for 1, 2, …, 7."""

    column: Line = ""
    values: Words = Field(default="", examples=["1..7"])


class QueryDraft(_Form):
    """One query, as it was typed. What does not belong to its kind is left aside."""

    name: Line = ""
    kind: KindOfQuery = "count"
    where: Words = Field(default="", examples=["vote = 1"])
    column: Line = ""
    low: Line = ""
    high: Line = ""
    step: Line = ""
    extra_loss: Line = Field(default="", description="Instead of a step: the loss that rounding may add")
    nulls: Line = Field(default="drop", description="drop, or the number that stands in for a missing one")
    probability: Line = "1/2"
    keys: list[KeyColumn] = Field(default=[], max_length=MOST_KEYS)
    epsilon: Line = Field(default="0.1", description="A decimal or a fraction, exactly", examples=["0.1", "1/3"])


class DeclaredColumn(_Form):
    """The kind of a column of a CSV file, which is declared and not found in its rows."""

    name: Line
    kind: KindOfColumn


class PlanDraft(_Form):
    """A plan in the making."""

    title: Line = ""
    location: Line = Field(default="bundled:anes96", examples=["people.csv"])
    table: Line = Field(default="", description="Which table of a database")
    columns: list[DeclaredColumn] = Field(default=[], max_length=MOST_COLUMNS)
    fingerprint: Line = Field(default="", description="Your name for this state of the data")
    neighbours: Literal["replace", "add-remove"] = "replace"
    protects: Literal["row", "person"] = "row"
    person: Line = Field(default="", description="The column that names persons")
    keeps: Literal["rows", "groups"] = "rows"
    bound: Line = Field(default="1", description="How many rows or groups of each person count")
    part_column: Line = ""
    part_equals: Line = ""
    budget: Line = ""
    queries: list[QueryDraft] = Field(default=[QueryDraft()], min_length=1, max_length=MOST_QUERIES)


def parse_form(pairs: Iterable[tuple[str, str]]) -> PlanDraft:
    """The draft in a form's fields, called as in queries.0.epsilon; others are left aside."""
    known = set(PlanDraft.model_fields)
    content: dict[str, Any] = {}
    for name, value in pairs:
        if FIELD_PATTERN.fullmatch(name) and name.partition(".")[0] in known:
            _put(content, name.split("."), value)
    try:
        return _without_blanks(PlanDraft.model_validate(_listed(content)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise FieldError(field, one_line(f"{field}: {first['msg']}")) from None


def _without_blanks(draft: PlanDraft) -> PlanDraft:
    """The same without the rows for keys that were left empty: the form has room for one more whenever it is shown."""
    for question in draft.queries:
        question.keys = [one for one in question.keys if one.column or one.values]
    return draft


def _put(content: dict[str, Any], path: list[str], value: str) -> None:
    for part in path[:-1]:
        inner = content.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        content = inner
    content[path[-1]] = value


def _listed(content: Any) -> Any:
    """The same with lists where all keys are numbers, in their order."""
    if not isinstance(content, dict):
        return content
    if content and all(key.isdigit() for key in content):
        return [_listed(content[key]) for key in sorted(content, key=int)]
    return {key: _listed(value) for key, value in content.items()}
