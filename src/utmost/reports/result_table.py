"""Describe a result that is a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.reports.blocks import Block, Cell, Paragraph, Report, Table
from utmost.reports.numbers import Quantity, Rounding
from utmost.tables import Role, label_text

if TYPE_CHECKING:
    from utmost.tables import Column, Entry, ResultTable

MAX_SHOWN_ROWS = 20
MAX_LABEL_CHARS = 60
VALUE_DIGITS = 8
ROUNDING = {Role.VALUE: Rounding.NEAREST, Role.LOWER: Rounding.DOWN, Role.UPPER: Rounding.UP}


def describe(table: ResultTable) -> Report:
    """The first rows, and how many more there are; the document has them all."""
    columns = sorted(table.columns, key=lambda column: not column.is_label)  # the labels before the numbers
    rows = tuple(
        tuple(_cell(column, column.entries[k]) for column in columns) for k in range(min(len(table), MAX_SHOWN_ROWS))
    )
    text_columns = sum(column.is_label for column in columns)
    names = tuple(shorten(column.name) for column in columns)
    blocks: dict[str, Block | None] = {"table": Table(names, rows, text_columns)}
    if len(table) > MAX_SHOWN_ROWS:
        blocks["more"] = Paragraph(f"The first {MAX_SHOWN_ROWS} of {len(table)} rows; to_pandas() has them all.")
    return Report(blocks, lambda: _document(table))


def shorten(text: str) -> str:
    """A text that fits a cell."""
    return text if len(text) <= MAX_LABEL_CHARS else f"{text[: MAX_LABEL_CHARS - 1]}…"


def _cell(column: Column, entry: Entry) -> Cell:
    if entry is None:
        return ""
    if column.is_label:
        return shorten(label_text(entry))
    return Quantity(entry, VALUE_DIGITS, ROUNDING[column.role])  # type: ignore[arg-type]


def _document(table: ResultTable) -> dict[str, Any]:
    """The columns, and the rows as lists in their order; numbers are texts."""
    columns = [[column.text(entry) for entry in column.entries] for column in table.columns]
    return {"columns": list(table.names), "rows": [list(row) for row in zip(*columns, strict=True)]}
