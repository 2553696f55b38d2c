"""Names mean what utmost means: built-in functions and qualified tables, whatever a database or session has stored."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from spark import quiet
from utmost.data.grid import Grid, GridColumn
from utmost.data.selection import NeighbourRelation, PrivacyUnit, Selection
from utmost.data.sources import Source, open_table
from utmost.data.table import Table
from utmost.errors import DataError, InputError
from utmost.queries import Count, Histogram, Quantile, Query, Sum
from utmost.queries.privacy_setting import PrivacySetting

pytestmark = quiet

GRID = Grid(Fraction(0), Fraction(40), Fraction(2))
HALF = Fraction(1, 2)
QUERIES: tuple[tuple[Query, PrivacyUnit], ...] = (
    (Count("age > 3 and name in ('n1', 'n2', 'n3')"), PrivacyUnit()),
    (Count("age * 2 >= 3.5 or share * 2 < 1"), PrivacyUnit("name", rows=1)),
    (Histogram({"name": ("n1", "n2", "n3")}), PrivacyUnit("age", rows=1)),
    (Sum("age", GRID, None), PrivacyUnit()),
    (Sum("age", GRID, None), PrivacyUnit("name", rows=2)),
    (Quantile("share", GRID, HALF, None), PrivacyUnit()),
    (Count("made > time '2020-01-01 00:00'"), PrivacyUnit()),
)
SELECT_ROWS = """
    SELECT i AS age, 'n' || i AS name, CAST(i / 4.0 AS DECIMAL(9, 2)) AS share,
        TIMESTAMP '2020-01-02 00:00:00' AS made FROM {numbers}
"""


def answers(table: Table) -> list[Any]:
    """The answers to all the queries, in a form that two tables can be compared by."""
    settings = [PrivacySetting(NeighbourRelation.ADD_REMOVE, unit, None, None) for _, unit in QUERIES]
    return [query.exact_answer(table, setting) for (query, _), setting in zip(QUERIES, settings, strict=True)]


# PostgreSQL


@pytest.fixture
def people_url(postgres_url: str) -> str:
    import psycopg

    numbers = "generate_series(0, 19) AS g(i)"
    with psycopg.connect(postgres_url) as connection:
        connection.execute(("CREATE TABLE people AS " + SELECT_ROWS.format(numbers=numbers)).encode())
    return postgres_url


def postgres_functions(url: str) -> list[str]:
    """The functions of pg_catalog, each as a shadow of its name and types that returns NULL, where SQL can have it."""
    import psycopg

    query = """
        SELECT DISTINCT format('CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE sql AS ''SELECT NULL::%s''',
            p.proname, v.types, format_type(p.prorettype, NULL), format_type(p.prorettype, NULL))
        FROM pg_proc p, (VALUES ('int8'), ('text'), ('int8, int8'), ('text, text'), ('float8'), ('numeric'),
            ('float8, float8'), ('numeric, numeric'), ('bytea, text'), ('text, int8'), ('int8, int8, int8')) v(types)
        WHERE p.prokind = 'f' AND p.pronamespace = 'pg_catalog'::regnamespace AND p.proname IN
            ('div', 'floor', 'hashtextextended', 'hashtext', 'convert_to', 'convert_from', 'generate_series', 'unnest')
          AND p.prorettype::regtype::text !~ '(any|internal|cstring|record)'
    """
    with psycopg.connect(url) as connection:
        return [statement for (statement,) in connection.execute(query.encode()).fetchall()]


def shadow_postgres(url: str) -> int:
    """Store functions and operators of public that fit the arguments better than those built in; how many were."""
    import psycopg

    shadows = 0
    operator = "CREATE OPERATOR public.{} (LEFTARG = {}, RIGHTARG = {}, FUNCTION = public.wrong)"
    statements = [
        *postgres_functions(url),
        "CREATE FUNCTION public.wrong(text, varchar) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE FUNCTION public.wrong(int4, numeric) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE FUNCTION public.wrong(int4, int2) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        *(operator.format(sign, "int4", "int2") for sign in ("<", "<=", ">", ">=", "=")),
        *(operator.format(sign, "int4", "numeric") for sign in ("<", "<=", ">", ">=", "=")),
        "CREATE AGGREGATE public.sum(int4) (SFUNC = int4_sum, STYPE = int8)",
    ]
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            try:
                connection.execute(statement.encode())
                shadows += 1
            except psycopg.Error:  # a shadow that PostgreSQL does not take
                continue
    return shadows


def test_functions_and_operators_of_public_shadow_none_of_postgresql(people_url: str, tmp_path: Path) -> None:
    with open_table(Source(people_url, table="people"), tmp_path) as table:
        before = answers(table)
    assert shadow_postgres(people_url) >= 10
    with open_table(Source(people_url, table="people"), tmp_path) as table:
        assert answers(table) == before
        assert table._connection.fetch("SHOW search_path") == [("pg_catalog, pg_temp",)]
        assert table._connection.fetch("SHOW timezone") == [("UTC",)]


def test_the_function_that_a_role_stores_sees_no_row_of_a_sum(people_url: str, tmp_path: Path) -> None:
    import psycopg

    with psycopg.connect(people_url) as connection:
        connection.execute(
            "CREATE FUNCTION public.div(a bigint, b bigint) RETURNS numeric LANGUAGE plpgsql AS "
            "'BEGIN RAISE EXCEPTION ''%'', a; END'"
        )
    with open_table(Source(people_url, table="people"), tmp_path) as table:
        assert table.moments(Selection(), GridColumn("age", GRID)).positions == 100


def test_a_table_without_a_schema_is_the_one_of_public(people_url: str, tmp_path: Path) -> None:
    """Whatever search path the role, the database or the URL sets."""
    import psycopg

    with psycopg.connect(people_url) as connection:
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE other.people AS SELECT 1 AS b")
        connection.execute("CREATE TABLE other.alone AS SELECT 1 AS b")
        connection.execute("ALTER ROLE CURRENT_USER SET search_path = other")
    try:
        for url in (people_url, f"{people_url}?options=-csearch_path%3Dother"):
            with open_table(Source(url, table="people"), tmp_path) as table:
                assert "age" in table.kinds
            with open_table(Source(url, table="other.people"), tmp_path) as table:
                assert list(table.kinds) == ["b"]
            with (
                pytest.raises(InputError, match=r"table must be one of other\.alone, other\.people, people"),
                open_table(Source(url, table="alone"), tmp_path),
            ):
                pytest.fail("it was opened")
    finally:
        with psycopg.connect(people_url) as connection:
            connection.execute("ALTER ROLE CURRENT_USER RESET search_path")


def test_a_type_stored_under_a_built_in_name_is_none_of_ours(postgres_url: str, tmp_path: Path) -> None:
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE DOMAIN public.int4 AS text")
        connection.execute("CREATE TYPE public.mood AS ENUM ('good', 'bad')")
        connection.execute("CREATE TYPE public.size AS ENUM ('small', 'large')")
        connection.execute(
            "CREATE FUNCTION public.wrong(public.size) RETURNS text LANGUAGE sql AS 'SELECT ''small''::text'"
        )
        connection.execute("CREATE CAST (public.size AS text) WITH FUNCTION public.wrong(public.size) AS IMPLICIT")
        connection.execute("CREATE TABLE t (a public.int4, m public.mood, s public.size)")
        connection.execute("INSERT INTO t VALUES ('x', 'good', 'large')")
    with open_table(Source(postgres_url, table="t"), tmp_path) as table:
        assert {name: str(kind) for name, kind in table.kinds.items()} == {"a": "other", "m": "text", "s": "other"}
        assert table.count(Selection("m = 'good'")) == 1


# DuckDB


def write_people(path: Path, *statements: str) -> None:
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS " + SELECT_ROWS.format(numbers="range(20) AS g(i)"))
        connection.execute("CREATE VIEW adults AS SELECT * FROM people WHERE age >= 0")
        for statement in statements:
            connection.execute(statement)


def duckdb_macros() -> list[str]:
    """A macro that is always 0 under the name of every scalar function and aggregate, with one to three arguments."""
    import duckdb

    statement = """
        SELECT DISTINCT function_name FROM duckdb_functions()
        WHERE function_type IN ('scalar', 'aggregate', 'macro') AND function_name SIMILAR TO '[a-z_][a-z_0-9]*'
    """
    names = [name for (name,) in duckdb.connect().execute(statement).fetchall()]
    return [f'CREATE MACRO "{name}" (a) AS 0, (a, b) AS 0, (a, b, c) AS 0' for name in names]


def test_macros_of_a_duckdb_file_shadow_no_function(tmp_path: Path) -> None:
    write_people(tmp_path / "clean.duckdb")
    write_people(tmp_path / "macros.duckdb", *duckdb_macros())
    tables = []
    for name in ("clean", "macros"):
        with open_table(Source(f"{name}.duckdb", table="people"), tmp_path) as table:
            tables.append(answers(table))
    assert tables[0] == tables[1]


def test_a_view_is_refused_where_a_macro_could_shadow_a_function_in_it(tmp_path: Path) -> None:
    write_people(tmp_path / "clean.duckdb", "CREATE MACRO twice(a) AS 2 * a")
    with open_table(Source("clean.duckdb", table="adults"), tmp_path) as table:
        assert table.count(Selection("age < 10")) == 10
    write_people(tmp_path / "macros.duckdb", "CREATE SCHEMA s", "CREATE MACRO s.Least(a, b) AS 0")
    with (
        pytest.raises(DataError, match="table must be stored in a file whose macros have names of their own"),
        open_table(Source("macros.duckdb", table="adults"), tmp_path),
    ):
        pytest.fail("it was opened")


# Spark


@pytest.fixture
def session(spark: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A session that runs, with a table `people` of the database `staff` and the temporary view `seen`.

    It is one of its own, since a built-in function that was replaced in a session cannot be put back.
    """
    base_session = spark._session
    spark_session = base_session.newSession()
    monkeypatch.setattr(type(base_session), "_activeSession", spark_session)
    spark_session.sql("CREATE DATABASE staff")
    numbers = "(SELECT id AS i FROM range(20))"
    spark_session.sql("CREATE TABLE staff.people USING parquet AS " + SELECT_ROWS.format(numbers=numbers))
    spark_session.table("staff.people").createTempView("seen")
    yield spark_session
    base_session.sql("DROP DATABASE staff CASCADE")


SHADOWS = (
    "sum",
    "count",
    "least",
    "greatest",
    "div",
    "floor",
    "xxhash64",
    "encode",
    "decode",
    "coalesce",
    "row_number",
)


@pytest.mark.parametrize("name", ["staff.people", "seen"])
def test_functions_that_a_spark_session_registers_shadow_no_function(session: Any, name: str, tmp_path: Path) -> None:
    source = Source(engine="spark", table=name)
    with open_table(source, tmp_path) as table:
        before = answers(table)
    for shadow in SHADOWS:
        session.udf.register(shadow, lambda *values: 0, "bigint")
    assert session.sql("SELECT least(1, 2)").collect() == [(0,)]
    with open_table(source, tmp_path) as table:
        assert answers(table) == before


def test_a_name_that_a_temporary_view_and_a_table_have_is_refused_without_its_database(
    session: Any, tmp_path: Path
) -> None:
    session.range(3).createTempView("people")
    session.catalog.setCurrentDatabase("staff")
    with (
        pytest.raises(InputError, match=r"table must name one table, .* write staff\.people"),
        open_table(Source(engine="spark", table="people"), tmp_path),
    ):
        pytest.fail("it was opened")
    with open_table(Source(engine="spark", table="staff.people"), tmp_path) as table:
        assert "age" in table.kinds
        assert table.units(PrivacyUnit()) == 20
    session.catalog.setCurrentDatabase("default")
    with open_table(Source(engine="spark", table="people"), tmp_path) as table:
        assert table.units(PrivacyUnit()) == 3


def test_a_spark_session_is_left_as_it_was(session: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    settings, views = session.conf.getAll, session.catalog.listTables()
    for source in (Source(engine="spark", table="seen"), Source("t.csv", engine="spark")):
        with open_table(source, tmp_path) as table:
            assert table.units(PrivacyUnit()) > 0
    assert session.getActiveSession() is session
    assert session.conf.getAll == settings
    assert session.catalog.listTables() == views
    assert session.catalog.listTables(session.conf.get("spark.sql.globalTempDatabase")) == views


SITE_SETTINGS = {
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.variable.substitute": "true",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
}


def test_what_a_site_sets_for_all_spark_sessions_changes_no_answer(spark: Any, tmp_path: Path) -> None:
    """A column is called by its name, which is no pattern: here it would fit two columns."""
    (tmp_path / "t.csv").write_text("a.b,axb\n1,2\n3,4\n")
    kinds = {"a.b": "integer", "axb": "integer"}
    site = spark._session._jsparkSession.sharedState().conf()
    for name, value in SITE_SETTINGS.items():
        site.set(name, value)
    try:
        with open_table(Source("t.csv", engine="spark", columns=kinds), tmp_path) as table:
            assert table.count(Selection('"a.b" = 1 or axb = 4')) == 2
            assert table.cell_counts(Selection(), {"a.b": (1, 2, 3)}) == [1, 0, 1]
    finally:
        for name in SITE_SETTINGS:
            site.remove(name)
