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
from utmost.queries.found_query import FoundQuery, find_cells
from utmost.queries.found_ranks import FoundRanks
from utmost.queries.found_ratios import FoundMean, FoundVariance
from utmost.queries.grouped import KEYS_FIELD, OTHER_FIELD, group_content, group_query, grouping_schemas
from utmost.queries.histogram import Histogram
from utmost.queries.mean import Mean
from utmost.queries.over import Over
from utmost.queries.quantile import Quantile
from utmost.queries.quantiles import Quantiles
from utmost.queries.query import Query, QueryField
from utmost.queries.sum import Sum
from utmost.queries.tables import TableLevel
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
    Over.kind: Over,
}
FOUND_FORMS: dict[type[Query], type[FoundQuery]] = {  # the forms with `by`: cells that are found in the data
    Sum: FoundQuery,
    Mean: FoundMean,
    Variance: FoundVariance,
    Quantile: FoundRanks,
    Quantiles: FoundRanks,
    Min: FoundRanks,
    Max: FoundRanks,
    Distinct: FoundQuery,
}
FOUND_KINDS = (Count.kind, *dict.fromkeys(kind.kind for kind in FOUND_FORMS), Over.kind)
KEY_KINDS = tuple(KEY_TYPES)
COLUMN_INPUTS = {"number column": NUMBERS, "column": KEY_KINDS, "keys": KEY_KINDS}  # the kinds of columns they take


def parse_kind(fields: Fields) -> type[Query]:
    """The kind that a table of a plan or a release names."""
    name = fields.text("kind")
    if name not in QUERY_KINDS:
        raise fields.error("kind", f'must be one of {", ".join(QUERY_KINDS)}, got "{_shorten(name)}"')
    form = QUERY_KINDS[name].form(fields)
    if "by" not in fields.columns():
        return form
    if form is Count:
        return FoundCount
    if form not in FOUND_FORMS and form is not Over:
        raise fields.error("by", f"must be given with kind {', '.join(FOUND_KINDS)}, got {name}")
    return form


def parse_query(kind: type[Query], fields: Fields) -> Query:
    """The query of this kind in a table of a plan, in each cell where the table has `keys` or `by`."""
    query, form = kind.parse(fields), _found_form(kind, fields)
    return group_query(query, fields) if form is None else find_cells(query, form, fields)


def parse_query_content(kind: type[Query], fields: Fields) -> Query:
    """The same in a table of a release file."""
    query, form = kind.parse_content(fields), _found_form(kind, fields)
    return group_content(query, fields) if form is None else find_cells(query, form, fields)


def _found_form(kind: type[Query], fields: Fields) -> type[FoundQuery] | None:
    return FOUND_FORMS.get(kind) if "by" in fields.columns() else None


def cell_fields(kind: str) -> dict[str, tuple[QueryField, ...]]:
    """The ways to ask a kind of each cell, by the key of a plan that says so, and the fields that each way adds.

    The persons over the bound are one number of all cells together: which cells are told is not asked, so no δ is.

    >>> {way: [field.name for field in fields] for way, fields in cell_fields("count").items()}
    {'keys': ['keys', 'other'], 'by': ['by', 'delta']}
    """
    ways: dict[str, tuple[QueryField, ...]] = {}
    if QUERY_KINDS[kind].takes_keys or kind == Over.kind:
        ways[KEYS_FIELD.name] = (KEYS_FIELD, OTHER_FIELD)
    if kind in FOUND_KINDS:
        ways[BY_FIELD.name] = (BY_FIELD,) if kind == Over.kind else (BY_FIELD, DELTA_FIELD)
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

    >>> kinds_with_field("domain"), kinds_with_field("k"), "sum/keys" in kinds_with_field("keys")
    (('distinct', 'over'), ('top',), True)
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
    (('count', 'histogram', 'top', 'distinct', 'over'), ())
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
    kinds: list[type[Query]] = [*QUERY_KINDS.values(), FoundCount, TableLevel]
    for form in (form for kind in kinds for form in kind.forms()):
        entries = [*form.schema().items(), *(grouping_schemas(form).items() if form.takes_keys else ())]
        for key, schema in entries:
            schemas = alternatives.setdefault(key, [])
            schemas += [] if schema in schemas else [schema]
    alternatives["counts"] = [{"type": "array", "items": {"type": "integer"}}]
    return {key: schemas[0] if len(schemas) == 1 else {"anyOf": schemas} for key, schemas in alternatives.items()}


def documented_keys(kind: type[Query]) -> str:
    """The keys of a kind beside name, kind and epsilon, as docs/plan.md lists them.

    >>> documented_keys(Sum)
    '`column`, `low`, `high`, `step` or `extra_loss`, `nulls`, `keys`, `other`, `by`, `where`'
    """
    alternatives = {field.instead_of: f" or `{field.name}`" for field in kind.fields}
    keys = [f"`{field.name}`{alternatives.get(field.name, '')}" for field in kind.fields if field.instead_of is None]
    groups = [f"`{field.name}`" for way in cell_fields(kind.kind).values() for field in way if field is not DELTA_FIELD]
    return ", ".join([*keys, *groups, "`where`"])


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."
