"""Columns may be called anything: like what statements, functions and ibis call their own."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from data.storages import STORAGE_CASES, Column, open_stored_table
from spark import quiet
from utmost.data.cells import Grouping
from utmost.data.found_cells import FoundKeys
from utmost.data.grid import Grid, GridColumn
from utmost.data.lookup import Lookup
from utmost.data.row_sums import RowSums
from utmost.data.selection import PrivacyUnit, Selection
from utmost.data.table import Table

pytestmark = quiet

PLAIN = tuple(f"column {index}" for index in range(6))
NAMES = (  # a person, a group, a number, a column that nobody asks for, a derived and a looked-up one
    ("p", "v0", "x", "o", "rank", "place"),
    ("copies", "copy", "size", "key", "v1", "rows"),
    ("utmost lookup 4.0", "utmost lookup 4.1", "record", "utmost lookup_ 4.1", "utmost", "lookup"),
    ("self", "exprs", "bin", "case", "end", "count"),
    ("place", "self", "hour", "t0", "self_right", "year"),
    ("select", "from", "o", "number", "self", "v0"),
)
GRID = Grid(Fraction(0), Fraction(9), Fraction(1))


def answers(table: Table, names: tuple[str, ...], unit: PrivacyUnit) -> list[Any]:
    """Numbers of every form of statement, with new columns in every place."""
    _, group, number, _, derived, taken = names
    selection, values = Selection(f'not ("{derived}" > 3 and "{taken}" = 1)', unit), GridColumn(derived, GRID)
    grouping = Grouping({group: (0, 1), taken: (0, 1)}, other=True)
    listed, found = table.row_sums(
        [RowSums(selection, values, grouping=grouping), RowSums(selection, values, grouping=FoundKeys((taken, group)))]
    )
    return [
        table.count(selection),
        listed,
        sorted(zip(found.cells, found.moments, strict=True), key=str),
        table.moments(selection, GridColumn(number, GRID)),
        table.distinct_count(selection, taken, None),
    ]


def stored_answers(storage: str, names: tuple[str, ...], folder: Path, url: str | None = None) -> list[Any]:
    (folder / "public.csv").write_text("group,taken\n0,1\n1,0\n2,7\n")
    columns = dict.fromkeys(names[:4], Column("int64", "bigint", "integer"))
    values = [[k % 4, k % 3, k % 5, 0] for k in range(12)] + [[None] * 4]
    rows = [dict(zip(columns, row, strict=True)) for row in values]
    derive = {names[4]: f'abs("{names[2]}") * 2'}
    lookup = Lookup("public.csv", {names[1]: "group"}, {"taken": names[5]}, {"group": "integer", "taken": "integer"})
    units = [PrivacyUnit(names[0], rows=10)] + ([] if storage.startswith("spark") else [PrivacyUnit()])
    with open_stored_table(storage, rows, folder, url, columns, derive, [lookup]) as table:
        return [answers(table, names, unit) for unit in units]


@pytest.fixture(scope="module")
def expected_answers(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    return stored_answers("parquet", PLAIN, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module", params=STORAGE_CASES)
def storage(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name.startswith("spark"):
        request.getfixturevalue("spark")
    return name


@pytest.mark.few
@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
def test_a_column_may_be_called_like_anything_in_a_statement(
    storage: str, names: tuple[str, ...], expected_answers: list[Any], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = request.getfixturevalue("postgres_module_url") if storage == "postgres" else None
    found = stored_answers(storage, names, tmp_path, url)
    assert found == expected_answers[: len(found)]
    assert found[0][0] == 10  # all but the fourth, the tenth and the one without values
