"""A PostgreSQL session means what utmost means: encoding, table names, search path and types, whoever sets others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from utmost.data.grid import Grid, GridColumn
from utmost.data.selection import Selection
from utmost.data.sources import Source, open_table
from utmost.errors import InputError, LedgerError
from utmost.ledger import open_ledger
from utmost.ledger.stores.postgres import PostgresStore

psycopg = pytest.importorskip("psycopg")

GRID = Grid(Fraction(0), Fraction(100), Fraction(5))
KINDS = {
    "boolean": "truth",
    "smallint": "integer",
    "integer": "integer",
    "bigint": "integer",
    "real": "number",
    "double precision": "number",
    "numeric": "number",
    "name": "text",
    "text": "text",
    "character": "text",
    "character varying": "text",
    "date": "date",
    "timestamp without time zone": "time",
    "timestamp with time zone": "time",
}  # of the types of pg_catalog; all others are "other"
SELECT_TYPES = """
    SELECT format_type(oid, NULL) FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace
      AND typtype IN ('b', 'r', 'm') AND typrelid = 0
      AND typelem NOT IN (SELECT oid FROM pg_type WHERE typtype IN ('c', 'p'))
"""


def execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True, client_encoding="UTF8") as connection:
        for statement in statements:
            connection.execute(statement.encode())


def count(url: str, table: str, where: str | None, folder: Path) -> int:
    with open_table(Source(url, table=table), folder) as opened_table:
        return opened_table.count(Selection(where))


@contextmanager
def encoded_database(url: str, encoding: str) -> Iterator[str]:
    """A second database of the server, in this encoding."""
    address, _, name = url.rpartition("/")
    execute(url, f"CREATE DATABASE {name}_2 ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    try:
        yield f"{address}/{name}_2"
    finally:
        execute(url, f"DROP DATABASE {name}_2 WITH (FORCE)")


def set_latin1(url: str, place: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Ask for LATIN1 in one of the places that PostgreSQL and its client read; the URL to use."""
    if place == "environment":
        monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    if place == "database":
        execute(url, f"ALTER DATABASE {url.rpartition('/')[2]} SET client_encoding = 'LATIN1'")
    options = {"URL": "?client_encoding=LATIN1", "options": "?options=-cclient_encoding%3DLATIN1"}
    return url + options.get(place, "")


@pytest.mark.parametrize("place", ["environment", "database", "URL", "options"])
def test_texts_are_utf8_wherever_another_encoding_is_asked_for(
    postgres_url: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(postgres_url, "CREATE TABLE t (name text)", "INSERT INTO t VALUES ('é'), ('é'), ('Ã©')")
    with open_ledger(postgres_url):
        pass
    url = set_latin1(postgres_url, place, monkeypatch)
    assert (count(url, "t", "name = 'é'", tmp_path), count(url, "t", "name = 'Ã©'", tmp_path)) == (2, 1)
    store = PostgresStore(url)
    with store.reading() as session:
        assert session.rows("SELECT ?, 'é', octet_length('é')", "é") == [("é", "é", 2)]
        assert session.rows("SHOW client_encoding") == [("UTF8",)]
    store.close()


def test_texts_of_a_latin1_database_are_found(postgres_url: str, tmp_path: Path) -> None:
    with encoded_database(postgres_url, "LATIN1") as url:
        execute(url, "CREATE TABLE t (name text)", "INSERT INTO t VALUES ('é'), ('é'), ('Ã©')")
        assert count(url, "t", "name = 'é'", tmp_path) == 2


def test_a_database_without_an_encoding_is_refused(postgres_url: str, tmp_path: Path) -> None:
    with encoded_database(postgres_url, "SQL_ASCII") as url:
        execute(url, "CREATE TABLE t (name text)")
        with pytest.raises(InputError, match="must be a PostgreSQL database whose texts have an encoding, got SQL_ASC"):
            count(url, "t", None, tmp_path)
        message = "must be in a database whose texts have an encoding, got SQL_ASCII"
        with pytest.raises(LedgerError, match=message), ExitStack() as ledger:
            ledger.enter_context(open_ledger(url)).budgets()


def test_a_table_whose_name_holds_a_dot_takes_no_other_place(postgres_url: str, tmp_path: Path) -> None:
    execute(postgres_url, "CREATE SCHEMA hr", "CREATE TABLE hr.people AS SELECT generate_series(1, 9) AS a")
    assert count(postgres_url, "hr.people", None, tmp_path) == 9
    execute(postgres_url, 'CREATE TABLE public."hr.people" (a int)')
    with pytest.raises(InputError, match=r"can be people of schema hr and hr\.people of schema public: rename"):
        count(postgres_url, "hr.people", None, tmp_path)
    assert count(postgres_url, "public.hr.people", None, tmp_path) == 0


def test_a_name_that_fits_two_schemas_of_a_duckdb_file_is_refused(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute('CREATE SCHEMA a; CREATE SCHEMA "a.b"')
        connection.execute('CREATE TABLE a."b.c" (x INT); CREATE TABLE "a.b".c (x INT)')
    with pytest.raises(InputError, match=r"can be b\.c of schema a and c of schema a\.b: rename one of them"):
        count("t.duckdb", "a.b.c", None, tmp_path)


def test_a_view_that_sets_the_session_changes_no_later_query(postgres_url: str, tmp_path: Path) -> None:
    execute(
        postgres_url,
        "CREATE SCHEMA evil",
        "CREATE FUNCTION evil.div(bigint, bigint) RETURNS numeric LANGUAGE sql AS 'SELECT 1000000::numeric'",
        "CREATE FUNCTION evil.div(numeric, numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 1000000::numeric'",
        "CREATE VIEW v AS SELECT x, set_config('search_path', 'evil, pg_catalog', false) AS path, "
        "set_config('standard_conforming_strings', 'off', false) AS strings FROM generate_series(1, 10) AS g(x)",
    )
    with open_table(Source(postgres_url, table="v"), tmp_path) as table:
        before = table.moments(Selection(), GridColumn("x", GRID))
        assert table.count(Selection("path is not null and strings is not null")) == 10
        assert table._connection.fetch(r"SELECT '\x'") == [(r"\x",)]
        assert table._connection.fetch("SHOW search_path") == [("pg_catalog, pg_temp",)]
        assert table.moments(Selection(), GridColumn("x", GRID)) == before


def test_only_the_types_that_are_listed_have_a_kind(postgres_url: str, tmp_path: Path) -> None:
    with psycopg.connect(postgres_url) as connection:
        types = [name for (name,) in connection.execute(SELECT_TYPES).fetchall()]
        columns = ", ".join(f'"{number}" {name}' for number, name in enumerate(types))
        connection.execute(f"CREATE TABLE t ({columns})".encode())
    with open_table(Source(postgres_url, table="t"), tmp_path) as table:
        kinds = {types[int(name)]: str(kind) for name, kind in table.kinds.items()}
    assert {"money", "oid"} < set(kinds)
    assert kinds == {name: KINDS.get(name, "other") for name in types}
