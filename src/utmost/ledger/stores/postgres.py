"""A ledger in a PostgreSQL database, for many machines.

A charge locks its budget's row first (SELECT … FOR UPDATE) and reads the charges after it has the lock. That is right
only under READ COMMITTED, where each statement sees what others have committed before it, so the transaction asks for
that whatever the server's default is. synchronous_commit is on for each of them: a commit is on the disk when it
returns, if the server's fsync is on. No message of the driver is passed on: it could quote the URL and its password.

The connection's search path is asked once, for the schema of the ledger. Every table is then named with its schema, and
the search path of each transaction is pg_catalog alone, so that no function or table of another user is found instead.
Texts are sent and read as UTF-8, whatever the role, the database, the URL or the environment sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from utmost.errors import LedgerError
from utmost.ledger.stores.database import LOCK_SECONDS, Row, StoreKind

if TYPE_CHECKING:
    import psycopg

CONNECT_SECONDS = 10  # to wait for the server
ENCODING = "UTF8"  # of statements and answers
UNKNOWN_ENCODING = "SQL_ASCII"  # of a database that converts no text
CREATION_LOCK = 7_810_921_001  # the advisory lock of whoever makes the tables
TABLE_PATTERN = re.compile(r"\butmost_(ledger|budgets|charges|costs|releases)\b")
SCHEMA_PATTERN = re.compile(r"""[^"'\\%?\0]+""")  # that can be quoted anywhere
FIND_SCHEMAS = b"""SELECT n.nspname FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
    WHERE t.relname = 'utmost_ledger' AND n.nspname = ANY (pg_catalog.current_schemas(false))"""
ADDRESS_PATTERN = re.compile(r"(\[[0-9A-Fa-f:.]*\]|[\w.-]*)(:[0-9]*)?(/[\w-]*)?", re.ASCII)

PROBLEM_BY_SQLSTATE = {
    "55P03": f"is in use by others for more than {LOCK_SECONDS} seconds: try again later",
    "57014": "took longer than the server allows: try again later",
    "40P01": "is in use by others: try again",
    "25006": "cannot be written: the server or the database is read-only",
    "42501": "may not be used by this user: let it make tables, read and insert, and update utmost_budgets",
    "53100": "cannot be written: the server's disk is full",
}


class PostgresSession:
    """One transaction of a PostgreSQL database, on the tables of one schema."""

    def __init__(self, connection: psycopg.Connection[Any], schema: str) -> None:
        self._connection, self._schema = connection, schema

    def rows(self, statement: str, *values: object) -> list[Row]:
        """All rows that a SELECT finds."""
        return self._connection.execute(self._encode(statement), values).fetchall()

    def add(self, statement: str, *values: object) -> int:
        """Insert one row; its id."""
        ((number,),) = self._connection.execute(self._encode(f"{statement} RETURNING id"), values).fetchall()
        return int(number)

    def add_all(self, statement: str, rows: list[Row]) -> None:
        """Insert rows without an id."""
        with self._connection.cursor() as cursor:
            cursor.executemany(self._encode(statement), rows)

    def run(self, statement: str, *values: object) -> None:
        """Run a statement that finds no rows."""
        self._connection.execute(self._encode(statement), values or None)

    def _encode(self, statement: str) -> bytes:
        """A statement as the driver wants it: %s for ?, and the ledger's tables with their schema."""
        return TABLE_PATTERN.sub(rf'"{self._schema}".\g<0>', statement).replace("?", "%s").encode()


class PostgresStore:
    """A database; one connection, made when it is first needed."""

    exists = "SELECT count(to_regclass('utmost_ledger'))"  # with its schema, like all tables
    locked = " FOR UPDATE"

    def __init__(self, url: str) -> None:
        self._url = url
        self.types = {"number": "BIGINT", "counter": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"}
        self._connection: psycopg.Connection[Any] | None = None
        self._schema = ""
        self.name = f"ledger {url_without_password(url)}"

    @contextmanager
    def reading(self) -> Iterator[PostgresSession]:
        """A transaction that sees one state and changes nothing."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[PostgresSession]:
        """A transaction in which each statement sees what was committed before it."""
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE") as session:
            session.run("SET LOCAL synchronous_commit TO on")
            session.run(f"SET LOCAL lock_timeout TO '{LOCK_SECONDS}s'")
            yield session

    @contextmanager
    def making(self) -> Iterator[PostgresSession]:
        """The same, one at a time: two that make the same table at once would fail."""
        with self.writing() as session:
            session.rows("SELECT pg_advisory_xact_lock(?)", CREATION_LOCK)
            yield session

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[PostgresSession]:
        connection = self._connect()
        import psycopg

        try:
            connection.execute(f"{begin}; SET LOCAL search_path TO pg_catalog".encode())
            yield PostgresSession(connection, self._schema)
            connection.execute(b"COMMIT")
        except BaseException as problem:
            error = self._translate_error(problem) if isinstance(problem, psycopg.Error) else problem
            _undo(connection)
            raise error from None

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            import psycopg
        except ImportError:
            raise LedgerError(
                "a ledger in PostgreSQL needs psycopg, which is not installed: pip install 'utmost[postgres]'"
            ) from None
        if self._connection is None or self._connection.closed:
            try:
                self._connection = psycopg.connect(
                    self._url,
                    autocommit=True,
                    connect_timeout=CONNECT_SECONDS,
                    prepare_threshold=None,
                    client_encoding=ENCODING,
                )
                self._set_encoding(self._connection)
                self._schema = self._find_schema(self._connection)
            except (psycopg.Error, UnicodeError, ValueError):
                self.close()
                raise LedgerError(
                    f"{self.name} cannot be reached: check host, port, database, user and password, and the server"
                ) from None
        return self._connection

    def _set_encoding(self, connection: psycopg.Connection[Any]) -> None:
        """UTF-8 on this side; a server that does not know its own encoding is refused."""
        connection.execute(f"SET client_encoding = '{ENCODING}'".encode())
        if connection.execute(b"SHOW server_encoding").fetchone() == (UNKNOWN_ENCODING,):
            self.close()
            raise LedgerError(
                f"{self.name} must be in a database whose texts have an encoding, got {UNKNOWN_ENCODING}: "
                "make one with the encoding UTF8"
            )

    def _find_schema(self, connection: psycopg.Connection[Any]) -> str:
        """The schema of the ledger: the one on the search path that has it, or where a new table would be made."""
        schemas = [name for (name,) in connection.execute(FIND_SCHEMAS).fetchall()]
        if not schemas:
            schemas = [name for (name,) in connection.execute(b"SELECT pg_catalog.current_schema()").fetchall()]
        if len(schemas) != 1 or SCHEMA_PATTERN.fullmatch(schemas[0] or "") is None:
            self.close()
            raise LedgerError(
                f"{self.name} must be in one schema with a plain name, got none or several on the search path: "
                "set search_path for the user or in the URL"
            )
        return str(schemas[0])

    def _translate_error(self, problem: psycopg.Error) -> LedgerError:
        """An error of the driver in our own words."""
        lost = "lost its connection; a charge under way may have been made: look at utmost budget history"
        if self._connection is None or self._connection.closed:
            return LedgerError(f"{self.name} {lost}")
        other_problem = f"failed (SQLSTATE {problem.sqlstate})"
        return LedgerError(f"{self.name} {PROBLEM_BY_SQLSTATE.get(problem.sqlstate or '', other_problem)}")


def url_without_password(url: str) -> str:
    """Host, port and database of a URL, if nothing in it can be a piece of a password that was not escaped.

    >>> url_without_password("postgresql://ann:secret@db.example:5433/ledger"), url_without_password("postgresql://ann:se@cret@db/ledger")
    ('postgresql://db.example:5433/ledger', 'postgresql://…')
    """
    address_part, _, options = url.partition("://")[2].partition("?")
    user, _, address = address_part.rpartition("@")
    if "/" in user or "@" in user or "@" in options or not ADDRESS_PATTERN.fullmatch(address):
        return "postgresql://…"
    return f"postgresql://{address}"


def _undo(connection: psycopg.Connection[Any]) -> None:
    """Roll back; a connection that cannot is closed, which does the same."""
    import psycopg

    try:
        connection.execute(b"ROLLBACK")
    except psycopg.Error:
        connection.close()


POSTGRES = StoreKind(
    ("postgresql", "postgres"),
    "postgresql:// URL",
    "a URL that starts with postgresql://",
    lambda location, _: PostgresStore(location),
)
