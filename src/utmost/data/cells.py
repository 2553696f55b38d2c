"""Cells: the combinations of public keys of some columns. Check the keys, select their rows, collect their counts."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

Cell = tuple[Key | None, ...]  # a key for each column; None in the place of every key for all rows in no listed cell


@dataclass(frozen=True, slots=True)
class Grouping:
    """The cells that rows are grouped into: the combinations of public keys of each column.

    A row is in the cell of its keys. A row with a key that is not listed, or with NULL, is in no cell; with `other` it
    is in one more cell, the last one. Where some combinations are `listed`, only these are cells.
    """

    keys: Mapping[str, tuple[Key, ...]]
    other: bool = False
    listed: tuple[tuple[Key, ...], ...] | None = None

    def __post_init__(self) -> None:
        """Check that the cells are some, and apart."""
        check_cells(self.keys, self.other, None if self.listed is None else len(self.listed))

    def __hash__(self) -> int:
        """Equal groupings have the same hash, whatever the order of their columns."""
        return hash((frozenset(self.keys.items()), self.other, self.listed))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, the last column's keys running fastest; the cell of all other rows at the end.

        >>> Grouping({"vote": (0, 1)}, other=True).cells
        ((0,), (1,), (None,))
        """
        listed = cells(self.keys) if self.listed is None else self.listed
        return (*listed, *([self.other_cell] if self.other else []))

    @property
    def other_cell(self) -> Cell:
        """The cell of the rows that are in no listed cell."""
        return (None,) * len(self.keys)

    @property
    def size(self) -> int:
        """How many cells there are."""
        if self.listed is not None:
            return len(self.listed) + self.other
        return prod(len(values) for values in self.keys.values()) + self.other


def check_cells(keys: Mapping[str, Sequence[Key]], other: bool = False, listed: int | None = None) -> None:
    """Refuse keys that make no cells, too many, or cells that share rows; `listed` is how many of them are cells."""
    if not keys or not all(keys.values()):
        raise InputError("keys must list at least one value for at least one column", "keys")
    for column, values in keys.items():
        if len({type(value) for value in values}) > 1:
            raise InputError(f"keys of {column} must all be of one type: all numbers, or all texts", "keys")
        if len(set(values)) < len(values):
            raise InputError(f"keys of {column} must be distinct: a row would be counted twice", "keys")
    number = (prod(len(values) for values in keys.values()) if listed is None else listed) + other
    if number > MAX_CELLS:
        problem = f"keys must make at most {MAX_CELLS} cells, got {number}"
        raise InputError(problem, "keys", "list fewer values, cross fewer columns, or find the cells with by")


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
            "use where, or a derived whole number such as div(x, 10)",
        )
    for key in keys:
        if type(key) is not expected_type:
            hint = (
                _text_key_hint(key)
                if expected_type is str
                else _date_key_hint(key)
                if type(key) is str and expected_type is date
                else "write it without quotes, or declare the column as text"
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


def is_combination(columns: Mapping[str, Any], combinations: Sequence[tuple[Key, ...]]) -> Any:
    """Whether the columns' values are one of the combinations, of a row whose values are all among the keys of them.

    Texts and whole numbers are joined to one text, with a character between them that no key has; so no two
    combinations make the same text. Truths and dates, which engines write in different ways, are compared one by one.
    """
    import ibis

    names = list(columns)
    plain = [place for place, key in enumerate(combinations[0]) if isinstance(key, bool | date)]
    joined = [place for place in range(len(names)) if place not in plain]
    by_plain: dict[tuple[Key, ...], list[tuple[Key, ...]]] = {}
    for combination in combinations:
        by_plain.setdefault(tuple(combination[k] for k in plain), []).append(tuple(combination[k] for k in joined))
    conditions = []
    for values, rest in by_plain.items():
        tests = [
            columns[names[k]] == ibis.literal(v, columns[names[k]].type()) for k, v in zip(plain, values, strict=True)
        ]
        tests += [_is_joined_combination([columns[names[k]] for k in joined], rest)] if joined else []
        conditions.append(functools.reduce(operator.and_, tests))
    return functools.reduce(operator.or_, conditions)


def _is_joined_combination(columns: Sequence[Any], combinations: Sequence[tuple[Key, ...]]) -> Any:
    """Whether the texts and whole numbers of some columns are one of the combinations."""
    texts = [[str(key) for key in combination] for combination in combinations]
    characters = set().union(*(text for combination in texts for text in combination))
    separator = next(character for character in _separators() if character not in characters)
    column = functools.reduce(
        lambda first, second: first + text_literal(separator) + second, [each.cast("string") for each in columns]
    )
    return is_among(column, list(dict.fromkeys(separator.join(combination) for combination in texts)))


def cell_values(keys: Mapping[str, Sequence[Key]], columns: Mapping[str, Any], is_listed: Any | None) -> dict[str, Any]:
    """Values that name the cell of a row, v0, v1, …: its keys, and o first where rows may be in no listed cell.

    o is 1 for a row that `is_listed` is not true of, and each of its keys is then the first of its column: the values
    are never NULL, and are the same for all such rows.
    """
    import ibis

    names = {f"v{index}": column for index, column in enumerate(keys)}
    if is_listed is None:
        return {name: columns[column] for name, column in names.items()}
    marks = {"o": ibis.cases((is_listed, ibis.literal(0, "int64")), else_=ibis.literal(1, "int64"))}
    return marks | {
        name: ibis.cases((is_listed, columns[column]), else_=_key_literal(keys[column], columns[column].type()))
        for name, column in names.items()
    }


def _key_literal(keys: Sequence[Key], dtype: Any) -> Any:
    """Some key that the column can hold, or another value of its type: it stands for no key."""
    import ibis

    if dtype.is_string():
        return text_literal(str(keys[0]))
    if dtype.is_integer():
        return ibis.literal(0, dtype)
    return ibis.literal(keys[0], dtype)


def rows_by_cell(rows: Sequence[Row], grouping: Grouping) -> dict[Cell, list[Row]]:
    """What follows the values of `cell_values` in each row, by cell."""
    width, by_cell = len(grouping.keys) + grouping.other, dict[Cell, list[Row]]()
    for row in rows:
        names = tuple(row[:width])
        cell = names if not grouping.other else grouping.other_cell if names[0] else names[1:]
        by_cell.setdefault(cell, []).append(tuple(row[width:]))
    return by_cell


def _date_key_hint(key: str) -> str:
    """How a date that was written as a text is written, in a plan's file and in Python."""
    try:
        day = date.fromisoformat(key)
    except ValueError:
        return "write dates without quotes, or declare the column as text"
    return f"write {day} without quotes; in Python datetime.date({day.year}, {day.month}, {day.day})"


def _text_key_hint(key: Key) -> str:
    return "put it in quotes; a range is of whole numbers" if isinstance(key, int) else "put it in quotes"


def cell_counts(rows: Sequence[Row], listed_cells: Iterable[tuple[Key, ...]]) -> list[int]:
    """The number of each cell, from rows of a cell's keys and its number; 0 for a cell that did not come back."""
    counts = {tuple(row[:-1]): int(row[-1]) for row in rows}
    return [counts.get(cell, 0) for cell in listed_cells]


def _key_column(keys: list[str], dtype: Any) -> Any:
    """A column of many keys, sent as one text and taken apart inside the engine."""
    characters = set().union(*keys)
    separator = next(character for character in _separators() if character not in characters)
    pieces = text_literal(separator.join(keys)).split(separator).unnest().name("key").as_table()
    return pieces["key"] if dtype.is_string() else pieces.select(key=pieces["key"].cast(dtype))["key"]


def _separators() -> Iterator[str]:
    """Characters to put between keys."""
    yield from KEY_SEPARATORS
    yield from map(chr, range(0xE000, 0xF8FF))


def _is_encodable(key: str) -> bool:
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True
