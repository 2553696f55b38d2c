"""Spaces in files: a table of distances as CSV or JSON, a graph as CSV lines `a,b` or `a,b,weight`.

Entries are exact as written (`0.1`, `1/2`, `sqrt(2)`), in JSON too. An error names the line and the column, not their
content.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from utmost.errors import InputError, MetricError
from utmost.exact import Number, number
from utmost.exact.files import check_no_named_pipe
from utmost.spaces import distance_tables
from utmost.spaces.distance_tables import space
from utmost.spaces.space import MAX_TABLE_POINTS, TABLE_LIMIT_TEXT, Label, Space, SpaceFamily

MAX_FILE_BYTES = 1 << 26  # bytes
MAX_LABEL_CHARS = 200  # characters
INTEGER = re.compile(r"-?(0|[1-9]\d*)")
GRAPH_HEADERS = ({"from", "to"}, {"source", "target"})


def read_distances(path: str | Path) -> Space:
    """The space of a .csv or .json file with one row of distances for each point.

    CSV: the numbers alone, or with a header of labels, or a first column of labels, or both and a corner cell that is
    no number. JSON: a list of rows, or an object with `distances` and perhaps `labels`.
    """
    name = f"matrix:{_printable_name(path)}"
    text = _read_text(Path(path), name)
    rows, labels = (_from_json if Path(path).suffix.lower() == ".json" else _from_csv)(text, name)
    return space(rows, labels, name)


def read_graph(path: str | Path) -> Space:
    """The space of shortest paths of a graph: CSV lines `a,b` or `a,b,weight`, a weight left out is 1.

    A first line that begins with from,to or source,target is a header.
    """
    name = f"graph:{_printable_name(path)}"
    lines = _csv_lines(_read_text(Path(path), name), name)
    start = 1 if lines and {cell.strip().lower() for cell in lines[0][1][:2]} in GRAPH_HEADERS else 0
    read_number, edges = _NumberReader(name), []
    for k, cells in lines[start:]:
        if len(cells) not in (2, 3):
            raise InputError(f"{name}: line {k} must be a,b or a,b,weight, got {len(cells)} cells")
        endpoints = [_parse_label(cell, f"{name}: line {k}") for cell in cells[:2]]
        edges.append([*endpoints, read_number(cells[2], f"line {k}, column 3")] if len(cells) == 3 else endpoints)
    if not edges:
        raise InputError(f"{name} must have at least one line a,b or a,b,weight, got none")
    return distance_tables.graph(edges, name=name)


def _printable_name(path: str | Path) -> str:
    """The name of the file without its folder, on one line."""
    return "".join(letter if letter.isprintable() else "?" for letter in Path(path).name[:MAX_LABEL_CHARS])


def _read_text(path: Path, name: str) -> str:
    """The text of a file; one that is too large is refused with its number of columns, if the first line shows it."""
    check_no_named_pipe(path, "space")
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
        text = content.decode("utf-8-sig", "strict" if len(content) <= MAX_FILE_BYTES else "ignore")
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{name} must be UTF-8 text") from None
    except ValueError:
        raise InputError(f"cannot read {name}: no file can have that name") from None
    if len(content) > MAX_FILE_BYTES:
        first_line, line_end, _ = text.partition("\n")
        column_count = 0 if first_line.lstrip().startswith(("[", "{")) else first_line.count(",") + 1
        column_text = (
            f", got {'' if line_end else 'at least '}{column_count} columns" if column_count > MAX_TABLE_POINTS else ""
        )
        raise InputError(f"{name} must have at most {MAX_FILE_BYTES >> 20} MiB{column_text}", hint=TABLE_LIMIT_TEXT)
    return text


def _csv_lines(text: str, name: str) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, with their numbers."""
    reader = csv.reader(io.StringIO(text))
    try:
        return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error:
        raise InputError(f"{name} could not be read as CSV at line {reader.line_num}") from None


def _from_csv(text: str, name: str) -> tuple[list[list[Number]], list[Label] | None]:
    """The rows and the labels, if it has any."""
    lines = _csv_lines(text, name)
    height, width = len(lines), len(lines[0][1]) if lines else 0
    if not lines or max(height, width) > MAX_TABLE_POINTS + 1:
        raise InputError(
            f"{name} must have 1 to {MAX_TABLE_POINTS} rows of distances, got {max(height, width)}",
            hint=TABLE_LIMIT_TEXT,
        )
    for k, cells in lines:
        if len(cells) != width:
            raise MetricError(f"{name}: line {k} must have {width} cells as the first line, got {len(cells)}")
    has_corner = height == width and not _is_number(lines[0][1][0])
    header, label_columns = has_corner or height == width + 1, has_corner or width == height + 1
    if height - header != width - label_columns:
        raise MetricError(f"{name} must be square, got {height} lines of {width} cells")
    read_number = _NumberReader(name)
    body = [(k, cells[label_columns:]) for k, cells in lines[header:]]
    rows = [
        [read_number(cell, f"line {k}, column {j + label_columns + 1}") for j, cell in enumerate(cells)]
        for k, cells in body
    ]
    return rows, _csv_labels(lines, header, label_columns, name)


def _csv_labels(lines: list[tuple[int, list[str]]], header: bool, label_columns: bool, name: str) -> list[Label] | None:
    """The labels of a header or of a first column; where there are both they must agree."""
    header_labels = (
        [_parse_label(cell, f"{name}: line {lines[0][0]}") for cell in lines[0][1][label_columns:]] if header else None
    )
    column_labels = (
        [_parse_label(cells[0], f"{name}: line {k}") for k, cells in lines[header:]] if label_columns else None
    )
    if header_labels is not None and column_labels is not None and header_labels != column_labels:
        raise MetricError(f"{name} must have the same labels in its header and its first column, in the same order")
    return header_labels or column_labels


def _from_json(text: str, name: str) -> tuple[list[list[Number]], list[Label] | None]:
    """The rows and the labels, if it has any; decimals are read as they are written."""
    try:
        document: Any = json.loads(text, parse_float=str, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise InputError(f"{name} must be JSON: a list of rows, or an object with distances and labels") from None
    content = document if isinstance(document, dict) else {"distances": document}
    rows, labels = content.get("distances"), content.get("labels")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise InputError(f"{name} must hold a list of rows, or an object with distances (a list of rows) and labels")
    if max(len(rows), *(len(row) for row in rows)) > MAX_TABLE_POINTS:
        raise InputError(
            f"{name} must have 1 to {MAX_TABLE_POINTS} rows of distances, got {len(rows)}", hint=TABLE_LIMIT_TEXT
        )
    if labels is not None and not _are_labels(labels):
        raise InputError(f"{name} must have labels that are a list of short names or whole numbers")
    read_number = _NumberReader(name)
    return [
        [read_number(entry, f"row {i + 1}, column {j + 1}") for j, entry in enumerate(row)]
        for i, row in enumerate(rows)
    ], labels


@dataclass(frozen=True, slots=True)
class _NumberReader:
    """A reader of exact numbers that parses each text once and gives the location of one that is no number."""

    name: str
    cached: dict[tuple[type, object], Number] = field(default_factory=dict)

    def __call__(self, entry: object, location: str) -> Number:
        if isinstance(entry, bool) or not isinstance(entry, str | int):
            raise InputError(f"{self.name}: {location} must be a number such as 2, 1/2 or sqrt(2)")
        key = (type(entry), entry)
        if key not in self.cached:
            try:
                self.cached[key] = number(entry)
            except InputError:
                raise InputError(f"{self.name}: {location} must be a number such as 2, 1/2 or sqrt(2)") from None
        return self.cached[key]


def _is_number(cell: str) -> bool:
    try:
        number(cell)
    except InputError:
        return False
    return True


def _parse_label(cell: str, location: str) -> Label:
    """A label as written: a whole number if it is one, else short text that can be printed."""
    text = cell.strip()
    if not text or len(text) > MAX_LABEL_CHARS or not text.isprintable():
        raise InputError(f"{location}: labels must be 1 to {MAX_LABEL_CHARS} printable characters")
    return int(text) if INTEGER.fullmatch(text) and len(text) < 19 else text


def _are_labels(labels: object) -> bool:
    def is_label(label: object) -> bool:
        is_short_text = isinstance(label, str) and 0 < len(label) <= MAX_LABEL_CHARS and label.isprintable()
        return is_short_text or type(label) is int

    return isinstance(labels, list) and all(is_label(label) for label in labels)


MATRIX = SpaceFamily(
    kind="matrix",
    example="matrix:FILE",
    points="labels",
    meaning="as given",
    python="space(rows, labels)",
    reads_files=True,
    parse=read_distances,
)
GRAPH = SpaceFamily(
    kind="graph",
    example="graph:FILE",
    points="labels",
    meaning="shortest path",
    python="graph(edges, labels)",
    reads_files=True,
    parse=read_graph,
)
