"""Arrays, frames and graphs of other packages as plain lists: told by what they can do, so that none is imported."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from utmost.errors import InputError
from utmost.exact.doubles import kind_text
from utmost.spaces.shape import Label


def is_frame(source: object) -> bool:
    """Is it a frame of pandas or polars."""
    kind = type(source)
    return hasattr(kind, "columns") and hasattr(kind, "to_numpy") and hasattr(kind, "shape")


def is_series(source: object) -> bool:
    """Is it a series of pandas, whose index has labels."""
    return hasattr(source, "index") and hasattr(source, "to_numpy") and not callable(getattr(source, "index", None))


def is_network(source: object) -> bool:
    """Is it a graph of networkx, or one that is used like it."""
    return hasattr(source, "nodes") and hasattr(source, "edges") and hasattr(source, "is_directed")


def is_sparse(source: object) -> bool:
    """Is it a sparse matrix or array of scipy."""
    return hasattr(source, "tocoo") and hasattr(source, "shape")


def column_names(frame: Any) -> list[Any]:
    """The columns of a frame, in order."""
    names = list(frame.columns)
    if len(set(names)) != len(names):
        raise InputError("a frame must have columns of different names, got one twice", "points")
    return names


def column_list(frame: Any, column: Any) -> list[Any]:
    """The entries of a column, missing ones as they are."""
    series = frame[column]
    entries: list[Any] = series.to_list()
    return entries


def index_labels(frame: Any) -> tuple[Label, ...] | None:
    """The labels of a frame's or a series' index; None where there is no index, or it only counts the rows."""
    index = getattr(frame, "index", None)
    if index is None or callable(index):
        return None
    is_count = type(index).__name__ == "RangeIndex" and list(index[:1]) in ([], [0])
    return None if is_count else labels_of(index)


def label_of(value: Any) -> Label:
    """A label of Python: text, or a whole number; a tuple, as nodes of grids are, with commas between its parts.

    >>> label_of(np.int64(3)), label_of(2.0), label_of("a"), label_of((0, 1))
    (3, 2, 'a', '0,1')
    """
    if isinstance(value, tuple):
        return ",".join(str(label_of(part)) for part in value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float | np.floating) and value == value and float(value).is_integer():
        return int(value)
    if isinstance(value, bool | np.bool_ | float | np.floating) or value is None:
        raise InputError(f"labels must be text or whole numbers, got {kind_text(value)}", "labels")
    return operator.index(value) if hasattr(type(value), "__index__") else str(value)


def labels_of(values: Iterable[Any]) -> tuple[Label, ...]:
    """Labels of Python, in order."""
    if not isinstance(values, Iterable):
        raise InputError(f"labels must be a list of text or whole numbers, got {kind_text(values)}", "labels")
    return tuple(label_of(value) for value in values)


def plain_rows(source: Any, name: str) -> list[list[Any]]:
    """The rows of a table: a numpy array with two axes, or rows of any kind; a flat one has one entry in each row."""
    entries = plain_list(source, name)
    if not all(_is_row(entry) for entry in entries):
        if any(_is_row(entry) for entry in entries):
            raise InputError(f"{name} must be rows of numbers, got a number beside a row", name)
        return [[entry] for entry in entries]
    return [plain_list(row, name) for row in entries]


def plain_list(source: Any, name: str) -> list[Any]:
    """The entries of an array, a series or any sequence."""
    if isinstance(source, np.ndarray):
        if source.dtype.kind == "c":
            raise InputError(f"{name} must be real numbers, got complex ones", name, "take their .real")
        if source.ndim not in (1, 2):
            raise InputError(f"{name} must be an array with one or two axes, got {source.ndim}", name)
        return _array_entries(source)
    if isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):
        raise InputError(f"{name} must be an array, a frame or a list, got {kind_text(source)}", name)
    return list(source)


def _array_entries(source: Any) -> list[Any]:
    """Rows of an array with two axes, else its entries, floats of fewer bits as the doubles that they are."""
    entries: list[Any] = source.tolist()
    return entries


def _is_row(entry: Any) -> bool:
    is_container = isinstance(entry, Sequence | np.ndarray) and not isinstance(entry, str | bytes)
    return is_container and getattr(entry, "ndim", 1) > 0


def network_edges(graph: Any, weight: str) -> Iterator[tuple[Label, Label, Any]]:
    """The edges of a networkx graph, each with the weight under that name; 1 where it has none."""
    if graph.is_directed():
        raise InputError(
            "a graph must have edges that go both ways, got a directed one", "edges", "make it .to_undirected()"
        )
    for first, second, attributes in graph.edges(data=True):
        yield label_of(first), label_of(second), attributes.get(weight, 1)
