"""Public keys as they are typed: values with commas between them, read as the kind of their column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from utmost.data.cells import MAX_CELLS
from utmost.data.column_kinds import ColumnKind
from utmost.data.selection import Key
from utmost.errors import InputError

VALUE_PATTERN = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,\n]*?))\s*(?:[,\n]|\Z)')
RANGE_PATTERN = re.compile(r"([+-]?\d{1,18})\s*\.\.\s*([+-]?\d{1,18})")
INTEGER_PATTERN = re.compile(r"[+-]?\d{1,30}")
TRUTH_VALUES = {"true": True, "false": False}


def parse_keys(text: str, kind: ColumnKind, name: str) -> list[Key]:
    """The keys in a text; 1..4 stands for 1, 2, 3, 4, and a text with a comma is put in double quotes.

    >>> parse_keys("1..3, 7", ColumnKind.INTEGER, "keys"), parse_keys('north, "south, far"', ColumnKind.TEXT, "keys")
    ([1, 2, 3, 7], ['north', 'south, far'])
    """
    if kind not in _KEY_PARSERS:
        raise InputError(
            f"{name} must be of integers, texts, truths or dates, got a column of kind {kind}", name, "use where"
        )
    keys: list[Key] = []
    for value in _split_values(text):
        keys.extend(_KEY_PARSERS[kind](value, name))
        if len(keys) > MAX_CELLS:
            raise InputError(f"{name} must be at most {MAX_CELLS} values, got more", name, "list fewer")
    return keys


def keys_text(keys: Sequence[Key]) -> str:
    """A text that `parse_keys` reads as these keys.

    >>> keys_text([1, 2, 3, 7]), keys_text(["north", "south, far"])
    ('1..3, 7', 'north, "south, far"')
    """
    if keys and all(isinstance(key, int) and not isinstance(key, bool) for key in keys):
        return ", ".join(_integer_runs([int(key) for key in keys if isinstance(key, int)]))
    return ", ".join(_quote_key(key) for key in keys)


def _split_values(text: str) -> Iterator[str]:
    """The values, those in quotes as they are, others without blanks around them; empty ones are left out."""
    position, lines = 0, text.replace("\r\n", "\n")
    while position < len(lines):
        match = VALUE_PATTERN.match(lines, position)
        if match is None:
            raise InputError(
                "keys must be values with commas between them, texts with a comma in double quotes", "keys"
            )
        position = match.end()
        quoted, plain = match.groups()
        if quoted is not None:
            yield quoted.replace('""', '"')
        elif plain:
            yield plain


def _parse_integers(value: str, name: str) -> Sequence[Key]:
    bounds = RANGE_PATTERN.fullmatch(value)
    if bounds is not None:
        low, high = int(bounds[1]), int(bounds[2])
        if low > high or high - low >= MAX_CELLS:
            raise InputError(f"{name} must run upwards over at most {MAX_CELLS} values, as in 1..7", name)
        return range(low, high + 1)
    if INTEGER_PATTERN.fullmatch(value) is None:
        raise InputError(f'{name} must be whole numbers such as 1, 2, 5..9, got "{value[:40]}"', name)
    return [int(value)]


def _parse_text(value: str, _: str) -> Sequence[Key]:
    return [value]


def _parse_truth(value: str, name: str) -> Sequence[Key]:
    if value.lower() not in TRUTH_VALUES:
        raise InputError(f'{name} must be true or false, got "{value[:40]}"', name)
    return [TRUTH_VALUES[value.lower()]]


def _parse_date(value: str, name: str) -> Sequence[Key]:
    try:
        return [date.fromisoformat(value)]
    except ValueError:
        raise InputError(f'{name} must be dates such as 2020-01-31, got "{value[:40]}"', name) from None


_KEY_PARSERS: dict[ColumnKind, Callable[[str, str], Sequence[Key]]] = {
    ColumnKind.INTEGER: _parse_integers,
    ColumnKind.TEXT: _parse_text,
    ColumnKind.TRUTH: _parse_truth,
    ColumnKind.DATE: _parse_date,
}


def _integer_runs(numbers: list[int]) -> Iterator[str]:
    """Numbers, three or more in a row as a range."""
    start = 0
    for k in range(1, len(numbers) + 1):
        if k < len(numbers) and numbers[k] == numbers[k - 1] + 1:
            continue
        run = numbers[start:k]
        yield from [f"{run[0]}..{run[-1]}"] if len(run) > 2 else map(str, run)
        start = k


def _quote_key(key: Key) -> str:
    if not isinstance(key, str):
        return str(key).lower()
    is_plain = key and key == key.strip() and not any(mark in key for mark in ',"\n\r')
    return key if is_plain else '"' + key.replace('"', '""') + '"'
