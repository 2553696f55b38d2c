"""The curator's form: texts as typed, and public keys read as the kind of their column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from utmost.data.cells import MAX_CELLS
from utmost.data.derive import MAX_DERIVED_COLUMNS
from utmost.data.engines.schema import ColumnKind
from utmost.data.selection import Key
from utmost.errors import InputError
from utmost.publish.plans import MAX_LOOKUPS
from utmost.queries import registry
from utmost.queries.found_cells import MAX_BY_COLUMNS
from utmost.queries.query import QueryField
from utmost.studio.forms import one_line

VALUE_PATTERN = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,\n]*?))\s*(?:[,\n]|\Z)')
RANGE_PATTERN = re.compile(r"([+-]?\d{1,18})\s*\.\.\s*([+-]?\d{1,18})")
INTEGER_PATTERN = re.compile(r"[+-]?\d{1,30}")
TRUTH_VALUES = {"true": True, "false": False}


def parse_keys(text: str, kind: ColumnKind, name: str) -> list[Key]:
    """The keys in a text; 1..4 stands for 1, 2, 3, 4, and a text with a comma is put in double quotes.

    >>> parse_keys("1..3, 7", ColumnKind.INTEGER, "keys"), parse_keys('north, "south, far"', ColumnKind.TEXT, "keys")
    ([1, 2, 3, 7], ['north', 'south, far'])
    """
    if kind not in _KEY_PARSERS:
        raise InputError(
            f"{name} must be of integers, texts, truths or dates, got a column of kind {kind}", name, "use where"
        )
    keys: list[Key] = []
    for value in _split_values(text):
        keys.extend(_KEY_PARSERS[kind](value, name))
        if len(keys) > MAX_CELLS:
            raise InputError(f"{name} must be at most {MAX_CELLS} values, got more", name, "list fewer")
    return keys


def keys_text(keys: Sequence[Key]) -> str:
    """A text that `parse_keys` reads as these keys.

    >>> keys_text([1, 2, 3, 7]), keys_text(["north", "south, far"])
    ('1..3, 7', 'north, "south, far"')
    """
    if keys and all(isinstance(key, int) and not isinstance(key, bool) for key in keys):
        return ", ".join(_integer_runs([int(key) for key in keys if isinstance(key, int)]))
    return ", ".join(_quote_key(key) for key in keys)


def _split_values(text: str) -> Iterator[str]:
    """The values, those in quotes as they are, others without blanks around them; empty ones are left out."""
    position, lines = 0, text.replace("\r\n", "\n")
    while position < len(lines):
        match = VALUE_PATTERN.match(lines, position)
        if match is None:
            raise InputError(
                "keys must be values with commas between them, texts with a comma in double quotes", "keys"
            )
        position = match.end()
        quoted, plain = match.groups()
        if quoted is not None:
            yield quoted.replace('""', '"')
        elif plain:
            yield plain


def _parse_integers(value: str, name: str) -> Sequence[Key]:
    bounds = RANGE_PATTERN.fullmatch(value)
    if bounds is not None:
        low, high = int(bounds[1]), int(bounds[2])
        if low > high or high - low >= MAX_CELLS:
            raise InputError(f"{name} must run upwards over at most {MAX_CELLS} values, as in 1..7", name)
        return range(low, high + 1)
    if INTEGER_PATTERN.fullmatch(value) is None:
        raise InputError(f'{name} must be whole numbers such as 1, 2, 5..9, got "{value[:40]}"', name)
    return [int(value)]


def _parse_text(value: str, _: str) -> Sequence[Key]:
    return [value]


def _parse_truth(value: str, name: str) -> Sequence[Key]:
    if value.lower() not in TRUTH_VALUES:
        raise InputError(f'{name} must be true or false, got "{value[:40]}"', name)
    return [TRUTH_VALUES[value.lower()]]


def _parse_date(value: str, name: str) -> Sequence[Key]:
    try:
        return [date.fromisoformat(value)]
    except ValueError:
        raise InputError(f'{name} must be dates such as 2020-01-31, got "{value[:40]}"', name) from None


_KEY_PARSERS: dict[ColumnKind, Callable[[str, str], Sequence[Key]]] = {
    ColumnKind.INTEGER: _parse_integers,
    ColumnKind.TEXT: _parse_text,
    ColumnKind.TRUTH: _parse_truth,
    ColumnKind.DATE: _parse_date,
}


def _integer_runs(numbers: list[int]) -> Iterator[str]:
    """Numbers, three or more in a row as a range."""
    start = 0
    for k in range(1, len(numbers) + 1):
        if k < len(numbers) and numbers[k] == numbers[k - 1] + 1:
            continue
        run = numbers[start:k]
        yield from [f"{run[0]}..{run[-1]}"] if len(run) > 2 else map(str, run)
        start = k


def _quote_key(key: Key) -> str:
    if not isinstance(key, str):
        return str(key).lower()
    is_plain = key and key == key.strip() and not any(mark in key for mark in ',"\n\r')
    return key if is_plain else '"' + key.replace('"', '""') + '"'


MAX_QUERIES = 30  # of the form; a plan may have more
MAX_COLUMNS = 400  # of a file whose columns are declared in the form
MAX_KEY_COLUMNS = 6  # columns of one histogram
MAX_LOOKUP_KEYS = 6  # columns of the key of a public table
MAX_TAKEN_COLUMNS = 30  # of one public table
FIELD_PATTERN = re.compile(r"[a-z_]+(\.(\d{1,3}|[a-z_]+)){0,4}")

ShortText = Annotated[str, Field(max_length=300)]
LongText = Annotated[str, Field(max_length=20_000)]
ColumnKindName = Literal["integer", "number", "text", "truth", "date", "time"]
FoundKindName = Literal["", "integer", "number", "text", "truth", "date", "time"]  # of a public file; "": as found


class _FormModel(BaseModel):
    model_config = ConfigDict(extra="forbid")


class KeyColumn(_FormModel):
    """One column of a histogram, and its public values with commas between them; 1..7 stands for 1, 2, …, 7."""

    column: ShortText = ""
    values: LongText = Field(default="", examples=["1..7"])


class QueryBase(_FormModel):
    """What every query has. The fields of the kinds are there too: see `query_model`.

    `price` says which of `epsilon`, `share` and `error` counts, `cells` which way it is asked of each cell, if it is.
    """

    name: ShortText = ""
    kind: str = "count"
    cells: str = ""
    where: LongText = Field(default="", examples=["vote = 1"])
    price: Literal["epsilon", "share", "error"] = "epsilon"
    epsilon: ShortText = Field(default="0.1", description="A decimal or a fraction, exactly", examples=["0.1", "1/3"])
    share: ShortText = Field(default="1", description="Of the plan's ε, beside the shares of others")
    error: ShortText = Field(default="", description="Half width of the 95 % interval that is wanted", examples=["5"])
    rows: ShortText = Field(default="", description="About how many rows there are, where an error depends on it")
    over: ShortText = Field(
        default="", description="Part of its price for the number of persons over its bound", examples=["1/10"]
    )

    @property
    def way(self) -> str:
        """The way it is asked of each cell; none where its kind does not have that way."""
        return self.cells if self.cells in registry.cell_fields(self.kind) else ""

    def text(self, field: str) -> str:
        """What was typed into a field."""
        text: str = getattr(self, field)
        return text

    def is_set(self, field: str) -> bool:
        """Was a yes given."""
        value: bool = getattr(self, field)
        return value

    def names(self, field: str) -> list[str]:
        """The columns of a field for several, without blank ones."""
        names: list[str] = getattr(self, field)
        return [name for name in names if name]

    def key_columns(self, field: str) -> list[KeyColumn]:
        """The columns and values of a field for keys, without blank ones."""
        keys: list[KeyColumn] = getattr(self, field)
        return [key for key in keys if key.column or key.values.strip()]


def query_model() -> type[QueryBase]:
    """The form of a query with a choice for each kind that is registered now, and the fields of all of them."""
    ways = dict.fromkeys(way for kind in registry.QUERY_KINDS for way in registry.cell_fields(kind))
    fields: dict[str, Any] = {
        "kind": (Literal[tuple(registry.QUERY_KINDS)], "count"),
        "cells": (Literal[("", *ways)], Field(default="", description="The way to ask it of each cell, if it is")),
    }
    fields |= {field.name: _model_field(field) for field in registry.query_fields().values()}
    doc = "One query, as it was typed. What does not belong to its kind is left aside."
    model: type[QueryBase] = create_model("QueryDraft", __base__=QueryBase, __module__=__name__, __doc__=doc, **fields)
    return model


def _model_field(field: QueryField) -> tuple[Any, Any]:
    """The type of a field in the model of a query, and its default."""
    if field.input == "keys":
        return list[KeyColumn], Field(default=[], max_length=MAX_KEY_COLUMNS)
    if field.input == "columns":
        return list[ShortText], Field(default=[], max_length=MAX_BY_COLUMNS)
    if field.input == "truth":
        return bool, Field(default=False)
    text_type = LongText if field.input == "values" else ShortText
    return text_type, Field(default=field.default, description=field.description or None)


if TYPE_CHECKING:
    QueryDraft = QueryBase
else:
    QueryDraft = query_model()


class DeclaredColumn(_FormModel):
    """The kind of a column of a CSV file, which is declared and not found in its rows."""

    name: ShortText
    kind: ColumnKindName
    missing: LongText = Field(default="", description="Texts that mean NULL, with commas between them", examples=["NA"])


class DerivedColumn(_FormModel):
    """A new column, computed row by row."""

    name: ShortText = ""
    expression: LongText = Field(default="", examples=["bin(age, 10)"])


class PublicColumn(_FormModel):
    """A column of a public table; its kind, and the texts that mean NULL, where it is a CSV file."""

    kind: FoundKindName = ""
    missing: LongText = ""


class LookupKey(PublicColumn):
    """A column of ours, and the one of the public table that it must equal."""

    column: ShortText = ""
    equals: ShortText = ""


class TakenColumn(PublicColumn):
    """A column of the public table, and its new name; left empty, it keeps its own."""

    column: ShortText = ""
    name: ShortText = ""


class LookupDraft(_FormModel):
    """A public table that columns are taken from, by a key that is unique there."""

    location: ShortText = Field(default="", examples=["public/airports.csv"])
    on: list[LookupKey] = Field(default=[], max_length=MAX_LOOKUP_KEYS)
    take: list[TakenColumn] = Field(default=[], max_length=MAX_TAKEN_COLUMNS)

    @property
    def keys(self) -> list[LookupKey]:
        """The columns of the key, without blank ones."""
        return [key for key in self.on if key.column or key.equals]

    @property
    def taken(self) -> list[TakenColumn]:
        """The columns that are taken, without blank ones."""
        return [column for column in self.take if column.column or column.name]


class PlanDraft(_FormModel):
    """A plan in the making."""

    title: ShortText = ""
    location: ShortText = Field(default="bundled:anes96", examples=["people.csv"])
    table: ShortText = Field(default="", description="Which table of a database")
    columns: list[DeclaredColumn] = Field(default=[], max_length=MAX_COLUMNS)
    derived: list[DerivedColumn] = Field(default=[], max_length=MAX_DERIVED_COLUMNS)
    lookups: list[LookupDraft] = Field(default=[], max_length=MAX_LOOKUPS)
    fingerprint: ShortText = Field(default="", description="Your name for this state of the data")
    neighbours: Literal["replace", "add-remove"] = "replace"
    protects: Literal["row", "person"] = "row"
    person: ShortText = Field(default="", description="The column that names persons")
    keeps: Literal["rows", "groups"] = "rows"
    bound: ShortText = Field(default="1", description="How many rows or groups of each person count")
    part_column: ShortText = ""
    part_equals: ShortText = ""
    budget: ShortText = ""
    epsilon: ShortText = Field(default="", description="ε of the whole plan, for queries that take a share of it")
    delta: ShortText = Field(default="", description="δ of the whole plan, for queries that need one and say none")
    queries: list[QueryDraft] = Field(default=[QueryDraft()], min_length=1, max_length=MAX_QUERIES)


def filled_in(entries: Mapping[str, str]) -> dict[str, Any]:
    """The texts that were not left empty, without blanks around them."""
    return {name: text.strip() for name, text in entries.items() if text.strip()}


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
    """The same without the rows that were left empty: the form has room for one more whenever it is shown."""
    for query in draft.queries:
        for field in registry.query_fields().values():
            if field.input == "keys":
                setattr(query, field.name, query.key_columns(field.name))
            if field.input == "columns":
                setattr(query, field.name, query.names(field.name))
    for lookup in draft.lookups:
        lookup.on, lookup.take = lookup.keys, lookup.taken
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
