"""Several requests from one scan give what each of them gives alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import duckdb
import pytest

from utmost.data.cells import Grouping
from utmost.data.engines.engine import Connection
from utmost.data.found_cells import FoundKeys
from utmost.data.grid import Grid, GridColumn
from utmost.data.row_sums import MAX_SHARED_REQUESTS, CellSums, RowSums, share_scans
from utmost.data.selection import Partition, PrivacyUnit, Selection
from utmost.data.sources import Source, open_table
from utmost.data.table import Table

GRID = Grid(Fraction(0), Fraction(10), Fraction(1))
DROPPED, REPLACED, OTHER_COLUMN = (GridColumn("x", GRID), GridColumn("x", GRID, Fraction(4)), GridColumn("y", GRID))
GROUPINGS = [None, Grouping({"g": ("a", "b")}, other=True), Grouping({"g": ("a",), "h": (0, 1)}), FoundKeys(("g", "h"))]
ALL_ROWS = PrivacyUnit("p", rows=10**6)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    folder = tmp_path_factory.mktemp("row sums")
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT n % 97 AS p, chr(97 + (n % 5)::INT) AS g, n % 3 AS h, nullif(n % 13, 7) AS x, "
            "n * 0.75 AS y FROM range(1000) AS r(n)"
        )
    with open_table(Source("t.duckdb", table="t"), folder) as opened:
        yield opened


def requests(unit: PrivacyUnit, part: Partition | None = None) -> list[RowSums]:
    return [
        RowSums(Selection(where, unit, part), values, squares, grouping)
        for where in (None, "x > 3", "x is null or h = 1", "h = 9")
        for grouping in GROUPINGS
        for values, squares in ((None, False), (DROPPED, False), (REPLACED, True), (OTHER_COLUMN, True))
    ]


def by_cell(sums: CellSums) -> dict[object, object]:
    return dict(zip(sums.cells, sums.moments, strict=True))


@pytest.mark.parametrize("part", [None, Partition("g", "a")], ids=str)
@pytest.mark.parametrize("unit", [PrivacyUnit(), pytest.param(ALL_ROWS, marks=pytest.mark.slow)], ids=str)
def test_requests_that_share_scans_have_the_answers_they_have_alone(
    table: Table, unit: PrivacyUnit, part: Partition | None
) -> None:
    """Cells that are found are those of the whole scan: a cell without a row of its own request has 0 rows."""
    asked = requests(unit, part)
    assert len(share_scans(asked)) == (4 if unit.column is None else 49)
    for request, sums in zip(asked, table.row_sums(asked), strict=True):
        (alone,) = table.row_sums([request])
        if isinstance(request.grouping, FoundKeys):
            present = {cell: moments for cell, moments in by_cell(sums).items() if moments.rows}  # type: ignore[attr-defined]
            assert present == {cell: m for cell, m in by_cell(alone).items() if m.rows}  # type: ignore[attr-defined]
        else:
            assert sums == alone


@pytest.mark.parametrize(
    "unit", [pytest.param(PrivacyUnit("p", rows=2), marks=pytest.mark.slow), PrivacyUnit("p", groups=2)], ids=str
)
def test_persons_are_bounded_in_every_request_of_a_scan(table: Table, unit: PrivacyUnit) -> None:
    asked = [request for request in requests(unit) if unit.groups is None or request.values is None]
    for request, sums in zip(asked, table.row_sums(asked), strict=True):
        bound = 97 * (1 if unit.groups and request.grouping is None else unit.bound)
        assert sum(moments.rows for moments in sums.moments) <= bound
        (alone,) = table.row_sums([request])
        assert sum(m.rows for m in sums.moments) == sum(m.rows for m in alone.moments)


def test_cells_are_in_the_order_of_their_own_keys() -> None:
    """Groupings are equal whatever the order of their columns; their cells are not."""
    one, other = Grouping({"g": ("a",), "h": (0, 1)}), Grouping({"h": (0, 1), "g": ("a",)})
    assert one == other
    assert share_scans([RowSums(Selection(), grouping=one), RowSums(Selection(), grouping=other)]) == [[0], [1]]


def test_rows_that_a_request_drops_are_kept_apart_from_those_of_another() -> None:
    """Of a person with a missing value k rows with one are kept: another choice than among all rows."""
    person = PrivacyUnit("p", rows=1)
    pair = [RowSums(Selection(None, person), values) for values in (DROPPED, REPLACED)]
    assert share_scans(pair) == [[0], [1]]
    assert share_scans([RowSums(Selection("x > 3", person), DROPPED), pair[0]]) == [[0], [1]]
    assert share_scans([RowSums(Selection("x > 3", person)), RowSums(Selection(None, person))]) == [[0, 1]]


def test_a_plan_of_many_counts_takes_few_scans(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [RowSums(Selection(f"h = {number}")) for number in range(2 * MAX_SHARED_REQUESTS)]
    fetched, fetch_rows = [], Connection.rows

    def counting(connection: Connection, query: object) -> object:
        fetched.append(query)
        return fetch_rows(connection, query)

    monkeypatch.setattr(Connection, "rows", counting)
    sums = table.row_sums(asked)
    assert [cell.moments[0].rows for cell in sums][:4] == [334, 333, 333, 0]
    assert len(fetched) == 2
