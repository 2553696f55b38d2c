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
from utmost.exact.toml import parse_toml
from utmost.ledger.records import LONGEST_AMOUNT
from utmost.publish.field_reader import Fields, file_error_reason

MAX_PLAN_BYTES = 1 << 20  # bytes of a plan
MOST_QUERIES = 1000
LONGEST_NAME = 100
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
        return sum((asked.epsilon for asked in self.queries), Fraction(0))


def read_plan(path: str | Path) -> Plan:
    """The plan in a TOML file."""
    place = Path(path)
    try:
        with place.open("rb") as stream:
            raw = stream.read(MAX_PLAN_BYTES + 1)
        text = raw.decode("utf-8")
    except (OSError, ValueError) as problem:
        raise InputError(
            f"plan must name a readable text file, got {place.name}: {file_error_reason(problem)}"
        ) from None
    if len(raw) > MAX_PLAN_BYTES:
        raise InputError(f"plan must be at most {MAX_PLAN_BYTES >> 20} MiB, got a larger file")
    found = parse_plan(text, place.absolute().parent)
    return replace(found, output=found.output or found.folder / f"{place.stem}.release.json")


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
        raise InputError(f"plan must be TOML: {_short(str(problem))}") from None
    return plan_from_mapping(content, folder)


def plan_from_mapping(content: Mapping[str, Any], folder: Path | None = None) -> Plan:
    """The plan in a mapping, as TOML has it."""
    top, here = Fields(content, "plan"), (folder or Path.cwd()).absolute()
    output = top.text("output", None)
    found = Plan(
        title=top.text("title", None),
        neighbours=_neighbours(top.text("neighbours")),
        budget=top.text("budget"),
        ledger=top.text("ledger", DEFAULT_LEDGER),
        output=None if output is None else here / output,
        **_source(top.table("source")),
        unit=_unit(top.table("unit", {})),
        part=_part(top.table("part", None)),
        queries=_queries(top.tables("query")),
        folder=here,
    )
    top.finish()
    return found


def _neighbours(word: str) -> NeighbourRelation:
    try:
        return NeighbourRelation(word)
    except ValueError:
        raise InputError(f'neighbours must be "replace" or "add-remove", got "{_short(word)}"') from None


def _source(fields: Fields) -> dict[str, Any]:
    location, table, engine = fields.text("location", ""), fields.text("table", None), fields.text("engine", None)
    declared = fields.table("columns", {})
    columns = {column: declared.text(column) for column in declared.columns()}
    fingerprint = fields.text("fingerprint", None)
    fields.finish()
    return {"source": Source(location, table, engine, columns), "fingerprint": fingerprint}


def _unit(fields: Fields) -> PrivacyUnit:
    unit = PrivacyUnit(fields.text("column", None), fields.whole("rows", None), fields.whole("groups", None))
    fields.finish()
    if unit.column == "row":
        raise InputError("[unit]: column must not be called row, which in a ledger means each row: rename it in a view")
    return unit


def _part(fields: Fields | None) -> Partition | None:
    if fields is None:
        return None
    part = Partition(fields.text("column"), key(fields.value("equals"), "part equals"))
    fields.finish()
    return part


def _queries(tables: list[Fields]) -> tuple[QuerySpec, ...]:
    if not 1 <= len(tables) <= MOST_QUERIES:
        raise InputError(f"plan must have from 1 to {MOST_QUERIES} queries, got {len(tables)}: add [[query]] tables")
    queries = tuple(_asked(fields) for fields in tables)
    names = [asked.name for asked in queries]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'query names must differ, got "{name}" twice')
    return queries


def _asked(fields: Fields) -> QuerySpec:
    name = fields.text("name")
    if not name.isprintable() or not 1 <= len(name) <= LONGEST_NAME:
        raise InputError(f"query name must be 1 to {LONGEST_NAME} printable characters")
    named = fields.named(f'query "{name}"')
    kind = named.text("kind")
    if kind not in _KINDS:
        raise InputError(f'{named.place}: kind must be one of {", ".join(_KINDS)}, got "{_short(kind)}"')
    epsilon = _epsilon(named)
    with name_query_in_errors(name):
        query = _KINDS[kind](named)
    extra = _positive(named, "extra_loss") if isinstance(query, NumberTotal) and _accepts(named) else None
    named.finish()
    return QuerySpec(name, epsilon, query, extra)


def _positive(fields: Fields, key: str) -> Fraction:
    value = fields.number(key)
    if not value > 0:
        raise InputError(f"{fields.place}: {key} must be > 0, got {value}")
    return value


def _epsilon(fields: Fields) -> Fraction:
    value = _positive(fields, "epsilon")
    if max(value.numerator, value.denominator) >= 10**LONGEST_AMOUNT:
        raise InputError(f"{fields.place}: epsilon must be a number of at most {LONGEST_AMOUNT} digits: round it")
    try:
        level_of(value)
    except InputError as problem:
        raise InputError(f"{fields.place}: {problem}") from None
    return value


def _grid(fields: Fields) -> Grid:
    return Grid(fields.number("low"), fields.number("high"), fields.number("step"))


def _accepts(fields: Fields) -> bool:
    """Does a sum or a mean say what extra loss is accepted."""
    return fields.raw("extra_loss", None) is not None


def _summed(fields: Fields) -> Grid:
    """The grid of a sum or a mean: of its step, or the coarsest one where the step follows from the extra loss."""
    stepped = fields.raw("step", None) is not None
    if stepped == _accepts(fields):
        raise InputError(
            f"{fields.place}: step or extra_loss must be given, one of the two: a step, or the loss that rounding to "
            "the step it finds may add"
        )
    if stepped:
        return _grid(fields)
    low, high = fields.number("low"), fields.number("high")
    return Grid(low, high, common_step(low, high))


def _nulls(fields: Fields) -> Fraction | None:
    return None if fields.raw("nulls") == "drop" else fields.number("nulls", ' or "drop"')


def _count(fields: Fields) -> Count:
    return Count(fields.text("where", None))


def _histogram(fields: Fields) -> Histogram:
    listed = fields.table("keys")
    keys = {column: tuple(key(v, f"keys of {column}") for v in listed.items(column)) for column in listed.columns()}
    return Histogram(keys, fields.text("where", None))


def _sum(fields: Fields) -> Sum:
    return Sum(fields.text("column"), _summed(fields), _nulls(fields), fields.text("where", None))


def _mean(fields: Fields) -> Mean:
    return Mean(fields.text("column"), _summed(fields), _nulls(fields), fields.text("where", None))


def _quantile(fields: Fields) -> Quantile:
    share = fields.number("probability")
    return Quantile(fields.text("column"), _grid(fields), share, _nulls(fields), fields.text("where", None))


_KINDS: dict[str, Callable[[Fields], Query]] = {
    "count": _count,
    "histogram": _histogram,
    "sum": _sum,
    "mean": _mean,
    "quantile": _quantile,
}
QUERY_KINDS: dict[type, str] = {Count: "count", Histogram: "histogram", Sum: "sum", Mean: "mean", Quantile: "quantile"}


def key(value: object, name: str) -> Key:
    """A public key: a text, a whole number, a truth value or a date."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    other = "a number with a point" if isinstance(value, Decimal | float) else "something else"
    raise InputError(
        f"{name} must be texts, whole numbers, true or false, or dates, got {other}: use where for the rest"
    )


def load_plan(given: Plan | Mapping[str, Any] | str | Path) -> Plan:
    """The plan itself, or the one in a mapping or in the file of this name."""
    if isinstance(given, Plan):
        return given
    return plan_from_mapping(given) if isinstance(given, Mapping) else read_plan(given)


@contextmanager
def name_query_in_errors(name: str) -> Iterator[None]:
    """Complaints from within say which query they are about."""
    try:
        yield
    except InputError as problem:
        place = f'query "{name}"'
        raise problem if str(problem).startswith(place) else InputError(f"{place}: {problem}") from None


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
    """A key as one text, told apart by its type."""
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
                asked.name,
                QUERY_KINDS[type(asked.query)],
                str(asked.epsilon),
                asked.query.where,
                query_content(asked.query),
            ]
            for asked in plan.queries
        ],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."
