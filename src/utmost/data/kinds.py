"""What kind of thing a column holds: the few kinds that can be asked about, whatever the engine calls its types."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ibis.expr.datatypes import DataType


class Kind(StrEnum):
    """A column's kind. `number` is a float or a decimal, `time` a date with a time of day, `other` all the rest."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    DATE = "date"
    TIME = "time"
    OTHER = "other"


def kind_of(dtype: DataType) -> Kind:
    """The kind of an ibis type.

    >>> import ibis
    >>> [str(kind_of(dtype)) for dtype in ibis.schema({"a": "uint8", "b": "decimal(9, 2)", "c": "time"}).values()]
    ['integer', 'number', 'other']
    """
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_float32() or dtype.is_float64() or dtype.is_decimal():
        return Kind.NUMBER
    if dtype.is_string():
        return Kind.TEXT
    if dtype.is_boolean():
        return Kind.TRUTH
    if dtype.is_date():
        return Kind.DATE
    return Kind.TIME if dtype.is_timestamp() else Kind.OTHER
