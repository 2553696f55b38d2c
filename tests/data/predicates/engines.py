"""A table of rows in each engine, made from texts, and the answers to many predicates in one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from data.predicates.drawn import FLOATS, Sort, written
from data.predicates.reference import holds, plain
from utmost.data.column_kinds import column_kind
from utmost.data.predicates import compile_predicate, parse_predicate
from utmost.data.predicates.syntax_tree import Node
from utmost.errors import InputError

Rows = Sequence[Mapping[str, Any]]


def quoted(name: str, quote: str = '"') -> str:
    return quote + name.replace(quote, quote * 2) + quote


def duckdb_table(backend: Any, rows: Rows, sorts: Mapping[str, Sort]) -> Any:
    columns = ", ".join(f"{quoted(name)} {sort.duckdb}" for name, sort in sorts.items())
    backend.con.execute(f"CREATE OR REPLACE TABLE t ({columns}, place INTEGER)")
    casts = ", ".join(f"CAST(? AS {sort.duckdb})" for sort in sorts.values())
    backend.con.executemany(f"INSERT INTO t VALUES ({casts}, ?)", texts(rows, sorts))
    return backend.table("t")


def postgres_table(backend: Any, rows: Rows, sorts: Mapping[str, Sort]) -> Any:
    columns = ", ".join(f"{quoted(name)} {sort.postgres}" for name, sort in sorts.items())
    casts = ", ".join(f"CAST(%s AS {sort.postgres})" for sort in sorts.values())
    with backend.con.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS t; CREATE TABLE t ({columns}, place INTEGER)")
        cursor.executemany(f"INSERT INTO t VALUES ({casts}, %s)", texts(rows, sorts))
    backend.con.commit()
    return backend.table("t")


def spark_table(backend: Any, rows: Rows, sorts: Mapping[str, Sort]) -> Any:
    session = backend._session
    raw = session.createDataFrame(
        texts(rows, sorts), ", ".join([*(f"c{i} string" for i in range(len(sorts))), "place int"])
    )
    casts = [f"CAST(c{i} AS {sort.spark}) AS {quoted(name, '`')}" for i, (name, sort) in enumerate(sorts.items())]
    raw.selectExpr(*casts, "place").createOrReplaceTempView("t")
    return backend.table("t")


def texts(rows: Rows, sorts: Mapping[str, Sort]) -> list[tuple[Any, ...]]:
    zone = {name: "+00:00" if "TZ" in sort.duckdb else "" for name, sort in sorts.items()}
    read = {(i, name): plain(row[name]) for i, row in enumerate(rows) for name in sorts}
    return [
        (*(None if read[i, name] is None else f"{read[i, name]}{zone[name]}" for name in sorts), i)
        for i in range(len(rows))
    ]


def kinds(table: Any) -> dict[str, Any]:
    return {name: column_kind(dtype) for name, dtype in table.schema().items()}


def answers(backend: Any, table: Any, predicates: Mapping[str, Any]) -> dict[str, list[bool]]:
    """For each predicate its answer on each row, in the order of the rows, by one query."""
    asked = table.select(place=table["place"], **predicates)
    if backend.name == "pyspark":
        found = [tuple(row) for row in backend.raw_sql(backend.compile(asked)).collect()]
    elif backend.name == "postgres":
        with backend.con.cursor() as cursor:
            found = cursor.execute(backend.compile(asked)).fetchall()
    else:
        found = backend.con.execute(backend.compile(asked)).fetchall()
    found.sort(key=lambda row: row[0])
    return {name: [row[i + 1] for row in found] for i, name in enumerate(predicates)}


def disagreements(backend: Any, table: Any, rows: Rows, trees: Sequence[Node], none_refused: bool = False) -> list[str]:
    """Predicates on which engine and reference differ; those refused for the columns' types are left out."""
    asked, of = {}, {}
    for i, tree in enumerate(trees):
        try:
            asked[f"p{i}"] = compile_predicate(parse_predicate(written(tree)), table, kinds(table))
            of[f"p{i}"] = tree
        except InputError as refusal:
            if none_refused or not any(words in str(refusal) for words in ("digits", "float", "at most 10000")):
                raise
    if not asked:
        return []
    expected = {name: [holds(tree, row, FLOATS) for row in rows] for name, tree in of.items()}
    found = answers(backend, table, asked)
    return [
        f"{written(of[name])}: {found[name]}, expected {expected[name]}"
        for name in asked
        if found[name] != expected[name]
    ]
