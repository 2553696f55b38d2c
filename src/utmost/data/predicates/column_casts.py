"""Cast columns and constants so that all engines read them alike and none fails on a row.

Constants reach an engine as ibis literals only, never as pieces of a statement.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from utmost.data.engines.functions import builtin_function

if TYPE_CHECKING:
    from ibis.expr.types import Table


def readable_column(table: Table, name: str) -> Any:
    """The column, with NULL for what is no value.

    NaN is NULL, in floats and in PostgreSQL's numeric. DuckDB's hugeint reaches past the 38 digits that ibis takes it
    for, and a conversion could fail on a row: what is longer is NULL. A text is made a plain one, so that a value
    unknown to an enumeration is merely unequal, and without its collation, so that no two texts are equal that differ.
    The cast to the same type is kept by turning its nullability over.
    """
    import ibis

    column: Any = table[name]
    dtype = column.type()
    same_type = dtype.copy(nullable=not dtype.nullable)
    if dtype.is_floating():
        return column.isnan().ifelse(ibis.null(dtype), column)
    if dtype.is_string():
        return strip_collation(column.cast(same_type), _engine_name(table))
    if dtype.is_decimal() and _engine_name(table) == "postgres":
        value = column.cast(same_type)
        return (value == ibis.literal(Decimal("NaN"), "decimal")).ifelse(ibis.null(dtype), value)
    if dtype.is_decimal() and _engine_name(table) == "duckdb" and (dtype.precision, dtype.scale) == (38, 0):
        return column.try_cast(same_type)
    return column


def strip_collation(column: Any, engine: str) -> Any:
    """The same text without its collation, under which different texts may be equal: through its bytes and back.

    PostgreSQL's bytes are in the encoding of its database: into another one the conversion could fail on a row.
    """
    if engine == "duckdb":
        return builtin_function("decode", ("binary",), "string")(
            builtin_function("encode", ("string",), "binary")(column)
        )
    encode, decode = ("convert_to", "convert_from") if engine == "postgres" else ("encode", "decode")
    encoding = builtin_function("getdatabaseencoding", (), "string")() if engine == "postgres" else "UTF-8"
    encoded_text = builtin_function(encode, ("string", "string"), "binary")(column, encoding)
    return builtin_function(decode, ("binary", "string"), "string")(encoded_text, encoding)


def text_literal(value: str) -> Any:
    """A text. Spark replaces ${…} wherever it stands in a statement, so the two signs are kept apart."""
    import ibis

    literal, *other_pieces = (ibis.literal(piece) for piece in re.split(r"(?<=\$)(?=\{)", value))
    for piece in other_pieces:
        literal = literal + piece
    return literal


def integer_literal(value: int, dtype: Any) -> Any:
    """A whole number as an integer type, or as decimal(38, 0)."""
    import ibis

    return ibis.literal(value, dtype) if dtype.is_integer() else decimal_literal(value, 0, dtype)


def decimal_literal(value: int, scale: int, dtype: Any) -> Any:
    """value·10^−scale as a decimal type: read from its digits, which is exact in every engine."""
    import ibis

    return ibis.literal(digits(value, scale)).cast(dtype)


def digits(value: int, scale: int) -> str:
    """value·10^−scale written out.

    >>> digits(-125, 2), digits(5, 3), digits(7, 0)
    ('-1.25', '0.005', '7')
    """
    all_digits = str(abs(value)).rjust(scale + 1, "0")
    point = len(all_digits) - scale
    return ("-" if value < 0 else "") + all_digits[:point] + ("." + all_digits[point:] if scale else "")


def double_literal(value: float) -> Any:
    """A finite double: read from its shortest digits, which every engine rounds to the nearest."""
    import ibis

    return ibis.literal(repr(value)).cast("float64")


def time_literal(value: str, dtype: Any) -> Any:
    """A time of the column's type; one with a time zone is read in UTC."""
    import ibis

    return ibis.literal(value + ("+00:00" if dtype.timezone and value[-1].isdigit() else "")).cast(dtype)


def _engine_name(table: Table) -> str:
    return str(table.get_backend().name)
