"""Obfuscation: a table is read in pieces, each row gets noise of its own, and the rest of it is left out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost import __version__
from utmost.errors import InputError
from utmost.exact.plain_text import check_plain_text
from utmost.noise.entropy import EntropySource
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
from utmost.publish.local.shuffle import shuffle_rows
from utmost.publish.local.table_files import (
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
