"""Tables in files, a piece at a time: CSV and Parquet, recognised by their endings.

Memory does not grow with the number of rows. What is written appears whole or not at all: it is made in a folder of its
own beside the target, put on disk, and renamed. An engine's own words are never repeated, since they may quote a row.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.exact.files import check_no_named_pipe

if TYPE_CHECKING:
    import pyarrow as pa

TABLE_SUFFIXES = (".csv", ".parquet")
CSV_BLOCK_BYTES = 1 << 21  # bytes of CSV read at a time
ROWS_PER_PIECE = 1 << 16  # rows handed on at a time
MAX_LISTED_COLUMNS = 8  # column names in an error message
CSV_SPECIAL_CHARS = frozenset(',"\r\n')

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class TableReader:
    """An opened table: its wanted columns with their types, in the file's order, and its rows in pieces.

    No column is a dictionary: that would list values of rows that are elsewhere.
    """

    kinds: Mapping[str, pa.DataType]
    pieces: Iterable[pa.RecordBatch]


def table_format(path: Path, name: str) -> str:
    """`.csv` or `.parquet`; anything else is refused."""
    suffix = path.suffix.lower()
    if suffix not in TABLE_SUFFIXES:
        raise InputError(
            f'{name} must be a file that ends in .csv or .parquet, got "{path.name[:60]}"', name, "rename it"
        )
    return suffix


def find_table(table: str | Path) -> Path:
    """A file by its name, or one that ships with utmost: bundled:anes96.

    >>> find_table("bundled:anes96").name
    'anes96.csv'
    """
    from importlib.resources import files

    from utmost.data.sources import SAMPLE_FILES

    if str(table) in SAMPLE_FILES:
        return Path(str(files("utmost.data").joinpath(SAMPLE_FILES[str(table)])))
    return Path(table)


@contextmanager
def hide_engine_errors(message: str) -> Iterator[None]:
    """Replace errors of the engine or the file system by messages that quote no data."""
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as problem:
        raise InputError(f"{message} ({type(problem).__name__})") from None


@contextmanager
def open_table(
    path: Path, columns: Iterable[str], name: str, progress: Progress | None = None
) -> Iterator[TableReader]:
    """The table in a file, its wanted columns alone. CSV cells are text, as they are written."""
    column_names, suffix = list(columns), table_format(path, name)
    check_no_named_pipe(path, name)
    with hide_engine_errors(f"{name} must be a {suffix[1:]} file that can be read, got {path.name[:60]}"):
        stream: Any = path.open("rb")
    opener = _open_csv if suffix == ".csv" else _open_parquet
    with stream, opener(stream, path, column_names, name, progress or _ignore_progress) as reader:
        yield reader


def _ignore_progress(task: str, share: float) -> None:
    pass


def _unreadable_message(name: str, path: Path, kind: str) -> str:
    return f"{name} must be a {kind} file that can be read from its first row to its last, got {path.name[:60]}"


@contextmanager
def _open_csv(stream: Any, path: Path, column_names: list[str], name: str, progress: Progress) -> Iterator[TableReader]:
    import pyarrow as pa
    from pyarrow import csv

    size, message = max(path.stat().st_size, 1), _unreadable_message(name, path, "CSV")
    parse_options, read_options = csv.ParseOptions(newlines_in_values=True), csv.ReadOptions(block_size=CSV_BLOCK_BYTES)
    with (
        hide_engine_errors(message),
        path.open("rb") as header_stream,
        csv.open_csv(header_stream, read_options=read_options, parse_options=parse_options) as probe,
    ):
        names = probe.schema.names
    selected_columns = _select_columns(names, column_names, name)
    kinds = dict.fromkeys(selected_columns, pa.string())
    convert_options = csv.ConvertOptions(
        include_columns=selected_columns, column_types=kinds, strings_can_be_null=False, null_values=[]
    )
    with hide_engine_errors(message):
        reader = csv.open_csv(
            stream, read_options=read_options, parse_options=parse_options, convert_options=convert_options
        )
    with reader:
        report = partial(_report_bytes, stream, size, progress)
        yield TableReader(kinds, _split_pieces(iter(reader), message, report))


def _report_bytes(stream: Any, size: int, progress: Progress, rows: int) -> None:
    progress("reading", min(stream.tell() / size, 1.0))


@contextmanager
def _open_parquet(
    stream: Any, path: Path, column_names: list[str], name: str, progress: Progress
) -> Iterator[TableReader]:
    from pyarrow import parquet

    message = _unreadable_message(name, path, "Parquet")
    with hide_engine_errors(message):
        file = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=1 << 20)
        names, total = list(file.schema_arrow.names), max(file.metadata.num_rows, 1)
    selected_columns = _select_columns(names, column_names, name)
    kinds = {column: _value_type(file.schema_arrow.field(column).type) for column in selected_columns}
    with file:
        report = partial(_report_rows, total, progress)
        yield TableReader(
            kinds, _split_pieces(file.iter_batches(ROWS_PER_PIECE, columns=selected_columns), message, report)
        )


def _report_rows(total: int, progress: Progress, rows: int) -> None:
    progress("reading", min(rows / total, 1.0))


def _split_pieces(batches: Iterator[Any], message: str, report: Callable[[int], None]) -> Iterator[Any]:
    """The rows of a file in small pieces; what the engine says of a bad one is not repeated."""
    rows = 0
    while True:
        with hide_engine_errors(message):
            batch = next(batches, None)
        if batch is None:
            return
        rows += batch.num_rows
        report(rows)
        for start in range(0, batch.num_rows, ROWS_PER_PIECE):
            yield _decode_dictionaries(batch.slice(start, ROWS_PER_PIECE))


def _value_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _decode_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows with their dictionaries looked up."""
    import pyarrow as pa

    arrays = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _select_columns(names: list[str], column_names: list[str], name: str) -> list[str]:
    """The wanted columns in the file's order."""
    for column in column_names:
        if names.count(column) != 1:
            listed_names = ", ".join(names[:MAX_LISTED_COLUMNS])[:200] + (
                ", …" if len(names) > MAX_LISTED_COLUMNS else ""
            )
            problem = "is not there" if column not in names else "is there more than once"
            raise InputError(
                f'{name} must have the column "{column[:60]}", which {problem}: it has {listed_names}', name
            )
    return [column for column in names if column in column_names]


@contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """A folder beside the target for what is not finished; it is gone afterwards, whatever happens."""
    with hide_engine_errors("OUT must be in a folder that can be written to"):
        folder = TemporaryDirectory(dir=target.absolute().parent, prefix=".utmost-", ignore_cleanup_errors=True)
    with folder:
        yield Path(folder.name)


def write_table(batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path, no_quotes: bool) -> int:
    """Write a table to a new file, by its ending, through to the disk; returns how many rows it has.

    `no_quotes` says that no text in it needs quotes in a CSV file.
    """
    message, rows = f"OUT must be a file that can be written with columns of these types, got {path.name[:60]}", 0
    with hide_engine_errors(message):
        sink = path.open("wb")
    with sink:
        with hide_engine_errors(message):
            writer = _open_writer(sink, path, schema, no_quotes)
        try:
            for batch in batches:
                rows += batch.num_rows
                with hide_engine_errors(message):
                    writer.write_batch(batch)
        finally:
            with hide_engine_errors(message):
                writer.close()
        with hide_engine_errors(message):
            sink.flush()
            os.fsync(sink.fileno())
    return rows


def _open_writer(sink: Any, path: Path, schema: pa.Schema, no_quotes: bool) -> Any:
    from csv import writer as header_writer

    from pyarrow import csv, parquet

    if path.suffix.lower() == ".parquet":
        return parquet.ParquetWriter(sink, schema)
    header = io.StringIO()
    header_writer(header, lineterminator="\n").writerow(schema.names)
    sink.write(header.getvalue().encode())
    options = csv.WriteOptions(include_header=False, quoting_style="none" if no_quotes else "needed")
    return csv.CSVWriter(sink, schema, write_options=options)


def needs_no_quotes(texts: Iterable[str]) -> bool:
    """Does a CSV file need no quotes around any of these."""
    return not any(CSV_SPECIAL_CHARS.intersection(text) for text in texts)


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with hide_engine_errors("OUT must be a file that can be read"), path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def flush_file(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def move_into_place(data: Path, metadata: Path, target: Path, metadata_target: Path) -> None:
    """Rename a finished table and its finished note to where they belong.

    The old note goes first and the new one comes last, so that a machine that stops in between leaves a table without
    a note, which nobody misreads, and never a table beside another one's note.
    """
    old_metadata = metadata.with_name("old")
    with hide_engine_errors(f"OUT must be a file that can be replaced, got {target.name[:60]}"):
        if metadata_target.exists():
            metadata_target.replace(old_metadata)
        try:
            data.replace(target)
        except BaseException:
            if old_metadata.exists():
                old_metadata.replace(metadata_target)
            raise
        metadata.replace(metadata_target)
        if os.name == "posix":
            flush_file(target.absolute().parent)
