"""Cells of a table by a predicate over their keys, in the language of `where`; no text of it reaches an engine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.data.engines.engine import Location
from utmost.data.engines.frames import FRAME, FRAMES
from utmost.data.engines.schema import column_kind
from utmost.data.predicates import Predicate, compile_predicate, parse_predicate
from utmost.data.predicates.syntax import ExpressionError, quote_text
from utmost.errors import InputError
from utmost.joint import CountTree
from utmost.joint.tree import Key
from utmost.registry import similar_name

if TYPE_CHECKING:
    import pyarrow as pa

INT64_END = 2**63


def select_cells(tree: CountTree, text: str) -> list[Key]:
    """The finest cells whose keys satisfy a predicate; that of all other rows has NULL for keys. Refused if none do.

    >>> from utmost.joint import hierarchy
    >>> select_cells(hierarchy([["town"]], [("a",), ("b",), ("c",)]), "town in ('a', 'c')")
    [('a',), ('c',)]
    """
    return matching_keys(tree.columns[-1], [tree.keys[node] for node in tree.level_nodes(len(tree.columns) - 1)], text)


def matching_keys(columns: Sequence[str], keys: Sequence[Key], text: str) -> list[Key]:
    """The keys that satisfy a predicate over these columns."""
    try:
        predicate = parse_predicate(text)
    except ExpressionError as problem:
        raise problem.named("sum") from None
    _check_columns(predicate, columns)
    try:
        places = _matching_places(predicate, columns, keys)
    except ExpressionError as problem:
        raise problem.named("sum") from None
    if not places:
        raise InputError("sum must be of cells of the table, got a predicate that none of them satisfies", "sum")
    return [keys[place] for place in places]


def _check_columns(predicate: Predicate, columns: Sequence[str]) -> None:
    """Refuse a predicate of other columns than the table's, or of none."""
    for name in sorted(predicate.columns):
        if name not in columns:
            similar = similar_name(name, columns)
            hint = (
                f"the columns are {', '.join(columns)}" if similar is None else f"did you mean {quote_text(similar)}?"
            )
            raise InputError(f"sum must be of columns of the table, got {quote_text(name)}", "sum", hint)
    if not predicate.columns:
        raise InputError("sum must name a column of the table, got none", "sum", f"write {columns[-1]} in (…)")


def _matching_places(predicate: Predicate, columns: Sequence[str], keys: Sequence[Key]) -> list[int]:
    """The numbers of the cells whose keys satisfy the predicate."""
    with FRAMES.open(Location(FRAME, "", Path(), None, {}, data=_frame(columns, keys))) as table:
        kinds = {name: column_kind(dtype) for name, dtype in table.rows.schema().items()}
        condition = compile_predicate(predicate, table.rows, kinds, FRAMES)
        rows = table.connection.rows(table.rows.filter(condition).select(_place_name(columns)))
    return sorted(int(row[0]) for row in rows)


def _place_name(columns: Sequence[str]) -> str:
    """A name for the number of a cell that no column has, whatever its letters' case."""
    name = "place"
    while name in {column.lower() for column in columns}:
        name += "_"
    return name


def _frame(columns: Sequence[str], keys: Sequence[Key]) -> pa.Table:
    """The keys of the cells as columns of their kinds, with the place of each cell."""
    import pyarrow as pa

    arrays: dict[str, Any] = {
        name: pa.array([key[index] for key in keys], type=_arrow_type(name, [key[index] for key in keys]))
        for index, name in enumerate(columns)
    }
    return pa.table({**arrays, _place_name(columns): pa.array(range(len(keys)), type=pa.int64())})


def _arrow_type(name: str, values: Sequence[object]) -> pa.DataType:
    """The type of a column of keys, which are all of one type, or None."""
    import pyarrow as pa

    first = next((value for value in values if value is not None), "")
    if isinstance(first, bool):
        return pa.bool_()
    if isinstance(first, int):
        if any(isinstance(value, int) and not -INT64_END <= value < INT64_END for value in values):
            raise InputError(f"sum must be of keys within 64 bits, got others in {quote_text(name)}", "sum")
        return pa.int64()
    return pa.date32() if isinstance(first, date) else pa.string()
