"""Database engine wrapper. Drops engine messages, which may quote data.

An engine that fails on a row tends to quote it. So whatever an engine raises is dropped here, cause and context
included, and a `DataError` in utmost's own words takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from utmost.errors import DataError, UtmostError

Row = tuple[Any, ...]
Result = TypeVar("Result")


def run_guarded(call: Callable[[], Result], message: str) -> Result:
    """What the call returns; if it fails, a DataError with this message and no trace of what the engine said.

    The error is raised after the handler has ended: raised inside it, even `from None`, it would still carry the
    engine's exception as its context.
    """
    try:
        return call()
    except UtmostError:
        raise
    except Exception:
        pass
    raise DataError(message)


@dataclass(frozen=True, slots=True)
class Engine:
    """A connection under a name: duckdb, postgres or spark. `fetch` runs SQL and returns rows of Python values.

    `backend` is ibis's view of the connection. It writes the SQL, in which it quotes names and texts; it runs none.
    """

    name: str
    backend: Any
    fetch: Callable[[str], list[Row]]

    def table(
        self, columns: Mapping[str, Any], name: str, schema: str | None = None, catalogue: str | None = None
    ) -> Any:
        """A table of the connection, qualified by its schema and catalogue; its columns have these ibis types."""
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
            f"table must be readable, but {self.name} failed on a query: read the whole table outside utmost to see "
            "why (what it said is withheld, since it may quote a row)",
        )

    def numbers(self, query: Any) -> tuple[int, ...]:
        """The one row of an ibis table of whole numbers; no number at all (the sum of no row) is 0."""
        (row,) = self.rows(query)
        return tuple(0 if entry is None else int(entry) for entry in row)


class OpenedTable(NamedTuple):
    """A table in its engine, to be asked; of a CSV file also its texts, before they are made values of their kinds.

    `database` is the same text only for the same database, as the open connection says; None where it says nothing.
    """

    engine: Engine
    rows: Any
    texts: Any = None
    database: str | None = None
