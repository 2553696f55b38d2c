"""Releases, answers and estimates as Arrow tables and frames: the same numbers as the release, bounds outward."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from example_releases import CLOSED, OPEN, answer, count, release, survey
from utmost.errors import InputError
from utmost.publish.tidy_table import tidy_table
from utmost.queries import Histogram

frames = pytest.importorskip("pandas", reason="pandas is not installed: make oracles")


@pytest.mark.parametrize("setting", [CLOSED, OPEN])
def test_the_frame_of_a_release_has_the_rows_of_its_tidy_table_with_bounds_rounded_outward(setting: Any) -> None:
    record = release(list(survey(setting)))
    table, frame = tidy_table(record), record.to_pandas()
    assert tuple(frame.columns) == table.columns
    assert record.to_polars().rows() == [
        tuple(None if frames.isna(entry) else entry for entry in row) for row in frame.itertuples(index=False)
    ]
    for row, numbers in zip(table.rows, frame.to_dict("records"), strict=True):
        assert numbers["value"] == float(row.number)
        if row.interval.low is not None and row.interval.high is not None:
            assert Fraction(float(numbers["low"])) <= row.interval.low
            assert Fraction(float(numbers["high"])) >= row.interval.high


def test_one_answer_has_its_own_key_columns_only() -> None:
    record = release([count(5, 1), answer(Histogram({"value": ("f", "m")}), 1, CLOSED, "sex", value=(1, 2))])
    assert list(record["dole"].to_pandas().columns) == ["query", "kind", "value", "low", "high", "error"]
    frame = record["sex"].to_pandas()
    assert list(frame["value (key)"]) == ["f", "m"]
    assert list(frame["value"]) == [1, 2]
    assert str(frame["value"].dtype) == "int64"
    assert record["sex"].to_arrow().num_rows == 2


def test_an_estimate_is_a_table_with_a_row_for_each_cell_or_for_the_one_that_was_picked() -> None:
    cells = answer(Histogram({"sex": ("f", "m")}), 1, CLOSED, "sex", value=(0, 944))
    everything = cells.estimate("uniform", "squared").to_pandas()
    picked = cells.estimate("uniform", "squared", cell="m").to_pandas()
    assert list(everything["sex"]) == ["f", "m"]
    assert list(picked["sex"]) == ["m"]
    assert everything.iloc[1].to_dict() == picked.iloc[0].to_dict()
    assert (everything["low"] <= everything["estimate"]).all()
    assert (everything["gain"] >= 1).all()
    single = count(5, 1).estimate("uniform", "absolute")
    row = single.to_arrow().to_pylist()[0]
    assert (row["query"], row["value"], row["expected_loss"]) == ("dole", 5, single.readings[0].loss.expected)


def test_what_no_reading_has_is_null_in_a_table_of_face_values() -> None:
    (quantile,) = [asked for asked in survey(CLOSED) if asked.kind == "quantile"]
    row = quantile.estimate("uniform", "absolute").to_polars().to_dicts()[0]
    assert row["expected_loss"] is None
    assert row["value"] == row["estimate"]


def test_a_release_is_written_as_a_table_and_replaces_only_one_that_utmost_wrote(tmp_path: Path) -> None:
    record = release([count(5, 1)])
    for name in ("out.csv", "out.parquet"):
        record.table(tmp_path / name)
        record["dole"].table(str(tmp_path / name))
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == tidy_table(record).to_csv()
    (tmp_path / "mine.csv").write_text("a,b\n", encoding="utf-8")
    for path in ("mine.csv", "out.txt", "no/out.csv"):
        with pytest.raises(InputError, match="path must"):
            record.table(tmp_path / path)
    assert (tmp_path / "mine.csv").read_text(encoding="utf-8") == "a,b\n"


def test_releases_and_estimates_are_equal_after_pickle_and_copy() -> None:
    record = release(list(survey(CLOSED)))
    for again in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record)):
        assert again == record
    reading = count(5, 1).estimate("uniform", "absolute")
    for again in (pickle.loads(pickle.dumps(reading)), copy.copy(reading), copy.deepcopy(reading)):
        assert again.readings == reading.readings
        assert again.to_arrow().equals(reading.to_arrow())


def test_an_estimate_is_written_as_a_table_and_replaces_its_own_alone(tmp_path: Path) -> None:
    estimate = release([count(5, 1)])["dole"].estimate(prior="uniform", loss="absolute")
    for ending in ("csv", "parquet"):
        path = tmp_path / f"readings.{ending}"
        for _ in range(2):
            estimate.table(path)
    lines = (tmp_path / "readings.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split(",") == estimate.to_arrow().column_names
    assert frames.read_parquet(tmp_path / "readings.parquet").shape == (1, len(lines[0].split(",")))
    (tmp_path / "mine.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"path must be a new file"):
        estimate.table(tmp_path / "mine.csv")
