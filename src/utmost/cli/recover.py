"""`utmost recover`: what a reader makes of a table that `utmost obfuscate` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.cli.options import JsonOption
from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.publish.local import Frequencies, LocationMechanism, LocationReading, TableMetadata

EXAMPLES = (
    "Examples: utmost recover votes.csv;  utmost recover votes.csv --confidence 0.99 --json;  "
    "utmost recover places.csv --output guesses.csv;  utmost recover places.csv --prior map.csv --loss squared"
)
MAX_GRID_SIDE = 100  # cells along a side
MAX_SHOWN_PLACES = 12  # in the terminal; of values four times as many
OptionalText = str | None


def command(
    table: Annotated[str, typer.Argument(metavar="OUT", help="A table; its note must be OUT.json.")],
    confidence: Annotated[OptionalText, typer.Option(metavar="C", help="Of all intervals together; or 0.95.")] = None,
    loss: Annotated[OptionalText, typer.Option(metavar="L", help="euclidean, squared or binary, for places.")] = None,
    prior: Annotated[OptionalText, typer.Option(metavar="FILE", help="Table with columns x, y, weight.")] = None,
    cells: Annotated[
        OptionalText, typer.Option(metavar="N", help="Without --prior: N cells along a side; or 24.")
    ] = None,
    output: Annotated[OptionalText, typer.Option(metavar="FILE", help="Save the results: .csv or .parquet.")] = None,
    json: JsonOption = False,
) -> None:
    """Recover frequencies, or the best guesses of places, from an obfuscated table."""
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
        raise InputError("--output must be a file in a folder that exists")
    inputs = {"OUT": Path(table), "the note of OUT": metadata_path(Path(table))}
    inputs |= {} if prior is None else {"--prior": Path(prior)}
    check_new_output(path, "--output", inputs)


def _refuse_options(options: dict[str, str | None], subject: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{option} must not be given for {subject}: see utmost recover --help")


def _recover_frequencies(metadata: TableMetadata, table: str, confidence: str, path: str | None, json: bool) -> None:
    from utmost.cli import output
    from utmost.publish.local import recover_frequencies

    frequencies = recover_frequencies(metadata, table, confidence)
    shares = [float(f) for f in frequencies.estimate]
    likeliest = [float(f) for f in frequencies.likeliest]
    if path is not None:
        columns = {
            "value": list(frequencies.values),
            "count": list(frequencies.counts),
            "estimate": shares,
            "likeliest": likeliest,
        }
        columns |= {"standard_error": list(frequencies.errors), "low": [a for a, _ in frequencies.intervals]}
        _save_table(columns | {"high": [b for _, b in frequencies.intervals]}, path)
    if json:
        output.print_json(_frequency_document(metadata, frequencies))
        return
    rows = [
        [value, str(count), f"{share:.4f}", f"{error:.4f}", _interval_text(low, high), f"{likeliest_share:.4f}"]
        for value, count, share, error, (low, high), likeliest_share in zip(
            frequencies.values,
            frequencies.counts,
            shares,
            frequencies.errors,
            frequencies.intervals,
            likeliest,
            strict=True,
        )
    ]
    output.print_table(
        ["value", "answered", "share", "± s.e.", f"all at {frequencies.confidence}", "likeliest"],
        rows[: 4 * MAX_SHOWN_PLACES],
    )
    if len(rows) > 4 * MAX_SHOWN_PLACES:
        output.print_text(f"The first {4 * MAX_SHOWN_PLACES} of {len(rows)} values; --output FILE.csv saves them all.")
    output.print_text(
        f"From {sum(frequencies.counts)} rows at {metadata.mechanism.level}. The share is unbiased and can leave 0 "
        "to 1; the "
        f"intervals hold all true shares at once with probability {frequencies.confidence} at least."
    )


def _frequency_document(metadata: TableMetadata, frequencies: Frequencies) -> dict[str, Any]:
    from utmost.cli import output

    return {
        "column": metadata.mechanism.columns[0],
        "rows": sum(frequencies.counts),
        "values": list(frequencies.values),
        "counts": list(frequencies.counts),
        "estimate": [output.json_value(f) for f in frequencies.estimate],
        "estimate_decimal": [output.json_value(float(f)) for f in frequencies.estimate],
        "standard_error": [output.json_value(e) for e in frequencies.errors],
        "interval": [[output.json_value(a), output.json_value(b)] for a, b in frequencies.intervals],
        "confidence": output.json_value(frequencies.confidence),
        "likeliest": [output.json_value(f) for f in frequencies.likeliest],
        "likeliest_decimal": [output.json_value(float(f)) for f in frequencies.likeliest],
    }


def _recover_places(
    metadata: TableMetadata, table: str, loss: str, prior: str | None, cells: str | None, path: str | None, json: bool
) -> None:
    from utmost.cli import output
    from utmost.publish.local import LocationMechanism, read_locations

    mechanism = metadata.mechanism
    if not isinstance(mechanism, LocationMechanism):
        raise InputError("OUT must be a table of places")
    if prior is not None and cells is not None:
        raise InputError("--cells must not be given with --prior: its places are the grid")
    reading = read_locations(metadata, table, loss, prior, _parse_side(cells))
    if path is not None:
        _save_table({mechanism.x: reading.guesses[:, 0], mechanism.y: reading.guesses[:, 1]}, path)
    if json:
        output.print_json(_place_document(mechanism, reading, loss))
        return
    _print_places(mechanism, reading, loss)


def _parse_side(cells: str | None) -> int:
    from utmost.exact import integer
    from utmost.publish.local.location_estimates import DEFAULT_CELLS

    side = DEFAULT_CELLS if cells is None else integer(cells, "--cells")
    if not 1 <= side <= MAX_GRID_SIDE:
        raise InputError(f"--cells must be from 1 to {MAX_GRID_SIDE}")
    return side


def _place_document(mechanism: LocationMechanism, reading: LocationReading, loss: str) -> dict[str, Any]:
    from utmost.cli import output

    rows = [
        [*point, weight] for point, weight in zip(reading.locations.tolist(), reading.weights.tolist(), strict=True)
    ]
    return {
        "columns": [mechanism.x, mechanism.y],
        "rows": len(reading.guesses),
        "unit": mechanism.unit,
        "loss_function": loss,
        "loss": output.json_value(reading.loss),
        "prior": "estimated" if reading.estimated else "given",
        "rounds": reading.rounds,
        "gap": output.json_value(reading.gap),
        "cells": [[output.json_value(value) for value in row] for row in rows],
    }


def _print_places(mechanism: LocationMechanism, reading: LocationReading, loss: str) -> None:
    from utmost.cli import output
    from utmost.exact import decimal_above

    order = (-reading.weights).argsort()[:MAX_SHOWN_PLACES]
    rows = [
        [f"{reading.locations[k, 0]:.6g}", f"{reading.locations[k, 1]:.6g}", f"{reading.weights[k]:.4f}"] for k in order
    ]
    output.print_table([mechanism.x, mechanism.y, "share"], rows, 0)
    kind = {
        "euclidean": f"{mechanism.unit} of distance",
        "squared": f"{mechanism.unit}² of squared distance",
        "binary": "misses",
    }
    if reading.estimated:
        gap = decimal_above(reading.gap, 2)
        output.print_text(
            f"The {len(rows)} largest of {len(reading.weights)} cells, estimated from {len(reading.guesses)} rows in "
            f"{reading.rounds} rounds of EM; other shares have a log-likelihood larger by at most {gap} "
            "a row."
        )
    else:
        output.print_text(f"The {len(rows)} largest of the {len(reading.weights)} places of the prior that was given.")
    output.print_text(
        f"The best guess for a row is off by {reading.loss:.4g} {kind[loss]} on average, by these beliefs."
    )


def _interval_text(low: float, high: float) -> str:
    """An interval rounded outward.

    >>> _interval_text(0.12345, 0.23451)
    '0.1234 to 0.2346'
    """
    from utmost.exact import decimal_above, decimal_below

    return f"{decimal_below(low, 4)} to {decimal_above(high, 4)}"


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
