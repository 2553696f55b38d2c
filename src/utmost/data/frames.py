"""Data frames as sources of plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from utmost.data.engines.engine import run_guarded
from utmost.data.engines.frame_kinds import find_frame_kind
from utmost.data.engines.frame_readers import NO_KIND
from utmost.data.engines.frames import UNREADABLE, has_no_kind
from utmost.data.sources import Source
from utmost.errors import InputError


def frame_source(data: object, *, columns: Mapping[str, str] | None = None) -> Source:
    """A data frame as the source of a plan: a pandas, polars or pyarrow one, or what has Arrow's stream interface.

    Nothing is read before the source is opened. `columns` declares the kinds of columns of Python objects.

    >>> import pyarrow as pa
    >>> frame_source(pa.table({"vote": [0, 1, 1]}))
    Source(pyarrow Table)
    """
    find_frame_kind(data)
    return Source(columns=MappingProxyType(dict(columns or {})), data=data)


def with_frame(source: Source, data: object) -> Source:
    """The source of a plan that names no location, with a data frame in its place."""
    if source.data is not None:
        raise InputError("data must be left out for a plan that is about a data frame already", "data", "give one")
    given = {"location": source.location, "table": source.table, "engine": source.engine}
    for key, value in given.items():
        if value:
            problem = (
                f"plan must leave {key} out where data is given, got {source.name if key == 'location' else value!r}"
            )
            raise InputError(problem, f"source.{key}", f"take {key} out of [source], or leave data out")
    find_frame_kind(data)
    return replace(source, data=data)


def undeclared_columns(source: Source) -> frozenset[str]:
    """The columns of Python objects whose kind is not declared, of a source `without_rows`."""
    fields = getattr(source.data, "schema", ())
    return frozenset(field.name for field in fields if has_no_kind(field.type)) - set(source.columns)


def without_rows(source: Source) -> Source:
    """The source with an empty table of the frame's columns in its place: no lazy frame is run to see them.

    Python objects, whose type says nothing, become columns of NULL, which are declared alike. A frame whose names are
    not texts stays, and is refused by whoever opens it.
    """
    import pyarrow as pa

    if source.data is None:
        return source
    kind = find_frame_kind(source.data)
    reader = run_guarded(lambda: kind.open(source.data), UNREADABLE.format(frame=kind.words))
    if not all(isinstance(name, str) for name in reader.names):
        return source
    types = [pa.null() if dtype is NO_KIND else dtype for dtype in reader.types]
    return replace(source, data=pa.schema(list(zip(reader.names, types, strict=True))).empty_table())
