"""What is refused before any row is read, and answers at the edges of the engines' types."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.oracle import assert_agrees, position
from data.storages import COLUMNS, Column, open_stored_table, write_duckdb
from spark import quiet
from utmost.data.grid import Grid, GridColumn
from utmost.data.grid import quantize as quantized_position
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit, Selection
from utmost.data.sources import Source, open_table
from utmost.data.table import Moments, Table
from utmost.errors import DataError, InputError
from utmost.queries import Count, Histogram, Mean, Quantile, Query, Sum
from utmost.queries.privacy_setting import PrivacySetting

pytestmark = quiet

GRID = Grid(Fraction(0), Fraction(10), Fraction(1))
HALF = Fraction(1, 2)
ROW = dict.fromkeys(COLUMNS)


@pytest.fixture(params=["duckdb", "parquet", "postgres", "spark"])
def storage(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "spark":
        request.getfixturevalue("spark")
    return name


@pytest.fixture
def url(storage: str, request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("postgres_module_url") if storage == "postgres" else None


@pytest.fixture
def schema_only_table(tmp_path: Path) -> Any:
    """A table whose every query fails: all that is said of it is said from its schema."""

    def fail(statement: str) -> Any:
        pytest.fail("a query was run")

    with open_stored_table("parquet", [ROW], tmp_path) as table:
        yield Table(replace(table._connection, fetch=fail), table._rows)


REFUSED_QUERIES: list[tuple[Query, PrivacyUnit, Partition | None, str | None]] = [
    (Count("agge > 3"), PrivacyUnit(), None, "agge"),
    (Count("big > 'x'"), PrivacyUnit(), None, "where"),
    (Count("big >"), PrivacyUnit(), None, "where"),
    (Count(), PrivacyUnit("persn", rows=1), None, r"unit: .*did you mean person\?"),
    (
        Count(),
        PrivacyUnit("x", rows=1),
        None,
        "unit must be a column of integers, texts, truths or dates, got x of kind number",
    ),
    (Count(), PrivacyUnit("money", groups=1), None, "of kind number"),
    (Count(), PrivacyUnit(), Partition("regoin", "a"), r"part: .*did you mean region\?.*person, name"),
    (Count(), PrivacyUnit(), Partition("region", 1), "part of region must be texts"),
    (Count(), PrivacyUnit(), Partition("big", "1"), "part of big must be whole numbers"),
    (Count(), PrivacyUnit(), Partition("x", 1), "of kind number"),
    (Histogram({"zzz": (1,)}), PrivacyUnit(), None, "keys: there is no column zzz"),
    (Histogram({"region": (1,)}), PrivacyUnit(), None, "keys of region must be texts.*put it in quotes"),
    (Histogram({"big": ("a",)}), PrivacyUnit(), None, "keys of big must be whole numbers.*without quotes"),
    (Histogram({"big": (True,)}), PrivacyUnit(), None, "keys of big must be whole numbers.*got bool"),
    (Histogram({"flag": (1, 0)}), PrivacyUnit(), None, "keys of flag must be true or false"),
    (Histogram({"day": ("2020-01-01",)}), PrivacyUnit(), None, "keys of day must be dates"),
    (Histogram({"day": (datetime(2020, 1, 1),)}), PrivacyUnit(), None, "keys of day must be dates.*got datetime"),
    (Histogram({"x": (1,)}), PrivacyUnit(), None, "keys of x must be of a column of integers.*number"),
    (Histogram({"region": ("a\0",)}), PrivacyUnit(), None, "NUL"),
    (Histogram({"region": ("\ud800",)}), PrivacyUnit(), None, "Unicode"),
    (Sum("region", GRID, None), PrivacyUnit(), None, "column must hold numbers, got region of kind text"),
    (Sum("flag", GRID, None), PrivacyUnit(), None, "got flag of kind truth: derive .*: case when flag then 1 else 0"),
    (Sum("bigg", GRID, None), PrivacyUnit(), None, r"did you mean big\?"),
    (Sum("big", GRID, None), PrivacyUnit("person", groups=2), None, "unit must bound rows"),
    (Mean("big", GRID, None), PrivacyUnit("person", groups=2), None, "unit must bound rows"),
    (Quantile("big", GRID, HALF, None), PrivacyUnit("person", groups=2), None, "unit must bound rows"),
    (
        Sum("big", Grid(Fraction(0), Fraction(10**20), Fraction(10**18)), None),
        PrivacyUnit(),
        None,
        "step must leave numbers",
    ),
    (
        Sum("big", Grid(Fraction(0), Fraction(1, 10**20), Fraction(1, 10**25)), None),
        PrivacyUnit(),
        None,
        "step must leave",
    ),
    (Sum("wide", Grid(Fraction(0), Fraction(10**8), Fraction(1, 10**3 * 7)), None), PrivacyUnit(), None, None),
    (
        Sum("wide", Grid(Fraction(0), Fraction(1, 10**18), Fraction(1, 10**28)), None),
        PrivacyUnit(),
        None,
        "step must leave",
    ),
    (Sum("x", Grid(Fraction(0), Fraction(10**301), Fraction(10**300)), None), PrivacyUnit(), None, "step must leave"),
    (
        Sum("x", Grid(Fraction(0), Fraction(1, 10**300), Fraction(1, 10**301)), None),
        PrivacyUnit(),
        None,
        "step must leave",
    ),
]


@pytest.mark.parametrize(("query", "unit", "part", "message"), REFUSED_QUERIES)
def test_what_cannot_run_is_refused_from_the_schema_alone(
    schema_only_table: Table, query: Query, unit: PrivacyUnit, part: Partition | None, message: str | None
) -> None:
    if message is None:
        query.check(schema_only_table, unit, part)
        return
    with pytest.raises(InputError, match=message) as error_info:
        query.check(schema_only_table, unit, part)
    assert "\n" not in str(error_info.value)
    setting = PrivacySetting(NeighbourRelation.ADD_REMOVE, unit, part, None)
    with pytest.raises(InputError, match=message):
        query.exact_answer(schema_only_table, setting)


def test_an_error_lists_at_most_twenty_columns(tmp_path: Path) -> None:
    columns = {f"c{number}": Column("int64", "bigint", "integer") for number in range(30)}
    with (
        open_stored_table("parquet", [], tmp_path, None, columns) as table,
        pytest.raises(InputError, match="and 10 more"),
    ):
        table.count(Selection(unit=PrivacyUnit("z", rows=1)))


def test_an_empty_table_answers_zero(storage: str, url: str | None, tmp_path: Path) -> None:
    with open_stored_table(storage, [], tmp_path, url) as table:
        for unit in (PrivacyUnit(), PrivacyUnit("person", rows=2)):
            assert table.count(Selection(unit=unit)) == 0
            assert table.cell_counts(Selection(unit=unit), {"small": (1, 2)}) == [0, 0]
            assert table.moments(Selection(unit=unit), GridColumn("x", GRID)) == Moments(0, 0)
            assert table.units(unit) == 0
        assert table.position_counts(Selection(), GridColumn("x", GRID)) == [0] * 11


def test_sums_near_the_largest_are_exact(storage: str, url: str | None, tmp_path: Path) -> None:
    """10^12 positions a row, far beyond 2^53 and beyond 2^63 in all."""
    grid = Grid(Fraction(0), Fraction(10**12), Fraction(1))
    size = 10**5 if storage in ("duckdb", "parquet") else 2000
    rows = [ROW | {"big": 10**12 - number, "person": number} for number in range(size)]
    expected = Moments(size, sum(10**12 - number for number in range(size)))
    with open_stored_table(storage, rows, tmp_path, url) as table:
        assert table.moments(Selection(), GridColumn("big", grid)) == expected
        assert table.moments(Selection(unit=PrivacyUnit("person", rows=1)), GridColumn("big", grid)) == expected


def test_a_sum_beyond_64_bits_is_exact(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "large.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 10::BIGINT ** 12 AS v FROM range(20000000)")
    grid = Grid(Fraction(0), Fraction(10**12), Fraction(1))
    with open_table(Source("large.duckdb", table="t"), tmp_path) as table:
        moments = table.moments(Selection(), GridColumn("v", grid))
    assert moments == Moments(2 * 10**7, 2 * 10**19)
    assert moments.positions > 2**64


def test_keys_that_no_column_can_hold_are_empty_cells(storage: str, url: str | None, tmp_path: Path) -> None:
    keys = (10**30, -(10**30), 2**63, 1, 128)
    with open_stored_table(storage, [ROW | {"small": 1, "big": 1}], tmp_path, url) as table:
        for column in ("small", "big"):
            assert table.cell_counts(Selection(), {column: keys}) == [0, 0, 0, 1, 0]
        assert table.cell_counts(Selection(), {"small": (10**30,)}) == [0]
        assert table.count(Selection(part=Partition("small", 10**30))) == 0


def test_many_keys_are_counted_as_few_are(storage: str, url: str | None, tmp_path: Path) -> None:
    texts = [f"k{number},;\x1f" for number in range(700)]
    rows = [
        ROW | {"region": texts[n % 690], "big": n % 690, "day": date.fromordinal(700000 + n % 690)} for n in range(1500)
    ]
    expected = [sum(n % 690 == cell for n in range(1500)) for cell in range(700)]
    with open_stored_table(storage, rows, tmp_path, url) as table:
        assert table.cell_counts(Selection(), {"region": tuple(texts)}) == expected
        assert table.cell_counts(Selection(), {"big": tuple(range(700))}) == expected
        days = tuple(date.fromordinal(700000 + n) for n in range(700))
        assert table.cell_counts(Selection(), {"day": days}) == expected


HOSTILE_COLUMNS = {
    'a"b': Column("int64", "bigint", "integer"),
    "a`b": Column("string", "text", "text"),
    "select * from; --": Column("int64", "bigint", "integer"),
    "p": Column("int64", "bigint", "integer"),
    "v0": Column("double", "double precision", "number"),
    "copies": Column("int64", "bigint", "integer"),
    "é\u20ac.x": Column("bool", "boolean", "truth"),
    "{0}%s\\": Column("date32", "date", "date"),
    "O'Hara": Column("int64", "bigint", "integer"),
}


def test_column_and_table_names_can_hold_anything(storage: str, url: str | None, tmp_path: Path) -> None:
    row = dict(zip(HOSTILE_COLUMNS, (1, "x", 2, 3, 0.5, 4, True, date(2020, 1, 1), 5), strict=True))
    rows = [row, row | {'a"b': 7}]
    if storage == "postgres":
        import psycopg

        column_definitions = ", ".join(
            '"' + name.replace('"', '""') + '" ' + kind.postgres for name, kind in HOSTILE_COLUMNS.items()
        )
        name = "t\";'--`%s é"
        with psycopg.connect(str(url)) as connection, connection.cursor() as cursor:
            cursor.execute(('CREATE TABLE "' + name.replace('"', '""') + f'" ({column_definitions})').encode())
            placeholders = ", ".join(["%s"] * len(HOSTILE_COLUMNS))
            statement = (
                'INSERT INTO "' + name.replace('"', '""').replace("%", "%%") + f'" VALUES ({placeholders})'
            ).encode()
            cursor.executemany(statement, [tuple(r.values()) for r in rows])
        source = Source(str(url), table=name)
    elif storage == "duckdb":
        import duckdb

        write_duckdb(rows, tmp_path / "d.duckdb", HOSTILE_COLUMNS)
        name = "t\";'--`%s é"
        with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
            connection.execute('ALTER TABLE people RENAME TO "' + name.replace('"', '""') + '"')
        source = Source("d.duckdb", table=name)
    else:
        with open_stored_table(storage, rows, tmp_path, url, HOSTILE_COLUMNS) as table:
            assert_hostile_columns_answer(table, rows)
        return
    with open_table(source, tmp_path) as table:
        assert_hostile_columns_answer(table, rows)


def assert_hostile_columns_answer(table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    units = [PrivacyUnit("O'Hara", rows=9), PrivacyUnit('a"b', rows=1)]
    for unit in (
        units
        if table.engine == "spark"
        else [*units, PrivacyUnit(), PrivacyUnit("p", rows=1), PrivacyUnit("copies", groups=1)]
    ):
        for keys in ({"a`b": ("x", "'")}, {"select * from; --": (2,), "{0}%s\\": (date(2020, 1, 1),)}, {"p": (3,)}):
            assert_agrees(table, rows, Histogram(keys), unit, Partition("é\u20ac.x", True), None)
        if unit.groups is None:
            assert_agrees(table, rows, Sum("v0", GRID, None), unit, None, None)


HOSTILE_KEYS = (
    "'",
    '"',
    "\\",
    "\\'",
    "''; DROP TABLE people; --",
    "%s",
    "${spark.app.name}",
    "{x}",
    "é",
    "e\u0301",
    "\n",
    "\t",
    "`",
)


def test_keys_of_any_text_mean_themselves(storage: str, url: str | None, tmp_path: Path) -> None:
    rows = [ROW | {"name": key, "person": number} for number, key in enumerate(HOSTILE_KEYS)]
    with open_stored_table(storage, rows, tmp_path, url) as table:
        assert table.cell_counts(Selection(), {"name": HOSTILE_KEYS}) == [1] * len(HOSTILE_KEYS)
        assert table.cell_counts(Selection(unit=PrivacyUnit("name", rows=1)), {"name": HOSTILE_KEYS}) == [1] * len(
            HOSTILE_KEYS
        )
        for key in HOSTILE_KEYS:
            assert table.count(Selection(part=Partition("name", key))) == 1


def test_unsigned_and_huge_integers_are_placed_exactly(tmp_path: Path) -> None:
    import duckdb

    huge = [0, 1, 5, 10**38, -(10**38), 2**127 - 1, -(2**127) + 1, 7]
    unsigned = [0, 1, 5, 2**64 - 1, 2**63, 3, 4, 7]
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t (h HUGEINT, u UBIGINT)")
        for h, u in zip(huge, unsigned, strict=True):
            connection.execute(f"INSERT INTO t VALUES ({h}::HUGEINT, {u}::UBIGINT)")
    rows = [{"h": h if abs(h) < 10**38 else None, "u": u} for h, u in zip(huge, unsigned, strict=True)]
    with open_table(Source("t.duckdb", table="t"), tmp_path) as table:
        for column in ("h", "u"):
            for step in ("1", "1/2", "3"):
                grid = Grid(Fraction(0), 12 * Fraction(step), Fraction(step))
                assert_agrees(table, rows, Quantile(column, grid, HALF, None), PrivacyUnit(), None, None)
                assert_agrees(table, rows, Sum(column, grid, Fraction(0)), PrivacyUnit(), None, None)
        assert table.cell_counts(Selection(unit=PrivacyUnit("u", rows=1)), {"u": (2**64 - 1, 2**64, -1)}) == [1, 0, 0]


def test_postgres_numerics_of_any_size_and_its_enumerations_are_read(postgres_module_url: str, tmp_path: Path) -> None:
    import psycopg

    numbers = [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "-1e400",
        "0.5",
        "0.49999999999999999999999999999999999",
        "1.5",
        None,
    ]
    with psycopg.connect(postgres_module_url) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('good', 'bad')")
        connection.execute("CREATE DOMAIN age AS integer")
        connection.execute("CREATE TABLE odd (n numeric, r numeric(10, 2), m mood, c char(5), a age, j json)")
        for number in numbers:
            r = number if number in ("NaN", None, "0.5", "1.5") else "2.5"
            connection.execute("INSERT INTO odd VALUES (%s::numeric, %s::numeric, 'good', 'ab', 3, '{}')", (number, r))
    rows = [
        {"n": None if number is None else Decimal(number), "m": "good", "c": "ab"} for number in numbers
    ]  # fmt: skip
    with open_table(Source(postgres_module_url, table="odd"), tmp_path) as table:
        for step in ("1", "1/3", "1/1000"):
            grid = Grid(Fraction(0), 40 * Fraction(step), Fraction(step))
            for nulls in (None, Fraction(0)):
                assert_agrees(table, rows, Quantile("n", grid, HALF, nulls), PrivacyUnit(), None, None)
        assert table.moments(Selection(), GridColumn("r", GRID)).rows == 7
        assert table.cell_counts(Selection(unit=PrivacyUnit("m", rows=2)), {"m": ("good", "bad", "ugly")}) == [2, 0, 0]
        assert table.cell_counts(Selection(), {"c": ("ab", "ab   ")}) == [9, 0]
        assert table.count(Selection("m = 'ugly' or a is null or j is null")) == 0
        with pytest.raises(InputError, match="kind other"):
            Sum("a", GRID, None).check(table, PrivacyUnit(), None)


@given(st.data())
@settings(max_examples=300)
def test_the_value_for_nulls_is_placed_as_any_exact_value(data: st.DataObject) -> None:
    step = data.draw(st.fractions(Fraction(1, 100), 10, max_denominator=100))
    low = data.draw(st.integers(-20, 20))
    grid = Grid(low * step, (low + data.draw(st.integers(1, 30))) * step, step)
    value = data.draw(st.fractions(-500, 500, max_denominator=100))
    index = quantized_position(value, grid)
    assert index == position(value, grid)
    clamped = min(max(value, grid.low), grid.high)
    assert abs(grid.value(index) - clamped) <= step / 2  # the nearest grid value: no other definition is needed


@pytest.mark.parametrize("low", [Fraction(-7), Fraction(10**8)])
def test_floats_land_on_the_nearest_position_but_for_ties(
    storage: str, url: str | None, tmp_path: Path, low: Fraction
) -> None:
    """Against exact arithmetic, not against the float formula: off by one only within M·2^-49 steps of a tie."""
    draw = random.Random(5)
    grid = Grid(low, low + 1000, Fraction(1, 1000))
    values = [float(low) + draw.uniform(-5, 1005) for _ in range(200)]
    values += [float(low) + k / 1000 for k in range(0, 10**6, 9973)]
    with open_stored_table(storage, [ROW | {"x": value} for value in values], tmp_path, url) as table:
        total = table.moments(Selection(), GridColumn("x", grid)).positions
    widest = max(abs(grid.low), abs(grid.high)) / grid.step
    quotients = [(min(max(Fraction(value), grid.low), grid.high) - low) / grid.step for value in values]
    ties = sum(abs(quotient % 1 - HALF) <= widest / 2**49 for quotient in quotients)
    assert abs(total - sum(quantized_position(Fraction(value), grid) for value in values)) <= ties
    assert ties <= 3


WIDEST_GRIDS = [
    ("wide", 0, 5 * 10**7, Fraction(1)),
    ("wide", -(10**12), 10**12 - 1, Fraction(1)),
    ("wide", 0, 10**12, Fraction(1, 10**10)),
    ("wide", 3, 10**6, Fraction(1, 3)),
    ("money", 0, 10**12, Fraction(1, 10**4)),
    ("money", -(10**11), 10**12 - 1, Fraction(1)),
    ("money", 1, 9 * 10**11, Fraction(7, 3)),
    ("big", -(10**12), 10**12 - 1, Fraction(10**6)),
    ("big", 0, 10**12, Fraction(1, 3 * 10**5)),
]
DECIMAL_TEXTS = (
    "0",
    "0.5",
    "1.5",
    "49999999.5",
    "50000000",
    "99999999.9999",
    "-0.5",
    "99999999999999.9999",
    "3.0000",
    "7.0001",
)


@pytest.mark.parametrize(("column", "low", "size", "step"), WIDEST_GRIDS)
def test_exact_numbers_are_placed_exactly_up_to_the_widest_grids(
    storage: str, url: str | None, tmp_path: Path, column: str, low: int, size: int, step: Fraction
) -> None:
    size = min(size, 10**12 - low)
    grid = Grid(low * step, (low + size) * step, step)
    middle = grid.low + step * (size // 2) + step / 2
    edge_values = [grid.low + step / 2, grid.high - step / 2, middle]
    exact = [Decimal(value) for value in DECIMAL_TEXTS] + [
        (Decimal(edge_value.numerator) / Decimal(edge_value.denominator)).quantize(Decimal("0.0001"))
        for edge_value in edge_values
    ]
    values: list[Any] = exact if column != "big" else [*map(int, exact), 2**63 - 1, -(2**63)]
    rows = [ROW | {column: value} for value in values if abs(value) < 10**14 or column == "big"]
    with open_stored_table(storage, rows, tmp_path, url) as table:
        assert_agrees(table, rows, Sum(column, grid, None), PrivacyUnit(), None, None)


TINY_FLOATS = (5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, -0.0, 0.0, 1e-300)


def test_numbers_too_small_to_divide_are_at_the_first_position(storage: str, url: str | None, tmp_path: Path) -> None:
    """A quotient that underflows is an error in PostgreSQL; no quotient here can."""
    with open_stored_table(storage, [ROW | {"x": x} for x in TINY_FLOATS], tmp_path, url) as table:
        for step in (Fraction(3), Fraction(10**9), Fraction(1, 7)):
            counts = table.position_counts(Selection(), GridColumn("x", Grid(Fraction(0), 2 * step, step)))
            assert counts == [len(TINY_FLOATS), 0, 0]


def test_an_error_about_a_failing_row_does_not_quote_it(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'poisoned row' AS secret")
        connection.execute("CREATE VIEW v AS SELECT CAST(secret AS INTEGER) AS number FROM t")
    with open_table(Source("t.duckdb", table="v"), tmp_path) as table:
        assert table.count(Selection()) == 1
        with pytest.raises(DataError) as error_info:
            table.count(Selection("number > 3"))
    assert "poisoned" not in str(error_info.value)
    assert error_info.value.__cause__ is None
    assert error_info.value.__context__ is None
