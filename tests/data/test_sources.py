"""Opening tables: what is read, what is refused, and what is never said."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from data.storages import COLUMNS, write_duckdb, write_parquet
from spark import quiet
from utmost.data.engines import spark as spark_engine
from utmost.data.engines.schema import ColumnKind
from utmost.data.grid import Grid, GridColumn
from utmost.data.selection import PrivacyUnit, Selection
from utmost.data.sources import Source, open_table
from utmost.data.table import Table
from utmost.errors import DataError, InputError, UtmostError

pytestmark = quiet

ROW = dict.fromkeys(COLUMNS)
GRID = Grid(Fraction(0), Fraction(10), Fraction(1))


@pytest.fixture(params=[None, "spark"], ids=["duckdb", "spark"])
def engine(request: pytest.FixtureRequest) -> str | None:
    if request.param == "spark":
        request.getfixturevalue("spark")
    name: str | None = request.param
    return name


@contextmanager
def open_csv(content: str | bytes, folder: Path, engine: str | None = None, **columns: str) -> Iterator[Table]:
    (folder / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with open_table(Source("t.csv", engine=engine, columns=columns), folder) as table:
        yield table


def refusal(source: Source, folder: Path, message: str, kind: type[UtmostError] = InputError) -> UtmostError:
    """The error with which opening the source is refused."""
    with pytest.raises(kind, match=message) as error_info, open_table(source, folder):
        pytest.fail("it was opened")
    return error_info.value


def sorted_rows(table: Table) -> list[tuple[Any, ...]]:
    """The rows of the table, in some order: tests may look at them."""
    return sorted(table._connection.rows(table._rows), key=repr)


# CSV


def test_the_bundled_table_is_a_source() -> None:
    with open_table(Source("bundled:anes96"), Path()) as table:
        assert table.units(PrivacyUnit()) == 944
        assert set(table.kinds.values()) == {ColumnKind.INTEGER}
        assert table.count(Selection("vote = 0")) == 551


CONTENT = """\
whole,pointed,number,truth,day,time,text,nothing,mixed,nan
1,1.0,1.5,true,2020-01-31,2020-01-31 12:00,a,,1,1
-2,+2.,-1e3,FALSE,1999-12-31,2020-01-31T12:00:00.5,b,,x,nan
+3,3,.5,True,0001-01-01,2020-01-31 23:59:59,1,,2,NaN
"""


def test_kinds_are_found_by_reading_the_whole_file(engine: str | None, tmp_path: Path) -> None:
    with open_csv(CONTENT, tmp_path, engine) as table:
        assert [str(kind) for kind in table.kinds.values()] == [
            *("integer", "integer", "number", "truth", "date", "time", "text", "integer", "text", "number")
        ]  # fmt: skip
        first = next(row for row in sorted_rows(table) if row[0] == 1)
        assert first[:5] == (1, 1, 1.5, True, date(2020, 1, 31))
        assert table.moments(Selection(), GridColumn("pointed", GRID)).positions == 6


def test_one_odd_value_at_the_end_of_a_long_file_decides(tmp_path: Path) -> None:
    lines = ["a,b", *(f"{n},{n}" for n in range(5000))]
    with open_csv("\n".join([*lines, "x,1.5"]), tmp_path) as table:
        assert list(table.kinds.values()) == [ColumnKind.TEXT, ColumnKind.NUMBER]


MISFITS = {
    "integer": ["x", "1.5", "1e3", "0x10", "99999999999999999999", "1_000", "١", "1 2", "--1", "true"],
    "number": ["x", "1,5", "0x10", "1e", ".", "nan", "1_0", "١"],
    "truth": ["2", "x", "tru"],
    "date": ["2021-02-30", "31.1.2020", "2020-1-1", "20200101", "2020-01-01 00:00"],
    "time": [
        *("2021-02-30 12:00", "2020-01-01 24:00", "2020-01-01 12:00:61", "now", "12:00", "2020-01-01Z", "2021-02-30"),
        *("2020-01-01+02:00", "2020-01-01T12:00+15:00", "2020-01-01T12:00+2", "2020-01-01T12:00+02:60"),
        *("2020-01-01T12:00:00.1234567", "2020-01-01T12:00 UTC", "2020-01-01T12", "2021-02-30T12:00Z"),
    ],
}
FITS = {
    "integer": {"1": 1, " 1 ": 1, "+1": 1, "-0": 0, "007": 7, "12.000": 12, "9223372036854775807": 2**63 - 1},
    "number": {
        "1": 1.0,
        " -1.5e-3 ": -0.0015,
        ".5": 0.5,
        "5.": 5.0,
        "1e999": float("inf"),
        "-Inf": -float("inf"),
        "1e-999": 0.0,
    },
    "truth": {"T": True, "yes": True, "1": True, "n": False, "False": False, "0": False},
    "date": {"2020-02-29": date(2020, 2, 29), " 1999-01-01 ": date(1999, 1, 1)},
    "time": {
        "2020-02-29": datetime(2020, 2, 29),
        "2020-01-01 12:00": datetime(2020, 1, 1, 12),
        " 2020-01-01T12:00:30.5 ": datetime(2020, 1, 1, 12, 0, 30, 500000),
        "2013-01-01T10:00:00Z": datetime(2013, 1, 1, 10),
        "2013-01-01T10:00Z": datetime(2013, 1, 1, 10),
        "2013-01-01T10:00:00+02:00": datetime(2013, 1, 1, 8),
        "2013-01-01 10:00:00.123456-0230": datetime(2013, 1, 1, 12, 30, 0, 123456),
        "2013-01-01 00:15+01": datetime(2012, 12, 31, 23, 15),
        "2013-01-01 10:00-14:59": datetime(2013, 1, 2, 0, 59),
        "0001-01-02T00:00:00+14:00": datetime(1, 1, 1, 10),
        "9999-12-30T23:59:59.999999-05": datetime(9999, 12, 31, 4, 59, 59, 999999),
    },
}


@pytest.mark.parametrize("kind", MISFITS)
def test_what_does_not_fit_a_declared_kind_is_null_and_stops_nothing(
    engine: str | None, kind: str, tmp_path: Path
) -> None:
    fits = FITS[kind]
    lines = ["id,v", *(f'{n},"{text}"' for n, text in enumerate([*MISFITS[kind], *fits]))]
    with open_csv("\n".join(lines), tmp_path, engine, v=kind, id="integer") as table:
        assert table.kinds["v"] == kind
        rows = table._rows if kind != "time" else table._rows.mutate(v=table._rows["v"].cast("string"))
        values = [value for _, value in sorted(table._connection.rows(rows), key=lambda row: row[0])]
    if kind == "time":  # as texts, since Spark cannot hand the year 1 to Python
        values = [value if value is None else datetime.fromisoformat(value) for value in values]
    assert values[: len(MISFITS[kind])] == [None] * len(MISFITS[kind])
    assert values[len(MISFITS[kind]) :] == list(fits.values())


CSV_SHAPES: dict[str, tuple[bytes, list[tuple[Any, ...]]]] = {
    "byte order mark": (b"\xef\xbb\xbfa,b\n1,x\n", [(1, "x")]),
    "carriage returns": (b"a,b\r\n1,x\r\n2,y\r\n", [(1, "x"), (2, "y")]),
    "no last newline": (b"a,b\n1,x", [(1, "x")]),
    "quotes": (b'a,b\n1,"x,""y"""\n', [(1, 'x,"y"')]),
    "too few values": (b"a,b\n1\n2,y\n", [(1, None), (2, "y")]),
    "too many values": (b"a,b\n1,x,z\n2,y\n", [(1, "x"), (2, "y")]),
    "both line ends": (b"a,b\n1,x\r\n2,y\n3,z\r\n", [(1, "x"), (2, "y"), (3, "z")]),
    "empty values": (b'a,b\n,""\n1,\n,\n', [(1, None), (None, None), (None, None)]),
    "backslashes and signs": (b'a,b\n1,"\\"\n2,#\\N\n', [(1, "\\"), (2, "#\\N")]),
    "other white space": ("a,b\n1,x\u2028\u0085\v\f\u00a0\n".encode(), [(1, "x\u2028\u0085\v\f\u00a0")]),
    "a line of commas": (b"a,b\n" + b"," * 30000 + b"\n1,x\n", [(None, None), (1, "x")]),
    "header only": (b"a,b\n", []),
    "header only, no newline": (b"a,b", []),
    "quoted header": (b'"a","b"\n1,x\n', [(1, "x")]),
    "blanks are kept in texts": (b"a,b\n1, x \n", [(1, " x ")]),
}  # fmt: skip


@pytest.mark.parametrize("shape", CSV_SHAPES)
def test_csv_files_of_every_shape_are_read_alike(engine: str | None, shape: str, tmp_path: Path) -> None:
    content, rows = CSV_SHAPES[shape]
    with open_csv(content, tmp_path, engine, a="integer", b="text") as table:
        assert sorted_rows(table) == sorted(rows, key=repr)
        assert table.units(PrivacyUnit()) == len(rows)
        assert table.count(Selection("a is null or a is not null")) == len(rows)


def test_in_a_file_of_one_column_a_missing_value_is_two_quotes(engine: str | None, tmp_path: Path) -> None:
    with open_csv(b'a\n1\n""\n2\n', tmp_path, engine) as table:
        assert sorted_rows(table) == [(1,), (2,), (None,)]


@pytest.mark.parametrize("content", [b"", b"\n", b"\xef\xbb\xbf", b"\xff\xfe\x00", b"a,,b\n", b"a,A\n", b"a,b,a\n"])
def test_a_file_without_a_header_is_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="location must"), open_csv(content, tmp_path):
        pytest.fail("it was opened")


def test_declared_columns_must_be_known(tmp_path: Path) -> None:
    for columns, message in (
        ({"agee": "integer"}, r"columns must name columns of the file, got 'agee': did you mean age\?"),
        ({"age": "int"}, "columns must be integer, number, text, truth, date or time, got 'int' for age"),
        ({"age": "other"}, "columns must be integer"),
    ):
        with pytest.raises(InputError, match=message), open_csv("age\n1\n", tmp_path, None, **columns):
            pytest.fail("it was opened")


# Locations


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Source("nothing.csv"), "location must be a file that exists, got 'nothing.csv'"),
        (Source("folder.csv"), "location must be a file that exists"),
        (Source("t.txt"), "location must be a .csv, .parquet"),
        (Source(""), "location must be given where there is no data frame"),
        (Source("https://x.y/t.csv"), "location must be a .csv"),
        (Source("bundled:other"), "location must be a .csv"),
        (Source("t.csv", table="t"), "table must be left out for 't.csv'"),
        (Source("t.csv", engine="postgres"), "engine must be duckdb or spark for 't.csv', got 'postgres'"),
        (Source("t.duckdb", engine="spark"), "engine must be duckdb for"),
        (Source("t.parquet", missing={"a": ("NA",)}), "missing must be left out for 't.parquet'"),
        (Source("postgresql://u:hidden@h/d", engine="duckdb"), "engine must be postgres for 'postgresql://h/d'"),
        (Source("broken.duckdb", table="t"), "location must be a DuckDB file"),
        (Source("broken.parquet"), "location must be a Parquet file"),
    ],
)
def test_an_invalid_location_is_refused_in_one_line(source: Source, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    (tmp_path / "folder.csv").mkdir()
    for name in ("t.parquet", "t.duckdb", "broken.duckdb", "broken.parquet"):
        (tmp_path / name).write_text("a poisoned text, which is no such file " * 100)
    with pytest.raises(UtmostError, match=message) as error_info, open_table(source, tmp_path):
        pytest.fail("it was opened")
    assert_withholds(error_info.value, "poisoned", "hidden")


def assert_withholds(error: BaseException, *secrets: str) -> None:
    """The error holds none of the secrets, and no other error that might."""
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "\n" not in str(error)
    for secret in secrets:
        assert secret not in str(error)
        assert secret not in repr(error)


def test_paths_are_relative_to_the_folder_and_names_can_hold_anything(engine: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "a=1" / "x [y]*{z}"
    folder.mkdir(parents=True)
    names = ["t [1]*?.csv", "o'hara {a,b}.CSV", 'q"uote.csv', "é %20.csv", "t 1.csv"]
    for number, name in enumerate(names):
        (folder / name).write_text(f"a\n{number}\n")
    for number, name in enumerate(names):
        with open_table(Source(name, engine=engine), folder) as table:
            assert sorted_rows(table) == [(number,)]
    write_parquet([ROW | {"big": 5}], folder / "p[1].parquet")
    with open_table(Source("p[1].parquet", engine=engine), folder) as table:
        assert table.cell_counts(Selection(), {"big": (5,)}) == [1]
        assert list(table.kinds) == list(COLUMNS)  # a=1 in the path is no column


def test_a_directory_of_parquet_files_is_one_table(engine: str | None, tmp_path: Path) -> None:
    (tmp_path / "d.parquet").mkdir()
    for number in range(3):
        write_parquet([ROW | {"big": number}], tmp_path / "d.parquet" / f"part-{number}.parquet")
    with open_table(Source("d.parquet", engine=engine), tmp_path) as table:
        assert table.cell_counts(Selection(), {"big": (0, 1, 2, 3)}) == [1, 1, 1, 0]


# DuckDB


def test_a_duckdb_file_is_read_only_and_lists_its_tables(tmp_path: Path) -> None:
    import duckdb

    write_duckdb([ROW], tmp_path / "t.duckdb")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(
            "CREATE SCHEMA old; CREATE TABLE old.people AS SELECT 7 AS a; CREATE VIEW seen AS SELECT 1 AS b"
        )
    before = (tmp_path / "t.duckdb").read_bytes()
    for name, column in (("people", "person"), ("main.people", "person"), ("old.people", "a"), ("seen", "b")):
        with open_table(Source("t.duckdb", table=name), tmp_path) as table:
            assert column in table.kinds
            assert table.units(PrivacyUnit()) == 1
            with pytest.raises(DataError):
                table._connection.rows(StatementOnly("CREATE TABLE other (a INTEGER)"))
    message_start = "table must be one of old.people, people, seen, got "
    refusal(Source("t.duckdb", table="peple"), tmp_path, rf"{message_start}'peple': did you mean people\?")
    refusal(Source("t.duckdb"), tmp_path, f"{message_start}none: name one of those")
    assert (tmp_path / "t.duckdb").read_bytes() == before


class StatementOnly:
    """Stands for an ibis table whose SQL is given."""

    def __init__(self, statement: str) -> None:
        self.statement = statement


def run(table: Table, statement: str) -> Any:
    return table._connection.fetch(statement)


def test_a_duckdb_file_can_be_opened_twice_at_a_time_but_not_while_it_is_written(tmp_path: Path) -> None:
    name = "o'hara [1].duckdb"
    write_duckdb([ROW], tmp_path / "t.duckdb")
    (tmp_path / "t.duckdb").rename(tmp_path / name)
    source = Source(name, table="people")
    with open_table(source, tmp_path) as first, open_table(source, tmp_path) as second:
        assert first.units(PrivacyUnit()) == second.units(PrivacyUnit()) == 1
    script = f"""
        import duckdb, sys
        connection = duckdb.connect({str(tmp_path / name)!r})
        print("open", flush=True)
        sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        error = refusal(source, tmp_path, "location must be a DuckDB file that nobody else writes to", DataError)
        assert_withholds(error)
        writer.communicate("")


def test_the_connection_reads_its_own_file_and_nothing_else(tmp_path: Path) -> None:
    import duckdb

    other_file = tmp_path / "other.csv"
    other_file.write_text("a\n1\n")
    (tmp_path / "t.csv").write_text("a\n1\n")
    write_parquet([ROW], tmp_path / "t.parquet")
    write_duckdb([ROW], tmp_path / "t.duckdb")
    for source in (Source("t.csv"), Source("t.parquet"), Source("t.duckdb", table="people")):
        with open_table(source, tmp_path) as table:
            for statement in (
                f"SELECT * FROM read_csv('{other_file}')",
                f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
                f"ATTACH '{tmp_path / 'new.duckdb'}'",
                "INSTALL httpfs",
                "SET enable_external_access = true",
                "SET autoinstall_known_extensions = true",
                "SELECT * FROM 'https://127.0.0.1:9/x.parquet'",
            ):
                with pytest.raises(duckdb.Error):
                    run(table, statement)
    assert not (tmp_path / "out.csv").exists()
    assert not (tmp_path / "new.duckdb").exists()


def test_a_view_on_another_file_is_refused(tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "other.csv").write_text("poisoned\n1\n")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(f"CREATE VIEW v AS SELECT * FROM read_csv('{tmp_path / 'other.csv'}')")
    error = refusal(Source("t.duckdb", table="v"), tmp_path, "table must be one that DuckDB can open alone", DataError)
    assert_withholds(error, "poisoned")


def test_what_spills_goes_to_a_private_directory_that_is_removed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    with open_table(Source("t.csv"), tmp_path) as table:
        ((spill,),) = run(table, "SELECT current_setting('temp_directory')")
        assert Path(spill).is_dir()
        assert Path(spill).stat().st_mode & 0o077 == 0
    assert not Path(spill).exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_a_file_changed_while_open_does_not_change_a_csv_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    with open_table(Source("t.csv"), tmp_path) as table:
        (tmp_path / "t.csv").write_text("a\n1\n2\n3\n")
        assert table.units(PrivacyUnit()) == 1


# PostgreSQL


def test_postgres_reads_one_state_and_cannot_write(postgres_url: str, tmp_path: Path) -> None:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as writer:
        writer.execute("CREATE TABLE people (a int)")
        writer.execute("INSERT INTO people VALUES (1)")
        writer.execute('CREATE SCHEMA "Old"')
        writer.execute('CREATE TABLE "Old".people AS SELECT 7 AS b')
        writer.execute("CREATE MATERIALIZED VIEW seen AS SELECT 1 AS c")
        with open_table(Source(postgres_url, table="people"), tmp_path) as table:
            assert table.units(PrivacyUnit()) == 1
            writer.execute("INSERT INTO people VALUES (2)")
            assert table.units(PrivacyUnit()) == 1
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                run(table, "INSERT INTO public.people VALUES (3)")
        for name, column in (("public.people", "a"), ("Old.people", "b"), ("seen", "c")):
            with open_table(Source(postgres_url, table=name), tmp_path) as table:
                assert list(table.kinds) == [column]
                assert table.engine == "postgres"
        message_start = "table must be one of Old.people, people, seen, got 'peeple': did you mean"
        refusal(Source(postgres_url, table="peeple"), tmp_path, message_start)
        assert writer.execute("SELECT count(*) FROM people").fetchone() == (2,)


def test_a_password_is_never_said(postgres_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    host = postgres_url.partition("@")[2]
    for location in (
        f"postgresql://postgres:hidden@{host}",
        "postgresql://postgres:hidden@127.0.0.1:1/none",
        "postgresql://postgres:hidden@127.0.0.1:notaport/none",
        "postgresql://postgres:hidden@[broken/none?password=hidden",
        f"postgresql://{host}?user=postgres&password=hidden",
    ):
        source = Source(location, table="people")
        assert "hidden" not in repr(source) + str(source) + source.name
        error = refusal(source, tmp_path, "location must be a PostgreSQL database that answers", DataError)
        assert_withholds(error, "hidden")
    assert "hidden" not in caplog.text


def test_a_poisoned_row_of_postgres_is_not_quoted(
    postgres_url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    import psycopg

    caplog.set_level(logging.DEBUG)
    with psycopg.connect(postgres_url) as writer:
        writer.execute("CREATE TABLE t AS SELECT 'poisoned row'::text AS secret")
        writer.execute("CREATE VIEW v AS SELECT secret::integer AS number FROM t")
    with open_table(Source(postgres_url, table="v"), tmp_path) as table, pytest.raises(DataError) as error_info:
        table.cell_counts(Selection(unit=PrivacyUnit("number", rows=1)), {"number": (1,)})
    assert_withholds(error_info.value, "poisoned")
    output = capfd.readouterr()
    assert "poisoned" not in output.out + output.err + caplog.text


# Spark


def test_a_table_of_sparks_catalogue_is_a_source(spark: Any, tmp_path: Path) -> None:
    session = spark._session
    session.range(5).createOrReplaceTempView("some_numbers")
    session.sql("CREATE DATABASE IF NOT EXISTS old")
    session.sql("CREATE OR REPLACE VIEW old.people AS SELECT 7 AS b")
    zone = session.conf.get("spark.sql.session.timeZone")
    try:
        with open_table(Source(engine="spark", table="some_numbers"), tmp_path) as table:
            assert table.units(PrivacyUnit()) == 5
            assert table.cell_counts(Selection(unit=PrivacyUnit("id", rows=1)), {"id": (1, 9)}) == [1, 0]
        with open_table(Source(engine="spark", table="old.people"), tmp_path) as table:
            assert table.cell_counts(Selection(), {"b": (7,)}) == [1]
        refusal(Source(engine="spark", table="some_number"), tmp_path, "did you mean some_numbers")
        assert session.conf.get("spark.sql.session.timeZone") == zone
        assert not [table for table in session.catalog.listTables() if table.name.startswith("utmost_")]
    finally:
        session.sql("DROP DATABASE old CASCADE")
        session.catalog.dropTempView("some_numbers")


SCRIPT = """
    import logging, sys, traceback
    from pathlib import Path
    logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    from pyspark.sql import SparkSession
    from utmost.data.selection import PrivacyUnit, Selection
    from utmost.data.sources import Source, open_table
    from utmost.errors import DataError

    Path("t.csv").write_text("a,b\\n1,poisoned row\\n")
    with open_table(Source("t.csv", engine="spark", columns={"b": "integer"}), Path(".")) as table:
        assert table.count(Selection("b is null")) == 1
    assert SparkSession.getActiveSession() is None, "the session that was started is stopped"
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.createDataFrame([("poisoned row",)], "secret string").createOrReplaceTempView("t")
    session.sql("CREATE OR REPLACE TEMP VIEW v AS SELECT CAST(secret AS INT) AS number FROM t")
    with open_table(Source(engine="spark", table="v"), Path(".")) as table:
        try:
            table.cell_counts(Selection(unit=PrivacyUnit("number", rows=1)), {"number": (1,)})
        except DataError as error:
            assert error.__cause__ is None and error.__context__ is None
            traceback.print_exc()
            print("refused")
    try:
        session.sql("SELECT CAST('clean' AS INT)").collect()
    except Exception as error:
        print("still running", type(error).__module__.split(".")[0])
    session.stop()
"""


def test_a_poisoned_row_of_spark_is_not_quoted_nor_logged(spark: Any, tmp_path: Path) -> None:
    """In a process of its own, where all that Java writes to the terminal is seen."""
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=tmp_path,
        env=environment,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    assert process.stdout.split("\n")[:2] == ["refused", "still running pyspark"]
    assert "poisoned" not in process.stdout + process.stderr


class RecordedBuilder:
    """A builder of Spark sessions that only records what it is told."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}

    def master(self, address: str) -> RecordedBuilder:
        self.settings["master"] = address
        return self

    def config(self, name: str, value: str) -> RecordedBuilder:
        self.settings[name] = value
        return self

    def getOrCreate(self) -> dict[str, str]:
        return self.settings


@pytest.mark.parametrize(
    ("variables", "master", "is_local"),
    [
        ({}, None, True),
        ({"SPARK_MASTER": "local[2]"}, "local[2]", True),
        ({"SPARK_MASTER": "spark://h:7077"}, "spark://h:7077", False),
        ({"PYSPARK_GATEWAY_PORT": "1"}, None, False),
    ],
)
def test_a_new_spark_application_runs_on_the_cluster_that_is_named(
    variables: dict[str, str], master: str | None, is_local: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Executors of another machine could not reach a driver on 127.0.0.1."""
    for name in ("SPARK_MASTER", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_LOCAL_IP", "set and removed again at the end")
    monkeypatch.delenv("SPARK_LOCAL_IP")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = spark_engine._start_session(RecordedBuilder())
    assert settings.get("master") == master
    assert os.environ.get("SPARK_LOCAL_IP") == ("127.0.0.1" if is_local else None)
    assert settings["spark.executor.syncLogLevel.enabled"] == "true"


def test_spark_connect_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'utmost[spark]'")
    (tmp_path / "t.csv").write_text("a\n1\n")
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1")
    with (
        pytest.raises(InputError, match="got Spark Connect: unset SPARK_REMOTE"),
        open_table(Source("t.csv", engine="spark"), tmp_path),
    ):
        pytest.fail("it was opened")


def test_missing_clients_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    for module, source, message in (
        ("psycopg", Source("postgresql://h/d", table="t"), r"pip install 'utmost\[postgres\]'"),
        ("pyspark", Source("t.csv", engine="spark"), r"pip install 'utmost\[spark\]'"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        if module == "pyspark":
            for name in [name for name in sys.modules if name.startswith("pyspark.")]:
                monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(InputError, match=message), open_table(source, tmp_path):
            pytest.fail("it was opened")


def test_spark_without_pandas_names_the_extra_that_has_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'utmost[spark]'")
    (tmp_path / "t.csv").write_text("a\n1\n")
    for name in [name for name in sys.modules if name.startswith("ibis.backends.pyspark")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with (
        pytest.raises(InputError, match=r"engine needs Spark: pip install 'utmost\[spark\]'"),
        open_table(Source("t.csv", engine="spark"), tmp_path),
    ):
        pytest.fail("it was opened")


def test_the_poison_tests_would_see_poison() -> None:
    """An error raised inside the handler still carries the engine's, even `from None`."""
    try:
        try:
            raise RuntimeError("poisoned row")
        except RuntimeError:
            raise DataError("clean words") from None
    except DataError as error_info:
        with pytest.raises(AssertionError):
            assert_withholds(error_info)


def test_kinds_that_a_parquet_file_has_may_be_declared_and_others_not(tmp_path: Path) -> None:
    duckdb.sql("SELECT 1 AS a, DATE '2020-01-31' AS b").write_parquet(str(tmp_path / "t.parquet"))
    with open_table(Source("t.parquet", columns={"b": "date", "a": "integer"}), tmp_path) as table:
        assert table.count(Selection("b = date '2020-01-31'")) == 1
    for columns, message in (({"b": "time"}, "b is of kind date"), ({"c": "text"}, "there is no column")):
        with pytest.raises(InputError, match=message), open_table(Source("t.parquet", columns=columns), tmp_path):
            pass
