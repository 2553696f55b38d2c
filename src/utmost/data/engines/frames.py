"""Data frames in this process: pandas, polars, Arrow, and whatever has Arrow's stream interface; DuckDB counts.

**A frame is read once, when it is opened**: the columns that are used are copied, and every scan of a release sees the
same rows, whatever becomes of the frame meanwhile. The session reads that copy and nothing else. Nothing is written to
disk, and the copy goes when the table is closed.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from utmost.data.engines.csv_types import KIND_PATTERNS
from utmost.data.engines.duckdb import DuckDbEngine, connect_in_memory, describe_view
from utmost.data.engines.engine import Location, LocationKind, OpenedTable, SourceIdentity, run_guarded
from utmost.data.engines.frame_changes import check_unchanged, own_references
from utmost.data.engines.frame_kinds import find_frame_kind
from utmost.data.engines.frame_readers import FrameReader, ObjectColumn
from utmost.data.engines.frame_values import (
    object_values,
    own_values,
    repeats_texts,
    share_texts,
    value_type,
)
from utmost.data.engines.schema import ColumnKind, column_kind, format_names, show_name, suggestion
from utmost.errors import InputError

FRAME = LocationKind("frame", "a data frame", has_tables=False, is_in_memory=True)
VIEW = "data"
UNKNOWN_ROWS = "the rows of a frame in memory cannot be recognised"
UNREADABLE = (
    "data must be a frame that can be read into memory, got {frame} that cannot: collect or copy it outside utmost to "
    "see why (what its library said is withheld, since it may quote a row)"
)


class FrameEngine(DuckDbEngine):
    """DuckDB, reading a frame's columns from memory."""

    name = "frame"
    kinds = (FRAME,)

    def open(self, location: Location) -> AbstractContextManager[OpenedTable]:
        """The table that a frame holds now."""
        return _open_frame(location)

    def strip_collation(self, text: Any) -> Any:
        """The text itself: the columns of a frame have no collation."""
        return text

    def readable_column(self, table: Any, name: str) -> Any:
        """A text is as it stands: no column of a frame is an enumeration."""
        column = table[name]
        return column if column.type().is_string() else super().readable_column(table, name)

    def identify_database(self, fingerprint: str | None, database: str | None) -> SourceIdentity:
        """Never the same rows: what is in memory can have changed since, whatever the curator calls it."""
        return SourceIdentity(None, UNKNOWN_ROWS)


FRAMES = FrameEngine()


@contextmanager
def _open_frame(location: Location) -> Iterator[OpenedTable]:
    kind = find_frame_kind(location.data)
    message = UNREADABLE.format(frame=kind.words)
    reader = run_guarded(lambda: kind.open(location.data), message)
    names = _check_names(reader.names)
    kinds = _column_kinds(reader, names, location.columns)
    places = _read_places(names, kinds, location)
    with connect_in_memory(FRAMES) as (connection, session):
        read_names = [names[place] for place in places]
        run_guarded(lambda: _read_view(session, reader, places, {name: kinds[name] for name in read_names}), message)
        table = run_guarded(lambda: describe_view(connection, VIEW), message)
        unread = {name: kind or ColumnKind.OTHER for name, kind in kinds.items() if name not in read_names}
        yield OpenedTable(connection, table, unread=unread)


def _check_names(names: Sequence[object]) -> list[str]:
    """The names of the columns: texts that differ, also where upper and lower case are the same."""
    texts = [name for name in names if isinstance(name, str)]
    if len(texts) < len(names):
        wrong = next(type(name).__name__ for name in names if not isinstance(name, str))
        raise InputError(
            f"data must have columns with texts for names, got a name of type {wrong}", "data", "rename it"
        )
    if not names:
        raise InputError("data must have columns, got a frame without any", "data", "name the frame that has them")
    if not all(_is_plain(name) for name in texts):
        problem = "data must have names of Unicode characters without NUL, got an empty name or one with others"
        raise InputError(problem, "data", "rename it")
    repeated = [name for name, times in Counter(name.lower() for name in texts).items() if times > 1]
    if repeated:
        problem = f"data must have columns of distinct names, got {show_name(repeated[0])} more than once"
        raise InputError(f"{problem} (upper and lower case are the same)", "data", "rename one of them")
    return [str(name) for name in texts]


def _is_plain(name: str) -> bool:
    try:
        return bool(name.encode()) and "\0" not in name
    except UnicodeEncodeError:
        return False


def _column_kinds(
    reader: FrameReader, names: Sequence[str], declared: Mapping[str, str]
) -> dict[str, ColumnKind | None]:
    """The kind of each column, from its type, or as it is declared for Python objects; None where it is not."""
    for name, word in declared.items():
        if name not in names:
            there_are = f"; the columns are {format_names(names)}"
            raise InputError(
                f"columns must name columns of the frame, got {name!r}{suggestion(name, names)}{there_are}", "columns"
            )
        if word not in (*KIND_PATTERNS, ColumnKind.TRUTH, ColumnKind.TEXT):
            raise InputError(
                f"columns must be integer, number, text, truth, date or time, got {word!r} for {name}", "columns"
            )
    return {
        name: (ColumnKind(declared[name]) if name in declared else None) if has_no_kind(dtype) else _arrow_kind(dtype)
        for name, dtype in zip(names, reader.types, strict=True)
    }


def has_no_kind(dtype: Any) -> bool:
    """Whether values alone would say what a column holds: Python objects, or a type that has no value but NULL."""
    return dtype is None or str(dtype) == "null"


def _arrow_kind(dtype: Any) -> ColumnKind:
    """The kind of an Arrow type."""
    import ibis

    kept = value_type(dtype)
    kept = kept.value_type if hasattr(kept, "value_type") else kept
    return column_kind(ibis.dtype(kept))


def _read_places(names: Sequence[str], kinds: Mapping[str, ColumnKind | None], location: Location) -> list[int]:
    """The places of the columns that are read: those that are used; all of them where that is not known.

    One of Python objects that is used and not declared is refused: its rows would decide what it holds.
    """
    used = location.used
    undeclared = sorted(name for name in used or () if name in kinds and kinds[name] is None)
    if undeclared:
        reason = "one row could decide what all others mean"
        rule = "columns must be declared where they hold Python objects or nothing but NULL"
        problem = f"{rule}, or {reason}: {format_names(undeclared)}"
        raise InputError(problem, "columns", f'give columns={{{json.dumps(undeclared[0])}: "text"}}, or another kind')
    if used is None or not used <= set(names):
        return list(range(len(names)))
    taken = {name.lower() for name in location.new_names}
    places = [place for place, name in enumerate(names) if name in used or name.lower() in taken]
    return places or [0]


def _read_view(
    session: Any, reader: FrameReader, places: Sequence[int], kinds: Mapping[str, ColumnKind | None]
) -> None:
    """Make a view of the columns at these places, in memory of their own and under their names."""
    import pyarrow as pa

    read = [own_references(column) for column in reader.read(places)]
    types = [reader.types[place] for place in places]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        columns = _own_columns(read, types, list(kinds.values()), pool)
        _check_lengths(columns)
        check_unchanged(reader, places, read, columns, pool.map)
    table = pa.table({f"c{index}": column for index, column in enumerate(columns)})
    quoted_names = ['"' + name.replace('"', '""') + '"' for name in kinds]
    projection = ", ".join(f"c{index} AS {name}" for index, name in enumerate(quoted_names))
    session.from_arrow(table).project(projection).create_view(VIEW)


def _own_columns(
    read: Sequence[Any], types: Sequence[Any], kinds: Sequence[ColumnKind | None], pool: Executor
) -> list[Any]:
    """Columns that were read, in memory of their own; their kinds are those of their types, or the declared ones."""
    for column, dtype in zip(read, types, strict=True):
        if not isinstance(column, ObjectColumn) and value_type(column.type) != value_type(dtype):
            raise TypeError("another type than the schema says")
    is_shared = [not isinstance(column, ObjectColumn) and repeats_texts(column) for column in read]
    futures = [
        None if shared else pool.submit(_own_column, column, dtype, kind)
        for column, dtype, kind, shared in zip(read, types, kinds, is_shared, strict=True)
    ]
    return [
        share_texts(column, pool) if future is None else future.result()
        for column, future in zip(read, futures, strict=True)
    ]


def _own_column(column: Any, dtype: Any, kind: ColumnKind | None) -> Any:
    """A column that was read, in memory of its own."""
    if isinstance(column, ObjectColumn):
        return _own_objects(column, kind)
    if has_no_kind(dtype):
        return _own_objects(ObjectColumn([None] * len(column)), kind)
    return own_values(column)


def _own_objects(column: ObjectColumn, kind: ColumnKind | None) -> Any:
    """Python objects as values of their kind."""
    import pyarrow as pa

    values = object_values(column.values, column.kind or kind or ColumnKind.OTHER)
    if column.codes is not None:
        values = values.take(pa.array(column.codes.astype("int32"), mask=column.codes < 0))
    return pa.chunked_array([values])


def _check_lengths(columns: Sequence[Any]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise InputError(
            "data must stay as it is while it is read, got columns of different lengths; nothing was spent",
            "data",
            "run the plan again",
        )
