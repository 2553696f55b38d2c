"""The cells of a histogram: check their keys, select their rows, collect their counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from utmost.data.column_kinds import ColumnKind
from utmost.data.engines.engine import Row
from utmost.data.predicates.column_casts import text_literal
from utmost.data.queries import Key
from utmost.errors import InputError

MAX_LISTED_KEYS = 500  # keys that are listed one by one: ibis takes a tenth of a millisecond for each
KEY_SEPARATORS = ",;\x1f\x1e\x1d\x1c"
KEY_TYPES: Mapping[ColumnKind, type] = {
    ColumnKind.INTEGER: int,
    ColumnKind.TEXT: str,
    ColumnKind.TRUTH: bool,
    ColumnKind.DATE: date,
}
TYPE_NAMES = {int: "whole numbers", str: "texts", bool: "true or false", date: "dates"}


def check_keys(keys: Sequence[Key], kind: ColumnKind, role: str) -> None:
    """Refuse keys that a column of the kind cannot equal, whatever it holds; `role` says whose they are.

    >>> check_keys([1, 2], ColumnKind.TEXT, "keys of region")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    utmost.errors.InputError: keys of region must be texts, since the column is of kind text, got an int: ...
    """
    expected_type = KEY_TYPES.get(kind)
    if expected_type is None:
        raise InputError(
            f"{role} must be of a column of integers, texts, truths or dates, got one of kind {kind}: use where"
        )
    for key in keys:
        if type(key) is not expected_type:
            hint = (
                "put it in quotes"
                if expected_type is str
                else "write it without quotes"
                if type(key) is str
                else "change it"
            )
            got = "datetime" if type(key) not in TYPE_NAMES else type(key).__name__
            raise InputError(
                f"{role} must be {TYPE_NAMES[expected_type]}, since the column is of kind {kind}, got {got}: {hint}"
            )
        if isinstance(key, str) and ("\0" in key or not _is_encodable(key)):
            raise InputError(
                f"{role} must be texts of Unicode characters other than NUL, got one with another: leave it out"
            )


def key_texts(keys: Sequence[Key], dtype: Any) -> list[Key]:
    """The keys that a column of the type can hold; no row has any of the others."""
    if not dtype.is_integer():
        return list(keys)
    low, high = dtype.bounds
    return [key for key in keys if isinstance(key, int) and low <= key <= high]


def is_among(column: Any, keys: Sequence[Key]) -> Any:
    """Whether the column's value is one of the keys; not true of NULL."""
    import ibis

    possible_keys = key_texts(keys, column.type())
    if not possible_keys:
        return ibis.literal(False)
    if len(possible_keys) > MAX_LISTED_KEYS and not isinstance(possible_keys[0], bool):
        return column.isin(_key_column([str(key) for key in possible_keys], column.type()))
    return column.isin(
        [text_literal(key) if isinstance(key, str) else ibis.literal(key, column.type()) for key in possible_keys]
    )


def cell_counts(rows: Sequence[Row], cells: Sequence[tuple[Key, ...]]) -> list[int]:
    """The number of each cell, from rows of a cell's keys and its number; 0 for a cell that did not come back."""
    counts = {tuple(row[:-1]): int(row[-1]) for row in rows}
    return [counts.get(cell, 0) for cell in cells]


def _key_column(keys: list[str], dtype: Any) -> Any:
    """A column of many keys, sent as one text and taken apart inside the engine."""
    characters = set().union(*keys)
    separator = next(
        character for character in (*KEY_SEPARATORS, *map(chr, range(0xE000, 0xF8FF))) if character not in characters
    )
    pieces = text_literal(separator.join(keys)).split(separator).unnest().name("key").as_table()
    return pieces["key"] if dtype.is_string() else pieces.select(key=pieces["key"].cast(dtype))["key"]


def _is_encodable(key: str) -> bool:
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True
