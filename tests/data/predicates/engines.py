"""A table of rows in each engine, made from texts, and the answers to many predicates in one query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from data.predicates.reference import Number, engine_text, evaluate, holds, nearest_float
from data.predicates.strategies import FLOAT_KINDS, Sort, write_predicate
from utmost.data.engines.duckdb import DUCKDB
from utmost.data.engines.postgres import POSTGRES
from utmost.data.engines.schema import column_kind
from utmost.data.engines.spark import SPARK
from utmost.data.predicates import compile_predicate, parse_predicate
from utmost.data.predicates.compiler import compile_expression
from utmost.data.predicates.syntax import Node
from utmost.errors import InputError

Rows = Sequence[Mapping[str, Any]]
REFUSALS = ("digits", "float", "at most 10000", "does not fit 64 bits", "too large once", "nested deeper")
ENGINE_BY_BACKEND = {"duckdb": DUCKDB, "postgres": POSTGRES, "pyspark": SPARK}


def quote_name(name: str, quote: str = '"') -> str:
    return quote + name.replace(quote, quote * 2) + quote


def duckdb_table(backend: Any, rows: Rows, sorts: Mapping[str, Sort]) -> Any:
    columns = ", ".join(f"{quote_name(name)} {sort.duckdb}" for name, sort in sorts.items())
    backend.con.execute(f"CREATE OR REPLACE TABLE t ({columns}, place INTEGER)")
    casts = ", ".join(f"CAST(? AS {sort.duckdb})" for sort in sorts.values())
    backend.con.executemany(f"INSERT INTO t VALUES ({casts}, ?)", row_texts(rows, sorts))
    return backend.table("t")


def postgres_table(backend: Any, rows: Rows, sorts: Mapping[str, Sort]) -> Any:
    columns = ", ".join(f"{quote_name(name)} {sort.postgres}" for name, sort in sorts.items())
    casts = ", ".join(f"CAST(%s AS {sort.postgres})" for sort in sorts.values())
    with backend.con.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS t; CREATE TABLE t ({columns}, place INTEGER)")
        cursor.executemany(f"INSERT INTO t VALUES ({casts}, %s)", row_texts(rows, sorts))
    backend.con.commit()
    return backend.table("t")


def spark_table(backend: Any, rows: Rows, sorts: Mapping[str, Sort]) -> Any:
    session = backend._session
    raw = session.createDataFrame(
        row_texts(rows, sorts), ", ".join([*(f"c{i} string" for i in range(len(sorts))), "place int"])
    )
    casts = [f"CAST(c{i} AS {sort.spark}) AS {quote_name(name, '`')}" for i, (name, sort) in enumerate(sorts.items())]
    raw.selectExpr(*casts, "place").createOrReplaceTempView("t")
    return backend.table("t")


def row_texts(rows: Rows, sorts: Mapping[str, Sort]) -> list[tuple[Any, ...]]:
    zones = {name: "+00:00" if "TZ" in sort.duckdb else "" for name, sort in sorts.items()}
    cell_texts = {(index, name): engine_text(row[name]) for index, row in enumerate(rows) for name in sorts}
    return [
        (
            *(None if cell_texts[index, name] is None else f"{cell_texts[index, name]}{zones[name]}" for name in sorts),
            index,
        )
        for index in range(len(rows))
    ]


def column_kinds(table: Any) -> dict[str, Any]:
    return {name: column_kind(dtype) for name, dtype in table.schema().items()}


def compile_text(text: str, table: Any) -> Any:
    """A predicate over a table, as the table's engine computes it."""
    engine = ENGINE_BY_BACKEND[table.get_backend().name]
    return compile_predicate(parse_predicate(text), table, column_kinds(table), engine)


def compile_value(text: str, table: Any) -> Any:
    """A derived column of a table, as the table's engine computes it."""
    engine = ENGINE_BY_BACKEND[table.get_backend().name]
    return compile_expression(parse_predicate(text), table, column_kinds(table), engine)


def answers(backend: Any, table: Any, expressions: Mapping[str, Any]) -> dict[str, list[Any]]:
    """For each expression its value on each row, in the order of the rows, by one query."""
    query = table.select(place=table["place"], **expressions)
    if backend.name == "pyspark":
        result_rows = [tuple(row) for row in backend.raw_sql(backend.compile(query)).collect()]
    elif backend.name == "postgres":
        with backend.con.cursor() as cursor:
            result_rows = cursor.execute(backend.compile(query)).fetchall()
    else:
        result_rows = backend.con.execute(backend.compile(query)).fetchall()
    result_rows.sort(key=lambda row: row[0])
    return {name: [row[i + 1] for row in result_rows] for i, name in enumerate(expressions)}


def compile_trees(
    trees: Sequence[Node], table: Any, compile_one: Callable[[str, Any], Any], none_refused: bool = False
) -> tuple[dict[str, Any], dict[str, Node]]:
    """Compiled expressions and their trees, by name; those refused for the columns' types are left out."""
    expressions, trees_by_name = {}, {}
    for i, tree in enumerate(trees):
        try:
            expressions[f"p{i}"] = compile_one(write_predicate(tree), table)
            trees_by_name[f"p{i}"] = tree
        except InputError as refusal:
            if none_refused or not any(piece in str(refusal) for piece in REFUSALS):
                raise
    return expressions, trees_by_name


def disagreements(backend: Any, table: Any, rows: Rows, trees: Sequence[Node], none_refused: bool = False) -> list[str]:
    """Predicates on which engine and reference differ."""
    expressions, trees_by_name = compile_trees(trees, table, compile_text, none_refused)
    if not expressions:
        return []
    expected = {name: [holds(tree, row, FLOAT_KINDS) for row in rows] for name, tree in trees_by_name.items()}
    engine_answers = answers(backend, table, expressions)
    return [
        f"{write_predicate(trees_by_name[name])}: {engine_answers[name]}, expected {expected[name]}"
        for name in expressions
        if engine_answers[name] != expected[name]
    ]


def value_disagreements(backend: Any, table: Any, rows: Rows, trees: Sequence[Node]) -> list[str]:
    """Derived columns that have another value on some row than the reference says."""
    expressions, trees_by_name = compile_trees(trees, table, compile_value)
    engine_values = answers(backend, table, expressions) if expressions else {}
    differences = []
    for name, values in engine_values.items():
        expected = [_expected_value(trees_by_name[name], row, expressions[name].type()) for row in rows]
        found = [
            Fraction(value) if isinstance(want, Fraction) and value is not None else value
            for value, want in zip(values, expected, strict=True)
        ]
        if found != expected:
            differences.append(f"{write_predicate(trees_by_name[name])}: {found}, expected {expected}")
    return differences


def _expected_value(tree: Node, row: Mapping[str, Any], dtype: Any) -> Any:
    """The value of an expression as a column of the type holds it: an integer beyond 64 bits is NULL."""
    value = evaluate(tree, row, FLOAT_KINDS)
    if not isinstance(value, Number):
        return value
    if dtype.is_floating():
        return nearest_float(value.value, "double") if isinstance(value.value, Fraction) else float(value.value)
    return None if dtype.is_integer() and not -(2**63) <= value.value < 2**63 else Fraction(value.value)
