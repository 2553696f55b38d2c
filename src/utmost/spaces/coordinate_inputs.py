"""Coordinates from arrays, rows, frames and dicts, with the names of the points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.errors import InputError
from utmost.exact.doubles import exact_rational, has_doubles, kind_text
from utmost.spaces.array_inputs import (
    column_list,
    column_names,
    index_labels,
    is_frame,
    labels_of,
    plain_rows,
)
from utmost.spaces.shape import Label, label_text

LATITUDES = ("latitude", "lat")
LONGITUDES = ("longitude", "lon", "lng", "long")


@dataclass(frozen=True, slots=True)
class CoordinateTable:
    """The coordinates of points, exact, and their labels."""

    rows: Sequence[tuple[Fraction, ...]]
    labels: tuple[Label, ...]
    has_doubles: bool


def read_coordinates(source: Any, names: Iterable[Label] | str | None, *, is_on_globe: bool) -> CoordinateTable:
    """Exact coordinates, the same number for each point (two on the globe), and labels: 0, 1, … where there are none.

    >>> read_coordinates([[0, 0.5], ["1/3", 2]], ["a", "b"], is_on_globe=False).rows
    [(Fraction(0, 1), Fraction(1, 2)), (Fraction(1, 3), Fraction(2, 1))]
    """
    if is_frame(source):
        raw_rows, labels = _frame_rows(source, names, is_on_globe=is_on_globe)
    elif isinstance(source, Mapping):
        if names is not None:
            raise InputError(
                "names must not be given beside a dict, whose keys are the names", "names", "leave them out"
            )
        raw_rows, labels = plain_rows(list(source.values()), "points"), labels_of(source)
    else:
        if isinstance(names, str):
            raise InputError(f"names must be a list of names, got the text {label_text(names)!r}", "names")
        raw_rows = plain_rows(source, "points")
        labels = tuple(range(len(raw_rows))) if names is None else labels_of(names)
    _check_names(labels, len(raw_rows))
    _check_widths(raw_rows, labels, is_on_globe=is_on_globe)
    rows = [
        tuple(exact_rational(value, f"coordinate of {label_text(label)}") for value in row)
        for row, label in zip(raw_rows, labels, strict=True)
    ]
    return CoordinateTable(rows, labels, has_doubles(value for row in raw_rows for value in row))


def _check_names(labels: tuple[Label, ...], count: int) -> None:
    if len(labels) != count:
        raise InputError(f"names must be {count}, one for each point, got {len(labels)}", "names")


def _check_widths(rows: Sequence[Sequence[object]], labels: Sequence[Label], *, is_on_globe: bool) -> None:
    """Refuse rows of different lengths, and what is no latitude and longitude."""
    width = 2 if is_on_globe else len(rows[0]) if rows else 1
    for row, label in zip(rows, labels, strict=True):
        if len(row) != width or not width:
            what = "a latitude and a longitude" if is_on_globe else f"{width or 'at least 1'} coordinates as the first"
            raise InputError(f"each point must have {what}, got {len(row)} for {label_text(label)}", "points")


def _frame_rows(
    frame: Any, names: Iterable[Label] | str | None, *, is_on_globe: bool
) -> tuple[list[list[object]], tuple[Label, ...]]:
    """The columns of coordinates, and the labels: a column, a list, or the frame's own index."""
    columns = column_names(frame)
    if isinstance(names, str):
        if names not in columns:
            raise InputError(f"names must be a column of the frame, got none called {label_text(names)!r}", "names")
        labels: tuple[Label, ...] | None = labels_of(column_list(frame, names))
    else:
        labels = None if names is None else labels_of(names)
    chosen = [column for column in columns if not (isinstance(names, str) and column == names)]
    chosen = _globe_columns(chosen) if is_on_globe else chosen
    values = [column_list(frame, column) for column in chosen]
    for column, content in zip(chosen, values, strict=True):
        if content and isinstance(content[0], str):
            raise InputError(
                f"column {label_text(column)} must hold coordinates, got {kind_text(content[0])}",
                "points",
                f'say names="{label_text(column)}" if it has the names, or choose the columns',
            )
    rows = [list(row) for row in zip(*values, strict=True)]
    return rows, labels or index_labels(frame) or tuple(range(len(rows)))


def _globe_columns(columns: list[Any]) -> list[Any]:
    """Latitude and longitude by the names of their columns, where those say so."""
    by_name = {str(column).lower(): column for column in columns}
    latitude = next((by_name[name] for name in LATITUDES if name in by_name), None)
    longitude = next((by_name[name] for name in LONGITUDES if name in by_name), None)
    return columns if latitude is None or longitude is None else [latitude, longitude]
