"""The tables of the studio's folder: what columns they have and of which kinds. No value is ever shown.

A table is opened when it is first looked at. What is kept of it is its columns and, where that is public, how many
units it has; both are asked for again when the file has changed. Of a CSV file only the first rows are read for kinds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from utmost.data.asked import Unit
from utmost.data.engines.texts import suggested
from utmost.data.kinds import Kind, kind_of
from utmost.data.sketch import Sketch, declared
from utmost.data.sources import BUNDLED, Source, opened, tables
from utmost.errors import UtmostError
from utmost.studio import files
from utmost.studio.curator.drafts import MOST_COLUMNS
from utmost.studio.problems import FieldError, about
from utmost.studio.settings import Settings

KEPT = 64  # tables whose columns are remembered
PATIENCE = 0.8  # seconds that a page waits for units to be counted
COUNTING = "the units are being counted, once, since their number is public: the numbers come in a moment"
Stamp = tuple[int, int]


class Column(BaseModel):
    """A column and its kind; `found` where the first rows suggest the kind, and a plan must declare it."""

    name: str = Field(examples=["age"])
    kind: str = Field(examples=["integer"])
    found: bool


class SourceView(BaseModel):
    """A table: where it is, and what its columns are. A database of which no table was named lists its tables."""

    location: str
    format: Literal["csv", "parquet", "duckdb", "bundled"]
    table: str | None
    tables: list[str]
    columns: list[Column]


def locations(settings: Settings) -> list[str]:
    """What can be asked about: the bundled table, and the files of the folder."""
    return [*BUNDLED, *files.sources(settings)]


def checked(source: Source, settings: Settings) -> Source:
    """The source, if it is the bundled table or a file of the folder, read by DuckDB."""
    if source.engine not in (None, "duckdb"):
        raise FieldError("location", "engine must be left out here: the studio reads files with DuckDB")
    if source.location not in BUNDLED:
        with about("location"):
            files.inside(settings.folder, source.location, files.SOURCES)
    return source


def view(settings: Settings, location: str, table: str | None = None) -> SourceView:
    """The columns of a table, or the tables of a database."""
    source = checked(Source(location, table or None), settings)
    kind: Any = "bundled" if location in BUNDLED else source.kind
    with _told():
        names = tables(source, settings.folder)
        columns = [] if names and table is None else _columns(settings, source)
    return SourceView(location=location, format=kind, table=table or None, tables=names, columns=columns)


def _columns(settings: Settings, source: Source) -> list[Column]:
    types = _types(settings.folder, source.location, source.table, _stamp(settings, source.location))
    return [Column(name=name, kind=str(kind_of(dtype)), found=_is_free(source)) for name, dtype in types.items()]


def _is_free(source: Source) -> bool:
    """Has the table no types of its own."""
    return source.kind == "csv" and source.location not in BUNDLED


def sketch(settings: Settings, source: Source) -> Sketch:
    """The table without its rows; what its kinds were found to be is known as found, unless it is declared."""
    checked(source, settings)
    folder, stamp = settings.folder, _stamp(settings, source.location)
    with _told():
        types = _types(folder, source.location, source.table, stamp)
    free = _is_free(source)
    if source.columns and not free:
        raise FieldError("columns", f"columns must be left out for {source.name}: its kinds are known")
    if free:
        _all_known(source, list(types))
        types = declared({**{name: kind_of(dtype) for name, dtype in types.items()}, **_kinds(source)})

    def counted(unit: Unit) -> int:
        kinds = {name: str(kind_of(types[name])) if name == unit.column else "text" for name in types} if free else {}
        found = _counting(folder, source.location, source.table, stamp, unit.column, tuple(kinds.items()))
        return _patiently(found)

    return Sketch(types, counted, frozenset(types) - frozenset(source.columns) if free else frozenset())


def _kinds(source: Source) -> dict[str, Kind]:
    return {name: Kind(kind) for name, kind in source.columns.items() if kind in [*Kind]}


def _all_known(source: Source, names: list[str]) -> None:
    for name, kind in source.columns.items():
        if name not in names:
            raise FieldError("columns", f'columns must name columns of {source.name}, got "{name[:60]}"')
        if kind not in [*Kind] or kind == Kind.OTHER:
            raise FieldError("columns", "columns must be integer, number, text, truth, date or time, got another")


def _stamp(settings: Settings, location: str) -> Stamp:
    """When a file was written, and how long it is."""
    if location in BUNDLED:
        return (0, 0)
    status = files.inside(settings.folder, location, files.SOURCES).stat()
    return (status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=KEPT)
def _types(folder: Path, location: str, table: str | None, stamp: Stamp) -> Any:
    """The columns' types; of a CSV file those that its first rows suggest."""
    source = Source(location, table)
    if _is_free(source):
        types = declared(suggested(folder / location))
    else:
        with opened(source, folder) as found:
            types = found.types
    if len(types) > MOST_COLUMNS:
        raise FieldError(
            "location", f"table must have at most {MOST_COLUMNS} columns here, got {len(types)}: take a part of it"
        )
    return types


@lru_cache(maxsize=KEPT)
def _counting(
    folder: Path, location: str, table: str | None, stamp: Stamp, column: str | None, kinds: tuple[tuple[str, str], ...]
) -> Future[int]:
    """The number of units, once it is known: they are counted in a thread, since a large file takes its time."""
    future: Future[int] = Future()
    source = Source(location, table, None, dict(kinds))
    threading.Thread(target=_count, args=(future, source, folder, column)).start()
    return future


def _count(future: Future[int], source: Source, folder: Path, column: str | None) -> None:
    """How many rows there are, or persons. All columns of a CSV file are given kinds, so that none need be found."""
    try:
        with opened(source, folder) as found:
            future.set_result(found.units(Unit() if column is None else Unit(column, rows=1)))
    except Exception as problem:
        future.set_exception(problem)


def _patiently(future: Future[int]) -> int:
    """The number, if it comes soon; else a problem that goes away by itself. What failed is tried anew next time."""
    try:
        with _told():
            return future.result(PATIENCE)
    except TimeoutError:
        raise FieldError("protects", COUNTING) from None
    except FieldError:
        _counting.cache_clear()
        raise


@contextmanager
def _told() -> Iterator[None]:
    """A table that cannot be opened is the fault of its location."""
    try:
        yield
    except FieldError:
        raise
    except UtmostError as problem:
        field = "table" if str(problem).startswith("table ") else "location"
        raise FieldError(field, str(problem)) from None
