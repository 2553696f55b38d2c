"""Where output may go: an output replaces only a file of its own kind, and never an input of the same command.

What a file is, is told by its content, not by its name: a release by how it begins, a picture by the mark in it, a
channel and a tidy table by being written to the letter as here. An empty file is nobody's, and may be replaced.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from utmost.errors import InputError, UtmostError
from utmost.exact.files import is_same_file, record_output

if TYPE_CHECKING:
    from utmost.publish.plans import Plan

START_BYTES = 4096  # bytes that tell what a file is


@dataclass(frozen=True, slots=True)
class FileKind:
    """What an output is: in words, and how an earlier file of the kind is recognised."""

    words: str
    recognises: Callable[[Path], bool]


def _starts_with(pattern: bytes) -> Callable[[Path], bool]:
    start = re.compile(rb"(?:\xef\xbb\xbf)?\s*" + pattern, re.IGNORECASE)

    def recognises(path: Path) -> bool:
        with path.open("rb") as stream:
            return start.match(stream.read(START_BYTES)) is not None

    return recognises


def _is_channel(path: Path) -> bool:
    """Is a file a channel, to the letter as utmost writes it: other tables may read as channels too."""
    from utmost.channel import files

    try:
        text = path.read_bytes().decode("utf-8") if path.stat().st_size <= files.MAX_FILE_BYTES else ""
        reader = files.from_json if path.suffix.lower() == ".json" else files.from_csv
        return files.channel_text(reader(text), path) == text
    except (UtmostError, UnicodeDecodeError):
        return False


def _is_picture(path: Path) -> bool:
    from utmost.charts.export import is_marked

    with path.open("rb") as stream:
        return is_marked(stream.read(START_BYTES), path.suffix.lower())


def _is_tidy_table(path: Path) -> bool:
    """Is a file a table of a release: a Parquet file by the mark in it, a CSV file by its columns and its letters."""
    if path.suffix.lower() == ".parquet":
        return _has_parquet_mark(path)
    first, last = CSV_TABLE_ENDS
    try:
        text = path.read_bytes().decode("utf-8") if path.stat().st_size <= MAX_TABLE_BYTES else ""
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except (UnicodeDecodeError, csv.Error):
        return False
    if not rows or tuple(rows[0][: len(first)]) != first or tuple(rows[0][-len(last) :]) != last:
        return False
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue() == text and all(len(row) == len(rows[0]) for row in rows)


def _has_parquet_mark(path: Path) -> bool:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        metadata = parquet.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError):
        return False
    return all(metadata.get(name) == mark for name, mark in PARQUET_TABLE_MARK.items())


CSV_TABLE_ENDS = (("query", "kind"), ("value", "low", "high", "error"))  # columns at the ends of a tidy table
PARQUET_TABLE_MARK = {b"utmost": b"tidy-table/1"}
MAX_TABLE_BYTES = 1 << 28  # bytes of a tidy table that is recognised
TIDY_TABLE = FileKind("a table of a release that utmost wrote", _is_tidy_table)
TABLE_ENDINGS = (".csv", ".parquet")
RELEASE = FileKind("a release", _starts_with(rb'\{\s*"schema"\s*:\s*"utmost-release/'))
CHANNEL = FileKind("a mechanism that utmost wrote", _is_channel)
PICTURE = FileKind("a picture that utmost drew", _is_picture)
KIND_BY_ENDING = {
    ".svg": PICTURE,
    ".png": PICTURE,
    ".html": PICTURE,
    ".jsonl": FileKind("a list of vertices", _starts_with(rb'\{"(?:vertex|kernel)": ')),
    ".csv": CHANNEL,
    ".json": CHANNEL,
}


def check_output(path: Path, option: str, kind: FileKind, inputs: Mapping[str, Path]) -> None:
    """Refuse an output that would replace an input, or a file of another kind."""
    check_not_input(path, option, inputs)
    try:
        is_replaceable = not path.exists() or (path.is_file() and (path.stat().st_size == 0 or kind.recognises(path)))
    except OSError:
        is_replaceable = False
    if not is_replaceable:
        raise InputError(
            f"{option} must be a new file or replace {kind.words}, got {path.name[:60]}, which is something else",
            option,
            "name another",
        )


def check_new_output(path: Path, option: str, inputs: Mapping[str, Path]) -> None:
    """Refuse an output that is there already: nothing in it tells who wrote it."""
    check_not_input(path, option, inputs)
    if path.exists() and path.stat().st_size > 0:
        raise InputError(
            f"{option} must be a new file, got {path.name[:60]}, which is there already", option, "name another"
        )


def check_not_input(path: Path, option: str, inputs: Mapping[str, Path]) -> None:
    """Refuse an output that would replace an input."""
    for name, input_path in inputs.items():
        if is_same_file(path, input_path):
            raise InputError(f"{option} must be another file than {name}, which would be lost", option, "name another")


def check_table_output(path: Path, option: str, plan: Plan | None = None) -> None:
    """Refuse a file for a tidy table that is of another kind, cannot be written, or is the plan's own."""
    if path.suffix.lower() not in TABLE_ENDINGS:
        raise InputError(
            f'{option} must be a file that ends in .csv or .parquet, got "{path.name[:60]}"', option, "rename it"
        )
    if not path.absolute().parent.is_dir():
        raise InputError(f"{option} must be in a directory that exists, got one that does not", option, "make it first")
    record_output(path, option)
    check_output(path, option, TIDY_TABLE, {} if plan is None else _plan_files(plan))


def _plan_files(plan: Plan) -> dict[str, Path]:
    """The files of a plan that no table may replace: its source, its ledger and its release."""
    from utmost.data.sources import source_files
    from utmost.ledger.stores.registry import ledger_files

    files = _by_name("the source", source_files(plan.source, plan.folder))
    files |= _by_name("the ledger", ledger_files(plan.ledger, plan.folder))
    return files if plan.output is None else {**files, "the release": plan.output}


def check_release_output(plan: Plan) -> None:
    """Refuse a plan whose output would replace its table, its ledger or anything that is not a release."""
    if plan.output is None:
        return
    from utmost.data.sources import source_files
    from utmost.ledger.stores.registry import ledger_files

    table_files = source_files(plan.source, plan.folder)
    if table_files and table_files[0] in plan.output.resolve().parents:
        raise InputError("output must be outside of the source, got a file in its folder", "output", "name another")
    inputs = _by_name("the source", table_files) | _by_name("the ledger", ledger_files(plan.ledger, plan.folder))
    check_output(plan.output, "output", RELEASE, inputs)


def _by_name(name: str, paths: list[Path]) -> dict[str, Path]:
    """A file, and those that its database keeps beside it, by what they are."""
    return {f"{name}{path.name.removeprefix(paths[0].name)}": path for path in paths}
