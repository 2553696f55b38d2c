"""Results as tables: doubles that round outward, the same numbers in Arrow, pandas and Polars, names that differ."""

from __future__ import annotations

import math
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import power
from utmost.tables import Column, ResultTable, double_above, double_below, nearest

HUGE = Fraction(10) ** 400
TINY = Fraction(1, 10**400)


@given(st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction) | st.integers().map(Fraction))
@example(HUGE)
@example(-HUGE)
@example(TINY)
@example(-TINY)
@example(Fraction(2**53 + 1))
@example(Fraction(1, 10))
def test_a_bound_in_doubles_is_outward_and_no_double_lies_between_it_and_the_bound(value: Fraction) -> None:
    low, high = double_below(value), double_above(value)
    assert low == -math.inf or Fraction(low) <= value
    assert high == math.inf or value <= Fraction(high)
    above_low, below_high = math.nextafter(low, math.inf), math.nextafter(high, -math.inf)
    assert above_low == math.inf or Fraction(above_low) > value
    assert below_high == -math.inf or Fraction(below_high) < value
    assert low <= nearest(value) <= high


def test_a_bound_that_is_irrational_is_outward_too() -> None:
    root = power(2, Fraction(1, 2))
    assert Fraction(double_below(root)) ** 2 < 2 < Fraction(double_above(root)) ** 2


NUMBERS = st.none() | st.fractions(max_denominator=10**6) | st.integers(-(10**6), 10**6)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from(["a", "<b>", None])), max_size=5))
def test_arrow_pandas_and_polars_hold_the_same_rows(rows: list[Any]) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: make oracles")
    pytest.importorskip("polars", reason="polars is not installed: make oracles")
    values, ends, names = ([row[k] for row in rows] for k in range(3))
    table = ResultTable((Column.labels("name", names), Column.values("value", values), Column.upper("high", ends)))
    frame, polars_frame, arrow = table.to_pandas(), table.to_polars(), table.to_arrow()
    assert list(frame.columns) == polars_frame.columns == arrow.column_names == ["name", "value", "high"]
    assert len(frame) == len(polars_frame) == arrow.num_rows == len(table) == len(rows)
    for (value, end, name), ours, pandas_row, row in zip(
        rows, polars_frame.rows(), frame.itertuples(index=False), arrow.to_pylist(), strict=True
    ):
        assert [None if pandas.isna(entry) else entry for entry in pandas_row] == list(ours)
        assert (row["name"], ours[0]) == (name, name)
        assert ours[1] == (None if value is None else nearest(value))
        assert ours[2] == (None if end is None else double_above(end))
        if end is not None:
            assert end <= Fraction(ours[2])
            assert end <= Fraction(row["high"])
        if value is not None and (Fraction(value) * 10**30).denominator == 1:
            assert Fraction(row["value"]) == value


def test_whole_columns_are_whole_numbers_and_labels_keep_their_kinds() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: make oracles")
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    table = ResultTable(
        (
            Column.values("whole", [2**60 + 1, Fraction(3)]),
            Column.lower("gap", [None, Fraction(3)]),
            Column.upper("third", [Fraction(1, 3), None]),
            Column.values("loss", [0.1, math.inf]),
            Column.labels("key", [1, 2]),
            Column.labels("large", [1, 2**70]),
            Column.labels("truth", [True, None]),
            Column.labels("day", [date(2020, 1, 31), None]),
            Column.labels("time", [noon, noon]),
            Column.labels("mixed", [1, "one"]),
        )
    )
    dtypes = {name: str(dtype) for name, dtype in table.to_pandas().dtypes.items()}
    texts = str(pandas.Series(["a"]).dtype)
    assert dtypes == {
        "whole": "int64", "gap": "Int64", "third": "float64", "loss": "float64", "key": "int64", "large": texts,
        "truth": "boolean", "day": "datetime64[s]", "time": "datetime64[us, UTC]", "mixed": texts,
    }  # fmt: skip
    assert table.to_pandas()["whole"][0] == 2**60 + 1
    first = table.to_arrow().to_pylist()[0]
    assert (first["whole"], first["day"], first["mixed"]) == (Decimal(2**60 + 1), date(2020, 1, 31), "1")
    assert table.to_polars().row(0)[6:9] == (True, date(2020, 1, 31), noon)


def test_a_table_without_rows_keeps_its_columns() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed: make oracles")
    table = ResultTable((Column.labels("key", []), Column.values("value", [])))
    assert table.to_pandas().shape == table.to_polars().shape == table.to_arrow().shape == (0, 2)
    assert str(table.to_pandas().dtypes["value"]) == "float64"
    assert table.to_csv() == "key,value\n"


def test_columns_of_one_name_or_of_several_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="different names"):
        ResultTable((Column.labels("a", [1]), Column.values("a", [1])))
    with pytest.raises(InputError, match="one length"):
        ResultTable((Column.labels("a", [1]), Column.values("b", [])))


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_package_that_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=f"package {name}") as problem:
        getattr(ResultTable((Column.values("a", [1]),)), f"to_{name}")()
    assert problem.value.hint == f"pip install {name}"


def test_a_table_is_shown_as_escaped_html_without_its_last_rows() -> None:
    table = ResultTable((Column.labels("<script>", ["<b>\x1b[31m"] * 30), Column.upper("end", [Fraction(1, 3)] * 30)))
    html = table._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "\x1b" not in html + repr(table)
    assert "The first 20 of 30 rows" in html
