"""Where output may go: an output replaces only a file of its own kind, and never an input of the same command.

What a file is, is told by its content, not by its name: a release by how it begins, a picture by the mark in it, a
channel by being written to the letter as here, a tidy table by the SHA-256 in its note. An empty file is nobody's, and
may be replaced.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from utmost.errors import InputError, UtmostError
from utmost.exact.files import is_same_file, record_output

if TYPE_CHECKING:
    import altair as alt

    from utmost.publish.plan_model import Plan

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


def table_note_path(table: Path) -> Path:
    """The note beside a tidy table, with the SHA-256 that it is recognised by."""
    return table.with_name(f"{table.name}.json")


def table_note(content: bytes) -> bytes:
    """The note of a tidy table with this content."""
    return json.dumps({"schema": TABLE_SCHEMA, "sha256": hashlib.sha256(content).hexdigest()}).encode()


def _is_tidy_table(path: Path) -> bool:
    """Is a file the table that its note is of, to the letter."""
    note_path = table_note_path(path)
    return note_path.is_file() and note_path.read_bytes() == table_note(path.read_bytes())


TABLE_SCHEMA = "utmost-table/1"
TABLE_ENDINGS = (".csv", ".parquet")
TIDY_TABLE = FileKind("a table of a release, as it stands in its note", _is_tidy_table)
TABLE_NOTE = FileKind("the note of such a table", _starts_with(rb'\{"schema": "utmost-table/'))
RELEASE = FileKind("a release", _starts_with(rb'\{\s*"schema"\s*:\s*"utmost-release/'))
CHANNEL = FileKind("a mechanism that utmost wrote", _is_channel)
PICTURE = FileKind("a picture that utmost drew", _is_picture)
DESCRIPTION = FileKind("a chart that utmost wrote", _starts_with(rb'\{"usermeta": \{"generator": "utmost"\}'))
FIGURE_ENDINGS = (".svg", ".png", ".html", ".json")
KIND_BY_ENDING = {
    ".svg": PICTURE,
    ".png": PICTURE,
    ".html": PICTURE,
    ".jsonl": FileKind(
        "a list of vertices", _starts_with(rb'\{"(?:vertex": 0, "posterior|kernel": 0, "vertices)": \[')
    ),
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


def save_figure(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write a chart as .svg, .png, .html or .json, in a new file or in place of one that utmost wrote."""
    from utmost.charts.export import save_chart, save_description

    ending = path.suffix.lower()
    if ending not in FIGURE_ENDINGS:
        endings = f"{', '.join(FIGURE_ENDINGS[:-1])} or {FIGURE_ENDINGS[-1]}"
        raise InputError(f'path must be a file that ends in {endings}, got "{path.name[:60]}"', "path", "rename it")
    check_output(path, "path", DESCRIPTION if ending == ".json" else PICTURE, {})
    (save_description if ending == ".json" else save_chart)(chart, path)


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
    inputs: dict[str, Path] = {}
    if plan is not None:
        _check_outside_source(path, option, plan)
        inputs = _plan_inputs(plan) | ({} if plan.output is None else {"the release": plan.output})
    for file, kind in ((path, TIDY_TABLE), (table_note_path(path), TABLE_NOTE)):
        record_output(file, option)
        check_output(file, option, kind, inputs)


def _check_outside_source(path: Path, option: str, plan: Plan) -> None:
    """Refuse a file in the folder that is the source."""
    from utmost.data.sources import source_files

    table_files = source_files(plan.source, plan.folder)
    if table_files and table_files[0] in path.resolve().parents:
        raise InputError(f"{option} must be outside of the source, got a file in its folder", option, "name another")


def _plan_inputs(plan: Plan) -> dict[str, Path]:
    """The files of a plan that no output may replace: its source and its ledger."""
    from utmost.data.sources import source_files
    from utmost.ledger.stores.registry import ledger_files

    files = _by_name("the source", source_files(plan.source, plan.folder))
    return files | _by_name("the ledger", ledger_files(plan.ledger, plan.folder))


def check_release_output(plan: Plan) -> None:
    """Refuse a plan whose output would replace its table, its ledger or anything that is not a release."""
    if plan.output is None:
        return
    _check_outside_source(plan.output, "output", plan)
    check_output(plan.output, "output", RELEASE, _plan_inputs(plan))


def _by_name(name: str, paths: list[Path]) -> dict[str, Path]:
    """A file, and those that its database keeps beside it, by what they are."""
    return {f"{name}{path.name.removeprefix(paths[0].name)}": path for path in paths}
