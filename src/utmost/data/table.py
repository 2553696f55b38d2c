"""Exact numbers about a table with bounded contributions. No noise here: these numbers are secret.

The table knows no kinds of queries: each kind asks for the numbers that it needs of a `Selection` of rows.
Each number is a sum over units of what one unit's rows give (`contribution_bounds` has the lemma), so it moves by no
more than what one unit's kept rows can give when that unit changes, on every engine and for every draw of what is kept.
"""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from utmost.data import cells, contribution_bounds, found_cells, grid, predicates
from utmost.data.candidates import ALL_ROWS, Candidates
from utmost.data.cells import Cell, Grouping
from utmost.data.engines import Connection
from utmost.data.engines.csv_types import count_unreadable, fitting_kinds, frequent_misfits
from utmost.data.engines.schema import ColumnKind, column_kind
from utmost.data.found_cells import FoundKeys
from utmost.data.grid import GridColumn
from utmost.data.predicates.type_check import format_names, unknown_column
from utmost.data.row_sums import CellSums, Moments, RowSums, SumColumns, collect_cells, share_scans
from utmost.data.selection import Key, Partition, PrivacyUnit, Selection
from utmost.errors import InputError
from utmost.noise.entropy import EntropySource

PERSON_KINDS = (ColumnKind.INTEGER, ColumnKind.TEXT, ColumnKind.TRUTH, ColumnKind.DATE)
NUMBERS = (ColumnKind.INTEGER, ColumnKind.NUMBER)
RowValue = Callable[[Any], Any]  # a value of each row, as an ibis column of a table of rows


@dataclass(frozen=True, slots=True)
class PersonCounts:
    """How many persons there are, and how many of them have more rows (or groups) than are kept of each.

    `left_out` is how many rows (or groups) that leaves out in all, `largest` the most that one person has.
    """

    persons: int
    over: int
    left_out: int
    largest: int


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """How many rows are selected, how many of their values are missing, and how many are beyond the bounds."""

    rows: int
    missing: int = 0
    below: int = 0
    above: int = 0


class Table:
    """A table in an engine, which can be asked. `entropy` makes the salts: the system's, unless a test gives its own.

    `guessed_columns` are those whose kinds were found in the rows themselves; `texts` is a CSV file before its texts
    are made values; `database` is that of `OpenedTable`.
    """

    def __init__(
        self,
        connection: Connection,
        rows: Any,
        entropy: EntropySource | None = None,
        guessed_columns: frozenset[str] = frozenset(),
        texts: Any = None,
        database: str | None = None,
    ) -> None:
        self._texts, self.database = texts, database
        self._connection, self._rows, self._entropy, self._guessed_columns = connection, rows, entropy, guessed_columns
        self._kinds = {name: column_kind(dtype) for name, dtype in rows.schema().items()}
        self._bases: Mapping[str, frozenset[str]] = {}
        self.lookup_fingerprints: tuple[str, ...] = ()  # of the public tables that columns were taken from

    def with_bases(self, bases: Mapping[str, frozenset[str]]) -> Self:
        """The same table, some of whose columns depend on others of its source (`data.derive`)."""
        self._bases = bases
        return self

    @property
    def engine(self) -> str:
        """The engine's name in plans: duckdb, for instance."""
        return self._connection.engine.name

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The kind of each column."""
        return self._kinds

    @property
    def types(self) -> Any:
        """The columns' types, as an ibis schema has them."""
        return self._rows.schema()

    def check_selection(self, selection: Selection) -> None:
        """Refuse what selects no rows of this table: unknown columns, kinds that do not fit. Looks at no row."""
        self._check_unit(selection.unit)
        if selection.part is not None:
            self._check_part(selection.part)
        if selection.where is not None:
            predicate = predicates.parse_predicate(selection.where)
            with self._explain_guesses(*predicate.columns):
                predicates.compile_predicate(predicate, self._rows, self._kinds, self._connection.engine)

    def check_keys(self, column: str, keys: Sequence[Key]) -> None:
        """Refuse keys that no value of the column can equal. Looks at no row."""
        field = f"keys.{column}"
        with self._explain_guesses(column):
            cells.check_keys(keys, self._column_kind(column, "keys", field), f"keys of {column}", field)

    def check_found_column(self, column: str) -> None:
        """Refuse a column whose values are no keys: unknown, numbers with a point, times. Looks at no row."""
        with self._explain_guesses(column):
            kind = self._column_kind(column, "by", "by")
            if kind not in cells.KEY_TYPES:
                wrong_kind = f"by must name columns of integers, texts, truths or dates, got {column} of kind {kind}"
                raise InputError(wrong_kind, "by", "use keys or where for the rest")

    def _check_part(self, part: Partition) -> None:
        self._check_own_column(part.column, "part")
        with self._explain_guesses(part.column):
            kind = self._column_kind(part.column, "part", "part.column")
            cells.check_keys([part.equals], kind, f"part of {part.column}", "part.equals")

    def check_numbers(self, values: GridColumn) -> None:
        """Refuse a column without numbers, and a grid that its type cannot be computed with. Looks at no row."""
        kind = self._column_kind(values.column, "column", "column")
        if kind not in NUMBERS:
            with self._explain_guesses(values.column):
                wrong_kind = f"column must hold numbers, got {values.column} of kind {kind}"
                derive_one = f"derive one that does: case when {format_names([values.column])} then 1 else 0 end"
                raise InputError(wrong_kind, "column", derive_one if kind is ColumnKind.TRUTH else "choose another")
        grid.check_grid(self._rows[values.column].type(), values.grid, self._connection.engine)

    def guesses(self, columns: Set[str]) -> dict[str, ColumnKind]:
        """Those of some columns whose kinds were found in the rows, so that one row could change them."""
        guessed_columns = self.source_columns(columns) & self._guessed_columns
        return {name: kind for name, kind in self._kinds.items() if name in guessed_columns}

    def unreadable(self, columns: Set[str]) -> dict[str, int]:
        """How many texts of a CSV file, in each of some columns, are no value of the column's kind.

        They are secret, for the curator only: they count as missing values, and no release says how many there are.
        """
        if self._texts is None:
            return {}
        source_columns = self.source_columns(columns)
        kinds = {name: kind for name, kind in self._kinds.items() if name in source_columns}
        return count_unreadable(kinds, self._texts, self._connection)

    def fitting_kinds(self, columns: Set[str]) -> dict[str, list[ColumnKind]]:
        """The kinds that all texts of each column fit, of a CSV file; none of another source. For the curator only."""
        if self._texts is None:
            return {}
        source_columns = self.source_columns(columns)
        return fitting_kinds([name for name in self._kinds if name in source_columns], self._texts, self._connection)

    def frequent_misfits(self, column: str, limit: int) -> list[tuple[str, int]]:
        """The texts of a CSV file that are most often no value of the column's kind. For the curator only."""
        kind = self._kinds[column]
        if self._texts is None or kind is ColumnKind.TEXT or column in self._bases:
            return []
        return frequent_misfits(column, kind, self._texts, self._connection, limit)

    def count_missing(self, columns: Set[str]) -> dict[str, int]:
        """How many values of each column are missing, those that do not fit its kind included: secret."""
        names = [name for name in self._kinds if name in columns]
        tests = {f"c{k}": self._readable_column(self._rows, name).isnull().sum() for k, name in enumerate(names)}
        counts = self._connection.numbers(self._rows.aggregate(**tests)) if names else ()
        return dict(zip(names, counts, strict=True))

    def count_persons(self, selection: Selection, candidates: Candidates = ALL_ROWS) -> PersonCounts:
        """Persons with more candidates, or groups of them, than are kept among the rows that are selected: secret."""
        import ibis

        persons = self._candidate_rows(selection, candidates)
        persons = persons.distinct() if selection.unit.groups is not None else persons
        sizes, bound = persons.group_by("p").aggregate(size=persons.count()), selection.unit.bound
        size = sizes["size"]
        left_out = ibis.greatest(size - bound, 0).sum()
        query = sizes.aggregate(n=sizes.count(), over=(size > bound).sum(), left_out=left_out, largest=size.max())
        return PersonCounts(*self._connection.numbers(query))

    def _candidate_rows(self, selection: Selection, candidates: Candidates) -> Any:
        """The person and the group of each selected row that can be kept."""
        rows = self._possible_rows(self._matching_rows(selection), candidates.by)
        rows, names = self._cell_names(rows, candidates.grouping)
        names |= {f"k{index}": self._readable_column(rows, column) for index, column in enumerate(candidates.by)}
        if candidates.column is not None:
            names["x"] = self._listed_value(rows, candidates.column, candidates.domain)
        persons = self._select_values(rows, selection.unit, names)
        return persons.filter(persons["x"].notnull()) if "x" in names else persons

    def count_values(self, selection: Selection, values: GridColumn | None = None) -> ValueCounts:
        """How many rows are selected, before any is left out, and what becomes of their values: secret."""
        rows = self._matching_rows(selection)
        if values is None:
            return ValueCounts(self._fetch_number(rows.count()))
        self.check_numbers(values)
        column, engine = self._readable_column(rows, values.column), self._connection.engine
        tests = [
            column.isnull(),
            grid.is_below(column, values.grid, engine),
            grid.is_above(column, values.grid, engine),
        ]
        numbers = {f"c{k}": test.sum() for k, test in enumerate(tests)}
        return ValueCounts(*self._connection.numbers(rows.aggregate(n=rows.count(), **numbers)))

    def units(self, unit: PrivacyUnit) -> int:
        """How many rows the whole table has; or how many persons: distinct values of the unit's column, NULL apart."""
        self._check_unit(unit)
        count = self._rows.count() if unit.column is None else self._readable_column(self._rows, unit.column).nunique()
        return self._fetch_number(count)

    def row_sums(self, requests: Sequence[RowSums]) -> list[CellSums]:
        """Numbers about kept rows, for all requests, from as few scans as they can share."""
        sums: dict[int, CellSums] = {}
        for places in share_scans(requests):
            shared = [requests[place] for place in places]
            scan = self._count_persons_rows if shared[0].counts_persons else self._sum_rows
            sums |= zip(places, scan(shared), strict=True)
        return [sums[place] for place in range(len(requests))]

    def _count_persons_rows(self, requests: Sequence[RowSums]) -> list[CellSums]:
        """How many rows are kept in all, for requests about the same persons: one count of each person's rows each."""
        rows, condition_names = self._scanned_rows(requests)
        unit = requests[0].selection.unit
        persons = self._select_values(rows, unit, self._conditions(rows, condition_names))
        columns = SumColumns(persons, condition_names, {})
        places = [columns.add(request) for request in requests]
        kept_rows = contribution_bounds.count_kept(persons, columns.columns, unit)
        return collect_cells([self._connection.numbers(kept_rows)], None, places)

    def _sum_rows(self, requests: Sequence[RowSums]) -> list[CellSums]:
        """The moments of the kept rows of each cell, for requests that can share a scan (`RowSums.scan`)."""
        first, unit = requests[0], requests[0].selection.unit
        rows, condition_names = self._scanned_rows(requests)
        rows, names = self._cell_names(rows, first.grouping)
        columns_on_grid = dict.fromkeys(request.values for request in requests if request.values is not None)
        position_names = {values: f"x{place}" for place, values in enumerate(columns_on_grid)}
        positions = {name: self._position(values, unit, rows) for values, name in position_names.items()}
        conditions = self._conditions(rows, condition_names)
        selected = self._select_values(rows, unit, {**names, **conditions, **positions})
        if unit.column is not None:
            if first.values is not None and first.dropped_column is not None:
                selected = selected.filter(selected[position_names[first.values]].notnull())
            selected = self._keep_rows(selected, [*names, *positions], unit)
        columns = SumColumns(selected, condition_names, position_names)
        places = [columns.add(request) for request in requests]
        groups = selected.group_by(list(names)) if names else selected
        return collect_cells(self._connection.rows(groups.aggregate(**columns.columns)), first.grouping, places)

    def _scanned_rows(self, requests: Sequence[RowSums]) -> tuple[Any, dict[str, str]]:
        """The rows that requests look at; and where their predicates differ, the name of the condition of each."""
        selection, predicate_texts = requests[0].selection, dict.fromkeys(r.selection.where for r in requests)
        if len(predicate_texts) == 1:
            return self._matching_rows(selection), {}
        for request in requests:
            self.check_selection(request.selection)
        rows = self._matching_rows(Selection(None, selection.unit, selection.part))
        return rows, {where: f"c{place}" for place, where in enumerate(predicate_texts) if where is not None}

    def _conditions(self, rows: Any, condition_names: Mapping[str, str]) -> dict[str, Any]:
        return {name: self._compile(where, rows) for where, name in condition_names.items()}

    def count(self, selection: Selection) -> int:
        """How many rows are selected and kept; with a unit of groups, how many persons have a selected row."""
        return self._moments(RowSums(selection))[0].rows

    def cell_counts(self, selection: Selection, keys: Mapping[str, Sequence[Key]], other: bool = False) -> list[int]:
        """How many kept rows are in each cell, in the order of the cells of a `Grouping` with these keys."""
        grouping = Grouping({column: tuple(column_keys) for column, column_keys in keys.items()}, other)
        return [moments.rows for moments in self._moments(RowSums(selection, grouping=grouping))]

    def _possible_rows(self, rows: Any, columns: Sequence[str]) -> Any:
        """The rows whose keys in these columns can be fetched."""
        for column in columns:
            self.check_found_column(column)
        conditions = [found_cells.is_possible_key(self._readable_column(rows, column)) for column in columns]
        return rows.filter(conditions) if conditions else rows

    def moments(self, selection: Selection, values: GridColumn) -> Moments:
        """How many rows are kept, and the sum of their positions."""
        return self._moments(RowSums(selection, values))[0]

    def _moments(self, request: RowSums) -> tuple[Moments, ...]:
        return self.row_sums([request])[0].moments

    def position_counts(self, selection: Selection, values: GridColumn) -> list[int]:
        """How many kept rows are at each position 0 … N."""
        kept_rows = self._kept_positions(selection, values)
        rows = self._connection.rows(kept_rows.group_by("v0").aggregate(size=kept_rows.count()))
        return cells.cell_counts(rows, ((position,) for position in range(values.grid.size + 1)))

    def cell_position_counts(self, selection: Selection, grouping: Grouping, values: GridColumn) -> list[list[int]]:
        """The same of the kept rows of each cell."""
        kept_rows, names = self._kept_cells(selection, grouping, self._position_of(values, selection.unit))
        sizes = kept_rows.group_by([*names, "x"]).aggregate(size=kept_rows.count())
        by_cell = cells.rows_by_cell(self._connection.rows(sizes), grouping)
        positions = [(position,) for position in range(values.grid.size + 1)]
        return [cells.cell_counts(by_cell.get(cell, []), positions) for cell in grouping.cells]

    def distinct_count(self, selection: Selection, column: str, domain: Sequence[Key] | None) -> int:
        """How many different values, of a domain if it is given, the kept rows have; NULL is none."""
        rows, value = self._matching_rows(selection), self._value_of(column, domain)
        values = self._select_values(rows, selection.unit, {"v0": value(rows)})
        kept_rows = self._keep_rows(values.filter(values["v0"].notnull()), ["v0"], selection.unit)
        return self._fetch_number(kept_rows["v0"].nunique())

    def cell_distinct_counts(
        self, selection: Selection, grouping: Grouping, column: str, domain: Sequence[Key] | None
    ) -> list[int]:
        """The same of the kept rows of each cell."""
        kept_rows, names = self._kept_cells(selection, grouping, self._value_of(column, domain))
        counts = kept_rows.group_by(names).aggregate(size=kept_rows["x"].nunique())
        by_cell = cells.rows_by_cell(self._connection.rows(counts), grouping)
        return [int(by_cell[cell][0][0]) if cell in by_cell else 0 for cell in grouping.cells]

    def found_position_counts(
        self, selection: Selection, found_keys: FoundKeys, values: GridColumn
    ) -> tuple[list[int], tuple[Cell, ...], list[Any]]:
        """The kept rows of each cell that has some: their number, the cell, and how many are at which positions."""
        kept_rows, names = self._kept_cells(selection, found_keys, self._position_of(values, selection.unit))
        sizes = kept_rows.group_by([*names, "x"]).aggregate(size=kept_rows.count())
        by_cell = found_cells.rows_by_found_cell(self._connection.rows(sizes), found_keys)
        pairs = [[(int(position), int(size)) for position, size in rows] for rows in by_cell.values()]
        return [sum(size for _, size in cell) for cell in pairs], tuple(by_cell), pairs

    def found_distinct_counts(
        self, selection: Selection, found_keys: FoundKeys, column: str, domain: Sequence[Key] | None
    ) -> tuple[list[int], tuple[Cell, ...], list[int]]:
        """The same with how many different values they have."""
        kept_rows, names = self._kept_cells(selection, found_keys, self._value_of(column, domain))
        groups = kept_rows.group_by(names).aggregate(size=kept_rows.count(), different=kept_rows["x"].nunique())
        by_cell = found_cells.rows_by_found_cell(self._connection.rows(groups), found_keys)
        rows = [tuple(map(int, cell_rows[0])) for cell_rows in by_cell.values()]
        return [size for size, _ in rows], tuple(by_cell), [different for _, different in rows]

    def check_distinct(self, column: str, domain: Sequence[Key] | None) -> None:
        """Refuse a column whose values are no keys, and a domain that none of them can equal. Looks at no row."""
        with self._explain_guesses(column):
            kind = self._column_kind(column, "column", "column")
            if kind not in cells.KEY_TYPES:
                problem = f"column must hold integers, texts, truths or dates, got {column} of kind {kind}"
                raise InputError(problem, "column", "choose another")
            cells.check_keys(domain or (), kind, "domain", "domain")

    def check_column(self, column: str) -> None:
        """Refuse a column that the table does not have. Looks at no row."""
        self._column_kind(column, "column", "column")

    def public_values(self, column: str, limit: int) -> list[Key]:
        """The different values of a column of a public table, in order, up to a number of them.

        NULL is none, and a date beyond the years 1 to 9999 is none either.
        """
        self.check_distinct(column, None)
        rows = self._rows.select(v0=self._readable_column(self._rows, column))
        values = rows.filter(found_cells.is_possible_key(rows["v0"])).distinct().order_by("v0").limit(limit)
        return sorted(value for (value,) in self._connection.rows(values))

    def public_combinations(self, columns: Sequence[str], limit: int) -> list[tuple[Key | None, ...]]:
        """The different combinations of columns of a public table, in order, up to a number of them.

        A missing value is None, and so is a date that no plan can hold; combinations with one come first.
        """
        for column in columns:
            self.check_distinct(column, None)
        names = [f"v{k}" for k in range(len(columns))]
        values = {name: self._possible_value(column) for name, column in zip(names, columns, strict=True)}
        rows = self._rows.select(**values).distinct().limit(limit)
        return sorted(map(tuple, self._connection.rows(rows)), key=lambda row: [(v is not None, v) for v in row])

    def _possible_value(self, column: str) -> Any:
        """The value of a column; NULL where no plan can hold it."""
        import ibis

        values = self._readable_column(self._rows, column)
        return ibis.cases((found_cells.is_possible_key(values), values), else_=ibis.null(values.type()))

    def _value_of(self, column: str, domain: Sequence[Key] | None) -> RowValue:
        """The value of a column whose values are keys; NULL where it is none of the domain."""
        self.check_distinct(column, domain)
        return functools.partial(self._listed_value, column=column, domain=domain)

    def _listed_value(self, rows: Any, column: str, domain: Sequence[Key] | None) -> Any:
        """The value of a column in each row; NULL where it is none of the domain."""
        import ibis

        values = self._readable_column(rows, column)
        if domain is None:
            return values
        return ibis.cases((cells.is_among(values, domain), values), else_=ibis.null(values.type()))

    def _position_of(self, values: GridColumn, unit: PrivacyUnit) -> RowValue:
        return functools.partial(self._position, values, unit)

    def _kept_cells(
        self, selection: Selection, grouping: Grouping | FoundKeys, value: RowValue
    ) -> tuple[Any, list[str]]:
        """One row for each kept row, with the names of its cell and a value `x`; and those names.

        A row without a value is left out. Whether a row is in a cell depends on the row alone, so at most k rows of a
        person are in all cells together.
        """
        rows, names = self._cell_names(self._matching_rows(selection), grouping)
        selected = self._select_values(rows, selection.unit, {**names, "x": value(rows)})
        selected = selected.filter(selected["x"].notnull())
        return self._keep_rows(selected, [*names, "x"], selection.unit), list(names)

    def _cell_names(self, rows: Any, grouping: Grouping | FoundKeys | None) -> tuple[Any, dict[str, Any]]:
        """The rows that are in some cell, and the values that name the cell of a row."""
        if grouping is None:
            return rows, {}
        if isinstance(grouping, FoundKeys):
            return self._found_names(rows, grouping)
        for column, column_keys in grouping.keys.items():
            self.check_keys(column, column_keys)
        columns = {column: self._readable_column(rows, column) for column in grouping.keys}
        listed = [cells.is_among(columns[column], keys) for column, keys in grouping.keys.items()]
        if grouping.listed is not None:
            listed.append(cells.is_combination(columns, grouping.listed))
        if grouping.other:
            return rows, cells.cell_values(grouping.keys, columns, functools.reduce(operator.and_, listed))
        rows = rows.filter(listed)
        columns = {column: self._readable_column(rows, column) for column in grouping.keys}
        return rows, cells.cell_values(grouping.keys, columns, None)

    def _found_names(self, rows: Any, found_keys: FoundKeys) -> tuple[Any, dict[str, Any]]:
        """The same of found cells: keys are fetched as they are, so what no program can hold is left out here."""
        rows = self._possible_rows(rows, found_keys.columns)
        return rows, {f"v{index}": self._readable_column(rows, name) for index, name in enumerate(found_keys.columns)}

    def _kept_positions(self, selection: Selection, values: GridColumn) -> Any:
        """One row with a position `v0` for each kept row."""
        rows = self._matching_rows(selection)
        position = self._position(values, selection.unit, rows)
        positions = self._select_values(rows, selection.unit, {"v0": position})
        return self._keep_rows(positions.filter(positions["v0"].notnull()), ["v0"], selection.unit)

    def _position(self, values: GridColumn, unit: PrivacyUnit, rows: Any) -> Any:
        """The position of each row's number on the grid; NULL where the row is to be left out."""
        if unit.groups is not None:
            requirement = "unit must bound rows where numbers are added up or ranked, got groups"
            raise InputError(requirement, "unit", "give rows = k")
        self.check_numbers(values)
        column = self._readable_column(rows, values.column)
        return grid.grid_position(column, values.grid, values.nulls, self._connection.engine)

    def _matching_rows(self, selection: Selection) -> Any:
        """The rows of the part that satisfy `where`."""
        self.check_selection(selection)
        rows, part = self._rows, selection.part
        conditions = [] if selection.where is None else [self._compile(selection.where, rows)]
        if part is not None:
            conditions.append(cells.is_among(self._readable_column(rows, part.column), [part.equals]))
        return rows.filter(conditions) if conditions else rows

    def _compile(self, where: str, rows: Any) -> Any:
        """A predicate as a condition on rows."""
        predicate = predicates.parse_predicate(where)
        return predicates.compile_predicate(predicate, rows, self._kinds, self._connection.engine)

    def _select_values(self, rows: Any, unit: PrivacyUnit, values: Mapping[str, Any]) -> Any:
        """The rows with these values alone, and their person `p` if it is named; a row without one is left out."""
        if unit.column is None:
            return rows.select(**values) if values else rows
        persons = rows.select(p=self._readable_column(rows, unit.column), **values)
        return persons.filter(persons["p"].notnull())

    def _keep_rows(self, rows: Any, values: Sequence[str], unit: PrivacyUnit) -> Any:
        if unit.column is None:
            return rows
        salt = contribution_bounds.salt(self._entropy)
        return contribution_bounds.keep_rows(rows, values, unit, salt, self._connection.engine)

    def _readable_column(self, rows: Any, column: str) -> Any:
        """A column as predicates read it: NaN is NULL, an enumeration a text."""
        return self._connection.engine.readable_column(rows, column)

    def source_columns(self, columns: Set[str]) -> frozenset[str]:
        """The columns of the source that some columns are or depend on."""
        return frozenset().union(*(self._bases.get(column, {column}) for column in columns))

    def _check_own_column(self, column: str, role: str) -> None:
        """Refuse a unit or a part by a derived column: what it means could change while a ledger knows its name."""
        if column in self._bases:
            problem = f"{role} must be by a column of the table itself, got {column}, which the plan makes"
            raise InputError(problem, f"{role}.column", "choose another, or store it in the table")

    def _fetch_number(self, count: Any) -> int:
        return self._connection.numbers(count.name("number").as_table())[0]

    def _column_kind(self, column: str, role: str, field: str) -> ColumnKind:
        if column not in self._kinds:
            raise unknown_column(column, self._kinds.keys(), role, field)
        return self._kinds[column]

    @contextmanager
    def _explain_guesses(self, *columns: str) -> Iterator[None]:
        """Say in a refusal of columns that there are which of their kinds were found in the file, not declared."""
        try:
            yield
        except InputError as problem:
            guesses = sorted(self.source_columns(set(columns)) & self._guessed_columns)
            if not guesses or not self._kinds.keys() >= set(columns):
                raise
            names, them = format_names(guesses), "it" if len(guesses) == 1 else "them"
            found = f"the kind of {names} was found in the file, because the plan does not declare {them}"
            raise InputError(f"{problem}; {found}", problem.field, f"declare {them} in [source] columns") from None

    def _person_hint(self, column: str) -> str:
        """How persons may be named; whole numbers are doubles in a frame of pandas where one is missing."""
        if self._kinds[column] is not ColumnKind.NUMBER or self._connection.engine.name != "frame":
            return "name people by such a column"
        return f'in pandas whole numbers with a missing one are floats: df.astype({{{json.dumps(column)}: "Int64"}})'

    def _check_unit(self, unit: PrivacyUnit) -> None:
        if unit.column is not None:
            self._check_own_column(unit.column, "unit")
        if unit.column is not None and self._column_kind(unit.column, "unit", "unit.column") not in PERSON_KINDS:
            with self._explain_guesses(unit.column):
                raise InputError(
                    f"unit must be a column of integers, texts, truths or dates, got {unit.column} of kind "
                    f"{self._kinds[unit.column]}",
                    "unit.column",
                    self._person_hint(unit.column),
                )
