"""Public keys as they are typed: values with commas between them, read as the kind of their column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from utmost.data.column_kinds import ColumnKind
from utmost.data.queries import MAX_HISTOGRAM_CELLS, Key
from utmost.errors import InputError

VALUE = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,\n]*?))\s*(?:[,\n]|\Z)')
RANGE = re.compile(r"([+-]?\d{1,18})\s*\.\.\s*([+-]?\d{1,18})")
WHOLE = re.compile(r"[+-]?\d{1,30}")
TRUTHS = {"true": True, "false": False}


def parse_keys(text: str, kind: ColumnKind, name: str) -> list[Key]:
    """The keys in a text; 1..4 stands for 1, 2, 3, 4, and a text with a comma is put in double quotes.

    >>> parse_keys("1..3, 7", ColumnKind.INTEGER, "keys"), parse_keys('north, "south, far"', ColumnKind.TEXT, "keys")
    ([1, 2, 3, 7], ['north', 'south, far'])
    """
    if kind not in _READ:
        raise InputError(f"{name} must be of integers, texts, truths or dates, got a column of kind {kind}: use where")
    found: list[Key] = []
    for word in _words(text):
        found.extend(_READ[kind](word, name))
        if len(found) > MAX_HISTOGRAM_CELLS:
            raise InputError(f"{name} must be at most {MAX_HISTOGRAM_CELLS} values, got more: list fewer")
    return found


def keys_text(keys: Sequence[Key]) -> str:
    """A text that `parse_keys` reads as these keys.

    >>> keys_text([1, 2, 3, 7]), keys_text(["north", "south, far"])
    ('1..3, 7', 'north, "south, far"')
    """
    if keys and all(isinstance(key, int) and not isinstance(key, bool) for key in keys):
        return ", ".join(_runs([int(key) for key in keys if isinstance(key, int)]))
    return ", ".join(_quoted(key) for key in keys)


def _words(text: str) -> Iterator[str]:
    """The values, those in quotes as they are, others without blanks around them; empty ones are left out."""
    place, lines = 0, text.replace("\r\n", "\n")
    while place < len(lines):
        found = VALUE.match(lines, place)
        if found is None:
            raise InputError("keys must be values with commas between them, texts with a comma in double quotes")
        place = found.end()
        quoted, plain = found.groups()
        if quoted is not None:
            yield quoted.replace('""', '"')
        elif plain:
            yield plain


def _integers(word: str, name: str) -> Sequence[Key]:
    run = RANGE.fullmatch(word)
    if run is not None:
        low, high = int(run[1]), int(run[2])
        if low > high or high - low >= MAX_HISTOGRAM_CELLS:
            raise InputError(f"{name} must run upwards over at most {MAX_HISTOGRAM_CELLS} values, as in 1..7")
        return range(low, high + 1)
    if WHOLE.fullmatch(word) is None:
        raise InputError(f'{name} must be whole numbers such as 1, 2, 5..9, got "{word[:40]}"')
    return [int(word)]


def _texts(word: str, _: str) -> Sequence[Key]:
    return [word]


def _truths(word: str, name: str) -> Sequence[Key]:
    if word.lower() not in TRUTHS:
        raise InputError(f'{name} must be true or false, got "{word[:40]}"')
    return [TRUTHS[word.lower()]]


def _dates(word: str, name: str) -> Sequence[Key]:
    try:
        return [date.fromisoformat(word)]
    except ValueError:
        raise InputError(f'{name} must be dates such as 2020-01-31, got "{word[:40]}"') from None


_READ: dict[ColumnKind, Callable[[str, str], Sequence[Key]]] = {
    ColumnKind.INTEGER: _integers,
    ColumnKind.TEXT: _texts,
    ColumnKind.TRUTH: _truths,
    ColumnKind.DATE: _dates,
}


def _runs(numbers: list[int]) -> Iterator[str]:
    """Numbers, three or more in a row as a range."""
    start = 0
    for k in range(1, len(numbers) + 1):
        if k < len(numbers) and numbers[k] == numbers[k - 1] + 1:
            continue
        run = numbers[start:k]
        yield from [f"{run[0]}..{run[-1]}"] if len(run) > 2 else map(str, run)
        start = k


def _quoted(key: Key) -> str:
    if not isinstance(key, str):
        return str(key).lower()
    is_plain = key and key == key.strip() and not any(mark in key for mark in ',"\n\r')
    return key if is_plain else '"' + key.replace('"', '""') + '"'
