"""Obfuscation: a table is read in pieces, each row gets noise of its own, and the rest of it is left out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost import __version__
from utmost.errors import InputError
from utmost.noise.bits import Source
from utmost.publish.local.answers import Answers
from utmost.publish.local.files import (
    Progress,
    Reader,
    ending,
    is_plain,
    located,
    opened,
    placed,
    staged,
    told,
    written,
)
from utmost.publish.local.order import shuffled
from utmost.publish.local.record import KEPT, SHUFFLED, Mechanism, Record, beside, text

if TYPE_CHECKING:
    import pyarrow as pa


def obfuscate(
    mechanism: Mechanism,
    table: str | Path,
    target: str | Path,
    keep: Sequence[str] = (),
    in_order: bool = False,
    progress: Progress | None = None,
    source: Source | None = None,
) -> Record:
    """Write the table's obfuscated columns, and those to `keep` as they are, to `target`, and its note beside it.

    Rows come out in a uniformly random order unless `in_order`; columns keep their order. The target and its note
    appear together when all rows are through, or not at all, and then what was there before stays.
    """
    given, goal = located(table), Path(target)
    _apart(given, goal, mechanism, keep)
    with opened(given, [*mechanism.columns, *keep], "IN", progress) as reader, staged(goal) as folder:
        schema, draft, note = _schema(mechanism, reader, goal), folder / f"table{ending(goal, 'OUT')}", folder / "note"
        rows: Iterator[Any] = _answered(mechanism, reader, schema, source)
        if not in_order:
            rows = shuffled(rows, schema, folder, source)
        count = written(rows, schema, draft, _plain(mechanism, keep))
        kept = tuple(name for name in schema.names if name in keep)
        made = Record(mechanism, count, KEPT if in_order else SHUFFLED, kept, f"utmost {__version__}")
        _noted(made, note)
        placed(draft, note, goal, beside(goal))
    return made


def _apart(given: Path, goal: Path, mechanism: Mechanism, keep: Sequence[str]) -> None:
    """Refuse what would be written over, or twice."""
    ending(given, "IN")
    ending(goal, "OUT")
    with told("IN and OUT must be files whose folders can be looked at"):
        if goal.exists() and given.exists() and given.samefile(goal):
            raise InputError("OUT must be another file than IN: the rows would be lost")
        for path in (goal, beside(goal)):
            if path.is_dir():
                raise InputError(f"OUT must be a file, got a folder of the name {path.name[:60]}: choose another")
    for column in keep:
        if column in mechanism.columns:
            raise InputError(f'--keep must name other columns, got "{column[:60]}", which is obfuscated: leave it out')
    if len(set(keep)) < len(keep):
        raise InputError("--keep must name each column once")


def _schema(mechanism: Mechanism, reader: Reader, goal: Path) -> pa.Schema:
    """The columns that are written: their types, in the file's order, without the file's remarks on itself."""
    import pyarrow as pa

    given = dict(reader.kinds)
    kinds = given | mechanism.kinds(given, ending(goal, "OUT") == ".csv")
    return pa.schema([pa.field(name, kind) for name, kind in kinds.items()])


def _answered(mechanism: Mechanism, reader: Reader, schema: pa.Schema, source: Source | None) -> Iterator[Any]:
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
    return not keep and is_plain(mechanism.values if isinstance(mechanism, Answers) else ())


def _noted(record: Record, path: Path) -> None:
    with told("OUT must be in a folder that can be written to"), path.open("wb") as stream:
        stream.write(text(record).encode())
        stream.flush()
        os.fsync(stream.fileno())
