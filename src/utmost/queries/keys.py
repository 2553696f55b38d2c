"""Public keys in plans and releases: a text, a whole number, true or false, or a date."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from utmost.data.selection import Key
from utmost.errors import InputError

KEY_SCHEMA = {"$ref": "#/$defs/key"}


def check_key(value: object, name: str, field: str) -> Key:
    """A public key: a text, a whole number, a truth value or a date."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    type_text = "a number with a point" if isinstance(value, Decimal | float) else "something else"
    raise InputError(
        f"{name} must be texts, whole numbers, true or false, or dates, got {type_text}",
        field,
        "use where for the rest",
    )


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
