"""The interface of a ledger's database.

A store hands out sessions, each one transaction: what `writing` did is durable when it ends, or undone. Statements have
`?` for every value.
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
