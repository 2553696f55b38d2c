"""What a table must answer, worked out row by row in plain Python with fractions: a second algorithm, a slow one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor, inf, isnan
from typing import Any

from utmost.data.cells import Cell, Grouping
from utmost.data.grid import Grid
from utmost.data.row_sums import RowSums
from utmost.data.selection import Partition, PrivacyUnit, Selection
from utmost.queries import Count, Distinct, GroupedQuery, Histogram, Mean, Query, Sum, Variance

Row = Mapping[str, Any]
Where = Callable[[Row], bool | None]


def position(value: Any, grid: Grid) -> int | None:
    """⌊(clamp(v) − low)/step + 1/2⌋: in fractions for an exact value, for a float in floats as documented."""
    if value is None or (isinstance(value, float) and isnan(value)) or (isinstance(value, Decimal) and value.is_nan()):
        return None
    if isinstance(value, float):
        low, high, step = float(grid.low), float(grid.high), float(grid.step)
        index = floor(max(min(max(value, low), high) - low, step / 4) / step + 0.5)
    else:
        if isinstance(value, Decimal) and value.is_infinite():
            return grid.size if value > 0 else 0
        clamped = min(max(Fraction(value), grid.low), grid.high)
        index = floor((clamped - grid.low) / grid.step + Fraction(1, 2))
    return min(max(index, 0), grid.size)


def relevant_values(
    rows: Iterable[Row], query: Query, unit: PrivacyUnit, part: Partition | None, where: Where | None
) -> list[tuple[Any, Any]]:
    """(person, what the query uses) of every row that counts."""
    pairs = []
    for row in rows:
        if part is not None and (row[part.column] is None or row[part.column] != part.equals):
            continue
        if where is not None and not where(row):
            continue
        person = None if unit.column is None else row[unit.column]
        value = _query_value(row, query)
        if value is not None and (unit.column is None or person is not None):
            pairs.append((person, value))
    return pairs


def _query_value(row: Row, query: Query) -> Any:
    if isinstance(query, Count):
        return ()
    if isinstance(query, Histogram):
        cell = tuple(row[column] for column in query.keys)
        is_listed = all(
            value is not None and value in keys for value, keys in zip(cell, query.keys.values(), strict=True)
        )
        return cell if is_listed else None
    if isinstance(query, Distinct):
        value = row[query.column]
        return value if query.domain is None or value in query.domain else None
    if isinstance(query, GroupedQuery):
        return _value_in_cell(row, query)
    index = position(row[query.column], query.grid)
    return index if index is not None or query.nulls is None else position(query.nulls, query.grid)


def row_cell(row: Row, grouping: Grouping) -> Cell | None:
    """The cell that a row is in, if any."""
    cell = tuple(row[column] for column in grouping.keys)
    is_listed = all(
        value is not None and value in keys for value, keys in zip(cell, grouping.keys.values(), strict=True)
    )
    return cell if is_listed else grouping.other_cell if grouping.other else None


def _value_in_cell(row: Row, query: GroupedQuery) -> tuple[Cell, Any] | None:
    """The cell of a row, and what the inner query uses of it."""
    cell, value = row_cell(row, query.grouping), _query_value(row, query.inner)
    return None if cell is None or value is None else (cell, value)


class Truth:
    """The right answer: exact where every row is kept, else the range over all choices of rows."""

    def __init__(self, pairs: Sequence[tuple[Any, Any]], unit: PrivacyUnit) -> None:
        self.unit = unit
        self.people: dict[Any, Counter[Any]] = {}
        for number, (person, value) in enumerate(pairs):
            self.people.setdefault(number if unit.column is None else person, Counter())[value] += 1
        if unit.groups is not None:
            self.people = {person: Counter(set(values)) for person, values in self.people.items()}

    @property
    def bound(self) -> float:
        return inf if self.unit.column is None else self.unit.bound

    @property
    def kept_rows(self) -> int:
        """How many rows are kept, whichever they are."""
        return sum(int(min(values.total(), self.bound)) for values in self.people.values())

    @property
    def is_forced(self) -> bool:
        """Whether nothing is left to choose."""
        return all(values.total() <= self.bound or len(values) == 1 for values in self.people.values())

    def count_range(self, value: Any) -> tuple[int, int]:
        """The least and the most kept rows that can have the value."""
        low = high = 0
        for values in self.people.values():
            matching, kept_count = values[value], int(min(values.total(), self.bound))
            low += max(0, kept_count - (values.total() - matching))
            high += min(kept_count, matching)
        return low, high

    def forced_values(self) -> list[Any]:
        """The kept values, where nothing is left to choose."""
        people = self.people.values()
        return [value for values in people for value in list(values.elements())[: int(min(self.bound, values.total()))]]

    def distinct_range(self) -> tuple[int, int]:
        """Bounds on how many different values are kept: exact where nothing is left to choose."""
        if self.is_forced:
            return (len(set(self.forced_values())),) * 2
        return 1, min(len({value for values in self.people.values() for value in values}), self.kept_rows)

    def total_range(self) -> tuple[int, int]:
        """The least and the largest sum of the kept values."""
        low = high = 0
        for values in self.people.values():
            ordered_values, kept_count = sorted(values.elements()), int(min(values.total(), self.bound))
            low += sum(ordered_values[:kept_count])
            high += sum(ordered_values[len(ordered_values) - kept_count :])
        return low, high


def assert_agrees(
    table: Any, rows: Sequence[Row], query: Query, unit: PrivacyUnit, part: Partition | None, where: Where | None
) -> None:
    """Assert that the table's answer is right."""
    truth, selection = Truth(relevant_values(rows, query, unit, part, where), unit), Selection(query.where, unit, part)
    if isinstance(query, GroupedQuery) and not isinstance(query, Histogram):
        assert_cells_agree(table, query, selection, truth)
    elif isinstance(query, Distinct):
        least, most = truth.distinct_range()
        assert least <= table.distinct_count(selection, query.column, query.domain) <= most
    elif isinstance(query, Variance):
        (moments,) = table.row_sums([RowSums(selection, query.values, squares=True)])[0].moments
        assert moments.rows == truth.kept_rows
        if truth.is_forced:
            kept = truth.forced_values()
            assert (moments.positions, moments.squares) == (sum(kept), sum(value**2 for value in kept))
    elif isinstance(query, Count):
        assert table.count(selection) == (len(truth.people) if unit.groups else truth.kept_rows)
    elif isinstance(query, Sum | Mean):
        moments = table.moments(selection, query.values)
        low, high = truth.total_range()
        assert moments.rows == truth.kept_rows
        assert low <= moments.positions <= high
    else:
        is_cells = isinstance(query, Histogram)
        sizes = table.cell_counts(selection, query.keys) if is_cells else table.position_counts(selection, query.values)
        values: Sequence[Any] = query.cells if is_cells else range(query.grid.size + 1)
        assert len(sizes) == len(values)
        assert sum(sizes) == truth.kept_rows
        for size, value in zip(sizes, values, strict=True):
            low, high = truth.count_range(value)
            assert low <= size <= high
            assert not truth.is_forced or low == high


def assert_cells_agree(table: Any, query: GroupedQuery, selection: Selection, truth: Truth) -> None:
    """Assert that the answer of each cell is right where every row is kept, and elsewhere of no more rows than are."""
    inner, grouping = query.inner, query.grouping
    answers: Sequence[Any]
    if isinstance(inner, Count):
        answers = table.cell_counts(selection, grouping.keys, grouping.other)
    elif isinstance(inner, Distinct):
        answers = table.cell_distinct_counts(selection, grouping, inner.column, inner.domain)
    elif isinstance(inner, Sum | Mean | Variance):
        request = RowSums(selection, inner.values, isinstance(inner, Variance), grouping)
        answers = table.row_sums([request])[0].moments
    else:
        answers = table.cell_position_counts(selection, grouping, inner.values)
    assert len(answers) == len(query.cells)
    assert sum(_row_count(inner, answer) for answer in answers) <= truth.kept_rows
    if truth.is_forced:
        kept = truth.forced_values()
        cells = [[value for cell, value in kept if cell == name] for name in query.cells]
        assert [_cell_answer(inner, cell) for cell in cells] == [_comparable(answer) for answer in answers]


def _row_count(inner: Query, answer: Any) -> int:
    if isinstance(inner, Count | Distinct):
        return int(answer)
    return int(answer.rows) if isinstance(inner, Sum | Mean | Variance) else sum(answer)


def _comparable(answer: Any) -> Any:
    return (answer.rows, answer.positions, answer.squares) if hasattr(answer, "rows") else answer


def _cell_answer(inner: Query, values: list[Any]) -> Any:
    """What the table must say of a cell with these values."""
    if isinstance(inner, Count):
        return len(values)
    if isinstance(inner, Distinct):
        return len(set(values))
    if isinstance(inner, Sum | Mean | Variance):
        squares = sum(value**2 for value in values) if isinstance(inner, Variance) else 0
        return len(values), sum(values), squares
    return [values.count(place) for place in range(inner.grid.size + 1)]  # type: ignore[attr-defined]
