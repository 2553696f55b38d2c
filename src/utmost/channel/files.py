"""Channels as CSV (header: outputs, first column: inputs) and JSON (`inputs`, `outputs`, `rows`).

Exact entries are text (`2/3`, `exp(-1/10)`), so that what is written is read back equal. A CSV's entries are exact as
written, unless its corner cell says `floats`; in JSON a bare number is a float. JSON keeps every label; in CSV a label
that is the text of a whole number comes back as that number.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

from utmost.channel.channel import Channel, channel
from utmost.channel.entries import Label
from utmost.errors import ChannelError, InputError
from utmost.exact.files import check_no_named_pipe, write_file

MAX_FILE_BYTES = 1 << 26  # bytes
INTEGER_PATTERN = re.compile(r"-?(0|[1-9]\d*)")
FLOATS_MARK = "floats"  # in the corner cell of a CSV whose entries are doubles


def read_channel(path: str | Path) -> Channel:
    """The channel in a .csv or .json file."""
    name = Path(path).name
    check_no_named_pipe(Path(path), "channel")
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read channel file {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"channel file {name} must be UTF-8 text") from None
    if len(content) > MAX_FILE_BYTES:
        raise InputError(f"channel file {name} must have at most {MAX_FILE_BYTES >> 20} MiB")
    reader = from_json if Path(path).suffix.lower() == ".json" else from_csv
    try:
        return reader(text)
    except InputError as error:
        raise ChannelError(error.message, error.field, error.hint, context=name) from None


def write_channel(source: Channel, path: str | Path) -> None:
    """Write a channel as .csv or .json, by the file's ending, whole or not at all."""
    write_file(path, channel_text(source, path).encode("utf-8"))


def channel_text(source: Channel, path: str | Path) -> str:
    """The text that a file of this name holds of a channel."""
    return json_text(source) if Path(path).suffix.lower() == ".json" else to_csv(source)


def json_text(source: Channel) -> str:
    """The text of a JSON file."""
    return json.dumps(to_json(source), indent=1)


def parse_channel(text: str) -> Channel:
    """The channel that a text of CSV or JSON holds, as `to_csv` and `to_json` write it.

    >>> source = channel([["1/3", "2/3"]], ["low"], ["no", "yes"])
    >>> parse_channel(source.to_csv()) == parse_channel(source.to_json()) == source
    True
    """
    if not isinstance(text, str):
        raise ChannelError(f"text must be CSV or JSON, got {type(text).__name__}", "text")
    return from_json(text) if text.lstrip().startswith("{") else from_csv(text)


def from_csv(text: str) -> Channel:
    r"""A channel from CSV text.

    >>> from_csv("in,yes,no\n0,2/3,1/3\n1,1/3,2/3\n").outputs
    ('yes', 'no')
    """
    try:
        lines = [line for line in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise ChannelError(f"a channel's CSV could not be parsed: {error}") from None
    if len(lines) < 2 or len(lines[0]) < 2:
        raise ChannelError("a channel's CSV needs a header (a corner cell, then the outputs) and at least one row")
    for k, line in enumerate(lines[1:], start=2):
        if len(line) != len(lines[0]):
            raise ChannelError(f"line {k} must have {len(lines[0])} cells as the header, got {len(line)}")
    outputs = [read_label(cell) for cell in lines[0][1:]]
    rows: list[list[Any]] = [line[1:] for line in lines[1:]]
    if FLOATS_MARK in lines[0][0]:
        rows = [[_double(cell, k) for cell in row] for k, row in enumerate(rows, start=2)]
    return channel(rows, [read_label(line[0]) for line in lines[1:]], outputs)


def _double(cell: str, line: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ChannelError(f"line {line} must have decimals below {FLOATS_MARK}, got {cell[:40]!r}") from None


def to_csv(source: Channel) -> str:
    """CSV text of a channel."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["input" if source.exact else f"input ({FLOATS_MARK})", *source.outputs])
    for x, row in zip(source.inputs, source.rows, strict=True):
        writer.writerow([x, *(repr(float(v)) if isinstance(v, float) else str(v) for v in row)])
    return out.getvalue()


def from_json(text: str) -> Channel:
    """A channel from JSON text."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ChannelError(
            f"a channel's JSON could not be parsed{place}: it must be one whole object with inputs, outputs, rows"
        ) from None
    return from_document(document)


def from_document(document: Any) -> Channel:
    """A channel from a parsed JSON document."""
    if not isinstance(document, dict) or not isinstance(document.get("rows"), list):
        raise ChannelError("a channel's JSON must be one object with inputs, outputs and rows")
    rows = document["rows"]
    if not all(isinstance(row, list) and row for row in rows):
        raise ChannelError("rows must be a list of non-empty lists", "rows")
    labels: dict[str, list[Label] | None] = {}
    for key in ("inputs", "outputs"):
        labels[key] = document.get(key)
        if labels[key] is not None and not _are_labels(labels[key]):
            raise ChannelError(f"{key} must be a list of names or whole numbers", key)
    return channel(rows, labels["inputs"], labels["outputs"])


def _are_labels(value: object) -> bool:
    if not isinstance(value, list):
        return False
    return all((isinstance(v, str) and v.isprintable()) or type(v) is int for v in value)


def to_json(source: Channel) -> dict[str, Any]:
    """The document of a channel: exact entries as strings, floats as numbers."""
    rows = [[float(v) if isinstance(v, float) else str(v) for v in row] for row in source.rows]
    return {"inputs": list(source.inputs), "outputs": list(source.outputs), "rows": rows}


def read_label(cell: str) -> Label:
    """A label as written: a whole number if it is one, else text that can be printed."""
    text = cell.strip()
    if not text.isprintable():
        raise ChannelError("labels must be printable text, got one with control characters", "labels")
    return int(text) if INTEGER_PATTERN.fullmatch(text) and len(text) < 19 else text
