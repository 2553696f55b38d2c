"""A plan: what to publish from which table, for whom it must be private, and what it may cost. Read from TOML.

Numbers are read exactly: `epsilon = 0.1` is 1/10. A key that is not known is refused, with the one it resembles.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.continuous.grid_selection import common_step
from utmost.data.partitions import Partition
from utmost.data.queries import (
    Count,
    Grid,
    Histogram,
    Key,
    Mean,
    NeighbourRelation,
    NumberTotal,
    PrivacyUnit,
    Quantile,
    Query,
    Sum,
)
from utmost.data.sources import Source
from utmost.errors import InputError
from utmost.exact import epsilon as level_of
from utmost.exact.plain_text import check_plain_text
from utmost.exact.readable_file import check_no_named_pipe
from utmost.exact.toml import parse_toml
from utmost.ledger.records import MAX_AMOUNT_DIGITS
from utmost.publish.field_reader import Fields, file_error_reason

MAX_PLAN_BYTES = 1 << 20  # bytes of a plan
MAX_QUERIES = 1000
MAX_NAME_CHARS = 100
DEFAULT_LEDGER = "ledger.sqlite"


@dataclass(frozen=True, slots=True)
class QuerySpec:
    """One query of a plan: its name, what it may cost, and what it asks.

    A sum or a mean may say what extra loss is accepted instead of its step. It then has the coarsest grid there is,
    until the number of rows is known and `mechanism_selection.refine_grid` gives it the step.
    """

    name: str
    epsilon: Fraction
    query: Query
    extra_loss: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a release needs but the data. Locations are relative to `folder`, where the plan was found."""

    title: str | None
    neighbours: NeighbourRelation
    budget: str
    ledger: str
    output: Path | None
    source: Source
    fingerprint: str | None
    unit: PrivacyUnit
    part: Partition | None
    queries: tuple[QuerySpec, ...]
    folder: Path

    @property
    def epsilon(self) -> Fraction:
        """What the plan costs: its queries are about the same units, so their ε add up."""
        return sum((query_spec.epsilon for query_spec in self.queries), Fraction(0))


def read_plan(path: str | Path) -> Plan:
    """The plan in a TOML file."""
    plan_path = Path(path)
    check_no_named_pipe(plan_path, "plan")
    try:
        with plan_path.open("rb") as stream:
            raw = stream.read(MAX_PLAN_BYTES + 1)
        text = raw.decode("utf-8")
    except (OSError, ValueError) as problem:
        raise InputError(
            f"plan must name a readable text file, got {plan_path.name}: {file_error_reason(problem)}"
        ) from None
    if len(raw) > MAX_PLAN_BYTES:
        raise InputError(f"plan must be at most {MAX_PLAN_BYTES >> 20} MiB, got a larger file")
    plan = parse_plan(text, plan_path.absolute().parent)
    return replace(plan, output=plan.output or plan.folder / f"{plan_path.stem}.release.json")


def parse_plan(text: str, folder: Path | None = None) -> Plan:
    """The plan in a text of TOML; refused with one line that names the key.

    >>> plan = parse_plan('''
    ... neighbours = "replace"
    ... budget = "survey"
    ... source = {location = "bundled:anes96"}
    ... [[query]]
    ... name = "dole"
    ... kind = "count"
    ... epsilon = 0.1
    ... where = "vote = 1"
    ... ''')
    >>> plan.epsilon, plan.queries[0].query
    (Fraction(1, 10), Count(where='vote = 1'))
    """
    try:
        content = parse_toml(text, "plan")
    except InputError:
        raise
    except (ValueError, RecursionError) as problem:
        raise InputError(f"plan must be TOML: {_shorten(str(problem))}") from None
    return plan_from_mapping(content, folder)


def plan_from_mapping(content: Mapping[str, Any], folder: Path | None = None) -> Plan:
    """The plan in a mapping, as TOML has it."""
    check_plain_text(content, "plan")
    top, base_folder = Fields(content, "plan"), (folder or Path.cwd()).absolute()
    output = top.text("output", None)
    plan = Plan(
        title=top.text("title", None),
        neighbours=_parse_neighbours(top.text("neighbours")),
        budget=top.text("budget"),
        ledger=top.text("ledger", DEFAULT_LEDGER),
        output=None if output is None else base_folder / output,
        **_parse_source(top.table("source")),
        unit=_parse_unit(top.table("unit", {})),
        part=_parse_part(top.table("part", None)),
        queries=_parse_queries(top.tables("query")),
        folder=base_folder,
    )
    top.finish()
    return plan


def _parse_neighbours(word: str) -> NeighbourRelation:
    try:
        return NeighbourRelation(word)
    except ValueError:
        raise InputError(f'neighbours must be "replace" or "add-remove", got "{_shorten(word)}"') from None


def _parse_source(fields: Fields) -> dict[str, Any]:
    location, table, engine = fields.text("location", ""), fields.text("table", None), fields.text("engine", None)
    column_fields = fields.table("columns", {})
    columns = {column: column_fields.text(column) for column in column_fields.columns()}
    fingerprint = fields.text("fingerprint", None)
    fields.finish()
    return {"source": Source(location, table, engine, columns), "fingerprint": fingerprint}


def _parse_unit(fields: Fields) -> PrivacyUnit:
    unit = PrivacyUnit(fields.text("column", None), fields.integer("rows", None), fields.integer("groups", None))
    fields.finish()
    return unit


def _parse_part(fields: Fields | None) -> Partition | None:
    if fields is None:
        return None
    part = Partition(fields.text("column"), check_key(fields.value("equals"), "part equals"))
    fields.finish()
    return part


def _parse_queries(tables: list[Fields]) -> tuple[QuerySpec, ...]:
    if not 1 <= len(tables) <= MAX_QUERIES:
        raise InputError(f"plan must have from 1 to {MAX_QUERIES} queries, got {len(tables)}: add [[query]] tables")
    queries = tuple(_parse_query(fields) for fields in tables)
    names = [query_spec.name for query_spec in queries]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'query names must differ, got "{name}" twice')
    return queries


def _parse_query(fields: Fields) -> QuerySpec:
    name = parse_query_name(fields)
    query_fields = fields.with_label(f'query "{name}"')
    kind = query_fields.text("kind")
    if kind not in _QUERY_PARSERS:
        raise InputError(
            f'{query_fields.label}: kind must be one of {", ".join(_QUERY_PARSERS)}, got "{_shorten(kind)}"'
        )
    epsilon = parse_epsilon(query_fields)
    with name_query_in_errors(name):
        query = _QUERY_PARSERS[kind](query_fields)
    extra = (
        _positive_number(query_fields, "extra_loss")
        if isinstance(query, NumberTotal) and _has_extra_loss(query_fields)
        else None
    )
    query_fields.finish()
    return QuerySpec(name, epsilon, query, extra)


def parse_query_name(fields: Fields) -> str:
    """The name of a query in a table of a plan or a release: two that look alike differ in characters one can see."""
    name = fields.text("name")
    if not name.isprintable() or not 1 <= len(name) <= MAX_NAME_CHARS:
        raise InputError(f"query name must be 1 to {MAX_NAME_CHARS} printable characters")
    return str(name)


def _positive_number(fields: Fields, key: str) -> Fraction:
    value = fields.number(key)
    if not value > 0:
        raise InputError(f"{fields.label}: {key} must be > 0, got {value}")
    return value


def parse_epsilon(fields: Fields) -> Fraction:
    """The ε of a query: a number > 0 that a ledger can hold."""
    value = _positive_number(fields, "epsilon")
    if max(value.numerator, value.denominator) >= 10**MAX_AMOUNT_DIGITS:
        raise InputError(f"{fields.label}: epsilon must be a number of at most {MAX_AMOUNT_DIGITS} digits: round it")
    try:
        level_of(value)
    except InputError as problem:
        raise InputError(f"{fields.label}: {problem}") from None
    return value


def _parse_grid(fields: Fields) -> Grid:
    return Grid(fields.number("low"), fields.number("high"), fields.number("step"))


def _has_extra_loss(fields: Fields) -> bool:
    """Does a sum or a mean say what extra loss is accepted."""
    return fields.raw("extra_loss", None) is not None


def _parse_total_grid(fields: Fields) -> Grid:
    """The grid of a sum or a mean: of its step, or the coarsest one where the step follows from the extra loss."""
    has_step = fields.raw("step", None) is not None
    if has_step == _has_extra_loss(fields):
        raise InputError(
            f"{fields.label}: step or extra_loss must be given, one of the two: a step, or the loss that rounding to "
            "the step it finds may add"
        )
    if has_step:
        return _parse_grid(fields)
    low, high = fields.number("low"), fields.number("high")
    return Grid(low, high, common_step(low, high))


def _parse_nulls(fields: Fields) -> Fraction | None:
    return None if fields.raw("nulls") == "drop" else fields.number("nulls", ' or "drop"')


def _parse_count(fields: Fields) -> Count:
    return Count(fields.text("where", None))


def _parse_histogram(fields: Fields) -> Histogram:
    key_fields = fields.table("keys")
    keys = {
        column: tuple(check_key(value, f"keys of {column}") for value in key_fields.items(column))
        for column in key_fields.columns()
    }
    return Histogram(keys, fields.text("where", None))


def _parse_sum(fields: Fields) -> Sum:
    return Sum(fields.text("column"), _parse_total_grid(fields), _parse_nulls(fields), fields.text("where", None))


def _parse_mean(fields: Fields) -> Mean:
    return Mean(fields.text("column"), _parse_total_grid(fields), _parse_nulls(fields), fields.text("where", None))


def _parse_quantile(fields: Fields) -> Quantile:
    probability = fields.number("probability")
    return Quantile(
        fields.text("column"), _parse_grid(fields), probability, _parse_nulls(fields), fields.text("where", None)
    )


_QUERY_PARSERS: dict[str, Callable[[Fields], Query]] = {
    "count": _parse_count,
    "histogram": _parse_histogram,
    "sum": _parse_sum,
    "mean": _parse_mean,
    "quantile": _parse_quantile,
}


def parse_total(kind: str, fields: Fields) -> Sum | Mean | Quantile:
    """The sum, mean or quantile in a table of a plan or a release."""
    query = _QUERY_PARSERS[kind](fields)
    assert isinstance(query, Sum | Mean | Quantile)
    return query


QUERY_KINDS: dict[type, str] = {Count: "count", Histogram: "histogram", Sum: "sum", Mean: "mean", Quantile: "quantile"}


def check_key(value: object, name: str) -> Key:
    """A public key: a text, a whole number, a truth value or a date."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    type_text = "a number with a point" if isinstance(value, Decimal | float) else "something else"
    raise InputError(
        f"{name} must be texts, whole numbers, true or false, or dates, got {type_text}: use where for the rest"
    )


def load_plan(plan: Plan | Mapping[str, Any] | str | Path) -> Plan:
    """The plan itself, or the one in a mapping or in the file of this name."""
    if isinstance(plan, Plan):
        return plan
    return plan_from_mapping(plan) if isinstance(plan, Mapping) else read_plan(plan)


@contextmanager
def name_query_in_errors(name: str) -> Iterator[None]:
    """Name the query in every error raised inside."""
    try:
        yield
    except InputError as problem:
        prefix = f'query "{name}"'
        raise problem if str(problem).startswith(prefix) else InputError(f"{prefix}: {problem}") from None


def query_content(query: Query) -> dict[str, Any]:
    """What belongs to a query's kind, as a release has it."""
    if isinstance(query, Histogram):
        keys = {column: [key_to_json(value) for value in values] for column, values in query.keys.items()}
        return {"keys": keys, "cells": [[key_to_json(value) for value in cell] for cell in query.cells]}
    if isinstance(query, Count):
        return {}
    grid, nulls = query.grid, "drop" if query.nulls is None else str(query.nulls)
    bounds = {name: str(value) for name, value in (("low", grid.low), ("high", grid.high), ("step", grid.step))}
    share = {"probability": str(query.probability)} if isinstance(query, Quantile) else {}
    return {"column": query.column, **bounds, "nulls": nulls, **share}


def key_to_json(value: Key) -> Any:
    """A key as JSON has it; a date is a table with one entry, so that it is not taken for a text."""
    return {"date": value.isoformat()} if isinstance(value, date) else value


def key_to_text(value: Key) -> str:
    """A key as one text, different for each type."""
    return json.dumps(key_to_json(value), ensure_ascii=False)


def plan_digest(plan: Plan) -> str:
    """A fingerprint of everything that decides what is asked of which data; the same plan has the same one."""
    source, unit, part = plan.source, plan.unit, plan.part
    location = str(plan.folder / source.location)
    content = {
        "source": [location, source.table, source.engine, dict(source.columns)],
        "neighbours": str(plan.neighbours),
        "unit": [unit.column, unit.rows, unit.groups],
        "part": None if part is None else [part.column, key_to_text(part.equals)],
        "queries": [
            [
                query_spec.name,
                QUERY_KINDS[type(query_spec.query)],
                str(query_spec.epsilon),
                query_spec.query.where,
                query_content(query_spec.query),
            ]
            for query_spec in plan.queries
        ],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."
