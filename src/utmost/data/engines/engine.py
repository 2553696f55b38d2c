"""An engine that answers, and whose complaints go no further.

An engine that fails on a row tends to quote it. So whatever an engine raises is dropped here, cause and context
included, and a `DataError` in utmost's own words takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from utmost.errors import DataError, UtmostError

Row = tuple[Any, ...]
Result = TypeVar("Result")


def run_guarded(task: Callable[[], Result], words: str) -> Result:
    """What the task returns; if it fails, a DataError with these words and no trace of what the engine said.

    The error is raised after the handler has ended: raised inside it, even `from None`, it would still carry the
    engine's exception as its context.
    """
    try:
        return task()
    except UtmostError:
        raise
    except Exception:
        pass
    raise DataError(words)


@dataclass(frozen=True, slots=True)
class Engine:
    """A connection under a name: duckdb, postgres or spark. `fetch` runs SQL and returns rows of Python values.

    `backend` is ibis's view of the connection. It writes the SQL, in which it quotes names and texts; it runs none.
    """

    name: str
    backend: Any
    fetch: Callable[[str], list[Row]]

    def table(self, columns: Mapping[str, Any], name: str, schema: str | None = None) -> Any:
        """A table of the connection, whose columns have these ibis types."""
        import ibis
        from ibis.expr.operations import DatabaseTable, Namespace

        place = Namespace(database=schema)
        return DatabaseTable(name, schema=ibis.schema(columns), source=self.backend, namespace=place).to_expr()

    def sql(self, asked: Any) -> str:
        """An ibis table as the engine's SQL."""
        return str(self.backend.compile(asked))

    def rows(self, asked: Any) -> list[Row]:
        """The rows of an ibis table. Integers and decimals come back exact, whatever their size."""
        return run_guarded(
            lambda: self.fetch(self.sql(asked)),
            f"table must be readable, but {self.name} failed on a query: read the whole table outside utmost to see "
            "why (what it said is withheld, since it may quote a row)",
        )

    def numbers(self, asked: Any) -> tuple[int, ...]:
        """The one row of an ibis table of whole numbers; no number at all (the sum of no row) is 0."""
        (row,) = self.rows(asked)
        return tuple(0 if entry is None else int(entry) for entry in row)
