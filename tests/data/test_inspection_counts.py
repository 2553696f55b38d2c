"""Exact numbers for the curator: persons beyond their bound, values beyond theirs, in every storage."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from data.storages import COLUMNS, FRAMES, STORAGES, open_stored_table
from spark import quiet
from utmost.data.candidates import Candidates
from utmost.data.cells import Grouping
from utmost.data.grid import Grid, GridColumn
from utmost.data.selection import PrivacyUnit, Selection
from utmost.data.table import PersonCounts, ValueCounts

pytestmark = quiet

NUMBERS = [None, -3, -2, 0, 1, 2, 7, 8, 9]
ROWS: list[dict[str, Any]] = [
    dict.fromkeys(COLUMNS)
    | {
        "person": None if k % 7 == 6 else k * k % 5,
        "region": "north" if k % 3 else "south",
        "small": NUMBERS[k % 9],
        "x": None if NUMBERS[k % 9] is None else NUMBERS[k % 9] / 2,
        "money": None if NUMBERS[k % 9] is None else Decimal(NUMBERS[k % 9]) / 4,
        "wide": None if NUMBERS[k % 9] is None else Decimal(NUMBERS[k % 9]) / 4,
    }
    for k in range(27)
]


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.slow if "spark" in name or name in FRAMES else ()) for name in STORAGES
    ]
)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    url = request.getfixturevalue("postgres_module_url") if request.param == "postgres" else None
    if "spark" in request.param:
        request.getfixturevalue("spark")
    with open_stored_table(request.param, ROWS, tmp_path, url) as opened:
        yield opened


def expected_persons(sizes: Counter[int], bound: int) -> PersonCounts:
    left_out = [size - bound for size in sizes.values() if size > bound]
    return PersonCounts(len(sizes), len(left_out), sum(left_out), max(sizes.values(), default=0))


@pytest.mark.parametrize("bound", [1, 3, 100])
def test_persons_with_more_rows_or_groups_than_are_kept_are_counted(table: Any, bound: int) -> None:
    chosen = [row for row in ROWS if row["person"] is not None and row["small"] is not None and row["small"] > 0]
    selection, north_cell = Selection("small > 0", PrivacyUnit("person", rows=bound)), Grouping({"region": ("north",)})
    assert table.count_persons(selection) == expected_persons(Counter(row["person"] for row in chosen), bound)
    north = Counter(row["person"] for row in chosen if row["region"] == "north")
    assert table.count_persons(selection, Candidates(north_cell)) == expected_persons(north, bound)
    by_groups = Selection("small > 0", PrivacyUnit("person", groups=bound))
    groups = Counter(person for person, _ in {(row["person"], row["region"]) for row in chosen})
    for cells in (Grouping({"region": ("north", "south")}), Grouping({"region": ("north",)}, other=True)):
        assert table.count_persons(by_groups, Candidates(cells)) == expected_persons(groups, bound)
    assert table.count_persons(by_groups, Candidates(by=("region",))) == expected_persons(groups, bound)
    assert table.count_persons(by_groups).largest == 1


def test_rows_whose_missing_value_is_dropped_are_not_those_of_a_person(table: Any) -> None:
    selection = Selection(None, PrivacyUnit("person", rows=1))
    persons = [(row["person"], row["small"]) for row in ROWS if row["person"] is not None]
    present = Counter(person for person, value in persons if value is not None)
    assert table.count_persons(selection, Candidates(column="small")) == expected_persons(present, 1)
    listed = Counter(person for person, value in persons if value in (1, 7))
    assert table.count_persons(selection, Candidates(column="small", domain=(1, 7))) == expected_persons(listed, 1)
    values = Counter(person for person, value in set(persons) if value is not None)
    by_groups = Selection(None, PrivacyUnit("person", groups=1))
    assert table.count_persons(by_groups, Candidates(column="small")) == expected_persons(values, 1)


@pytest.mark.parametrize("column", ["small", "x", "money", "wide"])
@pytest.mark.parametrize(("low", "high"), [("-1", "1"), ("-1/2", "7/2"), ("-1/3", "2/3"), ("-3/4", "9/4")])
def test_values_beyond_the_bounds_are_counted(table: Any, column: str, low: str, high: str) -> None:
    grid = Grid(Fraction(low), Fraction(high), Fraction(1, 12))
    chosen = [row[column] for row in ROWS if row["region"] == "north"]
    values = [Fraction(value) for value in chosen if value is not None]
    expected = ValueCounts(
        len(chosen),
        len(chosen) - len(values),
        sum(value < grid.low for value in values),
        sum(value > grid.high for value in values),
    )
    assert table.count_values(Selection("region = 'north'"), GridColumn(column, grid)) == expected
    assert table.count_values(Selection("region = 'north'")) == ValueCounts(len(chosen))


def test_missing_values_are_counted(table: Any) -> None:
    missing = {name: sum(row[name] is None for row in ROWS) for name in ("person", "small", "wide")}
    assert table.count_missing(set(missing)) == missing


def test_no_row_has_no_person_and_no_value(tmp_path: Path) -> None:
    with open_stored_table("parquet", [], tmp_path) as table:
        assert table.count_persons(Selection(None, PrivacyUnit("person", rows=1))) == PersonCounts(0, 0, 0, 0)
        grid = Grid(Fraction(0), Fraction(1), Fraction(1))
        assert table.count_values(Selection(), GridColumn("x", grid)) == ValueCounts(0)
