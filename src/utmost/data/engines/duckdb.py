"""DuckDB, inside this process: CSV and Parquet files, and DuckDB's own files.

It may read the one file it was opened for and nothing else: no other file, no network, no extension. What does not fit
in memory spills into a private directory that is removed at the end. A DuckDB file is attached read-only, beside the
database in memory that queries run in: so the macros and types that it stores are on no search path.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from utmost.data.engines.csv_scan import MAX_LINE_BYTES, count_rows
from utmost.data.engines.csv_types import CsvLayout, check_row_count, mask_missing, read_layout, typed_columns
from utmost.data.engines.engine import (
    CSV,
    PARQUET,
    Connection,
    Engine,
    Location,
    LocationKind,
    OpenedTable,
    Row,
    run_guarded,
)
from utmost.data.engines.expressions import builtin_aggregate, builtin_function
from utmost.data.engines.schema import find_table, listed_names
from utmost.errors import DataError, InputError

DUCKDB_FILE = LocationKind("duckdb", "a DuckDB file", suffixes=(".duckdb", ".ddb"), log_suffixes=(".wal",))

EXTENSION_SETTINGS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
MEMORY, SOURCE = "memory", "source"  # the database that queries run in, and the one that is attached
SELECT_TABLES = f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = '{SOURCE}'"
SELECT_VIEWS = f"SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = '{SOURCE}' AND NOT internal"
SELECT_SHADOWS = f"""
    SELECT function_name FROM duckdb_functions() WHERE database_name = '{SOURCE}' AND NOT internal
        AND lower(function_name) IN (SELECT lower(function_name) FROM duckdb_functions() WHERE internal)
"""
WILDCARDS = "*?["
LOCK_MESSAGE = "DuckDB must let itself be locked: update it with pip"
HUGEINT_TYPE = (38, 0)  # precision and scale that ibis takes a hugeint for


class DuckDbEngine(Engine):
    """DuckDB."""

    name, title = "duckdb", "DuckDB"
    kinds: tuple[LocationKind, ...] = (CSV, PARQUET, DUCKDB_FILE)
    quotient_function = ("divide", "int64")
    adds_product_digits = False  # the type of a product is that of its wider factor

    def open(self, location: Location) -> AbstractContextManager[OpenedTable]:
        """The table of a file."""
        if location.kind is CSV:
            read_columns = (location.used, location.new_names)
            layout = read_layout(location.path, location.columns, location.missing, *read_columns)
            return _open_csv(location.path, layout, count_rows(location.path))
        if location.kind is PARQUET:
            return _open_parquet(location.path)
        return _open_database(location.path, location.table)

    def list_tables(self, location: Location) -> list[str]:
        """The tables and views of a DuckDB file."""
        if location.kind is not DUCKDB_FILE:
            return []
        with _connect(location.path, is_database=True) as connection:
            return listed_names(connection.fetch(SELECT_TABLES), "main")

    def hash_values(self, values: Sequence[Any]) -> Any:
        """The hash of several values leaves the last one unmixed, so it is hashed once more."""
        types = tuple(value.type() for value in values)
        return builtin_function("hash", ("uint64",), "uint64")(builtin_function("hash", types, "uint64")(*values))

    def last_value(self, value: Any, place: Any) -> Any:
        """DuckDB's own function: what ibis writes instead sorts by an encoding of the place, in twice the time."""
        return builtin_aggregate("arg_max", (value.type(), place.type()), value.type())(value, place)

    def strip_collation(self, text: Any) -> Any:
        """The text as UTF-8 and back."""
        encoded_text = builtin_function("encode", ("string",), "binary")(text)
        return builtin_function("decode", ("binary",), "string")(encoded_text)

    def trim_blanks(self, text: Any, blanks: str) -> Any:
        """DuckDB's btrim is called trim."""
        return builtin_function("trim", ("string", "string"), "string")(text, blanks)

    def readable_decimal(self, column: Any, same_type: Any) -> Any:
        """A hugeint reaches past the 38 digits that ibis takes it for, and a conversion could fail: that is NULL."""
        is_hugeint = (same_type.precision, same_type.scale) == HUGEINT_TYPE
        return column.try_cast(same_type) if is_hugeint else column


DUCKDB = DuckDbEngine()


def unconnected() -> Connection:
    """A connection to no database, for expressions over a table that is not there. It answers nothing."""
    from ibis.backends.duckdb import Backend

    return Connection(DUCKDB, Backend(), _refuse_statement)


def _refuse_statement(_: str) -> list[Row]:
    raise InputError("a sketch must not be asked", hint="open the table")


@contextmanager
def _open_parquet(path: Path) -> Iterator[OpenedTable]:
    """A Parquet file, or the Parquet files right inside a directory."""
    pattern = _literal_pattern(path) + ("/*.parquet" if path.is_dir() else "")
    message = f"location must be a Parquet file that can be read, got {path.name!r}: write it again"
    with _connect(path) as connection:
        read_parquet = connection.backend.con.read_parquet
        run_guarded(lambda: read_parquet(pattern, hive_partitioning=False).create_view("data"), message)
        yield OpenedTable(connection, run_guarded(lambda: _describe_table(connection, MEMORY, "main", "data"), message))


@contextmanager
def _open_csv(path: Path, layout: CsvLayout, rows: int) -> Iterator[OpenedTable]:
    """A CSV file of so many rows, whose values are read into memory; kinds are found where they are not declared."""
    message = f"location must be a CSV file that can be read, got {path.name!r}: see that it is text in UTF-8"
    with _connect(path) as connection:
        session = connection.backend.con
        run_guarded(lambda: _read_csv(session, path, layout).create_view("texts"), message)
        texts = run_guarded(lambda: _describe_table(connection, MEMORY, "main", "texts"), message)
        texts = mask_missing(texts, layout)
        typed_table = typed_columns(texts, layout, connection)
        run_guarded(lambda: session.execute(f"CREATE TABLE data AS {connection.sql(typed_table)}"), message)
        table = run_guarded(lambda: _describe_table(connection, MEMORY, "main", "data"), message)
        check_row_count(table, connection, rows, path)
        yield OpenedTable(connection, table, texts, layout.guessed_columns)


@contextmanager
def _open_database(path: Path, table: str | None) -> Iterator[OpenedTable]:
    """A table or view of a DuckDB file; `table` may name its schema, as in main.people.

    A view finds functions in its own file first. So it is refused where the file stores a macro under a built-in name.
    """
    with _connect(path, is_database=True) as connection:
        schema, name = find_table(table, connection.fetch(SELECT_TABLES), "main")
        if (schema, name) in connection.fetch(SELECT_VIEWS) and connection.fetch(SELECT_SHADOWS):
            raise DataError(
                "table must be stored in a file whose macros have names of their own, got the view "
                f"{name!r} beside a macro with the name of a built-in function: drop it, or store the view as a table"
            )
        message = f"table must be one that DuckDB can open alone, got {name!r}: a view on other files has to be stored"
        yield OpenedTable(connection, run_guarded(lambda: _describe_table(connection, SOURCE, schema, name), message))


@contextmanager
def _connect(path: Path, is_database: bool = False) -> Iterator[Connection]:
    """A connection that can read the path and is to its database, or to none."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="utmost-") as spill:
        config: dict[str, Any] = {**EXTENSION_SETTINGS, "temp_directory": spill}
        with duckdb.connect(":memory:", config=config) as session:
            if is_database:
                message = (
                    f"location must be a DuckDB file that nobody else writes to, got {path.name!r}: close it elsewhere"
                )
                run_guarded(lambda: _attach(session, path), message)
            # What a Parquet file says of its columns leaves NaN out, so that an answer would depend on it.
            session.execute("SET disabled_optimizers = 'statistics_propagation'")
            yield run_guarded(lambda: _restrict_to_path(session, path), LOCK_MESSAGE)


def _attach(session: Any, path: Path) -> None:
    """Attach the file. Were it connected to, its macros would be called, and it could not be opened twice at a time."""
    escaped_path = str(path).replace("'", "''")
    session.execute(f"ATTACH '{escaped_path}' AS {SOURCE} (TYPE duckdb, READ_ONLY)")


def _restrict_to_path(session: Any, path: Path) -> Connection:
    """A connection that may read one path, and cannot change that."""
    setting = "allowed_directories" if path.is_dir() else "allowed_paths"
    session.execute(f"SET {setting} = ?", [[str(path), _literal_pattern(path)]])
    return _lock(session, DUCKDB)


def _lock(session: Any, engine: DuckDbEngine) -> Connection:
    """A connection that can read nothing outside its database but what it was allowed, and cannot change that."""
    from ibis.backends.duckdb import Backend

    backend = Backend.from_connection(session)  # sets that no Python variable is taken for a table
    session.execute("SET TimeZone = 'UTC'")
    session.execute("SET enable_external_access = false")
    session.execute("SET lock_configuration = true")

    def fetch(statement: str) -> list[Row]:
        fetched_rows: list[Row] = session.execute(statement).fetchall()
        return fetched_rows

    return Connection(engine, backend, fetch)


@contextmanager
def connect_in_memory(engine: DuckDbEngine) -> Iterator[tuple[Connection, Any]]:
    """A locked connection to no file that writes nothing to disk, and its session, in which rows can be put."""
    import duckdb

    with duckdb.connect(":memory:", config={**EXTENSION_SETTINGS, "temp_directory": ""}) as session:
        session.execute("SET disabled_optimizers = 'statistics_propagation, filter_pushdown, join_filter_pushdown'")
        yield run_guarded(lambda: _lock(session, engine), LOCK_MESSAGE), session


def describe_view(connection: Connection, name: str) -> Any:
    """A table or view of the database in memory."""
    return _describe_table(connection, MEMORY, "main", name)


def _describe_table(connection: Connection, database: str, schema: str, name: str) -> Any:
    """The table, with its columns' types as ibis has them."""
    qualified_name = ".".join('"' + identifier.replace('"', '""') + '"' for identifier in (database, schema, name))
    relation = connection.backend.con.sql(f"SELECT * FROM {qualified_name}")
    columns = zip(relation.columns, (_ibis_type(str(kind)) for kind in relation.types), strict=True)
    return connection.table(dict(columns), name, schema, database)


def _ibis_type(kind: str) -> Any:
    import ibis.expr.datatypes as dt
    from ibis.backends.sql.datatypes import DuckDBType

    if kind.startswith("ENUM("):
        return dt.string
    try:
        return DuckDBType.from_string(kind)
    except Exception:
        return dt.unknown


def _read_csv(session: Any, path: Path, layout: CsvLayout) -> Any:
    return session.read_csv(
        _literal_pattern(path),
        columns=dict.fromkeys(layout.names, "VARCHAR"),
        header=True,
        auto_detect=False,
        delimiter=",",
        quotechar='"',
        escapechar='"',
        null_padding=True,
        strict_mode=False,
        hive_partitioning=False,
        max_line_size=MAX_LINE_BYTES + 1,
    )


def _literal_pattern(path: Path) -> str:
    """The path as a pattern that matches it alone."""
    return "".join(f"[{letter}]" if letter in WILDCARDS else letter for letter in str(path))
