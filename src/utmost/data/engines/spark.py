"""Spark: CSV and Parquet files, and tables of the session's catalogue.

The session is the one that runs already, or else a new one, without its web page, which is stopped at the end. Spark
logs what fails, rows included: in Java, where the session's log is switched off and stays so, and in Python, where
three loggers are switched off while the table is open.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from utmost.data.engines.csv_types import CsvLayout, typed_columns
from utmost.data.engines.engine import Engine, Row, run_guarded
from utmost.data.engines.table_names import find_table
from utmost.errors import InputError

QUIET_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
}
SESSION_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",  # ${…} inside a text is that text
    "spark.sql.parser.escapedStringLiterals": "false",  # ibis doubles backslashes
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",  # as ibis sets it
}
LOGGER_NAMES = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
SILENT_LEVEL = logging.CRITICAL + 1
CSV_OPTIONS = {
    "header": True,
    "multiLine": True,
    "quote": '"',
    "escape": '"',
    "mode": "PERMISSIVE",
    "nullValue": "",
    "emptyValue": "",
    "columnPruning": False,
    "maxCharsPerColumn": -1,
}
WILDCARDS = "*?[]{}\\"
_view_numbers = count()


@contextmanager
def open_parquet(path: Path) -> Iterator[tuple[Engine, Any]]:
    """A Parquet file, or a directory of them."""
    message = f"location must be a Parquet file that can be read, got {path.name!r}: write it again"
    with _open_session() as session:
        frame = run_guarded(
            lambda: session.read.option("recursiveFileLookup", True).parquet(_literal_pattern(path)), message
        )
        with _temporary_view(session, frame) as name:
            engine = _wrap_session(session)
            yield engine, _describe_table(engine, frame, name)


@contextmanager
def open_csv(path: Path, layout: CsvLayout) -> Iterator[tuple[Engine, Any]]:
    """A CSV file; the kinds of the columns are found where they are not declared."""
    message = f"location must be a CSV file that can be read, got {path.name!r}: see that it is text in UTF-8"
    with _open_session() as session:
        from pyspark.sql.types import StringType, StructField, StructType

        texts = StructType([StructField(name, StringType()) for name in layout.names])
        reader = session.read.schema(texts).options(**CSV_OPTIONS).option("recursiveFileLookup", True)
        frame = run_guarded(lambda: reader.csv(_literal_pattern(path)), message)
        with _temporary_view(session, frame) as name:
            engine = _wrap_session(session)
            yield engine, typed_columns(_describe_table(engine, frame, name), layout, engine)


@contextmanager
def open_catalogue(table: str | None) -> Iterator[tuple[Engine, Any]]:
    """A table or view of the session's current database; `table` may name another database, as in old.people."""
    message = "table must be one that Spark can open: read it outside utmost to see why it cannot"
    with _open_session() as session:
        current = session.catalog.currentDatabase()
        table_names = [
            (entry.namespace[-1] if entry.namespace else current, entry.name) for entry in _list_entries(session, table)
        ]
        schema, name = find_table(table, table_names, current)
        is_temporary = any(entry.isTemporary for entry in session.catalog.listTables() if entry.name == name)
        name_parts = [name] if is_temporary and schema == current else [schema, name]
        qualified_name = ".".join(f"`{identifier.replace('`', '``')}`" for identifier in name_parts)
        frame = run_guarded(lambda: session.table(qualified_name), message)
        engine = _wrap_session(session)
        yield engine, _describe_table(engine, frame, name, None if len(name_parts) == 1 else schema)


def _list_entries(session: Any, table: str | None) -> list[Any]:
    """The tables of the current database, and of the one that `table` names."""
    entries = list(session.catalog.listTables())
    schema, dot, _ = (table or "").partition(".")
    if dot and session.catalog.databaseExists(schema) and schema != session.catalog.currentDatabase():
        entries += [entry for entry in session.catalog.listTables(schema) if not entry.isTemporary]
    return entries


@contextmanager
def _open_session() -> Iterator[Any]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("engine needs Spark: pip install 'utmost[spark]' and a Java runtime, 17 or later") from None
    active_session = SparkSession.getActiveSession()
    session = active_session or _start_session(SparkSession.builder.appName("utmost"))
    previous_settings = {name: str(session.conf.get(name)) for name in SESSION_SETTINGS}
    try:
        session.sparkContext.setLogLevel("OFF")
        _apply_settings(session, SESSION_SETTINGS)
        with _silence_loggers():
            yield session
    finally:
        _apply_settings(session, previous_settings)
        if active_session is None:
            session.stop()


@contextmanager
def _silence_loggers() -> Iterator[None]:
    """Nothing from Spark's loggers in Python. They are made by Spark's own function, for Spark relies on their type."""
    try:
        from pyspark.logger import PySparkLogger

        loggers: list[logging.Logger] = [PySparkLogger.getLogger(name) for name in LOGGER_NAMES]
    except ImportError:  # before Spark 4
        loggers = []
    loggers.append(logging.getLogger("py4j"))
    previous_levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(SILENT_LEVEL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, previous_levels, strict=True):
            logger.setLevel(level)


def _apply_settings(session: Any, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        session.conf.set(name, value)


def _start_session(builder: Any) -> Any:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    for name, value in QUIET_SETTINGS.items():
        builder = builder.config(name, value)
    return run_guarded(
        builder.getOrCreate, "engine cannot start Spark: see that a Java runtime, 17 or later, is installed"
    )


@contextmanager
def _temporary_view(session: Any, frame: Any) -> Iterator[str]:
    """A name for the frame while it is used."""
    name = f"utmost_{os.getpid()}_{next(_view_numbers)}"
    frame.createTempView(name)
    try:
        yield name
    finally:
        session.catalog.dropTempView(name)


def _wrap_session(session: Any) -> Engine:
    import ibis

    def fetch(statement: str) -> list[Row]:
        return [tuple(row) for row in session.sql(statement).collect()]

    return Engine("spark", ibis.pyspark.connect(session), fetch)


def _describe_table(engine: Engine, frame: Any, name: str, schema: str | None = None) -> Any:
    columns = {field.name: _ibis_type(field.dataType) for field in frame.schema.fields}
    return engine.table(columns, name, schema)


def _ibis_type(kind: Any) -> Any:
    import ibis.expr.datatypes as dt
    from ibis.backends.pyspark.datatypes import PySparkType

    try:
        return PySparkType.to_ibis(kind)
    except Exception:
        return dt.unknown


def _literal_pattern(path: Path) -> str:
    """The local path as a pattern that matches it alone."""
    return "file://" + "".join(f"\\{letter}" if letter in WILDCARDS else letter for letter in str(path))
