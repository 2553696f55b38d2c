"""One table in every storage a table can have: files of three formats, PostgreSQL, Spark, and data frames."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from utmost.data.frames import frame_source
from utmost.data.lookup import Lookup
from utmost.data.sources import Source, open_table
from utmost.data.table import Table

Row = Mapping[str, Any]
table_numbers = count()


@dataclass(frozen=True)
class Column:
    """A column's type in Arrow (DuckDB and Spark read it so), in PostgreSQL, and its kind in a CSV file."""

    arrow: str
    postgres: str
    csv: str


COLUMNS = {
    "person": Column("int64", "bigint", "integer"),
    "name": Column("string", "text", "text"),
    "small": Column("int8", "smallint", "integer"),
    "big": Column("int64", "bigint", "integer"),
    "x": Column("double", "double precision", "number"),
    "y": Column("float", "real", "number"),
    "money": Column("decimal(18,4)", "numeric(18, 4)", "number"),
    "wide": Column("decimal(38,10)", "numeric", "number"),
    "region": Column("string", "varchar(40)", "text"),
    "flag": Column("bool", "boolean", "truth"),
    "day": Column("date32", "date", "date"),
}
FRAMES = ("pandas", "polars", "arrow")
CONNECTED = ("relation", "ibis")  # frames of a DuckDB session that is open already
STORAGES = ("csv", "parquet", "duckdb", "postgres", "spark", "spark-csv", *FRAMES)
STORAGE_CASES = [pytest.param(name, marks=pytest.mark.slow if name in FRAMES else ()) for name in STORAGES]
CONNECTED_CASES = [pytest.param(name, marks=pytest.mark.slow) for name in CONNECTED]


def arrow_type(name: str) -> Any:
    import pyarrow as pa

    if name.startswith("decimal"):
        digits, scale = name[8:-1].split(",")
        return pa.decimal128(int(digits), int(scale))
    return {"double": pa.float64(), "float": pa.float32(), "bool": pa.bool_()}.get(name) or pa.type_for_alias(name)


def write_parquet(rows: Sequence[Row], path: Path, columns: Mapping[str, Column] = COLUMNS) -> None:
    import pyarrow.parquet as pq

    pq.write_table(make_arrow(rows, columns), path)


def write_csv(rows: Sequence[Row], path: Path, columns: Mapping[str, Column] = COLUMNS) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([["" if row[name] is None else _csv_text(row[name]) for name in columns] for row in rows])


def _csv_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else str(value).replace("\n", " ")


def write_duckdb(rows: Sequence[Row], path: Path, columns: Mapping[str, Column] = COLUMNS) -> None:
    import duckdb

    parquet = path.with_suffix(".from")
    write_parquet(rows, parquet, columns)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT * FROM read_parquet('{parquet}')")


def write_postgres(rows: Sequence[Row], url: str, name: str, columns: Mapping[str, Column] = COLUMNS) -> None:
    import psycopg

    quoted_name = '"' + name.replace('"', '""') + '"'
    column_definitions = ", ".join(f'"{column}" {kind.postgres}' for column, kind in columns.items())
    placeholders = ", ".join(f"%s::{kind.postgres}" for kind in columns.values())
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {quoted_name} ({column_definitions})".encode())
        cursor.executemany(
            f"INSERT INTO {quoted_name} VALUES ({placeholders})".encode(),
            [tuple(row[name] for name in columns) for row in rows],
        )


def make_arrow(rows: Sequence[Row], columns: Mapping[str, Column] = COLUMNS) -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array([row[name] for row in rows], arrow_type(c.arrow)) for name, c in columns.items()})


def make_frame(
    library: str, rows: Sequence[Row], columns: Mapping[str, Column] = COLUMNS
) -> tuple[Any, dict[str, str]]:
    """A data frame of a library, with nullable types, and the kinds of its columns of Python objects."""
    table = make_arrow(rows, columns)
    if library == "arrow":
        return table, {}
    if library in CONNECTED:
        return _duckdb_frame(library, table), {}
    if library == "polars":
        import polars as pl

        return pl.from_arrow(table), {}
    import pandas as pd

    nullable = {"int8": "Int8", "int64": "Int64", "double": "Float64", "float": "Float32", "bool": "boolean"}
    objects = {name: column.csv for name, column in columns.items() if column.arrow == "date32"}
    series = {
        name: pd.Series(
            [row[name] for row in rows],
            dtype=nullable.get(column.arrow) or pd.ArrowDtype(arrow_type(column.arrow))
            if name not in objects
            else object,
        )
        for name, column in columns.items()
    }
    return pd.DataFrame(series), objects


def _duckdb_frame(library: str, table: Any) -> Any:
    """A table of a DuckDB session that is open already, as a relation or as an ibis table."""
    import duckdb
    import ibis

    session = duckdb.connect()
    session.from_arrow(table).create("people")
    return session.table("people") if library == "relation" else ibis.duckdb.from_connection(session).table("people")


@contextmanager
def open_stored_table(
    storage: str,
    rows: Sequence[Row],
    folder: Path,
    url: str | None = None,
    columns: Mapping[str, Column] = COLUMNS,
    derive: Mapping[str, str] | None = None,
    lookups: Sequence[Lookup] = (),
) -> Iterator[Table]:
    """The table, opened in a storage, with its new columns."""
    number = next(table_numbers)
    new_columns: dict[str, Any] = {"derive": derive or {}, "lookups": tuple(lookups)}
    if storage == "postgres":
        assert url is not None
        write_postgres(rows, url, f"people {number}", columns)
        source = Source(url, table=f"people {number}", **new_columns)
    elif storage in FRAMES + CONNECTED:
        frame, objects = make_frame(storage, rows, columns)
        source = replace(frame_source(frame, columns=objects), **new_columns)
    else:
        file_format = {"spark": "parquet", "spark-csv": "csv"}.get(storage, storage)
        writers: Mapping[str, Callable[..., None]] = {
            "csv": write_csv,
            "parquet": write_parquet,
            "duckdb": write_duckdb,
        }
        writers[file_format](rows, folder / f"people-{number}.{file_format}", columns)
        source = Source(
            f"people-{number}.{file_format}",
            table="people" if file_format == "duckdb" else None,
            engine="spark" if storage.startswith("spark") else None,
            columns={name: column.csv for name, column in columns.items()} if file_format == "csv" else {},
            **new_columns,
        )
    with open_table(source, folder) as table:
        yield table


def stored_rows(storage: str, rows: Sequence[Row], columns: Mapping[str, Column] = COLUMNS) -> list[dict[str, Any]]:
    """The rows as the storage holds them: a CSV file has doubles for decimals, no empty text and no line break."""
    if "csv" not in storage:
        return [dict(row) for row in rows]
    return [{name: _csv_value(row[name]) for name in columns} for row in rows]


def _csv_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return (value.replace("\n", " ") or None) if isinstance(value, str) else value
