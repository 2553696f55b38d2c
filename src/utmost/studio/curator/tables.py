"""The tables of the studio's folder: what columns they have and of which kinds. No value is ever shown.

A table is opened when it is first looked at. What is kept of it is its columns and, where that is public, how many
units it has; both are asked for again when the file has changed. Of a CSV file only the first rows are read for kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from utmost.data.derive import parse_derivations
from utmost.data.engines import registry
from utmost.data.engines.csv_types import suggest_kinds
from utmost.data.engines.schema import ColumnKind, column_kind
from utmost.data.lookup import Lookup, PublicRows, name_lookup_in_errors, read_lookup
from utmost.data.selection import PrivacyUnit
from utmost.data.sources import (
    SAMPLE_FILES,
    Source,
    TableSchema,
    check_lookups,
    declared_types,
    list_tables,
    open_table,
)
from utmost.errors import InputError, UtmostError
from utmost.studio import data_folder
from utmost.studio.background import ThreadGroup
from utmost.studio.curator.forms import MAX_COLUMNS
from utmost.studio.forms import errors_for_field
from utmost.studio.settings import Settings

CACHED_TABLES = 64  # tables whose columns are remembered
COUNT_SECONDS = 0.8  # seconds that a page waits for units to be counted
COUNTING_MESSAGE = "the units are being counted, once, since their number is public: the numbers come in a moment"
COUNT_THREADS = ThreadGroup("count units")  # a studio that ends waits for them
FileStamp = tuple[int, int]
if TYPE_CHECKING:
    TableFormat = str
else:
    TableFormat = Literal[*(kind.name for kind in registry.ENGINES[0].kinds), "bundled"]


class Column(BaseModel):
    """A column and its kind; `found` where the first rows suggest the kind, and a plan must declare it."""

    name: str = Field(examples=["age"])
    kind: str = Field(examples=["integer"])
    found: bool


class SourceView(BaseModel):
    """A table: where it is, and what its columns are. A database of which no table was named lists its tables."""

    location: str
    format: TableFormat
    table: str | None
    tables: list[str]
    columns: list[Column]


def list_locations(settings: Settings) -> list[str]:
    """What can be asked about: the bundled table, and the files of the folder."""
    return [*SAMPLE_FILES, *data_folder.list_tables(settings)]


def check_source(source: Source, settings: Settings) -> Source:
    """The source, if it is the bundled table or a file of the folder, read by the first engine.

    Its lookups must be in public tables (`data_folder.public_table_path`), and not in the table itself.
    """
    engine = registry.ENGINES[0]
    if source.engine not in (None, engine.name):
        raise InputError(f"engine must be left out here: the studio reads files with {engine.title}", "location")
    if source.location not in SAMPLE_FILES:
        with errors_for_field("location"):
            data_folder.path_in_folder(settings.folder, source.location, data_folder.TABLE_SUFFIXES)
    for lookup in source.lookups:
        with name_lookup_in_errors(lookup):
            data_folder.public_table_path(settings, lookup.location)
    check_lookups(source, settings.folder)
    return source


def source_view(settings: Settings, location: str, table: str | None = None) -> SourceView:
    """The columns of a table, or the tables of a database."""
    source = check_source(Source(location, table or None), settings)
    kind: Any = "bundled" if location in SAMPLE_FILES else source.kind.name
    with _errors_for_location():
        names = list_tables(source, settings.folder)
        columns = [] if names and table is None else _column_views(settings, source)
    return SourceView(location=location, format=kind, table=table or None, tables=names, columns=columns)


def schema_columns(schema: TableSchema) -> list[Column]:
    """The columns of a table with those that are new. A kind that a plan declares is no longer suggested."""
    return [Column(name=name, kind=str(kind), found=False) for name, kind in schema.kinds.items()]


def public_columns(settings: Settings, location: str) -> list[Column]:
    """The columns of a public table; none where it is not one."""
    try:
        stamp = file_stamp(data_folder.public_table_path(settings, location))
        types = _column_types(settings.folder, location, None, stamp)
    except UtmostError:
        return []
    is_untyped = _is_untyped(Source(location))
    return [Column(name=name, kind=str(column_kind(dtype)), found=is_untyped) for name, dtype in types.items()]


def _column_views(settings: Settings, source: Source) -> list[Column]:
    types = _column_types(settings.folder, source.location, source.table, _file_stamp(settings, source.location))
    return [Column(name=name, kind=str(column_kind(dtype)), found=_is_untyped(source)) for name, dtype in types.items()]


def _is_untyped(source: Source) -> bool:
    """Has the table no types of its own."""
    return not source.kind.has_types and source.location not in SAMPLE_FILES


def table_schema(settings: Settings, source: Source) -> TableSchema:
    """The table without its rows, with its new columns; kinds that were found are known as found, unless declared."""
    check_source(source, settings)
    folder, stamp, untyped = settings.folder, _file_stamp(settings, source.location), _is_untyped(source)
    types = _schema_types(settings, source, stamp)

    def count_units(unit: PrivacyUnit) -> int:
        kinds = (
            {name: str(column_kind(types[name])) if name == unit.column else "text" for name in types}
            if untyped
            else {}
        )
        markers = source.missing.get(unit.column or "", ())
        counted = (folder, source.location, source.table, stamp, unit.column, tuple(kinds.items()), markers)
        return _wait_for_count(_unit_count_future(*counted))

    guessed_columns = frozenset(types) - frozenset(source.columns) if untyped else frozenset()
    public_tables = [(lookup, public_types(settings, lookup)) for lookup in source.lookups]
    return TableSchema(types, count_units, guessed_columns, parse_derivations(source.derive), public_tables)


def _schema_types(settings: Settings, source: Source, stamp: FileStamp) -> Any:
    """The types of a table's own columns; of a CSV file those that are declared, the others as they were found."""
    with _errors_for_location():
        types = _column_types(settings.folder, source.location, source.table, stamp)
    if not _is_untyped(source):
        if source.columns:
            raise InputError(f"columns must be left out for {source.name}: its kinds are known", "columns")
        return types
    _check_declared_columns(source, list(types))
    found_kinds = {name: column_kind(dtype) for name, dtype in types.items()}
    return declared_types({**found_kinds, **_declared_kinds(source)})


def public_types(settings: Settings, lookup: Lookup) -> PublicRows:
    """The types of the columns of a lookup's public table, which is read again only when its file has changed."""
    with name_lookup_in_errors(lookup):
        stamp = file_stamp(data_folder.public_table_path(settings, lookup.location))
    asked = tuple(tuple(mapping.items()) for mapping in (lookup.on, lookup.take, lookup.columns, lookup.missing))
    result = _read_public_types(settings.folder, lookup.location, asked, stamp)
    if isinstance(result, InputError):
        raise result
    return result


@lru_cache(maxsize=CACHED_TABLES)
def _read_public_types(folder: Path, location: str, asked: Any, stamp: FileStamp) -> PublicRows | InputError:
    """The types, or why the table is refused: a long one is read once for either."""
    lookup = Lookup(location, *(dict(pairs) for pairs in asked))
    try:
        return read_lookup(lookup, folder).without_rows()
    except InputError as error:
        return error.with_traceback(None)
    except UtmostError as error:
        return InputError(str(error), "location", context=lookup.label)


def _declared_kinds(source: Source) -> dict[str, ColumnKind]:
    return {name: ColumnKind(kind) for name, kind in source.columns.items() if kind in [*ColumnKind]}


def _check_declared_columns(source: Source, names: list[str]) -> None:
    for name, kind in source.columns.items():
        if name not in names:
            raise InputError(f'columns must name columns of {source.name}, got "{name[:60]}"', "columns")
        if kind not in [*ColumnKind] or kind == ColumnKind.OTHER:
            raise InputError("columns must be integer, number, text, truth, date or time, got another", "columns")


def _file_stamp(settings: Settings, location: str) -> FileStamp:
    """The stamp of a source's file; that of the bundled table never changes."""
    if location in SAMPLE_FILES:
        return (0, 0)
    return file_stamp(data_folder.path_in_folder(settings.folder, location, data_folder.TABLE_SUFFIXES))


def file_stamp(path: Path) -> FileStamp:
    """When a file was written, and how long it is."""
    status = path.stat()
    return (status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=CACHED_TABLES)
def _column_types(folder: Path, location: str, table: str | None, stamp: FileStamp) -> Any:
    """The columns' types; of a CSV file those that its first rows suggest."""
    source = Source(location, table)
    if _is_untyped(source):
        types = declared_types(suggest_kinds(folder / location))
    else:
        with open_table(source, folder) as open_source:
            types = open_source.types
    if len(types) > MAX_COLUMNS:
        raise InputError(
            f"table must have at most {MAX_COLUMNS} columns here, got {len(types)}: take a part of it", "location"
        )
    return types


@lru_cache(maxsize=CACHED_TABLES)
def _unit_count_future(
    folder: Path,
    location: str,
    table: str | None,
    stamp: FileStamp,
    column: str | None,
    kinds: tuple[tuple[str, str], ...],
    markers: tuple[str, ...],
) -> Future[int]:
    """The number of units, once it is known: they are counted in a thread, since a large file takes its time."""
    future: Future[int] = Future()
    missing = {column: markers} if column is not None and markers else {}
    source = Source(location, table, None, dict(kinds), missing=missing)
    COUNT_THREADS.start(_count_units, future, source, folder, column)
    return future


def _count_units(future: Future[int], source: Source, folder: Path, column: str | None) -> None:
    """How many rows there are, or persons. All columns of a CSV file are given kinds, so that none need be found."""
    try:
        with open_table(source, folder) as table:
            future.set_result(table.units(PrivacyUnit() if column is None else PrivacyUnit(column, rows=1)))
    except Exception as error:
        future.set_exception(error.with_traceback(None))  # its frames would hold the connection


def _wait_for_count(future: Future[int]) -> int:
    """The number, if it comes soon; else a problem that goes away by itself. What failed is tried anew next time."""
    try:
        with _errors_for_location():
            return future.result(COUNT_SECONDS)
    except TimeoutError:
        raise InputError(COUNTING_MESSAGE, "protects") from None
    except InputError:
        _unit_count_future.cache_clear()
        raise


@contextmanager
def _errors_for_location() -> Iterator[None]:
    """Report a table that cannot be opened as an error of its location."""
    try:
        yield
    except InputError as error:
        raise error.about("table" if error.field == "table" else "location") from None
    except UtmostError as error:
        raise InputError(str(error), "location") from None
