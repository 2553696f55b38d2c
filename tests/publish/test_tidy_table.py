"""A release as a tidy table: intervals that hold, decimals that round outward, files that are only replaced if ours."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_releases import CLOSED, OPEN, answer, release, survey
from utmost.data.grid import Grid
from utmost.errors import InputError
from utmost.publish import output_files
from utmost.publish.release_model import Answer, Release
from utmost.publish.tidy_table import tidy_table, value_interval
from utmost.queries import Count, Histogram, Mean
from utmost.tables import bound_text, csv_text, value_text

GRID = Grid(Fraction(0), Fraction(4), Fraction(1))


def release_of(*answers: Answer) -> Release:
    return release(list(answers))


def test_there_is_one_row_a_number_and_one_column_a_key() -> None:
    cells = answer(Histogram({"educ": (1, 2), "sex": ("f", "m")}), 1, CLOSED, "cells", value=(5, 0, 944, 7))
    other = answer(Histogram({"sex": ("f", "m")}), 1, CLOSED, "other", value=(1, 2))
    table = tidy_table(release_of(answer(Count("x"), "0.1", CLOSED, "n", value=10), cells, other))
    assert table.columns == ("query", "kind", "educ", "sex", "value", "low", "high", "error")
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows[1] == ["n", "count", "", "", "10", "0", "40", "30"]
    assert [row[:5] for row in rows[2:]] == [
        ["cells", "histogram", "1", "f", "5"],
        ["cells", "histogram", "1", "m", "0"],
        ["cells", "histogram", "2", "f", "944"],
        ["cells", "histogram", "2", "m", "7"],
        ["other", "histogram", "", "f", "1"],
        ["other", "histogram", "", "m", "2"],
    ]
    assert rows[3][5] == "0"
    assert rows[4][6] == "944"


@pytest.mark.parametrize("setting", [CLOSED, OPEN])
def test_every_kind_has_a_row_with_an_interval_around_its_value_but_a_quantile(setting) -> None:  # type: ignore[no-untyped-def]
    table = tidy_table(release_of(*survey(setting)))
    for row in table.rows:
        assert row.error is not None
        if row.kind == "quantile":
            assert (row.low, row.high) == (None, None)
            continue
        assert row.low is not None
        assert row.high is not None
        assert Decimal(row.low) <= Decimal(row.value) <= Decimal(row.high)
        assert Decimal(row.high) - Decimal(row.low) <= 2 * Decimal(row.error) + Decimal("1e-6")


@pytest.mark.parametrize(("total", "rows"), [(0, 0), (-30, 40), (25, 3), (60, 30), (-5, 1), (7, 500)])
def test_the_interval_of_a_ratio_holds_every_mean_of_a_total_and_rows_within_their_errors(
    total: int, rows: int
) -> None:
    """By brute force over all pairs that could have been: |T| ≤ N·R, T and R within their own 97.5 % errors."""
    from utmost.exact import epsilon
    from utmost.queries.answer_mechanisms.lattice import half_width

    mean = Mean("x", GRID, None, "y > 0")
    mechanism = mean.select_mechanism(Fraction(4), OPEN).mechanism
    parts = {"total": total, "rows": rows}
    ratio = answer(mean, 4, OPEN, value=mechanism.mean(total, rows, GRID), parts=parts)
    interval = value_interval(ratio, Fraction(ratio.value))  # type: ignore[arg-type]
    total_error, rows_error = (
        half_width(epsilon(part.epsilon), Fraction(1, 40)) for part in (mechanism.total, mechanism.rows)
    )
    for true_total, true_rows in product(
        range(total - total_error, total + total_error + 1), range(max(rows - rows_error, 1), rows + rows_error + 1)
    ):
        if abs(true_total) <= 4 * true_rows:
            assert interval.low <= mechanism.total.value(0) + mechanism.total.unit * Fraction(true_total, true_rows)
            assert mechanism.total.value(0) + mechanism.total.unit * Fraction(true_total, true_rows) <= interval.high
    assert GRID.low <= interval.low <= ratio.value <= interval.high <= GRID.high


@given(st.fractions())
def test_decimals_are_exact_where_finite_and_bounds_are_outward(value: Fraction) -> None:
    low, middle, high = bound_text(value, is_upper=False), value_text(value), bound_text(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert Fraction(low) <= Fraction(middle) <= Fraction(high)
    assert not any("e" in text.lower() for text in (low, middle, high))
    if (value * 10**30).denominator == 1:
        assert Fraction(low) == Fraction(middle) == Fraction(high) == value


@given(st.text(max_size=5))
def test_no_text_of_a_csv_file_begins_as_a_formula_and_every_text_can_be_had_back(text: str) -> None:
    written = csv_text(text)
    assert not written.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert written.removeprefix("'") == text


def test_formulas_in_names_keys_and_columns_are_written_as_texts_in_csv_and_as_they_are_in_parquet() -> None:
    cells = answer(Histogram({"@sum": ("=1+1", "-x")}), 1, CLOSED, "+q", value=(5, 6))
    table = tidy_table(release_of(cells))
    assert table.to_csv().startswith("query,kind,'@sum,value,low,high,error\n'+q,histogram,'=1+1,5,")
    assert table.to_arrow().column("@sum").to_pylist() == ["=1+1", "-x"]


def test_a_key_column_of_the_name_of_another_column_is_told_apart() -> None:
    table = tidy_table(release_of(answer(Histogram({"value": (1,)}), 1, CLOSED, "h", value=(3,))))
    assert table.columns == ("query", "kind", "value (key)", "value", "low", "high", "error")
    keys = {"value": (1,), "value (key)": (2,)}
    table = tidy_table(release_of(answer(Histogram(keys), 1, CLOSED, "h", value=(3,))))
    assert table.columns[2:4] == ("value (key)", "value (key) (key)")
    assert table.to_arrow().to_pylist()[0]["value (key) (key)"] == 2


def test_parquet_has_keys_of_their_kinds_and_exact_decimals(tmp_path: Path) -> None:
    from pyarrow import parquet

    keys = {"n": (1, 2), "day": (date(2020, 1, 31),), "old": (True,), "mixed": ("a",)}
    cells = answer(Histogram(keys), 1, CLOSED, "h", value=(3, 4))
    other = answer(Histogram({"mixed": (1,)}), 1, CLOSED, "g", value=(5,))
    third = answer(Mean("x", GRID, Fraction(1)), 1, CLOSED, "m", value=Fraction(1, 944))
    table = tidy_table(release_of(cells, other, third))
    table.write(tmp_path / "out.parquet")
    read = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [read[0][name] for name in keys] == [1, date(2020, 1, 31), True, "a"]
    assert (read[2]["mixed"], read[-1]["n"]) == ("1", None)
    assert [row["value"] for row in read] == [Decimal(row.value) for row in table.rows]


def test_numbers_of_more_digits_than_a_decimal_column_holds_are_texts() -> None:
    big = answer(Count("x"), 1, OPEN, "big", value=10**40)
    assert tidy_table(release_of(big)).to_arrow().column("value").to_pylist() == ["1" + "0" * 40]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_table_replaces_the_one_that_its_note_is_of_and_nothing_else(tmp_path: Path, name: str) -> None:
    path, table = tmp_path / name, tidy_table(release_of(*survey()))
    output_files.check_table_output(path, "--output")
    table.write(path)
    output_files.check_table_output(path, "--output")
    replace(table, rows=table.rows[:1]).write(path)
    output_files.check_table_output(path, "--output")
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(InputError, match="must be a new file or replace a table of a release"):
        output_files.check_table_output(path, "--output")
    path.unlink()
    output_files.check_table_output(path, "--output")
    (tmp_path / f"{name}.json").write_text("mine")
    with pytest.raises(InputError, match="replace the note of such a table"):
        output_files.check_table_output(path, "--output")


def test_a_table_without_a_note_is_kept(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(tidy_table(release_of(*survey())).to_csv())
    with pytest.raises(InputError, match="which is something else"):
        output_files.check_table_output(tmp_path / "mine.csv", "--output")
