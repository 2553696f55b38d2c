"""Cells that are found in the rows, and how many kept rows each has. Secret until a mechanism has selected them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from utmost.data.engines.engine import Row
from utmost.data.selection import Key
from utmost.exact.input_text import CONTROL_CHARACTER

MAX_TEXT_CHARS = 200  # of a key
PLAIN_TYPES = frozenset({bool, int, date})  # of keys that are no texts


class FoundCounts(list[int]):
    """The numbers of kept rows, and the cells that they belong to, in the same order."""

    def __init__(self, counts: Iterable[int], cells: Sequence[tuple[Key, ...]]) -> None:
        super().__init__(counts)
        self.cells = tuple(cells)


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


def found_counts(rows: Iterable[Row]) -> FoundCounts:
    """Rows of a cell's keys and its number, without the cells whose keys are not plain. Equal keys are one cell."""
    counts: dict[tuple[Key, ...], int] = {}
    for row in rows:
        cell = tuple(row[:-1])
        if all(map(is_plain_key, cell)):
            counts[cell] = counts.get(cell, 0) + int(row[-1])
    return FoundCounts(counts.values(), tuple(counts))


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
