"""A table of DuckDB's without its rows: its columns, and how many units it has where that is public.

A plan is checked against a sketch as against the table, and nothing can be asked of it. So a table need not be open
while somebody thinks about what to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from utmost.data.column_kinds import ColumnKind
from utmost.data.engines import Engine
from utmost.data.engines.csv_types import KIND_PATTERNS
from utmost.data.engines.engine import Row
from utmost.data.queries import PrivacyUnit
from utmost.data.table import Table
from utmost.errors import InputError

DTYPES = {kind: dtype for kind, (_, dtype) in KIND_PATTERNS.items()}
DTYPES |= {
    ColumnKind.TEXT: "string",
    ColumnKind.TRUTH: "boolean",
    ColumnKind.TIME: "timestamp(6)",
}  # a time has DuckDB's microseconds


class TableSchema(Table):
    """The columns of a table; `counted` tells how many units there are, and is asked only under replace."""

    def __init__(
        self, types: Any, counted: Callable[[PrivacyUnit], int], guessed: frozenset[str] = frozenset()
    ) -> None:
        from ibis.backends.duckdb import Backend

        engine = Engine("duckdb", Backend(), _refused)  # connected to nothing
        super().__init__(engine, engine.table(dict(types.items()), "sketch"), guessed=guessed)
        self._counted = counted

    def units(self, unit: PrivacyUnit) -> int:
        """How many rows or persons the table has."""
        self._check_unit(unit)
        return self._counted(unit)


def declared_types(kinds: Mapping[str, ColumnKind]) -> Any:
    """The types that the columns of a CSV file have when these kinds are declared.

    >>> declared_types({"age": ColumnKind.INTEGER})["age"]
    Int64(nullable=True)
    """
    import ibis

    return ibis.schema({name: DTYPES[kind] for name, kind in kinds.items()})


def _refused(_: str) -> list[Row]:
    raise InputError("a sketch must not be asked: open the table")
