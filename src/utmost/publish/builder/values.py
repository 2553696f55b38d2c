"""Python's values as a plan has them: numbers exact, lists as lists, copied at the time of the call.

A float stands for the shortest decimal that reads back as it, which is what was typed: 0.1 is 1/10. Numbers, texts and
dates of numpy, pandas, Polars and pyarrow are the plain ones that they hold.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from numbers import Integral, Rational, Real
from typing import Any, Literal, TypeAlias

from utmost.data.cells import MAX_CELLS
from utmost.data.selection import Key
from utmost.errors import InputError

Number: TypeAlias = int | float | str | Decimal | Fraction
KeyList: TypeAlias = Iterable[Key] | str
Keys: TypeAlias = Mapping[str, KeyList | Mapping[str, str]]
Location: TypeAlias = str | os.PathLike[str]
Neighbours: TypeAlias = Literal["add-remove", "replace"]
Noise: TypeAlias = Literal["geometric", "gaussian", "canonical", "best"]

BYTES = (bytes, bytearray, memoryview)


def plain(value: Any, argument: str = "value") -> Any:
    """The value of an argument as a plan has it; what a plan cannot have stays, and is refused where the plan is read.

    >>> plain(0.1), plain(range(1, 4)), plain({"carrier": ("UA", "AA")}), plain({3, 1})
    (Decimal('0.1'), [1, 2, 3], {'carrier': ['UA', 'AA']}, [1, 3])
    """
    if isinstance(value, Mapping):
        return {_plain_name(name, argument): plain(entry, argument) for name, entry in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, AbstractSet):
        return _sorted([plain(item) for item in islice(value, MAX_CELLS + 1)])
    is_flat = len(getattr(value, "shape", (0,))) == 1  # neither a number of numpy nor a table
    if isinstance(value, Iterable) and not isinstance(value, (str, *BYTES)) and is_flat:
        return [plain(item) for item in islice(value, MAX_CELLS + 1)]
    return _plain_scalar(value)


def _plain_name(name: object, argument: str) -> str:
    if not isinstance(name, str):
        raise InputError(
            f"{argument} must name columns by texts, got {type(name).__name__}", argument, "write str(...)"
        )
    return str.__str__(name)


def _sorted(items: list[Any]) -> list[Any]:
    """The items of a set, which has no order of its own; those of several kinds are refused by whoever reads them."""
    return sorted(items, key=lambda item: (type(item).__name__, item if isinstance(item, Key) else str(item)))


def _plain_scalar(value: Any) -> Any:
    """A text, a number, a truth value or a date without the type that a package gave it."""
    if hasattr(value, "as_py"):
        return _plain_scalar(value.as_py())
    if type(value).__name__ == "datetime64":
        return _numpy_time(value)
    if isinstance(value, datetime):
        return _day(value)
    if value is None or isinstance(value, bool | Decimal | Fraction | date):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float):
        return Decimal(repr(float(value)))
    if isinstance(value, Real):  # a float of other digits, such as numpy's float32
        return Decimal(str(value))
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def _numpy_time(value: Any) -> Any:
    """A time of numpy as a date or a time of Python; itself where that has no such time, or not as many digits."""
    rounded = value.astype("M8[us]")
    plain_time = rounded.item()
    if plain_time is None:
        return None
    return _day(plain_time) if rounded == value and isinstance(plain_time, datetime) else value


def _day(value: datetime) -> date:
    """The date of a midnight without a time zone, as pandas has dates; another time as it is."""
    is_midnight = value == value and value.time() == time() and value.tzinfo is None
    return value.date() if is_midnight and not getattr(value, "nanosecond", 0) else value
