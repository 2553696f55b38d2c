"""What an engine says of itself, and a connection to one that drops engine messages, which may quote data.

An engine that fails on a row tends to quote it. So whatever an engine raises is dropped here, cause and context
included, and a `DataError` in utmost's own words takes its place.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from utmost.data.engines.expressions import builtin_function
from utmost.data.engines.schema import ColumnKind
from utmost.errors import DataError, UtmostError

Row = tuple[Any, ...]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class LocationKind:
    """A kind of location, recognised by how it is written: a file by its suffix, anything else by its prefix.

    A kind with neither is what its engine reads where a plan gives no location. `words` name it in errors. Without
    `has_types` a plan may declare the kinds of the columns, without `has_tables` it must not name a table. A folder may
    stand for a file of the kind if `folder_pattern` finds its files. `log_suffixes` end the names of files beside it
    that belong to it. One that `is_in_memory` is no text: its rows are an object of this process.
    """

    name: str
    words: str
    suffixes: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    has_types: bool = True
    has_tables: bool = True
    folder_pattern: str | None = None
    log_suffixes: tuple[str, ...] = ()
    is_in_memory: bool = False

    @property
    def is_file(self) -> bool:
        """Whether such a location is a path."""
        return bool(self.suffixes)

    @property
    def needs_no_location(self) -> bool:
        """Whether a plan that gives no location can mean it."""
        return not self.suffixes and not self.prefixes and not self.is_in_memory


CSV = LocationKind("csv", "a CSV file", suffixes=(".csv",), has_types=False, has_tables=False)
PARQUET = LocationKind(
    "parquet", "a Parquet file", suffixes=(".parquet",), has_tables=False, folder_pattern="*.parquet"
)


@dataclass(frozen=True, slots=True)
class Location:
    """A table to be opened: the text of its location, its file if it is one, its name, declared kinds of columns.

    `missing` are texts of a CSV file that mean NULL, by column. `used` are the columns that will be asked about; None
    stands for all of them. An engine may leave the others out, but for those called like one of `new_names`, columns
    that will be added: such a name is refused. `data` are the rows themselves where they are an object in memory.
    """

    kind: LocationKind
    text: str
    path: Path
    table: str | None
    columns: Mapping[str, str]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    used: frozenset[str] | None = None
    new_names: frozenset[str] = frozenset()
    data: object = None


@dataclass(frozen=True, slots=True)
class SourceIdentity:
    """A text that is the same only where the rows are; None where they cannot be recognised, and `problem` says why."""

    digest: str | None
    problem: str = ""


def hashed_identity(*content: object) -> SourceIdentity:
    """The identity of rows that are the same where this content is."""
    return SourceIdentity(hashlib.sha256(json.dumps(content).encode()).hexdigest())


class Engine(ABC):
    """A database engine: the locations it reads, how it opens them, and where its SQL differs from that of others.

    `name` is its name in plans, `title` in prose. Expressions are ibis expressions over a table of the engine.
    """

    name: str
    title: str
    kinds: tuple[LocationKind, ...]
    quotient_function: tuple[str, str] = ("div", "int64")  # of two integers: its name and type
    adds_product_digits = True  # whether a product of decimals gets the digits of both factors

    @abstractmethod
    def open(self, location: Location) -> AbstractContextManager[OpenedTable]:
        """The table, read-only, in a session that no setting or function of anybody else reaches."""

    @abstractmethod
    def hash_values(self, values: Sequence[Any]) -> Any:
        """64 bits that depend on all the values, as an integer to sort by; the values are not NULL."""

    def hash_remainder(self, values: Sequence[Any], divisor: Any) -> Any:
        """|hash| mod divisor as an int64, for a column of divisors ≥ 1: from 0 to divisor − 1."""
        hashed = self.hash_values(values)
        dtype = hashed.type()
        remainder = builtin_function("mod", (dtype, dtype), dtype)(hashed, divisor.cast(dtype))
        return remainder.abs().cast("int64")

    @abstractmethod
    def strip_collation(self, text: Any) -> Any:
        """The same text without its collation, under which different texts may be equal: through its bytes and back."""

    def last_value(self, value: Any, place: Any) -> Any:
        """The value of the rows of a group with the largest place; rows of a group with one place have one value."""
        return value.argmax(place)

    def list_tables(self, location: Location) -> list[str]:
        """The tables of a location, as plans name them; none where a location is a table by itself."""
        return []

    def identify_database(self, fingerprint: str | None, database: str | None) -> SourceIdentity:
        """The identity of rows that are in no file.

        `fingerprint` is the curator's name for their state, `database` that of `OpenedTable`.
        """
        return SourceIdentity(None, f"{self.title} does not say which database it reads")

    def readable_decimal(self, column: Any, same_type: Any) -> Any:
        """A column of decimals, with NULL for what is no number or cannot be converted."""
        return column

    def decimal_scale(self, dtype: Any) -> int | None:
        """Digits behind the point in computations with decimals; None where there are as many as it takes."""
        return int(dtype.scale)

    def truncated_quotient(self, number: Any, divisor: int) -> Any:
        """number/divisor of an int64, exactly, rounded towards 0. The divisor is ≥ 1."""
        if divisor == 1:
            return number
        name, result_type = self.quotient_function
        return builtin_function(name, ("int64", "int64"), result_type)(number, divisor).cast("int64")

    def trim_blanks(self, text: Any, blanks: str) -> Any:
        """The text without these characters at its two ends."""
        return builtin_function("btrim", ("string", "string"), "string")(text, blanks)

    def readable_column(self, table: Any, name: str) -> Any:
        """The column, with NULL for what is no value, so that all engines read it alike and none fails on a row.

        NaN is NULL. A text is made a plain one, so that a value unknown to an enumeration is merely unequal, and
        without its collation, so that no two texts are equal that differ. The cast to the same type is kept by turning
        its nullability over.
        """
        import ibis

        column = table[name]
        dtype = column.type()
        same_type = dtype.copy(nullable=not dtype.nullable)
        if dtype.is_floating():
            return column.isnan().ifelse(ibis.null(dtype), column)
        if dtype.is_string():
            return self.strip_collation(column.cast(same_type))
        return self.readable_decimal(column, same_type) if dtype.is_decimal() else column


def run_guarded(call: Callable[[], Result], message: str) -> Result:
    """What the call returns; if it fails, a DataError with this message and no trace of what the engine said.

    The error is raised after the handler has ended: raised inside it, even `from None`, it would still carry the
    engine's exception as its context.
    """
    try:
        return call()
    except (UtmostError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:  # polars panics with one that is no Exception
        pass
    raise DataError(message)


@dataclass(frozen=True, slots=True)
class Connection:
    """An open session of an engine. `fetch` runs SQL and returns rows of Python values.

    `backend` is ibis's view of the session. It writes the SQL, in which it quotes names and texts; it runs none.
    """

    engine: Engine
    backend: Any
    fetch: Callable[[str], list[Row]]

    def table(
        self, columns: Mapping[str, Any], name: str, schema: str | None = None, catalogue: str | None = None
    ) -> Any:
        """A table of the session, qualified by its schema and catalogue; its columns have these ibis types."""
        import ibis
        from ibis.expr.operations import DatabaseTable, Namespace

        namespace = Namespace(catalog=catalogue, database=schema)
        return DatabaseTable(name, schema=ibis.schema(columns), source=self.backend, namespace=namespace).to_expr()

    def sql(self, query: Any) -> str:
        """An ibis table as the engine's SQL."""
        return str(self.backend.compile(query))

    def rows(self, query: Any) -> list[Row]:
        """The rows of an ibis table. Integers and decimals come back exact, whatever their size."""
        return run_guarded(
            lambda: self.fetch(self.sql(query)),
            f"table must be readable, but {self.engine.name} failed on a query: read the whole table outside utmost to "
            "see why (what it said is withheld, since it may quote a row)",
        )

    def numbers(self, query: Any) -> tuple[int, ...]:
        """The one row of an ibis table of whole numbers; no number at all (the sum of no row) is 0."""
        (row,) = self.rows(query)
        return tuple(0 if entry is None else int(entry) for entry in row)


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A table in its engine, to be asked; of a CSV file also its texts, before they are made values of their kinds.

    `guessed_columns` are those whose kinds were found in the rows themselves. `database` is the same text only for the
    same database, as the open connection says; None where it says nothing. `unread` are the kinds of the columns that
    were left out.
    """

    connection: Connection
    rows: Any
    texts: Any = None
    guessed_columns: frozenset[str] = frozenset()
    database: str | None = None
    unread: Mapping[str, ColumnKind] = field(default_factory=dict)
