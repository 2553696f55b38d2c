"""DuckDB, inside this process: CSV and Parquet files, and DuckDB's own files.

It may read the one file it was opened for and nothing else: no other file, no network, no extension. What does not fit
in memory spills into a private directory that is removed at the end. A DuckDB file is opened read-only.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from utmost.data.engines.csv_types import CsvLayout, typed_columns
from utmost.data.engines.engine import Engine, Row, run_guarded
from utmost.data.engines.table_names import find_table, listed_names

CLOSED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
TABLES = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = current_catalog()"
WILD = "*?["


@contextmanager
def open_parquet(path: Path) -> Iterator[tuple[Engine, Any]]:
    """A Parquet file, or the Parquet files right inside a directory."""
    pattern = _literal(path) + ("/*.parquet" if path.is_dir() else "")
    words = f"location must be a Parquet file that can be read, got {path.name!r}: write it again"
    with _engine(path) as engine:
        read = engine.backend.con.read_parquet
        run_guarded(lambda: read(pattern, hive_partitioning=False).create_view("data"), words)
        yield engine, run_guarded(lambda: _described(engine, "main", "data"), words)


@contextmanager
def open_csv(path: Path, layout: CsvLayout) -> Iterator[tuple[Engine, Any]]:
    """A CSV file, read once into DuckDB's memory; the kinds of the columns are found where they are not declared."""
    words = f"location must be a CSV file that can be read, got {path.name!r}: see that it is text in UTF-8"
    with _engine(path) as engine:
        run = engine.backend.con.execute
        run_guarded(lambda: _load(engine.backend.con, path, layout), words)
        made = typed_columns(run_guarded(lambda: _described(engine, "main", "raw"), words), layout, engine)
        run_guarded(lambda: run(f"CREATE TABLE data AS {engine.sql(made)}"), words)
        run_guarded(lambda: run("DROP TABLE raw"), words)
        yield engine, run_guarded(lambda: _described(engine, "main", "data"), words)


@contextmanager
def open_database(path: Path, table: str | None) -> Iterator[tuple[Engine, Any]]:
    """A table or view of a DuckDB file; `table` may name its schema, as in main.people."""
    with _engine(path, is_database=True) as engine:
        schema, name = find_table(table, engine.fetch(TABLES), "main")
        words = f"table must be one that DuckDB can open alone, got {name!r}: a view on other files has to be stored"
        yield engine, run_guarded(lambda: _described(engine, schema, name), words)


def list_tables(path: Path) -> list[str]:
    """The tables and views of a DuckDB file, as `open_database` takes their names."""
    with _engine(path, is_database=True) as engine:
        return listed_names(engine.fetch(TABLES), "main")


@contextmanager
def _engine(path: Path, is_database: bool = False) -> Iterator[Engine]:
    """A connection that can read the path and is to its database, or to none."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="utmost-") as spill:
        config: dict[str, Any] = {**CLOSED, "temp_directory": spill}
        with duckdb.connect(":memory:", config=config) as connection:
            if is_database:
                words = (
                    f"location must be a DuckDB file that nobody else writes to, got {path.name!r}: close it elsewhere"
                )
                run_guarded(lambda: _attach(connection, path), words)
            # What a Parquet file says of its columns leaves NaN out, so that an answer would depend on it.
            connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            yield run_guarded(lambda: _locked(connection, path), "DuckDB must let itself be locked: update it with pip")


def _attach(connection: Any, path: Path) -> None:
    """Make the file the connection's database. Connected to directly, it could not be opened twice at a time."""
    place = str(path).replace("'", "''")
    connection.execute(f"ATTACH '{place}' AS source (TYPE duckdb, READ_ONLY)")
    connection.execute("USE source")


def _locked(connection: Any, path: Path) -> Engine:
    """The connection as an engine that may read one path, and cannot change that."""
    from ibis.backends.duckdb import Backend

    backend = Backend.from_connection(connection)  # sets UTC, and that no Python variable is taken for a table
    setting = "allowed_directories" if path.is_dir() else "allowed_paths"
    connection.execute(f"SET {setting} = ?", [[str(path), _literal(path)]])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")

    def rows(statement: str) -> list[Row]:
        found: list[Row] = connection.execute(statement).fetchall()
        return found

    return Engine("duckdb", backend, rows)


def _described(engine: Engine, schema: str, name: str) -> Any:
    """The table, with its columns' types as ibis has them."""
    place = ".".join('"' + part.replace('"', '""') + '"' for part in (schema, name))
    relation = engine.backend.con.sql(f"SELECT * FROM {place}")
    columns = zip(relation.columns, (_dtype(str(kind)) for kind in relation.types), strict=True)
    return engine.table(dict(columns), name, schema)


def _dtype(kind: str) -> Any:
    import ibis.expr.datatypes as dt
    from ibis.backends.sql.datatypes import DuckDBType

    if kind.startswith("ENUM("):
        return dt.string
    try:
        return DuckDBType.from_string(kind)
    except Exception:
        return dt.unknown


def _load(connection: Any, path: Path, layout: CsvLayout) -> None:
    """The file's texts as table `raw`. Quick first; where that fails, slowly, without the lines that cannot be read.

    The quick way gives up at the first oddity, so both read the same rows where the quick one reads any.
    """
    try:
        _read(connection, path, layout, parallel=True, ignore_errors=False).create("raw")
    except Exception:
        _read(connection, path, layout, parallel=False, ignore_errors=True).create("raw")


def _read(connection: Any, path: Path, layout: CsvLayout, **ways: bool) -> Any:
    return connection.read_csv(
        _literal(path),
        columns=dict.fromkeys(layout.names, "VARCHAR"),
        header=True,
        auto_detect=False,
        delimiter=",",
        quotechar='"',
        escapechar='"',
        null_padding=True,
        strict_mode=False,
        hive_partitioning=False,
        **ways,
    )


def _literal(path: Path) -> str:
    """The path as a pattern that matches it alone."""
    return "".join(f"[{letter}]" if letter in WILD else letter for letter in str(path))
