"""Obfuscation: a table is read in pieces, each row gets noise of its own, the rows in random order.

A uniformly random order of rows, of any number, in bounded memory.

Few rows are put in a random order in memory. More are thrown into files first, each row into one of 64 by a fair
draw, and each file is ordered so, by the same rule; one file after the other is a uniformly random order of all rows
(Rao 1961, Sandelius 1962). What the files hold is already obfuscated, but for columns that are kept as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost import __version__
from utmost.errors import InputError
from utmost.exact.input_text import check_plain_text
from utmost.noise.entropy import EntropySource, entropy_source
from utmost.publish.local.categories import CategoryMechanism
from utmost.publish.local.metadata import (
    ORIGINAL_ORDER,
    SHUFFLED_ORDER,
    Mechanism,
    TableMetadata,
    metadata_json,
    metadata_path,
    read_metadata,
)
from utmost.publish.local.table_files import (
    ROWS_PER_PIECE,
    Progress,
    TableReader,
    file_digest,
    find_table,
    hide_engine_errors,
    move_into_place,
    needs_no_quotes,
    open_table,
    staging_folder,
    table_format,
    write_table,
)
from utmost.publish.output_files import FileKind, check_output

if TYPE_CHECKING:
    import pyarrow as pa

MAX_BYTES_IN_MEMORY = 1 << 24  # bytes put in order in memory
BUCKET_BITS = 6  # bits: 64 files at a time


def shuffle_rows(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folder: Path,
    source: EntropySource | None = None,
    max_bytes: int = MAX_BYTES_IN_MEMORY,
) -> Iterator[pa.RecordBatch]:
    """The same rows in a uniformly random order; `folder` is for files, which are removed as they are read."""
    entropy, stream, first_batches = entropy_source(source), iter(batches), []
    size = rows = 0
    for batch in stream:
        first_batches.append(batch)
        size, rows = size + batch.nbytes, rows + batch.num_rows
        if size > max_bytes and rows > 1 << BUCKET_BITS:
            break
    else:
        yield from _permute_batches(first_batches, schema, entropy)
        return
    parts_folder = folder / "parts"
    for path in _scatter_rows(chain(first_batches, stream), schema, parts_folder, entropy):
        yield from shuffle_rows(_read_batches(path), schema, parts_folder, entropy, max_bytes)
        path.unlink()
    parts_folder.rmdir()


def permutation(count: int, source: EntropySource) -> npt.NDArray[np.intp]:
    """A uniformly random order of 0 … count−1: that of random words, drawn again where two are equal."""
    while True:
        keys = source.words(count)
        order = np.argsort(keys)
        if not (keys[order[1:]] == keys[order[:-1]]).any():
            return order


def _permute_batches(batches: list[Any], schema: pa.Schema, source: EntropySource) -> Iterator[Any]:
    import pyarrow as pa

    if not batches:
        return
    table = pa.Table.from_batches(batches, schema).combine_chunks()
    batches.clear()
    order = permutation(table.num_rows, source)
    for start in range(0, len(order), ROWS_PER_PIECE):
        yield from table.take(pa.array(order[start : start + ROWS_PER_PIECE])).to_batches()


def _scatter_rows(batches: Iterable[Any], schema: pa.Schema, folder: Path, source: EntropySource) -> list[Path]:
    """Each row in one of 64 new files, chosen by 6 random bits of its own."""
    import pyarrow as pa

    paths = [folder / f"{k}.arrow" for k in range(1 << BUCKET_BITS)]
    with hide_engine_errors("OUT must be in a folder with room for the rows in between"), ExitStack() as stack:
        folder.mkdir()
        sinks = [stack.enter_context(pa.OSFile(str(path), "wb")) for path in paths]
        files = [stack.enter_context(pa.ipc.new_file(sink, schema)) for sink in sinks]
        for batch in batches:
            for file, part in zip(files, split_by_bucket(batch, source), strict=True):
                file.write_batch(part)
    return paths


def split_by_bucket(batch: Any, source: EntropySource) -> list[Any]:
    """The rows of a batch in 64 parts."""
    import pyarrow as pa

    bucket = source.words(batch.num_rows) >> np.uint64(64 - BUCKET_BITS)
    by_bucket = batch.take(pa.array(np.argsort(bucket, kind="stable")))
    counts = np.bincount(bucket.astype(np.intp), minlength=1 << BUCKET_BITS)
    bucket_ends = np.cumsum(counts)
    return [by_bucket.slice(int(end - count), int(count)) for end, count in zip(bucket_ends, counts, strict=True)]


def _read_batches(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    with pa.ipc.open_file(path) as file:
        for k in range(file.num_record_batches):
            yield file.get_batch(k)


def obfuscate(
    mechanism: Mechanism,
    table: str | Path,
    target: str | Path,
    keep: Sequence[str] = (),
    in_order: bool = False,
    progress: Progress | None = None,
    source: EntropySource | None = None,
) -> TableMetadata:
    """Write the table's obfuscated columns, and those to `keep` as they are, to `target`, and its note beside it.

    Rows come out in a uniformly random order unless `in_order`; columns keep their order. The target and its note
    appear together when all rows are through, or not at all, and then what was there before stays.
    """
    table_path, target_path = find_table(table), Path(target)
    _check_paths(table_path, target_path, mechanism, keep)
    check_plain_text([*mechanism.columns, *keep], "the columns' names")  # which no reader of the note would take
    with (
        open_table(table_path, [*mechanism.columns, *keep], "IN", progress) as reader,
        staging_folder(target_path) as folder,
    ):
        schema, draft_path, metadata_draft_path = (
            _output_schema(mechanism, reader, target_path),
            folder / f"table{table_format(target_path, 'OUT')}",
            folder / "note",
        )
        rows: Iterator[Any] = _obfuscate_pieces(mechanism, reader, schema, source)
        if not in_order:
            rows = shuffle_rows(rows, schema, folder, source)
        count = write_table(rows, schema, draft_path, _needs_no_quoting(mechanism, keep))
        kept_columns = tuple(name for name in schema.names if name in keep)
        metadata = TableMetadata(
            mechanism,
            count,
            ORIGINAL_ORDER if in_order else SHUFFLED_ORDER,
            kept_columns,
            f"utmost {__version__}",
            file_digest(draft_path),
        )
        _write_metadata(metadata, metadata_draft_path)
        move_into_place(draft_path, metadata_draft_path, target_path, metadata_path(target_path))
    return metadata


def _check_paths(table_path: Path, target_path: Path, mechanism: Mechanism, keep: Sequence[str]) -> None:
    """Refuse what would be written over, or twice."""
    table_format(table_path, "IN")
    table_format(target_path, "OUT")
    with hide_engine_errors("IN and OUT must be files whose folders can be looked at"):
        if target_path.exists() and table_path.exists() and table_path.samefile(target_path):
            raise InputError("OUT must be another file than IN: the rows would be lost", "out")
        for path in (target_path, metadata_path(target_path)):
            if path.is_dir():
                raise InputError(
                    f"OUT must be a file, got a folder of the name {path.name[:60]}", "out", "choose another"
                )
            check_output(path, "OUT", FileKind("an obfuscated table with its note", _has_metadata), {"IN": table_path})
        _check_digest(target_path)
    for column in keep:
        if column in mechanism.columns:
            raise InputError(
                f'--keep must name other columns, got "{column[:60]}", which is obfuscated', "keep", "leave it out"
            )
    if len(set(keep)) < len(keep):
        raise InputError("--keep must name each column once", "keep")


def _has_metadata(path: Path) -> bool:
    """Is a file a table that was obfuscated, or the note beside one."""
    table_path = path if path.suffix.lower() != ".json" else path.with_suffix("")
    try:
        read_metadata(table_path)
    except InputError:
        return False
    return True


def _check_digest(target_path: Path) -> None:
    """Refuse to replace a table that its note does not show to be written here."""
    if not target_path.exists() or target_path.stat().st_size == 0:
        return
    digest = read_metadata(target_path).digest
    if digest != file_digest(target_path):
        problem = "has no SHA-256 to recognise it by" if digest is None else "is of another table"
        raise InputError(
            f"OUT must be a new file or replace an obfuscated table, got {target_path.name[:60]}, whose note {problem}",
            "out",
            "name another",
        )


def _output_schema(mechanism: Mechanism, reader: TableReader, target_path: Path) -> pa.Schema:
    """The columns that are written: their types, in the file's order, without the file's remarks on itself."""
    import pyarrow as pa

    file_types = dict(reader.kinds)
    kinds = file_types | mechanism.kinds(file_types, table_format(target_path, "OUT") == ".csv")
    return pa.schema([pa.field(name, kind) for name, kind in kinds.items()])


def _obfuscate_pieces(
    mechanism: Mechanism, reader: TableReader, schema: pa.Schema, source: EntropySource | None
) -> Iterator[Any]:
    import pyarrow as pa

    kinds = [schema.field(name).type for name in mechanism.columns]
    for piece in reader.pieces:
        noisy, kept_rows = mechanism.answer([piece.column(name) for name in mechanism.columns], kinds, source)
        if kept_rows is not None:
            piece = piece.filter(pa.array(kept_rows))  # noqa: PLW2901, the rows that stay
        columns = {name: piece.column(name) for name in schema.names} | dict(zip(mechanism.columns, noisy, strict=True))
        yield pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _needs_no_quoting(mechanism: Mechanism, keep: Sequence[str]) -> bool:
    """Is there no text that a CSV file would have to quote: numbers, or public values without commas."""
    return not keep and needs_no_quotes(mechanism.values if isinstance(mechanism, CategoryMechanism) else ())


def _write_metadata(metadata: TableMetadata, path: Path) -> None:
    with hide_engine_errors("OUT must be in a folder that can be written to"), path.open("wb") as stream:
        stream.write(metadata_json(metadata).encode())
        stream.flush()
        os.fsync(stream.fileno())
