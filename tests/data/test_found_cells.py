"""Cells are found by a total rule, row by row: no value of a row makes another row's cell fail or change its name."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb
import psycopg
import pytest

from utmost.data.found_cells import FoundKeys
from utmost.data.row_sums import RowSums
from utmost.data.selection import PrivacyUnit, Selection
from utmost.data.sources import Source, open_table
from utmost.errors import InputError

DAYS = "('2020-01-31'), ('infinity'), ('-infinity'), (NULL), ('0044-03-15 (BC)'), ('20000-01-01'), ('9999-12-31')"


def found(source: Source, folder: Path, *columns: str) -> dict[tuple[object, ...], int]:
    with open_table(source, folder) as table:
        sums = table.row_sums([RowSums(Selection(), grouping=FoundKeys(columns))])[0]
    return dict(zip(sums.cells, (moments.rows for moments in sums.moments), strict=True))


def test_dates_that_no_program_can_hold_are_in_no_cell(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT day::DATE AS day FROM (VALUES {DAYS}) AS v(day)")
    cells = found(Source("a.duckdb", table="t"), tmp_path, "day")
    assert cells == {(date(2020, 1, 31),): 1, (date.max,): 1}


def test_dates_of_postgresql_that_no_program_can_hold_are_in_no_cell(tmp_path: Path, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE days (day DATE)")
        connection.execute(f"INSERT INTO days VALUES {DAYS.replace(' (BC)', ' BC')}".encode())
    assert found(Source(postgres_url, table="days"), tmp_path, "day") == {(date(2020, 1, 31),): 1, (date.max,): 1}


def test_texts_that_a_collation_finds_equal_are_two_cells(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t (name VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('a'), ('A'), ('a'), ('\u00e9'), ('e\u0301'), ('a' || chr(0))")
    cells = found(Source("a.duckdb", table="t"), tmp_path, "name")
    assert cells == {("a",): 2, ("A",): 1, ("\u00e9",): 1, ("e\u0301",): 1}


def test_a_person_is_in_at_most_so_many_cells(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS person, n % 10 AS cell FROM range(100) AS r(n)")
    with open_table(Source("a.duckdb", table="t"), tmp_path) as table:
        for unit, total in ((PrivacyUnit("person", rows=7), 7), (PrivacyUnit("person", groups=3), 3)):
            (sums,) = table.row_sums([RowSums(Selection(None, unit), grouping=FoundKeys(("cell",)))])
            counts = [moments.rows for moments in sums.moments]
            assert sum(counts) == total
            assert unit.groups is None or max(counts) == 1
        with pytest.raises(InputError, match="by"):
            table.check_found_column("sell")
