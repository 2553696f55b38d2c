"""Cells: the combinations of public keys of some columns. Check the keys, select their rows, collect their counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import product
from math import prod
from typing import Any

from utmost.data.engines.engine import Row
from utmost.data.engines.expressions import text_literal
from utmost.data.engines.schema import ColumnKind
from utmost.data.selection import Key
from utmost.errors import InputError

MAX_CELLS = 10**5
MAX_LISTED_KEYS = 500  # keys that are listed one by one: ibis takes a tenth of a millisecond for each
KEY_SEPARATORS = ",;\x1f\x1e\x1d\x1c"
KEY_TYPES: Mapping[ColumnKind, type] = {
    ColumnKind.INTEGER: int,
    ColumnKind.TEXT: str,
    ColumnKind.TRUTH: bool,
    ColumnKind.DATE: date,
}
TYPE_NAMES = {int: "whole numbers", str: "texts", bool: "true or false", date: "dates"}


def check_cells(keys: Mapping[str, Sequence[Key]]) -> None:
    """Refuse keys that make no cells, too many, or cells that share rows."""
    if not keys or not all(keys.values()):
        raise InputError("keys must list at least one value for at least one column", "keys")
    for column, values in keys.items():
        if len({type(value) for value in values}) > 1:
            raise InputError(f"keys of {column} must all be of one type: all numbers, or all texts", "keys")
        if len(set(values)) < len(values):
            raise InputError(f"keys of {column} must be distinct: a row would be counted twice", "keys")
    if prod(len(values) for values in keys.values()) > MAX_CELLS:
        raise InputError(f"keys must make at most {MAX_CELLS} cells", "keys")


def cells(keys: Mapping[str, Sequence[Key]]) -> tuple[tuple[Key, ...], ...]:
    """One cell for every combination of keys, those of the last column running fastest.

    >>> cells({"vote": (0, 1), "educ": (1, 2)})
    ((0, 1), (0, 2), (1, 1), (1, 2))
    """
    return tuple(product(*keys.values()))


def check_keys(keys: Sequence[Key], kind: ColumnKind, role: str, field: str) -> None:
    """Refuse keys that a column of the kind cannot equal, whatever it holds; `role` says whose they are.

    >>> check_keys([1, 2], ColumnKind.TEXT, "keys of region", "keys.region")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    utmost.errors.InputError: keys of region must be texts, since the column is of kind text, got an int: ...
    """
    expected_type = KEY_TYPES.get(kind)
    if expected_type is None:
        raise InputError(
            f"{role} must be of a column of integers, texts, truths or dates, got one of kind {kind}",
            field,
            "use where",
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
                f"{role} must be {TYPE_NAMES[expected_type]}, since the column is of kind {kind}, got {got}",
                field,
                hint,
            )
        if isinstance(key, str) and ("\0" in key or not _is_encodable(key)):
            raise InputError(
                f"{role} must be texts of Unicode characters other than NUL, got one with another",
                field,
                "leave it out",
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


def cell_counts(rows: Sequence[Row], listed_cells: Iterable[tuple[Key, ...]]) -> list[int]:
    """The number of each cell, from rows of a cell's keys and its number; 0 for a cell that did not come back."""
    counts = {tuple(row[:-1]): int(row[-1]) for row in rows}
    return [counts.get(cell, 0) for cell in listed_cells]


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
