"""The tables of a release file: which of its queries are levels of one table, and what was known of it beforehand.

Nothing is believed that follows from something else: cells and names of levels are computed from the keys, and each
query of a table must be one of its levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from utmost.data.cells import MAX_CELLS, Grouping
from utmost.errors import InputError
from utmost.exact.input_text import Fields
from utmost.publish.plan_tables import MAX_LEVELS, MAX_TOTAL, check_totals
from utmost.queries.grouped import KEYS_SCHEMA, keys_from_content
from utmost.queries.keys import KEY_SCHEMA
from utmost.queries.query import ALTERED
from utmost.queries.tables import CountTable, KnownTotal, Level, TableLevel, cell_from_json, cell_to_json

if TYPE_CHECKING:
    from utmost.publish.release_model import Answer

MAX_TABLES = 100


def tables_content(tables: Sequence[CountTable]) -> dict[str, Any]:
    """The tables of a release, where it has any."""
    return {"tables": [table.content() for table in tables]} if tables else {}


def read_tables(top: Fields) -> dict[str, CountTable]:
    """The tables of a release file, by name."""
    entries = top.tables("tables") if top.raw("tables", None) is not None else []
    if len(entries) > MAX_TABLES:
        raise InputError(f"tables must be at most {MAX_TABLES}, got {len(entries)}", "tables", ALTERED)
    tables = [_read_table(fields) for fields in entries]
    by_name = {table.name: table for table in tables}
    if len(by_name) < len(tables):
        raise InputError("tables must have different names", "tables", ALTERED, context="release")
    return by_name


def _read_table(entry: Fields) -> CountTable:
    name = entry.text("name")
    fields = entry.with_label(f'release: table "{name[:60]}"')
    where = None if fields.raw("where") is None else fields.text("where")
    grouping = _read_grouping(fields)
    table = CountTable(name, grouping, _read_levels(fields, tuple(grouping.keys)), where)
    stated = [level.text("query") for level in fields.tables("levels")]
    if tuple(stated) != table.query_names:
        raise fields.error("levels", "must have the queries of its levels, got others", ALTERED)
    if fields.raw("totals", None) is not None:
        table = replace(table, totals=_read_totals(fields, table))
    fields.finish()
    return table


def _read_grouping(fields: Fields) -> Grouping:
    keys, other = keys_from_content(fields), fields.truth("other", False)
    listed = None
    if fields.raw("cells", None) is not None:
        listed = tuple(cell_from_json(cell, fields, "cells") for cell in fields.items("cells"))
        _check_listed(listed, keys, fields)
    elif prod(len(values) for values in keys.values()) > MAX_CELLS:
        raise fields.error("keys", f"must make at most {MAX_CELLS} cells, got more", ALTERED)
    try:
        return Grouping(keys, other, listed)  # type: ignore[arg-type]
    except InputError as problem:
        raise fields.locate(problem) from None


def _check_listed(cells: Sequence[tuple[Any, ...]], keys: Mapping[str, Sequence[Any]], fields: Fields) -> None:
    """Refuse combinations that are not of the keys, or twice the same, and keys that no combination has."""
    if not cells or any(len(cell) != len(keys) for cell in cells) or len(set(cells)) < len(cells):
        raise fields.error("cells", "must be different combinations of its keys, got others", ALTERED)
    columns = [tuple(dict.fromkeys(cell[k] for cell in cells)) for k in range(len(keys))]
    for found, stated in zip(columns, keys.values(), strict=True):
        if set(map(_typed, found)) != set(map(_typed, stated)):
            raise fields.error("cells", "must be combinations of its keys, got others", ALTERED)


def _typed(key: object) -> tuple[type, object]:
    """A key that is equal to no key of another type."""
    return type(key), key


def _read_levels(fields: Fields, columns: Level) -> tuple[Level, ...]:
    levels = []
    for level in fields.tables("levels"):
        names = level.items("columns")
        if names != [column for column in columns if column in names]:
            raise fields.error("levels", "must have columns of its keys, in their order, got others", ALTERED)
        level.text("query")
        level.finish()
        levels.append(tuple(names))
    if not 1 <= len(levels) <= MAX_LEVELS or len(set(levels)) < len(levels):
        raise fields.error("levels", f"must be 1 to {MAX_LEVELS} different ones, got others", ALTERED)
    return tuple(levels)


def _read_totals(fields: Fields, table: CountTable) -> tuple[KnownTotal, ...]:
    totals = []
    for total in fields.tables("totals"):
        columns, cell, value = total.items("columns"), total.raw("cell"), total.integer("value")
        total.finish()
        if columns != [column for column in table.columns if column in columns] or not 0 <= value <= MAX_TOTAL:
            raise fields.error("totals", "must have columns of its keys and numbers of rows, got others", ALTERED)
        totals.append(KnownTotal(tuple(columns), cell_from_json(cell, fields, "totals"), value))
        if len(totals[-1].cell) != len(columns):
            raise fields.error("totals", "must have a key for each of their columns, got others", ALTERED)
    check_totals(totals, table, fields)
    return tuple(totals)


def read_level(fields: Fields, tables: Mapping[str, CountTable]) -> TableLevel:
    """The level that a query of a release file is."""
    name, columns, cells = fields.text("table"), fields.items("columns"), fields.items("cells")
    where = None if fields.raw("where") is None else fields.text("where")
    table = tables.get(name)
    if table is None or tuple(columns) not in table.levels:
        raise fields.error("table", "must be one of tables, with these columns as a level, got another", ALTERED)
    level = TableLevel(table, tuple(columns))
    if where != table.where or cells != [cell_to_json(cell) for cell in level.cells]:
        raise fields.error("cells", "must be those of its table, with the same where, got others", ALTERED)
    return level


def check_levels(tables: Mapping[str, CountTable], answers: Sequence[Answer]) -> None:
    """Refuse a table some of whose levels are not among the answers, and levels under another name."""
    for table in tables.values():
        queries = [(answer.name, answer.query) for answer in answers]
        levels = [(name, q.level) for name, q in queries if isinstance(q, TableLevel) and q.table.name == table.name]
        if levels != list(zip(table.query_names, table.levels, strict=True)):
            problem = f'queries must be the levels of table "{table.name[:60]}" in their order, got others'
            raise InputError(problem, "queries", ALTERED, context="release")


def tables_schema() -> dict[str, Any]:
    """The JSON schema of the tables of a release."""
    text, key_or_null = {"type": "string"}, {"anyOf": [KEY_SCHEMA, {"type": "null"}]}
    texts, cell = {"type": "array", "items": text}, {"type": "array", "items": key_or_null}
    level = _object({"columns": texts, "query": text}, ["columns", "query"])
    total = _object({"columns": texts, "cell": cell, "value": {"type": "integer"}}, ["columns", "cell", "value"])
    properties = {
        "name": text,
        "where": {"type": ["string", "null"]},
        "keys": KEYS_SCHEMA,
        "cells": {"type": "array", "items": cell},
        "other": {"type": "boolean"},
        "levels": {"type": "array", "minItems": 1, "items": level},
        "totals": {"type": "array", "items": total},
    }
    return {"type": "array", "items": _object(properties, ["name", "where", "keys", "levels"])}


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}
