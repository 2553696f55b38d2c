"""Derived columns: values on a CSV file, refusals before any row is read, and that each row stays one row."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from utmost.data import Grid, GridColumn, Partition, PrivacyUnit, Selection, Source, open_table
from utmost.errors import InputError

FLIGHTS = """carrier,dep_delay,distance,time_hour,day
UA,2,1400,2013-01-01 05:00:00,2013-01-01
aa,NA,1089,2013-07-04T23:30:00Z,2013-07-04
 B6,-3,-1,,
,17.5,9223372036854775807,2013-12-31 00:00:00,9999-12-31
"""
KINDS = {"carrier": "text", "dep_delay": "number", "distance": "integer", "time_hour": "time", "day": "date"}
GRID = Grid(Fraction(0), Fraction(2000), Fraction(1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flights.csv").write_text(FLIGHTS)
    return tmp_path


def source(derive: dict[str, str], **options: Any) -> Source:
    return Source("flights.csv", None, None, KINDS, derive, **options)


def counts(folder: Path, derive: dict[str, str], column: str, keys: tuple[Any, ...]) -> list[int]:
    with open_table(source(derive), folder) as table:
        return table.cell_counts(Selection(), {column: keys})


@pytest.mark.parametrize(
    ("expression", "keys", "expected"),
    [
        ("hour(time_hour)", (0, 5, 23), [1, 1, 1]),
        ("weekday(day)", (1, 2, 3, 4, 5), [0, 1, 0, 1, 1]),
        ("bin(distance, 500)", (-500, 1000, 9223372036854775500), [1, 2, 1]),
        ("distance * distance", (1, 1400 * 1400), [1, 1]),
        ("distance * 2", (-2, 2800, 2**63 - 2), [1, 1, 0]),
        ("distance // 1000", (-1, 1), [1, 2]),
        ("dep_delay > 15", (True, False), [1, 2]),
        ("upper(trim(carrier))", ("UA", "AA", "B6"), [1, 1, 1]),
        ("coalesce(carrier, 'none')", ("none", "UA"), [1, 1]),
        ("case when month(time_hour) in (6, 7, 8) then 'summer' else 'other' end", ("summer", "other"), [1, 3]),
        ("7", (7, 8), [4, 0]),
        ("'x'", ("x",), [4]),
    ],
)
def test_a_derived_column_counts_like_any_column(
    folder: Path, expression: str, keys: tuple[Any, ...], expected: list[int]
) -> None:
    assert counts(folder, {"new": expression}, "new", keys) == expected


def test_a_derived_column_may_use_others_in_any_order(folder: Path) -> None:
    derive = {"night": "hour < 6", "hour": "hour(time_hour)", "first": "prefix(carrier, 1)"}
    with open_table(source(derive), folder) as table:
        assert {name: str(table.kinds[name]) for name in derive} == {
            "night": "truth",
            "hour": "integer",
            "first": "text",
        }
        assert table.count(Selection("night")) == 2
        assert table.count(Selection("first = 'U' and night")) == 1


def test_numbers_of_a_derived_column_are_placed_on_a_grid(folder: Path) -> None:
    with open_table(source({"half": "distance * 0.5", "size": "abs(dep_delay)"}), folder) as table:
        assert table.moments(Selection("distance < 2000"), GridColumn("half", GRID)).positions == 700 + 545
        assert table.moments(Selection(), GridColumn("size", GRID)).positions == 2 + 3 + 18


def test_each_row_stays_one_row(folder: Path) -> None:
    with open_table(source({"a": "bin(distance, 7)", "b": "a + 1", "c": "a * b"}), folder) as table:
        assert table.count(Selection()) == 4


def test_columns_that_engines_would_write_out_too_often_are_refused(folder: Path) -> None:
    """Each uses the one before it twice: the last of twenty stands for a million of the first."""
    doubling = {f"a{k + 1}": f"case when a{k} > 3 then a{k} else 2 end" for k in range(19)}
    with (
        pytest.raises(InputError, match=r"derive.a\d+, at character 1: this expression is too large once"),
        open_table(source({"a0": "distance // 2"} | doubling), folder),
    ):
        pass


def test_a_predicate_counts_derived_columns_as_what_they_stand_for(folder: Path) -> None:
    doubling = {f"a{k + 1}": f"case when a{k} > 3 then a{k} else 2 end" for k in range(6)}
    with open_table(source({"a0": "distance // 2"} | doubling), folder) as table:
        assert table.count(Selection("a6 > 3 or a6 = 2")) == 4
        with pytest.raises(InputError, match=r"where, at character .*too large once it is written out"):
            table.count(Selection(" or ".join(f"a6 = {k}" for k in range(100))))


def test_columns_that_do_not_use_each_other_are_added_at_one_go(folder: Path) -> None:
    with open_table(source({f"a{k}": f"distance // {k + 1}" for k in range(100)}), folder) as table:
        assert str(table._connection.sql(table._rows)).count("SELECT") == 1


def test_missing_markers_are_null_and_not_unreadable(folder: Path) -> None:
    with open_table(source({}), folder) as table:
        assert table.unreadable({"dep_delay"}) == {"dep_delay": 1}
    with open_table(source({}, missing={"dep_delay": ("NA", "."), "carrier": ("B6",)}), folder) as table:
        assert table.unreadable({"dep_delay"}) == {}
        assert table.count(Selection("dep_delay is null")) == 1
        assert table.count(Selection("carrier is null")) == 2


def test_unreadable_values_are_those_of_the_columns_that_a_derived_one_uses(folder: Path) -> None:
    with open_table(source({"late": "dep_delay > 15", "later": "not late"}), folder) as table:
        assert table.unreadable({"later"}) == {"dep_delay": 1}


def test_a_kind_that_was_found_is_a_guess_in_what_is_derived_from_it(folder: Path) -> None:
    with open_table(Source("flights.csv", derive={"far": "distance > 100"}), folder) as table:
        assert set(table.guesses({"far"})) == {"distance"}


@pytest.mark.parametrize(
    ("derive", "message"),
    [
        ({"distance": "1"}, "derive.distance must be a new name, got that of a column"),
        ({"Distance": "1"}, "derive.Distance must be a new name"),
        ({"a": "b", "b": "c + a", "c": "1"}, "derive must not go round in a circle, got a, b, a"),
        ({"a": "a + 1"}, "derive must not go round in a circle, got a, a"),
        ({"a": "length(carrier)"}, "derive.a, at character 1: there is no function"),
        ({"a": "bin(distance)"}, "derive.a, at character 1: bin takes 2 values, got 1"),
        ({"a": "bin(distance, 0)"}, "derive.a, at character 1: bin.* takes a constant number above 0"),
        ({"a": "bin(distance, -1)"}, "takes a constant number above 0"),
        ({"a": "bin(distance, distance)"}, "takes a constant number above 0"),
        ({"a": "distance // 0"}, "takes a constant number above 0"),
        ({"a": "prefix(carrier, 1.5)"}, "takes a constant whole number above 0"),
        ({"a": "hour(day)"}, r"hour takes a time, got a date \(day\)"),
        ({"a": "lower(distance)"}, r"lower takes a text, got an integer \(distance\)"),
        ({"a": "case when distance then 1 end"}, "when takes truths, got an integer"),
        ({"a": "case when true then 1 else 'x' end"}, "case takes values of one kind, got an integer and a text"),
        ({"a": "coalesce(day, time_hour)"}, "coalesce takes values of one kind"),
        ({"a": "least(carrier, 'x')"}, "least takes numbers, dates or times, got a text"),
        ({"a": "absent + 1"}, "derive.a, at character 1: there is no column absent"),
        ({"a": ""}, "derive.a must be"),
        ({"${x}": "1"}, "derive must have names"),
        ({"a": "distance * distance * distance"}, "derive.a, at character .*more than 38 digits"),
    ],
)
def test_what_cannot_be_derived_is_refused_before_any_row_is_read(
    folder: Path, derive: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message), open_table(source(derive), folder):
        pass


@pytest.mark.parametrize(
    "selection",
    [Selection(unit=PrivacyUnit("who", rows=1)), Selection(part=Partition("who", "UA"))],
)
def test_a_derived_column_names_neither_persons_nor_parts(folder: Path, selection: Selection) -> None:
    with (
        open_table(source({"who": "upper(carrier)"}), folder) as table,
        pytest.raises(InputError, match="must be by a column of the table itself, got who"),
    ):
        table.check_selection(selection)
