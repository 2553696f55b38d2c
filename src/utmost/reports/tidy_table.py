"""Describe the tidy table of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.queries.keys import key_name, key_to_json
from utmost.reports.blocks import Report, Table

if TYPE_CHECKING:
    from utmost.publish.tidy_table import TidyTable


def describe(table: TidyTable) -> Report:
    """All rows; a cell is empty where a query has no such key, or a value no interval."""
    rows = tuple(tuple("" if cell is None else key_name(cell) for cell in table.cells(row)) for row in table.rows)
    text_columns = len(table.columns) - len(("value", "low", "high", "error"))
    return Report({"table": Table(table.columns, rows, text_columns)}, _document(table))


def _document(table: TidyTable) -> dict[str, Any]:
    """The columns, and the rows as lists in their order: decimals are texts, keys as a release file has them."""
    rows = [[None if cell is None else key_to_json(cell) for cell in table.cells(row)] for row in table.rows]
    return {"columns": list(table.columns), "rows": rows}
