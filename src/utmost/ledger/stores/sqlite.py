"""A ledger in one SQLite file.

Durable: with a rollback journal a commit is the moment the journal's file is gone. synchronous = EXTRA writes the
journal, the file and then, unlike FULL, the directory without the journal to the disk before a commit returns; else a
power cut could bring the journal back and undo a charge whose noise has been drawn. WAL would be as durable and let
readers read on, but needs memory that all processes share, and keeps the newest charges in a second file that a copy of
the ledger would miss. A charge is so small that readers hardly wait.

A file is opened for each transaction: a ledger that was moved away or put back is seen at the next one.

SQLite finds the journal of a crash by the file's name, so a file with two names (hard links) could be read without it:
it is refused. A symbolic link is followed. A new file is for its owner alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from utmost.errors import InputError, LedgerError, UtmostError
from utmost.ledger.stores.database import DAMAGED_MESSAGE, HOW_TO_OPEN, LOCK_SECONDS, NoLedgerError, Row, StoreKind

if TYPE_CHECKING:
    import sqlite3


class SqliteSession:
    """One transaction of an SQLite file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, *values: object) -> list[Row]:
        """All rows that a SELECT finds."""
        return self._connection.execute(statement, values).fetchall()

    def add(self, statement: str, *values: object) -> int:
        """Insert one row; its id."""
        return int(self._connection.execute(statement, values).lastrowid or 0)

    def add_all(self, statement: str, rows: list[Row]) -> None:
        """Insert rows without an id."""
        self._connection.executemany(statement, rows)

    def run(self, statement: str, *values: object) -> None:
        """Run a statement that finds no rows."""
        self._connection.execute(statement, values)


class SqliteStore:
    """A file; nothing is held open between transactions."""

    exists = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'utmost_ledger'"
    locked = ""  # BEGIN IMMEDIATE has locked the file

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))
        self.types = {"number": "INTEGER", "counter": "INTEGER PRIMARY KEY AUTOINCREMENT"}
        self.name = f"ledger {path.name}"

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        """A transaction that sees one state and changes nothing."""
        self._check_exists()
        with self._transaction("BEGIN", "rw") as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        """A transaction that has the file for itself."""
        self._check_exists()
        with self._transaction("BEGIN IMMEDIATE", "rw") as session:
            yield session

    @contextmanager
    def making(self) -> Iterator[SqliteSession]:
        """The same; a file that is not there is made."""
        if not os.path.isdir(self._path.parent):
            raise InputError(
                f"{self.name} must be in a directory that exists, got one that does not", "ledger", "make it first"
            )
        self._check_not_directory()
        self._make_file()
        self._check_single_name()
        with self._transaction("BEGIN IMMEDIATE", "rw") as session:
            yield session

    def close(self) -> None:
        """Nothing is held open."""

    def _check_exists(self) -> None:
        self._check_not_directory()
        if not os.path.exists(self._path):
            raise NoLedgerError(f"{self.name} must exist, got no such file: {HOW_TO_OPEN}")
        self._check_single_name()

    def _check_not_directory(self) -> None:
        if os.path.isdir(self._path):
            raise InputError(f"{self.name} must be a file, got a directory", "ledger", "name a file in it")

    def _check_single_name(self) -> None:
        with suppress(OSError):  # that it cannot be opened is said by the transaction
            if os.stat(self._path).st_nlink > 1:
                raise InputError(
                    f"{self.name} must have one name, got a file with several hard links, which do not share a journal",
                    "ledger",
                    "remove the others, or use a symbolic link",
                )

    def _make_file(self) -> None:
        """An empty file that its owner alone can read and write, where there is none."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return
        except OSError:
            raise LedgerError(f"{self.name} {PROBLEM_BY_ERROR_NAME['SQLITE_CANTOPEN']}") from None
        os.close(handle)

    @contextmanager
    def _transaction(self, begin: str, mode: str) -> Iterator[SqliteSession]:
        import sqlite3

        uri = f"{self._path.as_uri()}?mode={mode}"
        try:
            with closing(sqlite3.connect(uri, timeout=LOCK_SECONDS, isolation_level=None, uri=True)) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute(begin)
                session = SqliteSession(connection)
                self._check_kind(session)
                yield session
                connection.execute("COMMIT")
        except sqlite3.Error as problem:
            raise self._translate_error(problem) from None

    def _check_kind(self, session: SqliteSession) -> None:
        """Refuse a file with other tables: no ledger is ever made in it."""
        names = [name for (name,) in session.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if names and "utmost_ledger" not in names:
            raise InputError(
                f"{self.name} must be a ledger, got an SQLite file of another kind", "ledger", "name another"
            )

    def _translate_error(self, problem: sqlite3.Error) -> UtmostError:
        """An error of the driver in our own words."""
        kind = str(getattr(problem, "sqlite_errorname", "SQLITE_ERROR"))
        if kind.startswith("SQLITE_NOTADB"):
            return InputError(
                f"{self.name} must be a ledger, got a file that is no SQLite file", "ledger", "name another"
            )
        texts = (text for prefix, text in PROBLEM_BY_ERROR_NAME.items() if kind.startswith(prefix))
        return LedgerError(f"{self.name} {next(texts, f'failed ({kind})')}")


PROBLEM_BY_ERROR_NAME = {
    "SQLITE_BUSY": f"is in use by others for more than {LOCK_SECONDS} seconds: try again later",
    "SQLITE_LOCKED": "is in use by others: try again later",
    "SQLITE_READONLY": "cannot be written: make the file and its directory writable",
    "SQLITE_CANTOPEN": "cannot be opened: make the file and its directory readable and writable",
    "SQLITE_PERM": "cannot be opened: make the file and its directory readable and writable",
    "SQLITE_FULL": "cannot be written: the disk is full",
    "SQLITE_CORRUPT": DAMAGED_MESSAGE,
    "SQLITE_IOERR": "cannot be read or written: the disk or the network file system fails",
}

SQLITE = StoreKind(
    (),
    "SQLite file",
    "a file such as ledger.sqlite",
    lambda location, folder: SqliteStore(folder / location),
    ("-journal", "-wal", "-shm"),
)
