"""Tables of somebody else's connection as frames: DuckDB relations and ibis tables.

Their owner's backend runs their expression once, in its own session, with whatever macros, search path and functions
are set there. So it is trusted like the code that makes any other frame. Only the used columns of its rows are fetched,
and everything that a plan asks is asked of our own session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from utmost.data.engines.duckdb import DUCKDB
from utmost.data.engines.engine import Engine
from utmost.data.engines.expressions import time_literal
from utmost.data.engines.frame_readers import FrameKind, FrameReader, ObjectColumn
from utmost.data.engines.postgres import POSTGRES
from utmost.data.engines.schema import ColumnKind, column_kind
from utmost.data.engines.spark import SPARK
from utmost.errors import InputError

IBIS_BACKENDS: dict[str, Engine] = {"duckdb": DUCKDB, "postgres": POSTGRES, "pyspark": SPARK}
FIRST_TIME, LAST_TIME = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"  # that Python has
LONG_INTEGERS = ("HUGEINT", "UHUGEINT")


def _open_relation(data: Any) -> FrameReader:
    """A relation of DuckDB's; integers of 128 bits are decimals, NULL beyond 38 digits."""
    import pyarrow as pa

    names = tuple(data.columns)
    columns = [
        f"TRY_CAST({_quote(name)} AS DECIMAL(38, 0))" if str(dtype) in LONG_INTEGERS else _quote(name)
        for name, dtype in zip(names, data.types, strict=True)
    ]

    def read(places: Sequence[int]) -> list[Any]:
        projection = ", ".join(f"{columns[place]} AS c{place}" for place in places)
        return list(pa.table(data.project(projection)).columns)

    empty = data.project(", ".join(f"{column} AS c{place}" for place, column in enumerate(columns))).limit(0)
    return FrameReader(names, tuple(pa.table(empty).schema.types), read)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _open_ibis(data: Any) -> FrameReader:
    """An ibis table on a backend whose values are known to be fetched without one that fails."""
    import pyarrow as pa

    engine, schema = _ibis_engine(data), data.schema()
    has_values = {name: _has_values(dtype) for name, dtype in schema.items()}
    types = tuple(dtype.to_pyarrow() if has_values[name] else pa.binary() for name, dtype in schema.items())
    names = tuple(schema)

    def read(places: Sequence[int]) -> list[Any]:
        chosen = [
            (_fetchable_column(data, name, engine) if has_values[name] else data[name].isnull()).name(f"c{place}")
            for place, name in ((place, names[place]) for place in places)
        ]
        columns = _fetch_arrow(data.select(*chosen), engine).columns
        return [
            column.cast(types[place]) if has_values[names[place]] else _null_column(column)
            for place, column in zip(places, columns, strict=True)
        ]

    return FrameReader(names, types, read)


def _fetch_arrow(query: Any, engine: Engine) -> Any:
    """The rows of an ibis table.

    Not through pandas, as ibis fetches them from Spark: pandas has no times beyond 2262, and makes doubles of integers
    where one of them is NULL.
    """
    if engine is not SPARK:
        return query.to_pyarrow()
    import pyarrow as pa

    (backend,), _ = query._find_backends()
    backend._run_pre_execute_hooks(query)
    rows = backend._session.sql(backend.compile(query))
    return rows.toArrow() if hasattr(rows, "toArrow") else pa.Table.from_batches(rows._collect_as_arrow())


def _ibis_engine(data: Any) -> Engine:
    """The engine of the backend that an ibis table is on; a table in memory is counted by DuckDB, ibis's default."""
    backends, is_unbound = data._find_backends()
    name = "none" if is_unbound or len(backends) > 1 else backends[0].name if backends else DUCKDB.name
    if name not in IBIS_BACKENDS:
        covered = ", ".join(IBIS_BACKENDS)
        problem = f"data must be an ibis table on one of the backends {covered}, got one on {name}"
        raise InputError(problem, "data", "give its to_pyarrow()")
    return IBIS_BACKENDS[name]


def _has_values(dtype: Any) -> bool:
    """Whether a column has a kind; a decimal of any number of digits has none here, since Arrow's have 38."""
    is_unbounded = dtype.is_decimal() and (dtype.precision is None or dtype.scale is None)
    return column_kind(dtype) is not ColumnKind.OTHER and not is_unbounded


def _fetchable_column(data: Any, name: str, engine: Engine) -> Any:
    """The column as the engine makes it readable; dates and times beyond the years 1 to 9999 are NULL."""
    import ibis

    column = engine.readable_column(data, name)
    dtype = column.type()
    if dtype.is_date():
        first, last = ibis.date(FIRST_TIME[:10]), ibis.date(LAST_TIME[:10])
    elif dtype.is_timestamp():
        first, last = time_literal(FIRST_TIME, dtype), time_literal(LAST_TIME, dtype)
    else:
        return column
    return ibis.cases((column.between(first, last), column), else_=ibis.null(dtype))


def _null_column(is_null: Any) -> ObjectColumn:
    return ObjectColumn([None if missing else 0 for missing in is_null.to_pylist()], ColumnKind.OTHER)


RELATION = FrameKind("DuckDB relation", "duckdb", ("DuckDBPyRelation",), _open_relation)
IBIS_TABLE = FrameKind("ibis table", "ibis.expr.types", ("Table",), _open_ibis)
