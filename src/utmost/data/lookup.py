"""Lookups: columns taken from a public table by a key that is unique there.

**Each row stays one row.** A row of the private table gets the values of the one row of the public table whose key
equals its own, or NULL where there is none: a left join on a key that was seen to be unique maps rows one by one, by a
function that the public table fixes. So it is 1-stable, and every sensitivity stays what it is. NULL equals nothing.

The public table is read once, before anything is charged, and goes to every engine as one text that is taken apart
there: that needs no right to write, and no file that the engine could not read.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

from utmost.data.derive import check_new_name
from utmost.data.engines.csv_types import count_unreadable, frequent_misfits
from utmost.data.engines.duckdb import DUCKDB
from utmost.data.engines.engine import CSV, PARQUET, Engine, Location, Row
from utmost.data.engines.expressions import digits, text_literal
from utmost.data.engines.schema import ColumnKind, column_kind, show_name
from utmost.data.predicates.arithmetic import INT64_RANGE
from utmost.data.predicates.comparisons import compare
from utmost.data.predicates.function_values import FIRST_DATE, FIRST_TIME, LAST_DATE, LAST_TIME
from utmost.data.predicates.type_check import unknown_column
from utmost.data.predicates.typed_values import column_value
from utmost.errors import InputError
from utmost.exact.files import check_no_named_pipe, is_part_of

MAX_LOOKUP_ROWS = 10**6
LOOKUP_SUFFIXES = (".csv", ".parquet")
KEY_KINDS = (ColumnKind.INTEGER, ColumnKind.TEXT, ColumnKind.TRUTH, ColumnKind.DATE)
PRIVATE_CHARACTERS = range(0xE000, 0xF8FF)  # of Unicode, that no text should have
COLUMN_TYPES = {
    ColumnKind.INTEGER: "int64",
    ColumnKind.NUMBER: "float64",
    ColumnKind.TEXT: "string",
    ColumnKind.TRUTH: "boolean",
    ColumnKind.DATE: "date",
    ColumnKind.TIME: "timestamp(6)",
}
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Lookup:
    """A public table: where it is, its key (our column: its column), and what is taken (its column: the new name).

    `columns` are the kinds of a CSV file's columns, `missing` its texts that mean NULL. Those not declared are found.
    """

    location: str
    on: Mapping[str, str]
    take: Mapping[str, str]
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        """Check that there is a key, and something to take."""
        if not self.on or not self.take:
            key = "take" if self.on else "on"
            raise InputError(f"{key} must name at least one column", key, context=self.label)
        if len(set(self.take.values())) < len(self.take):
            raise InputError("take must give each column a name of its own", "take", context=self.label)

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return Path(self.location).name or self.location

    @property
    def label(self) -> str:
        """What errors call it."""
        return f"lookup {show_name(self.name)}"

    def fingerprint(self, folder: Path) -> str:
        """The SHA-256 of its file."""
        path, digest = _file_path(self, folder), hashlib.sha256()
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class PublicRows:
    """The rows of a public table that have a key: the values of its key, then those that are taken, and their types.

    `fingerprint` is that of the file that they were read from.
    """

    rows: Sequence[Row]
    types: Sequence[Any]
    fingerprint: str

    def without_rows(self) -> PublicRows:
        """The types alone: a table that is joined with them gets columns of the same kinds."""
        return PublicRows((), self.types, self.fingerprint)


@dataclass(frozen=True, slots=True)
class PublicMisfits:
    """A column of a public CSV file with texts that are no value of its kind: NULL in every row that takes them.

    `markers` are the most frequent of them, with their number.
    """

    lookup: str
    column: str
    kind: ColumnKind
    count: int
    markers: tuple[tuple[str, int], ...]


def check_public(lookup: Lookup, folder: Path, private: Path) -> None:
    """Refuse a lookup in the private table itself: what one row has would depend on other rows."""
    if is_part_of(folder / lookup.location, private):
        problem = "location must be a public file, got the table itself"
        raise InputError(problem, "location", "name another file", context=lookup.label)


def read_lookup(lookup: Lookup, folder: Path) -> PublicRows:
    """The public table, read by DuckDB; refused where its key is not unique, it is too large, or it changes."""
    fingerprint = lookup.fingerprint(folder)
    with name_lookup_in_errors(lookup), DUCKDB.open(_file_location(lookup, folder)) as opened:
        names = [*lookup.on.values(), *lookup.take]
        for index, name in enumerate(names):
            if name not in opened.rows.columns:
                role = "on" if index < len(lookup.on) else "take"
                raise unknown_column(name, opened.rows.columns, role, role)
        columns = [_fetchable_column(DUCKDB.readable_column(opened.rows, name)) for name in names]
        types = [_column_type(name, column.type()) for name, column in zip(names, columns, strict=True)]
        values = opened.rows.select(**{f"c{index}": column for index, column in enumerate(columns)})
        rows = opened.connection.rows(values.limit(MAX_LOOKUP_ROWS + 1))
        check_unchanged(lookup, folder, fingerprint)
        return PublicRows(_check_rows(rows, len(lookup.on)), types, fingerprint)


def find_misfits(lookup: Lookup, folder: Path, max_markers: int) -> list[PublicMisfits]:
    """The columns of the key and those that are taken which have texts that are no value of their kind."""
    with name_lookup_in_errors(lookup), DUCKDB.open(_file_location(lookup, folder)) as opened:
        if opened.texts is None:
            return []
        names = [*lookup.on.values(), *lookup.take]
        kinds = {name: column_kind(opened.rows[name].type()) for name in names}
        counts = count_unreadable(kinds, opened.texts, opened.connection)
        markers = {
            name: frequent_misfits(name, kinds[name], opened.texts, opened.connection, max_markers) for name in counts
        }
        return [
            PublicMisfits(lookup.name, name, kinds[name], count, tuple(markers[name])) for name, count in counts.items()
        ]


def check_unchanged(lookup: Lookup, folder: Path, fingerprint: str) -> None:
    """Refuse a public table that is not what was read: plan and release would name another."""
    if lookup.fingerprint(folder) != fingerprint:
        raise InputError("location must not change while a plan runs", "location", "run it again", context=lookup.label)


def join_lookup(table: Any, lookup: Lookup, public_rows: PublicRows, engine: Engine) -> Any:
    """The table with the columns that are taken. Looks at no row of it."""
    with name_lookup_in_errors(lookup):
        for name in lookup.take.values():
            check_new_name(name, table.columns, "take")
        names = _free_names(len(public_rows.types), table.columns)
        public_table = _public_table(public_rows, names)
        conditions = []
        for column, name, dtype in zip(lookup.on, names, public_rows.types, strict=False):
            _check_key(table, column, dtype)
            ours, theirs = engine.readable_column(table, column), public_table[name]
            conditions.append(compare("=", column_value(ours), column_value(theirs), 0))
        joined = table.left_join(public_table, conditions)
        taken = zip(lookup.take.values(), names[len(lookup.on) :], strict=True)
        new_columns = [joined[name].name(new_name) for new_name, name in taken]
        return joined.select(*(joined[column] for column in table.columns), *new_columns)


def _file_path(lookup: Lookup, folder: Path) -> Path:
    path = (folder / lookup.location).resolve()
    check_no_named_pipe(path, "location")
    if path.suffix.lower() not in LOOKUP_SUFFIXES or not path.is_file():
        problem = "location must be a CSV or Parquet file that exists"
        raise InputError(problem, "location", "paths are relative to the plan's folder", context=lookup.label)
    if lookup.columns and path.suffix.lower() != ".csv":
        raise InputError("columns must be left out for a Parquet file", "columns", context=lookup.label)
    return path


def _file_location(lookup: Lookup, folder: Path) -> Location:
    """Where DuckDB finds the file."""
    path = _file_path(lookup, folder)
    kind = CSV if path.suffix.lower() == ".csv" else PARQUET
    return Location(kind, lookup.location, path, None, lookup.columns, lookup.missing)


def _fetchable_column(column: Any) -> Any:
    """A column with NULL for what Python cannot hold: moments beyond the years 1 to 9999. A time with a zone is in UTC.

    Fetched as they are, an infinite day would be the last one of the year 9999.
    """
    import ibis

    dtype = column.type()
    if not dtype.is_date() and not dtype.is_timestamp():
        return column
    first, last = (FIRST_TIME, LAST_TIME) if dtype.is_timestamp() else (FIRST_DATE, LAST_DATE)
    value = column_value(column)
    is_inside = compare(">=", value, first, 0) & compare("<=", value, last, 0)
    moment = column.cast(COLUMN_TYPES[ColumnKind.TIME]) if dtype.is_timestamp() else column
    return ibis.cases((is_inside, moment), else_=ibis.null(moment.type()))


def _column_type(name: str, dtype: Any) -> Any:
    import ibis

    kind = column_kind(dtype)
    if kind is ColumnKind.OTHER or (dtype.is_decimal() and dtype.scale == 0):
        raise InputError(f"column {show_name(name)} must be of a kind that plans know", "take", "convert it")
    return dtype.copy(nullable=True) if dtype.is_decimal() else ibis.dtype(COLUMN_TYPES[kind])


def _check_rows(rows: Sequence[Row], key_size: int) -> list[Row]:
    """The rows that have a key. A key that is there twice is shown: the table is public."""
    if len(rows) > MAX_LOOKUP_ROWS:
        raise InputError(f"location must have at most {MAX_LOOKUP_ROWS} rows", "location", "take a smaller table")
    if any(type(value) is int and not INT64_RANGE[0] <= value <= INT64_RANGE[1] for row in rows for value in row):
        raise InputError("location must have whole numbers of at most 64 bits", "location", "convert them")
    keyed_rows: dict[Row, Row] = {}
    for row in rows:
        key = row[:key_size]
        if None in key:
            continue
        if key in keyed_rows:
            shown_key = show_name(", ".join(str(value) for value in key))
            raise InputError(f"on must be a unique key of the table, got {shown_key} twice", "on", "remove one of them")
        keyed_rows[key] = row
    return list(keyed_rows.values())


def _check_key(table: Any, column: str, their_type: Any) -> None:
    if column not in table.columns:
        raise unknown_column(column, table.columns, "on", "on")
    kind, their_kind = column_kind(table[column].type()), column_kind(their_type)
    if kind is not their_kind or kind not in KEY_KINDS:
        problem = f"on must match integers, texts, truths or dates of one kind, got {show_name(column)} of kind {kind}"
        raise InputError(f"{problem} and a column of kind {their_kind}", "on", "declare its kind in columns")


def _free_names(number: int, columns: Sequence[str]) -> list[str]:
    """Names for the columns of a public table while it is joined: no column of ours is called so, in small letters.

    No two lookups have the same ones, since each adds columns: to ibis, equal tables would be one.
    """
    prefix, taken = "utmost lookup", {column.lower() for column in columns}
    while any(column.startswith(prefix) for column in taken):
        prefix += "_"
    return [f"{prefix} {len(columns)}.{index}" for index in range(number)]


def _public_table(public_rows: PublicRows, names: Sequence[str]) -> Any:
    """The rows as a table inside any engine: one text, whose pieces are made values there."""
    import ibis

    texts = [[_cell_text(value) for value in row] for row in public_rows.rows]
    texts = texts or [[None] * len(public_rows.types)]
    characters = set().union(*(text for row in texts for text in row if text is not None))
    free = (chr(code) for code in PRIVATE_CHARACTERS if chr(code) not in characters)
    row_end, cell_end, null = next(free), next(free), next(free)
    content = row_end.join(cell_end.join(null if text is None else text for text in row) for row in texts)
    records = text_literal(content).split(row_end).unnest().name("record").as_table()
    columns = []
    for index, (name, dtype) in enumerate(zip(names, public_rows.types, strict=True)):
        cell = records["record"].split(cell_end)[index].nullif(ibis.literal(null))
        columns.append((cell if dtype.is_string() else cell.cast(dtype)).name(name))
    return records.select(*columns)


def _cell_text(value: Any) -> str | None:
    """A value as the text that every engine reads back; NaN is NULL."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        sign, numerals, exponent = value.as_tuple()
        number = int("".join(map(str, numerals))) * (-1 if sign else 1)
        return digits(number, -int(exponent))
    return str(value)


@contextmanager
def name_lookup_in_errors(lookup: Lookup) -> Iterator[None]:
    """Say in errors which public table they are about."""
    try:
        yield
    except InputError as problem:
        raise problem.within(lookup.label) from None
