"""DuckDB, inside this process: CSV and Parquet files, and DuckDB's own files.

It may read the one file it was opened for and nothing else: no other file, no network, no extension. What does not fit
in memory spills into a private directory that is removed at the end. A DuckDB file is attached read-only, beside the
database in memory that queries run in: so the macros and types that it stores are on no search path.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from utmost.data.engines.csv_scan import MAX_LINE_BYTES
from utmost.data.engines.csv_types import CsvLayout, check_row_count, typed_columns
from utmost.data.engines.engine import Engine, OpenedTable, Row, run_guarded
from utmost.data.engines.table_names import find_table, listed_names
from utmost.errors import DataError

EXTENSION_SETTINGS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
MEMORY, SOURCE = "memory", "source"  # the database that queries run in, and the one that is attached
SELECT_TABLES = f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = '{SOURCE}'"
SELECT_VIEWS = f"SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = '{SOURCE}' AND NOT internal"
SELECT_SHADOWS = f"""
    SELECT function_name FROM duckdb_functions() WHERE database_name = '{SOURCE}' AND NOT internal
        AND lower(function_name) IN (SELECT lower(function_name) FROM duckdb_functions() WHERE internal)
"""
WILDCARDS = "*?["


@contextmanager
def open_parquet(path: Path) -> Iterator[OpenedTable]:
    """A Parquet file, or the Parquet files right inside a directory."""
    pattern = _literal_pattern(path) + ("/*.parquet" if path.is_dir() else "")
    message = f"location must be a Parquet file that can be read, got {path.name!r}: write it again"
    with _open_engine(path) as engine:
        read_parquet = engine.backend.con.read_parquet
        run_guarded(lambda: read_parquet(pattern, hive_partitioning=False).create_view("data"), message)
        yield OpenedTable(engine, run_guarded(lambda: _describe_table(engine, MEMORY, "main", "data"), message))


@contextmanager
def open_csv(path: Path, layout: CsvLayout, rows: int) -> Iterator[OpenedTable]:
    """A CSV file of so many rows, whose values are read into memory; kinds are found where they are not declared."""
    message = f"location must be a CSV file that can be read, got {path.name!r}: see that it is text in UTF-8"
    with _open_engine(path) as engine:
        connection = engine.backend.con
        run_guarded(lambda: _read_csv(connection, path, layout).create_view("texts"), message)
        texts = run_guarded(lambda: _describe_table(engine, MEMORY, "main", "texts"), message)
        typed_table = typed_columns(texts, layout, engine)
        run_guarded(lambda: connection.execute(f"CREATE TABLE data AS {engine.sql(typed_table)}"), message)
        table = run_guarded(lambda: _describe_table(engine, MEMORY, "main", "data"), message)
        check_row_count(table, engine, rows, path)
        yield OpenedTable(engine, table, texts)


@contextmanager
def open_database(path: Path, table: str | None) -> Iterator[OpenedTable]:
    """A table or view of a DuckDB file; `table` may name its schema, as in main.people.

    A view finds functions in its own file first. So it is refused where the file stores a macro under a built-in name.
    """
    with _open_engine(path, is_database=True) as engine:
        schema, name = find_table(table, engine.fetch(SELECT_TABLES), "main")
        if (schema, name) in engine.fetch(SELECT_VIEWS) and engine.fetch(SELECT_SHADOWS):
            raise DataError(
                "table must be stored in a file whose macros have names of their own, got the view "
                f"{name!r} beside a macro with the name of a built-in function: drop it, or store the view as a table"
            )
        message = f"table must be one that DuckDB can open alone, got {name!r}: a view on other files has to be stored"
        yield OpenedTable(engine, run_guarded(lambda: _describe_table(engine, SOURCE, schema, name), message))


def list_tables(path: Path) -> list[str]:
    """The tables and views of a DuckDB file, as `open_database` takes their names."""
    with _open_engine(path, is_database=True) as engine:
        return listed_names(engine.fetch(SELECT_TABLES), "main")


@contextmanager
def _open_engine(path: Path, is_database: bool = False) -> Iterator[Engine]:
    """A connection that can read the path and is to its database, or to none."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="utmost-") as spill:
        config: dict[str, Any] = {**EXTENSION_SETTINGS, "temp_directory": spill}
        with duckdb.connect(":memory:", config=config) as connection:
            if is_database:
                message = (
                    f"location must be a DuckDB file that nobody else writes to, got {path.name!r}: close it elsewhere"
                )
                run_guarded(lambda: _attach(connection, path), message)
            # What a Parquet file says of its columns leaves NaN out, so that an answer would depend on it.
            connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            yield run_guarded(
                lambda: _restrict_to_path(connection, path), "DuckDB must let itself be locked: update it with pip"
            )


def _attach(connection: Any, path: Path) -> None:
    """Attach the file. Were it connected to, its macros would be called, and it could not be opened twice at a time."""
    escaped_path = str(path).replace("'", "''")
    connection.execute(f"ATTACH '{escaped_path}' AS {SOURCE} (TYPE duckdb, READ_ONLY)")


def _restrict_to_path(connection: Any, path: Path) -> Engine:
    """The connection as an engine that may read one path, and cannot change that."""
    from ibis.backends.duckdb import Backend

    backend = Backend.from_connection(connection)  # sets that no Python variable is taken for a table
    connection.execute("SET TimeZone = 'UTC'")
    setting = "allowed_directories" if path.is_dir() else "allowed_paths"
    connection.execute(f"SET {setting} = ?", [[str(path), _literal_pattern(path)]])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")

    def fetch(statement: str) -> list[Row]:
        fetched_rows: list[Row] = connection.execute(statement).fetchall()
        return fetched_rows

    return Engine("duckdb", backend, fetch)


def _describe_table(engine: Engine, database: str, schema: str, name: str) -> Any:
    """The table, with its columns' types as ibis has them."""
    qualified_name = ".".join('"' + identifier.replace('"', '""') + '"' for identifier in (database, schema, name))
    relation = engine.backend.con.sql(f"SELECT * FROM {qualified_name}")
    columns = zip(relation.columns, (_ibis_type(str(kind)) for kind in relation.types), strict=True)
    return engine.table(dict(columns), name, schema, database)


def _ibis_type(kind: str) -> Any:
    import ibis.expr.datatypes as dt
    from ibis.backends.sql.datatypes import DuckDBType

    if kind.startswith("ENUM("):
        return dt.string
    try:
        return DuckDBType.from_string(kind)
    except Exception:
        return dt.unknown


def _read_csv(connection: Any, path: Path, layout: CsvLayout) -> Any:
    return connection.read_csv(
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
