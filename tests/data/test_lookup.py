"""Lookups: columns of a public table by its unique key, one row for each row, on every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark import quiet
from utmost.data import Partition, Selection, Source, open_table
from utmost.data.lookup import Lookup
from utmost.errors import InputError

pytestmark = quiet

FLIGHTS = "dest,n,day\nIAH,1,2013-01-01\niah,2,2013-01-02\n,3,\nXXX,1,2013-01-01\nO'H,,2013-01-02\n"
KINDS = {"dest": "text", "n": "integer", "day": "date"}
AIRPORTS = (
    "faa,tz,name,code,opened,big,lat\nIAH,-6,George Bush,1,2013-01-01,yes,29.98\nO'H,NA,,2,,no,\n,5,Nowhere,,,,\n"
)
DECLARED = {"tz": "integer", "opened": "date", "big": "truth", "lat": "number"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flights.csv").write_text(FLIGHTS)
    (tmp_path / "airports.csv").write_text(AIRPORTS)
    return tmp_path


def lookup(on: dict[str, str], *take: str, **options: Any) -> Lookup:
    names = {name: name for name in take}
    return Lookup("airports.csv", on, options.pop("names", names), DECLARED, {"tz": ("NA",)}, **options)


def count(folder: Path, where: str, *lookups: Lookup, derive: dict[str, str] | None = None) -> int:
    with open_table(Source("flights.csv", None, None, KINDS, derive or {}, {}, lookups), folder) as table:
        return table.count(Selection(where))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("tz = -6", 1),
        ("tz is null", 4),
        ("name = 'George Bush'", 1),
        ("opened = date '2013-01-01'", 1),
        ("big", 1),
        ("not big", 1),
        ("lat > 29.97 and lat < 29.99", 1),
        ("true", 5),
    ],
)
def test_values_are_taken_where_the_key_is_equal_and_every_row_stays_one(
    folder: Path, where: str, expected: int
) -> None:
    assert count(folder, where, lookup({"dest": "faa"}, "tz", "name", "opened", "big", "lat")) == expected


def test_a_key_may_be_derived_and_a_derived_column_may_use_what_was_taken(folder: Path) -> None:
    derive = {"airport": "upper(dest)", "east": "tz > -7"}
    assert count(folder, "east", lookup({"airport": "faa"}, "tz"), derive=derive) == 2


def test_a_key_may_have_several_columns_and_what_is_taken_new_names(folder: Path) -> None:
    both = lookup({"dest": "faa", "n": "code"}, names={"tz": "zone"})
    assert count(folder, "zone = -6", both) == 1


def test_a_second_lookup_may_use_what_the_first_took(folder: Path) -> None:
    (folder / "zones.csv").write_text("tz,zone\n-6,Central\n")
    zones = Lookup("zones.csv", {"tz": "tz"}, {"zone": "zone"}, {"tz": "integer"})
    assert count(folder, "zone = 'Central'", lookup({"dest": "faa"}, "tz"), zones) == 1


def test_one_file_may_be_looked_up_by_two_columns(folder: Path) -> None:
    by_dest, by_airport = lookup({"dest": "faa"}, "tz"), lookup({"airport": "faa"}, names={"tz": "airport_tz"})
    derive = {"airport": "upper(dest)"}
    assert count(folder, "airport_tz = -6", by_dest, by_airport, derive=derive) == 2
    assert count(folder, "tz = -6 and airport_tz = tz", by_dest, by_airport, derive=derive) == 1


def test_a_public_table_without_rows_matches_nothing(folder: Path) -> None:
    (folder / "airports.csv").write_text("faa,tz\n")
    empty = Lookup("airports.csv", {"dest": "faa"}, {"tz": "tz"}, {"faa": "text", "tz": "integer"})
    assert count(folder, "tz is null", empty) == 5


def test_a_parquet_file_may_be_looked_up(folder: Path) -> None:
    import duckdb

    query = "SELECT 'IAH' AS faa, 1.50::DECIMAL(10, 2) AS fee, TIMESTAMP '2020-01-01 05:00:00' AS at"
    duckdb.sql(query).write_parquet(str(folder / "airports.parquet"))
    fees = Lookup("airports.parquet", {"dest": "faa"}, {"fee": "fee", "at": "at"})
    assert count(folder, "fee * 2 = 3 and hour(at) = 5", fees) == 1


def write_airports(folder: Path, columns: str) -> Lookup:
    """A Parquet file with the columns v and w of one airport."""
    import duckdb

    duckdb.sql(f"SELECT 'IAH' AS faa, {columns}").write_parquet(str(folder / "airports.parquet"))
    return Lookup("airports.parquet", {"dest": "faa"}, {"v": "v", "w": "w"})


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "10000-01-01", "0044-03-15 (BC)"])
def test_a_moment_that_no_calendar_has_is_taken_as_null(folder: Path, moment: str) -> None:
    """Fetched as it is, an infinite day would be the last one of the year 9999."""
    taken = write_airports(folder, f"DATE '{moment}' AS v, TIMESTAMP '{moment}' AS w")
    assert count(folder, "v is null and w is null", taken) == 5


def test_a_time_with_a_zone_is_taken_in_utc(folder: Path) -> None:
    taken = write_airports(folder, "TIMESTAMPTZ '2020-01-01 01:30:00+02' AS v, DATE '9999-12-31' AS w")
    assert count(folder, "v = time '2019-12-31 23:30:00' and w = date '9999-12-31'", taken) == 1


def test_a_whole_number_beyond_64_bits_is_refused(folder: Path) -> None:
    taken = write_airports(folder, "18446744073709551615::UBIGINT AS v, 1 AS w")
    with pytest.raises(
        InputError, match=r"lookup airports.parquet: location must have whole numbers of at most 64 bits"
    ):
        count(folder, "true", taken)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("faa,tz\nIAH,1\nIAH,2\n", "lookup airports.csv: on must be a unique key of the table, got IAH twice"),
        ("faa,tz\n1,1\n", "on must match integers, texts, truths or dates of one kind, got dest of kind text"),
        ("faa,zone\nIAH,1\n", "take: there is no column tz"),
        ("code,tz\nIAH,1\n", "on: there is no column faa"),
    ],
)
def test_a_public_table_that_does_not_fit_is_refused(folder: Path, content: str, message: str) -> None:
    (folder / "airports.csv").write_text(content)
    with pytest.raises(InputError, match=message):
        count(folder, "true", Lookup("airports.csv", {"dest": "faa"}, {"tz": "tz"}))


@pytest.mark.parametrize(
    ("bad_lookup", "message"),
    [
        (lookup({"absent": "faa"}, "tz"), "lookup airports.csv: on: there is no column absent"),
        (lookup({"dest": "faa"}, names={"tz": "day"}), "take must be a new name"),
        (lookup({"n": "lat"}, "tz"), "on must match integers"),
        (Lookup("absent.csv", {"dest": "faa"}, {"tz": "tz"}), "location must be a CSV or Parquet file that exists"),
        (Lookup("flights.txt", {"dest": "faa"}, {"tz": "tz"}), "location must be a CSV or Parquet file that exists"),
    ],
)
def test_a_lookup_that_does_not_fit_the_table_is_refused(folder: Path, bad_lookup: Lookup, message: str) -> None:
    with pytest.raises(InputError, match=message):
        count(folder, "true", bad_lookup)


def test_a_lookup_needs_a_key_and_something_to_take() -> None:
    with pytest.raises(InputError, match="on must name"):
        Lookup("a.csv", {}, {"x": "x"})
    with pytest.raises(InputError, match="take must name"):
        Lookup("a.csv", {"x": "x"}, {})
    with pytest.raises(InputError, match="a name of its own"):
        Lookup("a.csv", {"x": "x"}, {"y": "z", "u": "z"})


def test_too_large_a_table_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utmost.data.lookup.MAX_LOOKUP_ROWS", 2)
    with pytest.raises(InputError, match="at most 2 rows"):
        count(folder, "true", lookup({"dest": "faa"}, "tz"))


def test_what_is_taken_names_no_part(folder: Path) -> None:
    source = Source("flights.csv", None, None, KINDS, {}, {}, (lookup({"dest": "faa"}, "name"),))
    with (
        open_table(source, folder) as table,
        pytest.raises(InputError, match="part must be by a column of the table itself, got name"),
    ):
        table.check_selection(Selection(part=Partition("name", "x")))


def test_postgresql_takes_a_lookup_in_its_read_only_session(folder: Path, postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE flights (dest TEXT, n SMALLINT, day DATE)")
        connection.execute("INSERT INTO flights VALUES ('IAH', 1, '2013-01-01'), ('iah', 2, NULL), (NULL, 3, NULL)")
    derive = {"airport": "upper(dest)", "decade": "bin(year(day), 10)"}
    lookups = (
        lookup({"airport": "faa"}, "tz", "big"),
        lookup({"n": "code"}, names={"name": "by_code", "lat": "lat", "opened": "opened"}),
    )
    source = Source(postgres_url, "flights", None, {}, derive, {}, lookups)
    with open_table(source, folder) as table:
        assert table.count(Selection("tz = -6 and big")) == 2
        assert table.count(Selection("by_code = 'George Bush' and lat < 30 and year(opened) = 2013")) == 1
        assert table.cell_counts(Selection(), {"decade": (2010, 2020), "tz": (-6,)}) == [1, 0]
        assert table.count(Selection()) == 3


@pytest.mark.slow
def test_spark_takes_a_lookup(folder: Path, spark: Any) -> None:
    taken = lookup({"airport": "faa"}, "tz", "name", "opened", "big", "lat")
    source = Source("flights.csv", None, "spark", KINDS, {"airport": "upper(dest)"}, {}, (taken,))
    with open_table(source, folder) as table:
        assert table.count(Selection("tz = -6 and big and lat > 29")) == 2
        assert table.count(Selection("opened = day")) == 1
        assert table.cell_counts(Selection(), {"name": ("George Bush", "Nowhere")}) == [2, 0]
        assert table.count(Selection()) == 5


@pytest.mark.parametrize("name", ["table.csv", "link.csv", "hard.csv"])
def test_the_private_table_is_no_public_one(tmp_path: Path, name: str) -> None:
    (tmp_path / "table.csv").write_text("id,g\n1,a\n2,b\n")
    (tmp_path / "link.csv").symlink_to("table.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "table.csv")
    kinds = {"id": "integer", "g": "text"}
    lookup = Lookup(name, {"id": "id"}, {"g": "h"}, kinds)
    source = Source("table.csv", columns=kinds, lookups=(lookup,))
    with pytest.raises(InputError, match="must be a public file, got the table itself"), open_table(source, tmp_path):
        pass
