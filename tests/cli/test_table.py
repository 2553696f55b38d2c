"""`utmost table`, and `utmost release --table`."""

from __future__ import annotations

import csv

import pytest

PLAN = """
neighbours = "replace"
budget = "b"
[source]
location = "people.csv"
columns = { x = "integer" }
[[query]]
name = "many"
kind = "count"
where = "x > 3"
epsilon = 0.1
[[query]]
name = "cells"
kind = "histogram"
keys = { x = [0, 1] }
epsilon = 0.2
"""


@pytest.fixture
def people(tmp_path, utmost):
    """A table, a plan and a budget of ε 1."""
    (tmp_path / "people.csv").write_text("x\n" + "\n".join(str(k % 10) for k in range(200)) + "\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    assert utmost("budget", "open", "b", "--epsilon", "1").code == 0
    return tmp_path


def test_a_release_writes_its_table_beside_its_file_and_the_table_command_writes_the_same(utmost, people):
    result = utmost("release", "plan.toml", "--table", "out.csv")
    assert result.code == 0, result.err
    assert "wrote out.csv" in result.err
    first = (people / "out.csv").read_text()
    assert utmost("table", "plan.release.json", "--output", "again.csv").code == 0
    assert (people / "again.csv").read_text() == first
    rows = list(csv.reader(first.splitlines()))
    assert rows[0] == ["query", "kind", "x", "value", "low", "high", "error"]
    assert [row[:3] for row in rows[1:]] == [
        ["many", "count", ""],
        ["cells", "histogram", "0"],
        ["cells", "histogram", "1"],
    ]
    assert utmost("table", "plan.release.json", "--output", "again.csv").code == 0


def test_without_an_output_the_table_is_shown_and_json_has_its_columns_and_rows(utmost, people):
    utmost("release", "plan.toml")
    shown = utmost("table", "plan.release.json")
    assert "many" in shown.out
    document = utmost("table", "plan.release.json", "--json").document
    assert document["columns"] == ["query", "kind", "x", "value", "low", "high", "error"]
    assert [row[:3] for row in document["rows"]] == [
        ["many", "count", None],
        ["cells", "histogram", 0],
        ["cells", "histogram", 1],
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("people.csv", "--table must be"),
        ("out.txt", "ends in .csv or .parquet"),
        ("nowhere/out.csv", "directory that exists"),
        ("plan.release.json", "ends in .csv or .parquet"),
    ],
)
def test_a_table_that_cannot_be_written_is_refused_before_the_charge(utmost, people, name, message):
    before = (people / "people.csv").read_text()
    result = utmost("release", "plan.toml", "--table", name)
    assert result.code == 2
    assert message in result.err
    assert (people / "people.csv").read_text() == before
    assert utmost("budget", "show", "b", "--json").document["spent"] == "0"


def test_a_table_does_not_replace_the_file_that_keys_are_read_from(utmost, people):
    assert utmost("release", "plan.toml", "--table", "keys.csv").code == 0
    before = (people / "keys.csv").read_bytes()
    keys = '{ location = "keys.csv", column = "x", kind = "integer" }'
    (people / "second.toml").write_text(PLAN.replace("[0, 1]", keys))
    result = utmost("release", "second.toml", "--table", "keys.csv")
    assert result.code == 2
    assert "--table must be another file than what is read" in result.err
    assert (people / "keys.csv").read_bytes() == before
    assert utmost("budget", "show", "b", "--json").document["charges"] == 1
