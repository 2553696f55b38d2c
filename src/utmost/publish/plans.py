"""A plan: what to publish from which table, for whom it must be private, and what it may cost. Read from TOML.

Numbers are read exactly: `epsilon = 0.1` is 1/10. A key that is not known is refused, with the one it resembles.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.data.sources import Source
from utmost.errors import InputError
from utmost.exact import epsilon as level_of
from utmost.exact.files import check_no_named_pipe
from utmost.exact.input_text import Fields, check_plain_text, file_error_reason, parse_toml
from utmost.ledger.costs import MAX_AMOUNT_DIGITS
from utmost.publish import key_files
from utmost.queries import registry
from utmost.queries.keys import check_key, key_to_text
from utmost.queries.query import Query

MAX_PLAN_BYTES = 1 << 20  # bytes of a plan
MAX_QUERIES = 1000
MAX_NAME_CHARS = 100
DEFAULT_LEDGER = "ledger.sqlite"


@dataclass(frozen=True, slots=True)
class QuerySpec:
    """One query of a plan: its name, what it may cost, and what it asks."""

    name: str
    epsilon: Fraction
    query: Query


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
            f"plan must name a readable text file, got {plan_path.name}: {file_error_reason(problem)}", "plan"
        ) from None
    if len(raw) > MAX_PLAN_BYTES:
        raise InputError(f"plan must be at most {MAX_PLAN_BYTES >> 20} MiB, got a larger file", "plan")
    plan = parse_plan(text, plan_path.absolute().parent)
    return replace(plan, output=plan.output or plan.folder / f"{plan_path.stem}.release.json")


def parse_plan(text: str, folder: Path | None = None, *, with_key_files: bool = True) -> Plan:
    """The plan in a text of TOML; refused with one line that names the key.

    Files that its keys name are read, unless the plan must name none.

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
        raise InputError(f"plan must be TOML: {_shorten(str(problem))}", "plan") from None
    if not with_key_files:
        key_files.check_no_key_files(content)
    return plan_from_mapping(content, folder)


def plan_from_mapping(content: Mapping[str, Any], folder: Path | None = None) -> Plan:
    """The plan in a mapping, as TOML has it."""
    check_plain_text(content, "plan")
    base_folder = (folder or Path.cwd()).absolute()
    top = Fields(key_files.load_key_files(content, base_folder), "plan")
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
        raise InputError(
            f'neighbours must be "replace" or "add-remove", got "{_shorten(word)}"', "neighbours"
        ) from None


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
    part = Partition(fields.text("column"), check_key(fields.value("equals"), "part equals", "part.equals"))
    fields.finish()
    return part


def _parse_queries(tables: list[Fields]) -> tuple[QuerySpec, ...]:
    if not 1 <= len(tables) <= MAX_QUERIES:
        raise InputError(
            f"plan must have from 1 to {MAX_QUERIES} queries, got {len(tables)}", "query", "add [[query]] tables"
        )
    queries = tuple(_parse_query(fields) for fields in tables)
    names = [query_spec.name for query_spec in queries]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'query names must differ, got "{name}" twice', "query")
    return queries


def _parse_query(fields: Fields) -> QuerySpec:
    name = parse_query_name(fields)
    query_fields = fields.with_label(f'query "{name}"')
    kind = registry.parse_kind(query_fields)
    epsilon = parse_epsilon(query_fields)
    with name_query_in_errors(name):
        query = registry.parse_query(kind, query_fields)
    query_fields.finish()
    return QuerySpec(name, epsilon, query)


def parse_query_name(fields: Fields) -> str:
    """The name of a query in a table of a plan or a release: two that look alike differ in characters one can see."""
    name = fields.text("name")
    if not name.isprintable() or not 1 <= len(name) <= MAX_NAME_CHARS:
        raise InputError(f"query name must be 1 to {MAX_NAME_CHARS} printable characters", "name")
    return str(name)


def parse_epsilon(fields: Fields) -> Fraction:
    """The ε of a query: a number > 0 that a ledger can hold."""
    value = fields.number("epsilon")
    if not value > 0:
        raise fields.error("epsilon", f"must be > 0, got {value}")
    if max(value.numerator, value.denominator) >= 10**MAX_AMOUNT_DIGITS:
        raise fields.error("epsilon", f"must be a number of at most {MAX_AMOUNT_DIGITS} digits", "round it")
    try:
        level_of(value)
    except InputError as problem:
        raise fields.locate(problem, "epsilon") from None
    return value


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
        raise problem.within(f'query "{name}"') from None


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
                query_spec.query.kind,
                str(query_spec.epsilon),
                query_spec.query.where,
                query_spec.query.content(),
            ]
            for query_spec in plan.queries
        ],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."
