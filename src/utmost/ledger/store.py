"""The interface of a ledger's database, and its tables, the same in SQLite and PostgreSQL.

A store hands out sessions, each one transaction: what `writing` did is durable when it ends, or undone. Statements have
`?` for every value. The tables' names start with utmost_, since a PostgreSQL database may hold others.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from utmost.errors import InputError, LedgerError

TABLES_VERSION = 2
LOCK_SECONDS = 60  # that a transaction waits for others
HOW_TO_OPEN = "name another, or make one with utmost budget open"
DAMAGED_MESSAGE = "is damaged: put a copy back that was made after the last release"

ID_BYTES = 16  # of a ledger's random id

TABLES = (  # version 1; a new ledger is upgraded like an old one
    "CREATE TABLE utmost_ledger (version INTEGER NOT NULL)",
    """CREATE TABLE utmost_budgets (
        id {counter}, name TEXT NOT NULL UNIQUE, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
        composition TEXT NOT NULL, unit TEXT NOT NULL, neighbours TEXT NOT NULL, remember INTEGER NOT NULL,
        opened TEXT NOT NULL)""",
    """CREATE TABLE utmost_charges (
        id {counter}, budget {number} NOT NULL REFERENCES utmost_budgets, charged TEXT NOT NULL, plan TEXT NOT NULL,
        fingerprint TEXT, part_column TEXT, part_value TEXT)""",
    "CREATE INDEX utmost_charges_of ON utmost_charges (budget, plan, fingerprint)",
    """CREATE TABLE utmost_costs (
        charge {number} NOT NULL REFERENCES utmost_charges, place INTEGER NOT NULL, query TEXT NOT NULL,
        epsilon TEXT NOT NULL, law TEXT NOT NULL, steps {number} NOT NULL, PRIMARY KEY (charge, place))""",
    """CREATE TABLE utmost_releases (
        id {counter}, charge {number} NOT NULL UNIQUE REFERENCES utmost_charges, kept TEXT NOT NULL,
        document TEXT NOT NULL)""",
)
UPGRADE_TO_2 = (
    "ALTER TABLE utmost_ledger ADD COLUMN id TEXT",
    "ALTER TABLE utmost_budgets ADD COLUMN opening_hash TEXT",
    "ALTER TABLE utmost_budgets ADD COLUMN head_hash TEXT",
    "ALTER TABLE utmost_charges ADD COLUMN part_kind TEXT",
    "ALTER TABLE utmost_charges ADD COLUMN part_table TEXT",
    "ALTER TABLE utmost_charges ADD COLUMN part_source TEXT",
    "ALTER TABLE utmost_charges ADD COLUMN unit_kind TEXT",
    "ALTER TABLE utmost_charges ADD COLUMN entry_hash TEXT",
)
VERSION_1_COLUMNS = {  # by name: a table may get its new columns while an older state of it is read
    "utmost_ledger l": "version",
    "utmost_budgets b": "id, name, epsilon, delta, composition, unit, neighbours, remember, opened",
    "utmost_charges c": "id, budget, charged, plan, fingerprint, part_column, part_value",
}
COLUMNS_SINCE_2 = {
    "utmost_ledger l": ("id",),
    "utmost_budgets b": ("opening_hash", "head_hash"),
    "utmost_charges c": ("part_kind", "part_table", "part_source", "unit_kind", "entry_hash"),
}

Row = tuple[Any, ...]


class NoLedgerError(InputError):
    """There is no ledger yet where one could be made: no file, or a database that has no tables of one."""


class Session(Protocol):
    """One transaction."""

    def rows(self, statement: str, *values: object) -> list[Row]:
        """All rows that a SELECT finds."""

    def add(self, statement: str, *values: object) -> int:
        """Insert one row; its id."""

    def add_all(self, statement: str, rows: list[Row]) -> None:
        """Insert rows without an id."""

    def run(self, statement: str, *values: object) -> None:
        """Run a statement that finds no rows."""


class Store(Protocol):
    """A database that can hold a ledger."""

    name: str  # for messages: never with a password
    exists: str  # a SELECT of the number of tables called utmost_ledger
    locked: str  # ends a SELECT of one budget so that no other transaction gets it until this one has ended
    types: dict[str, str]  # what {number} and {counter} are

    def reading(self) -> AbstractContextManager[Session]:
        """A transaction that sees one state and changes nothing."""

    def writing(self) -> AbstractContextManager[Session]:
        """A transaction: all of it is durable when the block ends, or none of it happens."""

    def making(self) -> AbstractContextManager[Session]:
        """The same where there may be no database file yet; one process at a time is in here."""

    def close(self) -> None:
        """Let go of the database."""


class Version1Session:
    """A transaction that reads tables of version 1 as if they were of version 2: the columns they lack are NULL."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.add, self.add_all, self.run = session.add, session.add_all, session.run

    def rows(self, statement: str, *values: object) -> list[Row]:
        """All rows that a SELECT finds."""
        for name, columns in COLUMNS_SINCE_2.items():
            table, alias = name.split()
            nulls = ", ".join(f"CAST(NULL AS TEXT) AS {column}" for column in columns)
            statement = statement.replace(name, f"(SELECT {VERSION_1_COLUMNS[name]}, {nulls} FROM {table}) {alias}")
        return self._session.rows(statement, *values)


def tables_version(session: Session, store: Store) -> int:
    """The version of a ledger's tables; refuses a database that is no ledger, or that a later utmost has made."""
    if not session.rows(store.exists)[0][0]:
        raise NoLedgerError(f"{store.name} must be a ledger, got a database without one: {HOW_TO_OPEN}")
    versions = session.rows("SELECT version FROM utmost_ledger")
    if len(versions) != 1:
        raise damage_error(store)
    version = int(versions[0][0])
    if version > TABLES_VERSION:
        raise LedgerError(
            f"{store.name} was made by a later utmost (tables {version}, known {TABLES_VERSION}): upgrade utmost"
        )
    return version


def make_tables(session: Session, store: Store) -> bool:
    """Make the tables where there are none, and add what those of an earlier version lack. Was anything changed."""
    if not session.rows(store.exists)[0][0]:
        for statement in TABLES:
            session.run(statement.format(**store.types))
        session.add_all("INSERT INTO utmost_ledger (version) VALUES (?)", [(1,)])
    if tables_version(session, store) == TABLES_VERSION:
        return False
    for statement in UPGRADE_TO_2:
        session.run(statement)
    session.run("UPDATE utmost_ledger SET version = ?, id = ?", TABLES_VERSION, _random_id())
    return True


def _random_id() -> str:
    """An id that no other ledger has, from the one source of entropy."""
    from utmost.noise.entropy import system_source

    return system_source().words(ID_BYTES // 8).tobytes().hex()


def damage_error(store: Store) -> LedgerError:
    """The error for a ledger with content that no utmost writes."""
    return LedgerError(f"{store.name} {DAMAGED_MESSAGE}")
