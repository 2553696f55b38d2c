"""The kinds of queries: one line each. Readers, writers, schemas, forms and docs take the kinds from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.data.cells import KEY_TYPES
from utmost.data.engines.schema import ColumnKind
from utmost.data.table import NUMBERS
from utmost.queries.count import Count
from utmost.queries.distinct import Distinct
from utmost.queries.extremes import Max, Min
from utmost.queries.found_cells import BY_FIELD, DELTA_FIELD
from utmost.queries.found_count import FoundCount
from utmost.queries.grouped import KEYS_FIELD, OTHER_FIELD, group_content, group_query, grouping_schemas
from utmost.queries.histogram import Histogram
from utmost.queries.mean import Mean
from utmost.queries.quantile import Quantile
from utmost.queries.query import Query, QueryField
from utmost.queries.sum import Sum
from utmost.queries.top import Top
from utmost.queries.variance import Variance

if TYPE_CHECKING:
    from utmost.exact.input_text import Fields

QUERY_KINDS: dict[str, type[Query]] = {
    Count.kind: Count,
    Histogram.kind: Histogram,
    Sum.kind: Sum,
    Mean.kind: Mean,
    Quantile.kind: Quantile,
    Min.kind: Min,
    Max.kind: Max,
    Top.kind: Top,
    Variance.kind: Variance,
    Distinct.kind: Distinct,
}
FOUND_KINDS: dict[str, type[Query]] = {  # the same kinds with `by`: cells that are found in the data
    FoundCount.kind: FoundCount,
}
KEY_KINDS = tuple(KEY_TYPES)
COLUMN_INPUTS = {"number column": NUMBERS, "column": KEY_KINDS, "keys": KEY_KINDS}  # the kinds of columns they take


def parse_kind(fields: Fields) -> type[Query]:
    """The kind that a table of a plan or a release names."""
    name = fields.text("kind")
    if name not in QUERY_KINDS:
        raise fields.error("kind", f'must be one of {", ".join(QUERY_KINDS)}, got "{_shorten(name)}"')
    kind = QUERY_KINDS[name]
    if "by" not in fields.columns():
        return kind.form(fields)
    if name not in FOUND_KINDS:
        raise fields.error("by", f"must be given with kind {' or '.join(FOUND_KINDS)} only, got {name}")
    return FOUND_KINDS[name]


def parse_query(kind: type[Query], fields: Fields) -> Query:
    """The query of this kind in a table of a plan, in each cell where the table has keys."""
    return group_query(kind.parse(fields), fields)


def parse_query_content(kind: type[Query], fields: Fields) -> Query:
    """The same in a table of a release file."""
    return group_content(kind.parse_content(fields), fields)


def cell_fields(kind: str) -> dict[str, tuple[QueryField, ...]]:
    """The ways to ask a kind of each cell, by the key of a plan that says so, and the fields that each way adds.

    >>> {way: [field.name for field in fields] for way, fields in cell_fields("count").items()}
    {'keys': ['keys', 'other'], 'by': ['by', 'delta']}
    """
    own_names = {field.name for field in QUERY_KINDS[kind].fields}
    ways: dict[str, tuple[QueryField, ...]] = {}
    if QUERY_KINDS[kind].takes_keys:
        ways[KEYS_FIELD.name] = (KEYS_FIELD, OTHER_FIELD)
    if kind in FOUND_KINDS:
        found_fields = (field for field in FOUND_KINDS[kind].fields if field.name not in own_names)
        ways[BY_FIELD.name] = tuple({field.name: field for field in (BY_FIELD, DELTA_FIELD, *found_fields)}.values())
    return ways


def asked_fields(kind: str, cells: str = "") -> tuple[QueryField, ...]:
    """The fields of a kind, with those of a way to ask it of each cell, if it has that way."""
    return (*QUERY_KINDS[kind].fields, *cell_fields(kind).get(cells, ()))


def query_fields() -> dict[str, QueryField]:
    """The fields of all kinds and of all ways to ask them of cells, each once, by name."""
    fields: dict[str, QueryField] = {}
    for field in (field for kind, cells in _askings() for field in asked_fields(kind, cells)):
        if field.name not in fields or field.input == "column":  # a column of numbers for some kinds, any for others
            fields[field.name] = field
    return fields


def kinds_with_field(name: str) -> tuple[str, ...]:
    """The kinds that have this field; with a way to ask them of cells behind a slash where only that way has it.

    >>> kinds_with_field("by"), kinds_with_field("k"), "sum/keys" in kinds_with_field("keys")
    (('count/by',), ('top',), True)
    """
    own_kinds = {kind: any(field.name == name for field in asked_fields(kind)) for kind in QUERY_KINDS}
    return tuple(
        f"{kind}/{cells}" if cells else kind
        for kind, cells in _askings()
        if own_kinds[kind] != bool(cells) and any(field.name == name for field in asked_fields(kind, cells))
    )


def _askings() -> list[tuple[str, str]]:
    """Each kind, and each kind with each way to ask it of cells."""
    return [(kind, cells) for kind in QUERY_KINDS for cells in ("", *cell_fields(kind))]


def kinds_of_column(column_kind: ColumnKind) -> tuple[str, ...]:
    """The kinds of queries that a column of this kind can be used in.

    >>> kinds_of_column(ColumnKind.TEXT), kinds_of_column(ColumnKind.OTHER)
    (('count', 'histogram', 'top', 'distinct'), ())
    """
    if column_kind is ColumnKind.OTHER:
        return ()
    taken = {input_type: column_kind in column_kinds for input_type, column_kinds in COLUMN_INPUTS.items()}
    return tuple(
        kind.kind for kind in QUERY_KINDS.values() if all(taken.get(field.input, True) for field in kind.fields)
    )


def kind_schemas() -> dict[str, Any]:
    """The JSON schemas of the entries of queries in a release, by key; an entry of several kinds fits one of theirs."""
    alternatives: dict[str, list[Any]] = {}
    for kind in (*QUERY_KINDS.values(), *FOUND_KINDS.values()):
        entries = [*kind.schema().items(), *(grouping_schemas(kind).items() if kind.takes_keys else ())]
        for key, schema in entries:
            schemas = alternatives.setdefault(key, [])
            schemas += [] if schema in schemas else [schema]
    return {key: schemas[0] if len(schemas) == 1 else {"anyOf": schemas} for key, schemas in alternatives.items()}


def documented_keys(kind: type[Query]) -> str:
    """The keys of a kind beside name, kind and epsilon, as docs/plan.md lists them.

    >>> documented_keys(Sum)
    '`column`, `low`, `high`, `step` or `extra_loss`, `nulls`, `keys`, `other`, `where`'
    """
    alternatives = {field.instead_of: f" or `{field.name}`" for field in kind.fields}
    keys = [f"`{field.name}`{alternatives.get(field.name, '')}" for field in kind.fields if field.instead_of is None]
    groups = ["`keys`", "`other`"] if kind.takes_keys else []
    return ", ".join([*keys, *groups, "`where`"])


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."
