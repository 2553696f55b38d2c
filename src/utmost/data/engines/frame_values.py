"""The columns of a frame as Arrow arrays of the types that kinds have, each in memory of its own.

A column whose type says its kind keeps its values. One of Python objects has no kind: one row could change what all
others mean. So its kind is declared, and its values are looked at one by one: **what is no value of the kind is NULL**,
and no value makes the conversion fail. A column of another type (lists, bytes, durations) only says where it is NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from utmost.data.engines.schema import ColumnKind

LEAST_INT64, LARGEST_INT64 = -(2**63), 2**63 - 1
MAX_DECIMAL_DIGITS = 38
LEAST_MICROSECOND, LARGEST_MICROSECOND = -9_223_372_022_400_000_000, LARGEST_INT64 - 1  # a finite time of DuckDB's
MICROSECONDS = {"s": 10**6, "ms": 10**3}  # in a unit of time
MAX_DATE_MS = (2**31 - 2) * 86_400_000  # of a finite date of DuckDB's
EPOCH = datetime(1970, 1, 1)
SAMPLE_ROWS, PIECE_ROWS, MIN_REPEATS = 2**16, 2**20, 16  # of texts that are kept once each
TEXT_TYPES = ("string", "large_string", "string_view")
NUMBER_TYPES = ("float", "double", "halffloat")


def value_type(dtype: Any) -> Any:
    """The Arrow type in which values of an Arrow type are kept: binary for what has no kind but `other`.

    >>> import pyarrow as pa
    >>> [str(value_type(dtype)) for dtype in (pa.int8(), pa.string_view(), pa.float16(), pa.list_(pa.int8()))]
    ['int8', 'large_string', 'float', 'binary']
    """
    import pyarrow as pa

    name = str(dtype)
    if pa.types.is_integer(dtype) or pa.types.is_boolean(dtype) or name in ("float", "double", "date32[day]"):
        return dtype
    if name in TEXT_TYPES:
        return pa.large_string()
    if name == "halffloat":
        return pa.float32()
    if pa.types.is_date64(dtype):
        return pa.date32()
    if pa.types.is_timestamp(dtype):
        unit = "ns" if dtype.unit == "ns" and dtype.tz is None else "us"
        return pa.timestamp(unit, None if dtype.tz is None else "UTC")
    if pa.types.is_dictionary(dtype):
        kept = value_type(dtype.value_type)
        return pa.dictionary(pa.int32(), kept) if kept == pa.large_string() else kept
    return _decimal_type(dtype) if pa.types.is_decimal(dtype) else pa.binary()


def _decimal_type(dtype: Any) -> Any:
    """A decimal type that DuckDB has, or double where no such type holds the values."""
    import pyarrow as pa

    digits, scale = dtype.precision - min(dtype.scale, 0), max(dtype.scale, 0)
    return pa.decimal128(digits, scale) if max(digits, scale) <= MAX_DECIMAL_DIGITS else pa.float64()


def kind_type(kind: ColumnKind) -> Any:
    """The Arrow type of a declared kind."""
    import pyarrow as pa

    return {
        ColumnKind.INTEGER: pa.int64(),
        ColumnKind.NUMBER: pa.float64(),
        ColumnKind.TRUTH: pa.bool_(),
        ColumnKind.DATE: pa.date32(),
        ColumnKind.TIME: pa.timestamp("us"),
    }.get(kind, pa.large_string())


def own_values(column: Any) -> Any:
    """A chunked array with the same values in their `value_type`, in memory that nobody else can write to."""
    import pyarrow as pa

    return pa.chunked_array([_own_chunk(chunk) for chunk in column.chunks], value_type(column.type))


def repeats_texts(column: Any) -> bool:
    """Whether it is a long column of texts whose first values repeat."""
    import pyarrow.compute as pc

    if str(column.type) not in TEXT_TYPES or len(column) < SAMPLE_ROWS:
        return False
    sample = own_values(column.slice(0, SAMPLE_ROWS))
    return bool(pc.count_distinct(sample).as_py() * MIN_REPEATS <= SAMPLE_ROWS)


def share_texts(column: Any, pool: Executor) -> Any:
    """A column of texts that keeps each text once, in memory of its own.

    DuckDB groups by texts that are next to their row more slowly than by those of a Parquet file, which are kept so.
    """
    import pyarrow as pa

    starts = range(0, len(column), PIECE_ROWS)
    pieces = [piece for start in starts for piece in column.slice(start, PIECE_ROWS).chunks]
    return pa.chunked_array(list(pool.map(_share_chunk, pieces))).unify_dictionaries()


def _share_chunk(chunk: Any) -> Any:
    import pyarrow as pa

    chunk = _copy(chunk) if str(chunk.type) == "string_view" else chunk
    chunk.validate(full=True)
    encoded = chunk.dictionary_encode()
    indices = _copy(encoded.indices) if encoded.null_count else encoded.indices  # which share where values are missing
    return pa.DictionaryArray.from_arrays(indices, encoded.dictionary.cast(pa.large_string()))


def _own_chunk(chunk: Any) -> Any:
    import pyarrow as pa

    dtype, kept = chunk.type, value_type(chunk.type)
    if kept == pa.binary():
        return null_mask(chunk.is_null().to_numpy(zero_copy_only=False))
    if not pa.types.is_dictionary(dtype):
        chunk = _copy(chunk)  # before it is looked at
        if pa.types.is_date64(dtype):
            return _whole_days(chunk)  # which need not be valid
        chunk.validate(full=True)
        return _convert(chunk, kept)
    indices, dictionary = _copy(chunk.indices), own_values(pa.chunked_array([chunk.dictionary])).chunk(0)
    chunk = pa.DictionaryArray.from_arrays(indices.cast(pa.int32()), dictionary)
    chunk.validate(full=True)
    return chunk if pa.types.is_dictionary(kept) and not dictionary.null_count else _decode(chunk, kept)


def _decode(chunk: Any, kept: Any) -> Any:
    """The values that a dictionary array stands for; one of texts keeps a dictionary, without NULL."""
    values = chunk.dictionary.take(chunk.indices)
    return values.dictionary_encode() if str(kept).startswith("dictionary") else values


def _copy(chunk: Any) -> Any:
    """The array in new memory: joined with an empty one, since one alone may be given back."""
    import pyarrow as pa

    if str(chunk.type) == "string_view":
        return chunk.cast(pa.large_string())
    return pa.concat_arrays([chunk, chunk.slice(0, 0)])


def _convert(chunk: Any, kept: Any) -> Any:
    """Values in a type that is at least as wide; a time that DuckDB does not have is NULL, and no value fails."""
    import pyarrow as pa

    if pa.types.is_timestamp(kept):
        return _finite_times(chunk, kept)
    return chunk if chunk.type == kept else chunk.cast(kept, safe=False)


def _finite_times(chunk: Any, kept: Any) -> Any:
    """Times in microseconds, or in nanoseconds as they are, which reach less far."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kept.unit == "ns":
        return chunk
    factor = MICROSECONDS.get(chunk.type.unit, 1)
    number = chunk.view(pa.int64())
    number = pc.divide(number, 1000) if chunk.type.unit == "ns" else number
    low, high = -(-LEAST_MICROSECOND // factor), LARGEST_MICROSECOND // factor
    is_finite = pc.and_(pc.greater_equal(number, low), pc.less_equal(number, high))
    finite = pc.if_else(is_finite, number, pa.scalar(None, pa.int64()))
    return pc.multiply(finite, factor).cast(pa.int64()).view(kept)


def _whole_days(chunk: Any) -> Any:
    """The days of dates that are counted in milliseconds, whatever the time of day; NULL beyond 32 bits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    number = chunk.view(pa.int64())
    is_within = pc.and_(pc.greater_equal(number, -MAX_DATE_MS), pc.less_equal(number, MAX_DATE_MS))
    finite = pc.if_else(is_within, number, pa.scalar(None, pa.int64()))
    return finite.view(pa.timestamp("ms")).cast(pa.date32(), safe=False)


def null_mask(is_missing: Any) -> Any:
    """An array of type binary that is NULL where this is true, and empty elsewhere."""
    import pyarrow as pa

    validity = np.packbits(~np.asarray(is_missing, bool), bitorder="little")
    offsets = np.zeros(len(is_missing) + 1, np.int32)
    buffers = [pa.py_buffer(validity), pa.py_buffer(offsets), pa.py_buffer(b"")]
    return pa.Array.from_buffers(pa.binary(), len(is_missing), buffers)


def object_values(values: Iterable[Any], kind: ColumnKind) -> Any:
    """Python objects as values of a kind, NULL where they are none; of kind `other` only where they are missing."""
    import pyarrow as pa

    if kind is ColumnKind.OTHER:
        return null_mask(np.fromiter(map(is_missing, values), bool))
    read_value = VALUE_READERS[kind]
    read = [read_value(value) for value in values]
    if kind is ColumnKind.TEXT:
        return pa.array(read, pa.large_binary()).cast(pa.large_string())
    stored = {ColumnKind.DATE: pa.int32(), ColumnKind.TIME: pa.int64()}.get(kind, kind_type(kind))
    return pa.array(read, stored).view(kind_type(kind))


def is_missing(value: object) -> bool:
    """None, pandas' NA and NaT, a NaN."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _text_bytes(value: object) -> bytes | None:
    """UTF-8 of a text; None of another value, or of a text with half of a surrogate pair."""
    try:
        return str.encode(value) if isinstance(value, str) else None
    except UnicodeEncodeError:
        return None


def _integer(value: object) -> int | None:
    """A whole number of 64 bits, also one that is written as a number: 12.0."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | np.integer):
        number = int.__index__(value) if isinstance(value, int) else int(value)
    elif isinstance(value, float | np.floating):
        if not (LEAST_INT64 <= value <= LARGEST_INT64) or value != math.trunc(float(value)):
            return None
        number = math.trunc(float(value))
    elif isinstance(value, Decimal) and value.is_finite() and abs(value) < 2**64 and value == int(value):
        number = int(value)
    else:
        return None
    return number if LEAST_INT64 <= number <= LARGEST_INT64 else None


def _number(value: object) -> float | None:
    """The nearest double of a number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | Decimal | np.integer | np.floating):
        return None
    return float(value)


def _truth(value: object) -> bool | None:
    return bool(value) if isinstance(value, bool | np.bool_) else None


def _date(value: object) -> int | None:
    """Days since 1970 of a date without a time of day."""
    if not isinstance(value, date) or isinstance(value, datetime):
        return None
    return date.toordinal(value) - EPOCH.toordinal()


def _time(value: object) -> int | None:
    """Microseconds since 1970 of a time, in UTC if it has a time zone; a date is its midnight."""
    if isinstance(value, np.datetime64):
        value = value.astype("M8[us]").item()
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        return None
    offset = datetime.utcoffset(value)
    naive = datetime(value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    return (naive - EPOCH - (offset or timedelta())) // timedelta(microseconds=1)


def _total(read_value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same function, with None where it fails: an object may do anything when it is looked at."""

    def read(value: object) -> Any:
        try:
            return read_value(value)
        except Exception:
            return None

    return read


VALUE_READERS: dict[ColumnKind, Callable[[Any], Any]] = {
    ColumnKind.TEXT: _total(_text_bytes),
    ColumnKind.INTEGER: _total(_integer),
    ColumnKind.NUMBER: _total(_number),
    ColumnKind.TRUTH: _total(_truth),
    ColumnKind.DATE: _total(_date),
    ColumnKind.TIME: _total(_time),
}
