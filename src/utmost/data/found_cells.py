"""Cells that are found in the rows, and how many kept rows each has. Secret until a mechanism has selected them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from utmost.data.engines.engine import Row
from utmost.exact.input_text import CONTROL_CHARACTER

MAX_TEXT_CHARS = 200  # of a key
PLAIN_TYPES = frozenset({bool, int, date})  # of keys that are no texts


@dataclass(frozen=True, slots=True)
class FoundKeys:
    """Cells that are found in the rows: the combinations of values that some columns have there.

    A row with a NULL among its keys, or with a key that is not plain (`is_plain_key`), is in no cell.
    """

    columns: tuple[str, ...]


def is_plain_key(value: Any) -> bool:
    r"""Can a row with this key be in a found cell: a plain text, a whole number, a truth value or a date.

    A text is plain if it has at most 200 characters, none of which is a control character, and can be encoded.

    >>> [is_plain_key(value) for value in ("ORD", "", "a\nb", "\ud800", "x" * 201, 7, True, None, 1.5)]
    [True, True, False, False, False, True, True, False, False]
    """
    if isinstance(value, str):
        return len(value) <= MAX_TEXT_CHARS and CONTROL_CHARACTER.search(value) is None and _is_encodable(value)
    return type(value) in PLAIN_TYPES


def is_possible_key(column: Any) -> Any:
    """Whether a value of a column can be fetched as a key: not NULL, and no date beyond the years 1 to 9999."""
    import ibis

    if not column.type().is_date():
        return column.notnull()
    first, last = (ibis.literal(day, column.type()) for day in (date.min, date.max))
    return (column >= first) & (column <= last)


def rows_by_found_cell(rows: Iterable[Row], found_keys: FoundKeys) -> dict[tuple[Any, ...], list[Row]]:
    """What follows the keys in each row, by cell; rows whose keys are not plain are left out."""
    width, by_cell = len(found_keys.columns), dict[tuple[Any, ...], list[Row]]()
    for row in rows:
        cell = tuple(row[:width])
        if cell in by_cell or all(map(is_plain_key, cell)):
            by_cell.setdefault(cell, []).append(tuple(row[width:]))
    return by_cell


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
