"""Tables of distances and lists of edges from arrays, frames and graphs, with the labels of the points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from utmost.errors import InputError
from utmost.exact.doubles import kind_text
from utmost.spaces.array_inputs import (
    column_list,
    column_names,
    index_labels,
    is_frame,
    is_network,
    is_sparse,
    label_of,
    labels_of,
    network_edges,
    plain_list,
    plain_rows,
)
from utmost.spaces.shape import Label, label_text

Edge: TypeAlias = tuple[Any, ...]
ENDS = (("source", "target"), ("from", "to"), ("u", "v"), ("a", "b"))  # columns of a frame of edges
LENGTHS = ("weight", "length", "distance", "cost")


def is_graph(source: object) -> bool:
    """Is it a graph whose shortest paths are meant, not a table of distances."""
    return is_network(source) or is_sparse(source)


def read_table(source: Any, name: str) -> tuple[list[list[Any]], tuple[Label, ...] | None]:
    """The rows of a table of distances and its labels, if it has any: those of a frame must be the same both ways."""
    if not is_frame(source):
        if isinstance(source, np.ndarray) and source.ndim == 1 and len(source) > 1:
            raise InputError(
                f"{name} must be a square table, got a flat array", "distances", "scipy's squareform makes one of it"
            )
        return ([] if _is_empty(source) else plain_rows(source, "distances")), None
    columns = column_names(source)
    rows = [list(row) for row in zip(*(column_list(source, column) for column in columns), strict=True)]
    heads, index = labels_of(columns), index_labels(source)
    if index is None:
        counts = tuple(range(len(rows)))
        return rows, (None if hasattr(source, "index") and heads == counts else heads)
    order = _column_order(index, heads, name)
    return [[row[k] for k in order] for row in rows], index


def _is_empty(source: Any) -> bool:
    return hasattr(source, "__len__") and not isinstance(source, str | bytes) and len(source) == 0


def _column_order(index: tuple[Label, ...], heads: tuple[Label, ...], name: str) -> list[int]:
    """Where the column of each row's label stands."""
    missing = [label for label in index if label not in heads] or [label for label in heads if label not in index]
    if missing or len(set(heads)) != len(index):
        where = "columns" if missing and missing[0] in index else "index"
        witness = f"got {label_text(missing[0])} missing in its {where}" if missing else "got one twice"
        raise InputError(f"{name} must have the same labels in its index and its columns, {witness}", "distances")
    return [heads.index(label) for label in index]


def read_edges(
    source: Any, weight: str, name: str, labels: tuple[Label, ...] | None
) -> tuple[list[Edge], tuple[Label, ...] | None]:
    """Edges (a, b) or (a, b, weight), and the labels of all points: those given, or those that the source has."""
    if is_network(source):
        return list(network_edges(source, weight)), labels or labels_of(source.nodes)
    if is_sparse(source):
        names = labels or tuple(range(source.shape[0]))
        return _sparse_edges(source, name, names), names
    if is_frame(source):
        return _frame_edges(source, weight, name), labels
    if isinstance(source, str | bytes) or not isinstance(source, Iterable):
        raise InputError(f"{name} must be a list of edges, a frame or a graph, got {kind_text(source)}", "edges")
    if isinstance(source, np.ndarray):
        return [_plain_edge(row, name) for row in plain_rows(source, "edges")], labels
    return [_plain_edge(edge, name) for edge in source], labels


def _plain_edge(edge: Any, name: str) -> Edge:
    """An edge as given, its ends as labels of Python."""
    if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) not in (2, 3):
        parts = len(edge) if hasattr(edge, "__len__") else 0
        raise InputError(f"an edge of {name} must be two points and perhaps a weight, got {parts} parts", "edges")
    return (label_of(edge[0]), label_of(edge[1]), *edge[2:])


def _frame_edges(frame: Any, weight: str, name: str) -> list[Edge]:
    """Two columns of ends and perhaps one of weights: by their names where these say so, else in their order."""
    columns = column_names(frame)
    by_name = {str(column).lower(): column for column in columns}
    ends = next(([by_name[a], by_name[b]] for a, b in ENDS if a in by_name and b in by_name), None)
    if ends is None:
        if len(columns) not in (2, 3):
            raise InputError(
                f"a frame of edges of {name} must have the columns source, target and perhaps weight, got others",
                "edges",
                "rename them, or choose them in this order",
            )
        ends, lengths = columns[:2], columns[2:]
    else:
        lengths = [by_name[key] for key in (weight.lower(), *LENGTHS) if key in by_name][:1]
    parts = [column_list(frame, column) for column in [*ends, *lengths]]
    return [_plain_edge(edge, name) for edge in zip(*parts, strict=True)]


def _sparse_edges(matrix: Any, name: str, labels: tuple[Label, ...]) -> list[Edge]:
    """The entries of a sparse matrix that are not 0, as scipy's csgraph reads them; both ways must agree."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} must be square, got {' x '.join(map(str, matrix.shape))}", "edges")
    if len(labels) != matrix.shape[0]:
        raise InputError(f"{name} must have {matrix.shape[0]} labels, one for each row, got {len(labels)}", "labels")
    entries = matrix.tocoo()
    weights: dict[tuple[int, int], Any] = {}
    for x, y, value in zip(*(plain_list(part, "edges") for part in (*entries.coords, entries.data)), strict=True):
        if value:
            weights[x, y] = value
    for (x, y), value in weights.items():
        back = weights.get((y, x), value)
        if back != value:
            ends = f"from {label_text(labels[x])} to {label_text(labels[y])}"
            raise InputError(f"{name} must have the same weight both ways, got {value} {ends} and {back} back", "edges")
    return [(labels[x], labels[y], value) for (x, y), value in weights.items()]
