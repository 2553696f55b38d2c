"""The interface of a ledger's database, its tables and its statements, the same in every store.

The interface of a ledger's database.

A store hands out sessions, each one transaction: what `writing` did is durable when it ends, or undone. Statements have
`?` for every value.

The tables' names start with utmost_, since a database may hold others. Their aliases are always l, b, c, q and r.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from utmost.errors import InputError, LedgerError

LOCK_SECONDS = 60  # that a transaction waits for others
HOW_TO_OPEN = "name another, or make one with utmost budget open"
DAMAGED_MESSAGE = "is damaged: put a copy back that was made after the last release"

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


@dataclass(frozen=True, slots=True)
class StoreKind:
    """A kind of store: the schemes of its URLs, none for a file; its name; how a location is written, in words.

    `open` takes the location as it is given, and the folder that files are relative to. It looks at nothing yet.
    `companion_suffixes` end the names of files that the database keeps beside its own.
    """

    schemes: tuple[str, ...]
    title: str
    words: str
    open: Callable[[str, Path], Store]
    companion_suffixes: tuple[str, ...] = ()


def damage_error(store: Store) -> LedgerError:
    """The error for a ledger with content that no utmost writes."""
    return LedgerError(f"{store.name} {DAMAGED_MESSAGE}")


TABLES_VERSION = 5
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
UPGRADE_TO_3 = (
    "ALTER TABLE utmost_budgets ADD COLUMN closed TEXT",
    "ALTER TABLE utmost_budgets ADD COLUMN closed_by TEXT",
    "ALTER TABLE utmost_charges ADD COLUMN charged_by TEXT",
    "ALTER TABLE utmost_charges ADD COLUMN source TEXT",
    "ALTER TABLE utmost_costs ADD COLUMN delta TEXT",
)
UPGRADE_TO_4 = ("ALTER TABLE utmost_charges ADD COLUMN source_table TEXT",)
UPGRADE_TO_5 = (
    "ALTER TABLE utmost_costs ADD COLUMN rho TEXT",
    "ALTER TABLE utmost_costs ADD COLUMN numbers INTEGER",
)
UPGRADES = {3: UPGRADE_TO_3, 4: UPGRADE_TO_4, 5: UPGRADE_TO_5}  # after version 2, by the version that they lead to
# by name and version: a table may get its new columns while an older state of it is read
COLUMNS_BY_VERSION: dict[str, dict[int, tuple[str, ...]]] = {
    "utmost_ledger l": {1: ("version",), 2: ("id",)},
    "utmost_budgets b": {
        1: ("id", "name", "epsilon", "delta", "composition", "unit", "neighbours", "remember", "opened"),
        2: ("opening_hash", "head_hash"),
        3: ("closed", "closed_by"),
    },
    "utmost_charges c": {
        1: ("id", "budget", "charged", "plan", "fingerprint", "part_column", "part_value"),
        2: ("part_kind", "part_table", "part_source", "unit_kind", "entry_hash"),
        3: ("charged_by", "source"),
        4: ("source_table",),
    },
    "utmost_costs q": {
        1: ("charge", "place", "query", "epsilon", "law", "steps"),
        3: ("delta",),
        5: ("rho", "numbers"),
    },
}

BUDGET_TERMS = "b.name, b.epsilon, b.delta, b.composition, b.unit, b.neighbours, b.remember, b.opened"
PART_COLUMNS = "c.part_column, c.part_value, c.part_kind, c.part_table, c.part_source"
BUDGET_CHAIN = "b.id, b.opening_hash, b.head_hash, b.closed, b.closed_by"
SELECT_BUDGET_CHAINS = f"SELECT {BUDGET_CHAIN}, {BUDGET_TERMS} FROM utmost_budgets b ORDER BY b.id"
SELECT_ENTRIES = f"""SELECT c.id, c.entry_hash, c.charged, c.plan, c.fingerprint, {PART_COLUMNS}, c.unit_kind,
    c.charged_by, c.source, c.source_table, q.query, q.epsilon, q.law, q.steps, q.delta, q.rho, q.numbers
    FROM utmost_charges c LEFT JOIN utmost_costs q ON q.charge = c.id
    WHERE c.budget = ? AND c.id > ? ORDER BY c.id, q.place"""
COUNT_ORPHANS = """SELECT count(*) FROM utmost_charges c
    WHERE NOT EXISTS (SELECT 1 FROM utmost_budgets b WHERE b.id = c.budget)"""
SELECT_BUDGET = f"SELECT {BUDGET_CHAIN}, {BUDGET_TERMS} FROM utmost_budgets b"
SELECT_LAST_OPENING = "SELECT b.opening_hash FROM utmost_budgets b ORDER BY b.id DESC LIMIT 1"
INSERT_BUDGET = """INSERT INTO utmost_budgets (name, epsilon, delta, composition, unit, neighbours, remember, opened,
    opening_hash, head_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
CLOSE_BUDGET = "UPDATE utmost_budgets SET closed = ?, closed_by = ?, head_hash = ? WHERE id = ?"
UPDATE_HEAD = "UPDATE utmost_budgets SET head_hash = ? WHERE id = ?"
SELECT_CHARGE_GROUPS = f"""SELECT min(q.query), q.epsilon, q.law, q.steps, q.delta, q.rho, q.numbers, {PART_COLUMNS},
    count(*)
    FROM utmost_charges c LEFT JOIN utmost_costs q ON q.charge = c.id WHERE c.budget = ?
    GROUP BY q.epsilon, q.law, q.steps, q.delta, q.rho, q.numbers, {PART_COLUMNS}"""
COUNT_CHARGES = "SELECT count(*) FROM utmost_charges WHERE budget = ?"
SELECT_UNIT_KIND = """SELECT c.unit_kind FROM utmost_charges c WHERE c.budget = ? AND c.unit_kind IS NOT NULL
    ORDER BY c.id LIMIT 1"""
INSERT_CHARGE = """INSERT INTO utmost_charges (budget, entry_hash, charged, plan, fingerprint,
    part_column, part_value, part_kind, part_table, part_source, unit_kind, charged_by, source, source_table)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_COST = """INSERT INTO utmost_costs (charge, place, query, epsilon, law, steps, delta, rho, numbers)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
SELECT_HISTORY = f"""SELECT c.id, c.charged, c.plan, c.fingerprint, {PART_COLUMNS}, c.unit_kind, c.entry_hash, r.id,
    c.charged_by, c.source, c.source_table, q.query, q.epsilon, q.law, q.steps, q.delta, q.rho, q.numbers
    FROM utmost_charges c LEFT JOIN utmost_costs q ON q.charge = c.id LEFT JOIN utmost_releases r ON r.charge = c.id
    WHERE c.budget = ? ORDER BY c.id, q.place"""
SELECT_CHARGED_BUDGET = """\
SELECT b.id, b.remember, c.fingerprint FROM utmost_charges c JOIN utmost_budgets b ON b.id = c.budget
    WHERE c.id = ?"""
SELECT_RELEASE = """SELECT r.document FROM utmost_charges c JOIN utmost_releases r ON r.charge = c.id
    WHERE c.budget = ? AND c.plan = ? AND c.fingerprint = ? ORDER BY r.id LIMIT 1"""
SELECT_PLAN_CHARGES = """SELECT c.id, c.fingerprint FROM utmost_charges c
    WHERE c.budget = ? AND c.plan = ? ORDER BY c.id"""
INSERT_RELEASE = "INSERT INTO utmost_releases (charge, kept, document) VALUES (?, ?, ?)"


class OlderSession:
    """A transaction that reads tables of an older version as if they were new: the columns they lack are NULL."""

    def __init__(self, session: Session, version: int) -> None:
        self._session, self._version = session, version
        self.add, self.add_all, self.run = session.add, session.add_all, session.run

    def rows(self, statement: str, *values: object) -> list[Row]:
        """All rows that a SELECT finds."""
        for name, columns_by_version in COLUMNS_BY_VERSION.items():
            table, alias = name.split()
            columns = ", ".join(
                column if since <= self._version else f"CAST(NULL AS TEXT) AS {column}"
                for since, names in columns_by_version.items()
                for column in names
            )
            statement = statement.replace(name, f"(SELECT {columns} FROM {table}) {alias}")
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
    """Make the tables where there are none, and add what those of an earlier version lack. Do hashes lack yet."""
    if not session.rows(store.exists)[0][0]:
        for statement in TABLES:
            session.run(statement.format(**store.types))
        session.add_all("INSERT INTO utmost_ledger (version) VALUES (?)", [(1,)])
    version = tables_version(session, store)
    if version < 2:
        for statement in UPGRADE_TO_2:
            session.run(statement)
        session.run("UPDATE utmost_ledger SET id = ?", _random_id())
    if version < TABLES_VERSION:
        for statement in [s for to, statements in UPGRADES.items() if version < to for s in statements]:
            session.run(statement)
        session.run("UPDATE utmost_ledger SET version = ?", TABLES_VERSION)
    return version < 2


def _random_id() -> str:
    """An id that no other ledger has, from the one source of entropy."""
    from utmost.noise.entropy import system_source

    return system_source().words(ID_BYTES // 8).tobytes().hex()
