"""How results that hold many numbers are written on one line, and when two of them are equal."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sized
from dataclasses import fields
from typing import Any

MAX_FIELD_CHARS = 120  # of a value that is shown as it is
MAX_SHOWN_VALUES = 8  # of a list that is shown as it is


def short_repr(result: Any) -> str:
    """`Name(field=value, …)` on one line, for dataclasses that hold many numbers: a long value is told by its size.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Law:
    ...     name: str
    ...     weights: tuple[int, ...]
    ...     __repr__ = short_repr
    >>> Law("small", (1, 2)), Law("large", tuple(range(1000)))
    (Law(name='small', weights=(1, 2)), Law(name='large', weights=<1000 values>))
    """
    parts = [f"{field.name}={_field_text(getattr(result, field.name))}" for field in fields(result) if field.repr]
    return f"{type(result).__name__}({', '.join(parts)})"


def _field_text(value: Any) -> str:
    """A value as it is where that is short, else its size, its nearest double or its kind."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and len(shape) and all(isinstance(size, int) for size in shape):
        return f"<{' × '.join(map(str, shape))} values>"
    is_list = isinstance(value, tuple | list | Mapping)
    if not is_list or len(value) <= MAX_SHOWN_VALUES:
        text = repr(value)
        if len(text) <= MAX_FIELD_CHARS and "\n" not in text:
            return text
    if isinstance(value, Sized) and not isinstance(value, str):
        return f"<{len(value)} values>"
    if isinstance(value, str):
        return reprlib.repr(value)
    return _number_text(value) or f"<{type(value).__name__}>"


def _number_text(value: Any) -> str | None:
    """A long number by its nearest double; None where it is no number."""
    if not hasattr(value, "__float__") and not hasattr(value, "numerator"):
        return None
    try:
        return f"≈{float(value):.6g}"
    except (OverflowError, TypeError, ValueError):
        return None


def equal_fields(result: Any, other: Any) -> bool:
    """Are two results of one kind equal in every field, arrays by their entries: as one that was pickled is."""
    if type(result) is not type(other):
        return False
    return all(_are_equal(getattr(result, field.name), getattr(other, field.name)) for field in fields(result))


def hash_of_kind(result: Any) -> int:
    """One hash for all results of a kind, since arrays have none."""
    return hash(type(result).__qualname__)


def _are_equal(first: Any, second: Any) -> bool:
    if first is second:
        return True
    shape = getattr(first, "shape", None)
    if isinstance(shape, tuple):
        same = getattr(second, "shape", None) == shape and (first == second)
        return bool(same if isinstance(same, bool) else same.all())
    if isinstance(first, tuple | list):
        same_kind = type(first) is type(second) and len(first) == len(second)
        return same_kind and all(_are_equal(a, b) for a, b in zip(first, second, strict=True))
    return bool(first == second)
