"""A table of DuckDB's without its rows: its columns, and how many units it has where that is public.

A plan is checked against the schema as against the table, and nothing can be asked of it. So a table need not be open
while a plan is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from utmost.data.column_kinds import ColumnKind
from utmost.data.engines.csv_types import KIND_PATTERNS
from utmost.data.engines.duckdb import unconnected
from utmost.data.selection import PrivacyUnit
from utmost.data.table import Table

DTYPES = {kind: dtype for kind, (_, dtype) in KIND_PATTERNS.items()}
DTYPES |= {
    ColumnKind.TEXT: "string",
    ColumnKind.TRUTH: "boolean",
    ColumnKind.TIME: "timestamp(6)",
}  # a time has DuckDB's microseconds


class TableSchema(Table):
    """The columns of a table; `count_units` returns how many units there are, and is called only under replace."""

    def __init__(
        self, types: Any, count_units: Callable[[PrivacyUnit], int], guessed_columns: frozenset[str] = frozenset()
    ) -> None:
        connection = unconnected()
        super().__init__(connection, connection.table(dict(types.items()), "sketch"), guessed_columns=guessed_columns)
        self._count_units = count_units

    def units(self, unit: PrivacyUnit) -> int:
        """How many rows or persons the table has."""
        self._check_unit(unit)
        return self._count_units(unit)


def declared_types(kinds: Mapping[str, ColumnKind]) -> Any:
    """The types that the columns of a CSV file have when these kinds are declared.

    >>> declared_types({"age": ColumnKind.INTEGER})["age"]
    Int64(nullable=True)
    """
    import ibis

    return ibis.schema({name: DTYPES[kind] for name, kind in kinds.items()})
