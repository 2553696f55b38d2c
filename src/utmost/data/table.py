"""Exact answers about a table with bounded contributions. No noise here: these numbers are secret.

Each answer is a sum over units of what one unit's rows give (`contribution_bounds` has the lemma), so it moves by no
more than the query's sensitivity when one unit changes, on every engine and for every draw of what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from utmost.data import contribution_bounds, histogram_cells, predicates, quantize
from utmost.data.column_kinds import ColumnKind, column_kind
from utmost.data.engines import Engine
from utmost.data.engines.csv_types import count_unreadable
from utmost.data.partitions import Partition
from utmost.data.predicates.column_casts import readable_column
from utmost.data.predicates.type_check import format_names, unknown_column
from utmost.data.queries import Count, Histogram, Key, Mean, NumberQuery, PrivacyUnit, Quantile, Query, Sum
from utmost.errors import InputError
from utmost.noise.entropy import EntropySource

PERSON_KINDS = (ColumnKind.INTEGER, ColumnKind.TEXT, ColumnKind.TRUTH, ColumnKind.DATE)
NUMBERS = (ColumnKind.INTEGER, ColumnKind.NUMBER)
SUM_TYPE = "decimal(28, 0)"  # of a position that is summed: engines sum it in 38 digits


@dataclass(frozen=True, slots=True)
class Moments:
    """How many rows were kept, and the sum of their positions on the grid, each from 0 to N."""

    rows: int
    positions: int


class Table:
    """A table in an engine, which can be asked. `entropy` makes the salts: the system's, unless a test gives its own.

    `guessed_columns` are those whose kinds were found in the rows themselves; `texts` is a CSV file before its texts
    are made values; `database` is that of `OpenedTable`.
    """

    def __init__(
        self,
        engine: Engine,
        rows: Any,
        entropy: EntropySource | None = None,
        guessed_columns: frozenset[str] = frozenset(),
        texts: Any = None,
        database: str | None = None,
    ) -> None:
        self._texts, self.database = texts, database
        self._engine, self._rows, self._entropy, self._guessed_columns = engine, rows, entropy, guessed_columns
        self._kinds = {name: column_kind(dtype) for name, dtype in rows.schema().items()}

    @property
    def engine(self) -> str:
        """duckdb, postgres or spark."""
        return self._engine.name

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The kind of each column."""
        return self._kinds

    @property
    def types(self) -> Any:
        """The columns' types, as an ibis schema has them."""
        return self._rows.schema()

    def check(self, query: Query, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse what cannot be answered: unknown columns, kinds and bounds that do not fit. Looks at no row."""
        self._check_unit(unit)
        if part is not None:
            self._check_keys(part.column, [part.equals], "part")
        if query.where is not None:
            predicate = predicates.parse_predicate(query.where)
            with self._explain_guesses(*predicate.columns):
                predicates.compile_predicate(predicate, self._rows, self._kinds)
        if isinstance(query, Histogram):
            for column, keys in query.keys.items():
                self._check_keys(column, keys, "keys")
        elif not isinstance(query, Count):
            self._check_numbers(query, unit)

    def guesses(self, query: Query, unit: PrivacyUnit, part: Partition | None) -> dict[str, ColumnKind]:
        """The columns that a query uses and whose kinds were found in the rows, so that one row could change them."""
        names = self.used_columns(query, unit, part)
        return {name: kind for name, kind in self._kinds.items() if name in names & self._guessed_columns}

    def unreadable(self, columns: Set[str]) -> dict[str, int]:
        """How many texts of a CSV file, in each of some columns, are no value of the column's kind.

        They are secret, for the curator only: they count as missing values, and no release says how many there are.
        """
        if self._texts is None:
            return {}
        kinds = {name: kind for name, kind in self._kinds.items() if name in columns}
        return count_unreadable(kinds, self._texts, self._engine)

    def used_columns(self, query: Query, unit: PrivacyUnit, part: Partition | None) -> set[str]:
        """The columns that a query uses."""
        columns = set() if query.where is None else set(predicates.parse_predicate(query.where).columns)
        columns |= set(query.keys) if isinstance(query, Histogram) else set()
        columns |= {query.column} if isinstance(query, NumberQuery) else set()
        columns |= {unit.column} if unit.column is not None else set()
        return columns | ({part.column} if part is not None else set())

    def units(self, unit: PrivacyUnit) -> int:
        """How many rows the whole table has; or how many persons: distinct values of the unit's column, NULL apart."""
        self._check_unit(unit)
        count = self._rows.count() if unit.column is None else self._readable_column(self._rows, unit.column).nunique()
        return self._fetch_number(count)

    def count(self, query: Count, unit: PrivacyUnit, part: Partition | None) -> int:
        """How many rows satisfy `where`, at most so many of each person; with groups, how many persons have one."""
        self.check(query, unit, part)
        rows = self._matching_rows(query, part)
        if unit.column is None:
            return self._fetch_number(rows.count())
        return self._engine.numbers(contribution_bounds.count_kept(self._select_values(rows, unit, {}), unit))[0]

    def histogram(self, query: Histogram, unit: PrivacyUnit, part: Partition | None) -> list[int]:
        """How many kept rows are in each cell, in the order of `query.cells`."""
        self.check(query, unit, part)
        rows = self._matching_rows(query, part)
        rows = rows.filter(
            [histogram_cells.is_among(self._readable_column(rows, column), keys) for column, keys in query.keys.items()]
        )
        values = {f"v{index}": self._readable_column(rows, column) for index, column in enumerate(query.keys)}
        kept_rows = self._keep_rows(self._select_values(rows, unit, values), list(values), unit)
        return histogram_cells.cell_counts(
            self._engine.rows(kept_rows.group_by(list(values)).aggregate(size=kept_rows.count())), query.cells
        )

    def moments(self, query: Sum | Mean, unit: PrivacyUnit, part: Partition | None) -> Moments:
        """How many rows are kept, and the sum of their positions."""
        kept_rows = self._kept_positions(query, unit, part)
        rows, total = self._engine.numbers(
            kept_rows.aggregate(rows=kept_rows.count(), total=kept_rows["v0"].cast(SUM_TYPE).sum())
        )
        return Moments(rows, total)

    def positions(self, query: Quantile, unit: PrivacyUnit, part: Partition | None) -> list[int]:
        """How many kept rows are at each position 0 … N."""
        kept_rows = self._kept_positions(query, unit, part)
        rows = self._engine.rows(kept_rows.group_by("v0").aggregate(size=kept_rows.count()))
        return histogram_cells.cell_counts(rows, [(position,) for position in range(query.grid.size + 1)])

    def _kept_positions(self, query: NumberQuery, unit: PrivacyUnit, part: Partition | None) -> Any:
        """One row with a position `v0` for each kept row."""
        self.check(query, unit, part)
        rows = self._matching_rows(query, part)
        position = quantize.grid_position(
            self._readable_column(rows, query.column), query.grid, query.nulls, self.engine
        )
        positions = self._select_values(rows, unit, {"v0": position})
        return self._keep_rows(positions.filter(positions["v0"].notnull()), ["v0"], unit)

    def _matching_rows(self, query: Query, part: Partition | None) -> Any:
        """The rows of the part that satisfy `where`."""
        rows, conditions = self._rows, []
        if query.where is not None:
            conditions.append(predicates.compile_predicate(predicates.parse_predicate(query.where), rows, self._kinds))
        if part is not None:
            conditions.append(histogram_cells.is_among(self._readable_column(rows, part.column), [part.equals]))
        return rows.filter(conditions) if conditions else rows

    def _select_values(self, rows: Any, unit: PrivacyUnit, values: Mapping[str, Any]) -> Any:
        """The rows with these values alone, and their person `p` if it is named; a row without one is left out."""
        if unit.column is None:
            return rows.select(**values)
        persons = rows.select(p=self._readable_column(rows, unit.column), **values)
        return persons.filter(persons["p"].notnull())

    def _keep_rows(self, rows: Any, values: Sequence[str], unit: PrivacyUnit) -> Any:
        if unit.column is None:
            return rows
        return contribution_bounds.keep_rows(rows, values, unit, contribution_bounds.salt(self._entropy), self.engine)

    def _readable_column(self, rows: Any, column: str) -> Any:
        """A column as predicates read it: NaN is NULL, an enumeration a text."""
        return readable_column(rows, column)

    def _fetch_number(self, count: Any) -> int:
        return self._engine.numbers(count.name("number").as_table())[0]

    def _column_kind(self, column: str, role: str) -> ColumnKind:
        if column not in self._kinds:
            raise unknown_column(column, self._kinds.keys(), role)
        return self._kinds[column]

    @contextmanager
    def _explain_guesses(self, *columns: str) -> Iterator[None]:
        """Say in a refusal of columns that there are which of their kinds were found in the file, not declared."""
        try:
            yield
        except InputError as problem:
            guesses = [name for name in columns if name in self._guessed_columns]
            if not guesses or not self._kinds.keys() >= set(columns):
                raise
            names, them = format_names(guesses), "it" if len(guesses) == 1 else "them"
            found = f"the kind of {names} was found in the file, because the plan does not declare {them}"
            raise InputError(f"{problem}; {found}: declare {them} in [source] columns") from None

    def _check_keys(self, column: str, keys: Sequence[Key], role: str) -> None:
        with self._explain_guesses(column):
            histogram_cells.check_keys(keys, self._column_kind(column, role), f"{role} of {column}")

    def _check_unit(self, unit: PrivacyUnit) -> None:
        if unit.column is not None and self._column_kind(unit.column, "unit") not in PERSON_KINDS:
            with self._explain_guesses(unit.column):
                raise InputError(
                    f"unit must be a column of integers, texts, truths or dates, got {unit.column} of kind "
                    f"{self._kinds[unit.column]}: name people by such a column"
                )

    def _check_numbers(self, query: NumberQuery, unit: PrivacyUnit) -> None:
        if unit.groups is not None:
            raise InputError("unit must bound rows for a sum, mean or quantile, got groups: give rows = k")
        kind = self._column_kind(query.column, "column")
        if kind not in NUMBERS:
            with self._explain_guesses(query.column):
                raise InputError(f"column must hold numbers, got {query.column} of kind {kind}: choose another")
        quantize.check_grid(self._rows[query.column].type(), query.grid, self.engine)
