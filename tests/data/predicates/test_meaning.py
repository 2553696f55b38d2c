"""A predicate means the same rows on every engine as in the reference, which is a second algorithm."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data.predicates.corpus import PREDICATES, ROWS
from data.predicates.engines import (
    Rows,
    answers,
    compile_text,
    disagreements,
    duckdb_table,
    postgres_table,
    spark_table,
    value_disagreements,
)
from data.predicates.strategies import COLUMN_SORTS, COMMON_SORTS, Sort, derivations, draw_many, rows, trees
from spark import quiet
from utmost.data.engines.duckdb import DUCKDB
from utmost.data.engines.schema import ColumnKind
from utmost.data.predicates import compile_predicate, parse_predicate
from utmost.data.predicates.syntax import Node
from utmost.errors import InputError

pytestmark = quiet

MAKE_TABLE = {"duckdb": duckdb_table, "postgres": postgres_table, "pyspark": spark_table}


@settings(max_examples=60)
@given(rows(COLUMN_SORTS), st.lists(trees(COLUMN_SORTS), min_size=8, max_size=16))
def test_duckdb_and_the_reference_agree_on_any_table_and_predicate(
    duckdb: Any, table: Rows, predicates: list[Node]
) -> None:
    assert not disagreements(duckdb, duckdb_table(duckdb, table, COLUMN_SORTS), table, predicates)


DECIMAL_TYPES = st.integers(1, 38).flatmap(lambda digits: st.tuples(st.just(digits), st.integers(0, digits)))
DECIMAL_PREDICATES = [
    *("v * 2 > 10", "v * 2 + 1 > 0", "v + 1 > 0", "v + 0.5 > 0", "v - v = 0", "-v > 0", "v * v > 1", "v * 1.5 > 2"),
    *("v + v + v > 1", "v * 0.001 > 1", "v * 12345678 > 1", "v > 0.00001", "v * 2 - 1 > v", "v in (0, 0.5, w)"),
    *("v > w", "v + w > 0", "v * w > 1", "v - 2 * w != 3", "v between w and 5", "v = 5", "w * 2 in (10, v)"),
]


def failures_on_widest_decimals(engine: Any, first: tuple[int, int], second: tuple[int, int]) -> list[str]:
    """Predicates that differ from the reference on the widest values of two decimal types (digits, scale)."""
    edges, sorts = {}, {}
    for name, (digits, scale) in (("v", first), ("w", second)):
        numbers = (1 - 10**digits, -1, 0, 5 * 10 ** (digits - 1), 10**digits - 1)
        edges[name] = [Decimal(f"{number}e-{scale}") for number in numbers]
        sorts[name] = Sort("exact", *[f"decimal({digits}, {scale})"] * 3, st.nothing())
    table = [{"v": v, "w": w} for v in edges["v"] for w in edges["w"]]
    predicates = [parse_predicate(text).tree for text in DECIMAL_PREDICATES]
    return disagreements(engine, MAKE_TABLE[engine.name](engine, table, sorts), table, predicates)


@settings(max_examples=40)
@given(DECIMAL_TYPES, DECIMAL_TYPES)
@example((18, 6), (18, 6))
@example((17, 8), (19, 18))
def test_no_predicate_fails_on_the_widest_values_of_any_decimal_type(
    duckdb: Any, first: tuple[int, int], second: tuple[int, int]
) -> None:
    assert not failures_on_widest_decimals(duckdb, first, second)


@pytest.mark.slow
def test_no_predicate_fails_on_the_widest_values_of_a_decimal_type(engine: Any) -> None:
    assert not failures_on_widest_decimals(engine, (18, 6), (18, 17))
    assert not failures_on_widest_decimals(engine, (10, 10), (20, 8))


@settings(max_examples=25)
@given(rows(COMMON_SORTS), st.lists(trees(COMMON_SORTS), min_size=8, max_size=16))
def test_postgresql_and_the_reference_agree_on_any_table_and_predicate(
    postgres: Any, table: Rows, predicates: list[Node]
) -> None:
    assert not disagreements(postgres, postgres_table(postgres, table, COMMON_SORTS), table, predicates)


PREDICATES_PER_QUERY = 50  # of Spark, which takes about a second for each query


def test_spark_and_the_reference_agree_on_any_table_and_predicate(spark: Any) -> None:
    """Two hundred predicates and as many derived columns, most of them with functions, on fifty rows."""
    table = [row for few_rows in draw_many(rows(COMMON_SORTS), 10) for row in few_rows][:50]
    spark_rows = spark_table(spark, table, COMMON_SORTS)
    for compared, strategy in ((disagreements, trees(COMMON_SORTS)), (value_disagreements, derivations(COMMON_SORTS))):
        drawn = draw_many(strategy, 200)
        for start in range(0, len(drawn), PREDICATES_PER_QUERY):
            assert not compared(spark, spark_rows, table, drawn[start : start + PREDICATES_PER_QUERY])


@settings(max_examples=40)
@given(rows(COMMON_SORTS), st.lists(derivations(COMMON_SORTS), min_size=8, max_size=16))
def test_duckdb_and_the_reference_agree_on_any_derived_column(
    duckdb: Any, table: Rows, expressions: list[Node]
) -> None:
    assert not value_disagreements(duckdb, duckdb_table(duckdb, table, COMMON_SORTS), table, expressions)


@settings(max_examples=25)
@given(rows(COMMON_SORTS), st.lists(derivations(COMMON_SORTS), min_size=8, max_size=16))
def test_postgresql_and_the_reference_agree_on_any_derived_column(
    postgres: Any, table: Rows, expressions: list[Node]
) -> None:
    assert not value_disagreements(postgres, postgres_table(postgres, table, COMMON_SORTS), table, expressions)


def test_every_engine_and_the_reference_agree_on_the_corpus(engine: Any) -> None:
    predicates = [parse_predicate(text).tree for text in PREDICATES]
    assert not disagreements(
        engine, MAKE_TABLE[engine.name](engine, ROWS, COMMON_SORTS), ROWS, predicates, none_refused=True
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("big * big * big > 1", "more than 38 digits"),
        ("big * 1e20 > 1", "more than 38 digits"),
        ("ratio + 1 > 1", "more than 38 digits"),
        ("ratio > big", "more than 38 digits"),
        ("ratio > double", "more than 38 digits"),
        ("big + big > double", "a float cannot meet an exact number that may have more than 64 bits"),
        ("price * price > double", "a float cannot meet an exact number that may have more than 64 bits"),
        ("price * 1e-25 > double", "a float cannot meet"),
        ("double * double * double * double * double > 1", "too large or too small for a float"),
        ("double * 1e300 > 1", "too large or too small for a float"),
        ("double * 1e-300 > 1", "too large or too small for a float"),
        ("double + 1e400 > 1", "too large for arithmetic"),
        ("moment > instant", "not of one type"),
    ],
)
def test_what_could_fail_or_differ_on_some_row_is_refused_before_any_is_read(
    duckdb: Any, text: str, message: str
) -> None:
    table = duckdb_table(duckdb, ROWS, COMMON_SORTS)
    with pytest.raises(InputError, match=f"^where, at character .*{message}"):
        compile_text(text, table)


def test_kinds_that_are_not_the_tables_are_refused(duckdb: Any) -> None:
    table = duckdb_table(duckdb, ROWS, COMMON_SORTS)
    with pytest.raises(InputError, match="kinds must be those of the table's columns"):
        compile_predicate(parse_predicate("small = 'x'"), table, {"small": ColumnKind.TEXT}, DUCKDB)
    with pytest.raises(InputError, match="there is no column absent"):
        compile_text("absent = 1", table)


# Values that only one engine has.


def assert_true_rows(backend: Any, table: Any, expected: dict[str, str]) -> None:
    """Each predicate is true of exactly the rows whose numbers are given."""
    predicates = {f"p{i}": compile_text(text, table) for i, text in enumerate(expected)}
    engine_answers = answers(backend, table, predicates).values()
    true_rows = ["".join(str(index) for index, truth in enumerate(column) if truth) for column in engine_answers]
    assert dict(zip(expected, true_rows, strict=True)) == expected


def test_duckdb_values_beyond_what_ibis_takes_them_for_do_not_fail(duckdb: Any) -> None:
    duckdb.con.execute(
        """CREATE TYPE mood AS ENUM ('calm', 'odd');
        CREATE TABLE special (place INT, huge HUGEINT, mood mood, fine TIMESTAMP_NS, far DATE, late TIMESTAMP, id UUID,
                              loose VARCHAR COLLATE NOCASE);
        INSERT INTO special VALUES
            (0, 170141183460469231731687303715884105727, 'calm', 'infinity', 'infinity', 'infinity', uuid(), 'A'),
            (1, 5, 'odd', '2262-04-11 23:47:16.854775806', '-infinity', '-infinity', uuid(), 'a'),
            (2, -5, NULL, '1677-09-22 00:00:00', '290000-01-01', '290000-01-01', NULL, NULL)"""
    )
    expected = {
        "huge > 0": "1",
        "huge is null": "0",
        "huge * 1 = 5": "1",
        "huge in (5, 1e40)": "1",
        "huge < 1e39": "12",
        "mood = 'calm'": "0",
        "mood != 'absent'": "01",
        "mood in ('absent')": "",
        "id is null": "2",
        "fine > time '9999-01-01 00:00'": "0",
        "fine >= time '9999-01-01 00:00'": "0",
        "fine < time '9999-01-01 00:00'": "12",
        "fine <= time '9999-01-01 00:00'": "12",
        "fine > time '0001-01-01 00:00'": "012",
        "fine <= time '0001-01-01 00:00'": "",
        "fine = time '9999-01-01 00:00'": "",
        "fine != time '9999-01-01 00:00'": "012",
        "fine > time '2262-04-11 23:47:16.854775'": "01",
        "fine > time '2262-04-11 23:47:16.854774'": "01",
        "fine > time '1677-09-21 00:12:43.145225'": "012",
        "fine > time '1677-09-21 00:12:43.145224'": "012",
        "far > date '9999-12-31'": "02",
        "late > time '9999-12-31 23:59:59'": "02",
        "loose = 'a'": "1",
        "loose in ('A')": "0",
        "loose != 'a'": "0",
        "loose is null": "2",
    }
    assert_true_rows(duckdb, duckdb.table("special"), expected)


def test_postgresql_values_beyond_what_others_have_do_not_fail(postgres: Any) -> None:
    with postgres.con.cursor() as cursor:
        cursor.execute(
            """CREATE TYPE mood AS ENUM ('calm', 'odd');
            CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
            CREATE TABLE special (place INT, n NUMERIC, price NUMERIC(10, 2), mood mood, code CHAR(4), at TIMESTAMPTZ,
                                  far DATE, paid MONEY, body JSON, loose TEXT COLLATE loose);
            INSERT INTO special VALUES (0, 'NaN', 'NaN', 'calm', 'ab', 'infinity', 'infinity', '12.50', '{}', 'A'),
                (1, 'Infinity', 1.5, 'odd', 'ab  ', '-infinity', '-infinity', NULL, NULL, 'a'),
                (2, 1e300, -1.5, NULL, NULL, '2020-01-31 12:00:00+02', NULL, '-1', NULL, 'á'),
                (3, 0.1, NULL, 'calm', 'abcd', '2020-01-31 10:00:00+00', '2020-01-31', '0.1', NULL, NULL);
            SET TIME ZONE 'America/New_York'"""
        )
    postgres.con.commit()
    expected = {
        "n > 1e400": "1",
        "n > 1e299": "12",
        f"n > {' * '.join(['1e1000'] * 45)}": "1",
        "n = 0.1": "3",
        "n is null": "0",
        "n = n": "123",
        "n > price": "12",
        "n > place": "12",
        "n in (0.1, 1e300)": "23",
        "price > 0": "1",
        "price is null": "03",
        "price * 2 = 3": "1",
        "price != 1": "12",
        "mood = 'absent'": "",
        "mood != 'absent'": "013",
        "mood in ('calm', 'absent')": "03",
        "code = 'ab'": "01",
        "at > time '9999-12-31 00:00'": "0",
        "at = time '2020-01-31 10:00:00'": "23",
        "far < date '0001-01-01'": "1",
        "paid > 12.499": "0",
        "paid * 10 = 1": "3",
        "body is null": "123",
        "loose = 'a'": "1",
        "loose in ('A', 'b')": "0",
        "loose != 'a'": "02",
        "loose = loose": "012",
    }
    assert_true_rows(postgres, postgres.table("special"), expected)


def test_texts_in_no_encoding_fail_in_no_predicate(postgres_module_url: str) -> None:
    import ibis
    import psycopg

    with psycopg.connect(postgres_module_url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS bytes")
        connection.execute("CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    backend = ibis.connect(f"{postgres_module_url.rpartition('/')[0]}/bytes?client_encoding=utf8")
    with backend.con.cursor() as cursor:
        cursor.execute("CREATE TABLE special (place INT, s TEXT)")
        cursor.execute("INSERT INTO special VALUES (0, convert_from('\\xff41', 'SQL_ASCII')), (1, 'ok'), (2, NULL)")
    backend.con.commit()
    assert_true_rows(backend, backend.table("special"), {"s = 'ok'": "1", "s != 'ok'": "0", "s is null": "2"})
    backend.disconnect()


def test_arithmetic_of_unbounded_decimals_is_refused(postgres: Any) -> None:
    with postgres.con.cursor() as cursor:
        cursor.execute("CREATE TABLE unbounded (x NUMERIC, f DOUBLE PRECISION)")
    postgres.con.commit()
    table = postgres.table("unbounded")
    for text in ("x + 1 > 2", "x > f", "x * x > x"):
        with pytest.raises(InputError, match=r"^where, at character"):
            compile_text(text, table)


@settings(max_examples=20)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30))
def test_whole_numbers_become_the_nearest_double_in_every_comparison_with_floats(
    duckdb: Any, values: list[int]
) -> None:
    sorts = {name: COLUMN_SORTS[name] for name in ("big", "double")}
    table = [{"big": value, "double": float(value)} for value in values]
    predicates = [parse_predicate(text).tree for text in ("double = big", "big < double", "double * 1 = big * 1")]
    assert not disagreements(duckdb, duckdb_table(duckdb, table, sorts), table, predicates)
