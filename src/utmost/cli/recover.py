"""`utmost recover`: what a reader makes of a table that `utmost obfuscate` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import JsonOption
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.publish.local import TableMetadata

EXAMPLES = (
    "Examples: utmost recover votes.csv;  utmost recover votes.csv --confidence 0.99 --json;  "
    "utmost recover places.csv --output guesses.csv;  utmost recover places.csv --prior map.csv --loss squared"
)
MAX_GRID_SIDE = 100  # cells along a side
OptionalText = str | None


def command(
    table: Annotated[str, typer.Argument(metavar="OUT", help="Obfuscated table; its note is OUT.json.")],
    confidence: Annotated[
        OptionalText, typer.Option(metavar="C", help="Confidence of all intervals together; 0.95 if left out.")
    ] = None,
    loss: Annotated[OptionalText, typer.Option(metavar="L", help="euclidean, squared or binary, for places.")] = None,
    prior: Annotated[OptionalText, typer.Option(metavar="FILE", help="Table with columns x, y, weight.")] = None,
    cells: Annotated[
        OptionalText, typer.Option(metavar="N", help="Cells along a side, without --prior; 24 if left out.")
    ] = None,
    output: Annotated[OptionalText, typer.Option(metavar="FILE", help="Save the results: .csv or .parquet.")] = None,
    json: JsonOption = False,
) -> None:
    """Estimate totals or places from an obfuscated table."""
    from utmost.publish.local import CategoryMechanism, read_metadata

    _check_target(output, table, prior)
    metadata = read_metadata(table)
    if isinstance(metadata.mechanism, CategoryMechanism):
        _refuse_options({"--loss": loss, "--prior": prior, "--cells": cells}, "frequencies")
        _recover_frequencies(metadata, table, confidence or "0.95", output, json)
    else:
        _refuse_options({"--confidence": confidence}, "places")
        _recover_places(metadata, table, loss or "euclidean", prior, cells, output, json)


def _check_target(output: str | None, table: str, prior: str | None) -> None:
    from utmost.publish.local.metadata import metadata_path
    from utmost.publish.local.table_files import table_format
    from utmost.publish.output_files import check_new_output

    if output is None:
        return
    path = Path(output)
    table_format(path, "--output")
    if not path.absolute().parent.is_dir() or path.is_dir():
        raise InputError("--output must be a file in a folder that exists", "output")
    inputs = {"OUT": Path(table), "the note of OUT": metadata_path(Path(table))}
    inputs |= {} if prior is None else {"--prior": Path(prior)}
    check_new_output(path, "--output", inputs)


def _refuse_options(options: dict[str, str | None], subject: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{option} must not be given for {subject}", option, "see utmost recover --help")


def _recover_frequencies(metadata: TableMetadata, table: str, confidence: str, path: str | None, json: bool) -> None:
    from utmost.cli.output import print_report
    from utmost.publish.local import recover_frequencies
    from utmost.reports.local import describe_frequencies

    frequencies = recover_frequencies(metadata, table, confidence)
    if path is not None:
        lows, highs = zip(*frequencies.intervals, strict=True)
        columns = {
            "value": list(frequencies.values),
            "count": list(frequencies.counts),
            "estimate": [float(share) for share in frequencies.estimate],
            "likeliest": [float(share) for share in frequencies.likeliest],
            "standard_error": list(frequencies.errors),
            "low": list(lows),
            "high": list(highs),
        }
        _save_table(columns, path)
    print_report(describe_frequencies(metadata, frequencies), json)


def _recover_places(
    metadata: TableMetadata, table: str, loss: str, prior: str | None, cells: str | None, path: str | None, json: bool
) -> None:
    from utmost.cli.output import print_report
    from utmost.publish.local import LocationMechanism, read_locations
    from utmost.reports.local import describe_places

    mechanism = metadata.mechanism
    if not isinstance(mechanism, LocationMechanism):
        raise InputError("OUT must be a table of places", "out")
    if prior is not None and cells is not None:
        raise InputError("--cells must not be given with --prior: its places are the grid", "cells")
    reading = read_locations(metadata, table, loss, prior, _parse_side(cells))
    if path is not None:
        _save_table({mechanism.x: reading.guesses[:, 0], mechanism.y: reading.guesses[:, 1]}, path)
    print_report(describe_places(mechanism, reading, loss), json)


def _parse_side(cells: str | None) -> int:
    from utmost.exact import integer
    from utmost.publish.local.recovery import DEFAULT_CELLS

    side = DEFAULT_CELLS if cells is None else integer(cells, "--cells")
    if not 1 <= side <= MAX_GRID_SIDE:
        raise InputError(f"--cells must be from 1 to {MAX_GRID_SIDE}", "cells")
    return side


def _save_table(columns: dict[str, Any], path: str) -> None:
    """Write a small table whole or not at all."""
    import pyarrow as pa

    from utmost.cli import output
    from utmost.publish.local.table_files import hide_engine_errors, needs_no_quotes, staging_folder, write_table

    table, target = pa.table(columns), Path(path)
    texts = [text for column in columns.values() for text in column[:] if isinstance(text, str)]
    with staging_folder(target) as folder:
        draft = folder / f"table{target.suffix.lower()}"
        write_table(table.to_batches(), table.schema, draft, needs_no_quotes(texts))
        with hide_engine_errors("--output must be a file that can be replaced"):
            draft.replace(target)
    output.print_remark(f"saved {path}")
