"""Tables in terminals too narrow for them: in parts, whole columns beside the names of the rows."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.cli.output import print_table

WORDS = st.text("abcde", min_size=1, max_size=9)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
NUMBERS = st.integers(-(10**12), 10**12).map(str)


@st.composite
def tables(draw):
    columns, rows = draw(st.integers(0, 12)), draw(st.integers(1, 4))
    header = [draw(TEXTS) for _ in range(columns + 1)]
    return header, [[draw(TEXTS), *(draw(NUMBERS) for _ in range(columns))] for _ in range(rows)]


@pytest.fixture
def print_at(capsys, monkeypatch):
    def print_lines(table, width, text_columns=1):
        monkeypatch.setenv("COLUMNS", str(width))
        print_table(*table, text_columns=text_columns)
        return capsys.readouterr().out.splitlines()

    return print_lines


@given(tables(), st.integers(26, 120))
@settings(max_examples=60, deadline=None)
def test_no_number_is_broken_and_no_line_is_too_long(table, width):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            print_table(*table)
    lines = out.getvalue().splitlines()
    words = [word for line in lines for word in line.split()]
    for row in table[1]:
        for number in row[1:]:
            assert words.count(number) >= sum(other[1:].count(number) for other in table[1])
    assert all(len(line) <= width for line in lines)


def test_each_part_names_the_rows(print_at):
    header = ["mechanism", *(f"column{k}" for k in range(9))]
    lines = print_at((header, [["first", *["1"] * 9], ["second", *["2"] * 9]]), 50)
    assert [line.split() for line in lines if line.startswith(("mechanism", "second"))] == [
        ["mechanism", "column0", "column1", "column2", "column3"],
        ["second", "2", "2", "2", "2"],
        ["mechanism", "column4", "column5", "column6", "column7"],
        ["second", "2", "2", "2", "2"],
        ["mechanism", "column8"],
        ["second", "2"],
    ]
    assert lines.count("") == 2


def test_a_table_that_fits_is_one(print_at):
    table = (["a b", "sensitivity (steps)"], [["x", "1"]])
    assert "" not in print_at(table, 24)
    assert [line.strip() for line in print_at(table, 18)[:2]] == ["sensitivity", "a b        (steps)"]


def test_what_no_line_has_room_for_is_broken(print_at):
    lines = print_at((["a", "b"], [["x", "1" * 70]]), 20)
    assert sum(line.count("1") for line in lines) == 70
    assert all(len(line) <= 20 for line in lines)


def test_later_parts_have_the_columns_of_text_that_tell_the_rows_apart(print_at):
    header = ["entry", "by", *(f"amount{k}" for k in range(4))]
    rows = [["1", "the same person", *["10"] * 4], ["2", "the same person", *["20"] * 4]]
    lines = [line.split() for line in print_at((header, rows), 42, text_columns=2)]
    assert ["entry", "by", "amount0", "amount1", "amount2"] in lines
    assert ["entry", "amount3"] in lines
    same_names = [["1", "a", *["10"] * 4], ["1", "a", *["20"] * 4]]
    lines = [line.split() for line in print_at((header, same_names), 40, text_columns=2)]
    assert ["entry", "by", "amount3"] in lines
