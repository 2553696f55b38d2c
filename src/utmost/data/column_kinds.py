"""The kinds of columns that queries can use, whatever the engine calls its types."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ibis.expr.datatypes import DataType


class ColumnKind(StrEnum):
    """A column's kind. `number` is a float or a decimal, `time` a date with a time of day, `other` all the rest."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    DATE = "date"
    TIME = "time"
    OTHER = "other"


def column_kind(dtype: DataType) -> ColumnKind:
    """The kind of an ibis type.

    >>> import ibis
    >>> [str(column_kind(dtype)) for dtype in ibis.schema({"a": "uint8", "b": "decimal(9, 2)", "c": "time"}).values()]
    ['integer', 'number', 'other']
    """
    if dtype.is_integer():
        return ColumnKind.INTEGER
    if dtype.is_float32() or dtype.is_float64() or dtype.is_decimal():
        return ColumnKind.NUMBER
    if dtype.is_string():
        return ColumnKind.TEXT
    if dtype.is_boolean():
        return ColumnKind.TRUTH
    if dtype.is_date():
        return ColumnKind.DATE
    return ColumnKind.TIME if dtype.is_timestamp() else ColumnKind.OTHER
