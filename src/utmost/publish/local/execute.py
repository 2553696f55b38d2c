"""Obfuscation: a table is read in pieces, each row gets noise of its own, and the rest of it is left out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost import __version__
from utmost.errors import InputError
from utmost.noise.entropy import EntropySource
from utmost.publish.local.categories import CategoryMechanism
from utmost.publish.local.metadata import KEPT, SHUFFLED, Mechanism, TableMetadata, metadata_json, metadata_path
from utmost.publish.local.shuffle import shuffle_rows
from utmost.publish.local.table_files import (
    Progress,
    TableReader,
    find_table,
    hide_engine_errors,
    move_into_place,
    needs_no_quotes,
    open_table,
    staging_folder,
    table_format,
    write_table,
)

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
    given, goal = find_table(table), Path(target)
    _apart(given, goal, mechanism, keep)
    with open_table(given, [*mechanism.columns, *keep], "IN", progress) as reader, staging_folder(goal) as folder:
        schema, draft, note = (
            _schema(mechanism, reader, goal),
            folder / f"table{table_format(goal, 'OUT')}",
            folder / "note",
        )
        rows: Iterator[Any] = _answered(mechanism, reader, schema, source)
        if not in_order:
            rows = shuffle_rows(rows, schema, folder, source)
        count = write_table(rows, schema, draft, _plain(mechanism, keep))
        kept = tuple(name for name in schema.names if name in keep)
        made = TableMetadata(mechanism, count, KEPT if in_order else SHUFFLED, kept, f"utmost {__version__}")
        _noted(made, note)
        move_into_place(draft, note, goal, metadata_path(goal))
    return made


def _apart(given: Path, goal: Path, mechanism: Mechanism, keep: Sequence[str]) -> None:
    """Refuse what would be written over, or twice."""
    table_format(given, "IN")
    table_format(goal, "OUT")
    with hide_engine_errors("IN and OUT must be files whose folders can be looked at"):
        if goal.exists() and given.exists() and given.samefile(goal):
            raise InputError("OUT must be another file than IN: the rows would be lost")
        for path in (goal, metadata_path(goal)):
            if path.is_dir():
                raise InputError(f"OUT must be a file, got a folder of the name {path.name[:60]}: choose another")
    for column in keep:
        if column in mechanism.columns:
            raise InputError(f'--keep must name other columns, got "{column[:60]}", which is obfuscated: leave it out')
    if len(set(keep)) < len(keep):
        raise InputError("--keep must name each column once")


def _schema(mechanism: Mechanism, reader: TableReader, goal: Path) -> pa.Schema:
    """The columns that are written: their types, in the file's order, without the file's remarks on itself."""
    import pyarrow as pa

    given = dict(reader.kinds)
    kinds = given | mechanism.kinds(given, table_format(goal, "OUT") == ".csv")
    return pa.schema([pa.field(name, kind) for name, kind in kinds.items()])


def _answered(
    mechanism: Mechanism, reader: TableReader, schema: pa.Schema, source: EntropySource | None
) -> Iterator[Any]:
    import pyarrow as pa

    kinds = [schema.field(name).type for name in mechanism.columns]
    for piece in reader.pieces:
        noisy, stay = mechanism.answer([piece.column(name) for name in mechanism.columns], kinds, source)
        if stay is not None:
            piece = piece.filter(pa.array(stay))  # noqa: PLW2901, the rows that stay
        columns = {name: piece.column(name) for name in schema.names} | dict(zip(mechanism.columns, noisy, strict=True))
        yield pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _plain(mechanism: Mechanism, keep: Sequence[str]) -> bool:
    """Is there no text that a CSV file would have to quote: numbers, or public values without commas."""
    return not keep and needs_no_quotes(mechanism.values if isinstance(mechanism, CategoryMechanism) else ())


def _noted(record: TableMetadata, path: Path) -> None:
    with hide_engine_errors("OUT must be in a folder that can be written to"), path.open("wb") as stream:
        stream.write(metadata_json(record).encode())
        stream.flush()
        os.fsync(stream.fileno())
