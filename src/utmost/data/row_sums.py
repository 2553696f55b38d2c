"""Sums over kept rows, and which of them come from one scan of a table.

A `RowSums` asks of each cell how many rows are kept, and for a column of numbers for the sums of their positions.
Requests share a scan where the same rows can answer them:

* **Rows as units.** All rows count, so requests with the same part and grouping share a scan whatever their `where` and
  column: each sum is over the rows that satisfy its own condition.
* **Persons, one count.** Σ over persons of min(their rows, k) needs no choice of rows: requests with the same unit and
  part share a scan, with a condition each.
* **Persons, cells or numbers.** Which rows of a person are kept is drawn among those that the query could use. So
  requests share a scan only with the same selection, the same grouping, and the same columns whose missing values are
  dropped. The values of all of them are then what is used of a row, and the lemma of `contribution_bounds` holds for
  each request as it stands: for every salt a person has at most k kept rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from utmost.data import cells
from utmost.data.cells import Cell, Grouping
from utmost.data.engines.engine import Row
from utmost.data.found_cells import FoundKeys, rows_by_found_cell
from utmost.data.grid import GridColumn
from utmost.data.selection import Selection

SUM_TYPE = "decimal(28, 0)"  # of a position that is summed: engines sum it in 38 digits
MAX_SQUARED_STEPS = 10**6  # of a grid whose positions are squared: a sum of squares is below 10^12·2^63 < 10^31
MAX_SHARED_REQUESTS = 50  # of one scan: an engine takes longer and longer for an ever longer query


@dataclass(frozen=True, slots=True)
class Moments:
    """How many rows were kept, the sum of their positions on the grid, each from 0 to N, and that of their squares.

    Sums that were not asked for are 0.
    """

    rows: int
    positions: int = 0
    squares: int = 0


@dataclass(frozen=True, slots=True)
class RowSums:
    """The moments of the kept rows of a selection: in all, in each public cell, or in each cell that has rows.

    Without `values` rows are only counted; `squares` asks for the sum of squares too, on a grid of at most
    MAX_SQUARED_STEPS steps.
    """

    selection: Selection
    values: GridColumn | None = None
    squares: bool = False
    grouping: Grouping | FoundKeys | None = None

    @property
    def dropped_column(self) -> str | None:
        """The column without whose value a row is left out."""
        return self.values.column if self.values is not None and self.values.nulls is None else None

    @property
    def scan(self) -> Hashable:
        """Equal for requests that may share a scan."""
        selection, unit = self.selection, self.selection.unit
        columns = tuple(self.grouping.keys) if isinstance(self.grouping, Grouping) else ()  # cells are in their order
        if unit.column is None:
            return selection.part, self.grouping, columns
        if self.counts_persons:
            return selection.part, unit
        return selection, self.grouping, columns, self.dropped_column

    @property
    def counts_persons(self) -> bool:
        """Is it one count of rows of persons, for which no row need be chosen."""
        return self.selection.unit.column is not None and self.grouping is None and self.values is None


@dataclass(frozen=True, slots=True)
class CellSums:
    """The moments of each cell; of the whole where there is no grouping. Secret, and so are the cells if found."""

    cells: tuple[Cell, ...]
    moments: tuple[Moments, ...]


def share_scans(requests: Sequence[RowSums]) -> list[list[int]]:
    """The places of requests that share a scan, in the order of the first of each.

    >>> share_scans([RowSums(Selection()), RowSums(Selection(), grouping=FoundKeys(("a",))), RowSums(Selection("b"))])
    [[0, 2], [1]]
    """
    scans: dict[Hashable, list[int]] = {}
    for place, request in enumerate(requests):
        scans.setdefault(request.scan, []).append(place)
    return [
        places[start : start + MAX_SHARED_REQUESTS]
        for places in scans.values()
        for start in range(0, len(places), MAX_SHARED_REQUESTS)
    ]


class SumColumns:
    """The columns of an aggregation that several requests need, each once: what to compute and where it will stand.

    `rows` has a condition for each `where`, named by `condition_names`, and a position for each column of numbers,
    named by `position_names`; a name is missing where there is nothing to test.
    """

    def __init__(self, rows: Any, condition_names: dict[str, str], position_names: dict[GridColumn, str]) -> None:
        self._rows, self._conditions, self._positions = rows, condition_names, position_names
        self.columns: dict[str, Any] = {}
        self._places: dict[Hashable, int] = {}

    def add(self, request: RowSums) -> tuple[int, ...]:
        """The places of the numbers of this request among all columns: rows, positions, squares."""
        condition = self._conditions.get(request.selection.where or "")
        if request.values is None:
            return (self._place(("rows", condition, None)),)
        position, is_dropped = self._positions[request.values], request.dropped_column is not None
        rows = self._place(("rows", condition, position if is_dropped else None))
        sums = ("positions", "squares") if request.squares else ("positions",)
        return rows, *(self._place((name, condition, position)) for name in sums)

    def _place(self, number: tuple[str, str | None, str | None]) -> int:
        if number not in self._places:
            self._places[number] = len(self._places)
            self.columns[f"s{self._places[number]}"] = self._aggregate(*number)
        return self._places[number]

    def _aggregate(self, name: str, condition: str | None, position: str | None) -> Any:
        test = None if condition is None else self._rows[condition]
        if name == "rows":
            present = None if position is None else self._rows[position].notnull()
            both = present if test is None else test if present is None else test & present
            return self._rows.count(where=both)
        place = self._rows[position].cast("int64")
        value = place if name == "positions" else place * place
        return value.cast(SUM_TYPE).sum(where=test)


def collect_cells(
    rows: Iterable[Row], grouping: Grouping | FoundKeys | None, places: Sequence[tuple[int, ...]]
) -> list[CellSums]:
    """What each request asked for, from rows of a cell's names and all sums; the sum of no row is 0."""
    by_cell = _rows_by_cell(rows, grouping)
    listed = tuple(by_cell) if isinstance(grouping, FoundKeys) else ((),) if grouping is None else grouping.cells
    no_rows = (0,) * (1 + max(place for own in places for place in own))
    sums = [by_cell.get(cell, no_rows) for cell in listed]
    return [CellSums(listed, tuple(Moments(*(int(row[k] or 0) for k in own)) for row in sums)) for own in places]


def _rows_by_cell(rows: Iterable[Row], grouping: Grouping | FoundKeys | None) -> dict[Cell, Row]:
    """The sums of each cell that has rows; no two rows have the same names."""
    if grouping is None:
        (row,) = rows
        return {(): row}
    if isinstance(grouping, FoundKeys):
        by_cell = rows_by_found_cell(rows, grouping)
    else:
        by_cell = cells.rows_by_cell(list(rows), grouping)
    return {cell: cell_rows[0] for cell, cell_rows in by_cell.items()}
