"""Whether a frame in memory stayed as it was while it was copied: its columns are read once more afterwards.

A thread that writes between the copies of two columns would pair values of different rows, and a row with the person of
another is protected as a row of that one. So a column that is no longer what was copied is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Any

import numpy as np

from utmost.data.engines.frame_readers import FrameReader, ObjectColumn
from utmost.data.engines.frame_values import own_values
from utmost.errors import InputError

PLAIN_TYPES = ("int64", "int32", "int16", "int8", "double", "float", "bool")  # which are copied bit by bit


def own_references(column: Any) -> Any:
    """A column whose list of Python objects nobody else can write to; one of Arrow's as it is."""
    if not isinstance(column, ObjectColumn):
        return column
    values = list(column.values)
    return ObjectColumn(values, column.kind, None if column.codes is None else np.array(column.codes))


def check_unchanged(
    reader: FrameReader,
    places: Sequence[int],
    read: Sequence[Any],
    copies: Sequence[Any],
    run: Callable[..., Iterable[bool]] = map,
) -> None:
    """Refuse a frame whose columns are not what they were when they were read and copied; `run` maps, as `map` does."""
    if not reader.is_in_memory:
        return
    again = [column for place in places for column in reader.read([place])]
    if len(again) != len(read) or not all(run(_is_same, read, copies, again)):
        raise InputError(
            "data must stay as it is while it is read, got a frame that was written to; nothing was spent",
            "data",
            "run the plan again",
        )


def _is_same(column: Any, copied: Any, again: Any) -> bool:
    """Whether a column is what was read of it, and what was copied of that."""
    if isinstance(column, ObjectColumn) != isinstance(again, ObjectColumn):
        return False
    if isinstance(column, ObjectColumn):
        is_same_list = len(column.values) == len(again.values) and all(map(is_, column.values, again.values))
        return is_same_list and (column.codes is None or np.array_equal(column.codes, again.codes))
    if column.type != again.type or len(column) != len(again):
        return False
    has_values = str(column.type) != "null"
    return not has_values or _has_same_buffers(column, again) or _is_same_values(copied, again)


def _has_same_buffers(column: Any, again: Any) -> bool:
    """Whether two columns of texts are in the same memory, which their libraries never write to."""
    return "string" in str(column.type) and _places(column) == _places(again)


def _places(column: Any) -> list[Any]:
    buffers = [(chunk.offset, len(chunk), chunk.buffers()) for chunk in column.chunks]
    return [(start, size, [part and (part.address, part.size) for part in parts]) for start, size, parts in buffers]


def _is_same_values(copied: Any, again: Any) -> bool:
    """Whether the values are those that were copied; a NaN is the same as itself."""
    if str(copied.type).startswith("dictionary") and not str(again.type).startswith("dictionary"):
        return bool(copied.cast(copied.type.value_type).equals(own_values(again)))  # texts that are kept once each
    chunks = again.chunks if str(again.type) in PLAIN_TYPES else own_values(again).chunks
    return len(copied.chunks) == len(chunks) and all(
        _comparable(one).equals(_comparable(other)) for one, other in zip(copied.chunks, chunks, strict=True)
    )


def _comparable(chunk: Any) -> Any:
    """The values of an array; floats as integers with the same bits."""
    import pyarrow as pa

    return chunk.view(f"int{chunk.type.bit_width}") if pa.types.is_floating(chunk.type) else chunk
