"""Spark: CSV and Parquet files, and tables of the session's catalogue.

The application is the one that runs already, or else a new one, without its web page, which is stopped at the end. A
new one runs on the cluster that SPARK_MASTER names, or that spark-submit was told, else in this process.
Queries run in a session of their own: functions that the running session registers, which take the place of built-in
ones, its settings and its variables are not in it. A table of the running session comes over as a global view.

Spark logs what fails, rows included: in Java, where the log is switched off and stays so, and in Python, where three
loggers are switched off while the table is open.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

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
    SourceIdentity,
    run_guarded,
)
from utmost.data.engines.expressions import builtin_function
from utmost.data.engines.schema import find_table
from utmost.errors import InputError

CATALOGUE = LocationKind("catalogue", "a table of the catalogue")
NO_CATALOGUE_NAME = "Spark does not say which catalogue it reads"

QUIET_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.executor.syncLogLevel.enabled": "true",  # of a cluster's executors too, which log rows that fail
}
SESSION_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",  # ${…} inside a text is that text
    "spark.sql.parser.escapedStringLiterals": "false",  # ibis doubles backslashes
    "spark.sql.parser.quotedRegexColumnNames": "false",  # a name is no pattern of names
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",  # as ibis sets it
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ReorderAssociativeOperator",
}  # that rule makes x * (y * 0) of integers (x * y) * 0, which fails on a row whose x * y leaves 64 bits
LOGGER_NAMES = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
SILENT_LEVEL = logging.CRITICAL + 1
CSV_OPTIONS = {
    "header": True,
    "multiLine": False,  # one line is one row
    "quote": '"',
    "escape": '"',
    "mode": "PERMISSIVE",
    "nullValue": "",
    "emptyValue": "",
    "columnPruning": False,
    "maxCharsPerColumn": -1,
    "maxColumns": MAX_LINE_BYTES + 1,  # a line of commas is read too
}
SUBMITTED_VARIABLE = "PYSPARK_GATEWAY_PORT"  # is set in a process that spark-submit started
WILDCARDS = "*?[]{}\\"
ENCODING = "UTF-8"


class SparkEngine(Engine):
    """Spark."""

    name, title = "spark", "Spark"
    kinds = (CSV, PARQUET, CATALOGUE)

    def open(self, location: Location) -> AbstractContextManager[OpenedTable]:
        """The table of a file, or of the catalogue."""
        if location.kind is CSV:
            read_columns = (location.used, location.new_names)
            layout = read_layout(location.path, location.columns, location.missing, *read_columns)
            return _open_csv(location.path, layout, count_rows(location.path))
        return _open_parquet(location.path) if location.kind is PARQUET else _open_catalogue(location.table)

    def identify_database(self, fingerprint: str | None, database: str | None) -> SourceIdentity:
        """Rows of the catalogue are never recognised."""
        return SourceIdentity(None, NO_CATALOGUE_NAME)

    def hash_values(self, values: Sequence[Any]) -> Any:
        """Spark's own hash of several values."""
        return builtin_function("xxhash64", tuple(value.type() for value in values), "int64")(*values)

    def strip_collation(self, text: Any) -> Any:
        """The text as UTF-8 and back."""
        encoded_text = builtin_function("encode", ("string", "string"), "binary")(text, ENCODING)
        return builtin_function("decode", ("binary", "string"), "string")(encoded_text, ENCODING)


SPARK = SparkEngine()


@contextmanager
def _open_parquet(path: Path) -> Iterator[OpenedTable]:
    """A Parquet file, or a directory of them."""
    message = f"location must be a Parquet file that can be read, got {path.name!r}: write it again"
    with _open_sessions() as (_, session):
        frame = run_guarded(
            lambda: session.read.option("recursiveFileLookup", True).parquet(_literal_pattern(path)), message
        )
        with _temporary_view(session, frame) as name:
            connection = _wrap_session(session)
            yield OpenedTable(connection, _describe_table(connection, frame, name))


@contextmanager
def _open_csv(path: Path, layout: CsvLayout, rows: int) -> Iterator[OpenedTable]:
    """A CSV file of so many rows; the kinds of the columns are found where they are not declared."""
    message = f"location must be a CSV file that can be read, got {path.name!r}: see that it is text in UTF-8"
    with _open_sessions() as (_, session):
        from pyspark.sql.types import StringType, StructField, StructType

        texts = StructType([StructField(name, StringType()) for name in layout.names])
        reader = session.read.schema(texts).options(**CSV_OPTIONS).option("recursiveFileLookup", True)
        frame = run_guarded(lambda: reader.csv(_literal_pattern(path)), message)
        with _temporary_view(session, frame) as name:
            connection = _wrap_session(session)
            texts = _describe_table(connection, frame, name)
            check_row_count(texts, connection, rows, path)
            texts = mask_missing(texts, layout)
            values = typed_columns(texts, layout, connection)
            yield OpenedTable(connection, values, texts, layout.guessed_columns)


@contextmanager
def _open_catalogue(table: str | None) -> Iterator[OpenedTable]:
    """A table or view of the session's current database; `table` may name another database, as in old.people."""
    message = "table must be one that Spark can open: read it outside utmost to see why it cannot"
    with _open_sessions() as (running_session, session):
        qualified_name = _qualified_name(_find_identifiers(running_session, table))
        frame = run_guarded(lambda: running_session.table(qualified_name), message)
        with _global_view(running_session, frame) as (schema, name):
            connection = _wrap_session(session)
            yield OpenedTable(connection, _describe_table(connection, frame, name, schema))


def _find_identifiers(session: Any, table: str | None) -> list[str]:
    """Catalogue, database and name of a table; or the name alone of a temporary view, which has no other."""
    current = session.catalog.currentDatabase()
    entries = _list_entries(session, table)
    views = {entry.name for entry in entries if entry.isTemporary}
    tables = {(entry.namespace[-1], entry.name): entry for entry in entries if not entry.isTemporary}
    if table in views and (current, table) in tables:
        raise InputError(
            f"table must name one table, got {table!r}, which a temporary view has too",
            "table",
            f"write {current}.{table}",
        )
    if table in views:
        return [str(table)]
    known_names = [*tables, *((current, name) for name in views if (current, name) not in tables)]
    entry = tables[find_table(table, known_names, current)]
    return [entry.catalog, *entry.namespace, entry.name]


def _qualified_name(identifiers: Sequence[str]) -> str:
    return ".".join(f"`{identifier.replace('`', '``')}`" for identifier in identifiers)


def _list_entries(session: Any, table: str | None) -> list[Any]:
    """The tables of the current database, and of the one that `table` names."""
    entries = list(session.catalog.listTables())
    schema, dot, _ = (table or "").partition(".")
    if dot and session.catalog.databaseExists(schema) and schema != session.catalog.currentDatabase():
        entries += [entry for entry in session.catalog.listTables(schema) if not entry.isTemporary]
    return entries


@contextmanager
def _open_sessions() -> Iterator[tuple[Any, Any]]:
    """The session that runs, where tables are found, and a session of its own for the queries."""
    try:
        import ibis.backends.pyspark  # noqa: F401  # it needs pandas beside Spark
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(
            "engine needs Spark", "engine", "pip install 'utmost[spark]' and a Java runtime, 17 or later"
        ) from None
    _check_no_remote(SparkSession)
    active_session = SparkSession.getActiveSession()
    running_session = active_session or _start_session(SparkSession.builder.appName("utmost"))
    try:
        running_session.sparkContext.setLogLevel("OFF")
        with _silence_loggers():
            yield running_session, new_session(running_session)
    finally:
        if active_session is None:
            running_session.stop()


def new_session(running_session: Any) -> Any:
    """A session of the same application, with the settings that queries rely on."""
    session = running_session.newSession()
    for name, value in SESSION_SETTINGS.items():
        session.conf.set(name, value)
    return session


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


def _check_no_remote(session_class: Any) -> None:
    """Refuse Spark Connect: its sessions share settings and functions that somebody else sets."""
    if os.environ.get("SPARK_REMOTE") or not hasattr(session_class.getActiveSession() or session_class, "newSession"):
        raise InputError(
            "engine must be a Spark application of this process, got Spark Connect",
            "engine",
            "unset SPARK_REMOTE, and name the cluster in SPARK_MASTER",
        )


def _start_session(builder: Any) -> Any:
    """A new application: on the cluster of SPARK_MASTER or spark-submit, else in this process and on loopback alone."""
    master = os.environ.get("SPARK_MASTER", "")
    if master:
        builder = builder.master(master)
    if master.startswith("local") or (not master and SUBMITTED_VARIABLE not in os.environ):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    for name, value in QUIET_SETTINGS.items():
        builder = builder.config(name, value)
    cluster = ", and that the cluster of SPARK_MASTER can be reached" if master else ""
    return run_guarded(
        builder.getOrCreate, f"engine cannot start Spark: see that a Java runtime, 17 or later, is installed{cluster}"
    )


@contextmanager
def _global_view(session: Any, frame: Any) -> Iterator[tuple[str, str]]:
    """Database and name of the frame in every session of the application, while it is used."""
    name = f"utmost_{uuid4().hex}"
    frame.createGlobalTempView(name)
    try:
        yield session.conf.get("spark.sql.globalTempDatabase"), name
    finally:
        session.catalog.dropGlobalTempView(name)


@contextmanager
def _temporary_view(session: Any, frame: Any) -> Iterator[str]:
    """A name for the frame while it is used."""
    name = "data"
    frame.createTempView(name)
    try:
        yield name
    finally:
        session.catalog.dropTempView(name)


def _wrap_session(session: Any) -> Connection:
    import ibis

    def fetch(statement: str) -> list[Row]:
        return [tuple(row) for row in session.sql(statement).collect()]

    return Connection(SPARK, ibis.pyspark.connect(session), fetch)


def _describe_table(connection: Connection, frame: Any, name: str, schema: str | None = None) -> Any:
    columns = {field.name: _ibis_type(field.dataType) for field in frame.schema.fields}
    return connection.table(columns, name, schema)


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
