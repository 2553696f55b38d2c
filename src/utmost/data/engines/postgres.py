"""PostgreSQL: a table or view of a database, read in one read-only transaction, so that every answer sees one state.

The URL may hold the password; so may PostgreSQL's own environment and password file. No error repeats any of it.
Tables are qualified by their schema, and functions, operators and types are those of pg_catalog alone: what other roles
store is on no search path, so that a function of theirs with a built-in name is never called. Texts are sent and read
as UTF-8, and the server converts them: that is not left to the role, the database, the URL or the environment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from functools import reduce
from typing import Any

from utmost.data.engines.engine import (
    Connection,
    Engine,
    Location,
    LocationKind,
    OpenedTable,
    Row,
    SourceIdentity,
    hashed_identity,
    run_guarded,
)
from utmost.data.engines.expressions import builtin_function
from utmost.data.engines.schema import find_table
from utmost.errors import InputError

POSTGRES_URL = LocationKind("postgres", "a PostgreSQL database", prefixes=("postgresql://", "postgres://"))
NO_FINGERPRINT = "the rows of a database cannot be recognised without a fingerprint"
NO_DATABASE_NAME = "the server does not say which it is: let the user execute pg_control_system()"

CONNECT_SECONDS = 10  # seconds to connect
SELECT_TABLES = """
    SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
"""
DEFAULT_SCHEMA = "public"  # of a table whose plan names no schema
ENCODING = "UTF8"  # of statements and answers
UNKNOWN_ENCODING = "SQL_ASCII"  # of a database that converts no text
SESSION_SETTINGS = {
    "client_encoding": f"'{ENCODING}'",
    "search_path": "pg_catalog, pg_temp",
    "TimeZone": "'UTC'",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
}
ENUMERATION, OTHER_TYPE = "enum", "other"
SELECT_COLUMNS = """
    SELECT a.attname, CASE
        WHEN s.nspname = 'pg_catalog' AND t.typname IN ('money', 'oid') THEN 'other'
        WHEN s.nspname = 'pg_catalog' THEN pg_catalog.format_type(a.atttypid, a.atttypmod)
        WHEN t.typtype = 'e' AND NOT EXISTS (SELECT FROM pg_catalog.pg_cast WHERE castsource = t.oid) THEN 'enum'
        ELSE 'other' END
    FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    JOIN pg_catalog.pg_namespace s ON s.oid = t.typnamespace
    JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE a.attnum > 0 AND NOT a.attisdropped AND n.nspname = %s AND c.relname = %s
    ORDER BY a.attnum
"""
MAY_IDENTIFY = "SELECT pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')"
SELECT_DATABASE = """
    SELECT s.system_identifier::pg_catalog.text, pg_catalog.inet_server_addr()::pg_catalog.text,
        pg_catalog.inet_server_port(), d.oid::pg_catalog.text, d.datname::pg_catalog.text,
        SESSION_USER::pg_catalog.text, CURRENT_USER::pg_catalog.text
    FROM pg_catalog.pg_control_system() s, pg_catalog.pg_database d
    WHERE d.datname = pg_catalog.current_database()
"""
SECRET_WORDS = ("pass", "secret")  # in the names of the driver's parameters
HASH_SEPARATOR = "|"


class PostgresEngine(Engine):
    """PostgreSQL."""

    name, title = "postgres", "PostgreSQL"
    kinds = (POSTGRES_URL,)
    quotient_function = ("div", "decimal")

    def open(self, location: Location) -> AbstractContextManager[OpenedTable]:
        """A table or view of a database."""
        return _open_database(location.text, location.table)

    def identify_database(self, fingerprint: str | None, database: str | None) -> SourceIdentity:
        """The database as its connection says, and the curator's word that its rows are the same."""
        if fingerprint is None or database is None:
            return SourceIdentity(None, NO_FINGERPRINT if fingerprint is None else NO_DATABASE_NAME)
        return hashed_identity(self.name, database, fingerprint)

    def hash_values(self, values: Sequence[Any]) -> Any:
        """The hash of one text in which all the values stand."""
        texts = [value.cast("string") for value in values]
        return reduce(lambda text, value: text + HASH_SEPARATOR + value, texts).hash()

    def strip_collation(self, text: Any) -> Any:
        """The bytes are in the encoding of the database: into another one the conversion could fail on a row."""
        encoding = builtin_function("getdatabaseencoding", (), "string")()
        encoded_text = builtin_function("convert_to", ("string", "string"), "binary")(text, encoding)
        return builtin_function("convert_from", ("binary", "string"), "string")(encoded_text, encoding)

    def readable_decimal(self, column: Any, same_type: Any) -> Any:
        """A numeric can be NaN, which is NULL here."""
        import ibis

        value = column.cast(same_type)
        return (value == ibis.literal(Decimal("NaN"), "decimal")).ifelse(ibis.null(column.type()), value)

    def decimal_scale(self, dtype: Any) -> int | None:
        """A numeric has as many digits as it takes."""
        return None


POSTGRES = PostgresEngine()


@contextmanager
def _open_database(url: str, table: str | None) -> Iterator[OpenedTable]:
    """A table or view of a database; `table` may name its schema, as in old.people, and is else of public."""
    message = "location must be a PostgreSQL database whose catalogue can be read: check the user's rights"
    with _connect(url) as connection:
        execute = connection.backend.con.execute
        tables = run_guarded(lambda: execute(SELECT_TABLES).fetchall(), message)
        schema, name = find_table(table, tables, DEFAULT_SCHEMA)
        columns = run_guarded(lambda: execute(SELECT_COLUMNS, (schema, name)).fetchall(), message)
        rows = connection.table({column: _ibis_type(kind) for column, kind in columns}, name, schema)
        database = run_guarded(lambda: _identify_database(connection.backend.con), message)
        yield OpenedTable(connection, rows, database=database)


@contextmanager
def _connect(url: str) -> Iterator[Connection]:
    try:
        import psycopg
    except ImportError:
        raise InputError("location needs PostgreSQL's client", "location", "pip install 'utmost[postgres]'") from None
    session = run_guarded(
        lambda: psycopg.connect(url, connect_timeout=CONNECT_SECONDS, client_encoding=ENCODING),
        "location must be a PostgreSQL database that answers: check host, port, name, user and password, "
        "as in postgresql://user@host:5432/name",
    )
    try:
        session.read_only, session.isolation_level = True, psycopg.IsolationLevel.REPEATABLE_READ
        message = "location must be a PostgreSQL database that lets its session be set: update the server"
        run_guarded(lambda: _apply_settings(session), message)
        run_guarded(lambda: _check_encoding(session), message)
        yield _wrap_session(session)
    finally:
        session.close()


def _identify_database(session: Any) -> str | None:
    """Server, database, user and parameters of an open connection, without secrets; None where the server may not say.

    A URL is not looked at: hosts, names and options in it, in the environment and in files mean what the driver makes
    of them. Without the server's own identifier an address is no identity: it can be that of another server tomorrow.
    """
    if not session.execute(MAY_IDENTIFY).fetchone()[0]:
        return None
    parameters = {
        name: value
        for name, value in session.info.get_parameters().items()
        if not any(word in name for word in SECRET_WORDS)
    }
    return json.dumps([*session.execute(SELECT_DATABASE).fetchone(), sorted(parameters.items())])


def _apply_settings(session: Any) -> None:
    """Make names and texts mean what they mean here, whatever the role, the database, the URL or a view sets."""
    session.execute("; ".join(f"SET {name} = {value}" for name, value in SESSION_SETTINGS.items()).encode())


def _check_encoding(session: Any) -> None:
    if session.execute("SHOW server_encoding").fetchone() == (UNKNOWN_ENCODING,):
        raise InputError(
            f"location must be a PostgreSQL database whose texts have an encoding, got {UNKNOWN_ENCODING}",
            "location",
            "copy it to one with the encoding UTF8",
        )


def _wrap_session(session: Any) -> Connection:
    from ibis.backends.postgres import Backend

    def fetch(statement: str) -> list[Row]:
        _apply_settings(session)  # each time: a view that was read can have called set_config
        fetched_rows: list[Row] = session.execute(statement.encode()).fetchall()
        return fetched_rows

    return Connection(POSTGRES, Backend.from_connection(session), fetch)


def _ibis_type(kind: str) -> Any:
    """A type of pg_catalog as ibis has it. An enumeration is a text, unless somebody stored a cast of it."""
    import ibis.expr.datatypes as dt
    from ibis.backends.sql.datatypes import PostgresType

    if kind in (ENUMERATION, OTHER_TYPE):
        return dt.string if kind == ENUMERATION else dt.unknown
    try:
        return PostgresType.from_string(kind)
    except Exception:
        return dt.unknown
