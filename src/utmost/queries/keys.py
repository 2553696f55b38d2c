"""Public keys in plans and releases: a text, a whole number, true or false, or a date."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from utmost.data.cells import MAX_CELLS
from utmost.data.selection import Key
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.exact.input_text import Fields

KEY_SCHEMA = {"$ref": "#/$defs/key"}
KEY_RANGE = re.compile(r"\s*(-?[0-9]{1,20})\s*\.\.\s*(-?[0-9]{1,20})\s*")
QUOTED_TEXT = re.compile(r"'.*'|\".*\"", flags=re.DOTALL)


def check_key(value: object, name: str, field: str) -> Key:
    """A public key: a text, a whole number, a truth value or a date."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    type_text, hint = _other_key(value)
    raise InputError(f"{name} must be texts, whole numbers, true or false, or dates, got {type_text}", field, hint)


def _other_key(value: object) -> tuple[str, str]:
    """What a value is that is no key, and what to do."""
    is_nan = isinstance(value, Decimal | float) and value != value
    if is_nan or value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "a missing value", "leave it out: a row without a value is in no listed cell"
    if isinstance(value, datetime):
        return "a time of day", "give dates; in Python take .date() of it"
    return "a number with a point" if isinstance(value, Decimal | float) else "something else", "use where for the rest"


def parse_keys(fields: Fields, name: str) -> tuple[Key, ...]:
    """Public values in a plan: a list, or a range of whole numbers as in "1..12"."""
    value, field = fields.raw(name), fields.error(name, "").field or name
    if isinstance(value, str):
        return _parse_range(fields, name, value)
    keys = tuple(check_key(item, f"{field.replace('keys.', 'keys of ')}", field) for item in fields.items(name))
    for key in keys:
        if isinstance(key, str) and QUOTED_TEXT.fullmatch(key) and len(key) > 1:
            problem = f"must be texts without quotes of their own, got {json.dumps(key[:40], ensure_ascii=False)}"
            raise fields.error(name, problem, f"write {json.dumps(key[1:-1][:40], ensure_ascii=False)}")
    return keys


def _parse_range(fields: Fields, name: str, text: str) -> tuple[Key, ...]:
    match = KEY_RANGE.fullmatch(text)
    if match is None:
        raise fields.error(name, 'must be a list in [ ], or a range of whole numbers as in "1..12"')
    first, last = int(match[1]), int(match[2])
    if not 0 <= last - first < MAX_CELLS:
        raise fields.error(name, f"must be a range of 1 to {MAX_CELLS} whole numbers, the smaller one first")
    return tuple(range(first, last + 1))


def key_to_json(value: Key) -> Any:
    """A key as JSON has it; a date is a table with one entry, so that it is not taken for a text."""
    return {"date": value.isoformat()} if isinstance(value, date) else value


def key_from_json(value: object) -> Key:
    """The same, read back."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict) and list(value) == ["date"]:
        try:
            return date.fromisoformat(str(value["date"]))
        except ValueError:
            pass
    raise InputError(
        'a key must be a text, a whole number, true or false, or {"date": "2020-01-31"}', "keys", context="release"
    )


def key_to_text(value: Key) -> str:
    """A key as one text, different for each type."""
    return json.dumps(key_to_json(value), ensure_ascii=False)


def key_name(value: Key) -> str:
    """A key as plans write it.

    >>> [key_name(key) for key in (True, 3, "north", date(2020, 1, 31))]
    ['true', '3', 'north', '2020-01-31']
    """
    return str(value).lower() if isinstance(value, bool) else str(value)
