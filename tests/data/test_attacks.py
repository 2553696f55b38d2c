"""Attacks that once worked, kept so that they cannot come back: one row must move an answer by one row."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from utmost.data.grid import Grid, GridColumn
from utmost.data.selection import PrivacyUnit, Selection
from utmost.data.sources import Source, open_table

NAN = float("nan")
TEN = Grid(Fraction(0), Fraction(10), Fraction(1))


@pytest.mark.parametrize(
    "where", ["x >= 1", "x is null", "x is not null", "not x >= 1", "x in (2.5)", "x < 0 or x > 1"]
)
def test_statistics_of_a_parquet_file_that_leave_nan_out_change_no_answer(tmp_path: Path, where: str) -> None:
    """pyarrow writes the least and the largest value without NaN; an engine that trusts them forgets the NaN rows."""
    counts, sums = [], []
    for extra_values in ([], [2.5]):
        source = _write_parquet(tmp_path, [-5.0, *extra_values, *[NAN] * 100])
        with open_table(source, tmp_path) as table:
            counts.append(table.count(Selection(where)))
            sums.append(table.moments(Selection(unit=PrivacyUnit("p", rows=1)), GridColumn("x", TEN)).positions)
    assert abs(counts[1] - counts[0]) <= 1
    assert sums == [0, 3]


def _write_parquet(folder: Path, values: list[float]) -> Source:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"x": values, "p": list(range(len(values)))}), folder / "n.parquet")
    return Source("n.parquet")


def test_texts_that_a_collation_holds_for_equal_are_different_cells_in_duckdb(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        connection.execute("CREATE TABLE t (a VARCHAR COLLATE nocase, d VARCHAR COLLATE noaccent)")
        connection.execute("INSERT INTO t SELECT if(i < 10, 'a', 'A'), if(i < 4, 'cafe', 'café') FROM range(20) r(i)")
    with open_table(Source("c.duckdb", table="t"), tmp_path) as rows:
        assert rows.cell_counts(Selection(), {"a": ("a", "A")}) == [10, 10]
        assert rows.cell_counts(Selection(), {"d": ("cafe", "café")}) == [4, 16]
        assert rows.count(Selection("a = 'a'")) == 10
        assert rows.units(PrivacyUnit("a", rows=1)) == 2


def test_texts_that_a_collation_holds_for_equal_are_different_cells_in_postgresql(
    postgres_url: str,
    tmp_path: Path,
) -> None:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
        connection.execute("CREATE TABLE t (a text COLLATE ci)")
        connection.execute("INSERT INTO t SELECT CASE WHEN i = 0 THEN 'A' ELSE 'a' END FROM generate_series(0, 19) i")
    with open_table(Source(postgres_url, table="t"), tmp_path) as rows:
        assert rows.cell_counts(Selection(), {"a": ("a", "A")}) == [19, 1]
        assert rows.count(Selection("a = 'a'")) == 19
        assert rows.count(Selection("a in ('á', 'A')")) == 1
        assert rows.units(PrivacyUnit("a", rows=1)) == 2


def test_a_server_that_takes_backslashes_for_escapes_lets_no_text_out_of_its_quotes(
    postgres_url: str, tmp_path: Path
) -> None:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("ALTER ROLE CURRENT_USER SET standard_conforming_strings = off")
        try:
            connection.execute("CREATE TABLE t (a text)")
            connection.execute("INSERT INTO t VALUES (E'\\\\'), ('b')")
            with open_table(Source(postgres_url, table="t"), tmp_path) as rows:
                assert rows.count(Selection(r"a = '\'")) == 1
                assert rows.count(Selection(r"a = '\' or a = ' or true --'")) == 1
        finally:
            connection.execute("ALTER ROLE CURRENT_USER RESET standard_conforming_strings")
